"""The benchmark of evaluators: what is counted, and what the command refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ucd_envs
from ucd_planners.benchmarks import evaluation
from ucd_planners.cli import main
from ucd_planners.evaluators import FunctionEvaluator

RULES = ucd_envs.make_rules("hex", size=4)


def test_positions_and_the_time_of_an_evaluator_are_counted() -> None:
    """One call of three positions."""
    timed = evaluation.Timed(FunctionEvaluator(evaluation.constant(RULES)))
    logits, values = timed(np.zeros((3, 4, 4, 3), np.int8), np.ones((3, 16), np.int8), np.zeros(3, np.int8))
    assert (logits.shape, values.tolist(), timed.positions) == ((3, 16), [0.5] * 3, 3)
    assert timed.seconds >= 0


def test_a_row_has_the_rate_outside_of_the_evaluator(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a small case, with an evaluator that takes most of the time."""
    monkeypatch.setattr(evaluation, "PLAYOUTS", 30)
    monkeypatch.setattr(evaluation, "RUNS", 1)

    def slow(planes: np.ndarray, masks: np.ndarray, players: np.ndarray) -> Any:
        for _ in range(300):
            np.linalg.norm(np.ones((40, 40)))
        return evaluation.constant(RULES)(planes, masks, players)

    total, outside = evaluation.measured(RULES, slow, {})
    assert 0 < total < outside / 2
    assert evaluation.alone(evaluation.constant(RULES), RULES) > outside


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--puct", "--envs"], "--envs and --puct are two benchmarks: one at a time"),
        (["--puct", "--game", "hex"], "it goes without --game"),
        (["--puct", "--against", "openspiel"], "the peer of searches with an evaluator is torch"),
        (["--puct", "--playouts", "5"], "--planner and --playouts go with --game"),
    ],
    ids=str,
)
def test_words_that_would_have_no_effect_are_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With one sentence."""
    assert main(["bench", *words]) == 2
    assert message in capsys.readouterr().err
