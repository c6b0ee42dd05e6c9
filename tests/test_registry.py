"""Names, versions and settings of games, and games that users add."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.metadata
import pickle
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ucd_envs
from ucd_envs import Rules, registry
from ucd_envs.games import hex as hex_game
from ucd_envs.games import tic_tac_toe


def noughts(version: int = 0) -> Callable[[], Rules]:
    """A user's builder: tic-tac-toe under another name."""
    made = dataclasses.replace(tic_tac_toe.rules(), name=f"noughts_v{version}")
    return lambda: made


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is gone afterwards."""
    monkeypatch.setattr(registry, "_builders", dict(registry._builders))


def test_the_games_are_listed_in_order() -> None:
    assert ucd_envs.available() == sorted(ucd_envs.available())


def test_the_games_of_this_package_are_registered() -> None:
    assert {"connect_four_v0", "hex_v0", "leftright_v0", "tic_tac_toe_v0"} <= set(ucd_envs.available())


def test_the_list_of_games_can_be_asked_for_when_a_game_has_been_made() -> None:
    """The folder of game files has the function's name."""
    ucd_envs.make("tic_tac_toe")
    assert isinstance(ucd_envs.available(), list)


def test_the_list_of_games_is_the_callers_own() -> None:
    ucd_envs.available().clear()
    assert ucd_envs.available()


@pytest.mark.parametrize("name", ucd_envs.available())
def test_rules_bear_their_registered_name(name: str) -> None:
    assert ucd_envs.make_rules(name).name == name


@pytest.mark.parametrize("name", ucd_envs.available())
def test_every_game_has_a_module_with_env_and_raw_env(name: str) -> None:
    module = __import__(f"ucd_envs.{name}", fromlist=["env"])
    assert module.__all__ == ["env", "raw_env"]
    assert str(module.env()) == str(module.raw_env()) == name


@pytest.mark.parametrize("name", ["hex", "hex-v0", "hex_v0"])
def test_a_game_may_be_named_with_or_without_its_version(name: str) -> None:
    assert registry.versioned(name) == "hex_v0"


def test_dashes_in_a_name_are_underscores() -> None:
    assert registry.versioned("tic-tac-toe") == "tic_tac_toe_v0"


@pytest.mark.parametrize("name", ["chess", "hex_v7", "he", "hex_", "", "Hex"])
def test_an_unknown_game_is_answered_by_those_there_are(name: str) -> None:
    known = r"\w+_v\d+(, \w+_v\d+)*"
    with pytest.raises(ValueError, match=rf"\Aunknown game '{name}': expected one of {known}\Z"):
        ucd_envs.make(name)


def test_settings_reach_the_rules() -> None:
    assert ucd_envs.make_rules("connect_four", columns=5, rows=4).settings == {"columns": 5, "rows": 4, "in_a_row": 4}


def test_settings_reach_the_environment() -> None:
    assert ucd_envs.make("hex", size=4).action_space("player_0").n == 16


def test_the_render_mode_reaches_the_environment() -> None:
    assert ucd_envs.make("hex", "ansi", size=4).render_mode == "ansi"


def test_an_unknown_setting_is_answered_by_those_there_are() -> None:
    with pytest.raises(
        TypeError,
        match=r"\Ahex_v0 has no setting 'sise': expected one of size, rows, columns, swap, opening, black, white, first\Z",
    ):
        ucd_envs.make_rules("hex", sise=5)


def test_a_game_without_settings_says_so() -> None:
    with pytest.raises(TypeError, match=r"\Atic_tac_toe_v0 has no setting 'size': it has no settings at all\Z"):
        ucd_envs.make("tic_tac_toe", size=3)


def test_a_setting_out_of_range_is_answered_by_its_range() -> None:
    with pytest.raises(ValueError, match="size must be from 1 to 19, not 20"):
        ucd_envs.make("hex", size=20)


def test_rules_of_one_configuration_are_made_once() -> None:
    assert ucd_envs.make_rules("hex", size=6) is ucd_envs.make_rules("hex-v0", size=6)


def test_two_ways_to_write_a_configuration_make_the_same_rules() -> None:
    """F2-21: one object, and so one text."""
    assert ucd_envs.make_rules("go", size=9) is ucd_envs.make_rules("go", rows=9, columns=9)
    assert ucd_envs.make_rules("go", size=9, komi=7) is ucd_envs.make_rules("go", komi=7.0)
    assert ucd_envs.make_rules("hex", size=5, opening=" B2  c3") is ucd_envs.make_rules("hex", size=5, opening="b2 c3")


def test_two_ways_stay_one_while_others_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """A configuration that is used in a short way is not forgotten in its whole way."""
    monkeypatch.setattr(registry, "MOST_RULES", 8)
    for steps in range(2000, 2020):
        ucd_envs.make_rules("hex", size=4)
        ucd_envs.make_rules("leftright", steps=steps)
    assert ucd_envs.make_rules("hex", size=4) is ucd_envs.make_rules("hex", rows=4, columns=4)


def test_rules_made_without_the_registry_are_equal() -> None:
    """Equal in configuration and kernels."""
    assert hex_game.rules(size=6) == ucd_envs.make_rules("hex", size=6)
    assert hash(hex_game.rules(size=6)) == hash(ucd_envs.make_rules("hex", size=6))
    assert hex_game.rules(size=6) != hex_game.rules(size=7)


def test_only_the_latest_configurations_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The latest used ones; others are made again, and are equal."""
    monkeypatch.setattr(registry, "MOST_RULES", 4)
    first = ucd_envs.make_rules("leftright", steps=1000)
    for steps in range(1001, 1010):
        ucd_envs.make_rules("leftright", steps=steps)
    assert len(registry._made) <= 4
    assert ucd_envs.make_rules("leftright", steps=1009) is ucd_envs.make_rules("leftright", steps=1009)
    again = ucd_envs.make_rules("leftright", steps=1000)
    assert again is not first
    assert again == first


def test_rules_unpickle_to_an_equal_configuration() -> None:
    rules = ucd_envs.make_rules("hex", size=6)
    assert pickle.loads(pickle.dumps(rules)) == rules


@pytest.mark.parametrize("name", [None, 5, b"hex", ["hex"]])
@pytest.mark.parametrize("function", [ucd_envs.make_rules, ucd_envs.make, registry.versioned, registry.builder])
def test_a_name_that_is_no_text_is_refused(function: Callable[..., Any], name: Any) -> None:
    """F2-63: with one sentence."""
    with pytest.raises(TypeError, match=rf"\Aa game's name must be text such as 'hex', not {re.escape(repr(name))}\Z"):
        function(name)


@pytest.mark.parametrize("letter", ["a", ".", "(", "-", "é"])
def test_a_very_long_name_is_refused_at_once_and_not_repeated(letter: str) -> None:
    """F2-63: a million characters took ten seconds and were echoed whole."""
    begun = time.process_time()
    with pytest.raises(ValueError, match=r"unknown game .*\.\.\. \(1000000 characters\): expected one of") as refusal:
        ucd_envs.make_rules(letter * 1_000_000)
    assert time.process_time() - begun < 1
    assert len(str(refusal.value)) < 500


@pytest.mark.parametrize("name", ["hex_v0", "leftright_v0"])
def test_constructors_of_a_module_can_be_pickled(name: str) -> None:
    """By their names, as a worker process needs it."""
    module = importlib.import_module(f"ucd_envs.{name}")
    assert pickle.loads(pickle.dumps(module.env)) is module.env
    assert pickle.loads(pickle.dumps(module.raw_env)) is module.raw_env


def test_a_module_of_a_game_is_imported_like_any_other() -> None:
    run = subprocess.run(
        [sys.executable, "-c", "import ucd_envs.go_v0; from ucd_envs.hex_v0 import raw_env; print(raw_env(size=3))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "hex_v0"


def test_every_game_lists_configurations_for_tests() -> None:
    assert registry.examples("hex") is hex_game.EXAMPLES


def test_importing_the_package_imports_no_game() -> None:
    """Game files compile kernels: they are imported when a game is first asked for."""
    run = subprocess.run(
        [sys.executable, "-c", "import sys, ucd_envs; print([name for name in sys.modules if 'ucd_envs.games.' in name])"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "[]"


# A user's game


def test_a_users_game_is_made_by_its_name(names: None) -> None:
    ucd_envs.register("noughts_v0", noughts())
    env = ucd_envs.make("noughts")
    env.reset()
    env.step(4)
    assert (str(env), env.agent_selection) == ("noughts_v0", "player_1")


def test_a_users_game_is_listed(names: None) -> None:
    ucd_envs.register("noughts_v0", noughts())
    assert "noughts_v0" in ucd_envs.available()


def test_a_users_state_can_be_pickled(names: None) -> None:
    ucd_envs.register("noughts_v0", noughts())
    state = ucd_envs.make_rules("noughts").initial_state().after(4)
    assert pickle.loads(pickle.dumps(state)) == state


def test_a_users_state_is_not_that_of_the_game_it_was_made_from(names: None) -> None:
    ucd_envs.register("noughts_v0", noughts())
    assert ucd_envs.make_rules("noughts").initial_state() != ucd_envs.make_rules("tic_tac_toe").initial_state()


def test_a_users_game_is_tested_in_its_default_configuration(names: None) -> None:
    ucd_envs.register("noughts_v0", noughts())
    assert registry.examples("noughts") == ({},)


def test_a_name_without_a_version_means_the_highest(names: None) -> None:
    """By number: 10 is higher than 9."""
    for version in (9, 10):
        ucd_envs.register(f"noughts_v{version}", noughts(version))
    assert ucd_envs.make_rules("noughts").name == "noughts_v10"


def test_a_name_with_a_version_means_that_version(names: None) -> None:
    for version in (9, 10):
        ucd_envs.register(f"noughts_v{version}", noughts(version))
    assert ucd_envs.make_rules("noughts-v9").name == "noughts_v9"


@pytest.mark.parametrize("name", ["noughts", "noughts-v0", "Noughts_v0", "noughts_v", "_v0", "0_v0", "noughts_v0 ", ""])
def test_a_bad_name_is_refused(names: None, name: str) -> None:
    with pytest.raises(ValueError, match="a game's name must look like nim_v0, not "):
        ucd_envs.register(name, noughts())


@pytest.mark.parametrize("name", ["hex_v0", "noughts_v0"])
def test_a_name_that_is_taken_is_refused(names: None, name: str) -> None:
    ucd_envs.register("noughts_v0", noughts())
    with pytest.raises(ValueError, match=f"the name {name} is taken"):
        ucd_envs.register(name, noughts())


def test_registering_the_same_builder_again_changes_nothing(names: None) -> None:
    build = noughts()
    ucd_envs.register("noughts_v0", build)
    ucd_envs.register("noughts_v0", build)
    assert ucd_envs.available().count("noughts_v0") == 1


def test_rules_that_bear_another_name_are_refused(names: None) -> None:
    """Their states would unpickle as another game's."""
    ucd_envs.register("noughts_v0", tic_tac_toe.rules)
    with pytest.raises(ValueError, match="the builder of noughts_v0 made rules that are named tic_tac_toe_v0"):
        ucd_envs.make("noughts")


def test_nothing_of_a_users_game_is_left_by_these_tests() -> None:
    assert not any(name.startswith("noughts") for name in ucd_envs.available())


def test_settings_of_a_users_builder_are_checked(names: None) -> None:
    def build(size: int = 3) -> Any:
        return noughts()()

    ucd_envs.register("noughts_v0", build)
    with pytest.raises(TypeError, match="noughts_v0 has no setting 'sise': expected one of size"):
        ucd_envs.make_rules("noughts", sise=3)


# References


GAME = """
import dataclasses

from ucd_envs.games import tic_tac_toe


def rules(size: int = 3):
    if size == 99:
        raise KeyError(size)
    if size > 3:
        raise ValueError(f"size must be 3, not {size}")
    return dataclasses.replace(tic_tac_toe.rules(), name="crosses_v0", settings={"size": size})


def nothing():
    return 5


number = 7
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a user's games in files of it."""
    (tmp_path / "crosses.py").write_text(GAME)
    (tmp_path / "broken.py").write_text("import crosses\n\n1 / 0\n")
    (tmp_path / "wrong.py").write_text("def rules(:\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place not in ("", str(tmp_path))])
    for name in ("crosses", "broken", "wrong"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def test_a_reference_stands_for_a_name(folder: Path) -> None:
    """The current folder need not be on the path of imports."""
    rules = ucd_envs.make_rules("crosses:rules", size=3)
    assert (rules.name, rules.reference, str(rules)) == ("crosses_v0", "crosses:rules", "crosses_v0(size=3)")
    env = ucd_envs.make("crosses:rules")
    env.reset()
    env.step(4)
    assert env.unwrapped.rules is rules


def test_a_state_of_a_referenced_game_is_pickled_by_the_reference(folder: Path) -> None:
    state = ucd_envs.make_rules("crosses:rules").initial_state().after(4)
    arrived = pickle.loads(pickle.dumps(state))
    assert (arrived, arrived.rules.reference) == (state, "crosses:rules")


def test_a_referenced_game_arrives_in_another_process(folder: Path) -> None:
    """Which finds the file in the current folder too."""
    (folder / "state").write_bytes(pickle.dumps(ucd_envs.make_rules("crosses:rules").initial_state().after(4)))
    code = "import pickle; print(pickle.load(open('state', 'rb')).legal_actions())"
    run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, cwd=folder)
    assert run.stdout.strip() == "[0, 1, 2, 3, 5, 6, 7, 8]"


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("crosses:cross", "crosses:cross cannot be imported: the module crosses has no cross"),
        ("noughts:rules", "noughts:rules cannot be imported: ModuleNotFoundError: No module named 'noughts'"),
        ("noughts.more:rules", "noughts.more:rules cannot be imported: ModuleNotFoundError: No module named 'noughts'"),
        ("broken:rules", "broken:rules cannot be imported: ZeroDivisionError: division by zero"),
        ("crosses:number", "crosses:number is no game: expected a function that returns Rules, not 7"),
        ("crosses:nothing", "crosses:nothing is no game: it returned 5, not Rules"),
        ("builtins:print", "builtins:print is no game: it returned None, not Rules"),
        ("builtins:dict", "builtins:dict is no game: it does not tell its settings"),
        (":rules", "unknown game ':rules': expected one of "),
        ("crosses:", "unknown game 'crosses:': expected one of "),
        ("crosses:a:b", "unknown game 'crosses:a:b': expected one of "),
    ],
)
def test_a_reference_that_makes_no_game_is_refused_with_the_reason(folder: Path, reference: str, reason: str) -> None:
    with pytest.raises(ValueError, match=rf"\A{re.escape(reason)}[^\n]*\Z"):
        ucd_envs.make_rules(reference)


def test_a_reference_to_a_file_that_does_not_parse_is_refused_with_the_reason(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"\Awrong:rules cannot be imported: SyntaxError: [^\n]+\Z"):
        ucd_envs.make_rules("wrong:rules")


def test_settings_of_a_referenced_game_are_checked(folder: Path) -> None:
    """By the names of its parameters, and by the game itself; what else it raises is told in a sentence."""
    with pytest.raises(TypeError, match=r"\Acrosses:rules has no setting 'rows': expected one of size\Z"):
        ucd_envs.make_rules("crosses:rules", rows=3)
    with pytest.raises(ValueError, match=r"\Asize must be 3, not 4\Z"):
        ucd_envs.make_rules("crosses:rules", size=4)
    with pytest.raises(ValueError, match=r"\Acrosses:rules failed: KeyError: 99\Z"):
        ucd_envs.make_rules("crosses:rules", size=99)


@pytest.mark.parametrize("reference", [None, "crosses", "crosses:rules:", "a b:c", "x" * 1_000_000])
def test_a_text_that_is_no_reference_is_refused(reference: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"\Aa reference must .{0,160}\Z"):
        registry.load(reference)


# Entry points


@pytest.fixture
def offered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Games that another distribution offers."""
    entries = [
        importlib.metadata.EntryPoint(name, value, registry.ENTRY_POINTS)
        for name, value in (("crosses_v0", "crosses:rules"), ("gone_v0", "nowhere:rules"), ("nameless", "crosses:rules"))
    ]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda *, group: entries if group == "ucd.games" else [])
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    registry._entry_points.cache_clear()
    yield
    registry._entry_points.cache_clear()


def test_games_of_other_distributions_are_listed_and_made(offered: None) -> None:
    """Those whose names have a version."""
    assert {"crosses_v0", "gone_v0", "hex_v0"} <= set(ucd_envs.available())
    assert "nameless" not in ucd_envs.available()
    rules = ucd_envs.make_rules("crosses")
    assert (rules.name, rules.reference) == ("crosses_v0", None)
    assert pickle.loads(pickle.dumps(rules)) == rules


def test_an_entry_point_that_cannot_be_imported_is_refused_with_the_reason(offered: None) -> None:
    reason = r"\Agone_v0 cannot be imported from nowhere:rules: ModuleNotFoundError: No module named 'nowhere'\Z"
    with pytest.raises(ValueError, match=reason):
        ucd_envs.make_rules("gone")


# Facts


@pytest.mark.parametrize(
    ("fact", "reason"),
    [
        ({"players": 0}, "players must be from 1 to 1024, not 0"),
        ({"players": 2.0}, "players must be a whole number from 1 to 1024, not 2.0"),
        ({"actions": 0}, "actions must be from 1 to 65536, not 0"),
        ({"actions": 2**16 + 1}, "actions must be from 1 to 65536, not 65537"),
        ({"max_plies": 0}, "max_plies must be from 1 to 1073741824, not 0"),
        ({"key_words": 0}, "key_words must be from 1 to 65536, not 0"),
        ({"state_bytes": 12}, "state_bytes must be a multiple of 8, not 12"),
        ({"config": b"", "config_bytes": None}, "config must be a vector of bytes, such as structs.configuration makes"),
        ({"kernels": ()}, "kernels must be Kernels(...), not tuple"),
        ({"planes": (0, 0, 0)}, "planes must be given with an observe kernel: the rows, columns and planes that it writes"),
    ],
    ids=str,
)
def test_facts_that_no_game_can_have_are_refused(fact: dict[str, Any], reason: str) -> None:
    with pytest.raises((TypeError, ValueError)) as refusal:
        dataclasses.replace(tic_tac_toe.rules(), **fact)
    assert str(refusal.value) == reason
