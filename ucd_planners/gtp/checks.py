"""Whether a program keeps the Go Text Protocol, version 2: one sentence for each of its rules, and what the program did.

The rules are those of [Farnebaeck: Specification of the Go Text Protocol, version 2, draft 2], sections 2, 3 and 6.3. Our
rules of the game decide which moves are legal. A program that hangs or dies breaks the rule at hand, and is started anew for
the next one.
"""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ucd_envs.rules import Rules, State
from ucd_planners.gtp.client import POLL, Program, ProgramError
from ucd_planners.gtp.protocol import COLOURS, RESIGN

REQUIRED = (
    *("protocol_version", "name", "version", "known_command", "list_commands", "quit"),
    *("boardsize", "clear_board", "komi", "play", "genmove"),
)
"""Commands that every program has."""
UNKNOWN = "no_such_command"
MOVES = 8
"""Moves of a program that are looked at."""
STARTING, ENDING = 60.0, 10.0
"""Seconds that a program has for its first answer at least, and to end after `quit`."""


class Finding(NamedTuple):
    """A rule, and how a program keeps it."""

    rule: str
    fault: str
    """The program's fault in a few words, empty for a rule that it keeps."""


@dataclass(frozen=True)
class Report:
    """The result of a check of a program."""

    findings: tuple[Finding, ...]
    slowest: str
    """Command with the slowest answer."""
    seconds: float
    """Seconds until that answer."""

    @property
    def passed(self) -> bool:
        """Returns whether all rules are kept."""
        return not any(finding.fault for finding in self.findings)


class Answer(NamedTuple):
    """An answer as it came."""

    good: bool
    number: str
    text: str


class BrokenRuleError(Exception):
    """Raised for a rule that a program breaks; the text gives what it did."""


class Talk(Program):
    """A program whose answers are read letter by letter."""

    def __init__(self, command: str, timeout: float) -> None:
        super().__init__(command)
        self.timeout = timeout
        self.form: dict[str, str] = {}
        """Faults in the form of answers, each with the first command where it was seen."""
        self.slowest, self.seconds = "", 0.0
        self.answered = 0
        """Number of answers so far."""
        self._last = ""

    def tell(self, line: str) -> Answer:
        """Returns the answer to the last command of a text. Raises ProgramError when it does not come."""
        command = line.rpartition("\n")[2]
        timeout, starts = self.timeout, not self.running
        if starts:
            self._start()
            timeout, self._last = max(timeout, STARTING), ""
        began = time.monotonic()
        try:
            self._send(line)
            answer = self._read_answer(command, began + timeout, timeout)
        except BaseException:
            self.close(0.0)
            raise
        self.answered += 1
        took = time.monotonic() - began
        if took > self.seconds and not starts:
            self.slowest, self.seconds = command, took
        self._last = command
        return answer

    def ends(self) -> bool:
        """Returns whether the process ends by itself soon, and forgets it."""
        assert self._process is not None
        try:
            self._process.wait(ENDING)
            return True
        except subprocess.TimeoutExpired:
            return False
        finally:
            self.close(0.0)

    def _read_answer(self, command: str, deadline: float, seconds: float) -> Answer:
        lines: list[str] = []
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                ending = f"ends its answer to {command!r} with no empty line" if lines else f"has not answered {command!r}"
                raise ProgramError(f"{ending} within {seconds:g} s")
            try:
                arrived = self._answers.get(min(POLL, left))
            except TimeoutError:
                continue
            if arrived is None:
                raise ProgramError(self._ended())
            line = arrived.decode(errors="replace").rstrip("\r")
            if lines and not line.strip():
                break
            if lines:
                lines.append(line)
            elif not line.strip():
                self.form.setdefault("more than one empty line ends the answer", self._last or command)
            elif line[0] in "=?":
                lines.append(line)
            else:
                self.form.setdefault(f"{line[:40]!r} stands before the answer", command)
        found = re.fullmatch(r"([=?])(\d*)(.*)", lines[0])
        assert found is not None
        if found[3] and not found[3][0].isspace():
            self.form.setdefault("no blank stands before the text of the answer", command)
        return Answer(found[1] == "=", found[2], "\n".join([found[3].strip(), *lines[1:]]).strip())


def check_program(command: str, rules: Rules, timeout: float) -> Report:
    """Checks a program by its command line in a game, with seconds for each answer.

    Raises ValueError for a command that names no program, and for a game that GTP does not know.
    """
    if rules.players != 2 or rules.has_chance:
        raise ValueError(f"GTP is for games of two players without chance, and {rules} is none")
    talk = Talk(command, timeout)
    try:
        return Checker(talk, rules).report()
    finally:
        talk.close(0.0)


class Checker:
    """The rules, each a method that raises BrokenRuleError, in the order in which they are checked."""

    def __init__(self, talk: Talk, rules: Rules) -> None:
        self.talk, self.rules = talk, rules
        self.listed: list[str] = []
        self.silent = False

    def report(self) -> Report:
        """Checks all rules."""
        checks: dict[str, Callable[[], None]] = {
            "protocol_version is answered with 2": self.check_version,
            "name and version are answered": self.check_name,
            "list_commands lists all required commands": self.check_list,
            "known_command is true for commands, false for others": self.check_known,
            "an answer has the number of its command": self.check_number,
            "an unknown command is refused": self.check_unknown,
            "blank lines and comments are no commands": self.check_comments,
            "boardsize takes a size, and refuses an impossible one": self.check_size,
            "komi takes a number, and refuses a word": self.check_komi,
            "play takes legal moves, in large and small letters": self.check_play,
            "play refuses a move that is illegal, and the board stays": self.check_illegal,
            "play refuses a point off the board and an unknown colour": self.check_words,
            "clear_board empties the board": self.check_clear,
            "genmove answers with legal moves": self.check_genmove,
            "genmove plays its move": self.check_own_moves,
            "quit is answered, and ends the process": self.check_quit,
            "an answer begins with = or ? and ends with one empty line": self.check_form,
        }
        findings = [Finding(rule, self._fault(check)) for rule, check in checks.items()]
        return Report(tuple(findings), self.talk.slowest, self.talk.seconds)

    def _fault(self, check: Callable[[], None]) -> str:
        """Returns what a program did to break a rule, empty if it keeps it. One that never answers is asked only once."""
        if self.silent:
            return "was not asked: the program does not answer"
        try:
            check()
        except BrokenRuleError as error:
            return str(error)
        except ProgramError as error:
            self.silent = not self.talk.answered
            return str(error)
        return ""

    def good(self, line: str) -> str:
        """Returns the text of an answer that must be a success."""
        answer = self.talk.tell(line)
        if not answer.good:
            raise BrokenRuleError(f"refuses {line!r}: {answer.text[:80]}")
        return answer.text

    def refused(self, line: str) -> None:
        """Sends a command that must be refused."""
        if (answer := self.talk.tell(line)).good:
            raise BrokenRuleError(f"takes {line!r}" + (f" and answers {answer.text[:40]!r}" if answer.text else ""))

    def equal(self, line: str, wanted: str) -> None:
        """Sends a command with one right answer."""
        if (text := self.good(line)) != wanted:
            raise BrokenRuleError(f"answers {line!r} with {text[:40]!r}, not {wanted!r}")

    def empty_board(self) -> State:
        """Begins a game, and returns its first state."""
        rows, columns = self.rules.planes[:2]
        self.good(f"boardsize {rows}" if rows == columns else f"boardsize {columns} {rows}")
        self.good("clear_board")
        if "komi" in self.rules.settings:
            self.good(f"komi {self.rules.settings['komi']:g}")
        return self.rules.initial_state()

    def check_version(self) -> None:
        """Protocol version 2."""
        self.equal("protocol_version", "2")

    def check_name(self) -> None:
        """Texts, of which the name is not empty."""
        if not self.good("name"):
            raise BrokenRuleError("answers 'name' with nothing")
        self.good("version")

    def check_list(self) -> None:
        """One command a line."""
        self.listed = self.good("list_commands").split()
        if missing := [name for name in REQUIRED if name not in self.listed]:
            raise BrokenRuleError(f"does not list {', '.join(missing)}")

    def check_known(self) -> None:
        """The words true and false."""
        for name in (*REQUIRED, *self.listed[:20]):
            self.equal(f"known_command {name}", "true")
        self.equal(f"known_command {UNKNOWN}", "false")

    def check_number(self) -> None:
        """A number is repeated, none is invented."""
        for line, number in (("42 name", "42"), ("name", ""), (f"7 {UNKNOWN}", "7")):
            if (answer := self.talk.tell(line)).number != number:
                raise BrokenRuleError(f"answers {line!r} with the number {answer.number!r}, not {number!r}")

    def check_unknown(self) -> None:
        """A failure response."""
        self.refused(UNKNOWN)

    def check_comments(self) -> None:
        """Lines without a command have no answer, and what follows # is no part of one."""
        answer = self.talk.tell("\n# a comment\n \n9 protocol_version # and one more")
        if (answer.good, answer.number, answer.text) != (True, "9", "2"):
            begun = f"{'=' if answer.good else '?'}{answer.number} {answer.text[:40]}"
            raise BrokenRuleError(f"answers a command behind blank lines and comments with {begun!r}")

    def check_size(self) -> None:
        """The board's size, then one of a thousand and a word."""
        self.empty_board()
        self.refused("boardsize 1000")
        self.refused("boardsize wide")

    def check_komi(self) -> None:
        """A number with a point, then a word."""
        self.good("komi 6.5")
        self.refused("komi much")

    def check_play(self) -> None:
        """Two moves of each player."""
        state = self.empty_board()
        for turn in range(4):
            if not state.over:
                action = self._move(state)
                name = state.action_name(action)
                self.good(f"play {COLOURS[state.player]} {name.upper() if turn % 2 else name.lower()}")
                state = state.after(action)

    def check_illegal(self) -> None:
        """A move that was played already, or any other that our rules refuse."""
        state, action = self._with_illegal()
        line = f"play {COLOURS[state.player]} {state.action_name(action)}"
        self.refused(line)
        legal = self._move(state)
        self.good(f"play {COLOURS[state.player]} {state.action_name(legal)}")

    def check_words(self) -> None:
        """Words that no game has."""
        state = self.empty_board()
        self.refused("play b zz99")
        self.refused(f"play green {state.action_name(self._move(state))}")

    def check_clear(self) -> None:
        """The first move can be played again."""
        state = self.empty_board()
        line = f"play {COLOURS[state.player]} {state.action_name(self._move(state))}"
        self.good(line)
        self.good("clear_board")
        self.good(line)

    def check_genmove(self) -> None:
        """Both colours in turn, until the game is over."""
        state = self.empty_board()
        for _ in range(MOVES):
            if state.over or (action := self._generated(state)) is None:
                return
            state = state.after(action)

    def check_own_moves(self) -> None:
        """The other player cannot play the same move after it."""
        state = self.empty_board()
        action = self._generated(state)
        if action is None:
            return
        after = state.after(action)
        if not after.over and action not in after.legal_actions():
            self.refused(f"play {COLOURS[after.player]} {state.action_name(action)}")

    def check_quit(self) -> None:
        """A success, and the end of the process."""
        self.good("quit")
        if not self.talk.ends():
            raise BrokenRuleError(f"still runs {ENDING:g} s after quit")

    def check_form(self) -> None:
        """The form of all answers so far."""
        for fault, command in self.talk.form.items():
            raise BrokenRuleError(f"{fault} to {command!r}")

    def _move(self, state: State) -> int:
        """Returns a legal action in the middle of the list, which is no pass."""
        legal = state.legal_actions()
        return legal[len(legal) // 2]

    def _with_illegal(self) -> tuple[State, int]:
        """Plays until some earlier move is illegal, and returns the state and that action."""
        played: list[int] = []
        state = self.empty_board()
        while not state.over:
            legal = state.legal_actions()
            for action in played:
                if action not in legal:
                    return state, action
            played.append(self._move(state))
            self.good(f"play {COLOURS[state.player]} {state.action_name(played[-1])}")
            state = state.after(played[-1])
        raise BrokenRuleError("was not asked: no earlier move is illegal in this game")

    def _generated(self, state: State) -> int | None:
        """Returns the legal action that a program generates, or None where it resigns."""
        text = self.good(f"genmove {COLOURS[state.player]}")
        if text.lower() == RESIGN:
            return None
        try:
            action = state.action_named(text)
        except ValueError:
            raise BrokenRuleError(f"answers genmove with {text[:40]!r}, which is no move") from None
        if action not in state.legal_actions():
            raise BrokenRuleError(f"generates {text}, which is not legal: {state.rules.why_illegal(action)}")
        return action
