"""The benchmark of batches: what a row says, threads by the clock, and a peer that may be missing."""

from __future__ import annotations

import json
import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest

from ucd_envs import registry
from ucd_planners import cli
from ucd_planners.benchmarks import batches


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two games, few plies of a few games, and a rate that is the plies of one call."""
    monkeypatch.setattr(registry, "available", lambda: ["connect_four_v0", "leftright_v0"])
    monkeypatch.setattr(batches, "rate", lambda run: float(run()))
    monkeypatch.setattr(batches, "GAMES", 130)
    monkeypatch.setattr(batches, "STEPS", 3)


@pytest.mark.usefixtures("few")
def test_a_row_has_the_plies_of_all_games() -> None:
    """Three steps of 130 games."""
    rows = list(batches.batch_rows())
    assert [list(row) for row in rows] == [["game", "config", "games", "plies_per_s"]] * 2
    assert [(row["game"], row["games"], row["plies_per_s"]) for row in rows] == [
        ("connect_four_v0", 130, 390),
        ("leftright_v0", 130, 390),
    ]


@pytest.mark.usefixtures("few")
def test_threads_are_measured_by_the_clock() -> None:
    row = next(batches.batch_rows(threads=2))
    assert list(row)[-2:] == ["threads", "scaling"]
    assert row["threads"] == 2
    assert row["scaling"] > 0


def test_scaling_is_how_many_times_as_fast_the_second_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one takes three times as long as the several, in each pair."""
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(batches, "played", lambda env: now.__setitem__(0, now[0] + env))
    one: Any = 6.0
    several: Any = 2.0
    assert batches.scaling(one, several) == 3


@pytest.mark.usefixtures("few")
def test_a_peer_plays_the_games_that_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(batches, "pgx_rate", lambda name: asked.append(name) or 100.0)
    rows = list(batches.batch_rows("pgx"))
    assert asked == ["connect_four"]
    assert [(row["peer"], row["peer_plies_per_s"], row["ratio"]) for row in rows] == [("pgx", 100, 3.9), ("pgx", None, None)]


def test_games_of_the_peer_are_games_of_ours() -> None:
    assert set(batches.PGX) <= set(registry.available())


@pytest.mark.usefixtures("few")
def test_the_command_prints_a_row_for_each_game(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "--batch", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["game"] for row in rows] == ["connect_four_v0", "leftright_v0"]
    assert cli.main(["bench", "--batch", "--threads", "2"]) == 0
    printed = capsys.readouterr().out
    assert "plies/s" in printed
    assert "times as fast with 2 threads" in printed


def test_a_missing_peer_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "pgx", None)
    assert cli.main(["bench", "--batch", "--against", "pgx"]) in (1, 2)
    assert capsys.readouterr().err == "ucd: the peer pgx is not installed: pip install 'pgx'\n"


def test_the_peers_loop_is_timed_as_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a stand-in for JAX that runs at once: each call plays STEPS of GAMES, from where the last one ended."""
    calls: list[Any] = []

    class Key(int):
        pass

    def scan(one: Any, carry: Any, _: Any, length: int) -> Any:
        for _ in range(length):
            carry, _ = one(carry, None)
        return carry, None

    numpy = SimpleNamespace(log=lambda mask: mask)
    random = SimpleNamespace(
        PRNGKey=Key, split=lambda key, n: [Key(key + i) for i in range(n)], categorical=lambda key, logits, axis: logits
    )
    jax = SimpleNamespace(
        **{"vmap": lambda f: f, "jit": lambda f: f, "numpy": numpy, "random": random},
        **{"lax": SimpleNamespace(scan=scan), "block_until_ready": lambda carry: carry},
    )
    mask = SimpleNamespace(astype=lambda kind: 7)

    def step(state: Any, actions: int, keys: Any) -> Any:
        calls.append((state.count, actions, len(keys)))
        return SimpleNamespace(legal_action_mask=mask, count=state.count + 1)

    env = SimpleNamespace(step=step, init=lambda keys: SimpleNamespace(legal_action_mask=mask, count=0))
    wrappers = SimpleNamespace(auto_reset=lambda step, init: step)
    modules = {"pgx": SimpleNamespace(make=lambda name: env), "jax": jax, "pgx.experimental.wrappers": wrappers}
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(batches, "STEPS", 2)
    monkeypatch.setattr(batches, "rate", lambda run: float(run() + run()))
    assert batches.pgx_rate("hex") == 2 * 2 * batches.GAMES
    assert calls == [(count, 7, batches.GAMES) for count in range(4)]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--batch", "--envs"], "--envs and --batch are two benchmarks: one at a time"),
        (["--batch", "--seats"], "--seats and --batch are two benchmarks: one at a time"),
        (["--batch", "--against", "openspiel"], "the peer of batches of games is pgx"),
        (["--against", "pgx"], "the peer of planners is openspiel"),
        (["--batch", "--game", "hex"], "--batch measures every game with its defaults: it goes without --game"),
        (["--threads", "2"], "--threads goes with --batch"),
        (["--batch", "--threads", "1"], "threads must be from 2 to 1024, not 1"),
    ],
)
def test_what_has_no_meaning_is_refused_in_one_sentence(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["bench", *words]) == 2
    assert capsys.readouterr().err == f"ucd: {sentence}\n"
