"""Study and training of a knowledge base, and the command `ucd kb`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from knowledge import new_base, result_of
from stopping import process

import ucd_planners
from ucd_envs import make_rules
from ucd_envs.formats import sgf
from ucd_planners import cli
from ucd_planners.arena.training import Training, positions, study
from ucd_planners.arena.upkeep import exported, verify
from ucd_planners.knowledge_base import KnowledgeBase
from ucd_planners.knowledge_file import File, library

FEW = {"playouts": 60}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "some.lmdb"


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command that succeeds prints; it says nothing on the side."""
    assert cli.main(arguments) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    return shown.out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 2) -> str:
    """The one sentence of a command that fails."""
    assert cli.main(arguments) == status
    shown = capsys.readouterr()
    assert len(shown.err.splitlines()) == 1
    return shown.err.removeprefix("ucd: ").strip()


def transactions(path: Path) -> int:
    """The number of transactions that a file has seen."""
    made = library().open(str(path), subdir=False, readonly=True, lock=False)
    found = int(made.info()["last_txnid"])
    made.close()
    return found


# Study


def test_study_learns_what_the_planner_finds_at_each_position(tmp_path: Path) -> None:
    """The same as searches of a planner without a base that begins anew at each position."""
    base, other = new_base(tmp_path / "some.lmdb"), new_base(tmp_path / "other.lmdb")
    states = positions(base, "b2 a1 c3")
    seen: list[int] = []
    lesson = study(base, states, FEW, seed=5, progress=lambda: seen.append(1))
    planner = ucd_planners.uct(**FEW, seed=5)
    for state in states:
        other.learn(state, planner.search(state))
        planner.forget()
    assert list(exported(base)) == list(exported(other))
    assert (lesson.searches, lesson.answers, len(seen)) == (4, 0, 4)
    assert base.log()[-1].endswith(f"study: seed 5, 60 playouts, {lesson}")


def test_the_positions_of_a_record_are_those_before_its_end(path: Path, tmp_path: Path) -> None:
    rules = make_rules("hex", size=3)
    record = tmp_path / "game.sgf"
    record.write_text(sgf.saved(rules, [4, 0, 1, 2, 7]))
    base = new_base(path, "hex", size=3)
    states = positions(base, str(record))
    assert [state.ply for state in states] == [0, 1, 2, 3, 4]
    assert states == positions(base, "b2 a1 b1 c1")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("b2 b2", r"move 2 \(b2\): action 4 is not legal here"),
        ("b2 z9", r"move 2 \(z9\): "),
        ("missing.sgf", r"the record missing.sgf cannot be read: No such file"),
    ],
)
def test_positions_that_there_are_not_are_refused(path: Path, source: str, message: str) -> None:
    base = new_base(path, "hex", size=3)
    with pytest.raises(ValueError, match=message):
        positions(base, source)


def test_a_record_of_another_board_is_refused(path: Path, tmp_path: Path) -> None:
    record = tmp_path / "game.sgf"
    record.write_text(sgf.saved(make_rules("hex", size=4), [4, 0]))
    with pytest.raises(ValueError, match=r"is a base of hex_v0\(rows=3, .* not of hex_v0\(rows=4"):
        positions(new_base(path, "hex", size=3), str(record))


# Training


def trained(path: Path, games: int, **options: Any) -> tuple[KnowledgeBase, Training]:
    base = new_base(path)
    training = Training(base, FEW, **options)
    assert training.play(games)
    return base, training


def test_training_depends_on_its_seed_alone(tmp_path: Path) -> None:
    first, again, other = (
        list(exported(trained(tmp_path / f"{number}.lmdb", 6, seed=seed)[0])) for number, seed in enumerate((1, 1, 2))
    )
    assert first == again != other


def test_training_fills_the_base_until_it_answers(path: Path) -> None:
    base, training = trained(path, 40, seed=1)
    lesson = training.lesson
    assert (lesson.games, verify(base)) == (40, [])
    assert lesson.answers > 40
    assert len(base) <= lesson.positions <= lesson.searches
    assert sum("train: game" in line for line in base.log()) == 40


def test_an_opponent_has_the_other_seat_and_teaches_nothing(path: Path) -> None:
    """A random player has no searches: the planner has 2 to 5 moves of each game."""
    base, training = trained(path, 4, seed=1, opponent="random")
    lesson = training.lesson
    plies = sum(len(line) >= 4 for line in base.log())
    assert plies > 0
    assert 4 * 2 <= lesson.searches + lesson.answers <= 4 * 5
    assert verify(base) == []


def test_an_opponent_that_cannot_play_is_refused(path: Path) -> None:
    base = new_base(path)
    with pytest.raises(ValueError, match="go_initial knows Go only"):
        Training(base, FEW, opponent="uct(initial=go_initial)")


def snapshots(path: Path, games: int, monkeypatch: pytest.MonkeyPatch) -> dict[int, list[str]]:
    """The entries after each transaction of a training that nobody stops, by the number of the transaction."""
    base = new_base(path)
    found = {transactions_of(base): list(exported(base))}
    write = File.write

    def noted(file: File, change: Any) -> Any:
        result = write(file, change)
        found[transactions_of(base)] = list(exported(base))
        return result

    with monkeypatch.context() as patch:
        patch.setattr(File, "write", noted)
        assert Training(base, FEW, seed=4).play(games)
    return found


def transactions_of(base: KnowledgeBase) -> int:
    return int(base.file._environment.info()["last_txnid"])


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[str]]:
    with pytest.MonkeyPatch.context() as patch:
        return snapshots(tmp_path_factory.mktemp("reference") / "some.lmdb", 200, patch)


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.slow] if seed else []) for seed in range(50)])
def test_a_training_killed_at_any_time_leaves_a_whole_base(path: Path, reference: dict[int, list[str]], seed: int) -> None:
    """kill -9: the base is that of the same training after one of its transactions, and not before the last one seen."""
    new_base(path).close()
    began = transactions(path)
    started = process("kb", "train", str(path), "--games", "200", "--playouts", "60", "--seed", "4")
    try:
        while transactions(path) < began + 1 + 7 * seed and started.poll() is None:
            time.sleep(0.001)
        seen = transactions(path)
        assert started.poll() is None
    finally:
        os.killpg(started.pid, signal.SIGKILL)
        started.communicate()
    base = KnowledgeBase(path)
    assert verify(base) == []
    assert transactions_of(base) >= seen > began
    assert list(exported(base)) == reference[transactions_of(base)]
    assert Training(base, FEW, seed=9).play(1)


def test_two_trainings_at_once_take_turns(tmp_path: Path) -> None:
    """Each search is added once: all visits are those of the two studies one after the other."""
    path, other = tmp_path / "some.lmdb", tmp_path / "other.lmdb"
    lines = ["b2 a1 c3 a3 a2", "a1 b2 c3 a2 c1", "b2 b1 a1", "c2 b2 a1 a2"]
    for each in (path, other):
        new_base(each, threshold_to_learn=0.0).close()
    words = [("kb", "study", str(path), *lines, "--playouts", "40", "--seed", seed) for seed in ("1", "2")]
    running = [process(*each) for each in words]
    assert [started.wait() for started in running] == [0, 0]
    for started in running:
        started.communicate()
    base, one_by_one = KnowledgeBase(path), KnowledgeBase(other)
    states = list(dict.fromkeys(state for line in lines for state in positions(base, line)))
    for seed in (1, 2):
        study(one_by_one, states, {"playouts": 40}, seed)
    assert verify(base) == []
    found, expected = ([line.split(",")[:5] for line in exported(each)] for each in (base, one_by_one))
    assert found == expected
    assert sum("study: seed" in line for line in base.log()) == 2


def test_a_match_in_processes_reads_the_base(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The workers open the file for themselves."""
    base = new_base(path)
    base.learn(make_rules("tic_tac_toe").initial_state(), result_of({2: (100, 1.0)}))
    words = ("match", "--game", "tic_tac_toe", "--a", f"uct(knowledge='{path}')", "--b", "random", "--games", "4")
    rows = [json.loads(printed(capsys, *words, "--playouts", "20", "--json", "--jobs", jobs)) for jobs in ("1", "2")]
    assert {row["games"] for row in rows} == {4}
    assert rows[0]["wins"] == rows[1]["wins"]


# The command


def test_the_command_makes_fills_and_shows_a_base(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = str(path)
    assert printed(capsys, "kb", "create", name, "--game", "hex", "--size", "3", "--planner", "ucd", "--alpha", "2").startswith(
        f"{name}: an empty base of hex_v0(rows=3, columns=3"
    )
    assert "searches" in printed(capsys, "kb", "train", name, "--games", "2", "--playouts", "50")
    assert printed(capsys, "kb", "study", name, "b2 a1", "b2 c1", "--playouts", "50").startswith("4 searches, 0 answers")
    facts = json.loads(printed(capsys, "kb", "info", name, "--json", "--log", "--moves", "b2 a1"))
    assert facts["planner"] == "ucd(d1=1,d2=0,d3=1,c=0.3,backup=descent,store=edges,graded=true)"
    assert (facts["alpha"], facts["game"], facts["settings"]["rows"]) == (2.0, "hex_v0", 3)
    assert len(facts["log"]) == 4
    confidences = [move["confidence"] for move in facts["known"]]
    assert confidences == sorted(confidences, reverse=True)
    assert confidences
    shown = printed(capsys, "kb", "info", name, "--moves", "b2 a1")
    assert f"positions           {facts['positions']}" in shown
    assert f"confidence {confidences[0]:.3f}" in shown
    assert printed(capsys, "kb", "verify", name) == f"{name}: {facts['positions']} positions, no fault\n"
    assert printed(capsys, "kb", "export", name).startswith("key,ply,total,action,visits,value_sum\n")
    assert len(printed(capsys, "kb", "export", name, "--json").splitlines()) == facts["positions"]
    assert printed(capsys, "kb", "compact", name, f"{name}.copy").startswith(f"{name}.copy: ")


def test_what_the_command_cannot_do_is_one_sentence(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = str(path)
    assert refused(capsys, "kb", "info", name) == f"{name} cannot be used: there is no such file"
    assert "unknown game 'nothing'" in refused(capsys, "kb", "create", name, "--game", "nothing")
    assert not path.exists()
    printed(capsys, "kb", "create", name, "--game", "tic_tac_toe")
    assert "exists already" in refused(capsys, "kb", "create", name, "--game", "tic_tac_toe")
    assert "without knowledge" in refused(
        capsys, "kb", "create", f"{name}.other", "--game", "tic_tac_toe", "--planner", f"uct(knowledge='{name}')"
    )
    assert "playouts must be" in refused(capsys, "kb", "train", name, "--playouts", "0")
    assert "games must be" in refused(capsys, "kb", "train", name, "--games", "0")
    assert "move 1 (q)" in refused(capsys, "kb", "study", name, "q")
    assert "unknown" in refused(capsys, "kb", "train", name, "--against", "nobody")
    assert "there is no such file" in refused(
        capsys, "match", "--game", "tic_tac_toe", "--a", "uct(knowledge='missing.lmdb')", "--b", "uct"
    )


def test_verify_prints_the_faults_with_status_1(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = new_base(path)
    base.file.write(lambda transaction: transaction.put(b"short", b"", db=base.file.positions))
    assert cli.main(["kb", "verify", str(path)]) == 1
    assert capsys.readouterr().out == f"the position {b'short'.hex()}: its key has 5 bytes\n"


def test_ctrl_c_ends_a_training_with_all_that_it_has_learned(path: Path) -> None:
    new_base(path).close()
    began = transactions(path)
    started = process("kb", "train", str(path), "--games", "1000000", "--playouts", "60")
    while transactions(path) < began + 10 and started.poll() is None:
        time.sleep(0.005)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert (started.returncode, err) == (130, "")
    assert "searches" in out
    base = KnowledgeBase(path)
    assert "train: stopped after" in base.log()[-1]
    assert verify(base) == []


@pytest.mark.slow
def test_a_lookup_in_a_million_positions_takes_less_than_20_microseconds(path: Path) -> None:
    """CPU time, best of several passes; opening takes less than 50 ms."""
    program = """
import sys, time
import numpy as np
from ucd_envs import make_rules
from ucd_planners.knowledge_base import MOVE, KnowledgeBase, packed
from ucd_envs.rules import State
rules = make_rules("go", size=9)
base = KnowledgeBase.create(sys.argv[1], rules, "uct(c=0.3)")
keys = np.random.default_rng(1).integers(0, 2**63, (1_000_000, 5), np.uint64)
move = np.array([(3, 70, 40.0), (40, 20, 9.0)], MOVE)
def fill(transaction):
    for key in sorted(each.tobytes() for each in keys):
        transaction.put(key, packed(key, 100, move), db=base.file.positions)
base.file.write(fill)
states = [rules.initial_state()]
while len(states) < 50:
    states.append(states[-1].after(states[-1].legal_actions()[7 * len(states) % 30]))
for state in states:
    key = base._key(state)[0]
    base.file.write(lambda t: t.put(key, packed(key, 100, move), db=base.file.positions))
base.close()
began = time.process_time()
base = KnowledgeBase(sys.argv[1])
base.check(rules)
opened, best = time.process_time() - began, 1.0
for _ in range(20):
    fresh = [State.trusted(rules, state.data) for state in states for _ in range(40)]
    began = time.process_time()
    assert all(base.lookup(state) is not None for state in fresh)
    best = min(best, (time.process_time() - began) / len(fresh))
print(opened, best)
"""
    root = str(Path(__file__).resolve().parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": root}
    )
    assert done.returncode == 0, done.stderr
    opened, lookup = map(float, done.stdout.split())
    assert opened < 0.05
    assert lookup < 20e-6
