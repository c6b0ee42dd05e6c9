"""Stores read by people: summaries equal scores, older layouts are read, and `ucd results` says what there is."""

from __future__ import annotations

import csv
import io
import json
import random
import sqlite3
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ucd_planners.arena import tables
from ucd_planners.arena.match import Game, Match, Score, play_game, play_match
from ucd_planners.arena.store import Store, configuration
from ucd_planners.arena.study import Study
from ucd_planners.cli import main

MATCH = Match("hex", "uct(c=0.3)", "ucd", {"size": 3}, {"playouts": 20}, games=10, seed=5)
SOLO = Match("leftright", "uct(c=0.3)", None, {"steps": 5}, {"playouts": 20}, games=5, seed=5)
BEFORE = (*tables.TABLES[:3], *tables.TABLES[-2:-1], "PRAGMA user_version = 2")
"""Statements that made a store of layout 2."""


def run(*words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Status, output and messages of `ucd` with these words."""
    status = main(words)
    said = capsys.readouterr()
    return status, said.out, said.err


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "games.sqlite"


def game(number: int, payoff: float, moves: tuple[int, ...] = (4, 0, 8)) -> Game:
    return Game(number, number % 2, moves, (payoff, 1 - payoff), (60, 41), (0.1, 0.2), 0.5)


def as_before(path: Path) -> None:
    """Makes a store of layout 2 with the same games."""
    old = path.with_name("old.sqlite")
    database = sqlite3.connect(old, isolation_level=None)
    for statement in BEFORE:
        database.execute(statement)
    database.execute("ATTACH ? AS new", (str(path),))
    for name in ("configurations", "sessions", "games"):
        database.execute(f"INSERT INTO main.{name} SELECT * FROM new.{name}")
    database.close()
    old.replace(path)


# Sums.


@pytest.mark.parametrize("payoffs", [(0.0, 0.5, 1.0), (0.0, 1.0), (0.2, 0.7, 1 / 3, 1.0), (1.0,)], ids=str)
def test_a_summary_has_the_score_of_its_games(payoffs: tuple[float, ...], path: Path) -> None:
    rng = random.Random(3)
    games = [game(number, rng.choice(payoffs), (rng.randrange(9),)) for number in range(37)]
    with Store(path) as store:
        for first in range(0, 37, 5):
            store.append(MATCH, games[first : first + 5])
        store.append(MATCH, games)  # numbers that are there count once
        (summary,) = store.summaries()
    score, expected = summary.score(), Score(tuple(each.payoff for each in games))
    assert (score.games, score.decided) == (expected.games, expected.decided)
    assert score.mean == pytest.approx(expected.mean, abs=1e-12)
    assert score.interval == pytest.approx(expected.interval, abs=1e-9)
    assert (summary.distinct, summary.seconds) == (len({each.moves for each in games}), pytest.approx(18.5))
    if expected.decided:
        assert (score.wins, score.draws, score.losses) == (expected.wins, expected.draws, expected.losses)


def test_a_study_is_summarised_by_its_most_playouts(path: Path) -> None:
    study = Study("p_game_v0", "uct", {"branching": 2, "depth": 3}, (10, 20), (2, 2), 2)
    with Store(path) as store:
        store.append(study, [Game(0, 0, (), (0.5, 1.0), (20, 40), (0.0, 0.1), 0.1)])
        row = store.summaries()[0].row()
    assert (row["percent"], row["a"], row["distinct_games"], row["playouts"]) == (
        100.0,
        study.facts()["study"],
        None,
        "[10, 20]",
    )


def test_games_of_a_configuration_are_read_in_parts(path: Path) -> None:
    games = [game(number, 1.0) for number in range(2300)]
    with Store(path) as store:
        store.append(MATCH, games)
        assert list(store.stored(1)) == games
        assert list(store.stored(1, 7, 8)) == games[7:9]


# The layout before.


def test_a_store_of_the_layout_before_is_read_and_stays_as_it_is(path: Path) -> None:
    with Store(path) as store:
        store.append(MATCH, [game(number, number % 3 / 2) for number in range(6)])
        expected = store.summaries(), store.games(MATCH)
    as_before(path)
    content = path.read_bytes()
    with Store(path, reading=True) as store:
        assert (store.summaries(), store.games(MATCH)) == expected
        with pytest.raises(OSError, match="readonly"):
            store.append(MATCH, [game(6, 1.0)])
    assert path.read_bytes() == content


def test_a_store_of_the_layout_before_becomes_one_of_this_with_all_its_games(path: Path) -> None:
    with Store(path) as store:
        store.append(MATCH, [game(number, number % 3 / 2) for number in range(6)])
        store.append(SOLO, [Game(0, 0, (0, 1), (0.25,), (200,), (0.1,), 0.2)])
        expected = store.games(MATCH), store.games(SOLO), store.sessions(), store.summaries()
    as_before(path)
    with Store(path) as store:
        assert (store.games(MATCH), store.games(SOLO), store.sessions(), store.summaries()) == expected
        assert store._pragma("user_version") == tables.LAYOUT
        store.append(MATCH, [game(6, 1.0)])
        assert store.summaries()[0].games == 7


def test_a_program_that_opened_the_layout_before_goes_on_adding_after_the_step(path: Path) -> None:
    with Store(path) as store:
        store.append(MATCH, [game(0, 1.0)])
    as_before(path)
    old = sqlite3.connect(path, isolation_level=None)
    assert old.execute("SELECT count(*) FROM games").fetchone() == (1,)
    with Store(path) as store:
        old.execute("INSERT OR IGNORE INTO games VALUES (1, 1, 1, 1, x'0100', '[0.5, 0.5]', '[1, 1]', '[0.1, 0.1]', 0.2)")
        old.close()
        summary = store.summaries()[0]
    assert (summary.games, summary.distinct, summary.score().draws) == (2, 2, 1)


# The commands.


@pytest.fixture
def played(path: Path) -> Path:
    """The store of a match of ten games."""
    with Store(path) as store:
        play_match(MATCH, store=store)
    return path


def test_show_prints_the_score_of_a_match(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run("results", "show", str(played), capsys=capsys)
    with Store(played, reading=True) as store:
        score = Score(tuple(each.payoff for each in store.games(MATCH)))
    assert (status, out.count("hex_v0(columns=3, rows=3)")) == (0, 1)
    assert f"{100 * score.interval[0]:.1f} to {100 * score.interval[1]:.1f}" in out
    assert "10 games, 1 configuration\n" in out


def test_show_prints_one_object_as_json(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(run("results", "show", str(played), "--json", capsys=capsys)[1])
    (row,) = found["configurations"]
    assert (row["a"], row["games"], row["games_as_first"]) == (MATCH.facts()["planners"][0], 10, 5)
    assert len(found["sessions"]) == 1


@pytest.mark.parametrize("form", ["--csv", "--json"])
def test_export_writes_every_game_with_its_moves(form: str, played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run("results", "export", str(played), "--games", form, capsys=capsys)[1]
    with Store(played, reading=True) as store:
        games = store.games(MATCH)
    if form == "--csv":
        moves = [tuple(map(int, row["moves"].split())) for row in csv.DictReader(io.StringIO(out))]
    else:
        moves = [tuple(json.loads(line)["moves"]) for line in out.splitlines()]
    assert moves == [each.moves for each in games]


def test_export_writes_a_row_for_each_configuration_to_a_file(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("results", "export", str(played), "--output", str(played.with_suffix(".csv")), capsys=capsys)
    with open(played.with_suffix(".csv"), newline="") as file:
        assert [row["games"] for row in csv.DictReader(file)] == ["10"]


def test_plot_draws_a_line_for_each_configuration(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("results", "plot", str(played), capsys=capsys)[1].strip() == str(played.with_suffix(".svg"))
    assert "<svg" in played.with_suffix(".svg").read_text()


def test_replay_prints_every_move_and_board(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from ucd_envs.pictures import text

    out = run("results", "replay", str(played), "3", capsys=capsys)[1]
    state = MATCH.rules.initial_state()
    for ply, action in enumerate(play_game(MATCH, 3).moves, 1):
        assert f"{ply}. player {state.player + 1}: {state.action_name(action)}\n" in out
        state = state.after(action)
        assert text(state) in out


def test_replay_prints_sgf_that_has_the_moves(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from ucd_envs.formats import sgf

    record = played.with_suffix(".sgf")
    record.write_text(run("results", "replay", str(played), "3", "--sgf", capsys=capsys)[1])
    (*_, last) = sgf.load(record).states()
    state = MATCH.rules.initial_state()
    for action in play_game(MATCH, 3).moves:
        state = state.after(action)
    assert last.array().tolist() == state.array().tolist()


def two(path: Path) -> Path:
    """A store of two matches and a study."""
    with Store(path) as store:
        for match in (MATCH, replace(MATCH, seed=6)):
            store.append(match, [game(0, 1.0)])
    return path


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("replay", "{}", "30", "--configuration", "1"), "configuration 1 has no game 30: it has 1, from 0"),
        (("replay", "{}", "0"), "has 2 configurations: name one by --configuration, as `ucd results show` numbers them"),
        (("replay", "{}", "0", "--configuration", "9"), "has 2 configurations: name one by --configuration"),
        (("show", "{}.no"), "there is no store"),
        (("export", "{}.no"), "there is no store"),
    ],
    ids=str,
)
def test_what_is_not_there_is_said_in_one_sentence(
    words: tuple[str, ...], sentence: str, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    two(path)
    status, _, err = run("results", *(word.format(path) for word in words), capsys=capsys)
    assert (status, err.count("\n")) == (2, 1)
    assert sentence in err
    assert not Path(f"{path}.no").exists()


@pytest.mark.parametrize("command", ["show", "export", "plot"])
def test_a_foreign_database_is_refused(command: str, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE games (number)")
    database.close()
    status, _, err = run("results", command, str(path), capsys=capsys)
    assert (status, err) == (2, f"ucd: {path} is no store of games\n")


@pytest.mark.parametrize("kept", [0.3, 0.6, 0.9])
def test_a_truncated_store_is_said_to_be_damaged(kept: float, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Store(path) as store:
        store.append(MATCH, [game(number, 1.0, tuple(range(200))) for number in range(300)])
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content)) // 4096 * 4096])
    status, _, err = run("results", "export", str(path), "--games", capsys=capsys)
    assert status in (1, 2)
    assert err.count("\n") == 1
    assert "malformed" in err


def test_a_game_of_rules_that_are_not_here_is_not_replayed(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Store(path) as store:
        store.append(MATCH, [game(0, 1.0)])
        text = configuration(MATCH).replace("hex_v0", "hax_v0")
        store._run("UPDATE configurations SET text = ?", text)
    status, _, err = run("results", "replay", str(path), "0", capsys=capsys)
    assert (status, err.count("\n")) == (2, 1)


# A large store.


@pytest.mark.slow
def test_show_answers_soon_for_a_million_games(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The games lie in 100 configurations, each with 40 moves; the sums must equal a count of the games."""
    rng = random.Random(1)
    with Store(path) as store:
        for seed in range(100):
            match = replace(MATCH, seed=seed, games=10_000)
            games = [game(n, rng.choice((0.0, 0.5, 1.0)), tuple(rng.choices(range(9), k=40))) for n in range(10_000)]
            store.append(match, games)
    began: Any = time.perf_counter()
    _, out, _ = run("results", "show", str(path), capsys=capsys)
    took = time.perf_counter() - began
    print(f"show: {took:.2f} s, {path.stat().st_size / 1e6:.0f} MB")
    assert "1,000,000 games, 100 configurations" in out
    assert took < 2
