"""BHRF against dictionaries: what it learns, what it forgets, and what it suggests."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from bhrf_oracle import Context, Forest, Move
from scipy.stats import chisquare
from test_policies import GAMES, Search, policy_moves

import ucd_envs
from ucd_envs.records import fields
from ucd_envs.rules import Rules, State, compiled
from ucd_planners import rave, ucd, uct
from ucd_planners.playouts import BHRF
from ucd_planners.playouts.bhrf import MEMORY, contexts_of, replies_of
from ucd_planners.playouts.seam import LEARN, SUGGEST
from ucd_planners.selection.rave import RAVE
from ucd_planners.selection.seam import WORK
from ucd_planners.selection.ucd import UCD

UCT = UCD(c=0.3, table=False)


def forest(memory: np.ndarray) -> Forest:
    """What a memory holds, as dictionaries."""
    m, found = fields(memory, MEMORY), Forest()
    contexts, replies = contexts_of.py_func(memory, m), replies_of.py_func(memory, m)

    def told(move: int) -> Move:
        return move >> 16, move & 0xFFFF

    names: dict[int, Context] = {0: ()}
    for number in range(1, 1 + int(m.singles) + int(m.contexts)):
        c = contexts[number]
        if number <= m.singles:
            names[number] = (divmod(number - 1, int(m.actions)),)
        else:
            names[number] = (told(int(c["move"])), *names[int(c["parent"])])
        for slot in range(int(c["first"]), int(c["first"]) + int(c["replies"])):
            r = replies[slot]
            found.patterns[names[number], told(int(r["move"]))] = int(r["count"]), Fraction(float(r["paid"]))
        if c["replies"]:
            found.last[names[number]] = told(int(c["last"]))
    assert len(found.patterns) == m.patterns
    return found


@pytest.mark.parametrize("choice", ["soft_uct", "last_reply"])
@pytest.mark.parametrize(("game", "settings"), GAMES)
def test_patterns_are_those_of_a_dictionary(game: str, settings: dict[str, Any], choice: str) -> None:
    """After every simulation, while memory grows; with prob = 1 a playout's move is one that the dictionaries allow."""
    rules = ucd_envs.rules(game, **settings)
    search, known, spoken = Search(rules.initial_state(), UCT, 1, policies=BHRF(1.0, choice)), Forest(), 0
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
                spoken += action in known.replies(before, state.player, playable)
        known.add(simulation.moves[: simulation.descent], simulation.payoffs)
        if number % 20 == 0:
            found = forest(search.worker.work.memories[0])
            assert (found.patterns, found.last) == (known.patterns, known.last)
    assert spoken > 20
    assert len(known.patterns) > 20


def test_patterns_are_those_of_a_dictionary_after_thousands_of_simulations() -> None:
    """On Hex, without playouts that BHRF guides."""
    start = ucd_envs.rules("hex", size=5).initial_state()
    search, known = Search(start, UCT, 2, policies=BHRF(1e-9)), Forest()
    for _ in range(4000):
        simulation = search.simulation()
        known.add(simulation.moves[: simulation.descent], simulation.payoffs)
    found = forest(search.worker.work.memories[0])
    assert (found.patterns, found.last) == (known.patterns, known.last)
    assert max(len(context) for context, _ in known.patterns) > 2


def test_at_its_limit_the_rarest_patterns_are_forgotten() -> None:
    """As the rule says: all with so few simulations that at most half of what may be known is left."""
    rules = ucd_envs.rules("hex", size=5)
    policy = BHRF(1e-9, most_bytes=60_000)
    most = policy.most_patterns(rules) - rules.longest
    search, known, forgot = Search(rules.initial_state(), UCT, 3, policies=policy), Forest(), 0
    for _ in range(3000):
        simulation = search.simulation()
        known.add(simulation.moves[: simulation.descent], simulation.payoffs)
        if len(known.patterns) > most:
            known.forget(known.fewest_to_forget(most))
            forgot += 1
        memory = search.worker.work.memories[0]
        assert memory.nbytes <= policy.most_bytes
    assert forgot > 2
    found = forest(memory)
    assert (found.patterns, found.last) == (known.patterns, known.last)


def taught(policy: BHRF, rules: Rules, descents: list[tuple[list[Move], list[float]]]) -> np.ndarray:
    """Memory that has learned from these descents."""
    memory = policy.memory(rules)
    for moves, payoffs in descents:
        record, listed = (
            np.zeros(WORK.itemsize, np.uint8),
            np.array([player << 16 | action for player, action in moves], np.int32),
        )
        work = record.view(WORK)[0]
        work.moves, work.longest, work.count, work.descent = listed.ctypes.data, len(listed), len(listed), len(listed)
        work.payoffs[: rules.players] = payoffs
        if not compiled(policy.learn, LEARN)(work, memory):
            memory = policy.grown(memory)
    return memory


def suggestions(policy: BHRF, memory: np.ndarray, state: State, moves: list[Move], number: int) -> Counter[int]:
    """How often each move is suggested after these moves."""
    rules, kernels = state.rules, state.rules.kernels
    record, listed = np.zeros(WORK.itemsize, np.uint8), np.array([player << 16 | action for player, action in moves], np.int32)
    room, work = np.zeros(rules.actions, np.int32), record.view(WORK)[0]
    work.moves, work.longest, work.actions, work.action_room = listed.ctypes.data, len(listed), room.ctypes.data, len(room)
    rng = np.random.SeedSequence(5).generate_state(2, np.uint64)
    suggest, array = compiled(policy.suggest, SUGGEST), state.array()
    arguments = (
        kernels.playout_actions,
        kernels.is_playable,
        rules.board,
        array,
        fields(record, WORK),
        len(moves),
        memory,
        rng,
    )
    return Counter(int(suggest(*arguments)) for _ in range(number))


REPLIES = {1: (6, 3), 2: (4, 3), 3: (2, 1), 5: (1, 1), 6: (3, 0)}
"""Of player 1 to action 4 in tic-tac-toe: simulations and payoffs in sum."""


@pytest.mark.parametrize("b", [0.0, 0.7, 2.0])
def test_replies_are_drawn_by_soft_uct_and_accepted_by_their_mean(b: float) -> None:
    """Of playable replies only: 6 was taken, and 16 simulations count for the logarithm [BHRF eq. 1]."""
    rules = ucd_envs.rules("tic_tac_toe")
    descents = [
        ([(0, 4), (1, reply)], [1.0 - paid, paid])
        for reply, (count, won) in REPLIES.items()
        for paid in [1.0] * won + [0.0] * (count - won)
    ]
    policy = BHRF(b=b)
    memory, number = taught(policy, rules, descents), 40_000
    state = rules.initial_state().after(6).after(7).after(4)
    weights = {
        reply: won / count + b * math.sqrt(math.log(16) / count) for reply, (count, won) in REPLIES.items() if reply != 6
    }
    total = sum(weights.values())
    shares = {reply: weight / total * REPLIES[reply][1] / REPLIES[reply][0] for reply, weight in weights.items()}
    counts = suggestions(policy, memory, state, [(0, 6), (1, 7), (0, 4)], number)
    expected = {**shares, -1: 1 - sum(shares.values())}
    assert set(counts) == set(expected)
    assert chisquare([counts[move] for move in expected], [number * share for share in expected.values()]).pvalue > 1e-4


def test_the_longest_context_with_a_playable_reply_speaks() -> None:
    """After 8 and 4 player 1 replied with 0, which soft-UCT plays while it may, else 2, known after 4 alone."""
    rules = ucd_envs.rules("tic_tac_toe")
    wins = [([(0, 4), (1, 2)], [0.0, 1.0]), *[([(1, 8), (0, 4), (1, 0)], [0.0, 1.0])] * 2]
    soft, last = BHRF(b=0.0), BHRF(choice="last_reply")
    start = rules.initial_state()
    free, taken = start.after(7).after(8).after(4), start.after(0).after(8).after(4)
    for policy, expected in ((soft, ({0}, {2})), (last, ({0}, {-1}))):
        memory = taught(policy, rules, wins)
        for state, first, found in zip((free, taken), (7, 0), expected, strict=True):
            assert set(suggestions(policy, memory, state, [(0, first), (1, 8), (0, 4)], 200)) == found


@pytest.mark.parametrize("choice", ["soft_uct", "last_reply"])
@pytest.mark.parametrize("preset", [uct, ucd, rave])
def test_with_prob_0_a_search_is_the_one_without(preset: Any, choice: str) -> None:
    """Bit for bit."""
    state = ucd_envs.rules("go", size=5, komi=1).initial_state()
    one, two = (preset(playouts=500, seed=3, policies=given).search(state) for given in ((), BHRF(0.0, choice)))
    assert (one.visits.tolist(), one.values.tobytes()) == (two.visits.tolist(), two.values.tobytes())


def test_the_same_seed_gives_the_same_search_however_it_is_cut() -> None:
    """In pieces of one simulation or in large ones, with a limit that is reached."""
    state = ucd_envs.rules("hex", size=5).initial_state()
    policy = BHRF(most_bytes=60_000)
    search = Search(state, RAVE(), 8, policies=policy)
    for _ in range(2000):
        search.step()
    whole = Search(state, RAVE(), 8, policies=policy)
    whole.run(2000)
    one, two = search.graph, whole.graph
    assert one.count("move_count") == two.count("move_count")
    assert one.moves[: one.count("move_count")].tolist() == two.moves[: two.count("move_count")].tolist()
    for node in range(one.count("node_count")):
        assert one.edges[one.block(node)]["visits"].tolist() == two.edges[two.block(node)]["visits"].tolist()


def test_what_is_learned_lasts_for_a_game() -> None:
    """A later position goes on with it; the start of another game, or a reset, does not."""
    start = ucd_envs.rules("hex", size=5).initial_state()
    search = Search(start, UCT, 1, policies=BHRF())
    search.run(300)
    known = forest(search.worker.work.memories[0]).patterns
    search.begin(start.after(4).after(7))
    assert forest(search.worker.work.memories[0]).patterns == known
    search.begin(start)
    assert forest(search.worker.work.memories[0]).patterns == {}
    planner = uct(playouts=300, seed=7, policies=BHRF())
    first = planner.search(start).visits.tolist()
    planner.search(start.after(4))
    planner.reset(7)
    assert planner.search(start).visits.tolist() == first


def test_workers_learn_apart() -> None:
    """The same seed gives the same search with two workers."""
    state = ucd_envs.rules("hex", size=4).initial_state()
    one, two = (uct(playouts=600, seed=5, workers=2, policies=BHRF()).search(state).visits.tolist() for _ in range(2))
    assert one == two


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"prob": 1.5}, "prob must be a number from 0 to 1, not 1.5"),
        ({"prob": "1"}, "prob must be a number, not '1'"),
        ({"choice": "best"}, "choice must be one of soft_uct, last_reply, not 'best'"),
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
    rules = ucd_envs.rules("hex", size=5)
    with pytest.raises(ValueError, match=r"^most_bytes must be at least \d+ for hex_v0\(.*\), not 2000$") as caught:
        BHRF(most_bytes=2000).memory(rules)
    least = int(str(caught.value).split()[5])
    assert BHRF(most_bytes=least).memory(rules).nbytes <= least
    with pytest.raises(ValueError, match=r"^most_bytes must be at least"):
        BHRF(most_bytes=least - 1).memory(rules)
