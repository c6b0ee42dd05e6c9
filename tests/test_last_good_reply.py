"""Last good replies against dictionaries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from simulations import teach
from test_playout_baselines import ALL_GAMES, start_of
from test_policies import Search, Simulation, policy_moves

import ucd_envs
from ucd_envs.foreign.callbacks import rules_without_game
from ucd_envs.rules import State
from ucd_envs.structs import fields
from ucd_planners.playouts.last_good_reply import MEMORY, LastGoodReply, replies_of, replies_to_two_of
from ucd_planners.selection.ucd import UCD


class Replies(dict[tuple[int, tuple[int, ...]], int]):
    """A player's last good reply to one or two moves."""

    def __init__(self, policy: LastGoodReply) -> None:
        self.policy = policy

    def add(self, simulation: Simulation) -> None:
        """Stores what won, and with forgetting deletes what lost."""
        for place, (player, action) in enumerate(simulation.moves):
            for length in range(1, self.policy.length + 1):
                context = player, tuple(action for _, action in simulation.moves[max(place - length, 0) : place])
                if len(context[1]) < length:
                    continue
                if simulation.payoffs[player] > 0.5:
                    self[context] = action
                elif simulation.payoffs[player] < 0.5 and self.policy.forgetting and self.get(context) == action:
                    del self[context]

    def reply(self, simulation: Simulation, place: int) -> tuple[int, int] | None:
        """The reply at a place of a simulation and the number of moves it is a reply to."""
        state = simulation.states[place]
        for length in range(self.policy.length, 0, -1):
            before = tuple(action for _, action in simulation.moves[max(place - length, 0) : place])
            if len(before) == length and self.get((state.player, before)) in policy_moves(state):
                return self[state.player, before], length
        return None


def table(memory: np.ndarray) -> dict[tuple[int, tuple[int, ...]], int]:
    """All replies in a memory."""
    m = fields(memory, MEMORY)
    ones, twos = replies_of.py_func(memory, m), replies_to_two_of.py_func(memory, m)
    found = {(player, (last,)): int(reply) - 1 for (player, last), reply in np.ndenumerate(ones) if reply}
    found.update({(player, (first, last)): int(reply) - 1 for (player, first, last), reply in np.ndenumerate(twos) if reply})
    return found


@pytest.mark.parametrize("policy", [LastGoodReply(), LastGoodReply(forgetting=False), LastGoodReply(length=1)], ids=str)
@pytest.mark.parametrize(("game", "settings"), ALL_GAMES)
def test_replies_are_those_of_a_dictionary(game: str, settings: dict[str, Any], policy: LastGoodReply) -> None:
    """With prob = 1 a playout's move is the reply if there is one that may be played, else any of the random policy."""
    search = Search(start_of(game, settings), UCD(c=0.3, table=False), 1, policies=policy)
    replies, lengths = Replies(policy), []
    for _ in range(300):
        simulation = search.simulation()
        for place in range(simulation.descent, len(simulation.moves)):
            reply = replies.reply(simulation, place)
            assert simulation.moves[place][1] in ([reply[0]] if reply else policy_moves(simulation.states[place]))
            lengths.append(reply[1] if reply else 0)
        replies.add(simulation)
    assert table(search.worker.sim.memories[0]) == replies
    assert set(lengths) == set(range(policy.length + 1))


def test_positions_of_the_playout_may_be_added_too() -> None:
    """Replies are heeded and learned where a simulation's moves all become edges."""
    policy = LastGoodReply()
    search = Search(start_of("havannah", {"base": 3}), UCD(c=0.3, table=False), 1, policies=policy, expand="all")
    replies = Replies(policy)
    for _ in range(200):
        simulation = search.simulation()
        for place in range(simulation.descent, len(simulation.moves)):
            reply = replies.reply(simulation, place)
            assert reply is None or simulation.moves[place][1] == reply[0]
        replies.add(simulation)
    assert table(search.worker.sim.memories[0]) == replies


def tic_tac_toe() -> State:
    """The empty board."""
    return ucd_envs.make_rules("tic_tac_toe").initial_state()


@pytest.mark.parametrize("forgetting", [False, True])
def test_a_reply_that_loses_is_forgotten(forgetting: bool) -> None:
    """Player 1 answers 4 by 0 and wins, then draws, then loses with another answer, then loses with it."""
    rules, policy = tic_tac_toe().rules, LastGoodReply(forgetting=forgetting)
    memory = policy.memory(rules)
    stored = {(1, (4,)): 0}
    teach(rules, policy, memory, [(0, 4), (1, 0)], [0, 1])
    assert table(memory) == stored
    teach(rules, policy, memory, [(0, 4), (1, 0)], [0.5, 0.5])
    assert table(memory) == stored
    teach(rules, policy, memory, [(0, 4), (1, 3)], [1, 0])
    assert table(memory) == stored
    teach(rules, policy, memory, [(0, 4), (1, 0)], [1, 0])
    assert table(memory) == ({} if forgetting else stored)


def test_a_newer_reply_takes_the_place_of_an_older_one() -> None:
    """In one simulation too: of two answers to a pass in a row of them the later stays."""
    rules, policy = ucd_envs.make_rules("go", size=3, komi=1), LastGoodReply()
    memory = policy.memory(rules)
    teach(rules, policy, memory, [(0, 0), (1, 9), (0, 5), (1, 9), (0, 7)], [1, 0])
    assert table(memory) == {(0, (9,)): 7, (0, (0, 9)): 5, (0, (5, 9)): 7}


def test_each_of_three_players_wins_by_its_own_payoff() -> None:
    """Two of them may win, and the move before may be one's own."""
    rules, policy = start_of("three players", {}).rules, LastGoodReply(length=1)
    memory = policy.memory(rules)
    teach(rules, policy, memory, [(0, 1), (1, 2), (1, 3), (2, 4), (0, 5)], [0.75, 0.25, 0.5])
    assert table(memory) == {(0, (4,)): 5}
    teach(rules, policy, memory, [(0, 1), (1, 2), (1, 3), (2, 4), (0, 5)], [0.25, 0.75, 1])
    assert table(memory) == {(1, (1,)): 2, (1, (2,)): 3, (2, (3,)): 4}


def test_replies_stay_over_the_turns_of_a_game() -> None:
    """They are what they were when the next search begins, and none is left for another game."""
    start, policy = start_of("havannah", {"base": 3}), LastGoodReply()
    search, replies = Search(start, UCD(table=False), 1, policies=policy), Replies(policy)
    for _ in range(100):
        replies.add(search.simulation())
    search.begin(start.after(4).after(7))
    assert table(search.worker.sim.memories[0]) == replies
    search.begin(start)
    assert table(search.worker.sim.memories[0]) == {}


def test_replies_to_two_moves_need_memory() -> None:
    """4,000 actions ask for 64 megabytes, 65,535 for 17 gigabytes."""
    assert len(LastGoodReply().memory(rules_without_game("many", 2, 4000, 9))) > 2 * 2 * 4000**2
    with pytest.raises(ValueError, match=r"^replies to two moves need 17179607040 bytes in many.*: length must be 1$"):
        LastGoodReply().memory(rules_without_game("many", 2, 65535, 9))
    assert len(LastGoodReply(length=1).memory(rules_without_game("many", 2, 65535, 9))) < 2**20
