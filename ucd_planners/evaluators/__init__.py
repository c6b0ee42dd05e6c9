"""Evaluators: values and priors of positions, from functions, compiled heuristics and trained networks."""

from ucd_planners.evaluators.function import FunctionEvaluator
from ucd_planners.evaluators.heuristic import Heuristic
from ucd_planners.evaluators.interface import Evaluator
from ucd_planners.evaluators.networks import BaselineEvaluator, ONNXEvaluator, TorchEvaluator, evaluator_of

__all__ = [
    "BaselineEvaluator",
    "Evaluator",
    "FunctionEvaluator",
    "Heuristic",
    "ONNXEvaluator",
    "TorchEvaluator",
    "evaluator_of",
]
