"""Planners with a knowledge base of stated training, which is filled on first use."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ucd_envs.rules import Rules
from ucd_envs.settings import integer, real
from ucd_planners.arena.agents import PlannerAgent, Stop, budget_of
from ucd_planners.arena.training import Training
from ucd_planners.knowledge_base import KnowledgeBase
from ucd_planners.notation import canonical, planner_from


class TrainedAgent(PlannerAgent):
    """A planner with a knowledge base, which combat training fills before the first game if there is no such file.

    The training plays `games` games of the planner against itself with `training` playouts a move, all from seed 0, so the base
    is the same wherever it is made. Moves with a confidence of `least` become known; no move is played at once while the base
    learns, and in the match the best known one is. Two processes that begin at once both fill a base, and the first that is
    ready stays.
    """

    def __init__(self, text: str, base: Path, games: int, training: int, least: float, budget: dict[str, float]) -> None:
        super().__init__(planner_from(text), budget)
        self.text, self.base, self.games, self.training, self.least = text, base, games, training, least

    def begin(self, rules: Rules, seed: int, stop: Stop | None) -> None:
        """Begins a reproducible sequence of searches. Raises OSError for a base that cannot be written, ValueError for one of
        another game, and KeyboardInterrupt on Ctrl-C in the training.
        """
        if not self.base.exists():
            self._train(rules)
        if self.planner.knowledge is None:
            self.planner = planner_from(self.text, knowledge=KnowledgeBase(self.base, threshold=self.least))
            self.planner.check(rules)
        super().begin(rules, seed, stop)

    def _train(self, rules: Rules) -> None:
        """Fills the base in a folder of its own, and moves it to its place when it is whole."""
        self.base.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.base.parent) as folder:
            place, text = Path(folder) / self.base.name, canonical(self.text)
            made = KnowledgeBase.create(place, rules, text, threshold_to_learn=self.least, threshold_to_play=2.0)
            try:
                if not Training(made, {"playouts": self.training}).play(self.games):
                    raise KeyboardInterrupt
                if not self.base.exists():
                    made.file.copy(self.base)
            finally:
                made.close()


def trained(
    planner: str,
    base: str,
    games: int,
    training: int = 1000,
    least: float = 0.5,
    playouts: int | None = None,
    seconds: float | None = None,
) -> TrainedAgent:
    """Returns a planner with a knowledge base, as TrainedAgent describes.

    planner: in the notation of ucd_planners.notation; base: the path of the file; games: those of the training, 1 or more;
    training: playouts a move in them, 1 or more; least: confidence of a known move, 0 to 2; playouts or seconds: the budget of
    the planner. Raises TypeError or ValueError for other values.
    """
    integer("games", games, 1, 10**6)
    integer("training", training, 1, 2**31)
    if not 0 <= real("least", least) <= 2:
        raise ValueError(f"least must be a confidence from 0 to 2, not {least!r}")
    return TrainedAgent(planner, Path(base), games, training, float(least), budget_of(playouts, seconds))
