"""Profiles of playouts: how local they are, what patterns they have, what policies suggest."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from searching import Search

import ucd_envs
from ucd_envs.formats import sgf
from ucd_envs.rules import State
from ucd_envs.structs import fields
from ucd_planners import cmc, rave, uct
from ucd_planners.arena.agents import seed_of
from ucd_planners.arena.profile import MEASURES, ProfiledGames, Recorder, profile
from ucd_planners.cli import main
from ucd_planners.go.patterns import PATTERNS, codes
from ucd_planners.go.shapes import SHAPES, GoShapes
from ucd_planners.notation import planner_from
from ucd_planners.playouts import CMC
from ucd_planners.playouts.recording import LOCALITY, NEAR, Locality
from ucd_planners.selection.ucd import UCD

SIGNATURE = (2000, 211933, 58318, 201629, 64543, 8270, 104961)


def go(size: int = 9, **settings: Any) -> State:
    """The start of a game of Go."""
    return ucd_envs.make_rules("go", size=size, **settings).initial_state()


@pytest.mark.parametrize(
    ("game", "settings"), [("go", {"rows": 4, "columns": 6}), ("hex", {"size": 5, "swap": True}), ("tic_tac_toe", {})]
)
@pytest.mark.parametrize("add", ["first", "all"])
def test_near_moves_are_counted(game: str, settings: dict[str, Any], add: str) -> None:
    """Lines and columns apart of every move of a playout and the one before it, passes and swaps left out."""
    rules = ucd_envs.make_rules(game, **settings)
    rows, columns, _ = rules.planes
    search = Search(rules.initial_state(), UCD(table=False), 3, policies=Locality(), expand=add)
    near = pairs = 0
    for _ in range(100):
        search.step()
        sim = search.worker.sim
        moves = [move & 0xFFFF for move in sim.trace.tolist()]
        for i in range(max(int(sim.record.leaf_depth), 1), int(sim.record.traced.length)):
            if max(moves[i - 1], moves[i]) < rows * columns:
                (a, b), (c, d) = divmod(moves[i - 1], columns), divmod(moves[i], columns)
                pairs += 1
                near += abs(a - c) + abs(b - d) <= NEAR
    counts = fields(search.worker.sim.memories[0], LOCALITY)
    assert (int(counts.near), int(counts.pairs)) == (near, pairs)
    assert 0 < near < pairs


def test_moves_of_patterns_are_counted() -> None:
    """Looked up in the diagrams by the board as it is written out, before each move of a playout."""
    known = set().union(*map(codes, PATTERNS))
    search = Search(go(7, komi=1), UCD(table=False), 2, policies=[GoShapes(), CMC(0.5)])
    matched = moves = answers = 0
    for _ in range(30):
        search.step()
        sim, state = search.worker.sim, search.start
        for i in range(int(sim.record.traced.length)):
            action = int(sim.trace[i]) & 0xFFFF
            if i >= sim.record.leaf_depth:
                moves += 1
                found = action < 49 and surroundings(state, action) in known
                matched += found
                answers += found and i > 0 and action in around(int(sim.trace[i - 1]) & 0xFFFF)
            state = state.after(action)
    m = fields(search.worker.sim.memories[0], SHAPES)
    assert (int(m.matched), int(m.answers), int(m.moves)) == (matched, answers, moves)
    assert 0 < answers < matched < moves


def around(action: int) -> list[int]:
    """The points of a 7x7 board that a king could go to; none after a pass."""
    if action == 49:
        return []
    row, column = divmod(action, 7)
    return [
        7 * y + x
        for y in range(max(row - 1, 0), min(row + 2, 7))
        for x in range(max(column - 1, 0), min(column + 2, 7))
        if (y, x) != (row, column)
    ]


def surroundings(state: State, action: int) -> int:
    """The number of a point's surroundings: from the line above, two bits each, 1 own and 2 enemy stones, 3 outside."""
    rows, columns, depth = state.rules.planes
    planes = np.zeros((rows, columns, depth), np.int8)
    state.rules.kernels.observe(state.rules.config, state.array(), state.player, planes.reshape(-1))
    row, column = divmod(action, columns)
    found = 0
    around = [(up, right) for up in (1, 0, -1) for right in (-1, 0, 1) if up or right]
    for place, (up, right) in enumerate(around):
        y, x = row + up, column + right
        inside = 0 <= y < rows and 0 <= x < columns
        found |= (int(planes[y, x, 0] + 2 * planes[y, x, 1]) if inside else 3) << 2 * place
    return found


def test_a_profile_counts_what_policies_suggest() -> None:
    """With prob 1 CMC suggests nearly all moves once it has learned, with 0.2 about a fifth of that; without none."""
    state = ucd_envs.make_rules("hex", size=6).initial_state()
    shares = []
    for prob in (1.0, 0.2):
        found = profile(cmc(prob=prob, playouts=2000, seed=1), [state])
        ((policy, count),) = found.suggested
        assert policy == CMC(prob)
        assert found.playouts == 2000
        shares.append(count / found.moves)
    assert 0.8 < shares[0] <= 1
    assert 0.15 < shares[1] < 0.2
    assert profile(uct(playouts=100, seed=1), [state]).suggested == ()
    assert profile(cmc(prob=0.0, playouts=100, seed=1), [state]).suggested == ()


def test_random_playouts_in_hex_are_as_local_as_pairs_of_cells() -> None:
    """Two moves in a row are any two cells of a board that is filled in random order."""
    pairs = [(a, b) for a in range(81) for b in range(81) if a != b]
    apart = [abs(a // 9 - b // 9) + abs(a % 9 - b % 9) for a, b in pairs]
    expected = sum(distance <= NEAR for distance in apart) / len(pairs)
    found = profile(uct(playouts=2000, seed=4), [ucd_envs.make_rules("hex", size=9).initial_state()])
    assert found.matched is None
    assert found.answers is None
    assert abs(found.near / found.pairs - expected) < 0.005


def test_a_profile_is_the_same_for_a_seed() -> None:
    """These counts change only with the search, the generator, the playouts of Go, the draws of CMC or the patterns."""
    found = profile(uct(playouts=1000, seed=7, policies=CMC(0.5)), [go(), go().after(40)])
    counts = (found.playouts, found.moves, found.near, found.pairs, found.matched, found.answers, found.suggested[0][1])
    assert counts == SIGNATURE


def test_the_planner_is_as_it_was() -> None:
    """A profile leaves the planner's policies and its next search alone, and two workers are added up."""
    planner, other = (rave(playouts=200, seed=3, workers=2) for _ in range(2))
    found = profile(planner, [go(5)])
    assert found.playouts == 200
    assert planner.policies == ()
    planner.reset(3)
    assert planner.search(go(5)).visits.tolist() == other.search(go(5)).visits.tolist()


def test_what_no_profile_can_be_made_of() -> None:
    """One sentence each."""
    with pytest.raises(ValueError, match=r"^a profile needs at least one position$"):
        profile(uct(playouts=10), [])
    with pytest.raises(ValueError, match=r"^a profile can be made of 2 policies at most, not 3$"):
        profile(uct(playouts=10, policies=[CMC()] * 3), [go()])
    with pytest.raises(ValueError, match=r"^moves of leftright_v0.* have no distance: they are not the cells of its board$"):
        profile(uct(playouts=10), [ucd_envs.make_rules("leftright").initial_state()])
    with pytest.raises(ValueError, match=r"^go_shapes knows Go only, not hex_v0"):
        uct(playouts=10, policies=GoShapes()).search(ucd_envs.make_rules("hex", size=3).initial_state())


def test_a_profiled_game_has_the_shares_of_all_its_searches() -> None:
    """The same game played by the planner itself, whose moves a recorder leaves alone, and the profile of its positions."""
    games = ProfiledGames("go_v0", "uct(c=0.3)", {"size": 5}, 40, 2, seed=3)
    planner = planner_from("uct(c=0.3)", playouts=40, seed=seed_of(3, 1, 0))
    state, states = go(5), []
    while not state.over:
        states.append(state)
        state = state.after(planner.act(state))
    planner.reset(seed_of(3, 1, 0))
    expected = profile(planner, states)
    played = games.play(1)
    assert (
        played.payoffs
        == tuple(expected.shares[measure] for measure in MEASURES)
        == (
            *(expected.near / expected.pairs, 0.0),
            *((expected.matched or 0) / expected.moves, (expected.answers or 0) / expected.moves),
        )
    )
    assert sum(played.playouts) == 40 * len(states)
    assert 0 < played.payoffs[3] < played.payoffs[2] < 1


def test_what_a_policy_has_learned_goes_on_in_a_profiled_game() -> None:
    """In the same positions, searched by a planner that has learned nothing before each, BHRF suggests far less."""
    text, playouts = "rave(policies=bhrf)", 40
    kept = ProfiledGames("go_v0", text, {"size": 5}, playouts, 1).play(0).payoffs[1]
    recorder, state, alone = Recorder(planner_from(text, playouts=playouts, seed=seed_of(0, 0, 0)), go(5).rules), go(5), []
    while not state.over:
        result, _ = recorder.search(state)
        alone.append(profile(planner_from(text, playouts=playouts, seed=1), [state]).shares["suggested"])
        state = state.after(result.action)
    assert 0 < 1.5 * sum(alone) / len(alone) < kept < 1


def test_a_game_without_an_expert_has_two_shares() -> None:
    """In Hex every move but the first of a game is near or not, and CMC suggests some."""
    games = ProfiledGames("hex_v0", "cmc(prob=0.5)", {"size": 4}, 50, 1)
    assert games.measures == ("near", "suggested")
    assert games.sides == len(games.play(0).payoffs) == 2
    assert 0.1 < games.play(0).payoffs[1] < 0.5


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"planner": "uct(playouts=5)"},
            r"a planner whose playouts are profiled has no budget of its own, as 'uct\(playouts=5\)' has",
        ),
        ({"planner": "uct(policies='mast n_grams bhrf')"}, "a profile can be made of 2 policies at most, not 3"),
        (
            {"game": "leftright_v0", "settings": {}},
            "moves of leftright_v0.* have no distance: they are not the cells of its board",
        ),
        ({"playouts": 0}, "playouts must be from 1 to .*, not 0"),
        ({"games": 0}, "games must be from 1 to .*, not 0"),
    ],
    ids=["budget", "policies", "game", "playouts", "games"],
)
def test_games_that_cannot_be_profiled_are_refused(changes: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {"game": "go_v0", "planner": "uct", "settings": {"size": 5}, "playouts": 5, "games": 2}
    with pytest.raises(ValueError, match=rf"\A{words}\Z"):
        ProfiledGames(**{**given, **changes})


def test_the_command_tells_profiles(capsys: pytest.CaptureFixture[str]) -> None:
    """A table with a line for each planner."""
    arguments = ["profile", "--game", "go", "--size", "5", "--planner", "uct", "--planner", "uct(policies='cmc')"]
    assert main([*arguments, "--playouts", "200", "--moves", "c3 d3"]) == 0
    out = capsys.readouterr().out
    assert "rows=5" in out
    assert "1 position; in percent of the moves of playouts" in out
    assert re.search(r"3\d\.\d CMC", out)


def test_the_command_reads_records(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Every so many moves of a game, as one JSON object a planner."""
    state = go(5)
    moves = [12, 7, 11, 6]
    path = tmp_path / "game.sgf"
    path.write_text(sgf.saved(state.rules, moves))
    assert main(["profile", "--sgf", str(path), "--every", "2", "--playouts", "100", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["playouts"] == 300
    assert 0 < row["near_pattern"] < row["pattern"] < row["near"] < 100


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ([], "a profile needs a game: --game, or a record with --sgf"),
        (["--game", "hex", "--every", "3"], "--every goes with --sgf"),
        (["--game", "go", "--moves", "e5 e5"], "move 2 (e5): action 40 is not legal here"),
        (["--game", "go", "--moves", "z5"], "move 1 (z5): 'z5' is no point of this board"),
        (["--sgf", "missing.sgf"], "the record missing.sgf cannot be read: No such file or directory"),
        (["--game", "go", "--planner", "uct(policies='go')"], "unknown policy 'go'"),
        (["--game", "leftright"], "moves of leftright_v0(steps=300) have no distance"),
    ],
)
def test_what_the_command_cannot_profile(arguments: list[str], error: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence, and the exit status of wrong arguments."""
    assert main(["profile", *arguments, "--playouts", "10"]) == 2
    assert capsys.readouterr().err.startswith(f"ucd: {error}")
