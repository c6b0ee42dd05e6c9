"""Learning libraries drive our environments unmodified, and the examples of the page on them run.

The libraries run in processes of their own, since their warnings are not ours.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium
import libraries
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import ucd_envs
from ucd_planners import Episodes

ROOT = Path(__file__).resolve().parent.parent
TINY = {
    "learn_with_cleanrl_loop.py": "--steps 512 --games 4",
    "learn_with_rllib.py": "--steps 256 --batch 256 --games 4",
    "learn_with_sb3.py": "--steps 512 --points 2 --games 4",
    "learn_with_tianshou.py": "--steps 512 --games 4",
    "learn_with_torchrl.py": "--steps 512 --games 4",
}
"""Examples, with parameters that keep them short."""
SCORE = re.compile(r"after [\d,]+ steps against (.+): (\d+)% \((\d+)% to (\d+)%\)")


def printed_by(folder: Path, *words: str) -> str:
    """What a program of Python prints in a folder."""
    own = {"OMP_NUM_THREADS": "1", "RAY_USAGE_STATS_ENABLED": "0", "MPLBACKEND": "agg"}
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, *words]
    environment = {**os.environ, **own, "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.learning
@pytest.mark.parametrize("drive", libraries.DRIVES, ids=lambda drive: drive.__name__)
def test_a_library_drives_our_environments(drive: Any, tmp_path: Path) -> None:
    assert "has driven" in printed_by(tmp_path, str(ROOT / "tests" / "libraries.py"), drive.__name__)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, str]]:
    """Runs an example once. Returns the folder in which it ran, and what it printed."""

    @cache
    def ran(name: str) -> tuple[Path, str]:
        folder = tmp_path_factory.mktemp("example")
        return folder, printed_by(folder, str(ROOT / "examples" / name), *TINY[name].split())

    return ran


@pytest.mark.learning
@pytest.mark.parametrize("name", TINY)
def test_an_example_of_a_library_runs(name: str, example: Any) -> None:
    """It ends with scores against chance and against UCT, in their intervals."""
    found = SCORE.findall(example(name)[1])
    assert {"random", "uct(playouts=20)"} == {opponent for opponent, *_ in found}
    assert all(int(low) <= int(score) <= int(high) for _, score, low, high in found)


@pytest.mark.learning
def test_the_network_that_the_example_writes_plays_a_match(example: Any) -> None:
    """Its curve is written as well."""
    folder, _ = example("learn_with_sb3.py")
    assert "uct(playouts=20)" in (folder / "curve.svg").read_text()
    words = ["match", "--game", "connect_four", "--a", 'sb3("model.zip")', "--b", "random", "--games", "4"]
    assert "both" in printed_by(folder, "-c", "import sys; from ucd_planners.cli import main; sys.exit(main())", *words)


@pytest.mark.learning
def test_the_loop_of_its_own_learns(tmp_path: Path) -> None:
    """Against chance, after 20,000 moves; an untrained network wins about as often as it loses."""
    printed = printed_by(tmp_path, str(ROOT / "examples" / "learn_with_cleanrl_loop.py"))
    low = {opponent: int(low) for opponent, _, low, _ in SCORE.findall(printed)}
    assert low["random"] > 75


def test_there_is_an_example_for_each_library() -> None:
    assert {path.name for path in (ROOT / "examples").glob("learn_with_*.py")} == set(TINY)


@pytest.mark.parametrize("name", TINY)
def test_an_example_of_a_library_is_short(name: str) -> None:
    assert len((ROOT / "examples" / name).read_text().splitlines()) <= 105


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
@pytest.mark.parametrize("name", ["ucd_envs/ConnectFour-v0", "ucd_envs/ConnectFour-flat-v0"])
def test_gymnasiums_vectors_give_the_legal_actions_of_every_game(name: str, mode: AutoresetMode) -> None:
    """An action by these masks is legal: a game ends after two moves of the learner at least, and some are won."""
    envs = gymnasium.make_vec(name, 4, vector_kwargs={"autoreset_mode": mode}, opponent="uct(playouts=5)", seat="random")
    boards, infos = envs.reset(seed=3)
    rng, won, begun = np.random.default_rng(2), 0, np.zeros(4, bool)
    length = np.zeros(4, int)
    for _ in range(300):
        masks = np.stack(infos["action_mask"])
        actions = np.array([rng.choice(np.flatnonzero(mask)) if mask.any() else 0 for mask in masks])
        assert (masks.any(axis=1) | begun).all()
        boards, rewards, ended, cut, infos = envs.step(actions)
        assert boards.shape == envs.observation_space.shape
        assert not cut.any()
        length = np.where(begun, 0, length + 1)
        assert (length[ended] >= 3).all()  # the shortest win, or loss, of Connect Four takes four moves
        won += int((rewards == 1).sum())
        if mode is AutoresetMode.SAME_STEP:
            length[ended] = 0
        else:
            begun = ended
    assert won > 3
    envs.close()


def test_pettingzoos_loop_plays_games_by_masked_samples() -> None:
    """The loop of its documentation: `agent_iter`, `last`, and `sample` by the mask."""
    env = ucd_envs.make("connect_four_v0")
    for seed in range(10):
        env.reset(seed=seed)
        totals = dict.fromkeys(env.possible_agents, 0.0)
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            totals[agent] += reward
            over = terminated or truncated
            env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))
            assert not truncated
        assert sorted(totals.values()) in ([-1.0, 1.0], [0.0, 0.0])
        assert env.agents == []


def test_writing_into_observations_changes_no_game() -> None:
    """AgileRL's tutorial on Connect Four swaps planes and multiplies masks in place."""
    env, undisturbed = ucd_envs.make("connect_four_v0"), ucd_envs.make("connect_four_v0")
    env.reset()
    undisturbed.reset()
    rng = np.random.default_rng(1)
    while not any(undisturbed.terminations.values()):
        seen = env.observe(env.agent_selection)
        action = int(rng.choice(np.flatnonzero(seen["action_mask"])))
        state = np.moveaxis(seen["observation"], -1, 0)
        state[[0, 1]] = state[[1, 0]]
        seen["action_mask"] *= 0
        env.step(action)
        undisturbed.step(action)
        for agent in env.possible_agents:
            one, other = env.observe(agent), undisturbed.observe(agent)
            assert all(np.array_equal(one[key], other[key]) for key in other)


@pytest.mark.learning
def test_alphazero_learns_from_its_own_games_and_is_placed_on_the_ladder(tmp_path: Path) -> None:
    """A tiny one on Hex 3x3. Its files are read again, and its network plays a match."""
    words = (
        "--size 3 --generations 2 --every 1 --games 16 --playouts 16 --steps 20 --channels 8 --blocks 1 --matches 10 --place 20"
    )
    printed = printed_by(tmp_path, str(ROOT / "examples" / "alphazero.py"), *words.split())
    assert re.search(r"generation 0: \d+% against UCT \(\d+% to \d+%\)", printed)
    assert re.search(r"generation 2: \d+\.\d moves a game, loss \d\.\d+ \+ \d\.\d+\ngeneration 2: \d+% against UCT", printed)
    assert len(re.findall(r"on the ladder: -?\d+ Elo \(-?\d+ to -?\d+\), as strong as UCT with \d", printed)) == 3
    assert "UCT with 16 playouts" in (tmp_path / "curve.svg").read_text()
    assert len(Episodes.load(tmp_path / "games.npz", ucd_envs.make_rules("hex", size=3))) == 16
    match = ["match", "--game", "hex", "--size", "3", "--a", "puct(net='net.pt',playouts=20)", "--b", "random", "--games", "4"]
    assert "both" in printed_by(tmp_path, "-m", "ucd_planners.cli", *match)
    words = "--size 3 --playouts 20 --games 4"
    printed = printed_by(tmp_path, str(ROOT / "examples" / "alphazero_in_graphs.py"), *words.split())
    positions, *graphs = (float(found) for found in re.findall(r": (\d+\.\d) positions", printed))
    assert len(graphs) == 4
    assert all(0 < count <= positions <= 21 for count in graphs)
    assert len(re.findall(r"against the tree: \d+\.\d% \(\d+\.\d% to \d+\.\d%\), 4 games", printed)) == 4


@pytest.mark.learning
def test_a_network_is_compared_with_uct_of_equal_rating(example: Any) -> None:
    folder, _ = example("learn_with_sb3.py")
    words = "--place 20 --games 4 --judge 200"
    printed = printed_by(folder, str(ROOT / "examples" / "differences_from_uct.py"), *words.split())
    assert re.search(r'^sb3\("model.zip"\) is as strong as UCT with \d+ playouts', printed)
    count, loss = r" +\d+( +\d+\.\d% \(\d+\.\d% to \d+\.\d%\)){2}\n", r" +\d+( +\d\.\d{3} \+- (\d\.\d{3}|nan)){2}\n"
    assert re.search("misses a win at once" + count, printed)
    assert re.search("lets the opponent win at once" + count, printed)
    assert re.search("loses value, plies 0 to 13" + loss, printed)
