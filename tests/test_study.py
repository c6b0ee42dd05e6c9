"""Moves after several numbers of playouts of one search, and studies: shares of right moves on games whose seeds differ."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_foreign_chance import Walk

import ucd_envs
from ucd_envs.boards.sums import correct_moves
from ucd_envs.foreign import SingleGame
from ucd_envs.rules import State
from ucd_planners import uct
from ucd_planners.arena.agents import StoppedError
from ucd_planners.arena.contest import Game, Match
from ucd_planners.arena.schedule import play_matches
from ucd_planners.arena.store import Store, configuration
from ucd_planners.arena.study import Study
from ucd_planners.notation import planner_from

GROUPED = {"branching": 6, "depth": 4, "groups": 2, "group_size": 3, "group_bias": 50, "overlap": True}
COMBINED = {"depth": 8, "dag_combination": 20}
SMALL = Study("p_game_v0", "uct2(c=1.4,expand=all)", {"branching": 3, "depth": 4}, (3, 10, 40), (7, 4, 2), 3, 5)


def root(seed: int = 0, **settings: Any) -> State:
    return ucd_envs.make_rules("p_game", seed=seed, **settings).initial_state()


def walk() -> SingleGame:
    """A third-party game whose first move may be followed by chance."""
    env = Walk()
    env.reset(seed=1)
    return SingleGame(env)


# Moves after several numbers of playouts


@pytest.mark.parametrize(
    "text",
    [
        *("uct", "uct(c=1.4,final_move=mean)", "ucd(d1=1,d2=0,d3=1)", "rave", "update_all(expand=all)", "uct(policies=mast)"),
        *("uct2(expand=all,final_move=mean)", "uct0(groups=own)", "uct2(groups=own,expand=all,final_move=mean)"),
        *("uct(stop_early=true)", "uct(final_move=lower_bound)"),
    ],
)
def test_moves_are_those_of_separate_searches(text: str) -> None:
    """After one to six playouts most actions are equals, so a draw that the search noticed would change its course."""
    planner, goals = planner_from(text), [1, 2, 3, 4, 5, 6, 20, 21, 100, 700]
    for seed in range(8):
        state = root(seed, **GROUPED)
        separate = []
        for goal in goals:
            planner.reset(seed)
            separate.append(planner.search(state, playouts=goal).action)
        planner.reset(seed)
        assert planner.moves_after(state, goals) == separate
        planner.reset(seed)
        assert planner.moves_after(state, goals[-1:]) == separate[-1:]


def test_looks_do_not_change_the_search() -> None:
    """Its whole graph, where looks at all of the first hundred playouts have drawn between equals."""
    graphs = []
    for goals in (range(1, 101), [100]):
        planner = uct(seed=4)
        planner.moves_after(root(**GROUPED), list(goals))
        graph = planner._workers[0].graph
        graphs.append((graph.edges[: graph.edge_count].tolist(), planner._workers[0].sim.rng.tolist()))
    assert graphs[0] == graphs[1]


def test_a_search_for_moves_counts_as_one_search() -> None:
    """The next search is the second of the planner's sequence, and its position follows from the first one's."""
    state = root(**GROUPED)
    found = []
    for first in (lambda planner: planner.moves_after(state, [5, 60])[-1], lambda planner: planner.act(state, playouts=60)):
        planner = planner_from("uct(policies=last_good_reply)", seed=3)
        action = first(planner)
        found.append((action, planner.search(state.after(action), playouts=60).visits.tolist()))
    assert found[0] == found[1]


def test_a_call_may_name_its_final_move() -> None:
    planner = planner_from("uct")
    for final_move in ("visits", "mean", "lower_bound"):
        planner.reset(2)
        action = planner.search(root(**GROUPED), playouts=50, final_move=final_move).action
        planner.reset(2)
        assert planner.moves_after(root(**GROUPED), [50], final_move=final_move) == [action]


def test_progress_is_told_of_a_search_for_moves() -> None:
    told = []
    uct(seed=1).moves_after(root(**GROUPED), [10, 600], progress=lambda playouts, seconds: told.append(playouts))
    assert told[0] == 10
    assert told[-1] == 600
    assert told == sorted(told)


def test_moves_are_found_in_a_third_party_game_with_chance() -> None:
    """Chance shows itself in a playout, and the search begins anew at a root that knows of it."""
    for seed in range(5):
        separate = []
        for playouts in (1, 2, 3, 4, 200):
            separate.append(uct(seed=seed).search(walk(), playouts=playouts).action)
        assert uct(seed=seed).moves_after(walk(), [1, 2, 3, 4, 200]) == separate
        assert separate[-1] == 1


@pytest.mark.parametrize(
    ("text", "goals", "sentence"),
    [
        ("uct", [10, 5], r"expected one worker and ascending numbers of playouts, not 1 and \[10, 5\]"),
        ("uct", [10, 10], "expected one worker and ascending numbers of playouts"),
        ("uct", [], r"expected one worker and ascending numbers of playouts, not 1 and \[\]"),
        ("uct(workers=2)", [5, 10], r"expected one worker and ascending numbers of playouts, not 2 and \[5, 10\]"),
        ("uct", [0, 10], "playouts must be from 1 to 2147352576, not 0"),
        ("uct", [1.5], "playouts must be a whole number from 1 to 2147352576, not 1.5"),
        ("uct", [None, 10], "playouts must be a whole number from 1 to 2147352576, not None"),
    ],
)
def test_goals_that_cannot_be_searched_for_are_refused(text: str, goals: Any, sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=rf"\A{sentence}"):
        planner_from(text).moves_after(root(depth=4), goals)


def test_there_are_no_moves_after_the_end() -> None:
    over = root(depth=1).after(0)
    with pytest.raises(ValueError, match="the game is over: there is no move to plan"):
        uct().moves_after(over, [10])


# Studies


def searched(study: Study, number: int) -> tuple[list[float], list[int]]:
    """The shares of right moves of a game by separate searches, and the playouts of the searches that end at each number.

    A search is the next one of a planner's sequence, so a planner comes to the search of run r by r short ones.
    """
    state = root(study.seed + number, **study.settings)
    seed = int(np.random.SeedSequence((study.seed, number)).generate_state(1, np.uint64)[0])
    right, hits, spent = correct_moves(state), [0] * len(study.playouts), [0] * len(study.playouts)
    for run in range(max(study.runs)):
        last = -1
        for place, (playouts, runs) in enumerate(zip(study.playouts, study.runs, strict=True)):
            if run < runs:
                planner = planner_from(study.planner, seed=seed)
                for _ in range(run):
                    planner.search(state, playouts=1)
                hits[place] += planner.search(state, playouts=playouts).action in right
                last = place
        spent[last] += study.playouts[last]
    return [hit / runs for hit, runs in zip(hits, study.runs, strict=True)], spent


@pytest.mark.parametrize(
    "study",
    [
        SMALL,
        replace(SMALL, planner="uct0(c=0.7,final_move=mean)", settings={"depth": 6, "dag_combination": 40}, runs=(5, 5, 5)),
        replace(SMALL, planner="uct0(c=1.4,groups=own)", settings=GROUPED, playouts=(20,), runs=(6,)),
        replace(SMALL, planner="uct(policies=mast)"),
    ],
    ids=["runs that descend", "combined nodes", "groups", "a policy that learns"],
)
def test_shares_are_those_of_separate_searches(study: Study) -> None:
    found = [study.play(number) for number in range(3)]
    by_hand = [searched(study, number) for number in range(3)]
    assert [list(game.payoffs) for game in found] == [shares for shares, _ in by_hand]
    assert {len({*game.payoffs, 0.0, 1.0}) > 2 for game in found} >= {True}
    assert [list(game.playouts) for game in found] == [spent for _, spent in by_hand]
    assert study.sides == len(study.playouts) == len(found[0].cpu_seconds)
    assert [(game.number, game.seat, game.moves, game.failure) for game in found] == [(n, 0, (), "") for n in range(3)]


def test_playouts_of_a_game_are_those_of_the_longest_number_that_each_search_reaches() -> None:
    """Three searches of 3 playouts, two of 10 and two of 40."""
    assert SMALL.simulations == (3 * 3, 2 * 10, 2 * 40)


def kept(path: Path, study: Study, played: list[int], jobs: int) -> list[tuple[float, ...]]:
    """The payoffs of a study in a store that has some of the games already."""
    with Store(path) as store:
        store.append(study, [study.play(number) for number in played])
        assert play_matches([study], store, jobs)
        assert store.missing(study) == []
        return [game.payoffs for game in store.games(study)]


def test_shares_do_not_depend_on_jobs_or_on_what_was_played_before(tmp_path: Path) -> None:
    study = replace(SMALL, games=6)
    alone = [study.play(number).payoffs for number in range(6)]
    assert len(set(alone)) > 1
    assert kept(tmp_path / "one.sqlite", study, [], 1) == alone
    assert kept(tmp_path / "two.sqlite", study, [4, 1], 2) == alone


def test_a_study_that_was_stopped_goes_on(tmp_path: Path) -> None:
    study, told = replace(SMALL, games=8), []

    def stop(contest: Any, games: list[Game]) -> None:
        told.extend(games)
        if len(told) >= 2:
            raise KeyboardInterrupt

    with Store(tmp_path / "games.sqlite") as store:
        assert not play_matches([study], store, progress=stop)
        there = store.games(study)
        assert 2 <= len(there) < 8
        assert play_matches([study], store)
        assert store.games(study)[: len(there)] == there
        assert [game.payoffs for game in store.games(study)] == [study.play(number).payoffs for number in range(8)]


def variants() -> Iterator[Study]:
    """The small study, and it with each of its parts changed in turn."""
    yield SMALL
    yield replace(SMALL, planner="uct2(c=1.5,expand=all)")
    yield replace(SMALL, planner="uct2(c=1.4)")
    yield replace(SMALL, settings={"branching": 3, "depth": 5})
    yield replace(SMALL, settings={"branching": 3, "depth": 4, "dag_combination": 10})
    yield replace(SMALL, playouts=(3, 10, 41))
    yield replace(SMALL, runs=(7, 4, 1))
    yield replace(SMALL, seed=6)


def test_everything_that_decides_the_shares_makes_another_configuration() -> None:
    found = [configuration(study) for study in variants()]
    assert len(set(found)) == len(found)
    match = Match("p_game", "uct2(c=1.4,expand=all)", "uct", SMALL.settings, games=2, seed=5)
    assert configuration(match) not in found


def test_the_same_searches_in_other_words_have_one_configuration() -> None:
    """Nor does the number of games belong to it."""
    for other in (
        replace(SMALL, games=9),
        replace(SMALL, game="p_game"),
        replace(SMALL, planner="uct2( expand=all, c=1.40 )"),
        replace(SMALL, settings={"depth": 4, "branching": 3, "dag_combination": 0}),
    ):
        assert configuration(other) == configuration(SMALL)


def test_facts_are_a_copy() -> None:
    facts = SMALL.facts()
    facts["seed"] = 100
    assert SMALL.facts()["seed"] == 5


def test_a_stop_ends_a_search_soon() -> None:
    """The search of 10**9 playouts would last for many minutes."""
    study = Study("p_game_v0", "uct(max_nodes=1000)", {"depth": 4}, (10**9,), (1,), 1)
    stop, began = threading.Event(), time.monotonic()
    timer = threading.Timer(0.3, stop.set)
    timer.start()
    with pytest.raises(StoppedError):
        study.play(0, stop)
    assert 0.3 <= time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"runs": (2, 4, 7)}, r"runs must be a number for each of playouts, descending, not \(2, 4, 7\)"),
        ({"runs": (7, 4)}, r"runs must be a number for each of playouts, descending, not \(7, 4\)"),
        ({"runs": (7, 4, 0)}, "runs must be from 1 to 2147352576, not 0"),
        ({"runs": (7, 4, 1.5)}, "runs must be a whole number from 1 to 2147352576, not 1.5"),
        ({"playouts": (3, 40, 10)}, r"playouts must ascend, not \(3, 40, 10\)"),
        ({"playouts": (3, 3, 10)}, "playouts must ascend"),
        ({"playouts": (0, 3, 10)}, "playouts must be from 1 to 2147352576, not 0"),
        ({"playouts": (), "runs": ()}, r"playouts must be a tuple of whole numbers, not \(\)"),
        ({"playouts": 10}, "playouts must be a tuple of whole numbers, not 10"),
        ({"games": 0}, "games must be from 1 to 1000000000, not 0"),
        ({"seed": -1}, "seed must be from 0 to 4611686018427387904, not -1"),
        ({"game": "hex", "settings": {}}, "hex_v0 has no setting 'seed': expected one of size, "),
        ({"game": "chess"}, "unknown game 'chess': expected one of "),
        ({"game": "hash_game:rules", "settings": {}}, "hash_game:rules does not tell right moves"),
        ({"settings": {"depth": 4, "seed": 3}}, "a study gives each game its seed: settings go without one"),
        ({"settings": {"width": 4}}, "p_game_v0 has no setting 'width'"),
        ({"settings": 4}, "settings must be a dict, not 4"),
        ({"planner": "chess"}, "unknown planner 'chess': expected one of uct, "),
        ({"planner": "uct(groups=own)"}, r"p_game_v0\(.*\) has no groups of its own"),
        ({"planner": "uct(groups=manhattan)"}, r".*p_game_v0"),
        ({"planner": "uct(workers=2)"}, r"a study's planner has one worker and no budget of its own, not 'uct\(workers=2\)'"),
        ({"planner": "uct(playouts=9)"}, "a study's planner has one worker and no budget of its own"),
        ({"planner": "uct(seconds=9)"}, "a study's planner has one worker and no budget of its own"),
        ({"planner": "uct(reuse_graph=true)"}, "a study's planner goes without reuse_graph and stop_early"),
        ({"planner": "uct(stop_early=true)"}, "a study's planner goes without reuse_graph and stop_early"),
    ],
    ids=str,
)
def test_a_study_that_cannot_be_played_is_refused(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=rf"\A{sentence}"):
        replace(SMALL, **changed)


def test_a_tree_that_is_too_large_to_solve_is_refused_by_its_first_game() -> None:
    with pytest.raises(ValueError, match="positions are too many to solve"):
        replace(SMALL, settings={"depth": 60}).play(0)


# Errors fall


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        *((f"{name}(c=1.414,expand=all,final_move=mean)", COMBINED) for name in ("uct0", "uct2", "uct3")),
        ("uct0(c=1.414,expand=all,final_move=mean,groups=own)", GROUPED),
        ("uct2(c=1.414,expand=all,final_move=mean,groups=own)", GROUPED),
    ],
)
def test_errors_fall_with_playouts(text: str, settings: dict[str, Any]) -> None:
    """On graphs with combined nodes and with groups of moves, over 40 games with 10 searches each."""
    study = Study("p_game_v0", text, settings, (2, 10, 1000), (10, 10, 10), 40)
    few, more, many = np.mean([study.play(number).payoffs for number in range(40)], 0)
    assert few + 0.05 < more < many - 0.02
    assert many > 0.98
