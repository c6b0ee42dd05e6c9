"""Programs that speak GTP as opponents: what they are told, what becomes of a game when they fail, and that none stays on."""

from __future__ import annotations

import gc
import json
import math
import re
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from gtp_fake import PATIENCE, SILENCE, Fake, alive, gone

from ucd_envs import registry
from ucd_envs.formats import sgf
from ucd_planners import cli
from ucd_planners.arena.agents import GTPAgent, PlannerAgent, StoppedError, agent_from
from ucd_planners.arena.match import Game, Match, play_game, play_match
from ucd_planners.arena.schedule import play_matches
from ucd_planners.arena.store import Store
from ucd_planners.grammar import parse
from ucd_planners.gtp import client
from ucd_planners.gtp.client import Program, ProgramError, RefusalError
from ucd_planners.notation import planner_from

# One program.


def test_a_question_has_its_answer(tmp_path: Path) -> None:
    program = Fake(tmp_path).program()
    assert not program.running
    assert [program.ask(line, PATIENCE) for line in ("boardsize 3", "genmove b", "genmove w")] == ["", "a1", "b1"]
    program.close()
    assert not program.running


def test_one_process_answers_all_questions(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    program = fake.program()
    for _ in range(3):
        program.ask("name", PATIENCE)
    assert len(fake.pids()) == 1
    program.close(PATIENCE)
    assert fake.told()[-1] == "quit"
    assert not alive(fake.pids()[0])
    program.ask("name", PATIENCE)
    assert len(fake.pids()) == 2
    program.close()


def test_an_answer_may_have_many_lines(tmp_path: Path) -> None:
    program = Fake(
        tmp_path, "if command == 'showboard': print('=\\n\\r x o\\n o x\\n'); sys.stdout.flush(); continue"
    ).program()
    assert program.ask("showboard", PATIENCE) == "x o\no x"
    program.close()


def test_a_refusal_leaves_the_program_running(tmp_path: Path) -> None:
    program = Fake(tmp_path, "if command == 'komi': answer('syntax error', '?'); continue").program()
    with pytest.raises(RefusalError, match=r"\Arefuses 'komi x': syntax error\Z"):
        program.ask("komi x", PATIENCE)
    assert program.ask("name", PATIENCE) == ""
    assert program.running
    program.close()


FAILURES = {
    "garbage": ("print('hello')\nsys.stdout.flush()", "answers 'name' with 'hello', which is no GTP"),
    "hang": (SILENCE, "has not answered 'name' within 600 s"),
    "half": (f"print('= x')\nsys.stdout.flush()\n{SILENCE}", "has not answered 'name' within 600 s"),
    "death": ("print('no licence', file=sys.stderr)\nsys.exit(3)", "has ended with status 3: no licence"),
    "quiet death": ("sys.exit(0)", "has ended with status 0"),
    "closed": ("os.close(1)\ntime.sleep(600)", "has closed its output"),
    "endless": ("while True: print('= x')", "answers 'name' with more than 10,000 lines"),
    "one line": ("while True: print('= x', end='')", "answers 'name' with a line of more than 65,536 bytes"),
    "a long line": ("print('= ' + 'x' * 65535)\nsys.stdout.flush()", "answers 'name' with a line of more than 65,536 bytes"),
    "long lines": ("while True: print('= ' + 'x' * 60000)", "answers 'name' with more than 1,048,576 bytes"),
    "last words": ("sys.stderr.write('warming\\nno licence')\nsys.exit(3)", "has ended with status 3: no licence"),
}


@pytest.mark.parametrize("kind", FAILURES)
def test_a_program_that_misbehaves_is_ended_and_told_of(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each for a reason of its own. One that has closed its output, and does not end, is waited for but briefly."""
    each, reason = FAILURES[kind]
    fake = Fake(tmp_path, each)
    program = fake.program()
    monkeypatch.setattr(client, "GRACE", 0.1 if kind == "closed" else PATIENCE)
    monkeypatch.setattr(client, "time", fake)
    with pytest.raises(ProgramError) as error:
        program.ask("name", PATIENCE)
    assert str(error.value) == reason
    assert not program.running
    assert gone(fake.pids()[0])


def test_complaints_of_a_program_never_block_it(tmp_path: Path) -> None:
    program = Fake(tmp_path, start="sys.stderr.write('x' * 2**20 + '\\n' * 2**16)").program()
    assert program.ask("name", PATIENCE) == ""
    program.close()


def test_a_program_that_does_not_read_blocks_nobody(tmp_path: Path) -> None:
    program = Fake(tmp_path, start="time.sleep(600)").program()
    with pytest.raises(ProgramError, match=r"\Adoes not read what it is told\Z"):
        program.ask("x" * 2**21, PATIENCE)
    assert not program.running


def test_a_program_that_will_not_quit_is_killed(tmp_path: Path) -> None:
    """It ignores the word, the end of its input and the usual signal."""
    ignoring = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)"
    fake = Fake(tmp_path, "if command == 'quit': time.sleep(600)", ignoring)
    program = fake.program()
    program.ask("name", PATIENCE)
    program.close(0.1)
    assert not alive(fake.pids()[0])


@pytest.mark.parametrize("grace", [0.0, 2.0])
def test_what_a_program_has_started_ends_with_it(grace: float, tmp_path: Path) -> None:
    child = "import subprocess\nprint('pid', subprocess.Popen(['sleep', '600']).pid, file=log)"
    fake = Fake(tmp_path, start=child)
    program = fake.program()
    program.ask("name", PATIENCE)
    program.close(grace)
    assert [gone(pid) for pid in fake.pids()] == [True, True]


def test_a_program_that_is_forgotten_is_ended(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    program = fake.program()
    program.ask("name", PATIENCE)
    del program
    gc.collect()
    assert gone(fake.pids()[0])


def test_what_is_raised_meanwhile_ends_the_program(tmp_path: Path) -> None:
    fake = Fake(tmp_path, "time.sleep(600)")
    program = fake.program()

    def impatient() -> None:
        if fake.pids():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        program.ask("name", PATIENCE, impatient)
    assert gone(fake.pids()[0])


def test_programs_are_looked_for_where_games_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "GAMES_FOLDER", str(tmp_path))
    path = tmp_path / "some-game"
    path.write_text("#!/bin/sh\nread line; printf '= found\\n\\n'; read line\n")
    with pytest.raises(ValueError, match="some-game"):
        Program("some-game")
    path.chmod(0o755)
    program = Program("some-game --fast")
    assert program.words == [str(path), "--fast"]
    assert program.ask("name", PATIENCE) == "found"
    program.close()


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("", "the command of a GTP program is empty"),
        ("  ", "the command of a GTP program is empty"),
        ("cat 'x", 'the command "cat \'x" cannot be read: No closing quotation'),
        ("no-such-program --mode gtp", "the program 'no-such-program' is not there, neither on the PATH nor in /usr/games"),
        ("/tmp", "'/tmp' is there, but is no program that can be run"),
    ],
)
def test_a_command_that_names_no_program_is_refused(command: str, reason: str) -> None:
    with pytest.raises(ValueError, match=rf"\A{re.escape(reason)}"):
        Program(command)


def test_a_file_that_cannot_run_is_told_of(tmp_path: Path) -> None:
    path = tmp_path / "program"
    path.write_bytes(b"\x7fELF")
    path.chmod(0o755)
    with pytest.raises(ProgramError, match=r"\Acannot be started: "):
        Program(str(path)).ask("name", PATIENCE)


# As text.


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('gtp("gnugo --mode gtp")', {"command": "gnugo --mode gtp"}),
        ("gtp('gnugo')", {"command": "gnugo"}),
        (' gtp ( "a, b=(1)" , timeout = 5 ) ', {"command": "a, b=(1)", "timeout": 5}),
        ("gtp(\"sh -c 'cat'\", timeout=0.5)", {"command": "sh -c 'cat'", "timeout": 0.5}),
        ('gtp("")', {"command": ""}),
    ],
)
def test_a_program_is_written_with_its_command_line(text: str, written: dict[str, Any]) -> None:
    assert parse(text) == ("gtp", written)


UNPARSABLE = """
gtp | gtp() | gtp(timeout=5) | gtp(command='x') | gtp(gnugo) | gtp('x' | gtp('x',) | gtp('x' 'y') | gtp('x', 'y') | gtp(3) |
gtp(timeout=5, 'x') | gtp('x', timeout) | gtp 'x' | uct('x') | gtp('x').y | GTP('x') | gtp(f'x') | gtp("x') | gtp('x')('y')
"""


@pytest.mark.parametrize("text", [text.strip() for text in UNPARSABLE.split("|")])
def test_anything_else_does_not_parse(text: str) -> None:
    with pytest.raises(ValueError, match="does not parse"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("gtp('cat', playouts=3)", "gtp has no parameter 'playouts': expected one of command, timeout"),
        ("gtp('cat', timeout=0)", "timeout must be a finite number of seconds above 0, not 0"),
        ("gtp('cat', timeout=inf)", "timeout must be a finite number of seconds above 0, not inf"),
        ("gtp('cat', timeout=soon)", "timeout must be a number, not 'soon'"),
        ("gtp('cat', timeout=1, timeout=2)", "planner .* has the parameter 'timeout' twice"),
        ("gtp('cat', command='dog')", "planner .* has the parameter 'command' twice"),
    ],
)
def test_parameters_that_cannot_be_are_refused(text: str, reason: str) -> None:
    with pytest.raises((ValueError, TypeError), match=rf"\A{reason}"):
        agent_from(text, {"playouts": 10})


def test_agents_are_planners_or_programs() -> None:
    agents = [agent_from(text, {"playouts": 7}) for text in ("uct(c=0.5)", "gtp('cat')", "gtp('cat', timeout=5)")]
    assert [type(agent) for agent in agents] == [PlannerAgent, GTPAgent, GTPAgent]
    assert isinstance(agents[0], PlannerAgent)
    assert agents[0].planner.playouts == 7
    assert [agent.timeout for agent in agents[1:] if isinstance(agent, GTPAgent)] == [60.0, 5.0]


def test_a_program_is_no_planner() -> None:
    with pytest.raises(ValueError, match=r"\Agtp is a program that plays in matches, not a planner"):
        planner_from("gtp('cat')", playouts=3)


# What a program is told.


def hex_match(b: str, **changes: Any) -> Match:
    """Four games of Hex 3x3."""
    usual: dict[str, Any] = {"settings": {"size": 3}, "budget": {"playouts": 10}, "games": 4, "seed": 5}
    return Match("hex", "uct", b, **(usual | changes))


def told_in(tmp_path: Path, match: Callable[[str], Match], number: int, each: str = "") -> tuple[Game, list[str]]:
    """A game, and what the program was told in it."""
    fake = Fake(tmp_path, each)
    return play_game(match(fake.text), number), fake.told()


def test_a_program_is_told_of_board_and_moves(tmp_path: Path) -> None:
    game, told = told_in(tmp_path, hex_match, 0)
    names = [registry.make_rules("hex", size=3).initial_state().action_name(move) for move in game.moves]
    known = names[:-1] if len(names) % 2 else names  # of a last move of the planner's nobody is told
    assert told == ["boardsize 3", "clear_board"] + [line for name in known[::2] for line in (f"play b {name}", "genmove w")]


def test_a_program_may_have_the_first_seat(tmp_path: Path) -> None:
    game, told = told_in(tmp_path, hex_match, 1)
    assert told[:3] == ["boardsize 3", "clear_board", "genmove b"]
    assert told[3] == f"play w {registry.make_rules('hex', size=3).initial_state().action_name(game.moves[1])}"
    assert game.moves[0] == 0


def test_a_program_is_told_of_stones_before_the_start(tmp_path: Path) -> None:
    _, told = told_in(tmp_path, lambda text: hex_match(text, settings={"size": 3, "opening": "b2 a1 c3"}), 0)
    assert told[:6] == ["boardsize 3", "clear_board", "play b b2", "play w a1", "play b c3", "genmove w"]


def test_a_program_is_told_of_columns_and_rows(tmp_path: Path) -> None:
    _, told = told_in(tmp_path, lambda text: hex_match(text, settings={"rows": 2, "columns": 4}), 0)
    assert told[0] == "boardsize 4 2"


def go_match(text: str, **settings: Any) -> Match:
    return Match("go", "uct", text, settings, {"playouts": 300}, games=2)


def test_a_program_is_told_of_komi_and_handicap(tmp_path: Path) -> None:
    """It gives up at once."""
    match = partial(go_match, size=9, handicap=2, white="E5")
    _, told = told_in(tmp_path, match, 0, "if command == 'genmove': answer('resign'); continue")
    assert told == ["boardsize 9", "clear_board", "komi 7.5", "play b C3", "play b G7", "play w E5", "genmove w"]


def test_passes_are_moves(tmp_path: Path) -> None:
    """B025: the program passes always; the planner has a stone, owns the board, and passes in the end as well."""
    match = partial(go_match, size=3, komi=0.5)
    game, told = told_in(tmp_path, match, 0, "if command == 'genmove': answer('PASS'); continue")
    assert set(game.moves[1::2]) == {9}
    assert (game.payoff, game.failure) == (1.0, "")
    assert told.count("genmove w") == len(game.moves[1::2])


def test_a_program_is_told_of_passes(tmp_path: Path) -> None:
    """Black has two eyes and the rest of the board, so that White can but pass."""
    match = partial(go_match, size=3, black="B1 A2 B2 C2 A3 B3 C3", first="white")
    _, told = told_in(tmp_path, match, 1, "if command == 'genmove': answer('resign'); continue")
    assert told[-2:] == ["play w pass", "genmove b"]


# Results.


def test_a_program_has_no_playouts(tmp_path: Path) -> None:
    game = play_game(hex_match(Fake(tmp_path).text), 0)
    assert (game.playouts[1], game.cpu_seconds[1], game.playouts[0]) == (0, 0.0, 10 * ((len(game.moves) + 1) // 2))


def test_one_process_serves_all_games(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    result = play_match(hex_match(fake.text))
    assert (len(result.games), result.failures, len(fake.pids())) == (4, [], 1)
    assert fake.told().count("clear_board") == 4


def test_no_process_is_left_after_a_match(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    play_match(hex_match(fake.text), jobs=2)
    assert fake.pids()
    assert [alive(pid) for pid in fake.pids()] == [False] * len(fake.pids())


@pytest.mark.parametrize(("number", "payoff"), [(0, 1.0), (1, 1.0)])
def test_who_resigns_has_lost(number: int, payoff: float, tmp_path: Path) -> None:
    game = play_game(hex_match(Fake(tmp_path, "if command == 'genmove': answer('Resign'); continue").text), number)
    assert (game.payoff, game.failure, len(game.moves)) == (payoff, "", 1 - number)


def test_a_planner_can_lose_to_a_program(tmp_path: Path) -> None:
    """The first stone on a board of one cell wins."""
    game = play_game(hex_match(Fake(tmp_path).text, settings={"rows": 1, "columns": 1}), 1)
    assert (game.payoff, game.moves) == (0.0, (0,))


REASONS = {
    "a dead program": ("sys.exit(3)", r"b has ended with status 3"),
    "garbage": ("print('hello', flush=True)", r"b answers 'genmove .' with 'hello', which is no GTP"),
    "no move": ("answer('z99')\ncontinue", r"b answers genmove with 'z99', which is no move"),
    "an illegal move": ("answer(min(taken))\ncontinue", r"b plays [abc][123], which is not legal: the cell is taken"),
    "a refusal": ("answer('do not want', '?')\ncontinue", r"b refuses 'genmove .': do not want"),
    "silence": (SILENCE, r"b has not answered 'genmove .' within 600 s"),
}


def in_second_game(each: str) -> str:
    """What a fake does at its second genmove of its second game."""
    return f"if command == 'genmove' and games == 2 and len(taken) > 1:\n  {each.replace(chr(10), chr(10) + '  ')}"


@pytest.mark.parametrize("kind", REASONS)
def test_a_failed_game_counts_for_nobody(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B118h: a process fails in its second game, and a new one goes on."""
    each, reason = REASONS[kind]
    fake = Fake(tmp_path, in_second_game(each))
    monkeypatch.setattr(client, "time", fake)
    told: list[Game] = []
    result = play_match(hex_match(fake.text, games=6), progress=told.append)
    assert [game.number for game in result.failures] == [1, 3, 5]
    assert [game.number for game in result.games] == [0, 2, 4]
    assert [game.number for game in told] == list(range(6))
    assert all(re.fullmatch(reason, game.failure) for game in result.failures), result.failures
    assert all(math.isnan(game.payoff) for game in result.failures)
    assert result.score().games == 3
    assert len(fake.pids()) == 3


def test_a_program_that_does_not_start_fails_every_game(tmp_path: Path) -> None:
    result = play_match(hex_match(Fake(tmp_path, start="sys.exit('no display')").text))
    assert {game.failure for game in result.failures} == {"b has ended with status 1: no display"}
    assert (len(result.failures), result.games, [game.moves for game in result.failures]) == (4, [], [()] * 4)


def test_a_program_that_refuses_the_board_fails_every_game(tmp_path: Path) -> None:
    fake = Fake(tmp_path, "if command == 'boardsize': answer('unacceptable size', '?'); continue")
    result = play_match(hex_match(fake.text))
    assert {game.failure for game in result.failures} == {"b refuses 'boardsize 3': unacceptable size"}


def test_a_stopped_game_does_not_wait_for_a_program(tmp_path: Path) -> None:
    fake = Fake(tmp_path, "time.sleep(600)")

    class Stop:
        """Set once the program has been asked."""

        def is_set(self) -> bool:
            return bool(fake.told())

        def set(self) -> None:
            raise NotImplementedError

    with pytest.raises(StoppedError):
        play_game(hex_match(fake.text), 0, Stop())
    assert gone(fake.pids()[0])


def test_ctrl_c_ends_programs(tmp_path: Path) -> None:
    fake = Fake(tmp_path, "if games == 2: time.sleep(600)")

    def impatient(game: Game) -> None:
        raise KeyboardInterrupt

    result = play_match(hex_match(fake.text), progress=impatient)
    assert (len(result.games), [alive(pid) for pid in fake.pids()]) == (1, [False])


def test_a_solo_is_not_for_programs() -> None:
    with pytest.raises(ValueError, match="a program that speaks GTP plays games of two players, but leftright_v0"):
        Match("leftright", "gtp('cat')")


# Stores.


def test_a_failed_game_is_not_stored(tmp_path: Path) -> None:
    match = hex_match("gtp('cat')")
    good = Game(0, 0, (1,), (1.0, 0.0), (10, 0), (0.1, 0.0))
    with Store(tmp_path / "games.sqlite") as store:
        store.append(match, [good, replace(good, number=1, failure="b has ended")])
        assert (store.games(match), store.missing(match)) == ([good], [1, 2, 3])
    with sqlite3.connect(tmp_path / "games.sqlite") as database:
        assert database.execute("SELECT count(*) FROM games").fetchone() == (1,)
    database.close()


def test_a_schedule_tells_of_failed_games_and_plays_them_anew(tmp_path: Path) -> None:
    marker = tmp_path / "mended"
    fake = Fake(tmp_path, f"if games == 2 and not os.path.exists({str(marker)!r}): sys.exit(1)")
    match = hex_match(fake.text)
    told: list[Game] = []
    with Store(tmp_path / "games.sqlite") as store:
        assert not play_matches([match], store, progress=lambda contest, games: told.extend(games))
        assert sorted(game.number for game in told if game.failure) == store.missing(match) != []
        marker.touch()
        assert play_matches([match], store)
        assert store.missing(match) == []


# Our own engine as the peer.


@pytest.mark.parametrize(
    ("game", "settings"),
    [("hex", {"size": 3, "swap": True}), ("go", {"size": 4, "komi": 0.5}), ("go", {"size": 7, "handicap": 2, "komi": -3})],
    ids=str,
)
def test_our_engine_plays_whole_games(game: str, settings: dict[str, Any]) -> None:
    """Every move is legal on both sides, and the rules agree on the result."""
    swap = " --swap" if "swap" in settings else ""
    engine = f"{sys.executable} -m ucd_planners.cli gtp --game {game}{swap} --planner uct --playouts 40 --resign 0.02 --seed 3"
    result = play_match(Match(game, "uct", f'gtp("{engine}")', settings, {"playouts": 20}, games=4, seed=1))
    assert result.failures == []
    assert len(result.games) == 4
    for played in result.games:
        state = registry.make_rules(game, **settings).initial_state()
        for move in played.moves:
            state = state.after(move)
        assert not state.over or state.payoffs()[played.seat] == played.payoff


# The command.


def command(capsys: pytest.CaptureFixture[str], text: str, *more: str) -> tuple[int, str, str]:
    """Status and what is printed of `ucd match` of Hex 3x3."""
    words = ["match", "--game", "hex", "--size", "3", "--a", "uct", "--b", text, "--playouts", "10", "--games", "4", *more]
    status = cli.main(words)
    shown = capsys.readouterr()
    return status, shown.out, shown.err


def test_a_match_with_a_program_is_a_match(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = command(capsys, Fake(tmp_path).text)
    assert (status, err) == (0, "")
    assert re.search(r"playouts per second of CPU time: a [\d,]+\n\Z", out)
    assert "failed" not in out


def test_failed_games_are_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = command(capsys, Fake(tmp_path, in_second_game("sys.exit(3)")).text)
    assert (status, err) == (1, "")
    assert out.endswith("failed, and counted for nobody: 2 of 4 games\n  2 x b has ended with status 3\n")


def test_failed_games_are_told_of_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = command(capsys, Fake(tmp_path, in_second_game("sys.exit(3)")).text, "--json")
    row = json.loads(out)
    assert (status, row["games"], row["stopped"], row["failed"]) == (1, 2, False, 2)
    assert row["failures"] == {"b has ended with status 3": 2}
    assert row["wins"] + row["draws"] + row["losses"] == 2


def test_a_match_without_a_result_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = command(capsys, Fake(tmp_path, "sys.exit(3)").text)
    assert (status, out) == (1, "")
    assert err == (
        "ucd: no game came to its end\nfailed, and counted for nobody: 4 of 4 games\n  4 x b has ended with status 3\n"
    )


def test_a_missing_program_is_told_before_any_game(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(capsys, "gtp('no-such-program')") == (
        2,
        "",
        "ucd: the program 'no-such-program' is not there, neither on the PATH nor in /usr/games\n",
    )


def test_games_of_a_match_are_written_down(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "a" / "b"
    fake = Fake(tmp_path, in_second_game("sys.exit(3)"))
    command(capsys, fake.text, "--sgf", str(folder), "--seed", "5")
    assert sorted(path.name for path in folder.glob("*.sgf")) == [f"game-000{number}.sgf" for number in (1, 2, 3, 4)]
    for number, path in enumerate(sorted(folder.glob("*.sgf"))):
        record = sgf.load(path, game="hex")
        names = ("uct", fake.text) if number % 2 == 0 else (fake.text, "uct")
        assert record.players == names
        assert record.actions
        assert (record.result == "Void") == (number % 2 == 1)
        comments = [comment for turn, comment in enumerate(record.comments) if names[turn % 2] == "uct"]
        assert all(re.fullmatch(r"uct\nvalue [01]\.\d{3}, 10 playouts", comment) for comment in comments), comments


def test_a_resignation_is_written_down(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command(capsys, Fake(tmp_path, "if command == 'genmove': answer('resign'); continue").text, "--sgf", str(tmp_path))
    assert [sgf.load(path).result for path in sorted(tmp_path.glob("*.sgf"))] == ["B+R", "W+R", "B+R", "W+R"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--game", "tic_tac_toe"], "only Go, NoGo and Hex are written as SGF, not tic_tac_toe_v0"),
        (["--game", "hex", "--size", "3"], "the folder {file}/x cannot be made: Not a directory"),
    ],
)
def test_what_cannot_be_written_down_is_told_before_any_game(
    words: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.touch()
    assert cli.main(["match", *words, "--a", "uct", "--b", "uct", "--games", "2", "--sgf", f"{file}/x"]) == 2
    assert capsys.readouterr() == ("", f"ucd: {sentence.format(file=file)}\n")


def test_a_result_keeps_no_thoughts() -> None:
    told: list[Game] = []
    result = play_match(hex_match("uct"), progress=told.append)
    assert [len(game.thoughts) for game in told] == [len(game.moves) for game in told]
    assert {playouts for game in told for _, playouts in game.thoughts} == {10}
    assert {game.thoughts for game in result.games} == {()}


@pytest.mark.gnugo
def test_twenty_games_of_go_with_gnu_go() -> None:
    """Every game comes to its end by the rules: 20 games on 9x9, no failure."""
    gnugo = 'gtp("gnugo --mode gtp --level 1 --chinese-rules --capture-all-dead")'
    result = play_match(Match("go", "uct(c=0.4)", gnugo, {"size": 9}, {"playouts": 200}, games=20), jobs=2)
    assert (len(result.games), result.failures) == (20, [])
    for game in result.games:
        state = registry.make_rules("go", size=9).initial_state()
        for move in game.moves:
            state = state.after(move)
        assert state.over
        assert game.payoff == state.payoffs()[game.seat]


@pytest.mark.gnugo
def test_gnu_go_plays_with_a_handicap() -> None:
    gnugo = 'gtp("gnugo --mode gtp --level 1 --chinese-rules --capture-all-dead")'
    result = play_match(Match("go", "uct(c=0.4)", gnugo, {"size": 9, "handicap": 4}, {"playouts": 50}, games=2))
    assert (len(result.games), result.failures) == (2, [])
