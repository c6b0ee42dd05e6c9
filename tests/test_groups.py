"""Grouped games and planners with groups of moves [Childs section 4]: a group is picked, then a move of it."""

from __future__ import annotations

import copy
import pickle
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import hash_game
import numpy as np
import pytest
import rave_oracle
from go_boards import played
from searching import INF, Search, after, assert_exact, close
from test_rave import Simulations, amaf_of

import ucd_envs
from ucd_envs.grouped import _grouped, entered
from ucd_envs.interface import Grouping, Kernels
from ucd_envs.kernels import (
    CHANCE,
    GROUPS,
    HEADER,
    KEY,
    LEGAL_ACTIONS,
    PLAY,
    READ_PAYOFFS,
    RESET,
    kernel,
)
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields
from ucd_planners import catch_up, grave, rave, rave_ucd, stop_and_correct, ucd, uct, update_all
from ucd_planners.groups import Manhattan, OwnGroups
from ucd_planners.notation import canonical, planner_from
from ucd_planners.playouts import BHRF, CMC, MAST, GoExpert, GoInitial, LastGoodReply, NGrams, PoolRAVE
from ucd_planners.root import clearly_best, moves_at, of_moves, root_moves, winning
from ucd_planners.search.graph import actions, nodes
from ucd_planners.search.interface import LEARN, SELECT, SUGGEST, PlayoutPolicy
from ucd_planners.search.sim import trace
from ucd_planners.selection.rave import RAVE
from ucd_planners.selection.ucd import UCD
from ucd_planners.selection.update_all import UpdateAll

ONE, TWO, THREE = np.uint64(1), np.uint64(2), np.uint64(3)


@kernel(GROUPS, checked=False)
def everything(config, state, memory, action):
    return ONE


@kernel(GROUPS, checked=False)
def by_parity(config, state, memory, action):
    return ONE << np.uint64(action & 1)


@kernel(GROUPS, checked=False)
def odd_and_all(config, state, memory, action):
    return THREE if action & 1 else TWO


@kernel(GROUPS, checked=False)
def three_overlapping(config, state, memory, action):
    groups = ONE if action % 3 == 0 else ONE << np.uint64(1)
    return groups | (ONE << np.uint64(2) if action & 1 else np.uint64(0))


@kernel(GROUPS, checked=False)
def not_seven(config, state, memory, action):
    return np.uint64(action != 7)


@kernel(GROUPS, checked=False)
def late_gap(config, state, memory, action):
    return np.uint64(state[8] < memory[0])  # the steps to the left of LeftRight


ALL = Grouping("everything", 1, everything)
PARITY = Grouping("parity", 2, by_parity)
OVERLAP = Grouping("odd and all", 2, odd_and_all, whole=1)
THREE_GROUPS = Grouping("three", 3, three_overlapping)
GROUPINGS = [PARITY, OVERLAP, THREE_GROUPS]
every_grouping = pytest.mark.parametrize("grouping", GROUPINGS, ids=lambda grouping: grouping.name)


def bits(grouping: Grouping, state: State, action: int) -> int:
    """The groups of an action, asked of the kernel."""
    memory = np.frombuffer(bytearray(grouping.memory), np.uint8)
    return int(grouping.kernel(state.rules.config, state.array(), memory, action))


def offered(grouping: Grouping, state: State) -> list[int]:
    """What the mover may do before a pick, by the definition: single moves, and groups of several that are not all the same."""
    legal, first = state.legal_actions(), state.rules.actions
    held = {group: [a for a in legal if bits(grouping, state, a) >> group & 1] for group in range(grouping.groups)}
    held = {group: moves for group, moves in held.items() if moves}
    whole = [group for group, moves in held.items() if moves == legal]
    for group in whole if grouping.whole in whole else whole[:-1]:
        if group != grouping.whole:
            del held[group]
    if len(held) <= 1:
        return legal
    singles = {moves[0] for moves in held.values() if len(moves) == 1}
    return [*sorted(singles), *(first + group for group, moves in held.items() if len(moves) > 1)]


GAMES = [
    ("tic_tac_toe", {}),
    ("hex", {"size": 4, "swap": True}),
    ("connect_four", {"columns": 5, "rows": 4}),
    ("go", {"size": 4, "ko": "positional"}),
    ("breakthrough", {"rows": 5, "columns": 4}),
    ("quarto", {}),
    ("leftright", {"steps": 9}),
]
every_game = pytest.mark.parametrize(("name", "settings"), GAMES, ids=[name for name, _ in GAMES])


@every_grouping
@every_game
def test_a_grouped_game_has_picks_and_moves_of_the_game_inside(name: str, settings: dict[str, Any], grouping: Grouping) -> None:
    rules = ucd_envs.make_rules(name, **settings)
    game = ucd_envs.grouped(rules, grouping)
    assert game is ucd_envs.grouped(rules, grouping)
    choice, picks = random.Random(1), 0
    for _ in range(6):
        state, inside, plies = game.initial_state(), rules.initial_state(), 0
        while not inside.over:
            assert (state.player, state.ply) == (inside.player, plies)
            legal = offered(grouping, inside)
            assert state.legal_actions() == legal
            action = choice.choice(legal)
            if action >= rules.actions:
                before = state
                state, picks, plies = state.after(action), picks + 1, plies + 1
                group = action - rules.actions
                assert state.player == before.player
                assert state != before
                assert state.legal_actions() == [a for a in inside.legal_actions() if bits(grouping, inside, a) >> group & 1]
                action = choice.choice(state.legal_actions())
            assert state.action_named(state.action_name(action)) == action
            assert State(game, state.data) == state
            state, inside, plies = state.after(action), inside.after(action), plies + 1
        assert state.over
        assert state.legal_actions() == []
        assert state.payoffs() == inside.payoffs()
        assert plies <= game.max_plies
    assert picks > 0 or rules.actions == 2


@every_grouping
def test_positions_are_one_where_the_game_inside_has_one(grouping: Grouping) -> None:
    """By whatever groups their moves were picked; a group that is picked makes another position."""
    rules = ucd_envs.make_rules("tic_tac_toe")
    game = ucd_envs.grouped(rules, grouping)
    known: dict[bytes, Any] = {}
    queue, seen = [(game.initial_state(), rules.initial_state(), -1)], 0
    while queue:
        state, inside, group = queue.pop()
        facts = (inside.key, group, state.ply)
        assert known.setdefault(state.key, facts) == facts
        if inside.ply >= 4 or inside.over:
            continue
        for action in state.legal_actions():
            after = state.after(action)
            pick = action >= rules.actions
            entry = (after, inside if pick else inside.after(action), action - rules.actions if pick else -1)
            seen += 1
            if after.key not in known:
                queue.append(entry)
    assert len(set(known.values())) == len(known) < seen


@pytest.mark.parametrize("draws", [6000])
@every_grouping
def test_random_moves_of_playouts_are_those_of_the_game_inside(grouping: Grouping, draws: int) -> None:
    """A pick and a move behind it, drawn by `playout_action`, give every move with the same probability."""
    rules = ucd_envs.make_rules("tic_tac_toe")
    game = ucd_envs.grouped(rules, grouping)
    state, rng, counts = game.initial_state().array(), seeded(5), Counter[int]()
    for _ in range(draws):
        action, position = -1, state.copy()
        while action < 0 or action >= rules.actions:
            action = int(game.kernels.playout_action(game.config, position, rng))
            if action >= rules.actions:
                game.kernels.play(game.config, position, action)
        counts[action] += 1
    assert sum((counts[move] - draws / 9) ** 2 / (draws / 9) for move in range(9)) < 26.1  # 0.999 of chi-square with 8 degrees


@every_grouping
@every_game
def test_a_playout_plays_the_game_inside(name: str, settings: dict[str, Any], grouping: Grouping) -> None:
    """Its trace is legal there, its first move behind a pick belongs to the group, and without a trace its outcome is right."""
    rules = ucd_envs.make_rules(name, **settings)
    game, rng = ucd_envs.grouped(rules, grouping), seeded(3)
    start, inside = game.initial_state(), rules.initial_state()
    for action in [None, *(action for action in start.legal_actions() if action >= rules.actions)]:
        state = start if action is None else start.after(action)
        for room in (game.max_plies, 1, 3, 0):
            position, moves = state.array(), np.full(room, -7, np.int32)
            count = int(game.kernels.playout(game.config, position, rng, moves))
            reached, last = inside, fields(position, HEADER)
            for move in moves[: count if room else 0].tolist():
                assert move >> 16 == reached.player
                reached = reached.after(move & 0xFFFF)
            if room:
                assert last.player == reached.player
                assert last.ply == state.ply + count
                assert reached.over or count == room
                if action is not None:
                    assert bits(grouping, inside, int(moves[0]) & 0xFFFF) >> (action - rules.actions) & 1
                if not reached.over:
                    assert State.trusted(game, position.tobytes()).legal_actions() == offered(grouping, reached)
            else:
                assert last.player == -1


@kernel(RESET, checked=False)
def start_branches(config, state):
    fields(state, HEADER).player = fields(state, HEADER).ply = 0


@kernel(LEGAL_ACTIONS, checked=False)
def list_branches(config, state, actions):
    s = fields(state, HEADER)
    count = 3 if s.ply == 0 else 1
    for i in range(count):
        actions[i] = i
    return count if s.player >= 0 else 0


@kernel(PLAY, checked=False)
def play_branch(config, state, action):
    s = fields(state, HEADER)
    if s.ply == 0:
        state[8] = action
    s.ply += 1
    s.player = -1 if s.ply == 2 else 0


@kernel(READ_PAYOFFS, checked=False)
def pay_branch(config, state, out):
    out[0] = 1.0 if state[8] < 2 else 0.0


@kernel(KEY, checked=False)
def key_branch(config, state, words):
    words[0] = np.uint64(state[8] if fields(state, HEADER).ply > 0 else 9)


def branches() -> Rules:
    """One player chooses one of three moves, after which one move is left; the first two moves pay 1, the third 0."""
    return Rules(
        name="branches_v0",
        settings={},
        players=1,
        actions=3,
        max_plies=2,
        config=np.zeros(8, np.uint8),
        state_bytes=16,
        key_words=1,
        kernels=Kernels(start_branches, list_branches, play_branch, pay_branch, key_branch),
        action_name=lambda state, action: str(action),
        action_named=lambda state, text: int(text),
    )


@kernel(GROUPS, checked=False)
def first_two_and_all(config, state, memory, action):
    return THREE if action < 2 and fields(state, HEADER).ply == 0 else TWO


@kernel(SELECT, checked=False)
def by_script(graph, sim, node, may_add):
    """Chooses the actions of five simulations; one that is over ends the descent before."""
    script, length = np.int64(0), sim.path.length
    if graph.playouts < 2:
        script = 3 if length == 0 else 0  # the first group, then move 0
    elif length == 0:
        script = 4  # the second group
    elif length == 1:
        script = 2 if graph.playouts == 4 else 0
    source = nodes(graph)[node]
    for place in range(source.legal):
        if actions(graph)[source.first_action + place] == script:
            return np.int64(place)
    return np.int64(-1)


class Scripted(UCD):
    """UCD whose choices are those of the script."""

    select_kernel = by_script


def test_two_overlapping_groups_share_what_lies_behind_them() -> None:
    """UCD(1, 0, 1) on a graph made by hand.

        root -g0-> G0 -0-> X0 -0-> end, pays 1          1: root g0              ends at G0, pays 1
        root -g1-> G1 -0-> X0                           2: root g0, 0           ends at X0, pays 1
                   G1 -2-> X2, pays 0                   3: root g1              ends at G1, pays w
                                                        4: root g1, 0, 0        X0 is known; ends there, pays 1
                                                        5: root g1, 2           ends at X2, pays 0

    A_0(X0) = 1 and B_0(X0) = 1 by simulation 4. Both edges into X0 see them: g0's has n' = w' = 1, so mu_1 = 2 / 2, n_1 = 2;
    g1's has n' = w' = 0, so mu_1 = 1 / 1, n_1 = 1. A_0(G0) = 1, B_0(G0) = 1; A_0(G1) = 2, B_0(G1) = 1 + 0. So the picks have
    mu_1 = (1 + 1) / (1 + 1) with n_1 = 2, and (w + 1) / (1 + 2) with n_1 = 3.
    """
    rules = branches()
    game = ucd_envs.grouped(rules, Grouping("two and all", 2, first_two_and_all, whole=1))
    search = Search(game.initial_state(), Scripted(1, 0, 1))
    logs = [search.step() for _ in range(5)]
    assert [[action for _, action, _ in log] for log, _ in logs] == [[3], [3, 0], [4], [4, 0, 0], [4, 2]]
    w = logs[2][1][0]
    graph, found = search.graph, {}
    names = dict(search.nodes())
    for number, _, (source, action) in search.edges():
        ply = next(int(graph.nodes[node]["ply"]) for node, name in names.items() if name == source)
        group = source[8] if isinstance(source, bytes) else None
        found[ply, group, action] = (graph.mean_value[number], graph.exploration[number])
    root, first, second = (0, 0), (1, 1), (1, 2)  # ply, and the group picked + 1
    expected = {
        (*root, 3): (1.0, 2),
        (*root, 4): ((w + 1) / 3, 3),
        (*first, 0): (1.0, 2),
        (*second, 0): (1.0, 1),
        (*second, 2): (0.0, 1),
        (2, 0, 0): (1.0, 1),
    }
    assert found.keys() == expected.keys()
    for edge, (mean, visits) in expected.items():
        assert close(found[edge][0], mean)
        assert close(found[edge][1], 1 / visits**0.5)
    assert graph.transpositions == 1


SELECTIONS = [
    *(UCD(*depths) for depths in ((0, 0, 0), (1, 0, 1), (2, 1, 2), (INF, 0, 1), (INF, INF, INF))),
    UCD(1, 0, 1, store="nodes"),
    UCD(table=False),
    UpdateAll(),
]


@pytest.mark.sweep(3)
@pytest.mark.parametrize("selection", SELECTIONS, ids=str)
@pytest.mark.parametrize("add", ["first", "all"])
@every_grouping
def test_every_statistic_of_a_grouped_game_is_the_oracles(grouping: Grouping, add: str, selection: Any) -> None:
    starts = [
        hash_game.rules(seed=2, players=2, width=6, branching=4, plies=6).initial_state(),
        after(ucd_envs.make_rules("tic_tac_toe"), 4, 0, 8),
    ]
    for start in starts:
        game = ucd_envs.grouped(start.rules, grouping)
        search = assert_exact(entered(game, start), selection, 60, {7, 25, 60}, expand=add)
        merges = selection != UCD(table=False)
        assert (search.graph.transpositions > 0) == merges


class MovesOnly(Simulations):
    """A search in a grouped game, whose trace holds no picks."""

    def simulation(self) -> Any:
        path, payoffs = self.step()
        movers = [self.states[source].player for source, _, _ in path]
        source, action, _ = path[-1]
        movers.append(self.states[source].after(action).player)
        moves = self.start.rules.moves
        descent = sum(action < moves for _, action, _ in path)
        length = int(self.worker.sim.record.traced.length)
        whole = [(int(move) >> 16, int(move) & 0xFFFF) for move in self.worker.sim.trace[:length]]
        names = [(self.states[source].player, action) for source, action, _ in path if action < moves]
        assert whole[:descent] == names
        return path, movers, whole[descent:], payoffs


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "selection", [RAVE(0.001, 0.4), RAVE(0.5, 0.4, True, 2), RAVE(0.001, 0.3, True, 0, 1), RAVE(0, 0.4, ref=5)], ids=str
)
@pytest.mark.parametrize("add", ["first", "all"])
@every_grouping
def test_actions_played_later_are_moves_and_no_picks(grouping: Grouping, add: str, selection: RAVE) -> None:
    start = after(ucd_envs.make_rules("hex", size=3), 0, 8)
    game = ucd_envs.grouped(start.rules, grouping)
    search, log = MovesOnly(entered(game, start), selection, expand=add), rave_oracle.Log(2)
    for _ in range(60):
        log.record_all(*search.simulation())
    names, moves = dict(search.nodes()), game.moves
    for node, name in names.items():
        counted = amaf_of(search.graph)[node].reshape(2, game.actions, 2)
        expected = np.zeros_like(counted)
        for (player, action), sums in log.played(name).items():
            expected[player, action] = [float(x) for x in sums]
        assert np.array_equal(counted[:, :moves], expected[:, :moves])
        assert not counted[:, moves:].any()


PLANNERS = {
    "uct": uct,
    "ucd": lambda **options: ucd(2, 1, 2, **options),
    "update_all": update_all,
    "rave": lambda **options: rave(c=0.3, **options),
    "rave_ucd": rave_ucd,
    "grave": grave,
    "policies": lambda **options: uct(policies=[CMC(0.5), LastGoodReply(), MAST(0.3), NGrams(0.3)], **options),
    "all": lambda **options: ucd(expand="all", **options),
    "stop_and_correct": stop_and_correct,
    "catch_up": catch_up,
}


@pytest.mark.sweep(4)
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("planner", PLANNERS.values(), ids=PLANNERS)
@every_game
def test_one_group_of_all_moves_changes_nothing(name: str, settings: dict[str, Any], planner: Any, workers: int) -> None:
    env = ucd_envs.make(name, **settings)
    env.reset(seed=1)
    plain = planner(playouts=90, seed=7, workers=workers)
    grouped = planner(playouts=90, seed=7, workers=workers, groups=ALL)
    for _ in range(4):
        a, b = plain.search(env), grouped.search(env)
        assert a.action == b.action
        assert a.actions.tolist() == b.actions.tolist()
        assert a.visits.tolist() == b.visits.tolist()
        assert np.array_equal(a.values, b.values, equal_nan=True)
        assert a.principal_variation == b.principal_variation
        assert (a.value, a.nodes, a.edges, a.transpositions, a.depth) == (b.value, b.nodes, b.edges, b.transpositions, b.depth)
        env.step(a.action)
        if not env.agents or env.terminations[env.agent_selection]:
            break


@pytest.mark.parametrize("final_move", ["visits", "mean", "lower_bound"])
@pytest.mark.parametrize("workers", [1, 3])
@every_grouping
def test_planners_with_groups_answer_with_moves(grouping: Grouping, workers: int, final_move: str) -> None:
    rules = ucd_envs.make_rules("hex", size=4)
    state = rules.initial_state()
    planner = ucd(playouts=400, seed=3, workers=workers, groups=grouping, final_move=final_move)
    while not state.over:
        result = planner.search(state)
        assert result.actions.tolist() == state.legal_actions()
        assert result.action in state.legal_actions()
        assert 0 < result.visits.sum() <= result.playouts == 400
        assert len(result.names_of(result.principal_variation)) == len(result.principal_variation)
        assert result.principal_variation[0] == result.action
        assert abs(result.policy.sum() - 1) < 1e-12
        state = state.after(planner.act(state))
    winner = 1 - state.ply % 2
    assert state.payoffs()[winner] == 1


@pytest.mark.parametrize("final_move", ["visits", "mean"])
@pytest.mark.parametrize("groups", [None, PARITY, OVERLAP])
def test_a_clearly_best_move_is_what_the_final_rule_chooses(groups: Grouping | None, final_move: str) -> None:
    """The compiled choice, which knows no ties and no wins, agrees with the sums of all actions wherever it has an answer."""
    answers = []
    for seed in range(40):
        state, moves = ucd_envs.make_rules("tic_tac_toe").initial_state(), random.Random(seed)
        for _ in range(seed % 6):
            state = state.after(moves.choice(state.legal_actions()))
        if state.over:
            continue
        planner = ucd(playouts=5 + 11 * seed, seed=seed, groups=groups)
        planner.search(state)
        (worker,) = planner._workers
        graph = worker.graph
        found = clearly_best(graph.header, graph.moves, final_move == "mean")
        rng = [of_moves([graph], root_moves([graph], state), final_move, seeded(n), 0.0) for n in range(12)]
        answers.append(found)
        assert found == -1 or set(rng) == {found}
        assert found == -1 or not winning(graph, moves_at(graph, graph.root)).any()
    assert -1 in answers
    assert sum(answer >= 0 for answer in answers) >= 10


def test_the_final_rule_chooses_a_group_first() -> None:
    """The move is the most visited one of the most visited group, though another group's most visited move may have more."""
    rules = ucd_envs.make_rules("hex", size=5)
    game = ucd_envs.grouped(rules, PARITY)
    planner = uct(playouts=700, seed=2, groups=PARITY)
    result = planner.search(rules.initial_state())
    graph = planner._workers[0].graph
    root = graph.edges[graph.block(graph.root)]
    pick = root[np.argmax(root["visits"])]
    assert pick["action"] >= game.moves
    behind = graph.edges[graph.block(int(pick["target"]))]
    assert result.action == behind["action"][np.argmax(behind["visits"])]
    assert result.action % 2 == pick["action"] - game.moves
    other = root[np.argmin(root["visits"])]
    assert result.visits.sum() == 700 - 2  # the first playout of either group ended at its pick
    assert int(pick["visits"]) + int(other["visits"]) == 700


def test_a_win_in_one_move_is_taken_from_any_group() -> None:
    """X wins at 6 only; it is seen although the other group may have more visits."""
    state = after(ucd_envs.make_rules("tic_tac_toe"), 0, 1, 3, 4)
    for seed in range(10):
        for grouping in GROUPINGS:
            assert uct(c=1.0, playouts=600, seed=seed, groups=grouping).act(state) == 6


def test_one_playout_is_enough_for_a_move() -> None:
    state = ucd_envs.make_rules("hex", size=4).initial_state()
    for seed in range(20):
        planner = ucd(playouts=1, seed=seed, groups=PARITY)
        assert planner.act(state) in state.legal_actions()
        assert planner.search(state).action in state.legal_actions()


POLICIES = [CMC(0.7), LastGoodReply(), MAST(0.5), NGrams(0.5), BHRF(), PoolRAVE(), GoExpert()]


@kernel(SUGGEST, checked=False)
def suggest_nothing(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    return np.int64(-1)


@kernel(LEARN, checked=False)
def count_picks(sim, memory):
    """Counts simulations, and moves of traces that are picks."""
    memory[0] = 1
    for i in range(sim.traced.length):
        if (trace(sim)[i] & 0xFFFF) >= 82:
            memory[1] = 1
    return np.bool_(True)


@dataclass(frozen=True)
class Watching(PlayoutPolicy):
    """Sees every trace."""

    prob: float = 1.0
    suggest, learn = suggest_nothing, count_picks

    def memory(self, rules: Rules) -> np.ndarray:
        assert rules.actions == 82
        return np.zeros(2, np.uint8)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: type(policy).__name__)
def test_policies_see_moves_only(policy: Any) -> None:
    state = played(ucd_envs.make_rules("go", size=9).initial_state(), "E5 C3 G7")
    maker = rave if isinstance(policy, PoolRAVE) else uct
    planner = maker(playouts=60, seed=1, policies=[policy, Watching()], groups=Manhattan())
    planner.guard()
    assert planner.act(state) in state.legal_actions()
    assert planner._workers[0].sim.memories[1].tolist()[:2] == [1, 0]


def test_initial_statistics_are_given_to_moves_only() -> None:
    state = played(ucd_envs.make_rules("go", size=9).initial_state(), "E5 C3")
    planner = uct(playouts=500, seed=1, initial=GoInitial(), groups=Manhattan())
    result = planner.search(state)
    assert result.priors is None
    graph = planner._workers[0].graph
    for node in range(graph.node_count):
        first, legal = int(graph.nodes[node]["first_action"]), int(graph.nodes[node]["legal"])
        for place in range(first, first + legal):
            assert (graph.initial_stats[place, 0] > 0) == (graph.actions[place] < 82)


# Manhattan groups of Go


def near(state: State, moves: str, distance: int) -> set[int]:
    """The legal points within so many steps of these."""
    size = state.rules.planes[0]
    spots = [divmod(state.action_named(move), size) for move in moves.split()]
    return {
        action
        for action in state.legal_actions()
        if action < size * size and any(abs(action // size - r) + abs(action % size - c) <= distance for r, c in spots)
    }


def shuffled_games(rules: Rules, plies: int, count: int) -> Iterator[State]:
    """Positions of random games in which both players make the same moves in several orders, with every pick at the end."""
    chance = random.Random(5)
    for _ in range(count):
        state, moves = rules.initial_state(), list[int]()
        while len(moves) < plies:
            choice = chance.choice([a for a in state.legal_actions() if a < rules.moves] or state.legal_actions())
            state = state.after(choice)
            moves += [choice] if choice < rules.moves else []
        for _ in range(6):
            orders = [chance.sample(moves[player::2], len(moves[player::2])) for player in (0, 1)]
            state = rules.initial_state()
            for ply in range(plies):
                move = orders[ply % 2][ply // 2]
                picks = [a for a in state.legal_actions() if a >= rules.moves and move in state.after(a).legal_actions()]
                if move not in state.legal_actions():
                    if not picks:
                        break
                    state = state.after(picks[-1])
                state = state.after(move)
            else:
                yield state
                yield from (state.after(action) for action in state.legal_actions() if action >= rules.moves)


@pytest.mark.parametrize("groups", [Manhattan(), Manhattan(moves=1), Manhattan(disjoint=True), Manhattan(distance=1)], ids=str)
def test_positions_that_are_one_node_have_the_same_moves_and_futures(groups: Manhattan) -> None:
    """With equal keys and plies all legal actions are equal, and they lead to equal keys. So an edge has one target.

    Behind the pick of all moves positions are one whose older moves differ, and no more than that.
    """
    rules = ucd_envs.grouped(ucd_envs.make_rules("go", size=5, komi=0.5), groups)
    known: dict[tuple[bytes, int], State] = {}
    merged = 0
    for state in shuffled_games(rules, 6, 60):
        other = known.setdefault((state.key, state.ply), state)
        if other.data != state.data:
            merged += 1
            assert other.legal_actions() == state.legal_actions()
            for action in state.legal_actions():
                assert other.after(action).key == state.after(action).key
    assert merged > 50 * (not groups.disjoint)


@pytest.mark.parametrize(
    ("line", "last", "groups"),
    [
        ("E5 C3", "E5 C3", Manhattan()),
        ("E5 C3 A1", "C3 A1", Manhattan()),
        ("E5 C3 A1", "A1", Manhattan(moves=1)),
        ("E5 C3 pass", "C3", Manhattan()),
        ("E5 C3 J9 D4", "J9 D4", Manhattan(distance=3)),
        ("E5 C3 J9 D4", "J9 D4", Manhattan(distance=1, disjoint=True)),
    ],
)
def test_near_moves_of_go_are_within_the_distance(line: str, last: str, groups: Manhattan) -> None:
    state = played(ucd_envs.make_rules("go", size=9).initial_state(), line)
    game = ucd_envs.grouped(state.rules, groups)
    root = entered(game, state)
    assert root.legal_actions() == [82, 83]
    wanted = near(state, last, groups.distance)
    assert set(root.after(82).legal_actions()) == wanted
    legal = set(state.legal_actions())
    assert set(root.after(83).legal_actions()) == (legal - wanted if groups.disjoint else legal)


def test_without_a_last_move_there_is_one_group() -> None:
    rules = ucd_envs.make_rules("go", size=5)
    for state in (rules.initial_state(), played(rules.initial_state(), "pass")):
        assert entered(ucd_envs.grouped(rules, Manhattan()), state).legal_actions() == state.legal_actions()


def test_a_group_of_all_moves_merges_move_orders_that_differ_in_moves_that_will_not_count() -> None:
    """E5 C3 A1 J9 and A1 C3 E5 J9 lead to one board. What is near differs; behind the pick of all moves they are one position.

    E5 C3 A1 and A1 C3 E5 are not, unless only one move counts: after the next move A1 or E5 is still one of the last two.
    """
    rules = ucd_envs.make_rules("go", size=9)

    def both(groups: Manhattan, *lines: str) -> tuple[State, State]:
        game = ucd_envs.grouped(rules, groups)
        one, two = (entered(game, played(rules.initial_state(), line)) for line in lines)
        assert one != two
        assert one.after(82) != two.after(82)
        return one.after(83), two.after(83)

    for groups, lines, merged in (
        (Manhattan(), ("E5 C3 A1 J9", "A1 C3 E5 J9"), True),
        (Manhattan(), ("E5 C3 A1", "A1 C3 E5"), False),
        (Manhattan(moves=1), ("E5 C3 A1", "A1 C3 E5"), True),
        (Manhattan(disjoint=True), ("E5 C3 A1 J9", "A1 C3 E5 J9"), False),
    ):
        one, two = both(groups, *lines)
        assert (one == two) == merged


def test_the_last_moves_of_go_are_no_part_of_its_positions() -> None:
    rules = ucd_envs.make_rules("go", size=9)
    assert played(rules.initial_state(), "E5 C3 A1") == played(rules.initial_state(), "A1 C3 E5")


def test_playouts_of_go_leave_its_last_moves() -> None:
    rules, rng = ucd_envs.make_rules("go", size=5), seeded(4)
    for room in (1, 2, 7, 75):
        position, moves = rules.initial_state().array(), np.zeros(room, np.int32)
        count = int(rules.kernels.playout(rules.config, position, rng, moves))
        state = rules.initial_state()
        for move in moves[:count].tolist():
            state = state.after(move & 0xFFFF)
        assert State.trusted(rules, position.tobytes()).array()[:64].tolist() == state.array()[:64].tolist()


# Games with chance, environments, copies


@pytest.mark.parametrize("name", ["einstein", "pig"])
def test_outcomes_of_chance_are_in_no_group(name: str) -> None:
    rules = ucd_envs.make_rules(name)
    game = ucd_envs.grouped(rules, PARITY)
    choice, seen = random.Random(3), 0
    state = game.initial_state()
    while not state.over and state.ply < 60:
        legal = state.legal_actions()
        if state.player == CHANCE:
            seen += 1
            assert all(action < rules.actions for action in legal)
            if rules.knows_probabilities:
                chances = [game.kernels.probability(game.config, state.array(), action) for action in legal]
                assert abs(sum(chances) - 1) < 1e-9
        state = state.after(choice.choice(legal))
    assert seen > 0
    root = rules.initial_state().settled(seeded(1))
    planner = ucd(playouts=300, seed=1, groups=PARITY)
    assert planner.act(root) in root.legal_actions()


def test_a_grouped_game_is_an_environment() -> None:
    rules = ucd_envs.make_rules("hex", size=3)
    game = ucd_envs.grouped(rules, OVERLAP)
    seen = np.full(game.planes, -7, np.int8)
    for state in (game.initial_state(), game.initial_state().after(rules.actions + 1)):
        group = 1 if state.ply else -1
        game.kernels.observe(game.config, state.array(), 0, seen.reshape(-1))
        own = np.full(rules.planes, -7, np.int8)
        rules.kernels.observe(rules.config, rules.initial_state().array(), 0, own.reshape(-1))
        assert np.array_equal(seen[..., : rules.planes[2]], own)
        assert [seen[..., rules.planes[2] + place].all() for place in range(2)] == [group == 0, group == 1]
    from ucd_envs import pictures

    assert "group 1 is picked" in pictures.text(game.initial_state().after(rules.actions + 1))


def test_states_and_rules_survive_copies_and_pickles() -> None:
    game = ucd_envs.grouped(ucd_envs.make_rules("go", size=5), Manhattan())
    state = game.initial_state().after(12)
    state = state.after(state.legal_actions()[-1])
    assert pickle.loads(pickle.dumps(game)) is game
    assert pickle.loads(pickle.dumps(state)) == state
    assert copy.deepcopy(state) == state
    assert pickle.loads(pickle.dumps(uct(groups=Manhattan(3)))).groups == Manhattan(3)


def test_a_game_that_is_grouped_anew_has_the_same_states() -> None:
    """Its configuration lies at other addresses, which are no part of it."""
    rules = ucd_envs.make_rules("go", size=5)
    game = ucd_envs.grouped(rules, Manhattan())
    state = game.initial_state().after(12)
    _grouped.cache_clear()
    again = ucd_envs.grouped(rules, Manhattan())
    assert again is not game
    assert again == game
    assert again.initial_state().after(12) == state
    assert pickle.loads(pickle.dumps(state)).rules is again


def test_damaged_states_are_refused_or_harmless() -> None:
    game = ucd_envs.grouped(ucd_envs.make_rules("hex", size=3), OVERLAP)
    choice, state = random.Random(1), game.initial_state().after(10)
    refused = 0
    for _ in range(500):
        data = bytearray(state.data)
        for _ in range(choice.choice((1, 1, 2))):
            data[choice.randrange(len(data) - 8, len(data)) if choice.random() < 0.7 else choice.randrange(len(data))] = (
                choice.randrange(256)
            )
        try:
            damaged = State(game, bytes(data))
        except ValueError:
            refused += 1
            continue
        while not damaged.over:
            damaged = damaged.after(choice.choice(damaged.legal_actions()))
    assert refused > 250


# Texts and bad input


def test_groups_are_written_as_text() -> None:
    assert planner_from("uct(groups=manhattan)").groups == Manhattan()
    assert planner_from("ucd(groups='manhattan(distance=3, disjoint=true)')").groups == Manhattan(3, disjoint=True)
    assert planner_from("uct(groups=own)").groups == OwnGroups()
    text = "uct(c=0.3,groups='manhattan(distance=2,moves=2,disjoint=false)')"
    assert canonical("uct(groups=manhattan)") == text
    assert canonical("uct(groups=none)") == "uct(c=0.3)"


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: uct(groups=3), TypeError, "groups must be a Grouping, or make one by of"),
        (lambda: uct(groups=Manhattan), TypeError, "groups must be a Grouping, or make one by of"),
        (
            lambda: uct(groups=Manhattan(), reuse_graph=True),
            ValueError,
            "groups of moves go without reuse_graph, stop_early and",
        ),
        (
            lambda: uct(groups=Manhattan(), stop_early=True),
            ValueError,
            "groups of moves go without reuse_graph, stop_early and",
        ),
        (lambda: uct(groups=PARITY, expand="all", policies=CMC()), ValueError, 'policies go with expand="first"'),
        (lambda: ucd(groups=Manhattan(), graded=False), ValueError, "reuse_graph, stop_early and graded=False"),
        (lambda: Manhattan(0), ValueError, "distance must be"),
        (lambda: Manhattan(moves=3), ValueError, "moves must be"),
        (lambda: Manhattan(disjoint=1), TypeError, "disjoint must be"),
        (lambda: planner_from("uct(groups=near)"), ValueError, "near"),
        (lambda: planner_from("uct(groups='manhattan manhattan')"), ValueError, "a planner has one grouping of moves"),
        (lambda: uct(groups=Manhattan(), playouts=9).act(ucd_envs.make_rules("hex").initial_state()), ValueError, "Go only"),
        (lambda: uct(groups=OwnGroups(), playouts=9).act(ucd_envs.make_rules("hex").initial_state()), ValueError, "no groups"),
        (lambda: ucd_envs.grouped("hex", PARITY), TypeError, "expected Rules"),
        (lambda: ucd_envs.grouped(ucd_envs.make_rules("hex"), 3), TypeError, "groups must be a Grouping"),
        (
            lambda: ucd_envs.grouped(ucd_envs.make_rules("tic_tac_toe"), Grouping("but 7", 1, not_seven)),
            ValueError,
            "but 7 leaves a legal move of tic_tac_toe_v0 without a group: b3",
        ),
        (
            lambda: ucd_envs.grouped(ucd_envs.make_rules("tic_tac_toe"), PARITY._replace(whole=1)),
            ValueError,
            "parity leaves a legal move of tic_tac_toe_v0 out of the group of all, 1: a1",
        ),
        (lambda: ucd_envs.grouped(ucd_envs.make_rules("hex"), PARITY._replace(whole=2)), ValueError, "one of 2, or -1"),
        (lambda: ucd_envs.grouped(ucd_envs.make_rules("hex"), PARITY._replace(groups=64)), TypeError, "1 to 63 groups"),
        (lambda: ucd_envs.grouped(ucd_envs.make_rules("hex"), PARITY._replace(kernel=KEY)), TypeError, "kernel"),
        (lambda: ucd_envs.grouped(ucd_envs.grouped(ucd_envs.make_rules("hex"), PARITY), PARITY), ValueError, "grouped already"),
        (lambda: ucd_envs.check(ucd_envs.grouped(ucd_envs.make_rules("hex"), PARITY)), TypeError, "a grouped game"),
    ],
)
def test_bad_groups_are_refused_in_a_sentence(make: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make()


def test_a_move_without_a_group_ends_the_search_with_a_sentence() -> None:
    """Random walks do not come so far to the left, but a search does."""
    state = ucd_envs.make_rules("leftright", steps=16).initial_state()
    planner = uct(playouts=20_000, seed=1, groups=Grouping("far left", 1, late_gap, memory=bytes([14])))
    with pytest.raises(RuntimeError, match="far left leaves a legal move without a group"):
        planner.act(state)
