"""Matches: the same games on any executor, fair seats, named results, and what happens when one is stopped or fails."""

from __future__ import annotations

import math
import multiprocessing
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ucd_planners
from ucd_envs import registry
from ucd_planners.arena import contest, workers
from ucd_planners.arena.agents import StoppedError
from ucd_planners.arena.match import EXECUTOR_JOBS, Game, Match, MatchResult, Score, play_game, play_match
from ucd_planners.arena.store import Store
from ucd_planners.intervals import mean_interval, wilson
from ucd_planners.notation import planner_from
from ucd_planners.planner import Planner

HEX = {"size": 3}


def hex_match(**changes: Any) -> Match:
    """Twelve games of Hex 3x3 with 20 playouts a move."""
    usual: dict[str, Any] = {"settings": HEX, "budget": {"playouts": 20}, "games": 12, "seed": 5}
    return Match("hex", "ucd(d1=0, d2=1, d3=2)", "uct", **(usual | changes))


def noughts(a: str = "uct", b: str = "uct", playouts: int = 5, games: int = 20, seed: int = 1) -> Match:
    """Quick games of tic-tac-toe."""
    return Match("tic_tac_toe", a, b, budget={"playouts": playouts}, games=games, seed=seed)


def played(result: MatchResult) -> list[tuple[Any, ...]]:
    """All of the games but their times."""
    return [(game.number, game.seat, game.moves, game.payoff, game.playouts) for game in result.games]


@pytest.fixture(scope="module")
def alone() -> list[tuple[Any, ...]]:
    """The games of the usual match, played one after another in this thread."""
    match = hex_match()
    return played(MatchResult(match, [play_game(match, number) for number in range(match.games)]))


# The same games everywhere (B116).


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_games_do_not_depend_on_the_number_of_jobs(jobs: int, alone: list[tuple[Any, ...]]) -> None:
    assert played(play_match(hex_match(), jobs)) == alone


def pool_of(kind: str) -> Executor:
    if kind == "threads":
        return ThreadPoolExecutor(3)
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(kind))


@pytest.mark.parametrize("kind", ["threads", "fork", "spawn"])
def test_games_do_not_depend_on_the_executor(kind: str, alone: list[tuple[Any, ...]]) -> None:
    with pool_of(kind) as executor:
        assert played(play_match(hex_match(), executor=executor)) == alone


def test_games_do_not_depend_on_what_their_thread_played_before(alone: list[tuple[Any, ...]]) -> None:
    """A thread's planners and their memory serve one game after another, of one match and of the next."""
    match = hex_match()
    other = hex_match(settings={"size": 4}, budget={"playouts": 100}, seed=6)
    games = []
    for number in reversed(range(match.games)):
        play_game(other, number)
        games.insert(0, play_game(match, number))
    assert played(MatchResult(match, games)) == alone


def test_games_do_not_depend_on_how_many_there_are(alone: list[tuple[Any, ...]]) -> None:
    assert played(play_match(hex_match(games=4))) == alone[:4]


def test_another_seed_gives_other_games(alone: list[tuple[Any, ...]]) -> None:
    assert [game[2] for game in played(play_match(hex_match(seed=6)))] != [game[2] for game in alone]


def test_the_games_of_a_match_differ_from_one_another() -> None:
    """B116, B118a: no two games have one generator. Hex 5x5 has far more lines than can meet by chance."""
    result = play_match(Match("hex", "uct", "uct", {"size": 5}, {"playouts": 10}, games=60))
    assert result.distinct == 60


# Seats (B118d).


def test_games_come_in_the_order_of_their_numbers() -> None:
    assert [game.number for game in play_match(noughts(), 2).games] == list(range(20))


def test_seats_are_swapped_from_game_to_game() -> None:
    assert [game.seat for game in play_match(noughts(games=6)).games] == [0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize("number", range(4))
def test_the_planner_of_a_seat_makes_the_moves_of_that_seat(number: int) -> None:
    """a has 3 playouts a move, b has 8: their sums tell how many moves each made."""
    game = play_game(noughts("uct(playouts=3)", "uct(playouts=8)"), number)
    first, second = (len(game.moves) + 1) // 2, len(game.moves) // 2
    assert game.playouts == ((3 * first, 8 * second) if game.seat == 0 else (3 * second, 8 * first))


def test_a_payoff_is_that_of_the_seat_of_a() -> None:
    for game in play_match(noughts(games=40)).games:
        state = registry.make_rules("tic_tac_toe").initial_state()
        for move in game.moves:
            state = state.after(move)
        assert state.payoffs()[game.seat] == game.payoff


@pytest.mark.parametrize("games", [3, 99, 1001])
def test_an_odd_number_of_games_is_refused(games: int) -> None:
    with pytest.raises(ValueError, match=rf"\Agames must be an even number, since seats are swapped in pairs, not {games}\Z"):
        noughts(games=games)


# Results (B118a, B118b).


def result_of(*games: tuple[int, float], planned: int = 4) -> MatchResult:
    """A result of games given by the seat of a and a's payoff."""
    each = [Game(i, seat, (i % 2,), (payoff, 1 - payoff), (10, 30), (0.5, 0.25)) for i, (seat, payoff) in enumerate(games)]
    return MatchResult(noughts(games=planned), each)


def counts(score: Score) -> tuple[int | None, ...]:
    """Wins, draws and losses."""
    return score.wins, score.draws, score.losses


def test_wins_draws_and_losses_are_named() -> None:
    """B118b."""
    result = result_of((0, 1.0), (1, 1.0), (0, 0.5), (1, 0.0), (0, 1.0), (1, 0.0))
    assert counts(result.score()) == (3, 1, 2)


def test_a_score_can_be_had_by_seat() -> None:
    result = result_of((0, 1.0), (1, 0.5), (0, 1.0), (1, 0.0))
    assert (result.score(0), result.score(1)) == (Score((1.0, 1.0)), Score((0.5, 0.0)))


def test_a_draw_is_half_a_win() -> None:
    assert Score((1.0, 1.0, 0.5, 0.0)).mean == 0.625


def test_the_interval_of_wins_is_wilsons() -> None:
    assert Score((1.0, 1.0, 0.5, 0.0)).interval == wilson(2.5, 4)


def test_the_standard_error_of_wins_is_that_of_a_share() -> None:
    assert Score((1.0, 1.0, 0.5, 0.0)).standard_error == math.sqrt(0.625 * 0.375 / 4)


def test_fractional_payoffs_are_no_draws() -> None:
    """F2-20: four games at 0.25 have the mean 0.25, and no wins, draws or losses."""
    score = result_of(*[(0, 0.25)] * 4).score()
    assert (score.games, score.mean, score.standard_error, counts(score)) == (4, 0.25, 0.0, (None, None, None))


def test_the_interval_of_fractional_payoffs_is_students() -> None:
    """F2-20: payoffs 1/4 and 3/4 twice have the mean 1/2 and the standard error sqrt(1/12 / 4)."""
    score = Score((0.25, 0.75, 0.25, 0.75))
    assert score.standard_error == pytest.approx(math.sqrt(1 / 48))
    assert score.interval == mean_interval(score.payoffs)


def test_a_mean_without_games_is_no_number() -> None:
    score = result_of().score()
    assert (math.isnan(score.mean), math.isnan(score.standard_error)) == (True, True)


def test_an_interval_without_games_says_nothing() -> None:
    assert result_of().score().interval == (0.0, 1.0)


def test_distinct_games_are_counted_by_their_moves() -> None:
    """B118a. The games of `result_of` have the moves (0,), (1,), (0,)."""
    assert result_of((0, 1.0), (1, 1.0), (0, 0.0)).distinct == 2


@pytest.mark.parametrize(("side", "rate"), [(0, 20.0), (1, 120.0)])
def test_playouts_a_second_are_those_of_a_side(side: int, rate: float) -> None:
    """10 playouts in 0.5 s a game for a, 30 in 0.25 s for b."""
    assert result_of((0, 1.0), (1, 1.0)).playouts_per_second(side) == rate


@pytest.mark.parametrize("text", ["uct", "simple_way"])
def test_equal_planners_score_one_half(text: str) -> None:
    """B118b: 50% +- 5, by as many games in each seat; the standard error of 800 games is at most 1.8%."""
    score = play_match(noughts(text, text, playouts=10, games=800)).score()
    assert 0.45 < score.mean < 0.55


@pytest.mark.parametrize(("a", "b", "winner"), [("uct(playouts=200)", "uct(playouts=2)", 0), ("uct(playouts=2)", "uct", 1)])
def test_many_playouts_win_against_few(a: str, b: str, winner: int) -> None:
    score = play_match(Match("hex", a, b, {"size": 4}, {"playouts": 200}, games=40)).score()
    assert ((score.losses, score.wins)[1 - winner] or 0) > 30


def test_the_first_player_of_hex_on_one_cell_wins() -> None:
    assert [game.payoff for game in play_match(hex_match(settings={"size": 1}, games=2)).games] == [1.0, 0.0]


def test_a_match_can_be_played_by_seconds() -> None:
    result = play_match(Match("tic_tac_toe", "uct", "ucd", budget={"seconds": 0.004}, games=2), jobs=2)
    assert all(min(game.playouts) > 0 for game in result.games)


def test_a_budget_in_the_text_replaces_that_of_the_match() -> None:
    game = play_game(noughts("uct(playouts=3)", "uct(seconds=0.002)", playouts=10**9), 0)
    assert game.playouts[0] == 3 * ((len(game.moves) + 1) // 2)


# What cannot be played.


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"game": "chess"}, "unknown game 'chess'"),
        ({"game": "leftright"}, r"a match of leftright_v0\(steps=300\) needs one planner: a"),
        ({"b": None}, r"a match of hex_v0\(.*\) needs two planners: a and b"),
        ({"a": "ucd(keep=true)"}, "the option keep is now called reuse_graph"),
        ({"a": "no_such_module:x"}, "no_such_module:x cannot be imported"),
        ({"settings": {"size": 0}}, "size must be from 1 to 19"),
        ({"settings": {"komi": 7}}, "hex_v0 has no setting 'komi'"),
        ({"a": "foo"}, "unknown planner 'foo'"),
        ({"b": "uct("}, "planner .* does not parse"),
        ({"b": "uct(c=-1)"}, "c must be a finite number"),
        ({"a": None}, "a planner must be written as text"),
        ({"budget": {}}, "uct has no budget: give it, or the match, playouts or seconds"),
        ({"budget": {"playouts": 1, "seconds": 1}}, "a budget is either playouts or seconds"),
        ({"budget": {"playouts": 0}}, "playouts must be from 1 to"),
        ({"budget": {"seconds": math.nan}}, "seconds must be a finite number above 0"),
        ({"games": 0}, "games must be from 2 to"),
        ({"games": -2}, "games must be from 2 to"),
        ({"games": 2.0}, "games must be a whole number"),
        ({"seed": -1}, "seed must be from 0 to"),
        ({"seed": 2**64}, "seed must be from 0 to"),
        ({"seed": "1"}, "seed must be a whole number"),
    ],
)
def test_what_cannot_be_played_is_refused_before_any_game(changes: dict[str, Any], reason: str) -> None:
    usual: dict[str, Any] = {"game": "hex", "a": "uct", "b": "uct"}
    with pytest.raises((ValueError, TypeError), match=rf"\A{reason}"):
        Match(**(usual | changes))


@pytest.mark.parametrize("jobs", [0, -1, 1025, 1.5, None])
def test_jobs_out_of_range_are_refused(jobs: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="jobs must be"):
        play_match(noughts(), jobs)


# Matches of one planner.


def alone_on_leftright(**changes: Any) -> Match:
    """A quick game of one player."""
    usual: dict[str, Any] = {"settings": {"steps": 6}, "budget": {"playouts": 20}, "games": 3, "seed": 5}
    return Match("leftright", "uct(c=0.3)", None, **(usual | changes))


def test_one_planner_plays_from_the_only_seat() -> None:
    assert [play_game(alone_on_leftright(), number).seat for number in range(3)] == [0, 0, 0]


def test_playouts_of_one_planner_are_counted() -> None:
    """20 playouts for each of 6 steps."""
    game = play_game(alone_on_leftright(), 0)
    assert (game.playouts, len(game.cpu_seconds)) == ((120,), 1)


def test_the_payoff_of_one_planner_is_that_of_its_moves() -> None:
    """0 is a step to the left."""
    game = play_game(alone_on_leftright(budget={"playouts": 2}), 0)
    assert game.payoff == game.moves.count(0) / 6


def test_a_planner_that_looks_ahead_goes_left() -> None:
    assert play_game(alone_on_leftright(budget={"playouts": 1000}), 0).payoff == 1.0


def test_games_of_one_planner_depend_on_seed_and_number_alone() -> None:
    one = alone_on_leftright(settings={"steps": 40}, budget={"playouts": 2})
    lines = [
        play_game(each, number).moves
        for each in (one, alone_on_leftright(settings={"steps": 40}, budget={"playouts": 2}, seed=6))
        for number in (0, 1)
    ]
    assert (len(set(lines)), play_game(one, 1).moves) == (4, lines[1])


def test_a_game_begins_as_a_planner_with_the_seed_of_its_number_does() -> None:
    seed = int(np.random.SeedSequence((5, 0, 0)).generate_state(1, np.uint64)[0])
    state = registry.make_rules("leftright", steps=6).initial_state()
    assert (
        play_game(alone_on_leftright(), 0).moves[0] == planner_from("uct(c=0.3)", playouts=20, seed=seed).search(state).action
    )


def test_each_side_of_a_game_has_the_seed_of_its_own_number() -> None:
    """SeedSequence((5, 1)) and SeedSequence((5, 1, 0)) agree, so side 1, which is b, tells whether the side counts."""
    match = Match("hex", "ucd", "uct", {"size": 5}, {"playouts": 20}, games=12, seed=5)
    seeds = [int(np.random.SeedSequence((5, 1, side)).generate_state(1, np.uint64)[0]) for side in (0, 1)]
    state = registry.make_rules("hex", size=5).initial_state()
    first = planner_from("uct", playouts=20, seed=seeds[1]).search(state).action
    assert first != planner_from("uct", playouts=20, seed=seeds[0]).search(state).action
    assert play_game(match, 1).moves[0] == first


def test_a_thread_has_other_agents_for_another_budget() -> None:
    """And then the first ones again: each match has the games of a fresh thread."""
    matches = [hex_match(budget={"playouts": playouts}) for playouts in (5, 60, 5)]
    expected = []
    for match in matches:
        with ThreadPoolExecutor(1) as fresh:
            expected.append(fresh.submit(play_game, match, 0).result())
    assert [(game.moves, game.playouts) for game in (play_game(match, 0) for match in matches)] == [
        (game.moves, game.playouts) for game in expected
    ]
    assert [sum(game.playouts) for game in expected] == [
        playouts * len(game.moves) for playouts, game in zip((5, 60, 5), expected, strict=True)
    ]


# Players that are no texts, and random ones.


def test_a_planner_is_a_player(tmp_path: Path) -> None:
    """F2-51: it plays as its text does, keeps its seed, and is labelled by its name."""
    planner = ucd_planners.uct(playouts=10, seed=77)
    match = Match("connect_four", planner, "uct", games=4)
    assert match.labels == ("uct", "uct")
    text = Match("connect_four", "uct(playouts=10)", "uct", games=4)
    expected = played(play_match(text))
    assert [played(play_match(match, jobs)) for jobs in (1, 2)] == [expected, expected]
    assert planner.seed == 77
    with Store(tmp_path / "games.sqlite") as store:
        sentence = r"\Aa match of <uct: UCD\(.*\.\.\. cannot be stored: write the planner as text"
        with pytest.raises(TypeError, match=sentence):
            play_match(match, store=store)


def test_a_planner_without_a_budget_has_that_of_the_match() -> None:
    game = play_game(Match("tic_tac_toe", ucd_planners.uct(), "random", budget={"playouts": 7}, games=2), 0)
    assert game.playouts == (7 * ((len(game.moves) + 1) // 2), 0)
    with pytest.raises(ValueError, match=r"\Auct has no budget: give it, or the match, playouts or seconds\Z"):
        Match("tic_tac_toe", ucd_planners.uct(), "random", budget={}, games=2)


def test_a_planner_that_cannot_play_the_game_is_refused() -> None:
    expert = planner_from("uct(policies=go_expert)", playouts=5)
    with pytest.raises(ValueError, match="go"):
        Match("hex", expert, "uct")


def test_agents_of_planners_that_travel_are_not_heaped_up() -> None:
    """Each batch of a process brings another copy of the planner; a thread keeps the agents of one match."""
    opened: list[Any] = []
    contest.open_into(opened)
    for _ in range(3):
        play_game(Match("tic_tac_toe", ucd_planners.uct(playouts=2), "random", games=2), 0)
    contest.open_into([])
    assert len(opened) == 2


def test_a_random_player_makes_every_move_equally_often() -> None:
    """F2-51: 900 first moves of 9; a count has the standard deviation sqrt(900 * 1/9 * 8/9) = 9.4."""
    games = play_match(Match("tic_tac_toe", "random", "random", games=900, seed=1)).games
    counts = np.bincount([game.moves[0] for game in games], minlength=9)
    assert (len(counts), counts.min() > 60, counts.max() < 140) == (9, True, True)


def test_a_random_player_plays_alone_and_is_stopped() -> None:
    match = Match("leftright", "random", settings={"steps": 6}, games=3)
    assert play_game(match, 0).playouts == (0,)
    stop = threading.Event()
    stop.set()
    with pytest.raises(StoppedError):
        play_game(match, 0, stop)


@pytest.mark.parametrize(
    ("text", "reason"),
    [("random(c=1)", "random has no parameter 'c': it takes none"), ("random(", "planner 'random\\(' does not parse")],
)
def test_a_random_player_has_no_parameters(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=rf"\A{reason}"):
        Match("hex", text, "uct")


def test_an_odd_number_of_games_of_one_planner_is_fine() -> None:
    assert alone_on_leftright(games=1).games == 1


def test_one_planner_has_a_mean_payoff() -> None:
    result = play_match(alone_on_leftright(budget={"playouts": 2}, games=5))
    assert result.score().payoffs == tuple(game.moves.count(0) / 6 for game in result.games)


def test_the_clock_on_the_wall_runs_while_planners_think() -> None:
    game = play_game(noughts("uct(seconds=0.01)", "uct(seconds=0.01)"), 0)
    assert game.seconds >= 0.01 * len(game.moves)


def test_a_stopped_game_is_no_game() -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(StoppedError):
        play_game(alone_on_leftright(), 0, stop)


# Progress, the caller's executor, failures and Ctrl-C.


def test_progress_is_told_of_every_game_once() -> None:
    told: list[Game] = []
    result = play_match(noughts(), 2, progress=told.append)
    assert sorted(told, key=lambda game: game.number) == result.games


def test_progress_is_told_in_the_callers_thread() -> None:
    threads = set()
    play_match(noughts(), 2, progress=lambda game: threads.add(threading.current_thread()))
    assert threads == {threading.current_thread()}


def test_the_callers_executor_stays_open() -> None:
    with ThreadPoolExecutor(1) as executor:
        play_match(noughts(games=2), executor=executor)
        assert executor.submit(int, "7").result() == 7


def broken(match: Match) -> Match:
    """A match that no worker can play, since it was changed behind its back."""
    object.__setattr__(match, "b", "foo")
    return match


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_exception_in_a_game_is_raised(jobs: int) -> None:
    """B118h: a game that failed is no result."""
    with pytest.raises(ValueError, match=r"\Aunknown planner 'foo'"):
        play_match(broken(noughts(games=1000)), jobs)


def test_an_exception_in_a_search_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def search(self: Planner, env: Any, **given: Any) -> Any:
        raise OSError("the disk is gone")

    monkeypatch.setattr(Planner, "search", search)
    with pytest.raises(OSError, match=r"\Athe disk is gone\Z"):
        play_match(noughts())


def test_an_exception_of_progress_is_raised() -> None:
    def stumble(game: Game) -> None:
        raise OSError("the disk is full")

    with pytest.raises(OSError, match=r"\Athe disk is full\Z"):
        play_match(noughts(games=1000), 2, progress=stumble)


def test_an_exception_leaves_the_callers_executor_usable() -> None:
    with ThreadPoolExecutor(2) as executor:
        with pytest.raises(ValueError, match="unknown planner 'foo'"):
            play_match(broken(noughts(games=1000)), executor=executor)
        assert executor.submit(int, "7").result() == 7


def interrupt_after(games: int) -> Callable[[Game], None]:
    """A progress that does as Ctrl-C does when so many games have been played."""
    told: list[Game] = []

    def progress(game: Game) -> None:
        told.append(game)
        if len(told) == games:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_leaves_the_games_played_so_far(jobs: int) -> None:
    """All that progress has seen, and others of the batches under way."""
    assert 7 <= len(play_match(noughts(games=10**5), jobs, progress=interrupt_after(7)).games) < 10**5


def test_ctrl_c_takes_the_waiting_games_off_the_callers_executor(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []

    def play(match: Match, number: int, stop: Any) -> Game:
        begun.append(number)
        return play_game(match, number)

    monkeypatch.setattr(contest, "play_game", play)
    with ThreadPoolExecutor(1) as executor:
        play_match(noughts(games=1000), executor=executor, progress=interrupt_after(3))
    assert len(begun) < 500


def test_ctrl_c_in_a_search_stops_the_match(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search in the main thread of another process takes Ctrl-C for itself and says so."""
    search = Planner.search

    def interrupted(self: Planner, env: Any, **given: Any) -> Any:
        result = search(self, env, **given)
        object.__setattr__(result, "stopped", "interrupt")
        return result

    monkeypatch.setattr(Planner, "search", interrupted)
    assert play_match(noughts()).games == []


class Counting(Executor):
    """Runs nothing; every batch has ended as soon as it is submitted."""

    def __init__(self) -> None:
        self.submitted = 0

    def submit(self, run: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result([Game(number, number % 2, (), (0.5, 0.5), (1, 1), (1.0, 1.0), 1.0) for number in arguments[1]])
        self.submitted += 1
        return future


def test_a_long_match_is_submitted_as_it_goes() -> None:
    executor = Counting()
    play_match(noughts(games=10**9), executor=executor, progress=interrupt_after(5))
    assert executor.submitted <= workers.AHEAD * EXECUTOR_JOBS + 5


def test_a_match_longer_than_its_batches_is_played_to_its_end() -> None:
    assert [game.number for game in play_match(noughts(games=1000), executor=Counting()).games] == list(range(1000))


def test_the_search_is_compiled_before_its_first_clock_starts(tmp_path: Path) -> None:
    """B118f: compiling takes seconds, and would be counted as the time of the first search."""
    program = """
from ucd_planners.search import loop as search
from ucd_planners.arena.match import Match, play_game
from ucd_planners.planner import Worker
run = Worker.run
def first(self, began):
    print(len(search.run.overloads))
    run(self, began)
Worker.run = first
play_game(Match("tic_tac_toe", "uct", "uct", budget={"playouts": 1}), 0)
"""
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert shown.stdout.split()[0] == "1"
