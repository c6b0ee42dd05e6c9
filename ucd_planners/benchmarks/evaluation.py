"""The speed of searches with an evaluator: evaluations a second outside of the evaluator's own time, and of a network beside.

Searches from different positions of Hex run side by side and share batches. The free evaluator answers with constants, so what
is left is the search: selection, moves, listing, planes and masks, the softmax and the backup. The network has three 3x3
convolutions of 32 channels, a policy of one 1x1 convolution and a value, on PyTorch in one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ucd_envs import registry
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules
from ucd_planners.evaluators import FunctionEvaluator, TorchEvaluator
from ucd_planners.pool import Pool
from ucd_planners.presets import puct

BATCH, PLAYOUTS, CHANNELS = 64, 800, 32
SIZES = (7, 11)
RUNS = 5
"""Runs of which the best counts; one before them compiles."""
CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("puct(d1=1,d3=1)", {}),
    ("puct(table=false)", {"table": False}),
    ("puct(d1=1,d3=1,remember=0)", {"remember": 0}),
)


class Timed:
    """An evaluator with the CPU seconds that it has taken."""

    def __init__(self, evaluator: Any) -> None:
        self.evaluator, self.seconds, self.positions = evaluator, 0.0, 0

    def __call__(self, planes: np.ndarray, masks: np.ndarray, players: np.ndarray) -> Any:
        """Returns the evaluator's answer."""
        began = time.process_time()
        answer = self.evaluator(planes, masks, players)
        self.seconds += time.process_time() - began
        self.positions += len(planes)
        return answer


def constant(rules: Rules) -> Callable[..., Any]:
    """Returns a function that answers with equal logits and the value 1/2, at no cost."""
    logits, values = np.zeros((BATCH, rules.actions), np.float32), np.full(BATCH, 0.5, np.float32)
    return lambda planes, masks, players: (logits[: len(planes)], values[: len(planes)])


def module(rules: Rules) -> Any:
    """Returns the network, in one thread."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(1)
    planes = rules.planes[2]

    class Net(torch.nn.Module):
        """Three convolutions, a policy and a value."""

        def __init__(self) -> None:
            super().__init__()
            sizes = [planes, CHANNELS, CHANNELS, CHANNELS]
            layers = [torch.nn.Conv2d(sizes[i], sizes[i + 1], 3, padding=1) for i in range(3)]
            self.body = torch.nn.Sequential(*(part for layer in layers for part in (layer, torch.nn.ReLU())))
            self.policy, self.value = torch.nn.Conv2d(CHANNELS, 1, 1), torch.nn.Linear(CHANNELS, 1)

        def forward(self, seen: Any) -> Any:
            """Returns logits [n, cells] and values [n, 1]."""
            found = self.body(seen)
            return self.policy(found).flatten(1), torch.sigmoid(self.value(found.mean((2, 3))))

    return Net()


def measured(rules: Rules, evaluator: Any, options: dict[str, Any]) -> tuple[float, float]:
    """Returns evaluations a second of all CPU time, and of that outside of the evaluator: the best of RUNS."""
    timed = Timed(evaluator)
    planner = puct(FunctionEvaluator(timed), batch=BATCH, playouts=PLAYOUTS, seed=1, **options)
    pool = Pool(planner, rules, BATCH)
    start = rules.initial_state()
    states = [start.after(action % rules.actions).after((action + 7) % rules.actions) for action in range(BATCH)]
    rates = []
    for run in range(RUNS + 1):
        planner.forget()
        pool.begin(states, np.array([seeded(run, place) for place in range(BATCH)]))
        timed.seconds, timed.positions, began = 0.0, 0, time.process_time()
        pool.run()
        spent = time.process_time() - began
        rates.append((timed.positions / spent, timed.positions / (spent - timed.seconds)))
    return max(total for total, _ in rates[1:]), max(outside for _, outside in rates[1:])


def alone(evaluator: Any, rules: Rules) -> float:
    """Returns positions a second of an evaluator alone, in batches of the same size: the best of RUNS."""
    planes, masks = np.zeros((BATCH, *rules.planes), np.int8), np.ones((BATCH, rules.actions), np.int8)
    rates = []
    for _ in range(RUNS):
        began = time.process_time()
        for _ in range(100):
            evaluator(planes, masks, np.zeros(BATCH, np.int8))
        rates.append(100 * BATCH / (time.process_time() - began))
    return max(rates)


def puct_rows(with_torch: bool) -> Iterator[dict[str, Any]]:
    """Returns a row for every case: evaluations a second outside of a free evaluator and, with PyTorch, of a network in the
    search and alone, and their ratio."""
    for size in SIZES:
        rules = registry.make_rules("hex", size=size)
        net = TorchEvaluator(module(rules)) if with_torch else None
        for planner, options in CASES:
            row: dict[str, Any] = {"game": rules.name, "config": dict(rules.settings), "planner": planner, "playouts": PLAYOUTS}
            row["batch"] = BATCH
            row["evaluations_per_s"] = round(measured(rules, constant(rules), options)[1])
            if net is not None:
                row["net_in_search_per_s"] = round(measured(rules, net, options)[0])
                row["net_alone_per_s"] = round(alone(net, rules))
                row["net_ratio"] = round(row["net_in_search_per_s"] / row["net_alone_per_s"], 2)
            yield row
