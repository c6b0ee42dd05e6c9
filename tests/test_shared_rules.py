"""Stop and correct, and catch up: every simulation against plain fractions, written from the formulas of their sources.

The compiled search runs one simulation at a time. Its path goes into a log that shares no code with it, says by itself where
the simulation must end, and computes all values anew: incremental means for [Czech, Korus, Kersting 2020], the recursion of
KataGo's docs/GraphSearch.md for the other.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import hash_game
import numpy as np
import pytest
from oracle import Edge, Position, Step, Vector, bound
from searching import C, Search, after, close, random_games, real_games, scaled_log

import ucd_envs
from ucd_envs.kernels import HEADER, kernel
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields
from ucd_planners import Planner, catch_up, stop_and_correct, uct
from ucd_planners.notation import planner_from
from ucd_planners.playouts import PlayoutPolicy
from ucd_planners.search.interface import LEARN, suggest_nothing
from ucd_planners.selection.catch_up import CatchUp
from ucd_planners.selection.stop_and_correct import StopAndCorrect

PRESETS: dict[str, Callable[..., Planner]] = {"stop_and_correct": stop_and_correct, "catch_up": catch_up}
every_preset = pytest.mark.parametrize("planner", PRESETS.values(), ids=PRESETS)
SELECTIONS = (StopAndCorrect(0.01, C), StopAndCorrect(0.2, C), StopAndCorrect(0.0, 1.0), CatchUp(C), CatchUp(1.0))
every_selection = pytest.mark.parametrize("selection", SELECTIONS, ids=str)


class Log:
    """Visits, links and playouts of all simulations so far, with exact numbers."""

    def __init__(self, players: int) -> None:
        self.players = players
        self.zero: Vector = (Fraction(0),) * players
        self.visits: defaultdict[Edge, int] = defaultdict(int)
        self.target: dict[Edge, Position | None] = {}
        self.ended: defaultdict[Position, int] = defaultdict(int)
        self.known: set[Position] = set()
        self.stops = 0

    def out(self, position: Position) -> list[Edge]:
        """The edges out of a position."""
        return [edge for edge in self.visits if edge[0] == position]

    def parents(self, position: Position) -> int:
        """The number of edges into a position."""
        return sum(target == position for target in self.target.values())

    def passed(self, position: Position) -> int:
        """Visits of the edges out of a position."""
        return sum(self.visits[edge] for edge in self.out(position))

    def stops_at(self, edge: Edge, position: Position) -> bool:
        """Whether a descent over an edge into a known position ends there."""
        raise NotImplementedError

    def mean(self, edge: Edge) -> Vector:
        """Q(e)."""
        raise NotImplementedError

    def back_up(self, edges: Sequence[Edge], gain: Vector, stopped: bool) -> None:
        """Adds a simulation to the values."""
        raise NotImplementedError

    def record(self, path: Sequence[Step], payoffs: Iterable[float], stopped: bool) -> None:
        """Adds a simulation. It must have ended where it should."""
        self.known.add(path[0][0])
        ends = [self.stops_at((u, a), v) for u, a, v in path if v in self.known]
        assert ends == [False] * (len(ends) - stopped) + [True] * stopped
        assert not stopped or path[-1][2] in self.known
        edges = [(source, action) for source, action, _ in path]
        for edge, (_, _, target) in zip(edges, path, strict=True):
            assert self.target.setdefault(edge, target) == target
            if target is not None:
                self.known.add(target)
        last = path[-1][2]
        if last is not None and not stopped:
            self.ended[last] += 1
        self.stops += stopped
        self.back_up(edges, tuple(map(Fraction, payoffs)), stopped)


class Corrected(Log):
    """Means of edges and positions that are moved by every value that is backed up."""

    def __init__(self, players: int, eps: float) -> None:
        super().__init__(players)
        self.eps = Fraction(max(eps, 1e-9))  # what lies below is rounding
        self.q: defaultdict[Edge, Vector] = defaultdict(lambda: self.zero)
        self.v: defaultdict[Position, Vector] = defaultdict(lambda: self.zero)
        self.count: defaultdict[Position, int] = defaultdict(int)
        self.cut = 0

    def stops_at(self, edge: Edge, position: Position) -> bool:
        if not self.visits[edge]:
            del self.visits[edge]
            return True
        apart = [abs(v - q) for v, q in zip(self.v[position], self.q[edge], strict=True)]
        return self.parents(position) > 1 and max(apart) > self.eps

    def mean(self, edge: Edge) -> Vector:
        return self.q[edge]

    def move(self, position: Position, gain: Vector) -> None:
        """One more value in the mean of a position."""
        self.count[position] += 1
        self.v[position] = tuple(v + (x - v) / self.count[position] for v, x in zip(self.v[position], gain, strict=True))

    def back_up(self, edges: Sequence[Edge], gain: Vector, stopped: bool) -> None:
        last = self.target[edges[-1]]
        if stopped:
            gain = self.v[last]
        elif last is not None:
            self.move(last, gain)
        for edge in reversed(edges):
            below = self.target[edge]
            if below is not None and self.parents(below) > 1 and self.visits[edge]:
                delta = tuple(v - q for v, q in zip(self.v[below], self.q[edge], strict=True))
                phi = tuple(self.visits[edge] * d + v for d, v in zip(delta, self.v[below], strict=True))
                gain = tuple(min(max(x, Fraction(0)), Fraction(1)) for x in phi)
                self.cut += gain != phi
            self.visits[edge] += 1
            self.q[edge] = tuple(q + (x - q) / self.visits[edge] for q, x in zip(self.q[edge], gain, strict=True))
            self.move(edge[0], gain)


class Recursive(Log):
    """Values of positions as of their last visit, each computed from its edges."""

    def __init__(self, players: int) -> None:
        super().__init__(players)
        self.own: defaultdict[Position, Vector] = defaultdict(lambda: self.zero)
        self.paid: defaultdict[Edge, Vector] = defaultdict(lambda: self.zero)
        self.v: dict[Position, Vector] = {}

    def stops_at(self, edge: Edge, position: Position) -> bool:
        return self.ended[position] + self.passed(position) > self.visits.get(edge, 0)

    def mean(self, edge: Edge) -> Vector:
        below = self.target[edge]
        return self.v[below] if below is not None else tuple(x / self.visits[edge] for x in self.paid[edge])

    def look(self, position: Position) -> None:
        """Q(v) = (U + sum of N(e) Q(e)) / N(v)."""
        edges = self.out(position)
        total = [self.own[position], *(tuple(self.visits[e] * x for x in self.mean(e)) for e in edges)]
        count = self.ended[position] + sum(self.visits[e] for e in edges)
        self.v[position] = tuple(sum(entry, Fraction(0)) / count for entry in zip(*total, strict=True))

    def back_up(self, edges: Sequence[Edge], gain: Vector, stopped: bool) -> None:
        last = self.target[edges[-1]]
        if last is None:
            self.paid[edges[-1]] = tuple(x + y for x, y in zip(self.paid[edges[-1]], gain, strict=True))
        elif not stopped:
            self.own[last] = tuple(x + y for x, y in zip(self.own[last], gain, strict=True))
            self.look(last)
        for edge in reversed(edges):
            self.visits[edge] += 1
            self.look(edge[0])


def log_of(selection: Any, players: int) -> Any:
    """An empty log of the rule."""
    return Recursive(players) if isinstance(selection, CatchUp) else Corrected(players, selection.eps)


def has_stopped(search: Search) -> bool:
    """Whether no move of a playout was made, though the game is not over."""
    sim = search.worker.sim.record
    over = fields(search.worker.sim.state, HEADER).player < 0
    return bool(sim.traced.length == sim.leaf_depth and not over)


def assert_right(search: Search, log: Log, selection: Any) -> None:
    """Visits, means, value sums and scales of the whole graph are those of the log."""
    graph, names = search.graph, []
    for number, mover, edge in search.edges():
        visits = log.visits[edge]
        assert graph.edges[number]["visits"] == visits
        assert close(graph.mean_value[number], log.mean(edge)[mover])
        assert close(graph.edge_stats[number, : log.players], [visits * x for x in log.mean(edge)])
        assert close(graph.exploration[number], 1 / math.sqrt(visits))
        names.append(edge)
    assert sorted(names) == sorted(log.visits)
    for node, name in search.nodes():
        assert graph.node_stats[node, 1] == log.passed(name)
        assert graph.node_stats[node, 2] == log.ended[name]
        assert close(graph.node_stats[node, 0], scaled_log(selection.c, log.passed(name)))


def followed(start: State, selection: Any, playouts: int, looks: set[int], **options: Any) -> Log:
    """The log of a search; the whole graph agrees with it after the simulations of these numbers."""
    search, log = Search(start, selection, **options), log_of(selection, start.rules.players)
    for number, (path, payoffs) in enumerate(search.steps(playouts), 1):
        log.record(path, payoffs, has_stopped(search))
        if number in looks:
            assert_right(search, log, selection)
    return log


# The formulas


@every_selection
def test_every_value_and_every_stop_is_that_of_the_formulas(selection: Any) -> None:
    """In random graphs for one, two and three players, looked at after each simulation."""
    starts = [start for seed in range(2) for start in random_games(seed, plies=4, width=3)]
    logs = [followed(start, selection, 60, set(range(61))) for start in starts]
    assert all(log.stops for log in logs)
    if isinstance(selection, StopAndCorrect):
        assert any(log.cut for log in logs)


@every_selection
def test_every_value_is_that_of_the_formulas_in_real_games(selection: Any) -> None:
    """In tic-tac-toe, Hex, Connect Four and LeftRight."""
    assert sum(followed(start, selection, 100, {50, 99, 100}).stops for start in real_games()) > 10


@every_selection
@pytest.mark.parametrize("most_edges", [1, 2, 3, 7, 12])
def test_every_value_is_that_of_the_formulas_in_a_full_graph(selection: Any, most_edges: int) -> None:
    """Playouts start at known positions there, more than one at each."""
    for start in random_games(seed=300):
        assert max(followed(start, selection, 40, {13, 40}, most_edges=most_edges).ended.values()) > 1


@every_selection
def test_every_descent_follows_the_largest_bound(selection: Any) -> None:
    """Before it stops: at each node an untried move if there is one, else one whose bound no other exceeds."""
    for start in (*random_games(seed=7), *real_games()):
        search, log, states = Search(start, selection), log_of(selection, start.rules.players), {start.key: start}
        for path, payoffs in search.steps(60):
            for source, action, target in path:
                state, tried = states[source], log.out(source)
                untried = set(state.legal_actions()) - {move for _, move in tried}
                if untried:
                    assert action in untried
                else:
                    total = Fraction(log.passed(source))
                    means = {edge: log.mean(edge)[state.player] for edge in tried}
                    bounds = {e[1]: bound(means[e], total, Fraction(log.visits[e]), selection.c) for e in tried}
                    assert bounds[action] >= max(bounds.values()) - 1e-9
                if target is not None:
                    states.setdefault(target, state.after(action))
            log.record(path, payoffs, has_stopped(search))


# By hand

DIAMOND = {"root": (0, ["a", "b"]), "a": (0, ["v"]), "b": (0, ["v"]), "v": (0, [0.0, 1.0])}
"""One player. With c = 10 the root takes turns. x1, x2, ... are the payoffs of playouts, each 0 or 1:

    1.  z            a new position, x1
    2.  o            the other one, x2
    3.  z', z'-v     z' is the better of the two; v is new, x3
    4.  o', o'-v     the other one; v is known: no playout
    5.  p, p-v, m    p is the better of the two, whose edge into v agrees with v; m ends the game, x5
    6.  q, q-v       the other one: where x5 is not x3, q-v has 1 visit and v had 2, of mean 1/2: no playout
"""


def diamond(selection: Any) -> tuple[Search, list[Any], list[float], list[bool]]:
    """Six simulations with x5 not x3: the search, the paths, payoffs, and whether there was no playout."""
    for seed in range(50):
        search = Search(hash_game.listed(DIAMOND, players=1).initial_state(), selection, seed=seed)
        paths, paid, stopped = [], [], []
        for path, payoffs in search.steps(6):
            paths.append([action for _, action, _ in path])
            paid.append(payoffs[0])
            stopped.append(has_stopped(search))
        if paid[4] != paid[2]:
            return search, paths, paid, stopped
    raise AssertionError("no seed has another payoff in playout 5 than in playout 3")


@pytest.mark.parametrize("selection", [StopAndCorrect(0.01, 10.0), CatchUp(10.0)], ids=str)
def test_six_simulations_by_hand(selection: Any) -> None:
    """Stop and correct: over q-v, with N = 1 and Q = x3, goes 1 (1/2 - x3) + 1/2 = 1 - x3 = x5, and so into q, as it did into
    p: means x1/3 + 1/3 and x2/3 + 1/3. Catch up: Q(v) = 1/2 with 2 visits from p and q: (x + 2/2) / 3, the same."""
    search, paths, paid, stopped = diamond(selection)
    assert stopped == [False, False, False, True, False, True]
    assert [len(path) for path in paths] == [1, 1, 2, 2, 3, 2]
    first = {paths[0][0]: paid[0], paths[1][0]: paid[1]}
    inner = []
    for number, _, (source, action) in search.edges():
        edge = int(search.graph.edges[number]["visits"]), float(search.graph.mean_value[number])
        if source == search.start.key:
            assert edge == (3, pytest.approx((first[action] + 1) / 3))
        else:
            inner.append(edge)
    assert sorted(inner) == [(1, paid[4]), (2, 0.5), (2, 0.5)]


def test_after_five_simulations_an_edge_of_catch_up_hears_of_its_position_at_once() -> None:
    """In the diamond q-v has Q(v) = 1/2 with 1 visit, but q is as of its last visit, (x + x3) / 2."""
    for seed in range(50):
        search = Search(hash_game.listed(DIAMOND, players=1).initial_state(), CatchUp(10.0), seed=seed)
        steps = list(search.steps(5))
        paid, q = [payoffs[0] for _, payoffs in steps], 1 - steps[4][0][0][1]
        if paid[4] == paid[2]:
            continue
        means = {edge: float(search.graph.mean_value[number]) for number, _, edge in search.edges()}
        first = {path[0][1]: payoffs[0] for path, payoffs in steps[:2]}
        node = search.start.after(q)
        assert (means[node.key, 0], means[search.start.key, q]) == (0.5, (first[q] + paid[2]) / 2)
        return
    raise AssertionError("no seed has another payoff in playout 5 than in playout 3")


# Trees, ends and right moves


@every_preset
@pytest.mark.parametrize("players", [1, 2, 3])
@pytest.mark.parametrize("options", [{}, {"expand": "all"}, {"first_play_urgency": 0.6}, {"max_nodes": 60}], ids=str)
@pytest.mark.sweep(2)
def test_without_transpositions_the_rules_are_uct(planner: Callable[..., Planner], players: int, options: Any) -> None:
    """Visits and values are equal to the last bit, since payoffs are multiples of 1/16."""
    start = hash_game.rules(seed=players, branching=3, plies=6, players=players, tree=True).initial_state()
    tree = uct(c=C, playouts=3000, seed=1, **options).search(start)
    graph = planner(c=C, playouts=3000, seed=1, **options).search(start)
    assert (graph.visits.tobytes(), graph.values.tobytes()) == (tree.visits.tobytes(), tree.values.tobytes())
    assert graph.transpositions == 0


@every_preset
@pytest.mark.parametrize(
    "options",
    [{}, {"max_nodes": 10}, {"expand": "all"}, {"reuse_graph": True}, {"workers": 2}, {"first_play_urgency": 0.5}],
    ids=str,
)
def test_searches_end_where_all_is_known(planner: Callable[..., Planner], options: Any) -> None:
    """With as many visits at the root as simulations, long after the graph has all positions."""
    for start in (*random_games(seed=1, plies=4, width=2), real_games()[0]):
        search = planner(playouts=20_000, seed=1, **options)
        for goal in (20_000, 40_000) if "reuse_graph" in options else (20_000,):
            result = search.search(start)
            assert (result.visits.sum(), result.playouts) == (goal, 20_000)
            assert 0 <= np.nanmin(result.values) <= np.nanmax(result.values) <= 1


@cache
def worth(state: State) -> tuple[float, ...]:
    """The payoffs of the best play."""
    if state.over:
        return tuple(state.payoffs())
    return max((worth(state.after(action)) for action in state.legal_actions()), key=lambda paid: paid[state.player])


SOLVED = {
    "tic_tac_toe": after(ucd_envs.make_rules("tic_tac_toe"), 4, 1),
    "hex": ucd_envs.make_rules("hex", size=3).initial_state(),
    "connect_four": after(ucd_envs.make_rules("connect_four", columns=4, rows=4, in_a_row=3), 0, 1),
    "shared": hash_game.rules(seed=5, width=4, branching=4, plies=8).initial_state(),
}


@every_preset
@pytest.mark.parametrize("start", SOLVED.values(), ids=SOLVED)
def test_the_right_move_is_found(planner: Callable[..., Planner], start: State) -> None:
    """One that keeps the value of the position, of which not every move does; and that value is nearly reached."""
    values = {action: worth(start.after(action))[start.player] for action in start.legal_actions()}
    best = max(values.values())
    assert min(values.values()) < best
    for seed in range(5):
        result = planner(c=0.5, playouts=40_000, seed=seed).search(start)
        assert values[result.action] == best
        assert abs(result.values[result.actions.tolist().index(result.action)] - best) < 0.1


# What goes with them


@kernel(LEARN)
def count(sim, memory):
    """Counts the simulations from which a policy has learned, in the first word of its memory."""
    memory.view(np.uint64)[0] += np.uint64(1)
    return np.bool_(True)


class Counting(PlayoutPolicy):
    """A policy that suggests nothing and counts."""

    suggest, learn, prob = suggest_nothing, count, 1.0

    def memory(self, rules: Rules) -> np.ndarray:
        """One word."""
        return np.zeros(8, np.uint8)


@pytest.mark.parametrize("selection", [StopAndCorrect(), CatchUp()], ids=str)
def test_policies_learn_from_playouts_only(selection: Any) -> None:
    search = Search(real_games()[1], selection, policies=(Counting(),))
    stops = 0
    for _ in search.steps(400):
        stops += has_stopped(search)
    assert stops > 0
    assert search.worker.sim.memories[0].view(np.uint64)[0] == 400 - stops


@every_preset
def test_games_with_chance_are_refused(planner: Callable[..., Planner]) -> None:
    with pytest.raises(ValueError, match=r"\A(StopAndCorrect|CatchUp)\(.*\) does not serve pig_v0, a game with chance: "):
        planner(playouts=10).search(ucd_envs.make_rules("pig").initial_state())


@pytest.mark.parametrize(
    ("text", "selection"),
    [
        ("stop_and_correct", StopAndCorrect(0.01, 0.3)),
        ("stop_and_correct(eps=0.05, c=1)", StopAndCorrect(0.05, 1)),
        ("catch_up", CatchUp(0.3)),
        ("catch_up(c=0)", CatchUp(0)),
    ],
)
def test_the_rules_are_written_as_text(text: str, selection: Any) -> None:
    assert planner_from(text, playouts=5).selection == selection


@pytest.mark.parametrize(
    ("make", "error", "sentence"),
    [
        (lambda: StopAndCorrect(eps=-0.1), ValueError, "eps must be a number from 0 to 1, not -0.1"),
        (lambda: StopAndCorrect(eps=2), ValueError, "eps must be a number from 0 to 1, not 2"),
        (lambda: StopAndCorrect(c=-1), ValueError, "c must be a finite number, 0 or more, not -1"),
        (lambda: CatchUp(c=math.inf), ValueError, "c must be a finite number, 0 or more, not inf"),
        (lambda: StopAndCorrect(eps="x"), TypeError, "eps must be a number, not 'x'"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(make: Callable[[], Any], error: Any, sentence: str) -> None:
    with pytest.raises(error) as caught:
        make()
    assert str(caught.value) == sentence
