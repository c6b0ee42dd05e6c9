"""`ucd check "gtp:program"`: which rules of GTP a program keeps, and which fault breaks which rule."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from ucd_envs import registry
from ucd_planners.cli import main
from ucd_planners.gtp import checks
from ucd_planners.gtp.checks import Report, check_program

HEX = {"size": 3}
GOOD = """
import sys
size, taken, known = 3, set(), "{known}".split()
def play(name):
    name = name.lower()
    if len(name) != 2 or name[0] not in "abc" or name[1] not in "123": return "? no such cell"
    if name in taken: return "? taken"
    taken.add(name)
    return "="
def genmove():
    name = next(a + b for a in "abc" for b in "123" if a + b not in taken)
    taken.add(name)
    return "= " + name
def answer(command, words):
    if command == "protocol_version": return "= 2"
    if command in ("name", "version"): return "= fake"
    if command == "list_commands": return "= " + chr(10).join(known)
    if command == "known_command": return "= true" if words[0] in known else "= false"
    if command == "boardsize": return "=" if words[0] == "3" else "? unacceptable size"
    if command == "clear_board": taken.clear(); return "="
    if command == "komi": return "=" if words[0].replace(".", "").isdigit() else "? syntax error"
    if command == "play": return play(words[1]) if words[0] in "bw" else "? syntax error"
    if command == "genmove": return genmove()
    return "=" if command == "quit" else "? unknown command"
for line in sys.stdin:
    words = line.partition("#")[0].split()
    if not words: continue
    number = words.pop(0) if words[0].isdigit() else ""
    told = answer(words[0], words[1:])
    print(told[0] + number + told[1:], end="\\n\\n", flush=True)
    if words[0] == "quit": break
"""
"""A program for Hex 3x3 that keeps all rules, and takes the first empty cell."""
KNOWN = "protocol_version name version known_command list_commands quit boardsize clear_board komi play genmove"

FAULTS = {
    "protocol_version is answered with 2": ('"= 2"', '"= 1"', "answers 'protocol_version' with '1', not '2'"),
    "name and version are answered": ('return "= fake"', 'return "="', "answers 'name' with nothing"),
    "list_commands lists all required commands": ("join(known)", "join(known[:-2])", "does not list play, genmove"),
    "known_command is true for commands, false for others": (
        'else "= false"',
        'else "= true"',
        "answers 'known_command no_such_command' with 'true', not 'false'",
    ),
    "an answer has the number of its command": (
        "told[0] + number",
        "told[0]",
        "answers '42 name' with the number '', not '42'",
    ),
    "an unknown command is refused": ('"? unknown command"', '"="', "takes 'no_such_command'"),
    "blank lines and comments are no commands": (
        "if not words: continue",
        'if not words: print("= empty", end="\\n\\n", flush=True); continue',
        "answers a command behind blank lines and comments with '= empty'",
    ),
    "boardsize takes a size, and refuses an impossible one": ('if words[0] == "3"', "if True", "takes 'boardsize 1000'"),
    "komi takes a number, and refuses a word": ('words[0].replace(".", "").isdigit()', "True", "takes 'komi much'"),
    "play takes legal moves, in large and small letters": ("name = name.lower()", "pass", "refuses 'play w "),
    "play refuses a move that is illegal, and the board stays": ('return "? taken"', 'return "="', "takes 'play w b2'"),
    "play refuses a point off the board and an unknown colour": ('words[0] in "bw"', "True", "takes 'play green b2'"),
    "clear_board empties the board": ("taken.clear(); ", "", "refuses 'play b b2': taken"),
    "genmove answers with legal moves": (
        'for b in "123" if a + b not in taken',
        'for b in "123"',
        "generates a1, which is not legal: the cell is taken",
    ),
    "genmove plays its move": ('    taken.add(name)\n    return "= "', '    return "= "', "takes 'play w a1'"),
    "quit is answered, and ends the process": ('== "quit": break', '== "quit": import time; time.sleep(600)', "still runs"),
    "an answer begins with = or ? and ends with one empty line": (
        'end="\\n\\n"',
        'end="\\n\\n\\n"',
        "more than one empty line ends the answer to 'protocol_version'",
    ),
}
"""For each rule: a piece of the program, what takes its place, and what is then found."""


def program(folder: Path, source: str = GOOD) -> str:
    """The command line of a program."""
    path = folder / "program.py"
    path.write_text(source.replace("{known}", KNOWN))
    return shlex.join([sys.executable, "-S", "-E", str(path)])


def checked(command: str, timeout: float = 60.0) -> Report:
    return check_program(command, registry.make_rules("hex", **HEX), timeout)


def test_a_program_that_keeps_all_rules_passes(tmp_path: Path) -> None:
    report = checked(program(tmp_path))
    assert (report.passed, [finding.fault for finding in report.findings]) == (True, [""] * len(FAULTS))


def test_every_rule_can_be_broken(tmp_path: Path) -> None:
    assert [finding.rule for finding in checked(program(tmp_path)).findings] == list(FAULTS)


@pytest.mark.parametrize("rule", FAULTS)
def test_a_fault_is_found(rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It breaks its own rule. Where others need what it breaks, they break too."""
    monkeypatch.setattr(checks, "ENDING", 0.5)
    piece, instead, fault = FAULTS[rule]
    assert GOOD.count(piece) == 1
    found = {finding.rule: finding.fault for finding in checked(program(tmp_path, GOOD.replace(piece, instead))).findings}
    assert found[rule].startswith(fault), found


def test_a_program_that_crashes_at_once_is_asked_once(tmp_path: Path) -> None:
    first, *others = checked(program(tmp_path, "raise OSError('no board')")).findings
    assert first.fault == "has ended with status 1: OSError: no board"
    assert {other.fault for other in others} == {"was not asked: the program does not answer"}


def test_an_answer_without_an_empty_line_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock stands still until the program has said all that it says."""
    said = tmp_path / "said"
    instead = f'flush=True); import time; time.sleep(0.3); open({str(said)!r}, "w"); time.sleep(600'
    source = GOOD.replace('end="\\n\\n", flush=True', f'end="\\n", {instead}')
    monkeypatch.setattr(checks, "time", SimpleNamespace(monotonic=lambda: 3600.0 * said.exists()))
    first, *others = checked(program(tmp_path, source)).findings
    assert first.fault == "ends its answer to 'protocol_version' with no empty line within 60 s"
    assert {other.fault for other in others} == {"was not asked: the program does not answer"}


def test_a_program_that_dies_breaks_one_rule_and_is_started_anew(tmp_path: Path) -> None:
    dies = GOOD.replace(
        'if command == "komi": return', 'if command == "komi": sys.exit(3) if words == ["much"] else None; return'
    )
    faults = [finding for finding in checked(program(tmp_path, dies)).findings if finding.fault]
    assert [tuple(fault) for fault in faults] == [("komi takes a number, and refuses a word", "has ended with status 3")]


@pytest.mark.parametrize("game", [("go", "--size", "5"), ("hex", "--size", "4"), ("connect_four",)], ids=lambda game: game[0])
def test_our_own_engine_keeps_all_rules(game: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    engine = shlex.join([sys.executable, "-m", "ucd_planners.cli", "gtp", "--game", *game, "--playouts", "20"])
    status = main(["check", f"gtp:{engine}", "--game", *game])
    out = capsys.readouterr().out
    assert status == 0, out
    assert f"{len(FAULTS)} of {len(FAULTS)} rules are kept; the slowest answer, to '" in out


def test_the_command_shows_a_table_and_its_status_tells_of_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = program(tmp_path, GOOD.replace('"? unknown command"', '"="'))
    assert main(["check", f'gtp("{command}", timeout=30)', "--game", "hex", "--size", "3"]) == 1
    out = capsys.readouterr().out
    assert "an unknown command is refused                               no     takes 'no_such_command'" in out
    assert out.splitlines()[-1].startswith(f"{len(FAULTS) - 1} of {len(FAULTS)} rules are kept")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["gtp:no-such-program"], "ucd: the program 'no-such-program' is not there"),
        (["gtp:"], "ucd: the command of a GTP program is empty"),
        (["gtp(command=cat)"], "ucd: planner 'gtp(command=cat)' does not parse: expected a command line"),
        (["gtp:cat", "--game", "pig"], "ucd: GTP is for games of two players without chance, and pig_v0"),
        (["hex", "--game", "go"], "ucd: --game goes with a program"),
    ],
)
def test_what_cannot_be_checked_is_refused_in_one_sentence(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", *words]) == 2
    assert capsys.readouterr().err.startswith(sentence)


@pytest.mark.gnugo
def test_gnu_go_keeps_all_rules() -> None:
    report = check_program("gnugo --mode gtp --level 1", registry.make_rules("go", size=9), 60.0)
    assert report.passed, report
