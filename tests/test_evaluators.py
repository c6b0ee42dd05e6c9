"""Evaluators: forms of answers, faults and the positions that they name, compiled heuristics, and networks from libraries."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_evaluation import contents
from test_puct import states_of

import ucd_envs
from ucd_envs.kernels import HEADER, kernel
from ucd_envs.structs import fields
from ucd_planners import Planner, puct
from ucd_planners.evaluation import Evaluation
from ucd_planners.evaluators import FunctionEvaluator, Heuristic, evaluator_of
from ucd_planners.notation import canonical, planner_from
from ucd_planners.pool import Pool
from ucd_planners.search.interface import EVALUATE
from ucd_planners.selection.puct import PUCT
from ucd_planners.selection.ucd import UCD

RULES = ucd_envs.make_rules("hex", size=4)
START = RULES.initial_state()


def constant(planes: np.ndarray, masks: np.ndarray, players: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Equal logits, and 3/4 for player 0."""
    return np.zeros(masks.shape, np.float32), np.where(players == 0, 0.75, 0.25).astype(np.float32)


@kernel(EVALUATE)
def three_quarters(config, state, memory, actions, priors, values):
    """The same in compiled code, with weights of 2."""
    for i in range(actions.size):
        priors[i] = np.float32(2.0)
    values[0], values[1] = 0.75, 0.25


@kernel(EVALUATE)
def faulty(config, state, memory, actions, priors, values):
    """Negative priors and a value of 2 at two plies."""
    s = fields(state, HEADER)
    for i in range(actions.size):
        priors[i] = np.float32(-1.0 if s.ply == memory[0] else 1.0)
    values[0] = 2.0 if s.ply == memory[1] else 0.5
    values[1] = 0.5


def graph_of(planner: Planner) -> Any:
    """The graph of a planner's last search, to the last bit."""
    return contents(planner._workers[0].graph)


FORMS = {
    "two values": lambda p, m, s: (constant(p, m, s)[0], np.tile(np.float32([0.75, 0.25]), (len(p), 1))),
    "a column": lambda p, m, s: (constant(p, m, s)[0], constant(p, m, s)[1][:, None]),
    "double numbers": lambda p, m, s: (constant(p, m, s)[0].astype(np.float64), constant(p, m, s)[1].astype(np.float64)),
    "lists": lambda p, m, s: [constant(p, m, s)[0].tolist(), constant(p, m, s)[1].tolist()],
    "illegal moves": lambda p, m, s: (np.where(m == 0, np.nan, 0.0), constant(p, m, s)[1]),
}


@pytest.mark.parametrize("form", FORMS)
def test_answers_in_every_form_are_the_same(form: str) -> None:
    """Values [n], [n, 1] and [n, players], of any kind of number; logits of illegal moves are ignored."""
    planners = [puct(function, playouts=150, seed=1) for function in (constant, FORMS[form])]
    for planner in planners:
        planner.search(START)
    assert graph_of(planners[0]) == graph_of(planners[1])


def test_weights_signed_values_and_compiled_kernels_stand_for_the_same() -> None:
    """Weights in proportion, values from -1 to 1, and a kernel that never leaves the loop."""

    def weights(planes: np.ndarray, masks: np.ndarray, players: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.full(masks.shape, 3.0), 2 * constant(planes, masks, players)[1] - 1

    kinds = [constant, FunctionEvaluator(weights, logits=False, signed=True), Heuristic(three_quarters)]
    planners = [puct(kind, playouts=150, seed=1) for kind in kinds]
    for planner in planners:
        planner.search(START)
    graphs = [graph_of(planner) for planner in planners]
    assert graphs[0] == graphs[1] == graphs[2]


def test_a_net_is_shown_what_an_environment_shows() -> None:
    """Planes and masks of the player to move, as `observe` returns them."""
    env, seen = ucd_envs.make("hex_v0", size=4), []

    def look(planes: np.ndarray, masks: np.ndarray, players: np.ndarray) -> Any:
        assert (planes.dtype, masks.dtype) == (np.int8, np.int8)
        seen.append((planes[0].copy(), masks[0].copy(), int(players[0])))
        return constant(planes, masks, players)

    env.reset()
    for action in (5, 3):
        env.step(action)
    puct(look, playouts=1).act(env)
    shown = env.observe(env.agent_selection)
    assert np.array_equal(seen[0][0], shown["observation"])
    assert np.array_equal(seen[0][1], shown["action_mask"])
    assert seen[0][2] == 0


def test_values_of_a_net_stand_for_playouts_in_ucd() -> None:
    """A selection without priors; with mix=1 its search is the one with playouts, to the last bit."""
    played, mixed = (Planner(UCD(1, 0, 1), playouts=200, seed=2, evaluation=each) for each in (None, MIXED))
    for planner in (played, mixed):
        planner.search(START)
    assert graph_of(played) == graph_of(mixed)
    only = Planner(UCD(table=False), playouts=16, evaluation=Evaluation(FunctionEvaluator(constant)))
    assert only.search(START).values.tolist() == [0.75] * 16


MIXED = Evaluation(FunctionEvaluator(constant), mix=1.0)


def at_ply(ply: int, change: Any) -> Any:
    """The constant net, whose answer is changed for positions after so many stones."""

    def function(planes: np.ndarray, masks: np.ndarray, players: np.ndarray) -> Any:
        logits, values = constant(planes, masks, players)
        for row in np.flatnonzero(planes[..., :2].sum(axis=(1, 2, 3)) == ply):
            change(logits[row], values[row : row + 1])
        return logits, values

    return function


def put(part: int, value: float, place: Any = slice(None)) -> Any:
    """A change of logits (0) or of the value (1)."""

    def change(*answer: np.ndarray) -> None:
        answer[part][place] = value

    return change


FAULTS = {
    "a NaN": (True, put(0, np.nan, 7), "priors that are NaN on legal moves"),
    "an infinity": (True, put(0, np.inf, 7), "priors that are infinite on legal moves"),
    "a negative weight": (False, put(0, -1.0, 7), "priors that are negative on legal moves"),
    "no weight": (False, put(0, 0.0), "priors that are all zero on legal moves"),
    "no logit": (True, put(0, -np.inf), "priors that are all zero on legal moves"),
    "a value above 1": (True, put(1, 1.5), "a value outside of its range, .1.5.: payoffs go from 0 to 1"),
    "a value below 0": (True, put(1, -0.25), "outside of its range, .-0.25.: payoffs go from 0 to 1, or with signed=True"),
    "a value of NaN": (True, put(1, np.nan), "a value outside of its range, .nan."),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_answer_that_is_no_evaluation_is_refused_with_its_position(fault: str) -> None:
    """At the root and below it; the search is then where it was, and goes on when it is asked again."""
    logits, change, message = FAULTS[fault]

    def valid(planes: np.ndarray, masks: np.ndarray, players: np.ndarray) -> Any:
        found, values = constant(planes, masks, players)
        return found if logits else np.ones_like(found), values

    for ply, where in ((0, "at the root"), (2, r"after the actions [\d ]+ from the root")):
        broken = [ply]

        def function(planes: np.ndarray, masks: np.ndarray, players: np.ndarray, plies: list[int] = broken) -> Any:
            answer = valid(planes, masks, players)
            for row in np.flatnonzero(np.isin(planes[..., :2].sum(axis=(1, 2, 3)), plies)):
                change(answer[0][row], answer[1][row : row + 1])
            return answer

        sound, planner = (
            Planner(PUCT(d1=1, d3=1), playouts=100, evaluation=Evaluation(FunctionEvaluator(each, logits)))
            for each in (valid, function)
        )
        pool, whole = Pool(planner, RULES, 1), Pool(sound, RULES, 1)
        for each in (pool, whole):
            each.begin([START], np.ones((1, 2), np.uint64))
        with pytest.raises(ValueError, match=rf"function gives hex_v0.*{message}.*\({where}\)"):
            pool.run()
        stopped = [contents(worker.graph) for worker in pool.workers]
        with pytest.raises(ValueError, match=message):
            pool.run()
        assert [contents(worker.graph) for worker in pool.workers] == stopped
        broken.clear()
        pool.run()
        whole.run()
        assert [contents(worker.graph) for worker in pool.workers] == [contents(worker.graph) for worker in whole.workers]


def test_what_an_evaluator_raises_comes_out_unchanged() -> None:
    """And the search can go on from where it was."""

    class OwnError(Exception):
        pass

    error, calls = OwnError("out of memory"), []

    def failing(planes: np.ndarray, masks: np.ndarray, players: np.ndarray) -> Any:
        calls.append(len(planes))
        if len(calls) == 5:
            raise error
        return constant(planes, masks, players)

    with pytest.raises(OwnError) as caught:
        puct(failing, playouts=20).act(START)
    assert caught.value is error
    calls.clear()
    pools = [Pool(puct(function, playouts=40), RULES, 3) for function in (failing, constant)]
    for pool in pools:
        pool.begin([START, START.after(1), START.after(2)], np.ones((3, 2), np.uint64))
    with pytest.raises(OwnError):
        pools[0].run()
    for pool in pools:
        pool.run()
    first, second = ([contents(worker.graph) for worker in pool.workers] for pool in pools)
    assert first == second


WRONG = {
    "not a pair": (lambda p, m, s: constant(p, m, s)[0], "must answer with a policy and values, not with ndarray"),
    "another board": (lambda p, m, s: (np.zeros((len(p), 121)), np.zeros(len(p))), r"\[1, 121\], but hex_v0.* needs \[1, 16\]"),
    "a row less": (lambda p, m, s: (np.zeros((0, 16)), np.zeros(len(p))), r"a policy of \[0, 16\], but .* needs \[1, 16\]"),
    "three values": (
        lambda p, m, s: (np.zeros((len(p), 16)), np.zeros((len(p), 3))),
        r"\[1, 3\], but .* or \[1, 2\]",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_answers_of_a_wrong_shape_are_refused_with_both(wrong: str) -> None:
    """Of the answer and of the game."""
    function, message = WRONG[wrong]
    with pytest.raises(ValueError, match=message):
        puct(function, playouts=5).act(START)


def test_faults_of_a_compiled_kernel_name_their_position_too() -> None:
    """Plies at which it fails are its parameters."""
    cases = {
        (2, 99): r"faulty gives hex_v0.*priors that are negative.* \(after the actions \d+ \d+ from",
        (99, 2): r"a value outside of its range, .2.0, 0.5.*after the actions \d+ \d+ from",
    }
    for plies, message in cases.items():
        heuristic = Heuristic(faulty, lambda rules, plies=plies: np.array(plies, np.uint8))
        with pytest.raises(ValueError, match=message):
            puct(heuristic, playouts=200).act(START)


def test_what_a_planner_cannot_do_with_an_evaluator_is_refused_with_a_sentence() -> None:
    """Options, games with chance, and PUCT without one."""
    with pytest.raises(ValueError, match=r"PUCT.* needs priors: give the planner an evaluation"):
        Planner(PUCT())
    for options, message in (
        ({"workers": 2, "playouts": 4}, "goes without workers"),
        ({"expand": "all"}, "goes without expand"),
        ({"noise": (0.3, 0.0)}, "alpha must be a number above 0"),
        ({"noise": (1.3, 0.1)}, "the share of noise must be a number from 0 to 1"),
        ({"noise": "a lot"}, "noise must be two numbers, .* such as '0.25 0.3', not 'a lot'"),
        ({"mix": 2.0}, "mix must be a number from 0 to 1"),
        ({"remember": 100}, "remember must be 0 or a power of two, 4 or more, not 100"),
        ({"temperature": -1.0}, "temperature must be a number, 0 or more"),
        ({"temperature": 1.0, "stop_early": True}, "stop_early goes with temperature=0"),
        ({"table": True, "d1": -1}, "d1 must be 0, 1, 2, ... or inf"),
        ({"reduction": 3.0}, "reduction must be a number from -1 to 1"),
    ):
        with pytest.raises(ValueError, match=message):
            puct(constant, **options)
    kept = puct(constant, playouts=5, reuse_graph=True)
    kept.act(START)
    with pytest.raises(ValueError, match="a search with the evaluator constant cannot be saved"):
        kept.save("search.npz")
    with pytest.raises(TypeError, match=r"evaluation must be such as Evaluation\(evaluator_of\(net\)\), not 'net'"):
        Planner(UCD(), evaluation="net")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"planner must be one without reuse_graph"):
        kept.search_many([START])
    pig = ucd_envs.make_rules("pig")
    with pytest.raises(ValueError, match="does not serve pig_v0, a game with chance"):
        puct(constant, playouts=5).act(pig.initial_state())
    with pytest.raises(ValueError, match="noise and several leaves are for priors"):
        Planner(UCD(), evaluation=Evaluation(FunctionEvaluator(constant), noise=(0.25, 0.3)))
    with pytest.raises(TypeError, match="must be a function of planes, masks and players, not 3"):
        puct(3)


def test_a_planner_is_written_with_its_net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reference names a net, or a function that returns one; its text is complete."""
    (tmp_path / "small_nets.py").write_text(
        "import numpy as np\n"
        "def even(planes, masks, players):\n    return np.zeros(masks.shape), np.full(len(planes), 0.5)\n"
        "def made(value=0.5):\n    return lambda p, m, s: (np.zeros(m.shape), np.full(len(p), value))\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    named = planner_from("puct(net=small_nets:even,playouts=40)", seed=1)
    made = planner_from("puct(net='small_nets:made(value=0.5)',playouts=40,noise='0 0.3')", seed=1)
    assert named.act(START) == made.act(START) == planner_from("puct(net=small_nets:even,playouts=40)", seed=1).act(START)
    assert canonical("puct(net=small_nets:even,playouts=40)") == (
        "puct(net=small_nets:even,c=1.5,d1=1,d2=0,d3=1,table=true,reduction=0,gumbel=0,batch=64,leaves=1,mix=0,noise=none,remember=65536,"
        "layout='chw',logits=true,signed=false,playouts=40)".replace("'chw'", "chw")
    )
    with pytest.raises(ValueError, match=r"there is no file missing\.onnx|pip install"):
        planner_from("puct(net='missing.onnx')")


NETS = """
import torch

class Net(torch.nn.Module):
    def __init__(self, size=4):
        super().__init__()
        self.body = torch.nn.Conv2d(3, 4, 3, padding=1)
        self.policy, self.value = torch.nn.Linear(4 * size * size, size * size), torch.nn.Linear(4 * size * size, 1)

    def forward(self, seen):
        hidden = torch.relu(self.body(seen)).flatten(1)
        return self.policy(hidden), torch.tanh(self.value(hidden))

def made(size=4):
    torch.manual_seed(1)
    return Net(size).eval()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module of networks, which is the current one."""
    (tmp_path / "torch_nets.py").write_text(NETS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "torch_nets", raising=False)
    return tmp_path


@pytest.mark.learning
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
def test_a_network_is_the_same_as_a_module_as_a_file_and_as_a_function(folder: Path) -> None:
    """PyTorch, TorchScript, ONNX with a free and with a fixed batch, a reference, and a function that calls it."""
    import torch
    import torch_nets

    module, example = torch_nets.made(), torch.zeros(1, 3, 4, 4)
    torch.jit.script(module).save("net.pt")
    torch.onnx.export(module, (example,), "fixed.onnx", dynamo=False)
    free = {"input_names": ["seen"], "dynamic_axes": {"seen": {0: "n"}}}
    torch.onnx.export(module, (example,), "net.onnx", dynamo=False, **free)

    def function(planes: np.ndarray, masks: np.ndarray, players: np.ndarray) -> Any:
        with torch.no_grad():
            policy, values = module(torch.from_numpy(planes.transpose(0, 3, 1, 2).astype(np.float32)))
            return policy.numpy(), values.numpy()

    results = []
    for kind in (module, "net.pt", "net.onnx", "fixed.onnx", "torch_nets:made", "torch_nets:made(size=4)", function):
        planner = puct(kind, playouts=60, seed=1, signed=True, batch=5)
        results.append([result.visits.tolist() for result in planner.search_many(states_of(RULES, 6))])
    assert all(result == results[0] for result in results)


@pytest.mark.learning
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
def test_a_network_for_another_board_says_both_shapes(folder: Path) -> None:
    """Of its input, or of its answer."""
    import torch
    import torch_nets

    with pytest.raises(ValueError, match=r"Net cannot see hex_v0.*, an input of \['n', 3, 5, 5\]: mat1 and mat2"):
        puct(torch_nets.made(), playouts=5, signed=True).act(ucd_envs.make_rules("hex", size=5).initial_state())
    torch.onnx.export(torch_nets.made(), (torch.zeros(1, 3, 4, 4),), "net.onnx", dynamo=False)
    with pytest.raises(ValueError, match=r"takes an input of \[1, 3, 4, 4\], but that of hex_v0.* is \['n', 3, 5, 5\]"):
        puct("net.onnx", playouts=5).act(ucd_envs.make_rules("hex", size=5).initial_state())


def test_values_of_another_range_are_said_with_the_option_for_them() -> None:
    def negative(planes: np.ndarray, masks: np.ndarray, players: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(masks.shape, np.float32), np.full(len(planes), -0.5, np.float32)

    with pytest.raises(ValueError, match=r"a value outside of its range.*or with signed=True from -1 to 1"):
        puct(negative, playouts=60).act(START)
    assert puct(negative, playouts=60, signed=True).search(START).playouts == 60


@pytest.mark.learning
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_a_masked_policy_guides_a_search(tmp_path: Path) -> None:
    """A MaskablePPO model, as it is and from its file: its logits are priors, its values payoffs."""
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.env_util import make_vec_env

    env = make_vec_env("ucd_envs/Hex-v0", n_envs=1, seed=1, env_kwargs={"size": 4, "opponent": "random"})
    model = MaskablePPO("MlpPolicy", env, seed=1, n_steps=64, device="cpu")
    model.save(tmp_path / "model.zip")
    found = [puct(kind, playouts=60, seed=1).search(START) for kind in (model, str(tmp_path / "model.zip"))]
    assert found[0].visits.tolist() == found[1].visits.tolist()
    seen = np.zeros((1, 4, 4, 3), np.int8)
    RULES.kernels.observe(RULES.config, START.array(), 0, seen.reshape(-1))
    with torch.no_grad():
        expected = model.policy.get_distribution(model.policy.obs_to_tensor(seen)[0]).distribution.probs.numpy()[0]
    assert found[0].priors is not None
    assert np.allclose(found[0].priors, expected, atol=1e-5)
    with pytest.raises(ValueError, match=r"takes observations of \[4, 4, 3\], but those of hex_v0.* are \[5, 5, 3\]"):
        puct(model, playouts=5).act(ucd_envs.make_rules("hex", size=5).initial_state())
    assert evaluator_of(model).signed
