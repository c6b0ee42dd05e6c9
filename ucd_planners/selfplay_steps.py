"""One step of a game of self-play in compiled code: observe, search, choose a move, note the sample, play.

Games stand at the places of a pool of searches. A GAME is what the steps know of the one at a place, and NOTES are the arrays
that they fill. A game depends on its own generator alone: it draws chance's outcomes and seeds each search, and a search's
generator breaks ties and draws the moves that are sampled.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from ucd_envs.bindings import BYTE
from ucd_envs.kernels import BYTES, CHANCE, FAILED, HEADER, OVER, kernel, move_of
from ucd_envs.rng import below, draw, unit
from ucd_envs.structs import array_at, fields, record
from ucd_planners.search.graph import FINISHED, GRAPH, edges, mean_value, nodes
from ucd_planners.search.interface import DONE
from ucd_planners.search.kernels import rules_at
from ucd_planners.search.pool import (
    CALL,
    CALLS,
    GRAPH_BYTES,
    PLACES,
    RULES_WORDS,
    SIM_BYTES,
    WORD,
    begin_each,
    run_each,
)
from ucd_planners.search.sim import SIM, action_list, rng
from ucd_planners.selection.gumbel import final_action, improve

READY, SEARCHING, FULL, ENDED, BROKEN = range(5)
"""Phases of a game: between two moves, in a search, without room for another move, over, and left by a kernel that breaks its
contract."""
VISITS, MEAN, LOWER_BOUND, GUMBEL = range(4)
"""Final rules, the last one of searches with Gumbel root selection."""
GAME = record(
    ("rng", np.uint64, (2,)),
    ("search_rng", np.uint64, (2,)),
    *((name, np.int64) for name in ("episode", "phase", "plies", "decisions")),
)
"""The generators of a game and of its search under way, its number, its phase, its moves, and those of them by players."""
STYLE = record(
    *((name, np.int64) for name in ("begins", "runs", "noisy", "final_rule", "temperature_plies")),
    *((name, np.float64) for name in ("temperature", "z")),
)
"""`begins`, `runs`: whether searches begin, and run, inside of the steps; `noisy`: whether priors of roots get noise;
`temperature_plies`: those in which a move is drawn in proportion to visits^(1 / temperature), if that is above 0; `z`: of the
lower bound."""

GAMES = types.Array(types.uint8, 2, "C")
NOTES = (
    types.int32[:, ::1],
    types.int8[:, :, ::1],
    types.int8[:, :, ::1],
    types.float32[:, :, ::1],
    types.float32[:, ::1],
    types.float64[:, ::1],
    types.float64[:, :, ::1],
)
"""Moves as `move_of` writes them, [games, rows]; observations [games, rows, entries], masks and policies [games, rows, actions]
and values [games, rows] of decisions; payoffs, [games, players]; scratch, [games, 3, actions]."""
PLAY_EACH = types.int64(CALLS, PLACES, BYTES, GAMES, GAMES, BYTES, types.int64, *NOTES)


@kernel(PLAY_EACH)
def play_each(
    calls, places, batch, games, positions, style_bytes, most, moves, observations, masks, policies, values, payoffs, scratch
):
    """Plays on at these places: up to `most` moves each, or up to the next search where searches run elsewhere.

    batch: a BATCH; games: [places, GAME.itemsize]; positions: [places, state_bytes]; style: a STYLE. Returns how many games
    need Python: their search has stopped early, or they are FULL, ENDED or BROKEN.
    """
    style, waiting = fields(style_bytes, STYLE), np.int64(0)
    for i in range(places.size):
        place = np.uint64(places[i])
        call, game, position = fields(calls[place], CALL), fields(games[place], GAME), positions[place]
        rules = rules_at(array_at(call.rules, (RULES_WORDS,), WORD))
        played, generator = np.int64(0), generator_of(games[place])
        while played < most:
            if game.phase == SEARCHING:
                if style.runs:
                    run_each(calls, places[i : i + 1], batch)
                if call.status != DONE:
                    break
                ply = np.int64(fields(position, HEADER).ply)
                action = decide(call, game, ply, style, policies, values, scratch[place], place)
                moves[place, game.plies] = move_of(fields(position, HEADER).player, action)
                rules.play(rules.config, position, action)
                game.plies += 1
                game.decisions += 1
                game.phase = READY
                played += 1
            game.phase = settle(rules, game, position, generator, moves, place)
            if game.phase != READY:
                if game.phase == ENDED:
                    rules.payoffs(rules.config, position, payoffs[place])
                break
            look(call, rules, game, position, observations, masks, place)
            game.search_rng[0], game.search_rng[1] = draw(generator), draw(generator) | np.uint64(1)  # never all zero
            game.phase, call.status = SEARCHING, DONE
            if style.begins:
                begin(calls, places[i : i + 1], game, position, style.noisy)
            if not style.runs:
                break
        waiting += game.phase != SEARCHING or call.status != DONE
    return waiting


@kernel(inline=True)
def generator_of(game_bytes):
    """Returns the generator of a game, its first field: [2] uint64."""
    return array_at(np.uint64(game_bytes.ctypes.data), (2,), WORD)


@kernel()
def settle(rules, game, position, generator, moves, place):
    """Lets outcomes of chance come until a player is to move; returns READY, or the phase that ends the game's steps."""
    s = fields(position, HEADER)
    while True:
        if s.player == OVER:
            return np.int64(ENDED)
        if s.player <= FAILED or (s.player >= rules.players and s.player != CHANCE):
            return np.int64(BROKEN)
        if game.plies == moves.shape[1]:
            return np.int64(FULL)
        if s.player != CHANCE:
            return np.int64(READY)
        outcome = rules.draw(rules.config, position, generator)
        if outcome < 0 or outcome >= rules.actions:
            return np.int64(BROKEN)
        moves[place, game.plies] = move_of(CHANCE, outcome)
        rules.play(rules.config, position, outcome)
        game.plies += 1


@kernel()
def look(call, rules, game, position, observations, masks, place):
    """Writes the observation of the player to move, and its legal actions."""
    row, sim = np.uint64(game.decisions), fields(array_at(call.sim, (SIM_BYTES,), BYTE), SIM)
    rules.observe(rules.config, position, np.int64(fields(position, HEADER).player), observations[place, row])
    legal, mask = action_list(sim), masks[place, row]
    for action in range(mask.size):
        mask[action] = 0
    count = rules.legal_actions(rules.config, position, legal)
    for i in range(min(count, legal.size)):
        mask[np.uint64(legal[i])] = 1


@kernel()
def begin(calls, place, game, position, noisy):
    """Begins the search at a place from the game's position; place: [1] int64."""
    call = fields(calls[np.uint64(place[0])], CALL)
    root = array_at(call.root, (call.root_bytes,), BYTE)
    call.row, call.noise, call.waiting = -1, noisy, 0
    for i in range(root.size):
        root[i] = position[i]
    generator = rng(fields(array_at(call.sim, (SIM_BYTES,), BYTE), SIM))
    generator[0], generator[1] = game.search_rng[0], game.search_rng[1]
    begin_each(calls, place)


@kernel()
def decide(call, game, ply, style, policies, values, scratch, place):
    """Writes the policy and the mean payoff at the root of a search that is done; returns the move to play.

    The policy is the shares of visits, after Gumbel root selection the improved one.
    """
    graph, row = fields(array_at(call.graph, (GRAPH_BYTES,), BYTE), GRAPH), np.uint64(game.decisions)
    policy, visits, means, wins = policies[place, row], scratch[0], scratch[1], scratch[2]
    for i in range(policy.size):
        visits[i], means[i], wins[i], policy[i] = 0.0, -1.0, 0.0, 0.0
    root, records = nodes(graph)[graph.root], edges(graph)
    first, total, paid = np.int64(root.first_edge), 0.0, 0.0
    for number in range(first, first + np.int64(root.expanded)):
        count, action = np.float64(records[number].visits), np.int64(records[number].action)
        if count == 0.0:
            continue
        mean = mean_value(graph)[number]
        visits[action], means[action] = count, count * mean / count  # rounded as the planner's final choice does
        wins[action] = np.float64(records[number].target == FINISHED and mean >= 1.0)
        total += count
        paid += count * mean
    for i in range(policy.size):
        policy[i] = visits[i] / total
    values[place, row] = paid / total
    generator = rng(fields(array_at(call.sim, (SIM_BYTES,), BYTE), SIM))
    if style.final_rule == GUMBEL:
        improve(graph, wins)
        for i in range(policy.size):
            policy[i] = wins[i]
    if style.temperature > 0.0 and ply < style.temperature_plies:
        return drawn(visits, style.temperature, generator)
    return final_action(graph) if style.final_rule == GUMBEL else final(visits, means, wins, style, generator)


@kernel()
def drawn(visits, temperature, generator):
    """Returns an action drawn in proportion to visits^(1 / temperature), as a planner's choice does."""
    most, whole = 0.0, 0.0
    for action in range(visits.size):
        most = max(most, visits[action])
    for action in range(visits.size):
        whole += weight(visits[action], most, temperature)
    bound, passed, found = whole * unit(generator), 0.0, np.int64(-1)
    for action in range(visits.size):
        # Rounding may leave a little at the end, which goes to the last action with visits.
        if visits[action] > 0.0 and passed <= bound:
            found = np.int64(action)
        passed += weight(visits[action], most, temperature)
    return found


@kernel()
def weight(visits, most, temperature):
    """Returns (visits / most)^(1 / temperature), by logarithms, so that a small temperature does not overflow."""
    return math.exp((math.log(visits) - math.log(most)) / temperature) if visits > 0.0 else 0.0


@kernel()
def final(visits, means, wins, style, generator):
    """Returns the action that the final rule chooses, among those that win at once if there are any; equal ones by lot."""
    won, best, second, ties = 0.0, -1.0, -1.0, np.uint64(0)
    for action in range(visits.size):
        if visits[action] == 0.0:
            continue
        one, other = keys_of(visits[action], means[action], style)
        if is_above(wins[action], one, other, won, best, second):
            won, best, second, ties = wins[action], one, other, np.uint64(0)
        ties += np.uint64(wins[action] == won and one == best and other == second)
    rank = below(generator, ties) if ties > np.uint64(1) else np.uint64(0)
    for action in range(visits.size):
        if visits[action] == 0.0:
            continue
        one, other = keys_of(visits[action], means[action], style)
        if wins[action] == won and one == best and other == second:
            if rank == np.uint64(0):
                return np.int64(action)
            rank -= np.uint64(1)
    return np.int64(-1)  # never reached: a search has a playout, and its root a visit


@kernel()
def is_above(won, one, other, best_won, best, second):
    """Returns whether an action comes before another one, by wins, then the first and the second key."""
    if won != best_won:
        return won > best_won
    return one > best or (one == best and other > second)


@kernel()
def keys_of(visits, mean, style):
    """Returns the two numbers by which the final rule compares actions."""
    if style.final_rule == VISITS:
        return visits, mean
    if style.final_rule == MEAN:
        return mean, visits
    return lower_bound(mean * visits, visits, style.z), visits


@kernel()
def lower_bound(score, games, z):
    """Returns the lower end of Wilson's interval for a share, as `intervals.wilson` does."""
    share = score / games
    middle = (share + z * z / (2 * games)) / (1 + z * z / games)
    reach = z / (1 + z * z / games) * math.sqrt(share * (1 - share) / games + z * z / (4 * games * games))
    return max(0.0, middle - reach)
