"""The playable actions of a player in a simulation, kept up to date from one move to the next.

To list them at every move is the largest part of a policy's time. Where playable actions only become fewer (`Rules.shrinking`)
they are listed once in a simulation for each player. From then on moves take their actions away. What else has become
unplayable is found when it is chosen: a policy asks the game, and takes it away too. In other games they are listed at
every move.
"""

from __future__ import annotations

import numpy as np

from ucd_envs.kernels import action_of_move, kernel
from ucd_planners.search.sim import action_list, trace

OUT, IN = np.float32(0), np.float32(1)


@kernel()
def update(playout_actions, config, state, graph, sim, m, seen, playable, player):
    """Brings the playable actions of a player up to date.

    m: a record with `shrinking`, and `simulation`, in which they were listed, -1 for none; seen: [players] int64, the moves of
    it that are taken away, -1 where none are listed; playable: [players, any] float32, IN for each playable action.
    """
    length, known = sim.traced.length, playable[player]
    if m.simulation != graph.playouts or not m.shrinking:
        m.simulation = graph.playouts
        for other in range(np.uint64(seen.size)):
            seen[other] = -1
    if seen[player] < 0:
        for action in range(np.uint64(known.size)):
            known[action] = OUT
        actions = action_list(sim)
        for i in range(np.uint64(playout_actions(config, state, actions))):
            known[np.uint64(actions[i])] = IN
    else:
        moves = trace(sim)
        for i in range(np.uint64(seen[player]), np.uint64(length)):
            known[np.uint64(action_of_move(moves[i]))] = OUT
    seen[player] = length
