"""Names, versions and settings of games, and games that users add."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
from collections.abc import Callable
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
        TypeError, match=r"\Ahex_v0 has no setting 'sise': expected one of size, rows, columns, swap, opening\Z"
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


def test_rules_unpickle_to_an_equal_configuration() -> None:
    rules = ucd_envs.make_rules("hex", size=6)
    assert pickle.loads(pickle.dumps(rules)).identity == rules.identity


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
