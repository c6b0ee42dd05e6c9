"""Every example runs from start to end in a process of its own."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from searching import Search, after, close
from simulations import WrittenSimulation
from write_a_policy import Bridges, Near
from write_a_selection import tuned

import ucd_envs
import ucd_planners
from ucd_envs.rng import seeded
from ucd_planners.arena.match import Match, play_match
from ucd_planners.checks import GAMES

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted(
    path for path in (ROOT / "examples").glob("*.py") if not path.name.startswith(("learn_with_", "alphazero", "differences_"))
)
"""Those with learning libraries are run by tests/test_learning.py, which needs an extra."""


@cache
def printed_by(path: Path) -> str:
    """What an example prints, run once, in a folder of its own for what it writes."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=300, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs(path: Path) -> None:
    assert printed_by(path).strip()


def test_the_numbers_of_the_page_on_graphs_are_those_that_its_example_prints() -> None:
    """The page quotes tests/printed/graphs.txt, which is what the example prints, to the letter."""
    command, printed = (ROOT / "tests" / "printed" / "graphs.txt").read_text().split("\n", 1)
    assert command == "$ python examples/search_in_graphs.py"
    assert printed_by(ROOT / "examples" / "search_in_graphs.py") == printed


def test_the_comparison_of_readings_is_that_of_the_kept_results() -> None:
    """The page quotes tests/printed/readings.txt, which is what the example prints of docs/results, to the letter."""
    command, printed = (ROOT / "tests" / "printed" / "readings.txt").read_text().split("\n", 1)
    assert command == "$ python examples/compare_readings.py"
    assert printed_by(ROOT / "examples" / "compare_readings.py") == printed


def test_there_are_examples() -> None:
    assert EXAMPLES


def test_a_selection_is_a_short_file() -> None:
    assert len((ROOT / "examples" / "write_a_selection.py").read_text().splitlines()) < 100


@pytest.mark.parametrize("subject", [Near(), Bridges(), tuned(), tuned(c=0.3, table=True)], ids=str)
def test_a_policy_and_a_selection_keep_their_contracts(subject: Any) -> None:
    """The check of user-defined kernels finds no fault; a policy knows some of its games."""
    report = ucd_planners.check(subject)
    assert report.passed, str(report)
    assert len(report.games) == {Near: 3, Bridges: 1}.get(type(subject), len(GAMES))


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_match_knows_a_game_a_selection_and_a_policy_by_their_references(elsewhere: bool, tmp_path: Path) -> None:
    """In the folder of its file, or anywhere with that folder on the path of imports; on two processes."""
    environment = dict(os.environ)
    if elsewhere:
        parts = [str(ROOT / "examples"), *filter(None, [environment.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(parts)
    words = ["match", "--game", "write_a_game:rules", "--a", "write_a_selection:tuned(c=0.5)"]
    words += ["--b", "uct(policies=write_a_policy:near)", "--playouts", "100", "--games", "4", "--jobs", "2"]
    command = [sys.executable, "-P", "-c", "import sys; from ucd_planners.cli import main; sys.exit(main())", *words]
    folder = tmp_path if elsewhere else ROOT / "examples"
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr
    assert "write_a_policy:near" in done.stdout


def test_near_answers_beside_the_last_move() -> None:
    """On Hex 5x5 after C3 every answer is one of its eight neighbours that are empty, and all of them come."""
    state = after(ucd_envs.make_rules("hex", size=5), 12, 6)
    found = WrittenSimulation(state.rules).suggestions(
        state, [(0, 12), (1, 6)], Near(1.0), Near().memory(state.rules), [seeded(seed) for seed in range(200)]
    )
    assert set(found) == {0, 1, 2, 5, 7, 10, 11}


@pytest.mark.parametrize(
    ("moves", "answer"),
    [
        ("c2 a5 d3 c3", "d2"),
        ("c2 a5 d3 d2", "c3"),
        ("a1 c2 e5 d3 d2", "c3"),
        ("c2 d2 d3 c3", None),
        ("c2 a5 d3 a1", None),
        ("", None),
    ],
)
def test_the_policy_answers_an_attack_on_a_bridge(moves: str, answer: str | None) -> None:
    """C2 and D3 are bridged by C3 and D2; where the other cell is taken, or nothing is attacked, the move is left to chance."""
    state, listed = ucd_envs.make_rules("hex", size=5).initial_state(), []
    for name in moves.split():
        listed.append((state.player, state.action_named(name)))
        state = state.after(listed[-1][1])
    found = WrittenSimulation(state.rules).suggestions(state, listed, Bridges(), Bridges().memory(state.rules), [seeded(1)])
    assert found == [-1 if answer is None else state.action_named(answer)]


def test_the_policy_is_stronger_than_chance() -> None:
    """UCT with the policy wins more than two in three games of Hex against UCT at equal playouts."""
    match = Match("hex", "uct(policies=write_a_policy:bridges)", "uct", {"size": 7}, {"playouts": 200}, games=150, seed=1)
    assert play_match(match).score().interval[0] > 2 / 3


def tuned_bound(paid: list[float], visits: int, c: float) -> tuple[float, float]:
    """The bound of an action from all its payoffs, and V_j [Auer, Cesa-Bianchi and Fischer 2002, section 4]."""
    count = len(paid)
    mean = sum(paid) / count
    variance = sum(x * x for x in paid) / count - mean**2 + math.sqrt(2 * math.log(visits) / count)
    return mean + c * math.sqrt(math.log(visits) / count * min(1 / 4, variance)), variance


@pytest.mark.parametrize("table", [False, True])
@pytest.mark.parametrize(
    ("game", "settings", "moves"),
    [("tic_tac_toe", {}, (4, 0, 8)), ("leftright", {"steps": 12}, ()), ("connect_four", {"columns": 4, "rows": 4}, (0, 0))],
)
def test_bounds_of_the_selection_are_those_of_the_paper(
    game: str, settings: dict[str, Any], moves: tuple[int, ...], table: bool
) -> None:
    """From lists of all payoffs; a choice among tried actions has the largest bound."""
    search = Search(after(ucd_envs.make_rules(game, **settings), *moves), tuned(c=0.7, table=table), 1)
    paid: dict[Any, dict[int, list[float]]] = {}
    chosen = small = 0
    for number in range(1200):
        walk, payoffs = search.step()
        for name, action, _ in walk:
            here, state = paid.setdefault(name, {}), search.states[name]
            visits = sum(map(len, here.values()))
            if len(here) == len(state.legal_actions()):
                bounds = {tried: tuned_bound(listed, visits, 0.7)[0] for tried, listed in here.items()}
                assert bounds[action] >= max(bounds.values()) - 1e-9
                chosen += 1
            here.setdefault(action, []).append(payoffs[state.player])
        if number % 100 == 99:
            small += assert_bounds(search, paid)
    assert chosen > 1000
    assert small > 10


def assert_bounds(search: Search, paid: dict[Any, dict[int, list[float]]]) -> int:
    """Every edge has the bound of the paper; returns how many have a variance below 1/4."""
    found, graph = [], search.graph
    for node, name in search.nodes():
        visits, block = sum(map(len, paid.get(name, {}).values())), graph.block(node)
        for number in range(block.start, block.stop):
            bound, variance = tuned_bound(paid[name][int(graph.edges[number]["action"])], visits, 0.7)
            assert close(graph.mean_value[number] + graph.node_stats[node, 0] * graph.exploration[number], bound)
            assert graph.edges[number]["visits"] == len(paid[name][int(graph.edges[number]["action"])])
            found.append(variance < 1 / 4)
    assert len(found) == sum(map(len, paid.values()))
    return sum(found)
