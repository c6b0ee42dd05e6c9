"""Games of OpenSpiel, by names such as "spiel:backgammon(scoring_type=full_scoring)".

What follows the prefix is OpenSpiel's own text of a game: its short name and its parameters. They are also settings:
`make_rules("spiel:backgammon", scoring_type="full_scoring")` is the same game. OpenSpiel is imported with the first of its
games. The other way, `register` offers our games to OpenSpiel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any

from ucd_envs.foreign.exports import imported, register
from ucd_envs.foreign.histories import STATE, kernels
from ucd_envs.foreign.replays import DIGEST_BYTES, Position, Replays
from ucd_envs.rules import MOST_ACTIONS, MOST_PLAYERS, MOST_PLIES, Rules, State
from ucd_envs.settings import shown

__all__ = ["PREFIX", "TOLD", "SpielGame", "builder", "imported", "loaded", "register", "rules", "spelled"]

PREFIX = "spiel"
"""The part of a name before its colon."""
POSITIONS = ("history", "text")
SETTINGS = ("position", "start")
"""Settings that are none of OpenSpiel's."""
TOLD = frozenset(
    ("breakthrough", "clobber", "connect_four", "dots_and_boxes", "gomoku", "havannah", "hex", "mnk", "nim", "othello")
) | frozenset(("pentago", "tic_tac_toe", "y"))
"""Games whose text, with mover and ply, tells all of a position, so that it is the default position."""


def spelled(name: str, settings: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Returns the name of a game without parameters and all of its settings, those of the text among them.

    Raises ValueError for a text that is not OpenSpiel's and for a parameter that is given twice.
    """
    text = name.partition(":")[2]
    short, bracket, inside = text.partition("(")
    if bracket and not inside.endswith(")"):
        raise ValueError(f"the game {shown(name)} does not parse: expected {PREFIX}:name(key=value,...)")
    written: dict[str, Any] = {}
    for part in _parts(inside[:-1]):
        key, equals, value = part.partition("=")
        if not equals or not key or key in written or key in settings or key in SETTINGS:
            raise ValueError(f"the game {shown(name)} does not parse: expected key=value, each key once, not {shown(part)}")
        written[key] = value
    return f"{PREFIX}:{short}", {**written, **settings}


def _parts(text: str) -> Iterator[str]:
    """Splits a text at the commas outside of brackets."""
    depth, begin = 0, 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            yield text[begin:place]
            begin = place + 1
    if text:
        yield text[begin:]


@cache
def builder(name: str) -> Callable[..., Rules]:
    """Returns the function that makes the rules of a game; parameters in its name do not count.

    Raises ImportError without OpenSpiel.
    """
    imported()
    return partial(rules, name.partition(":")[2].partition("(")[0])


def rules(short: str, /, *, position: str | Position | None = None, start: str | None = None, **parameters: Any) -> Rules:
    """Returns the rules of a game of OpenSpiel.

    position: "history", "text", or a function of a pyspiel.State, see docs/foreign.md; start: the text of another first
    position, for games that read one; parameters: OpenSpiel's own.

    Raises ImportError without OpenSpiel, and ValueError with one sentence for an unknown game or parameter and for a game
    that planners cannot search.
    """
    game = loaded(short, parameters)
    facts = refuse_unserved(game)
    kind = game.get_type()
    written = {key: _value(value) for key, value in game.get_parameters().items()}
    usual = {key: _value(value) for key, value in kind.parameter_specification.items()}
    settings = {key: value for key, value in sorted(written.items()) if usual.get(key) != value}
    if position is not None and not callable(position) and position not in POSITIONS:
        raise ValueError(f"position must be one of {', '.join(POSITIONS)} or a function, not {shown(position)}")
    settings |= {} if position is None else {"position": position}
    settings |= {} if start is None else {"start": start}
    chosen = position or POSITIONS[kind.short_name in TOLD]
    live = _replays(str(game), chosen, start, *facts)
    return Rules(
        name=f"{PREFIX}:{kind.short_name}",
        settings=settings,
        players=live.players,
        actions=live.actions,
        max_plies=live.max_plies,
        config=live.config,
        state_bytes=live.state_bytes,
        key_words=DIGEST_BYTES // 8,
        kernels=kernels(game.max_chance_outcomes() > 0),
        action_name=partial(_name, live),
        action_named=partial(_named, live),
        drawing=lambda state: str(live.position_of(state.data)),
        live=live,
        layout=STATE,
        validate=live.is_valid,
    )


def loaded(short: str, parameters: Mapping[str, Any]) -> Any:
    """Returns a pyspiel.Game. Raises ImportError without OpenSpiel, ValueError for a game that it does not have."""
    pyspiel = imported()
    text = f"{short}({','.join(f'{key}={value}' for key, value in parameters.items())})"
    if short not in pyspiel.registered_names():
        raise ValueError(f"OpenSpiel has no game {shown(short)}")
    try:
        return pyspiel.load_game(text)
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise ValueError(f"OpenSpiel cannot load {shown(text)}: {reason}") from None


def refuse_unserved(game: Any) -> tuple[float, float, int, int, int]:
    """Returns the least and largest return of a game, its actions, outcomes and longest history.

    Raises ValueError with one sentence for a game that planners cannot search.
    """
    pyspiel, kind = imported(), game.get_type()
    name, types = kind.short_name, pyspiel.GameType
    if kind.dynamics == types.Dynamics.MEAN_FIELD:
        raise ValueError(f"{name} is a mean-field game: planners search games whose players move in turn")
    if kind.dynamics != types.Dynamics.SEQUENTIAL:
        raise ValueError(f"players of {name} move simultaneously: planners search games whose players move in turn")
    if kind.information != types.Information.PERFECT_INFORMATION:
        raise ValueError(f"{name} is a game of imperfect information: planners search games whose positions all players see")
    if kind.chance_mode == types.ChanceMode.SAMPLED_STOCHASTIC:
        raise ValueError(f"{name} draws its chance itself: planners need outcomes with probabilities")
    try:
        least, most = float(game.min_utility()), float(game.max_utility())
        plies = int(game.max_history_length())
    except Exception as error:
        raise ValueError(f"{name} does not tell its bounds: {error}") from None
    if not -math.inf < least < most < math.inf:
        raise ValueError(f"utilities of {name} go from {least} to {most}: planners need a least and a larger most")
    actions, outcomes = max(game.num_distinct_actions(), game.max_chance_outcomes()), game.max_chance_outcomes()
    for what, found, limit in (
        ("actions", actions, MOST_ACTIONS),
        ("players", game.num_players(), MOST_PLAYERS),
        ("plies", plies, MOST_PLIES),
    ):
        if not 1 <= found <= limit:
            raise ValueError(f"{name} has {found} {what}: planners search games with 1 to {limit}")
    return least, most, actions, outcomes, plies


@cache
def _replays(
    name: str, position: str | Position, start: str | None, least: float, most: float, actions: int, outcomes: int, plies: int
) -> Replays:
    """Returns the callbacks of a game, always the same ones, so that states of equal rules are equal."""
    game = imported().load_game(name)
    try:
        first = game.new_initial_state() if start is None else game.new_initial_state(start)
    except Exception as error:
        raise ValueError(f"{name} cannot start from {shown(start)}: {error}") from None
    told = position if callable(position) else None
    if position == "text":
        told = paid_text if game.get_type().reward_model == imported().GameType.RewardModel.REWARDS else text
    return Replays(f"{PREFIX}:{name}", first, told, (least, most), actions, outcomes, plies)


def text(state: Any) -> str:
    """Returns the mover of a pyspiel.State and its text."""
    return f"{state.current_player()}\n{state}"


def paid_text(state: Any) -> str:
    """Returns the mover of a pyspiel.State, its returns so far and its text."""
    return f"{state.returns()}{state.current_player()}\n{state}"


def _value(value: Any) -> Any:
    """Returns a parameter's value: that of a game as OpenSpiel's text."""
    if not isinstance(value, Mapping):
        return value
    return f"{value['name']}({','.join(f'{key}={_value(each)}' for key, each in value.items() if key != 'name')})"


def _name(live: Replays, state: State, action: int) -> str:
    """Returns OpenSpiel's text of an action."""
    found = live.position_of(state.data)
    return str(found.action_to_string(found.current_player(), action))


def _named(live: Replays, state: State, text: str) -> int:
    """Returns the legal action of a text."""
    found = live.position_of(state.data)
    texts = {} if state.over else {_name(live, state, action): action for action in found.legal_actions()}
    wanted = text.strip()
    alike = [each for each in texts if each.lower() == wanted.lower()]
    if wanted in texts or len(alike) == 1:
        return int(texts[wanted if wanted in texts else alike[0]])
    raise ValueError(f"{shown(text)} is no legal move of {live.name} here")


class SpielGame:
    """A game of OpenSpiel that is played outside, for planners: `planner.act(SpielGame(state))`.

    `state` is the pyspiel.State that was given, or the first one of a pyspiel.Game. The caller may play on in it; no search
    changes it.
    """

    def __init__(self, state_or_game: Any, *, position: str | Position | None = None, start: str | None = None) -> None:
        """Adapts a pyspiel.State or pyspiel.Game; options as in `rules`.

        Raises TypeError for anything else, ValueError for a game that planners cannot search, and ImportError without
        OpenSpiel.
        """
        pyspiel = imported()
        if isinstance(state_or_game, pyspiel.Game):
            state_or_game = state_or_game.new_initial_state(*([] if start is None else [start]))
        if not isinstance(state_or_game, pyspiel.State):
            raise TypeError(f"SpielGame needs a pyspiel.State or a pyspiel.Game, not {type(state_or_game).__name__}")
        self.state = state_or_game
        from ucd_envs.registry import make_rules

        options = {key: value for key, value in (("position", position), ("start", start)) if value is not None}
        self.rules: Rules = make_rules(f"{PREFIX}:{self.state.get_game()}", **options)

    def clone_state(self) -> State:
        """Returns the present state. Raises ValueError for one whose moves do not lead to it from the first state."""
        live = self.rules.live
        assert isinstance(live, Replays)
        try:
            found = State.trusted(self.rules, live.state_of(self.state.history()))
            same = str(live.position_of(found.data)) == str(self.state)
        except Exception:
            same = False
        if not same:
            raise ValueError(
                f"the moves of this state of {live.name} do not lead to it from the first state: name the text of its start"
            )
        return found
