"""What boards and servers ask for: analysis as a board shows it, a game as KGS plays it, KataGo's rules, GoGui's menu."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gtp_fake import PATIENCE
from gtp_talk import GO5, Talk

from ucd_envs import registry
from ucd_planners.gtp.clock import LAG, LEAST
from ucd_planners.notation import planner_from
from ucd_planners.planner import Planner
from ucd_planners.result import initial_shares

WITH_PRIORS = "rave(initial=go_initial)"


# Analysis.


def variations(line: str) -> list[dict[str, Any]]:
    """The variations of a line: `info`, keys and values in any order, and `pv` with all moves to the next `info`.

    A win rate with a point is from 0 to 1, another in hundredths of a percent; `percent` is either.
    """
    assert line.startswith("info ")
    found = []
    for part in f" {line}".split(" info ")[1:]:
        pairs, _, moves = part.partition(" pv ")
        words = pairs.split()
        each: dict[str, Any] = dict(zip(words[::2], words[1::2], strict=True))
        each["percent"] = float(each["winrate"]) * (100 if "." in each["winrate"] else 0.01)
        each["pv"] = moves.split()
        found.append(each)
    return found


def lines_of(talk: Talk, command: str) -> list[list[dict[str, Any]]]:
    """The info lines of an answer, which begins with = alone and ends with an empty line."""
    head, *lines, last, end = talk(command).split("\n")
    assert (head, last, end) == ("=", "", "")
    return [variations(line) for line in lines if line.startswith("info ")]


@pytest.mark.parametrize(
    "command", ["lz-analyze b 1", "kata-analyze b 1", "kata-analyze B interval 1 ownership true rootInfo true"]
)
def test_an_analysis_is_read_as_boards_read_it(command: str) -> None:
    """F2-35: move, visits and percent of each variation, the best first, in either format."""
    talk = Talk()
    (found,) = lines_of(talk, command)
    assert sorted(each["move"] for each in found) == sorted(
        talk.engine.board.rules.initial_state().action_name(i) for i in range(26)
    )
    assert [int(each["order"]) for each in found] == list(range(len(found)))
    assert all(each["pv"][0] == each["move"] for each in found)
    assert all(0 <= each["percent"] <= 100 for each in found)
    assert max(each["percent"] for each in found) > 10
    assert all("prior" not in each for each in found)


def test_the_two_formats_tell_the_same_numbers() -> None:
    """F2-35: in hundredths of a percent, and from 0 to 1 with a point."""
    leela, katago = (
        {each["move"]: each for each in lines_of(Talk(), f"{kind}-genmove_analyze b 1")[-1]} for kind in ("lz", "kata")
    )
    assert leela.keys() == katago.keys()
    for move, each in leela.items():
        assert each["visits"] == katago[move]["visits"]
        for key in ("winrate", "lcb"):
            assert re.fullmatch(r"\d+", each[key])
            assert re.fullmatch(r"[01]\.\d{6}", katago[move][key])
            assert int(each[key]) == round(10_000 * float(katago[move][key]))


@pytest.mark.parametrize("kind", ["lz", "kata"])
def test_a_move_is_played_at_the_end_of_its_analysis(kind: str) -> None:
    talk = Talk()
    answer = talk(f"3 {kind}-genmove_analyze b 10")
    played = re.fullmatch(r"=3\ninfo move [^\n]+\nplay (\S+)\n\n", answer)
    assert played is not None
    assert talk.stones() == {played[1]: "X"}


def test_only_so_many_moves_are_told_as_asked() -> None:
    for most, found in ((1, 1), (3, 3), (0, 1), (99, 26)):
        assert len(lines_of(Talk(), f"kata-analyze b 1 minmoves 2 maxmoves {most}")[0]) == found


def test_the_lower_bound_is_wilsons() -> None:
    """The lower end for 1 win in 1 playout is 1 / (1 + 1.96^2) = 0.2065, and 0 for none."""
    told = {(each["winrate"], each["lcb"]) for each in lines_of(Talk(), "lz-genmove_analyze b 1")[0] if each["visits"] == "1"}
    assert told <= {("10000", "2065"), ("0", "0")} != set()


@pytest.mark.parametrize("command", ["lz-analyze b 1", "kata-analyze b 1"])
def test_initial_statistics_are_told_as_priors(command: str) -> None:
    """F2-35: shares of the payoffs that they give to the 79 moves: 3 to the points around the last stones, else 1."""
    talk = Talk(settings={"size": 9}, planner=planner_from(WITH_PRIORS, playouts=300, seed=1))
    for line in ("play b e5", "play w c3", "play b c4"):
        talk.text(line)
    found = lines_of(talk, command.replace(" b ", " w "))[0]
    unit = 1.0 if "kata" in command else 10_000.0
    priors = {each["move"]: float(each["prior"]) / unit for each in found}
    known = dict.fromkeys(("B4", "D4", "D3", "B3"), 3 / 87)
    assert known.keys() <= priors.keys()
    assert priors == {move: pytest.approx(known.get(move, 1 / 87), abs=1e-4) for move in priors}


def test_the_shares_of_initial_statistics_are_those_of_the_moves() -> None:
    """Before and after the search has put the tried actions first."""
    state = registry.make_rules("go", size=9).initial_state()
    for name in ("E5", "C3", "C4"):
        state = state.after(state.action_named(name))
    early, late = (planner_from(WITH_PRIORS, playouts=count, seed=1).search(state) for count in (1, 500))
    assert early.priors is not None
    assert late.priors is not None
    assert early.priors.tolist() == late.priors.tolist()
    assert early.priors.sum() == pytest.approx(1)
    best = {state.action_name(int(action)) for action in early.actions[early.priors == early.priors.max()]}
    assert best == {"B4", "D4", "D3", "B3"}


@pytest.mark.parametrize(("payoffs", "shares"), [((3, 0, 1), [0.0, 0.25, 0.75]), ((0, 0, 0), [1 / 3] * 3)])
def test_moves_of_which_nothing_is_known_have_equal_shares(payoffs: tuple[int, ...], shares: list[float]) -> None:
    """Actions ascend in the answer, and lie at the root's places in any order: 5, 3 and 4 after two others."""
    statistics = np.array([[9, 9], [9, 9], *([4, payoff] for payoff in payoffs)], float)
    graph: Any = SimpleNamespace(
        record=SimpleNamespace(actions=SimpleNamespace(columns=2)),
        nodes=[{"first_action": 0, "legal": 2}, {"first_action": 2, "legal": 3}],
        root=1,
        grouped=False,
        actions=np.array([1, 2, 5, 3, 4]),
        initial_stats=statistics,
        layout=SimpleNamespace(has_priors=False),
    )
    found = initial_shares(graph)
    assert found is not None
    assert found.tolist() == shares


# Boards.


class Screen:
    """A board like Sabaki's on the screen: it numbers its commands, shows an analysis until something else is to be said, and
    ends the analysis by saying it."""

    def __init__(self, *options: str) -> None:
        words = [sys.executable, "-m", "ucd_planners.cli", "gtp", *options]
        self.engine = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.number = 0
        self.analyzes = False
        self.guard = threading.Timer(PATIENCE, self.engine.kill)
        self.guard.start()
        self.commands = self.ask("list_commands").split("\n")

    def send(self, line: str) -> None:
        """Sends a command. An analysis before it is read to its end."""
        assert self.engine.stdin is not None
        self.number += 1
        self.engine.stdin.write(f"{self.number} {line}\n")
        self.engine.stdin.flush()
        while self.analyzes and (read := self.read()):
            assert read.startswith("info ")
        self.analyzes = False

    def read(self) -> str:
        """A line without its end, which must be there."""
        assert self.engine.stdout is not None
        line = self.engine.stdout.readline()
        assert line.endswith("\n"), "the engine has ended"
        return line[:-1]

    def ask(self, line: str) -> str:
        """The text of a good answer to a command."""
        self.send(line)
        first = self.read()
        sign = f"={self.number}"
        assert first == sign or first.startswith(f"{sign} "), (line, first)
        return "\n".join([first[len(sign) + 1 :], *iter(self.read, "")])

    def analyze(self, colour: str, lines: int) -> list[list[dict[str, Any]]]:
        """The variations of the first lines of an analysis, which goes on."""
        kind = next(name for name in ("kata-analyze", "lz-analyze") if name in self.commands)
        self.send(f"{kind} {colour} interval 1")
        assert self.read() == f"={self.number}"
        self.analyzes = True
        return [variations(self.read()) for _ in range(lines)]

    def close(self) -> int:
        """Quits, and returns the status of the engine."""
        assert self.ask("quit") == ""
        with self.engine:
            status = self.engine.wait()
        self.guard.cancel()
        return status


def test_a_board_analyzes_and_plays_a_game() -> None:
    """F2-35: each move is the best of the analysis before it, whose visits grow and whose lines end where others may play."""
    screen = Screen("--game", "hex", "--size", "4", "--planner", "uct(c=0.4)", "--seed", "1")
    try:
        for turn in range(4):
            colour = "BW"[turn % 2]
            first, second, third = screen.analyze(colour, 3)
            visits = [sum(int(each["visits"]) for each in found) for found in (first, second, third)]
            assert visits == sorted(set(visits))
            assert len({each["move"] for each in third}) == len(third) <= 16 - turn
            assert all(0 <= each["percent"] <= 100 for each in third)
            assert screen.ask(f"play {colour} {third[0]['move']}") == ""
        screen.analyze("B", 1)
        assert screen.ask("showboard").count("X") == 3  # two stones, and the one in the words below
        assert screen.ask("undo") == ""
        assert re.fullmatch(r"info move [^\n]+\nplay [a-d][1-4]", screen.ask("kata-genmove_analyze W 100")[1:])
    finally:
        status = screen.close()
    assert status == 0


# KGS.


class Server:
    """A server like KGS with a player: it tells both clocks before each move. A search has few playouts, whatever its time."""

    def __init__(self, talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
        self.talk, search = talk, Planner.search
        self.budgets: list[float | None] = []

        def counted(planner: Planner, env: Any, *, seconds: Any = None, progress: Any = None) -> Any:
            self.budgets.append(seconds)
            return search(planner, env, playouts=400)

        monkeypatch.setattr(Planner, "search", counted)

    def play(self, engine: str, times: str, moves: list[str], command: str = "genmove") -> list[str]:
        """The engine's moves, until both have passed; the player makes some moves and then passes."""
        player, found, passes = "bw"["wb".index(engine)], [], 0
        while passes < 2:
            for colour in "bw":
                self.talk.text(f"time_left {colour} {times}")
            found.append(self.talk.text(f"{command} {engine}"))
            passes = passes + 1 if found[-1] == "pass" else 0
            if passes < 2:
                move = moves.pop(0) if moves else "pass"
                self.talk.text(f"play {player} {move}")
                passes = passes + 1 if move == "pass" else 0
        return found


def test_a_client_of_kgs_finishes_a_game(monkeypatch: pytest.MonkeyPatch) -> None:
    """F2-35: the commands that kgsGtp sends, none of them refused, and the stones that the engine says are alive."""
    server = Server(Talk(planner=planner_from("uct", seed=2)), monkeypatch)
    talk = server.talk
    known = talk.text("list_commands").split("\n")
    commands = "kgs-time_settings kgs-game_over kgs-genmove_cleanup final_status_list time_left place_free_handicap undo"
    assert set(commands.split()) <= set(known)
    for line in (
        *("protocol_version", "name", "version", "boardsize 5", "kgs-time_settings byoyomi 60 10 5", "komi 6.5", "clear_board"),
        *("boardsize 5", "komi 6.5", "clear_board"),
    ):
        talk.text(line)
    moves = server.play("b", "8.5 5", ["a1", "e1", "e5"])
    assert "resign" not in moves
    assert moves[-1] == "pass"
    assert set(server.budgets) == {8.5 - LAG}
    assert talk.engine.board.state.over
    alive = talk.text("final_status_list alive").split()
    assert sorted(alive) == sorted(talk.stones())
    assert (talk.text("final_status_list dead"), talk.text("final_status_list seki")) == ("", "")
    assert talk.text("final_score").startswith("B+")
    talk.text("kgs-game_over")
    talk.text("clear_board")
    assert talk.stones() == {}
    talk.text("quit")
    assert talk.engine.left


@pytest.mark.parametrize("lines", [(), ("undo", "undo")])
def test_a_cleanup_takes_dead_stones_off_the_board(lines: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """F2-35: both have passed, White's stone is dead and decides; whether the server takes the passes back or not.

    Black needs all 25 points. `genmove` only passes, since the game is over.
    """
    talk = Talk(settings=GO5 | {"komi": 24.5}, planner=planner_from("uct", seed=2))
    for vertex in ("b2", "b4", "c1", "c2", "c3", "c4", "c5", "d2", "d4"):
        talk.text(f"play b {vertex}")
    for line in ("play w e3", "play b pass", "play w pass"):
        talk.text(line)
    assert talk.text("final_score").startswith("W+")
    if not lines:
        assert talk.text("genmove b") == "pass"
        talk.text("undo")
    for line in lines:
        talk.text(line)
    Server(talk, monkeypatch).play("b", "0 0", [], "kgs-genmove_cleanup")
    assert set(talk.stones().values()) == {"X"}
    assert talk.text("final_score") == "B+0.5"


def test_a_game_that_no_pass_has_ended_is_not_cleaned_up() -> None:
    talk = Talk(settings=GO5 | {"max_plies": 1})
    talk.text("play b a1")
    assert talk.text("kgs-genmove_cleanup w") == "pass"
    assert talk.refused("kgs-genmove_cleanup") == "syntax error"


def test_living_stones_are_told_chain_by_chain() -> None:
    talk = Talk()
    for line in ("play b a1", "play b a2", "play w b1", "play b c3", "play b d4", "play w e4", "play w e5"):
        talk.text(line)
    lines = talk.text("final_status_list alive").split("\n")
    assert {frozenset(line.split()) for line in lines} == {
        frozenset(chain.split()) for chain in ("A1 A2", "B1", "C3", "D4", "E4 E5")
    }
    assert sum(len(line.split()) for line in lines) == 7
    talk.text("clear_board")
    crooked = {"B5 B4 A4", "B1 B2 A2", "D5 D4 E4", "D1 D2 E2"}
    for vertex in " ".join(crooked).split():
        talk.text(f"play b {vertex}")
    lines = talk.text("final_status_list alive").split("\n")
    assert {frozenset(line.split()) for line in lines} == {frozenset(chain.split()) for chain in crooked}
    assert talk.refused("final_status_list") == "syntax error"
    assert talk.refused("final_status_list lost") == "syntax error"


@pytest.mark.parametrize(
    ("line", "left", "share"),
    [
        ("kgs-time_settings absolute 130", "", 10 - LAG),
        ("kgs-time_settings canadian 0 30 10", "", 3 - LAG),
        ("kgs-time_settings canadian 0 30 10", "time_left b 12 4", 3 - LAG),
        ("kgs-time_settings byoyomi 0 30 5", "", 30 - LAG),
        ("kgs-time_settings byoyomi 0 30 5", "time_left b 20 5", 20 - LAG),
        ("kgs-time_settings byoyomi 130 30 5", "", 30 - LAG),
        ("kgs-time_settings byoyomi 130 30 0", "", 10 - LAG),
        ("kgs-time_settings byoyomi 60.5 2.5 5", "time_left b 0 0", 2.5 - LAG),
        ("kgs-time_settings none", "", None),
        ("time_settings 130 0 0", "kgs-time_settings none", None),
        ("time_settings 32.5 0 0", "", 2.5 - LAG),
        ("time_settings -5 0 0", "", LEAST),
        ("time_settings -1 2 1", "", 2 - LAG),
        ("time_left b -1 5", "", LEAST),
        ("time_left b 2.5 1", "", 2.5 - LAG),
        ("time_settings 60 30 1", "time_left b -0.25 0", LEAST),
        ("time_settings 60 30 1", "time_left b +.5 1", 0.5 - LAG),
    ],
)
def test_times_are_taken_as_servers_send_them(
    line: str, left: str, share: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F2-34, F2-35: fractions and times below zero too. 26 legal moves are 13 of the own ones to come."""
    found, search = [], Planner.search

    def brief(self: Planner, env: Any, *, seconds: Any = None, progress: Any = None) -> Any:
        found.append(seconds)
        return search(self, env, playouts=1)

    monkeypatch.setattr(Planner, "search", brief)
    talk = Talk()
    for each in (line, left, "genmove b"):
        if each:
            talk.text(each)
    assert found == [share if share is None else pytest.approx(share)]


@pytest.mark.parametrize(
    "words",
    [
        "",
        " fischer 1 2 3",
        " absolute",
        " absolute x",
        " canadian 1 2",
        " canadian 1 2 x",
        " byoyomi 1 2 2.5",
        " byoyomi 1 inf 2",
    ],
)
def test_times_of_no_kind_are_refused(words: str) -> None:
    assert Talk().refused(f"kgs-time_settings{words}") == "syntax error"


# Rules, komi and the rest.


@pytest.mark.parametrize(
    ("words", "ko", "suicide"),
    [
        ("tromp-taylor", "POSITIONAL", True),
        ("chinese", "SIMPLE", False),
        ("Chinese-OGS", "POSITIONAL", False),
        ("chinese-kgs", "POSITIONAL", False),
        ("aga", "SITUATIONAL", False),
        ("bga", "SITUATIONAL", False),
        ("new_zealand", "SITUATIONAL", True),
        ('{"ko":"SITUATIONAL"}', "SITUATIONAL", True),
        ('{"suicide": false}', "POSITIONAL", False),
        (
            '{"ko":"SIMPLE","scoring":"AREA","tax":"NONE","suicide":false,"hasButton":false,"whiteHandicapBonus":"0"}',
            "SIMPLE",
            False,
        ),
    ],
)
def test_katagos_rules_are_set_and_told(words: str, ko: str, suicide: bool) -> None:
    """F2-35: a part of the JSON changes only that part; stones stay."""
    talk = Talk(settings=GO5 | {"ko": "positional", "suicide": True})
    talk.text("play b c3")
    talk.text(f"kata-set-rules {words}")
    told = json.loads(talk.text("kata-get-rules"))
    assert told == {
        "ko": ko,
        "suicide": suicide,
        "scoring": "AREA",
        "tax": "NONE",
        "hasButton": False,
        "whiteHandicapBonus": "0",
    }
    assert talk.stones() == {"C3": "X"}
    settings = talk.engine.board.rules.settings
    assert (settings["ko"].upper(), settings["suicide"]) == (ko, suicide)
    talk.text(f"kata-set-rules {json.dumps(told)}")
    assert json.loads(talk.text("kata-get-rules")) == told


@pytest.mark.parametrize(
    "words",
    [
        *("japanese", "korean", "stone-scoring", "aga-button", "[]", "3", "{", '{"ko":"EVENTUAL"}', '{"ko":["SIMPLE"]}', "{}x"),
        *(
            '{"scoring":"TERRITORY"}',
            '{"tax":"ALL"}',
            '{"hasButton":true}',
            '{"suicide":1}',
            '{"whiteHandicapBonus":"N"}',
            "[" * 9000,
        ),
    ],
)
def test_rules_that_we_do_not_have_are_refused(words: str) -> None:
    assert Talk().refused(f"kata-set-rules {words}") == f"unsupported rules: {words[:200]}"


def test_rules_must_be_named() -> None:
    assert Talk().refused("kata-set-rules") == "syntax error"


def test_komi_is_told() -> None:
    talk = Talk()
    talk.text("komi 6.5")
    assert talk.text("get_komi") == "6.5"
    talk.text("komi -7")
    assert talk.text("get_komi") == "-7"


def test_games_without_points_have_no_commands_about_them() -> None:
    talk = Talk("hex", {"size": 3})
    for line in ("final_status_list alive", "get_komi", "kata-get-rules", "kata-set-rules chinese"):
        assert talk.refused(line) == "unknown command"


@pytest.mark.parametrize(("game", "settings", "count"), [("go", GO5, 7), ("hex", {"size": 3}, 4)])
def test_each_command_of_goguis_menu_is_answered(game: str, settings: dict[str, Any], count: int) -> None:
    """F2-35: type, label and command; %c stands for a colour."""
    talk = Talk(game, settings)
    entries = [line.split("/") for line in talk.text("gogui-analyze_commands").split("\n")]
    assert len(entries) == count
    assert all(len(entry) == 3 and entry[0] in ("string", "plist", "hstring") for entry in entries)
    for _, _, command in entries:
        if command == "final_score" and game == "hex":
            assert talk.refused(command) == "cannot score"  # before the end there is no result
        else:
            talk.text(command.replace("%c", "b"))


def test_the_time_of_the_processor_grows() -> None:
    talk = Talk(planner=planner_from("uct", playouts=20_000, seed=1))
    talk.text("genmove b")
    before = float(talk.text("cputime"))
    talk.text("genmove w")
    assert 0 < before < float(talk.text("cputime"))
