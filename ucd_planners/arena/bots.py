"""Bots of OpenSpiel as agents, in games of OpenSpiel and in ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ucd_envs.foreign.exports import game_of, imported
from ucd_envs.kernels import CHANCE
from ucd_envs.registry import REFERENCE, load, sentence
from ucd_envs.rules import Rules, State
from ucd_envs.settings import shown
from ucd_planners.arena.functions import Guard
from ucd_planners.arena.interface import Move, Stop
from ucd_planners.grammar import parse
from ucd_planners.references import parameters_of

BotMaker = Callable[..., Any]


class SpielAgent:
    """A bot of OpenSpiel. Each game has a new one, which is informed of all moves of others.

    make: a function of a pyspiel.Game and a player that returns a pyspiel.Bot. One with a parameter `seed` receives a number
    from 0 to 2**31 - 1 by that name, from which the bot should draw all of its random choices.
    """

    def __init__(self, make: BotMaker, name: str) -> None:
        self.make, self.name = make, name
        self._seeded = "seed" in parameters_of(make)

    def check(self, rules: Rules) -> None:
        """Raises ValueError for a game that the bot does not play, and ImportError without OpenSpiel."""
        if rules.rooted is not None:
            raise ValueError(f"{rules} is one game of Python, which a bot of OpenSpiel cannot play")
        self.begin(rules, 0, None)
        try:
            self._made(0)
        except Exception as error:
            raise ValueError(f"{self.name} does not play {rules}: {sentence(error)[:300]}") from error

    def begin(self, rules: Rules, seed: int, stop: Stop | None) -> None:
        """Begins a game from the first position of our rules."""
        position_of = getattr(rules.live, "position_of", None)
        self._state = (
            game_of(rules).new_initial_state() if position_of is None else position_of(rules.initial_state().data).clone()
        )
        self._seed, self._told = seed % 2**31, 0
        self._bot: Any = None

    def choose(self, state: State, moves: Sequence[tuple[int, int]]) -> Move:
        """Returns the bot's action, after informing it of the moves that it does not know."""
        if self._bot is None:
            self._bot = self._made(state.player)
        chance = imported().PlayerId.CHANCE
        for player, action in moves[self._told :]:
            if player != state.player:
                self._bot.inform_action(self._state, chance if player == CHANCE else player, action)
            self._state.apply_action(action)
        self._told = len(moves)
        return Move(int(self._bot.step(self._state)))

    def close(self) -> None:
        """Does nothing, since bots live in this process."""

    def _made(self, player: int) -> Any:
        seed = {"seed": self._seed} if self._seeded else {}
        bot = self.make(self._state.get_game(), player, **seed)
        if not hasattr(bot, "step"):
            raise TypeError(f"expected a pyspiel.Bot, not {shown(bot)}")
        return bot


def spiel_agent(name: str, timeout: float | None = None) -> Guard:
    """Returns the agent of a bot.

    name: one of OpenSpiel's registered bots, such as "uniform_random", or the reference of a function as in `SpielAgent`, whose
    other parameters may stand in brackets. Raises ImportError without OpenSpiel, ValueError for an unknown name.
    """
    pyspiel = imported()
    if name in pyspiel.registered_bots():
        return Guard(SpielAgent(lambda game, player, seed: _registered(name, game, player, seed), name), timeout)
    if not REFERENCE.fullmatch(name.partition("(")[0].strip()):
        known = f"{', '.join(pyspiel.registered_bots())}, or a reference such as my_module:my_bot"
        raise ValueError(f"OpenSpiel has no bot {shown(name)}: expected one of {known}")
    reference, written = parse(name)
    make = load(reference)
    if not callable(make) or len(parameters_of(make)) < 2:
        raise ValueError(f"{reference} is no function of a game and a player that returns a bot, but {shown(make)}")
    for key in written:
        if key not in list(parameters_of(make))[2:]:
            raise ValueError(f"{reference} has no parameter {key!r}")

    def bound(game: Any, player: int) -> Any:
        return make(game, player, **written)

    def bound_with_seed(game: Any, player: int, seed: int) -> Any:
        return make(game, player, **{"seed": seed, **written})

    return Guard(SpielAgent(bound_with_seed if "seed" in parameters_of(make) else bound, reference), timeout)


def _registered(name: str, game: Any, player: int, seed: int) -> Any:
    """Returns a registered bot, seeded where it draws."""
    given = {"seed": seed} if name.startswith("uniform") else {}
    return imported().load_bot(name, game, player, given)
