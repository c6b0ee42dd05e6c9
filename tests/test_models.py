"""Trained networks as agents: files of torch, ONNX and Stable-Baselines3, their shapes, and games that they do not fit."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ucd_envs
from ucd_planners.arena.agents import agent_from, canonical_player
from ucd_planners.arena.functions import observed
from ucd_planners.arena.match import Match, play_match
from ucd_planners.arena.models import Net, picked, torch_agent

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.*is deprecated:FutureWarning")
SIZE = 4
SETTINGS = {"size": SIZE}
NETS = """
import torch

class Net(torch.nn.Module):
    def __init__(self, form, size, actions):
        super().__init__()
        inputs = {"chw": 3, "hwc": size, "flat": 3 * size * size}[form]
        self.form = form
        self.first = torch.nn.Linear(inputs, 8) if form == "flat" else torch.nn.Conv2d(inputs, 4, 3, padding=1)
        width = {"chw": size * size, "hwc": size * 3, "flat": 2}[form]
        self.last = torch.nn.Linear(4 * width, actions)

    def forward(self, seen):
        hidden = torch.relu(self.first(seen)).flatten(1)
        return self.last(hidden), hidden.mean(1)

def net(form="chw", size=4, actions=16):
    torch.manual_seed(1)
    return Net(form, size, actions)
"""
FORMS = {"chw": (1, 3, SIZE, SIZE), "hwc": (1, SIZE, SIZE, 3), "flat": (1, 3 * SIZE * SIZE)}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module of networks, which is the current one."""
    (tmp_path / "tiny_nets.py").write_text(NETS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "tiny_nets", raising=False)
    return tmp_path


def network(form: str = "chw", **sizes: int) -> Any:
    """A network of the folder's module."""
    sys.path.insert(0, ".")
    import tiny_nets

    return tiny_nets.net(form, **sizes).eval()


def saved(kind: str, form: str = "chw") -> str:
    """The text of an agent whose network was saved in a way."""
    import torch

    example = (torch.zeros(*FORMS[form]),)
    if kind == "script":
        torch.jit.script(network(form)).save("net.pt")
        return f"torch('net.pt', layout={form})"
    if kind == "export":
        torch.export.save(torch.export.export(network(form), example), "net.pt2")
        return f"torch('net.pt2', layout={form})"
    if kind == "onnx":
        torch.onnx.export(network(form), example, "net.onnx", dynamo=False)
        return f"onnx('net.onnx', layout={form})"
    return f"torch('tiny_nets:net(form={form})', layout={form})"


def played(a: Any, b: Any = "random", games: int = 4, settings: Any = SETTINGS, seed: int = 2) -> list[tuple[int, ...]]:
    result = play_match(Match("hex", a, b, settings, games=games, seed=seed))
    assert result.failures == []
    return [game.moves for game in result.games]


def positions(count: int = 20) -> list[Any]:
    """States of random games of Hex."""
    state, choice, found = ucd_envs.make_rules("hex", **SETTINGS).initial_state(), np.random.default_rng(1), []
    while len(found) < count:
        found.append(state)
        state = state.after(int(choice.choice(state.legal_actions())))
        state = state.rules.initial_state() if state.over else state
    return found


# The choice by logits.


def test_the_best_legal_logit_is_taken_and_the_first_of_equal_ones() -> None:
    mask = np.array([0, 1, 1, 1], np.int8)
    assert picked(np.array([9.0, 1.0, 3.0, 3.0]), mask, 0.0, np.random.default_rng(1)) == 2


def test_a_temperature_draws_by_softmax() -> None:
    """Logits 0 and ln 3 at temperature 1 have the shares 1/4 and 3/4; at temperature 1/2 they have 1/10 and 9/10."""
    mask, logits, rng = np.array([1, 0, 1], np.int8), np.array([0.0, 50.0, np.log(3.0)]), np.random.default_rng(1)
    for temperature, share in ((1.0, 0.75), (0.5, 0.9)):
        drawn = [picked(logits, mask, temperature, rng) for _ in range(4000)]
        assert set(drawn) == {0, 2}
        assert abs(drawn.count(2) / 4000 - share) < 4 * np.sqrt(share * (1 - share) / 4000)


@pytest.mark.parametrize("worst", [np.nan, np.inf, -np.inf])
def test_logits_that_are_no_numbers_fail_the_game(worst: float) -> None:
    result = play_match(Match("hex", net_of(lambda given: np.full(9, worst)), "random", {"size": 3}, games=2))
    assert {game.failure.partition(":")[0] for game in result.failures} == {"a raises ValueError"}
    assert "the logits of the legal actions are no numbers" in result.failures[0].failure


def net_of(answer: Any, **options: Any) -> Any:
    """A network by its answer."""
    return Calling(Net(answer, "mine", **options))


class Calling:
    """A function of three parameters, with the check of its network."""

    def __init__(self, net: Net) -> None:
        self.net, self.check = net, net.check

    def __call__(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> int:
        return self.net(observation, mask, rng)


@pytest.mark.parametrize("layout", FORMS)
def test_an_observation_is_arranged_by_the_layout(layout: str) -> None:
    state = positions()[7]
    seen = observed(state)[0]
    given = Net(lambda given: given, "net", layout).arranged(seen)
    assert (given.shape, given.dtype) == (FORMS[layout], np.float32)
    expected = {"chw": np.moveaxis(seen, 2, 0), "hwc": seen, "flat": seen.reshape(-1)}[layout]
    assert np.array_equal(given[0], expected)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"layout": "nchw"}, "layout must be one of chw, hwc, flat, not 'nchw'"),
        ({"temperature": -1.0}, "temperature must be a finite number, 0 or more, not -1.0"),
        ({"temperature": np.inf}, "temperature must be a finite number, 0 or more, not inf"),
    ],
)
def test_an_option_out_of_range_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        Net(lambda given: given, "net", **options)


def test_too_few_logits_are_refused_before_any_game() -> None:
    with pytest.raises(ValueError, match=r"^mine answers with \[5\], but hex_v0\(.*\) needs logits of \[1, 9\]$"):
        Match("hex", net_of(lambda given: np.zeros(5)), "random", {"size": 3})


# Files.


@pytest.mark.learning
@pytest.mark.parametrize("form", FORMS)
def test_one_network_plays_the_same_games_in_every_form_of_a_file(form: str, folder: Path) -> None:
    games = [played(saved(kind, form)) for kind in ("script", "export", "onnx", "reference")]
    assert games == [games[0]] * 4
    assert len(set(games[0])) > 1


@pytest.mark.learning
def test_a_network_plays_its_best_legal_move(folder: Path) -> None:
    import torch

    net, agent = network(), agent_from(saved("script"), {})
    agent.begin(positions()[0].rules, 1, None)
    for state in positions():
        with torch.no_grad():
            logits = net(torch.from_numpy(observed(state)[0].transpose(2, 0, 1)[None]).float())[0][0].numpy()
        assert agent.choose(state, ()).action == max(state.legal_actions(), key=lambda action: logits[action])


@pytest.mark.learning
def test_a_module_plays_as_an_object(folder: Path) -> None:
    assert played(torch_agent(network())) == played(saved("reference"))


@pytest.mark.learning
def test_drawn_moves_follow_from_the_seed(folder: Path) -> None:
    text = saved("onnx").replace("layout", "temperature=1, layout")
    assert played(text, seed=5) == played(text, seed=5) != played(text, seed=6)


@pytest.mark.learning
def test_networks_play_in_processes(folder: Path) -> None:
    match = Match("hex", saved("onnx"), "random", SETTINGS, games=6)
    assert [game.moves for game in play_match(match, 2).games] == [game.moves for game in play_match(match).games]


@pytest.mark.learning
@pytest.mark.parametrize(
    ("kind", "settings", "sentence"),
    [
        ("script", {"size": 5}, r"net\.pt cannot see hex_v0\(.*\), an input of \[1, 3, 5, 5\]: .* \(1x100 and 64x16\)"),
        ("export", {"size": 5}, r"net\.pt2 cannot see hex_v0\(.*\), an input of \[1, 3, 5, 5\]: .* == 4"),
        ("onnx", {"size": 5}, r"net\.onnx takes an input of \[1, 3, 4, 4\], but that of hex_v0\(.*\) .* is \[1, 3, 5, 5\]"),
        ("reference", {"rows": 2, "columns": 8}, None),
    ],
)
def test_a_game_of_another_shape_is_refused_before_any_game(
    kind: str, settings: Any, sentence: str | None, folder: Path
) -> None:
    """Both shapes are said. A board of as many cells fits a network that never looks at its sides."""
    if sentence is None:
        assert played(saved(kind), settings=settings)
        return
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        Match("hex", saved(kind), "random", settings)


@pytest.mark.learning
def test_a_network_of_other_actions_is_refused(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"answers with \[1, 9\], but hex_v0\(.*\) needs logits of \[1, 16\]$"):
        Match("hex", "torch('tiny_nets:net(actions=9)')", "random", SETTINGS)


@pytest.mark.learning
def test_files_without_a_network_are_refused(folder: Path) -> None:
    import torch

    torch.save(network().state_dict(), "weights.pt")
    (folder / "text.txt").write_text("no network")
    for text, sentence in (
        ("torch('weights.pt')", r"weights\.pt has weights without a network: save it by torch\.jit\.save"),
        ("torch('text.txt')", r"text\.txt cannot be loaded as a network: File is not a zip file"),
        ("onnx('text.txt')", r"text\.txt cannot be loaded as ONNX: "),
        ("sb3('text.txt')", r"text\.txt is no model of Stable-Baselines3: BadZipFile"),
        ("sb3('weights.pt')", r"weights\.pt is no model of Stable-Baselines3: KeyError"),
        ("torch('tiny_nets:torch')", r"tiny_nets:torch is no network: expected a module that can be called, not <module"),
    ):
        with pytest.raises(ValueError, match=f"^{sentence}"):
            agent_from(text, {})


@pytest.mark.learning
def test_another_file_under_the_same_name_is_another_player(folder: Path) -> None:
    text = saved("onnx", "chw")
    first = canonical_player(text, {})
    assert played(first) == played(text)
    assert canonical_player(first, {}) == first
    import torch

    torch.onnx.export(network("chw", size=4, actions=25), (torch.zeros(1, 3, 4, 4),), "net.onnx", dynamo=False)
    assert canonical_player(text, {}) != first
    with pytest.raises(ValueError, match=r"^net\.onnx is another file than the one meant: its digest is \w{16}, not '\w{16}'$"):
        agent_from(first, {})


# Stable-Baselines3.


def begun(name: str, view: str = "plain") -> str:
    """The text of a model, as it begins, on a view of Hex."""
    import gymnasium
    import sb3_contrib
    import stable_baselines3

    class View(gymnasium.ObservationWrapper):  # type: ignore[misc]
        def __init__(self, env: Any) -> None:
            super().__init__(env)
            shape = {"flat": (48,), "planes": (3, SIZE, SIZE)}.get(view, (SIZE, SIZE, 3))
            self.observation_space = gymnasium.spaces.Box(0, 1, shape, np.float32)
            if view == "dictionary":
                mask = gymnasium.spaces.Box(0, 1, (SIZE * SIZE,), np.int8)
                self.observation_space = gymnasium.spaces.Dict(observation=self.observation_space, action_mask=mask)

        def observation(self, seen: np.ndarray) -> np.ndarray:
            turned = seen.transpose(2, 0, 1) if view == "planes" else seen
            return turned.reshape(self.observation_space.shape).astype(np.float32)

        def action_masks(self) -> np.ndarray:
            return self.env.unwrapped.action_masks()  # type: ignore[no-any-return]

    env = View(gymnasium.make("ucd_envs/Hex-v0", size=SIZE))
    library = sb3_contrib if name == "MaskablePPO" else stable_baselines3
    policy = "MultiInputPolicy" if view == "dictionary" else "MlpPolicy"
    model = getattr(library, name)(policy, env, seed=1, device="cpu")
    model.save("model.zip")
    return "sb3('model.zip')"


@pytest.mark.learning
@pytest.mark.parametrize("view", ["plain", "flat", "planes"])
@pytest.mark.parametrize("name", ["MaskablePPO", "PPO", "A2C", "DQN"])
def test_a_model_plays_what_its_library_predicts(name: str, view: str, folder: Path) -> None:
    """At temperature 0 it predicts deterministically. A model without masks is asked only where its choice is legal."""
    import sb3_contrib
    import stable_baselines3

    agent = agent_from(begun(name, view), {})
    model = getattr(sb3_contrib if name == "MaskablePPO" else stable_baselines3, name).load("model.zip", device="cpu")
    agent.begin(positions()[0].rules, 1, None)
    agreed = 0
    for state in positions():
        seen, mask = observed(state)
        turned = seen.transpose(2, 0, 1) if view == "planes" else seen
        given = turned.reshape(model.observation_space.shape).astype(np.float32)
        masks = {"action_masks": mask.astype(bool)} if name == "MaskablePPO" else {}
        predicted = int(model.predict(given, deterministic=True, **masks)[0])
        if mask[predicted]:
            assert agent.choose(state, ()).action == predicted
            agreed += 1
    assert agreed == 20 if name == "MaskablePPO" else agreed > 0


@pytest.mark.learning
def test_a_model_of_dictionaries_sees_the_mask_too(folder: Path) -> None:
    import sb3_contrib

    agent = agent_from(begun("MaskablePPO", "dictionary"), {})
    model = sb3_contrib.MaskablePPO.load("model.zip", device="cpu")
    agent.begin(positions()[0].rules, 1, None)
    for state in positions(8):
        seen, mask = observed(state)
        given = {"observation": seen.astype(np.float32), "action_mask": mask}
        predicted = model.predict(given, deterministic=True, action_masks=mask.astype(bool))[0]
        assert agent.choose(state, ()).action == predicted


@pytest.mark.learning
def test_a_model_draws_as_its_library_does(folder: Path) -> None:
    """The shares of 2,000 moves at temperature 1 are the probabilities of the policy."""
    import sb3_contrib

    agent = agent_from(begun("MaskablePPO").replace("')", "', temperature=1)"), {})
    model = sb3_contrib.MaskablePPO.load("model.zip", device="cpu")
    state = positions()[9]
    seen, mask = observed(state)
    tensor = model.policy.obs_to_tensor(seen.astype(np.float32))[0]
    shares = model.policy.get_distribution(tensor, action_masks=mask.astype(bool)[None]).distribution.probs[0].detach().numpy()
    agent.begin(state.rules, 1, None)
    drawn = np.bincount([agent.choose(state, ()).action or 0 for _ in range(2000)], minlength=16) / 2000
    assert np.all(np.abs(drawn - shares) < 5 * np.sqrt(shares / 2000) + 1e-3)


@pytest.mark.learning
def test_a_model_plays_whole_games(folder: Path) -> None:
    assert len(played(begun("MaskablePPO"), "uct(playouts=5)")) == 4


@pytest.mark.learning
def test_a_model_of_another_observation_is_refused_with_both_shapes(folder: Path) -> None:
    sentence = r"model\.zip takes observations of \[4, 4, 3\], but those of hex_v0\(.*\) are \[5, 5, 3\]"
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        Match("hex", begun("PPO"), "random", {"size": 5})


@pytest.mark.learning
def test_a_model_of_an_unknown_policy_is_refused(folder: Path) -> None:
    import zipfile

    with zipfile.ZipFile("odd.zip", "w") as archive:
        archive.writestr("data", '{"policy_class": {"__module__": "sb3_contrib.tqc.policies"}}')
    with pytest.raises(
        ValueError, match=r"^odd\.zip has a policy of sb3_contrib\.tqc\.policies: expected a model of MaskablePPO"
    ):
        agent_from("sb3('odd.zip')", {})


@pytest.mark.parametrize(("text", "library"), [("torch('net.pt')", "torch"), ("onnx('net.onnx')", "onnxruntime")])
def test_without_its_library_an_agent_tells_what_installs_it(
    text: str, library: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    extra = "torch" if library == "torch" else "onnx"
    with pytest.raises(ImportError, match=rf"^this agent needs {library}: pip install 'ucd-planners\[{extra}\]'$"):
        agent_from(text, {})
