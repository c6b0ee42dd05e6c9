"""Playout policies: the loop that asks them, and contextual Monte Carlo against dictionaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from searching import Search as Stepper
from simulations import WrittenSimulation

import ucd_envs
from ucd_envs.kernels import kernel
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields
from ucd_planners import Planner, cmc, rave, ucd, uct
from ucd_planners.go.initial import STRENGTHS
from ucd_planners.notation import planner_from
from ucd_planners.playouts import BHRF, CMC, MAST, POLICIES, GoExpert, GoInitial, LastGoodReply, NGrams, PlayoutPolicy, PoolRAVE
from ucd_planners.playouts.cmc import MEMORY, tiles_of
from ucd_planners.search.interface import LEARN, SUGGEST, learn_nothing
from ucd_planners.search.sim import action_list, trace
from ucd_planners.selection.ucd import UCD

GAMES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("havannah", {"base": 3}),
    ("havannah", {"base": 4, "swap": True}),
    ("hex", {"size": 4}),
    ("go", {"size": 4, "komi": 1}),
    ("connect_four", {}),
    ("tic_tac_toe", {}),
    ("leftright", {"steps": 16}),
)
UCT = UCD(c=0.3, table=False)
OR_REFERENCE = "or a reference such as my_module:my_name"
Tile = tuple[int, int, int]
"""Player, earlier and later action."""


@dataclass
class Simulation:
    """One simulation as it was: player and action of each move, of which the first `descent` are the descent's."""

    states: list[State]
    moves: list[tuple[int, int]]
    descent: int
    payoffs: list[float]


class Search(Stepper):
    """A search whose simulations are read as moves and played again by the rules."""

    def simulation(self) -> Simulation:
        """The next one."""
        path, payoffs = self.step()
        sim = self.worker.sim
        moves = [(move >> 16, move & 0xFFFF) for move in sim.trace[: sim.record.traced.length].tolist()]
        states = [self.start]
        for player, action in moves:
            assert states[-1].player == player
            states.append(states[-1].after(action))
        assert states[-1].over
        assert states[-1].payoffs() == payoffs
        assert [action for _, action in moves[: len(path)]] == [action for _, action, _ in path]
        return Simulation(states, moves, int(sim.record.leaf_depth), payoffs)


def policy_moves(state: State) -> list[int]:
    """What the random policy of a game may play."""
    kernels, actions = state.rules.kernels, np.empty(state.rules.actions, np.int32)
    count = kernels.playout_actions(state.rules.config, state.array(), actions)
    return sorted(actions[:count].tolist())


class Tiles(dict[Tile, list[Fraction]]):
    """CMC's table: of every pair of a player's moves the number of simulations and the payoffs in sum."""

    policy = CMC()

    def add(self, simulation: Simulation) -> None:
        """Adds the pairs of a playout."""
        playout = simulation.moves[simulation.descent :]
        for later, (player, second) in enumerate(playout):
            for other, first in playout[:later]:
                if other == player:
                    both = {(first, second), (second, first)} if self.policy.pairs == "any" else {(first, second)}
                    for pair in both:
                        tile = self.setdefault((self.owner(player), *pair), [Fraction(0), Fraction(0)])
                        tile[0] += 1
                        tile[1] += Fraction(simulation.payoffs[player])

    def owner(self, player: int) -> int:
        """The player whose tiles a player uses."""
        return player if self.policy.tiles == "own" else 0

    def best(self, simulation: Simulation, place: int, threshold: Fraction) -> list[int]:
        """The moves with the largest value above the threshold at a place of a simulation; empty where no tile speaks."""
        state = simulation.states[place]
        first = simulation.descent if self.policy.context == "playout" else 0
        own = [action for player, action in simulation.moves[first:place] if player == state.player]
        if not own:
            return []
        values = {}
        for action in policy_moves(state):
            count, paid = self.get((self.owner(state.player), own[-1], action), (Fraction(0), Fraction(0)))
            if count and paid / count > threshold:
                values[action] = paid / count
        return [action for action, value in values.items() if value == max(values.values())]


def table(search: Search) -> Tiles:
    """The tiles that a search has in its memory."""
    memory = search.worker.sim.memories[0]
    found = tiles_of.py_func(memory, fields(memory, MEMORY))
    return Tiles(
        ((player, first, second), [Fraction(float(n)), Fraction(float(w))])
        for (player, first, second), n in np.ndenumerate(found[..., 0])
        if n and (w := found[player, first, second, 1]) >= 0
    )


def compare(search: Search, tiles: Tiles, simulations: int) -> None:
    """Each move of a playout is a best one by the tiles so far, if any speaks; in the end the memory has the same tiles."""
    spoken = 0
    for _ in range(simulations):
        simulation = search.simulation()
        for place in range(simulation.descent, len(simulation.moves)):
            best = tiles.best(simulation, place, Fraction(0))
            assert simulation.moves[place][1] in (best or policy_moves(simulation.states[place]))
            spoken += bool(best)
        tiles.add(simulation)
    assert spoken > 100
    assert table(search) == tiles


@pytest.mark.parametrize("add", ["first", "all"])
@pytest.mark.parametrize(("game", "settings"), GAMES)
@pytest.mark.sweep(2)
def test_tiles_are_those_of_a_dictionary(game: str, settings: dict[str, Any], add: str) -> None:
    """After 1,000 simulations on the first board; with prob = 1 a playout's move is one of the best, if any tile speaks."""
    search = Search(
        ucd_envs.make_rules(game, **settings).initial_state(), UCD(c=0.3, table=False), 1, policies=CMC(1.0), expand=add
    )
    compare(search, Tiles(), 1000 if settings == {"base": 3} else 200)


@pytest.mark.parametrize(("game", "settings"), [GAMES[0], GAMES[3], GAMES[6]])
@pytest.mark.parametrize(
    "options",
    [
        {"tiles": "shared"},
        {"pairs": "any"},
        {"context": "playout"},
        {"tiles": "shared", "pairs": "any", "context": "playout"},
    ],
    ids=str,
)
def test_details_that_the_paper_leaves_open_are_those_of_a_dictionary(
    game: str, settings: dict[str, Any], options: dict[str, str]
) -> None:
    """One table for all players, pairs in any order, and a player's first move of a playout left to the game."""
    policy = CMC(1.0, **options)  # type: ignore[arg-type]
    search = Search(ucd_envs.make_rules(game, **settings).initial_state(), UCD(c=0.3, table=False), 1, policies=policy)
    tiles = Tiles()
    tiles.policy = policy
    compare(search, tiles, 200)


@pytest.mark.parametrize("name", ["tiles", "pairs", "context"])
@pytest.mark.parametrize("value", ["both", None, 1])
def test_a_choice_of_cmc_is_one_of_two(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be one of .*, .*, not {value!r}$"):
        CMC(**{name: value})


@pytest.mark.parametrize("threshold", ["0.5", "0.6", "1"])
def test_only_values_above_the_threshold_count(threshold: str) -> None:
    """A value of 3/5 is not above 0.6, and no value is above 1."""
    start = ucd_envs.make_rules("havannah", base=3).initial_state()
    search = Search(start, UCD(c=0.3, table=False), 2, policies=CMC(1.0, float(threshold)))
    tiles, spoken = Tiles(), Counter[bool]()
    for _ in range(1500):
        simulation = search.simulation()
        for place in range(simulation.descent, len(simulation.moves)):
            best = tiles.best(simulation, place, Fraction(threshold))
            assert simulation.moves[place][1] in (best or policy_moves(simulation.states[place]))
            spoken[bool(best)] += 1
        tiles.add(simulation)
    assert spoken[False] > 500
    assert (spoken[True] > 500) == (threshold != "1")


def test_among_equal_tiles_each_move_is_as_frequent() -> None:
    """At the second move of player 0 in tic-tac-toe, where tiles were written by hand: 2, 5 and 7 with 1/2, the others less."""
    start = ucd_envs.make_rules("tic_tac_toe").initial_state()
    policy = CMC(1.0)
    memory = policy.memory(start.rules)
    tiles = tiles_of.py_func(memory, fields(memory, MEMORY))
    for action, (count, paid) in {2: (4, 2), 5: (2, 1), 7: (6, 3), 3: (10, 4.5), 8: (1, 0)}.items():
        tiles[0, 4, action] = count, paid
    counts = suggested(start.after(4).after(0), [(0, 4), (1, 0)], policy, memory, 3000)
    assert set(counts) == {2, 5, 7}
    assert all(900 < count < 1100 for count in counts.values()), counts


def suggested(
    state: State, moves: list[tuple[int, int]], policy: PlayoutPolicy, memory: np.ndarray, number: int
) -> Counter[int]:
    """How often a policy suggests each action, or -1, after these moves, with so many seeds."""
    rngs = np.random.SeedSequence(5).generate_state(2 * number, np.uint64).reshape(number, 2)
    return Counter(WrittenSimulation(state.rules).suggestions(state, moves, policy, memory, [*rngs]))


@pytest.mark.parametrize("preset", [uct, ucd, rave])
@pytest.mark.parametrize(("game", "settings"), GAMES)
def test_with_prob_0_a_search_is_the_one_without(game: str, settings: dict[str, Any], preset: Any) -> None:
    """Bit for bit, at every position of a game."""
    state = ucd_envs.make_rules(game, **settings).initial_state()
    plain, other = preset(playouts=200, seed=3), preset(playouts=200, seed=3, policies=[CMC(0.0), CMC(0.0, 0.5)])
    while not state.over:
        one, two = plain.search(state), other.search(state)
        pairs = ((found.actions.tolist(), found.visits.tolist(), found.values.tobytes()) for found in (one, two))
        assert next(pairs) == next(pairs)
        state = state.after(one.action)


@kernel(SUGGEST)
def lowest(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    """The lowest move of the random policy, and a note that it was asked."""
    actions = action_list(sim)
    memory[0] = min(memory[0] + 1, 250)
    listed = playout_actions(config, state, actions)
    found = actions[0]
    for i in range(listed):
        found = min(found, actions[i])
    return np.int64(found)


@kernel(SUGGEST)
def silent(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    """Nothing, and a note that it was asked."""
    memory[0] = min(memory[0] + 1, 250)
    return np.int64(-1)


@kernel(LEARN)
def note(sim, memory):
    """Notes the last move of a simulation."""
    memory[1] = trace(sim)[sim.traced.length - 1] & 0xFF
    memory[2] += 1
    return np.bool_(True)


@dataclass
class Told:
    """A policy of two kernels."""

    suggest: Any
    prob: float = 1.0
    learn: Any = learn_nothing

    def memory(self, rules: Rules) -> np.ndarray:
        """Three bytes."""
        return np.zeros(3, np.uint8)

    def begin(self, memory: np.ndarray, goes_on: bool) -> None:
        """Nothing is noted."""
        memory[:] = 0

    def grown(self, memory: np.ndarray) -> np.ndarray:
        """There is always room."""
        raise AssertionError


def simulations(number: int, policies: Any, game: str = "havannah", seed: int = 1, **settings: Any) -> Iterator[Simulation]:
    """The first simulation of so many searches."""
    search = Search(ucd_envs.make_rules(game, **settings).initial_state(), UCD(table=False), seed, policies=policies)
    for _ in range(number):
        yield search.simulation()
        search.begin(search.start)


@pytest.mark.parametrize("prob", [0.1, 0.35, 0.9])
def test_a_policy_is_asked_with_its_probability(prob: float) -> None:
    """Of all moves of playouts but the last so many are suggested; the lowest is also played by chance."""
    asked, expected, variance = 0, 0.0, 0.0
    for simulation in simulations(400, Told(lowest, prob), base=3):
        for place in range(1, len(simulation.moves)):
            choices = policy_moves(simulation.states[place])
            chance = prob + (1 - prob) / len(choices)
            asked += simulation.moves[place][1] == choices[0]
            expected += chance
            variance += chance * (1 - chance)
    assert abs(asked - expected) < 4 * variance**0.5


def test_the_first_policy_that_answers_is_obeyed() -> None:
    """One that is silent leaves the move to the next, one that answers leaves none; all learn."""
    first, second, third = Told(silent, learn=note), Told(lowest, learn=note), Told(silent, learn=note)
    start = ucd_envs.make_rules("havannah", base=3).initial_state()
    search = Search(start, UCD(table=False), 1, policies=[first, second, third])
    for number in range(20):
        simulation = search.simulation()
        for place in range(simulation.descent, len(simulation.moves)):
            assert simulation.moves[place][1] == policy_moves(simulation.states[place])[0]
        notes = [memory[:3].tolist() for memory in search.worker.sim.memories[:3]]
        assert notes[0] == notes[1]
        assert notes[2] == [0, simulation.moves[-1][1], number + 1]
        assert notes[0][0] > 0


@pytest.mark.parametrize("prob", [0.3, 1.0])
@pytest.mark.parametrize(
    ("game", "settings"), [("havannah", {"base": 3}), ("hex", {"size": 3}), ("go", {"size": 3, "komi": 1})]
)
@pytest.mark.sweep(2)
def test_where_no_policy_answers_playouts_are_the_games_own(game: str, settings: dict[str, Any], prob: float) -> None:
    """The replies to the first moves of simulations are uniform, and the first player wins as often as without a policy."""
    wins, number = [], 4000
    for policies in ((), Told(silent, prob)):
        search = Search(ucd_envs.make_rules(game, **settings).initial_state(), UCD(table=False), 5, policies=policies)
        paid = []
        for _ in range(number):
            paid.append(search.step()[1][0])
            search.begin(search.start)
        wins.append(sum(paid))
    assert abs(wins[0] - wins[1]) < 4 * (number / 2) ** 0.5
    replies = Counter((one.moves[0][1], one.moves[1][1]) for one in simulations(number, Told(silent, prob), game, **settings))
    first = search.start.legal_actions()
    answers = {move: policy_moves(search.start.after(move)) for move in first}
    expected = {(move, reply): number / len(first) / len(answers[move]) for move in first for reply in answers[move]}
    assert replies.keys() == expected.keys()
    assert all(abs(replies[pair] - mean) < 5 * mean**0.5 for pair, mean in expected.items())


def test_a_search_has_forgotten_the_one_before() -> None:
    """A second search learns from nothing: with the seed of the first one it is the same."""
    state = ucd_envs.make_rules("havannah", base=3).initial_state()
    planner = cmc(playouts=300, seed=7)
    first = planner.search(state)
    planner.search(state.after(4))
    planner.reset(7)
    assert planner.search(state).visits.tolist() == first.visits.tolist()
    assert cmc(playouts=300, seed=7, prob=1.0).search(state).visits.tolist() != first.visits.tolist()


def test_workers_learn_apart() -> None:
    """The same seed gives the same search with two workers, and each has tiles of its own."""
    state = ucd_envs.make_rules("hex", size=4).initial_state()
    one, two = (cmc(playouts=400, seed=5, workers=2).search(state).visits.tolist() for _ in range(2))
    assert one == two


def test_rave_counts_what_policies_play() -> None:
    """What was played after the root is counted from the moves of all simulations, whoever chose them."""
    from ucd_planners.selection.rave import RAVE

    start = ucd_envs.make_rules("havannah", base=3).initial_state()
    search, counts = Search(start, RAVE(), 4, policies=CMC(0.5)), Counter[tuple[int, int]]()
    for _ in range(300):
        counts.update(set(search.simulation().moves))
    graph = search.graph
    found = graph.node_action_stats[search.root][:, 0].reshape(2, -1)
    assert {(player, action): int(count) for (player, action), count in np.ndenumerate(found) if count} == counts


@pytest.mark.parametrize("name", ["prob", "threshold"])
@pytest.mark.parametrize("value", [-0.01, 1.01, float("nan"), float("inf"), "0.5", None, True])
def test_probabilities_lie_between_0_and_1(name: str, value: Any) -> None:
    """One sentence names the parameter and the value."""
    with pytest.raises((ValueError, TypeError), match=f"^{name} must be a number"):
        CMC(**{name: value})


@pytest.mark.parametrize("policies", [3, "cmc", [CMC, 1], [CMC()] * 5, CMC])
def test_policies_are_at_most_four_policies(policies: Any) -> None:
    """Anything else is an error of one sentence."""
    with pytest.raises(TypeError, match=r"^policies must be at most 4 playout policies such as CMC\(\)"):
        Planner(UCD(), playouts=10, policies=policies)


@pytest.mark.parametrize(
    ("text", "policies"),
    [
        ("cmc", (CMC(),)),
        ("cmc(prob=0.75,threshold=0.6)", (CMC(0.75, 0.6),)),
        ("uct(policies='cmc')", (CMC(),)),
        ("""ucd(d1=1, policies=" cmc( prob = 1 )cmc(threshold=0.5) ", c=0.2)""", (CMC(1), CMC(threshold=0.5))),
        ("cmc(prob=0.1, policies='cmc(prob=0.2)')", (CMC(0.1), CMC(0.2))),
        ("uct(policies='')", ()),
        ("uct(policies='bhrf(choice=last_reply,prob=0.15) go_expert')", (BHRF(0.15, "last_reply"), GoExpert())),
        ("uct(policies='last_good_reply(length=1) mast n_grams')", (LastGoodReply(length=1), MAST(), NGrams())),
        ("rave(policies='pool_rave(size=5)')", (PoolRAVE(size=5),)),
    ],
)
def test_policies_can_be_written(text: str, policies: Any) -> None:
    """In a planner's text, and the planner shows them."""
    planner = planner_from(text, playouts=10)
    assert planner.policies == policies
    assert all(str(policy) in repr(planner) for policy in policies)


@pytest.mark.parametrize(
    ("text", "initial"),
    [
        ("uct(initial='go_initial')", GoInitial()),
        ("rave(initial='go_initial(even=2, near=0.5)', policies='mast')", GoInitial(even=2, near=0.5)),
        ("uct(initial='')", None),
    ],
)
def test_initial_statistics_can_be_written(text: str, initial: Any) -> None:
    """As policies can."""
    planner = planner_from(text, playouts=10)
    assert planner.initial == initial
    assert initial is None or str(initial) in repr(planner)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("uct(policies=3)", "policies must be written as text, such as 'cmc(prob=0.5)', not 3"),
        ("uct(policies='cmd')", f"unknown policy 'cmd': expected one of {', '.join(POLICIES)}, {OR_REFERENCE}"),
        ("uct(initial='go')", f"unknown initial statistics 'go': expected one of go_initial, {OR_REFERENCE}"),
        ("uct(initial=1)", "initial must be written as text, such as 'go_initial', not 1"),
        ("uct(initial='go_initial go_initial')", "a planner has one kind of initial statistics, not 'go_initial go_initial'"),
        ("uct(initial='go_initial(far=1)')", f"go_initial has no parameter 'far': expected one of {', '.join(STRENGTHS)}"),
        ("uct(policies='pool_rave')", f"PoolRAVE needs a selection that keeps RAVE values, such as RAVE(), not {UCT}"),
        ("uct(policies='cmc(b=1)')", "cmc has no parameter 'b': expected one of prob, threshold, tiles, pairs, context"),
        (
            "uct(policies='cmc(prob=0.1')",
            "policies 'cmc(prob=0.1' do not parse: expected name(key=value, ...), such as cmc(prob=0.5)",
        ),
        ("uct(policies='cmc, cmc')", "policies 'cmc, cmc' do not parse: expected name(key=value, ...), such as cmc(prob=0.5)"),
        ("uct(policies='cmc(prob=1,prob=1)')", "planner 'cmc(prob=1,prob=1)' has the parameter 'prob' twice"),
        ("cmc(prob=1.5)", "prob must be a number from 0 to 1, not 1.5"),
        ("cmc(threshold=-1)", "threshold must be a number from 0 to 1, not -1"),
    ],
)
def test_policies_that_cannot_be_written(text: str, error: str) -> None:
    """One sentence each."""
    with pytest.raises((ValueError, TypeError)) as caught:
        planner_from(text, playouts=10)
    assert str(caught.value) == error
