"""BHRF against dictionaries: what it learns, what it forgets, and what it suggests."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import hash_game
import numpy as np
import pytest
from bhrf_oracle import Context, Forest, Move
from scipy.stats import chisquare
from simulations import WrittenSimulation, teach
from test_policies import GAMES, Search, policy_moves

import ucd_envs
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields
from ucd_planners import rave, ucd, uct
from ucd_planners.playouts import BHRF
from ucd_planners.playouts.forest import CONTEXT, MEMORY, contexts_of, index_of, replies_of, slot_of
from ucd_planners.selection.rave import RAVE
from ucd_planners.selection.ucd import UCD

UCT = UCD(c=0.3, table=False)
FALLBACKS = {"fallback": ("shorter", "default"), "total": ("all", "legal")}
THREE = "three players"
"""A synthetic game in which a player may move several times in a row."""


def start_of(game: str, settings: dict[str, Any]) -> State:
    """The first state of a game."""
    if game == THREE:
        return hash_game.rules(seed=5, players=3, width=8, branching=5, plies=12).initial_state()
    return ucd_envs.make_rules(game, **settings).initial_state()


def forest(memory: np.ndarray) -> Forest:
    """What a memory holds, as dictionaries."""
    m, found = fields(memory, MEMORY), Forest()
    contexts, replies = contexts_of.py_func(memory, m), replies_of.py_func(memory, m)

    def told(move: int) -> Move:
        return move >> 16, move & 0xFFFF

    def name(number: int) -> Context:
        """The moves of a context, the earliest one first."""
        if number <= m.singles:
            return (divmod(number - 1, int(m.actions)),)
        return told(int(contexts[number]["move"])), *name(int(contexts[number]["parent"]))

    there = range(1 + int(m.singles), 1 + int(m.singles) + int(m.contexts))
    index = index_of.py_func(memory, m)
    assert sorted(int(slot) & 0xFFFFFFFF for slot in index if slot) == [*there]
    for number in (*range(1, 1 + int(m.singles)), *there):
        c = contexts[number]
        assert c["replies"] > 0 or (c["children"] == 0 and number <= m.singles)
        block = replies[int(c["first"]) : int(c["first"]) + int(c["replies"])]
        for r in block:
            found.patterns[name(number), told(int(r["move"]))] = int(r["count"]), Fraction(float(r["paid"]))
        if c["replies"]:
            found.last[name(number)] = told(int(c["last"]))
            if c["most"] >= 0:
                assert_weighed(block, float(m.b), float(c["most"]))
    assert len(found.patterns) == m.patterns
    return found


def assert_weighed(block: np.ndarray, b: float, most: float) -> None:
    """The weights of a context are those of [BHRF eq. 1]."""
    counts, paid = block["count"].astype(float), block["paid"].astype(float)
    weights = paid / counts + b * np.sqrt(np.log(counts.sum()) / counts)
    np.testing.assert_allclose(block["weight"], weights, rtol=1e-5, atol=1e-6)
    assert most == block["weight"].max()


OPTIONS = [
    *({"choice": choice} for choice in ("soft_uct", "last_reply")),
    *({"accept": "estimate", "fallback": fallback, "total": total} for fallback, total in product(*FALLBACKS.values())),
    {"total": "legal"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(("game", "settings"), [*GAMES, (THREE, {})])
@pytest.mark.sweep(2)
def test_patterns_are_those_of_a_dictionary(game: str, settings: dict[str, Any], options: dict[str, str]) -> None:
    """While memory grows; with prob = 1 a playout's move is one that the dictionaries allow: the last reply if it is playable;
    with soft-UCT a reply where all have always won, and any move where one may be rejected.
    """
    policy, choice = BHRF(1.0, **options), options.get("choice", "soft_uct")  # type: ignore[arg-type]
    search, known, spoken = Search(start_of(game, settings), UCT, 1, policies=policy), Forest(), 0
    for number in range(400):
        simulation = search.simulation()
        for place in range(max(simulation.descent, 1), len(simulation.moves)):
            before, state = simulation.moves[:place], simulation.states[place]
            playable = set(policy_moves(state))
            action = simulation.moves[place][1]
            assert action in playable
            if choice == "last_reply":
                reply = known.last_reply(before, state.player, playable)
                assert reply is None or action == reply
                spoken += reply is not None
            else:
                replies = known.replies(before, state.player, playable, policy.fallback == "shorter")
                certain = len(replies) > 0 and all(mean == 1 for mean in replies.values())
                assert action in replies or not certain
                spoken += certain
        known.add(simulation.moves[: simulation.descent], simulation.payoffs)
        if number % 20 == 0:
            found = forest(search.worker.sim.memories[0])
            assert (found.patterns, found.last) == (known.patterns, known.last)
    wins_are_whole = game not in ("leftright", THREE)
    assert spoken > 20 or (choice == "soft_uct" and not wins_are_whole)
    assert len(known.patterns) > 20


LONG = [("hex", {"size": 5}, 60_000), ("go", {"size": 5, "komi": 1}, 40_000), ("leftright", {"steps": 16}, 6_000)]
"""Games with a limit of memory."""


@pytest.mark.parametrize(("game", "settings", "most_bytes"), LONG)
def test_patterns_are_those_of_a_dictionary_after_thousands_of_simulations(
    game: str, settings: dict[str, Any], most_bytes: int
) -> None:
    """Without a limit that is reached, whatever the playouts."""
    search, known = Search(start_of(game, settings), UCT, 2, policies=BHRF(0.2)), Forest()
    for _ in range(2500):
        simulation = search.simulation()
        known.add(simulation.moves[: simulation.descent], simulation.payoffs)
    memory = search.worker.sim.memories[0]
    found = forest(memory)
    assert (found.patterns, found.last) == (known.patterns, known.last)
    assert max(len(context) for context, _ in known.patterns) > 2
    assert memory.nbytes > most_bytes


@pytest.mark.parametrize(("game", "settings", "most_bytes"), LONG)
@pytest.mark.parametrize("choice", ["soft_uct", "last_reply"])
def test_at_its_limit_the_rarest_patterns_are_forgotten(
    game: str, settings: dict[str, Any], most_bytes: int, choice: str
) -> None:
    """As the rule says: all with so few simulations that at most half of what may be known is left."""
    start, policy = start_of(game, settings), BHRF(0.2, choice, most_bytes=most_bytes)
    most = policy.most_patterns(start.rules) - start.rules.max_plies
    search, known, forgot, kept = Search(start, UCT, 3, policies=policy), Forest(), 0, 0
    for number in range(1500):
        simulation = search.simulation()
        known.add(simulation.moves[: simulation.descent], simulation.payoffs)
        if len(known.patterns) > most:
            known.forget(known.fewest_to_forget(most))
            forgot += 1
            kept += len(known.patterns)
        memory = search.worker.sim.memories[0]
        assert memory.nbytes <= policy.most_bytes
        if number % 100 == 0:
            found = forest(memory)
            assert (found.patterns, found.last) == (known.patterns, known.last)
    assert forgot > 2
    assert kept > 10 * forgot


def taught(policy: BHRF, rules: Rules, descents: list[tuple[list[Move], list[float]]]) -> np.ndarray:
    """Memory that has learned from these descents."""
    memory = policy.memory(rules)
    for moves, payoffs in descents:
        if not teach(rules, policy, memory, moves, payoffs, len(moves)):
            memory = policy.grown(memory)
    return memory


def suggestions(policy: BHRF, memory: np.ndarray, state: State, moves: list[Move], number: int) -> Counter[int]:
    """How often each move is suggested after these moves."""
    rngs = np.random.SeedSequence(5).generate_state(2 * number, np.uint64).reshape(number, 2)
    return Counter(WrittenSimulation(state.rules).suggestions(state, moves, policy, memory, [*rngs]))


REPLIES = {1: (6, 3), 2: (4, 3), 3: (2, 1), 5: (1, 1), 6: (3, 0)}
"""Of player 1 to action 4 in tic-tac-toe: simulations and payoffs in sum."""


@pytest.mark.parametrize("total", ["all", "legal"])
@pytest.mark.parametrize("accept", ["mean", "estimate"])
@pytest.mark.parametrize("b", [0.0, 0.7, 2.0])
def test_replies_are_drawn_by_soft_uct_and_accepted_by_their_mean_or_estimate(b: float, accept: str, total: str) -> None:
    """Of playable replies only: 6 was taken; 16 simulations count for the logarithm [BHRF eq. 1], or the 13 of the others."""
    rules = ucd_envs.make_rules("tic_tac_toe")
    descents = [
        ([(0, 4), (1, reply)], [1.0 - paid, paid])
        for reply, (count, won) in REPLIES.items()
        for paid in [1.0] * won + [0.0] * (count - won)
    ]
    policy = BHRF(b=b, accept=accept, total=total)
    memory, number = taught(policy, rules, descents), 20_000
    state = rules.initial_state().after(6).after(7).after(4)
    weights = {
        reply: won / count + b * math.sqrt(math.log(16 if total == "all" else 13) / count)
        for reply, (count, won) in REPLIES.items()
        if reply != 6
    }
    whole = sum(weights.values())
    accepted = {
        reply: REPLIES[reply][1] / REPLIES[reply][0] if accept == "mean" else min(weight, 1.0)
        for reply, weight in weights.items()
    }
    shares = {reply: weight / whole * accepted[reply] for reply, weight in weights.items()}
    counts = suggestions(policy, memory, state, [(0, 6), (1, 7), (0, 4)], number)
    expected = {move: share for move, share in {**shares, -1: 1 - sum(shares.values())}.items() if share > 1e-9}
    assert set(counts) == set(expected)
    assert chisquare([counts[move] for move in expected], [number * share for share in expected.values()]).pvalue > 1e-4


def test_the_longest_context_with_a_playable_reply_speaks() -> None:
    """After 8 and 4 player 1 replied with 0, which soft-UCT plays while it may, else 2, known after 4 alone."""
    rules = ucd_envs.make_rules("tic_tac_toe")
    wins = [([(0, 4), (1, 2)], [0.0, 1.0]), *[([(1, 8), (0, 4), (1, 0)], [0.0, 1.0])] * 2]
    soft, last = BHRF(b=0.0), BHRF(choice="last_reply")
    defaults = [BHRF(b=0.0, fallback="default", total=total) for total in FALLBACKS["total"]]
    start = rules.initial_state()
    free, taken = start.after(7).after(8).after(4), start.after(0).after(8).after(4)
    for policy, expected in ((soft, ({0}, {2})), *((policy, ({0}, {-1})) for policy in (last, *defaults))):
        memory = taught(policy, rules, wins)
        for state, first, found in zip((free, taken), (7, 0), expected, strict=True):
            assert set(suggestions(policy, memory, state, [(0, first), (1, 8), (0, 4)], 200)) == found


@pytest.mark.parametrize("order", [(6, 1, 2), (6, 2, 1), (1, 6, 2), (2, 1, 6)])
def test_taken_replies_do_not_weigh(order: tuple[int, ...]) -> None:
    """The others are drawn by their small weights, here 1 to 2, as if the large one were not there, whichever came first."""
    rules, number = ucd_envs.make_rules("tic_tac_toe"), 30_000
    won = {reply: {6: 64, 1: 1, 2: 2}[reply] for reply in order}
    descents = [([(0, 4), (1, reply)], [0.0, float(game < wins)]) for reply, wins in won.items() for game in range(64)]
    policy, state = BHRF(b=0.0), rules.initial_state().after(6).after(7).after(4)
    counts = suggestions(policy, taught(policy, rules, descents), state, [(0, 6), (1, 7), (0, 4)], number)
    shares = {1: 1 / 3 * 1 / 64, 2: 2 / 3 * 2 / 64}
    expected = {**shares, -1: 1 - sum(shares.values())}
    assert set(counts) == set(expected)
    assert chisquare([counts[move] for move in expected], [number * share for share in expected.values()]).pvalue > 1e-4


def test_a_reply_that_never_won_is_rejected() -> None:
    """Whatever its weight, though a shorter context knows a better one, if it is playable."""
    rules = ucd_envs.make_rules("tic_tac_toe")
    games = [([(0, 4), (1, 2)], [0.0, 1.0]), *[([(1, 8), (0, 4), (1, 0)], [1.0, 0.0])] * 2]
    start = rules.initial_state()
    free, taken = start.after(7).after(8).after(4), start.after(0).after(8).after(4)
    for b in (0.0, 0.7):
        policy = BHRF(b=b)
        memory = taught(policy, rules, games)
        assert set(suggestions(policy, memory, free, [(0, 7), (1, 8), (0, 4)], 200)) == {-1}
        assert set(suggestions(policy, memory, taken, [(0, 0), (1, 8), (0, 4)], 200)) == {2}


@pytest.mark.parametrize("choice", ["soft_uct", "last_reply"])
def test_replies_are_the_movers_own(choice: str) -> None:
    """What another player replied in a game where one may move twice is no suggestion, though the move may be played."""
    rules, policy = ucd_envs.make_rules("tic_tac_toe"), BHRF(choice=choice, b=0.0)
    state = rules.initial_state().after(4)
    for player, expected in ((0, -1), (1, 2)):
        memory = taught(policy, rules, [([(0, 4), (player, 2)], [1.0, 1.0])])
        assert set(suggestions(policy, memory, state, [(0, 4)], 50)) == {expected}


def test_counts_stay_exact() -> None:
    """A pattern that single precision cannot count on stays as it is."""
    rules, policy = ucd_envs.make_rules("tic_tac_toe"), BHRF()
    game: tuple[list[Move], list[float]] = ([(0, 4), (1, 2)], [0.0, 1.0])
    memory = taught(policy, rules, [game])
    reply = replies_of.py_func(memory, fields(memory, MEMORY))[0]
    reply["count"] = 2**24 - 1
    for _ in range(3):
        assert teach(rules, policy, memory, *game, len(game[0]))
    assert forest(memory).patterns == {(((0, 4),), (1, 2)): (2**24, Fraction(2))}


@pytest.mark.parametrize("parent", [2**16, 3 * 2**16, 2**24, 12345])
def test_the_search_for_a_context_ends_at_a_free_slot(parent: int) -> None:
    """Also for action 0 after a context whose number is a multiple of 2**16: its hash has 32 zeros where marks are taken."""
    contexts, index = np.zeros(2, CONTEXT), np.zeros(64, np.uint64)
    contexts[1]["parent"] = parent
    for slot in range(64):
        index[:], index[slot] = 0, 1  # context 1 with a mark of 0, as a free slot has
        found, mark = slot_of(contexts, index, np.uint64(parent), 0)
        assert mark > 0
        assert index[found] == 0


@pytest.mark.parametrize("choice", ["soft_uct", "last_reply"])
@pytest.mark.parametrize("preset", [uct, ucd, rave])
def test_with_prob_0_a_search_is_the_one_without(preset: Any, choice: str) -> None:
    """Bit for bit."""
    state = ucd_envs.make_rules("go", size=5, komi=1).initial_state()
    one, two = (preset(playouts=500, seed=3, policies=given).search(state) for given in ((), BHRF(0.0, choice)))
    assert (one.visits.tolist(), one.values.tobytes()) == (two.visits.tolist(), two.values.tobytes())


def test_the_same_seed_gives_the_same_search_however_it_is_cut() -> None:
    """In pieces of one simulation or in large ones, with a limit that is reached."""
    state = ucd_envs.make_rules("hex", size=5).initial_state()
    policy = BHRF(most_bytes=60_000)
    search = Search(state, RAVE(), 8, policies=policy)
    for _ in range(2000):
        search.step()
    whole = Search(state, RAVE(), 8, policies=policy)
    whole.run(2000)
    assert visits_of(search) == visits_of(whole)


def visits_of(search: Search) -> list[tuple[list[int], list[int]]]:
    """Actions and visits of the edges of each node."""
    blocks = (search.graph.edges[search.graph.block(node)] for node in range(search.graph.node_count))
    return [(block["action"].tolist(), block["visits"].tolist()) for block in blocks]


def test_room_changes_nothing() -> None:
    """A search whose memory is large from the start is the one whose memory grows."""
    start, found = ucd_envs.make_rules("go", size=5, komi=1).initial_state(), []
    for policy in (BHRF(), BHRF(choice="last_reply")):
        for times in (0, 8):
            search = Search(start, UCT, 6, policies=policy)
            memory = search.worker.sim.memories[0]
            for _ in range(times):
                memory = policy.grown(memory)
            search.worker.sim.remember(0, memory)
            search.run(1500)
            known = forest(search.worker.sim.memories[0])
            found.append((known.patterns, known.last, visits_of(search)))
    assert found[0] == found[1]
    assert found[2] == found[3]
    assert found[0] != found[2]


def test_what_is_learned_lasts_for_a_game() -> None:
    """A later position goes on with it; the start of another game, or a reset, does not."""
    start = ucd_envs.make_rules("hex", size=5).initial_state()
    search = Search(start, UCT, 1, policies=BHRF())
    search.run(300)
    known = forest(search.worker.sim.memories[0]).patterns
    search.begin(start.after(4).after(7))
    assert forest(search.worker.sim.memories[0]).patterns == known
    search.begin(start)
    memory = search.worker.sim.memories[0]
    assert forest(memory).patterns == {}
    begun = fields(memory, MEMORY)
    assert (begun.patterns, begun.contexts, begun.places) == (0, 0, 0)
    search.run(300)
    search.worker.forget()
    search.begin(start.after(4).after(7))
    assert forest(search.worker.sim.memories[0]).patterns == {}
    planner = uct(playouts=300, seed=7, policies=BHRF())
    first = planner.search(start).visits.tolist()
    planner.search(start.after(4))
    planner.reset(7)
    assert planner.search(start).visits.tolist() == first


def test_workers_learn_apart() -> None:
    """The same seed gives the same search with two workers, each with patterns of its own."""
    state = ucd_envs.make_rules("hex", size=4).initial_state()
    planners = [uct(playouts=600, seed=5, workers=2, policies=BHRF()) for _ in range(2)]
    one, two = (planner.search(state).visits.tolist() for planner in planners)
    assert one == two
    mine, others = (forest(worker.sim.memories[0]) for worker in planners[0]._workers)
    assert mine.patterns != others.patterns


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"prob": 1.5}, "prob must be a number from 0 to 1, not 1.5"),
        ({"prob": "1"}, "prob must be a number, not '1'"),
        ({"choice": "best"}, "choice must be one of soft_uct, last_reply, not 'best'"),
        ({"accept": "weight"}, "accept must be one of mean, estimate, not 'weight'"),
        ({"fallback": None}, "fallback must be one of shorter, default, not None"),
        ({"total": 1}, "total must be one of all, legal, not 1"),
        ({"choice": "last_reply", "fallback": "default"}, 'fallback goes with choice="soft_uct" only'),
        ({"b": -0.1}, "b must be a number from 0 to 1000000, not -0.1"),
        ({"b": math.nan}, "b must be a number from 0 to 1000000, not nan"),
        ({"b": math.inf}, "b must be a number from 0 to 1000000, not inf"),
        ({"most_bytes": 0}, "most_bytes must be from 1 to 34359738368, not 0"),
        ({"most_bytes": 1e9}, "most_bytes must be a whole number from 1 to 34359738368, not 1000000000.0"),
    ],
)
def test_parameters_out_of_range(given: dict[str, Any], error: str) -> None:
    """One sentence each."""
    with pytest.raises((TypeError, ValueError)) as caught:
        BHRF(**given)
    assert str(caught.value) == error


def test_a_memory_too_small_for_one_game() -> None:
    """The sentence says how much is needed, and that much will do."""
    rules = ucd_envs.make_rules("hex", size=5)
    with pytest.raises(ValueError, match=r"^most_bytes must be at least \d+ for hex_v0\(.*\), not 2000$") as caught:
        BHRF(most_bytes=2000).memory(rules)
    least = int(str(caught.value).split()[5])
    assert BHRF(most_bytes=least).memory(rules).nbytes <= least
    with pytest.raises(ValueError, match=r"^most_bytes must be at least"):
        BHRF(most_bytes=least - 1).memory(rules)
