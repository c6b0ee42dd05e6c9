"""The speed of planners and environments, per second of user CPU time on one core, with the peer's in the same run."""

from __future__ import annotations

import importlib
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import types

from ucd_envs import registry
from ucd_envs.envs.aec import BoardEnv
from ucd_envs.kernels import BYTES, WORDS, compiled, kernel
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules
from ucd_envs.structs import fields
from ucd_planners.notation import planner_from
from ucd_planners.planner import Planner
from ucd_planners.search.kernels import bound_rules, rules_at
from ucd_planners.search.sim import SIM, Sim, payoffs, rng, state, trace

GAMES = 200
"""Random games whose steps are timed in each environment of ours; of a peer's, which is slower, a quarter."""
BATCH_SECONDS = 0.4
BATCHES = 3
PEER_PLIES = 5_000_000
"""Largest product of playouts and longest game for which the peer runs. Above it, one search of the peer would take minutes."""
PLAYOUT = "playout"
"""Used in place of a planner: light playouts from the start, without a search."""

DEPTHS = ("1,0,1", "0,0,1", "1,0,0", "0,1,2", "2,1,1", "inf,0,0")
POLICIES = ("bhrf", "'bhrf(choice=last_reply)'", "last_good_reply", "mast", "n_grams", "pool_rave", "go_expert")
"""Playout policies in Go, in the program of [BHRF section 4]: RAVE with an expert's initial statistics."""


@dataclass(frozen=True)
class Case:
    """A planner on a game with a budget."""

    game: str
    planner: str
    playouts: int
    settings: dict[str, Any] = field(default_factory=dict)

    def built(self) -> Planner:
        """Returns the case's planner. Raises ValueError or TypeError for a text that names none with a budget in playouts."""
        planner = planner_from(self.planner, playouts=self.playouts, seed=1)
        if planner.playouts is None:
            raise ValueError(f"a benchmark needs a budget in playouts, but {self.planner!r} has one in seconds")
        return planner


def ucd_text(depths: str) -> str:
    """Returns UCD with three depths in the notation of planners."""
    d1, d2, d3 = depths.split(",")
    return f"ucd(d1={d1},d2={d2},d3={d3},c=0.3)"


def suite() -> list[Case]:
    """Returns the standard cases: every game with playouts, UCT and the simple way; Hex with more depths, Go with RAVE and
    policies and on more boards, Havannah with CMC, NoGo with every way to find a playout's moves."""
    hex_11, hex_5, go_9, havannah_5 = {"size": 11}, {"size": 5}, {"size": 9}, {"base": 5}
    games: list[tuple[str, dict[str, Any]]] = [
        ("hex_v0", hex_11),
        ("hex_v0", hex_5),
        ("go_v0", go_9),
        ("go_v0", {"size": 6, "komi": 5.5}),
        ("havannah_v0", havannah_5),
        ("havannah_v0", {"base": 8}),
        ("connect_four_v0", {}),
        ("tic_tac_toe_v0", {}),
        ("leftright_v0", {}),
        ("p_game_v0", {}),
        ("breakthrough_v0", {}),
        ("merrills_v0", {"tournament": True}),
        ("othello_v0", {}),
        ("pentago_v0", {"after_rotation": True}),
        ("capture_the_king_v0", {}),
        ("crisscross_v0", {}),
        ("knightthrough_v0", {}),
        ("pawn_whopping_v0", {}),
        ("quarto_v0", {}),
        ("nogo_v0", {}),
        ("einstein_v0", {}),
        ("pig_v0", {}),
        ("twenty_forty_eight_v0", {}),
    ]
    cases = []
    for game, settings in games:
        cases.append(Case(game, PLAYOUT, 1, settings))
        cases.append(Case(game, "uct(c=0.3)", 10_000, settings))
        depths = DEPTHS if settings is hex_11 else DEPTHS[:1]
        cases += [Case(game, ucd_text(depth), 10_000, settings) for depth in depths]
    cases += [Case("go_v0", planner, 10_000, go_9) for planner in ("rave", "rave_ucd", "grave")]
    programs = ("", *(f",policies={policy}" for policy in POLICIES))
    cases += [Case("go_v0", f"rave(initial=go_initial{policy})", 10_000, go_9) for policy in programs]
    cases += [Case("go_v0", f"uct(c=0.3,policies={policy})", 10_000, go_9) for policy in POLICIES[:2]]
    cases += [Case("go_v0", PLAYOUT, 1, {"size": size}) for size in (13, 19)]
    cases += [Case("go_v0", planner, 100_000, {"size": 19}) for planner in ("uct(c=0.3)", ucd_text("1,0,1"), "rave_ucd")]
    cases += [Case("havannah_v0", f"cmc(prob={prob},c=0.3)", 10_000, havannah_5) for prob in (0.35, 1)]
    cases.append(Case("havannah_v0", PLAYOUT, 1, {"base": 4}))
    cases += [Case("nogo_v0", PLAYOUT, 1, {"generation": generation}) for generation in ("points", "search")]
    cases.append(Case("hex_v0", "uct(c=0.3)", 1, hex_5))
    cases += [Case("hex_v0", planner, 1_000_000, hex_11) for planner in ("uct(c=0.3)", ucd_text("1,0,1"))]
    return cases


def user_seconds() -> float:
    """Returns user CPU time of this process, or all CPU time where the system does not separate them."""
    try:
        import resource
    except ImportError:
        return time.process_time()
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def cpu_seconds() -> float:
    """Returns user and system CPU time of this process."""
    return time.process_time()


def rate(run: Callable[[], int], clock: Callable[[], float] | None = None) -> float:
    """Returns units a second of a clock: the median of a few batches of calls that return their units; the first is not
    counted."""
    clock = clock or user_seconds
    run()
    rates = []
    for _ in range(BATCHES):
        done, began = 0, clock()
        while (spent := clock() - began) < BATCH_SECONDS or done == 0:
            done += run()
        rates.append(done / spent)
    return statistics.median(rates)


@kernel(types.void(WORDS, BYTES, BYTES, types.int64))
def play_games(rules_words, root, sim_bytes, games):
    """Plays light playouts from one state, each from a fresh copy."""
    rules, sim = rules_at(rules_words), fields(sim_bytes, SIM)
    for _ in range(games):
        position = state(sim)
        for i in range(root.size):
            position[i] = root[i]
        rules.playout(rules.config, position, rng(sim), trace(sim))
        rules.payoffs(rules.config, position, payoffs(sim))


def playout_rate(rules: Rules) -> float:
    """Returns light playouts a second, with reading their payoffs."""
    bound, sim = bound_rules(rules), Sim(rules, False, (), None)
    sim.rng[:] = 1, 2
    root = rules.initial_state().array()
    games = 10_000
    run = compiled(play_games, play_games.seam_signature)

    def batch() -> int:
        run(bound, root, sim.header, games)
        return games

    return rate(batch)


def measure(case: Case, against: str | None = None) -> dict[str, Any]:
    """Returns the row of a case: game, config, planner, playouts a search, playouts_per_s, fresh_per_s, bytes_per_playout.

    playouts_per_s counts user time of a planner whose memory serves search after search, fresh_per_s user and system time of a
    new planner for every search, its memory included. With a peer: its name, its playouts_per_s and our ratio to it, None where
    it has no such game, no search was asked for, or it would take minutes.

    Raises KeyboardInterrupt on Ctrl-C.
    """
    rules = registry.make_rules(case.game, **case.settings)
    row: dict[str, Any] = {"game": rules.name, "config": dict(rules.settings), "planner": case.planner}
    theirs = None
    if case.planner == PLAYOUT:
        row |= {"playouts": 1, "playouts_per_s": round(playout_rate(rules)), "fresh_per_s": None, "bytes_per_playout": None}
    else:
        start, planner = rules.initial_state().settled(seeded(1)), case.built()
        used: list[int] = []

        def run(planner: Planner = planner) -> int:
            result = planner.search(start)
            if result.stopped == "interrupt":
                raise KeyboardInterrupt
            used.append(result.bytes)
            return result.playouts

        ours, playouts = rate(run), planner.playouts or 0
        fresh = rate(lambda: run(case.built()), cpu_seconds)
        row |= {"playouts": playouts, "playouts_per_s": round(ours), "fresh_per_s": round(fresh)}
        row["bytes_per_playout"] = round(max(used) / playouts, 1)
        if against is not None and playouts * rules.max_plies <= PEER_PLIES:
            theirs = openspiel_rate(rules, playouts)
    if against is not None:
        row |= {
            "peer": against,
            "peer_playouts_per_s": None if theirs is None else round(theirs),
            "ratio": None if theirs is None else round(row["playouts_per_s"] / theirs, 2),
        }
    return row


PEERS = {
    "openspiel": ("pyspiel", "ucd-planners[bench]"),
    "pettingzoo": ("pettingzoo.classic.connect_four_v3", "ucd-planners[render]"),
    "gymcts": ("gymcts", "gymcts"),
    "mcts-simple": ("mcts_simple", "mcts-simple"),
    "torch": ("torch", "ucd-planners[torch]"),
    "pgx": ("pgx", "pgx"),
}
"""Other programs: the module to import, and the extra that installs it."""


def find_peer(name: str) -> Any:
    """Returns a peer's module. Raises ImportError that names the extra to install where it is missing."""
    module, package = PEERS[name]
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError(f"the peer {name} is not installed: pip install '{package}'") from None


ALIKE: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("merrills_v0", {"tournament": True}, "nine_mens_morris"),
    ("othello_v0", {"size": 8, "payoff": "win", "start": "crossed"}, "othello"),
    ("pentago_v0", {"after_rotation": True}, "pentago"),
    ("tic_tac_toe_v0", {}, "tic_tac_toe"),
)
"""Games in the settings in which OpenSpiel has an equal one, and its name there."""


def openspiel_name(rules: Rules) -> str | None:
    """Returns the game in OpenSpiel's notation, or None where it has no equal game."""
    settings = rules.settings
    if rules.name == "hex_v0":
        rows, columns = settings["rows"], settings["columns"]
        # The search of OpenSpiel 2.0.2 crashes the process on boards of one row or column.
        alike = not settings["opening"] and not settings["swap"] and min(rows, columns) > 1
        return f"hex(num_rows={rows},num_cols={columns})" if alike else None
    if rules.name == "connect_four_v0":
        return f"connect_four(rows={settings['rows']},columns={settings['columns']},x_in_row={settings['in_a_row']})"
    if rules.name == "go_v0":
        usual = {"rows": settings["columns"], "ko": "simple", "suicide": False, "black": "", "white": "", "first": "black"}
        alike = all(settings[name] == value for name, value in usual.items())
        return f"go(board_size={settings['columns']},komi={settings['komi']})" if alike else None
    if rules.name == "havannah_v0":
        return None if settings["swap"] else f"havannah(board_size={settings['base']})"
    if rules.name == "breakthrough_v0":
        rows, columns = settings["rows"], settings["columns"]
        default = registry.make_rules(rules.name, rows=rows, columns=columns)
        return f"breakthrough(rows={rows},columns={columns})" if rules == default else None
    return next((theirs for name, own, theirs in ALIKE if name == rules.name and own.items() <= settings.items()), None)


def openspiel_rate(rules: Rules, playouts: int) -> float | None:
    """Returns playouts a second of OpenSpiel's C++ MCTSBot with one random rollout a leaf, from the start of the same game,
    or None where it has no such game. Raises ImportError where open_spiel is not installed."""
    pyspiel, name = find_peer("openspiel"), openspiel_name(rules)
    if name is None:
        return None
    game = pyspiel.load_game(name)
    state = game.new_initial_state()
    evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
    bot = pyspiel.MCTSBot(game, evaluator, 1.0, playouts, 4096, False, 1, False)

    def run() -> int:
        bot.step(state)
        return playouts

    return rate(run)


def environment_rows(against: str | None = None) -> Iterator[dict[str, Any]]:
    """Returns a row for every game: raw AEC steps a second over random games, and microseconds of clone_state and
    restore_state together. With "pettingzoo", also the steps a second of its own Connect Four.

    Raises ImportError where PettingZoo's classic games cannot be imported.
    """
    for name in registry.available():
        env = BoardEnv(registry.make_rules(name))
        row: dict[str, Any] = {
            "game": name,
            "config": dict(env.rules.settings),
            "steps_per_s": round(step_rate(env, GAMES)),
            "clone_restore_us": round(1e6 / copy_rate(env), 2),
        }
        if against is not None:
            theirs = None
            if name == "connect_four_v0":
                theirs = step_rate(find_peer("pettingzoo").raw_env(), max(GAMES // 4, 1))
            row |= {
                "peer": against,
                "peer_steps_per_s": None if theirs is None else round(theirs),
                "ratio": None if theirs is None else round(row["steps_per_s"] / theirs, 2),
            }
        yield row


def step_rate(env: Any, games: int) -> float:
    """Returns steps a second of random games. Their moves are chosen beforehand, so that `step` dominates the measurement."""
    rng = np.random.default_rng(1)
    script: list[list[int]] = []
    # Chance must draw the same outcomes when the moves are played again.
    seeds = [game if has_chance(env) else None for game in range(games)]
    for seed in seeds:
        env.reset(seed)
        moves: list[int] = []
        while not any(env.terminations.values()):
            mask = env.observe(env.agent_selection)["action_mask"]
            moves.append(int(rng.choice(np.flatnonzero(mask))))
            env.step(moves[-1])
        script.append(moves)

    def play() -> int:
        for seed, moves in zip(seeds, script, strict=True):
            env.reset(seed)
            for move in moves:
                env.step(move)
        return sum(map(len, script))

    return rate(play)


def has_chance(env: Any) -> bool:
    """Returns whether chance decides some moves of an environment of this package."""
    return isinstance(env, BoardEnv) and env.rules.has_chance


def copy_rate(env: BoardEnv) -> float:
    """Returns the number of times a second that a state is cloned and restored."""
    times = 1000
    env.reset()

    def copy() -> int:
        for _ in range(times):
            env.restore_state(env.clone_state())
        return times

    return rate(copy)
