"""`ucd_planners.check`: reports on selections, playout policies and initial statistics, right ones and faulty ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from simulations import Policy

import ucd_planners
from ucd_envs.kernels import kernel
from ucd_envs.rules import Rules
from ucd_planners import uct
from ucd_planners.checks import GAMES, Report, check
from ucd_planners.playouts import BHRF, CMC, MAST, GoExpert, GoInitial, LastGoodReply, NGrams, PoolRAVE
from ucd_planners.search.graph import edge_stats, edges, mean_value, nodes
from ucd_planners.search.interface import (
    BACKUP,
    INITIAL,
    LEARN,
    SELECT,
    SUGGEST,
    suggest_nothing,
)
from ucd_planners.search.sim import path
from ucd_planners.selection import ucd as ucd_selection
from ucd_planners.selection.rave import RAVE
from ucd_planners.selection.ucd import UCD
from ucd_planners.selection.update_all import UpdateAll

PLAYOUTS = 120


@pytest.mark.parametrize(
    "subject",
    [
        *(UCD(1, 0, 1), UCD(table=False), UpdateAll(), RAVE(), RAVE(table=True, depth_rave=1)),
        *(CMC(), MAST(), NGrams(), LastGoodReply()),
    ],
    ids=str,
)
def test_what_the_package_offers_has_no_fault(subject: Any) -> None:
    """In games of one player and two, searched twice."""
    report = check(subject, PLAYOUTS)
    assert report.passed, str(report)
    assert len(report.games) == len(GAMES)
    assert str(report) == f"{subject}: searches in {len(GAMES)} games, no fault"


@pytest.mark.parametrize("subject", [GoExpert(), GoInitial()], ids=str)
def test_games_that_a_subject_refuses_are_left_out(subject: Any) -> None:
    """Knowledge of Go is checked in Go alone."""
    report = check(subject, PLAYOUTS)
    assert report.passed, str(report)
    assert [game.partition("(")[0] for game in report.games] == ["go_v0"]


def test_a_subject_that_refuses_all_games_has_a_fault() -> None:
    """PoolRAVE needs sums that UCT in a tree does not keep; one game at least must be there to search."""
    report = check(PoolRAVE(), PLAYOUTS)
    assert report.games == ()
    assert report.faults == (f"{PoolRAVE()} refuses all of {', '.join(game for game, _ in GAMES)}",)
    assert not report.passed


@pytest.mark.parametrize("subject", ["uct", 3, None, UCD, CMC, GoInitial, uct(playouts=5, seed=1)], ids=repr)
def test_another_object_is_refused_in_one_sentence(subject: Any) -> None:
    """Classes too: a subject is made already."""
    with pytest.raises(TypeError, match=r"\Aexpected a selection, a playout policy or initial statistics, not [^\n]+\Z"):
        check(subject)


def test_two_checks_with_one_seed_say_the_same() -> None:
    assert check(BHRF(), 50, seed=3) == check(BHRF(), 50, seed=3)
    assert ucd_planners.check is check


@kernel(SUGGEST)
def suggest_0(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    """The first action, taken or not."""
    return np.int64(0)


@kernel(LEARN, checked=False)
def learn_and_write(sim, memory):
    """Writes behind its memory."""
    memory[memory.size] = 1
    return np.bool_(True)


@kernel(SUGGEST)
def suggest_text(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    """No number."""
    return "a1"


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (Policy(suggest_0), "a playout policy suggests an action that cannot be played: one of Policy() (after the actions"),
        (Policy(learn=learn_and_write), "playout policy Policy() writes behind its memory"),
        (Policy(learn=kernel(LEARN)(learn_and_write.py_func)), "a kernel of Policy() uses an index outside of its array"),
        (Policy(suggest_text), "kernel suggest_text returns unicode_type, expected int64"),
        (Policy(learn=suggest_nothing), "kernel suggest_nothing must be declared with the signature"),
    ],
    ids=["illegal", "memory", "index", "result", "signature"],
)
def test_a_faulty_policy_is_told_in_sentences(policy: Policy, words: str) -> None:
    report = check(policy, PLAYOUTS)
    assert not report.passed
    assert report.faults[0].startswith(words)
    assert str(report).splitlines()[1:] == list(report.faults)
    assert str(report).splitlines()[0].endswith(f"{len(report.faults)} faults")


@kernel(BACKUP)
def backup_of_the_first(graph, sim):
    """Counts the first playout of an edge only."""
    ucd_selection.backup(graph, sim)
    for number in path(sim)[1, : sim.path.length]:
        edges(graph)[number].visits = 1


@kernel(BACKUP)
def backup_of_too_much(graph, sim):
    """Doubles the means at the root, and adds one."""
    ucd_selection.backup(graph, sim)
    number = path(sim)[1, 0]
    mean_value(graph)[number] = 1 + 2 * edge_stats(graph)[number, nodes(graph)[path(sim)[0, 0]].mover]


@kernel(BACKUP)
def backup_behind_the_graph(graph, sim):
    """Writes to an edge that the graph has no room for."""
    ucd_selection.backup(graph, sim)
    edge_stats(graph)[graph.edges.room, 0] = 1.0


@kernel(SELECT)
def select_from_no_node(graph, sim, node, may_add):
    """Looks at a node that is not there."""
    return np.int64(nodes(graph)[graph.nodes.room + 1000].legal)


@kernel(SELECT)
def select_far(graph, sim, node, may_add):
    """A place that no list has."""
    return np.int64(10**6)


@kernel(SELECT)
def select_by_a_hidden_generator(graph, sim, node, may_add):
    """Any place, drawn from the generator that numba hides."""
    legal, expanded = nodes(graph)[node].legal, nodes(graph)[node].expanded
    return np.int64(np.random.random() * (legal if may_add else expanded))


@dataclass(frozen=True)
class OwnUCD(UCD):
    """UCD with other kernels."""

    choice: Any = None
    update: Any = ucd_selection.backup

    @property
    def select_kernel(self) -> Any:
        """The choice."""
        return self.choice

    @property
    def backup_kernel(self) -> Any:
        """The backup."""
        return self.update

    def __str__(self) -> str:
        return "OwnUCD()"


@pytest.mark.parametrize(
    ("selection", "words"),
    [
        (OwnUCD(choice=select_far), "select of OwnUCD() chooses an action that is not there (at the root)"),
        (OwnUCD(choice=select_by_a_hidden_generator), "OwnUCD() gives another result for the same seed in "),
        (OwnUCD(choice=select_from_no_node), "a kernel of OwnUCD() uses an index outside of its array (playout 1)"),
        (OwnUCD(update=backup_behind_the_graph), "a kernel of OwnUCD() uses an index outside of its array (playout 1)"),
        (OwnUCD(update=backup_of_the_first), "OwnUCD() counts "),
        (OwnUCD(update=backup_of_too_much), "OwnUCD() gives a mean payoff outside [0, 1] in "),
    ],
    ids=["choice", "chance", "node", "edge", "visits", "means"],
)
def test_a_faulty_selection_is_told_in_sentences(selection: OwnUCD, words: str) -> None:
    report = check(selection, PLAYOUTS)
    assert not report.passed
    assert any(fault.startswith(words) for fault in report.faults), str(report)


@dataclass(frozen=True)
class Initial:
    """Initial statistics of a kernel."""

    kernel: Any

    def memory(self, rules: Rules) -> np.ndarray:
        """Eight bytes."""
        return np.zeros(8, np.uint8)

    def __str__(self) -> str:
        return "Initial()"


@kernel(INITIAL, checked=False)
def write_behind_memory(config, state, sim, memory, actions, values):
    """Writes behind its memory."""
    memory[memory.size] = 1
    for i in range(actions.size):
        values[i, 0] = values[i, 1] = 0


@kernel(INITIAL)
def write_behind_list(config, state, sim, memory, actions, values):
    """Writes a row more than there are actions, where other nodes have theirs."""
    for i in range(actions.size + 1):
        values[i, 0] = values[i, 1] = 0


def test_faulty_initial_statistics_are_told_in_sentences() -> None:
    assert check(Initial(write_behind_memory), PLAYOUTS).faults == ("initial statistics write behind their memory",)
    for writes in (kernel(INITIAL)(write_behind_memory.py_func), write_behind_list):
        assert check(Initial(writes), PLAYOUTS).faults == (
            "a kernel of Initial() uses an index outside of its array (playout 1)",
        )


def test_a_report_without_faults_passes() -> None:
    assert Report("UCD()", ("hex_v0(size=4)",), ()).passed
    assert not Report("UCD()", ("hex_v0(size=4)",), ("a fault",)).passed
    assert str(Report("UCD()", ("hex_v0(size=4)",), ("one", "two"))) == "UCD(): searches in 1 games, 2 faults\none\ntwo"
