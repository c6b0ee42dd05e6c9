"""The General Game Playing games are those of their rulesheets: recorded games, and counts of positions."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

import pytest
from ggp import RECORDED, perft, recorded

import ucd_envs
from ucd_envs import Rules, State


def rules_of(name: str) -> Rules:
    game, settings, _ = RECORDED[name]
    return ucd_envs.make_rules(game, **settings)


def with_numbers(board: Any, roles: list[str]) -> Any:
    """A final board with numbers in place of the players' names."""
    if isinstance(board, dict):
        return {key: with_numbers(value, roles) for key, value in board.items()}
    if isinstance(board, list):
        return [with_numbers(value, roles) for value in board]
    for number, role in enumerate(roles):
        board = board.replace(role, str(number))
    return board


def replay(name: str, game: dict[str, Any]) -> None:
    """Plays a recorded game and compares movers, numbers of legal moves, goals and the final board."""
    roles = recorded(name)["roles"]
    state = rules_of(name).initial_state()
    for mover, count, move in zip(game["movers"], game["legal_counts"], game["moves"], strict=True):
        assert (roles[state.player], len(state.legal_actions())) == (mover, count)
        action = state.action_named(move)
        assert state.action_name(action) == move
        state = state.after(action)
    assert state.over
    assert state.payoffs() == [game["goals"][role] / 100 for role in roles]
    assert RECORDED[name].board(state) == with_numbers(game["final_board"], roles)


def counted(rules: Rules, depth: int) -> list[tuple[int, int, int, int]]:
    """The paths, positions, and ended ones of both, by depth: positions are counted by their keys."""
    level: dict[State, int] = {rules.initial_state(): 1}
    found = [(1, 1, 0, 0)]
    for _ in range(depth):
        below: dict[State, int] = {}
        for state, paths in level.items():
            for action in state.legal_actions():
                child = state.after(action)
                below[child] = below.get(child, 0) + paths
        level = below
        ended = [paths for state, paths in level.items() if state.over]
        found.append((sum(level.values()), len(level), sum(ended), len(ended)))
    return found


def expected(name: str, most: int) -> list[tuple[int, int, int, int]]:
    """The same as the file has it, to the last depth before one with more positions than so many."""
    rows = takewhile(lambda row: row["states"] <= most, perft(name))
    return [(row["paths"], row["states"], row["terminal_paths"], row["terminal_states"]) for row in rows]


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_games_are_played_as_the_rulesheet_plays_them(name: str) -> None:
    assert len(recorded(name)["games"]) == 20
    for game in recorded(name)["games"]:
        replay(name, game)


@pytest.mark.parametrize("name", RECORDED)
def test_rare_events_are_as_the_rulesheet_has_them(name: str) -> None:
    played = [game for game in recorded(name)["feature_games"] if game["goals"] is not None]
    for game in played:
        replay(name, game)
    # The one without goals is a position of Knightthrough that its rulesheet does not end.
    assert len(played) == len(recorded(name)["feature_games"]) - (name == "knightthrough")


@pytest.mark.parametrize("name", RECORDED)
def test_counts_of_paths_and_positions_are_those_of_the_rulesheet(name: str) -> None:
    rows = expected(name, 6_100)
    assert len(rows) > 2  # two plies of Knightthrough, 40 moves each, and more of the others
    assert counted(rules_of(name), len(rows) - 1) == rows


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDED)
def test_counts_at_greater_depths_are_those_of_the_rulesheet(name: str) -> None:
    rows = expected(name, 600_000)
    assert counted(rules_of(name), len(rows) - 1) == rows
