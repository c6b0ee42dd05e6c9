"""Trained networks as evaluators: modules of PyTorch, ONNX Runtime, and models of Stable-Baselines3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ucd_envs.rng import seeded
from ucd_envs.rules import Rules
from ucd_envs.settings import boolean, one_of
from ucd_planners.evaluators.function import FunctionEvaluator
from ucd_planners.evaluators.interface import Evaluator, checked_answer
from ucd_planners.evaluators.loading import (
    LAYOUTS,
    ONNX_TYPES,
    answering,
    arranged,
    baseline_input,
    check_baseline,
    fits,
    last_line,
    library,
    load_baseline,
    load_onnx,
    load_torch,
)

BASELINES = {"stable_baselines3", "sb3_contrib"}
"""Packages of models of Stable-Baselines3."""


class TorchEvaluator:
    """A module of PyTorch as an evaluator: its answer begins with a policy and values, as a tuple or a dictionary.

    module: a module, or the path of a file of torch.jit.save or torch.export.save; layout: the form of its input, float32:
    "chw" for [n, planes, rows, columns], "hwc" for [n, rows, columns, planes], "flat" for [n, all]; logits, signed: as in
    Evaluator; device: where inputs are put, by default where the module's first parameter lies. A module is set to answer,
    not to learn. Raises ImportError without PyTorch, ValueError for an unusable file.
    """

    kernel: Any = None

    def __init__(
        self, module: Any, layout: str = "chw", logits: bool = True, signed: bool = False, device: Any = None, label: str = ""
    ) -> None:
        self.torch = library("torch", "torch")
        self.label = label or (module if isinstance(module, str) else type(module).__name__)
        self.module = load_torch(module) if isinstance(module, str) else answering(module, self.label)
        self.layout = one_of("layout", layout, LAYOUTS)
        self.logits, self.signed = boolean("logits", logits), boolean("signed", signed)
        first = next(iter(getattr(self.module, "parameters", tuple)()), None)
        self.device = device if device is not None else getattr(first, "device", "cpu")

    def __call__(self, planes: np.ndarray, masks: np.ndarray, players: np.ndarray) -> tuple[Any, Any]:
        """Returns policy and values of a batch."""
        torch = self.torch
        seen = torch.from_numpy(planes)
        seen = seen.permute(0, 3, 1, 2) if self.layout == "chw" else seen
        seen = seen.reshape(len(planes), -1) if self.layout == "flat" else seen
        with torch.inference_mode():
            answer = self.module(seen.to(self.device, torch.float32, memory_format=torch.contiguous_format))
            policy, values = two_of(answer, self.label)
            return policy.float().cpu().numpy(), values.float().cpu().numpy()

    def check(self, rules: Rules) -> None:
        """Raises ValueError, with both shapes, for a game whose observation or actions the network does not fit."""
        check_by_trial(self, self.label, self.layout, rules)

    def memory(self, rules: Rules) -> np.ndarray:
        """Returns nothing."""
        return np.zeros(0, np.uint8)

    def __str__(self) -> str:
        return self.label


class ONNXEvaluator:
    """An ONNX file as an evaluator, run by onnxruntime in one thread: its first two outputs are a policy and values.

    layout, logits, signed: as in TorchEvaluator. A file with a fixed batch is given batches of that size. Raises ImportError
    without onnxruntime, ValueError for an unusable file.
    """

    kernel: Any = None

    def __init__(self, path: str, layout: str = "chw", logits: bool = True, signed: bool = False) -> None:
        self.session, self.label = load_onnx(path), path
        self.layout = one_of("layout", layout, LAYOUTS)
        self.logits, self.signed = boolean("logits", logits), boolean("signed", signed)
        told = self.session.get_inputs()[0]
        self.name, self.dtype, self.shape = told.name, ONNX_TYPES[told.type], list(told.shape)

    def __call__(self, planes: np.ndarray, masks: np.ndarray, players: np.ndarray) -> tuple[Any, Any]:
        """Returns policy and values of a batch."""
        seen, size = arranged(planes, self.layout, self.dtype), self.shape[0]
        if not isinstance(size, int):
            return two_of(self.session.run(None, {self.name: seen}), self.label)
        parts = []
        for first in range(0, len(seen), size):
            given = seen[first : first + size]
            given = np.concatenate([given, np.zeros((size - len(given), *given.shape[1:]), given.dtype)])
            parts.append(two_of(self.session.run(None, {self.name: given}), self.label))
        policy, values = (np.concatenate(part)[: len(seen)] for part in zip(*parts, strict=True))
        return policy, values

    def check(self, rules: Rules) -> None:
        """Raises ValueError, with both shapes, for a game whose observation or actions the network does not fit."""
        given = arranged(np.zeros((1, *rules.planes), np.int8), self.layout, self.dtype)
        if not fits(self.shape[1:], given.shape[1:]):
            seen = f"that of {rules} in the layout {self.layout} is {['n', *given.shape[1:]]}"
            raise ValueError(f"{self.label} takes an input of {self.shape}, but {seen}")
        check_by_trial(self, self.label, self.layout, rules)

    def memory(self, rules: Rules) -> np.ndarray:
        """Returns nothing."""
        return np.zeros(0, np.uint8)

    def __str__(self) -> str:
        return self.label


class BaselineEvaluator:
    """A model of Stable-Baselines3 with a policy and a value, MaskablePPO, PPO or A2C, as an evaluator.

    model: a model or the path of its file. Its values estimate rewards, which our environments give from -1 to 1; others are
    put into that range. Raises ImportError without the library, ValueError for any other file or model.
    """

    kernel: Any = None
    logits, signed = True, True

    def __init__(self, model: Any) -> None:
        self.label = model if isinstance(model, str) else type(model).__name__
        self.model = load_baseline(model) if isinstance(model, str) else model
        policy: Any = getattr(self.model, "policy", None)
        if not hasattr(policy, "predict_values"):
            raise ValueError(f"{self.label} has no policy with values: expected a model of MaskablePPO, PPO or A2C")
        policy.set_training_mode(False)
        self.policy: Any = policy

    def __call__(self, planes: np.ndarray, masks: np.ndarray, players: np.ndarray) -> tuple[Any, Any]:
        """Returns logits and values of a batch."""
        torch = library("torch", "sb3")
        with torch.no_grad():
            seen, _ = self.policy.obs_to_tensor(baseline_input(self.model, planes, masks))
            logits = self.policy.get_distribution(seen).distribution.logits
            values = self.policy.predict_values(seen).clamp(-1.0, 1.0)
            return logits.cpu().numpy(), values.cpu().numpy()

    def check(self, rules: Rules) -> None:
        """Raises ValueError, with both shapes, for a game whose observation or actions the model does not fit."""
        check_baseline(self.model, self.label, rules)

    def memory(self, rules: Rules) -> np.ndarray:
        """Returns nothing."""
        return np.zeros(0, np.uint8)

    def __str__(self) -> str:
        return self.label


def two_of(answer: Any, label: str) -> tuple[Any, Any]:
    """Returns the policy and the values that an answer begins with. Raises ValueError for one that has not both."""
    parts = list(answer.values()) if isinstance(answer, Mapping) else answer
    if not isinstance(parts, (tuple, list)) or len(parts) < 2:
        raise ValueError(f"{label} must answer with a policy and values, not with {type(answer).__name__}")
    return parts[0], parts[1]


def check_by_trial(evaluator: Evaluator, label: str, layout: str, rules: Rules) -> None:
    """Raises ValueError, with both shapes, for a network that cannot see a game or answers for another one."""
    state = rules.initial_state().settled(seeded(0))
    if state.over:
        return
    planes, masks = np.zeros((1, *rules.planes), np.int8), np.zeros((1, rules.actions), np.int8)
    rules.kernels.observe(rules.config, state.array(), state.player, planes.reshape(-1))
    masks[0, state.legal_actions()] = 1
    try:
        answer = evaluator(planes, masks, np.array([state.player], np.int8))
    except ValueError:
        raise
    except Exception as error:
        shape = ["n", *arranged(planes, layout, np.int8).shape[1:]]
        raise ValueError(f"{label} cannot see {rules}, an input of {shape}: {last_line(error)}") from error
    checked_answer(answer, label, 1, rules)


def evaluator_of(net: Any, layout: str = "chw", logits: bool = True, signed: bool = False) -> Evaluator:
    """Returns the evaluator of a network: of a module of PyTorch, a model of Stable-Baselines3, a function, or of a file.

    net: any of these, or an evaluator, which is returned unchanged; files end in .onnx, .zip for Stable-Baselines3, or as
    those of PyTorch do. layout, logits, signed: as in TorchEvaluator, for what has a choice. Raises ImportError without the
    library of a file, TypeError or ValueError for anything else.
    """
    if is_evaluator(net):
        known: Evaluator = net
        return known
    if isinstance(net, str) and net.endswith(".onnx"):
        return ONNXEvaluator(net, layout, logits, signed)
    if isinstance(net, str):
        return BaselineEvaluator(net) if net.endswith(".zip") else TorchEvaluator(net, layout, logits, signed)
    if origins_of(net) & BASELINES:
        return BaselineEvaluator(net)
    if "torch" in origins_of(net):
        return TorchEvaluator(net, layout, logits, signed)
    return FunctionEvaluator(net, logits, signed)


def is_evaluator(net: Any) -> bool:
    """Returns whether an object is an evaluator."""
    return not isinstance(net, type) and hasattr(net, "kernel") and hasattr(net, "logits") and hasattr(net, "memory")


def is_network(net: Any) -> bool:
    """Returns whether an object is an evaluator, a module of PyTorch or a model of Stable-Baselines3."""
    return is_evaluator(net) or (not isinstance(net, type) and bool(origins_of(net) & {"torch", *BASELINES}))


def origins_of(net: Any) -> set[str]:
    """Returns the packages in which an object's classes are defined."""
    return {cls.__module__.partition(".")[0] for cls in type(net).__mro__}
