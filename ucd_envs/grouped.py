"""Grouped games: at each position the mover first picks a group of moves, then a move of it [Childs section 4].

A grouped game is made from a game and a `Grouping`. Its actions are those of the game inside, then one for each group. A pick
is a ply of its own, and the key holds it, so searches need to know nothing of groups; a move of several groups is a
transposition. A group with a single move is not picked: its move is legal at once. Where only one group has moves, all of them
are. Of several groups with every legal move one can be picked.

Playouts play the game inside, without picks: a position before a pick plays a move of any group on, and one behind it begins
with a random move of its group. With overlapping groups `playout_action` draws picks and moves so that every move of the random
policy has the same probability.

A state is the state of the game inside with a few fields behind it. Its header counts the plies with picks, so positions that
were reached with different numbers of picks are different.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ucd_envs.bindings import bound
from ucd_envs.interface import Grouping, Kernels
from ucd_envs.kernels import GROUP_KEY, GROUPS, HEADER, compiled
from ucd_envs.picks import (
    INSIDE,
    PICK,
    PICK_BYTES,
    draw,
    find_ungrouped,
    is_playable,
    key,
    legal_actions,
    no_group_key,
    observe,
    payoffs,
    play,
    playout,
    playout_action,
    playout_actions,
    probability,
    reset,
)
from ucd_envs.rng import seeded
from ucd_envs.rules import Inside, Rules, State
from ucd_envs.settings import shown
from ucd_envs.structs import fields

MOST_GROUPS = 63


@runtime_checkable
class MoveGroups(Protocol):
    """A way to group moves, in every game that it knows."""

    def of(self, rules: Rules) -> Grouping:
        """Returns the groups in one configuration. Raises ValueError for a game that it does not know."""


def check_groups(groups: Any) -> None:
    """Raises TypeError for anything but a Grouping and an object that makes one."""
    if isinstance(groups, type) or not isinstance(groups, (Grouping, MoveGroups)):
        raise TypeError(f"groups must be a Grouping, or make one by of(rules) as Manhattan() does, not {shown(groups)}")


def grouped(rules: Rules, groups: MoveGroups | Grouping) -> Rules:
    """Returns the game in which the mover picks a group of moves before a move; the same object for the last arguments.

    groups: a `Grouping`, or an object whose `of(rules)` returns one. Raises TypeError for anything else and for a live game of
    Python, ValueError for a game that the groups do not know, one that is grouped already, and a legal move without a group.
    """
    if not isinstance(rules, Rules):
        raise TypeError(f"expected Rules, such as make_rules returns, not {type(rules).__name__}")
    check_groups(groups)
    if rules.live is not None:
        raise TypeError(f"{rules.name} is a game of Python: only rules made of kernels can be grouped")
    if rules.inside is not None:
        raise ValueError(f"{rules.name} is grouped already")
    grouping = groups if isinstance(groups, Grouping) else groups.of(rules)
    if not isinstance(grouping, Grouping) or not 1 <= grouping.groups <= MOST_GROUPS:
        raise TypeError(f"groups must make a Grouping with 1 to {MOST_GROUPS} groups, not {grouping!r}")
    if not -1 <= grouping.whole < grouping.groups:
        raise ValueError(f"the group of all moves must be one of {grouping.groups}, or -1 for none, not {grouping.whole}")
    source: Any = groups
    return _grouped(rules, grouping, source)


@lru_cache(maxsize=8)
def _grouped(rules: Rules, grouping: Grouping, source: Any) -> Rules:
    """Makes a grouped game and looks for a legal move without a group in random games."""
    cells, planes = rules.planes[0] * rules.planes[1], rules.planes[2]
    memory = np.frombuffer(bytearray(grouping.memory), np.uint8)
    kernels = {name: getattr(rules.kernels, name) for name in INSIDE.listed if name in Kernels._fields}
    words = bound(
        INSIDE,
        **kernels,
        groups_of=compiled(grouping.kernel, GROUPS),
        group_key=compiled(grouping.key or no_group_key, GROUP_KEY),
        later_key=compiled(grouping.later or grouping.key or no_group_key, GROUP_KEY),
        memory=memory,
        config_bytes=len(rules.config),
        actions=rules.actions,
        key_words=rules.key_words,
        group_words=grouping.key_words,
        groups=grouping.groups,
        whole=grouping.whole % 2**64,  # words have no sign
        planes=planes,
        cells=cells,
    )

    def inner(state: State) -> State:
        return _inside(rules, state)

    made = replace(
        rules,
        name=f"{rules.name} by {grouping.name}",
        actions=rules.actions + grouping.groups,
        max_plies=2 * rules.max_plies,
        config=np.concatenate([rules.config, words.view(np.uint8)]),
        config_bytes=None,
        state_bytes=rules.state_bytes + PICK_BYTES,
        key_words=rules.key_words + grouping.key_words + 1,
        kernels=Kernels(
            *(reset, legal_actions, play, payoffs, key),
            playout=playout,
            playout_action=playout_action,
            playout_actions=playout_actions,
            is_playable=is_playable,
            observe=observe,
            draw=draw if rules.has_chance else None,
            probability=probability if rules.knows_probabilities else None,
        ),
        planes=(*rules.planes[:2], planes + grouping.groups),
        action_name=lambda state, action: _name(rules, state, action),
        action_named=lambda state, text: _named(rules, grouping, state, text),
        tiling=None,
        drawing=lambda state: _drawing(rules, state),
        victory=None if rules.victory is None else lambda state: rules.victory(inner(state)),  # type: ignore[misc]
        score=None if rules.score is None else lambda state: rules.score(inner(state)),  # type: ignore[misc]
        why_illegal=lambda action: "its group is not picked" if action < rules.actions else "no such group can be picked",
        validate=lambda config, state: _is_valid(rules, grouping, memory, state),
        turn=None if rules.turn is None else lambda config, state, player: _turn(rules, state, player),
        shrinking=False,  # behind a pick only its moves are playable, and then all are again
        groups=None,
        solution=None,
        inside=Inside(rules, grouping, source, memory),
        reference=None,
    )
    rng, state = seeded(0), np.zeros(made.state_bytes, np.uint8)
    for _ in range(20):
        action = int(find_ungrouped(made.config, state, rng, rules.max_plies))
        if action >= 0:
            position = State.trusted(rules, state[: rules.state_bytes].tobytes())
            name, where = rules.action_name(position, action % rules.actions), "without a group"
            where = where if action < rules.actions else f"out of the group of all, {grouping.whole}"
            raise ValueError(f"{grouping.name} leaves a legal move of {rules.name} {where}: {name}")
    return made


def entered(rules: Rules, state: State) -> State:
    """Returns the position of a grouped game that has a state inside, with no group picked."""
    found = np.zeros(rules.state_bytes, np.uint8)
    found[:-PICK_BYTES] = np.frombuffer(state.data, np.uint8)
    pick = fields(found[-PICK_BYTES:], PICK)
    pick.ply, pick.group = state.ply, -1
    fields(found, HEADER).ply = 2 * state.ply  # as if every move had needed a pick, so that there is room for all to come
    return State.trusted(rules, found.tobytes(), state.ending)


def _inside(rules: Rules, state: State) -> State:
    """Returns the state inside one of a grouped game."""
    data = state.array()
    fields(data, HEADER).ply = fields(data[-PICK_BYTES:], PICK).ply
    return State.trusted(rules, data[:-PICK_BYTES].tobytes())


def _group(state: State) -> int:
    """Returns the group picked, or -1."""
    return int(fields(state.array()[-PICK_BYTES:], PICK).group)


def _name(rules: Rules, state: State, action: int) -> str:
    """Returns the text of an action: a group's is its number."""
    return rules.action_name(_inside(rules, state), action) if action < rules.actions else f"group{action - rules.actions}"


def _named(rules: Rules, grouping: Grouping, state: State, text: str) -> int:
    """Returns the action of a text."""
    number = text.lower().removeprefix("group")
    if number != text.lower() and number.isascii() and number.isdecimal() and int(number) < grouping.groups:
        return rules.actions + int(number)
    return rules.action_named(_inside(rules, state), text)


def _drawing(rules: Rules, state: State) -> str:
    """Returns the board of the game inside, and the group picked."""
    from ucd_envs import pictures

    group = _group(state)
    return pictures.text(_inside(rules, state)) + (f"group {group} is picked" if group >= 0 else "no group is picked")


def _is_valid(rules: Rules, grouping: Grouping, memory: np.ndarray, state: np.ndarray) -> bool:
    """Returns whether the game inside accepts its part of a state, and the group picked can have moves."""
    pick, s = fields(state[-PICK_BYTES:], PICK), fields(state, HEADER)
    if not (0 <= pick.ply <= s.ply <= 2 * pick.ply + (pick.group >= 0) and -1 <= pick.group < grouping.groups):
        return False
    if pick.group >= 0 and not 0 <= s.player < rules.players:
        return False
    data = state[:-PICK_BYTES].copy()
    fields(data, HEADER).ply = pick.ply
    try:
        inner = State(rules, data.tobytes())
    except ValueError:
        return False
    if pick.group < 0:
        return True
    groups, config = grouping.kernel, rules.config
    return any(int(groups(config, data, memory, action)) >> pick.group & 1 for action in inner.legal_actions())


def _turn(rules: Rules, state: np.ndarray, player: int) -> None:
    """Sets another player to move, with no group picked."""
    turn: Any = rules.turn
    s, pick = fields(state, HEADER), fields(state[-PICK_BYTES:], PICK)
    plies, s.ply, pick.group = int(s.ply), pick.ply, -1
    turn(rules.config, state[:-PICK_BYTES], player)
    s.ply = plies
