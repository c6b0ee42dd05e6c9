"""Evaluations of leaves: asked for in batches, remembered by key, and written into the graph.

A search that has met a leaf stops with its path in `sim`, and nothing of it in the graph. `ask` answers at once by a compiled
evaluation or from memory, or else writes the position into a row of a batch, where the search waits. `take_row` goes on with
what the row has got: priors of the legal actions, a softmax of logits or weights in proportion, and a value for each player. An
answer that is no evaluation changes nothing. The root is evaluated before its first playout, which is none itself.

Priors P(a) are the first column of `initial_stats`, and the row behind a node's actions holds the value of its position for its
mover. The untried action with the largest prior is always the first untried one, so that a choice looks at no other.
"""

from __future__ import annotations

import math

import numpy as np

from ucd_envs.kernels import HEADER, kernel
from ucd_envs.rng import unit
from ucd_envs.structs import array_at, fields, record
from ucd_planners.search.graph import REAL, SINGLE, WORD, actions, edges, initial_stats, merges, nodes
from ucd_planners.search.growth import hash_of, put_largest_first
from ucd_planners.search.interface import DONE, NEEDS_EVALUATION, NO_ACTIONS, NO_PRIORS, NO_VALUE, TOO_MANY_ACTIONS
from ucd_planners.search.loop import end, expand
from ucd_planners.search.rollout import play_out
from ucd_planners.search.sim import action_list, key, path, payoffs, rng, state

BATCH = record(
    *((name, np.uint64) for name in ("planes", "masks", "movers", "policy", "values", "priors", "powers", "paid")),
    *((name, np.uint64) for name in ("memory", "kept_keys", "kept_rows", "kept_priors", "kept_values")),
    *((name, np.int64) for name in ("rows", "used", "calls", "plane_bytes", "columns", "logits", "signed")),
    *((name, np.int64) for name in ("memory_bytes", "slots")),
    *((name, np.float64) for name in ("mix", "fraction", "alpha")),
)
"""Addresses of a batch of `rows`: positions, legal actions and movers of those that wait, then what an evaluation has answered;
of scratch for one answer; of the parameters of a compiled evaluation; of remembered evaluations. Rows in use, calls that were
answered, bytes of a position, numbers of a value, whether policies are logits and values go from -1 to 1; remembered
evaluations at most, a power of two or 0. The share of a playout in the value of a leaf; the share of noise in the priors of the
root, and its alpha."""
BYTE, SIGNED, INDEX, WHOLE = (np.dtype(kind) for kind in (np.uint8, np.int8, np.int32, np.int64))
TOLERANCE = 1e-5
"""Rounding by which a value may miss its range, into which it is put then."""
WAYS, U1, U2, U32, LOW = 4, np.uint64(1), np.uint64(2), np.uint64(32), np.uint64(0xFFFFFFFF)
"""Places at which an evaluation may be remembered."""
LOG2_E, LN2_HIGH, LN2_LOW = np.float32(1.44269504088896341), np.float32(0.693359375), np.float32(-2.12194440e-4)
C5, C4, C3, C2, C1, C0 = (
    np.float32(c)
    for c in (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)
)
"""Coefficients of Cephes' expf."""
LEAST, ONE, ZERO = np.float32(-87.0), np.float32(1.0), np.float32(0.0)
ROUNDING = np.float32(1.5 * 2**23)
"""A number so large that a sum with it is whole: a way of rounding that compilers make fast."""


@kernel()
def ask(rules, search, graph, sim, call, batch):
    """Gets the evaluation of the position where a simulation waits; returns DONE when the simulation has gone on with it,
    NEEDS_EVALUATION while it waits, in the row of its call or without one where the batch is full, or a fault."""
    status = list_legal(rules, sim)
    if status != DONE:
        return status
    found, position, count = action_list(sim), state(sim), np.int64(sim.action_list.length)
    if search.has_evaluate:
        priors, values = array_at(batch.priors, (rules.actions,), SINGLE), array_at(batch.paid, (rules.players,), REAL)
        memory = array_at(batch.memory, (batch.memory_bytes,), BYTE)
        search.evaluate(rules.config, position, memory, found[:count], priors[:count], values)
        status = proportional(priors, count) if search.has_priors else np.int64(DONE)
        for player in range(rules.players):
            status = status if status != DONE else in_range(values, player)
        return take(rules, search, graph, sim, batch, priors, values) if status == DONE else status
    if batch.slots > 0:
        # A descent to a new position of a graph has written its key.
        if path(sim)[0, sim.path.length] >= 0 or not merges(graph):
            rules.key(rules.config, position, key(sim))
        kept = remembered(rules, sim, batch)
        if kept >= 0:
            priors, values = kept_priors(rules, batch, kept), kept_values(rules, batch, kept)
            return take(rules, search, graph, sim, batch, priors, values)
    if batch.used < batch.rows:
        call.row = row_of(rules, sim, batch)
    return np.int64(NEEDS_EVALUATION)


@kernel()
def list_legal(rules, sim):
    """Lists the legal actions of the position in `sim`, until the answer; returns DONE or a fault."""
    count = np.int64(rules.legal_actions(rules.config, state(sim), action_list(sim)))
    sim.action_list.length = min(max(count, 0), rules.actions)
    if count > rules.actions:
        return np.int64(TOO_MANY_ACTIONS)
    return np.int64(DONE if count > 0 else NO_ACTIONS)


@kernel()
def row_of(rules, sim, batch):
    """Writes the position in `sim`, with its listed actions, into the next row of a batch; returns the row."""
    position, row, found = state(sim), batch.used, action_list(sim)
    batch.used += 1
    mover = np.int64(fields(position, HEADER).player)
    rules.observe(rules.config, position, mover, array_at(batch.planes, (batch.rows, batch.plane_bytes), SIGNED)[row])
    mask = array_at(batch.masks, (batch.rows, rules.actions), SIGNED)[row]
    for action in range(rules.actions):
        mask[action] = np.int8(0)
    for i in range(np.uint64(sim.action_list.length)):
        mask[np.uint64(found[i])] = np.int8(1)
    array_at(batch.movers, (batch.rows,), SIGNED)[row] = mover
    return np.int64(row)


@kernel()
def take_row(rules, search, graph, sim, batch, row):
    """Goes on with the simulation that waits in a row; returns DONE, GROW_MEMORY, or the fault of an answer that is none."""
    found, count = action_list(sim), np.int64(sim.action_list.length)
    priors, values = array_at(batch.priors, (rules.actions,), SINGLE), array_at(batch.paid, (rules.players,), REAL)
    status = np.int64(DONE)
    if search.has_priors:
        policy = array_at(batch.policy, (batch.rows, rules.actions), SINGLE)[row]
        for i in range(np.uint64(count)):
            priors[i] = policy[np.uint64(found[i])]
        status = softmax(priors, count, batch) if batch.logits else proportional(priors, count)
    given, mover = array_at(batch.values, (batch.rows, batch.columns), SINGLE)[row], fields(state(sim), HEADER).player
    for player in range(rules.players):
        # One number is the mover's; of two players the other has the rest of 1.
        own = np.float64(given[player if batch.columns > 1 else 0])
        own = 0.5 + 0.5 * own if batch.signed else own
        values[player] = own if batch.columns > 1 or player == mover else 1.0 - own
        status = status if status != DONE else in_range(values, player)
    if status != DONE:
        return status
    if batch.slots > 0:
        remember(rules, search, sim, batch, priors, values, count)
    return take(rules, search, graph, sim, batch, priors, values)


@kernel()
def take(rules, search, graph, sim, batch, priors, values):
    """Goes on with an evaluation: the root gets its actions, and a leaf ends its simulation. Needs room for both."""
    known, length = np.int64(path(sim)[0, sim.path.length]), sim.path.length
    if known >= 0 and nodes(graph)[known].legal == 0:
        list_with_priors(graph, sim, known, priors, values)
        return np.int64(DONE)  # the simulation that came here begins again
    expand(search, graph, sim)
    leaf = known if known >= 0 else np.int64(edges(graph)[path(sim)[1, length - 1]].target)
    if search.has_priors and nodes(graph)[leaf].legal == 0:
        list_with_priors(graph, sim, leaf, priors, values)
    paid = payoffs(sim)
    if batch.mix > 0.0:
        status = play_out(rules, search, graph, sim)
        if status != DONE:
            return status
    for player in range(rules.players):
        played = batch.mix * paid[player] if batch.mix > 0.0 else 0.0
        paid[player] = played + (1.0 - batch.mix) * values[player]
    return end(search, graph, sim)


@kernel()
def list_with_priors(graph, sim, node, priors, values):
    """Gives a node its legal actions with their priors, the largest first, and the value of its position."""
    found, count, first = action_list(sim), np.int64(sim.action_list.length), graph.actions.length
    listed, given = actions(graph), initial_stats(graph)
    start = np.uint64(first)
    for i in range(np.uint64(count)):
        listed[start + i] = found[i]
    for i in range(np.uint64(count)):
        given[start + i, 0] = priors[i]
    for column in range(1, graph.actions.columns):
        for i in range(np.uint64(count)):
            given[start + i, column] = ZERO  # no visits in flight
    given[first + count, 0] = values[nodes(graph)[node].mover]
    graph.actions.length += count + 1
    nodes(graph)[node].first_action = first
    nodes(graph)[node].legal = count
    put_largest_first(graph, node)


@kernel()
def softmax(weights, count, batch):
    """Turns logits into probabilities; returns DONE, or NO_PRIORS for NaN, infinity, and where all are minus infinity."""
    most, finite = np.float32(-np.inf), True
    for i in range(np.uint64(count)):
        finite = finite and weights[i] < np.inf  # NaN is not
        most = weights[i] if weights[i] > most else most
    if not finite or most == -np.inf:
        return np.int64(NO_PRIORS)
    powers = array_at(batch.powers, (count,), INDEX)
    # e^x = 2^n e^r with |r| <= ln 2 / 2, a polynomial in r, and n in the bits of an exponent.
    for i in range(np.uint64(count)):
        x = weights[i] - most
        x = x if x > LEAST else LEAST
        n = (x * LOG2_E + ROUNDING) - ROUNDING
        r = x - n * LN2_HIGH - n * LN2_LOW
        series = ((((C5 * r + C4) * r + C3) * r + C2) * r + C1) * r + C0
        powers[i] = (np.int32(n) + np.int32(127)) << np.int32(23)
        weights[i] = series * r * r + r + ONE if weights[i] - most > LEAST else ZERO
    scales = array_at(batch.powers, (count,), SINGLE)
    for i in range(np.uint64(count)):
        weights[i] *= scales[i]
    normalise(weights, count)
    return np.int64(DONE)


@kernel()
def proportional(weights, count):
    """Turns weights into probabilities; returns DONE, or NO_PRIORS for NaN, infinity, negative ones, and where all are zero."""
    valid, most = True, ZERO
    for i in range(np.uint64(count)):
        valid = valid and ZERO <= weights[i] < np.inf
        most = weights[i] if weights[i] > most else most
    if not valid or most == ZERO:
        return np.int64(NO_PRIORS)
    normalise(weights, count)
    return np.int64(DONE)


@kernel()
def normalise(weights, count):
    """Divides weights by their sum."""
    # Four sums at a time, in a fixed order, so that the result is the same on every machine.
    a, b, c, d, i = 0.0, 0.0, 0.0, 0.0, np.uint64(0)
    while i + np.uint64(3) < np.uint64(count):
        a, b = a + weights[i], b + weights[i + U1]
        c, d = c + weights[i + U2], d + weights[i + np.uint64(3)]
        i += np.uint64(4)
    while i < np.uint64(count):
        a += weights[i]
        i += U1
    factor = 1.0 / ((a + b) + (c + d))
    for place in range(np.uint64(count)):
        weights[place] = np.float32(weights[place] * factor)


@kernel()
def in_range(values, player):
    """Whether a value lies from 0 to 1, where rounding may have put it outside: returns DONE or NO_VALUE."""
    value = values[player]
    if not -TOLERANCE <= value <= 1.0 + TOLERANCE:
        return np.int64(NO_VALUE)
    values[player] = min(max(value, 0.0), 1.0)
    return np.int64(DONE)


@kernel(inline=True)
def kept_keys(rules, sim, batch):
    """[slots, key_words + 1] uint64: keys of remembered positions, then their plies plus 1 and, in the upper half, the rows of
    their evaluations; 0 there for a free slot."""
    return array_at(batch.kept_keys, (batch.slots, sim.key.room + 1), WORD)


@kernel(inline=True)
def kept_rows(batch):
    """[slots + 1] int64: the slot of each row of evaluations, and the number of evaluations so far. Rows are written one after
    another, which takes less time than writing them where the keys lie, and then the oldest ones again."""
    return array_at(batch.kept_rows, (batch.slots + 1,), WHOLE)


@kernel(inline=True)
def kept_priors(rules, batch, row):
    """[actions] float32: remembered priors, in the order of the list of legal actions."""
    return array_at(batch.kept_priors, (batch.slots, rules.actions), SINGLE)[row]


@kernel(inline=True)
def kept_values(rules, batch, row):
    """[players] float64: a remembered value for each player."""
    return array_at(batch.kept_values, (batch.slots, rules.players), REAL)[row]


@kernel()
def remembered(rules, sim, batch):
    """Returns the row of the evaluation of the position whose key lies in `sim`, or -1."""
    ply, words, table = np.int64(fields(state(sim), HEADER).ply), key(sim), kept_keys(rules, sim, batch)
    home = np.int64(hash_of(key(sim), np.uint64(sim.key.room), ply) & np.uint64(batch.slots - WAYS))
    for slot in range(home, home + WAYS):
        last = table[slot, words.size]
        same = last & LOW == np.uint64(ply + 1)
        for i in range(np.uint64(words.size)):
            same = same and table[slot, i] == words[i]
        if same and kept_rows(batch)[last >> U32] == slot:
            return np.int64(last >> U32)
    return np.int64(-1)


@kernel()
def remember(rules, search, sim, batch, priors, values, count):
    """Remembers an evaluation of the position whose key lies in `sim` since `ask`. Without room the oldest one gives way, and
    also one of those in the places for this key."""
    ply, words = np.int64(fields(state(sim), HEADER).ply), key(sim)
    table, slots = kept_keys(rules, sim, batch), kept_rows(batch)
    mixed = hash_of(key(sim), np.uint64(sim.key.room), ply)
    home, slot = np.int64(mixed & np.uint64(batch.slots - WAYS)), np.int64(-1)
    for place in range(home, home + WAYS):
        slot = np.int64(place) if slot < 0 and table[place, words.size] == 0 else slot
    if slot < 0:  # one whose evaluation was overwritten, or any
        slot = home + np.int64((mixed >> U32) & np.uint64(WAYS - 1))
        for place in range(home, home + WAYS):
            slot = np.int64(place) if slots[table[place, words.size] >> U32] != place else slot
    row = slots[batch.slots] & (batch.slots - 1)
    slots[batch.slots] += 1
    slots[row] = slot
    for i in range(np.uint64(words.size)):
        table[slot, i] = words[i]
    table[slot, words.size] = np.uint64(ply + 1) | (np.uint64(row) << U32)
    for i in range(np.uint64(count if search.has_priors else 0)):
        kept_priors(rules, batch, row)[i] = priors[i]
    for player in range(rules.players):
        kept_values(rules, batch, row)[player] = values[player]


@kernel()
def add_noise(graph, sim, node, fraction, alpha):
    """Mixes a draw of Dirichlet(alpha, ..., alpha) into the priors of a node's actions [Silver et al. 2018]."""
    source, given = nodes(graph)[node], initial_stats(graph)
    first, count, total = np.int64(source.first_action), np.int64(source.legal), 0.0
    start = rng(sim)[0], rng(sim)[1]
    for _ in range(count):
        total += gamma(rng(sim), alpha)
    if total > 0.0:  # a tiny alpha may leave nothing but rounding
        rng(sim)[0], rng(sim)[1] = start  # the same draws again, without room for them
        for i in range(first, first + count):
            given[i, 0] = (1.0 - fraction) * given[i, 0] + fraction * gamma(rng(sim), alpha) / total
        put_largest_first(graph, node)


@kernel()
def gamma(rng, alpha):
    """A draw of the gamma distribution with this shape and scale 1 [Marsaglia and Tsang 2000]."""
    # Below a shape of 1 by one of shape + 1, as they say in section 6.
    shape, power = (alpha, 1.0) if alpha >= 1.0 else (alpha + 1.0, (1.0 - unit(rng)) ** (1.0 / alpha))
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        # A normal draw by Box and Muller; its twin is not used.
        x = math.sqrt(-2.0 * math.log(1.0 - unit(rng))) * math.cos(2.0 * math.pi * unit(rng))
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            if math.log(1.0 - unit(rng)) < 0.5 * x * x + d - d * v + d * math.log(v):
                return d * v * power
