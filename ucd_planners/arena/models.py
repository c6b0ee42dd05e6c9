"""Trained networks as agents: TorchScript, torch.export, ONNX and models of Stable-Baselines3, from files.

A network takes one observation as float32, in one of the layouts, and answers with logits, [1, actions] or [actions], or with a
tuple that begins with them, such as (logits, value). Illegal actions are masked here. The library is imported with the first of
its files. The file of a Stable-Baselines3 model is unpickled, so it can run any code: load only files that you trust.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from ucd_envs.registry import REFERENCE, load
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules
from ucd_envs.settings import real, shown
from ucd_planners.arena.functions import FunctionAgent, Guard, observed
from ucd_planners.notation import parse
from ucd_planners.references import built

LAYOUTS = ("chw", "hwc", "flat")
"""Forms of a network's input: [1, planes, rows, columns], [1, rows, columns, planes], [1, rows * columns * planes]."""
DIGITS = 16
"""Hexadecimal digits of a file's SHA-256 that tell it from others."""
ONNX_TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16, "tensor(int8)": np.int8}
ALGORITHMS = {
    "sb3_contrib.common.maskable.policies": ("sb3_contrib", "MaskablePPO"),
    "stable_baselines3.common.policies": ("stable_baselines3", "PPO"),
    "stable_baselines3.ppo.policies": ("stable_baselines3", "PPO"),
    "stable_baselines3.dqn.policies": ("stable_baselines3", "DQN"),
}
"""Library and class that load a model of Stable-Baselines3, by the module of its policy. PPO loads A2C, whose policy it has."""


class Net:
    """A network as a function of observation, mask and generator.

    answer: a function that returns the logits of an input; layout: the form of its input; temperature: 0 takes the best logit,
    the first of equal ones, above it actions are drawn by softmax(logits / temperature); label: its text in messages; dtype and
    shape: those of its input, the shape where the file tells it, with numbers for lengths that are fixed.
    """

    def __init__(
        self,
        answer: Callable[[np.ndarray], Any],
        label: str,
        layout: str = "chw",
        temperature: float = 0.0,
        dtype: Any = np.float32,
        shape: Sequence[Any] | None = None,
    ) -> None:
        if layout not in LAYOUTS:
            raise ValueError(f"layout must be one of {', '.join(LAYOUTS)}, not {shown(layout)}")
        if not 0 <= real("temperature", temperature) < np.inf:
            raise ValueError(f"temperature must be a finite number, 0 or more, not {temperature!r}")
        self.answer, self.label, self.layout = answer, label, layout
        self.temperature, self.dtype, self.shape = float(temperature), dtype, shape

    def __call__(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> int:
        """Returns a legal action."""
        logits = np.asarray(self.answer(self.arranged(observation)), np.float64).reshape(-1)
        return picked(logits, mask, self.temperature, rng)

    def arranged(self, observation: np.ndarray) -> np.ndarray:
        """Returns an observation in the network's layout."""
        seen = observation.transpose(2, 0, 1) if self.layout == "chw" else observation
        return np.ascontiguousarray(seen.reshape(1, -1) if self.layout == "flat" else seen[None], self.dtype)

    def check(self, rules: Rules) -> None:
        """Raises ValueError, with both shapes, for a game whose observation or actions the network does not fit."""
        state = rules.initial_state().settled(seeded(0))
        if state.over:
            return
        given = self.arranged(observed(state)[0])
        if self.shape is not None and not _fits(self.shape, given.shape):
            seen = f"that of {rules} in the layout {self.layout} is {list(given.shape)}"
            raise ValueError(f"{self.label} takes an input of {list(self.shape)}, but {seen}")
        try:
            shape = np.shape(self.answer(given))
        except Exception as error:
            told = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
            line = next((each for each in reversed(told) if "Error: " in each), told[0]).rpartition("Error: ")[2]
            raise ValueError(f"{self.label} cannot see {rules}, an input of {list(given.shape)}: {line[:300]}") from error
        if shape not in ((rules.actions,), (1, rules.actions)):
            raise ValueError(f"{self.label} answers with {list(shape)}, but {rules} needs logits of [1, {rules.actions}]")


def _fits(declared: Sequence[Any], shape: Sequence[int]) -> bool:
    """Returns whether an input has a declared shape, in which names stand for any length."""
    pairs = zip(declared, shape, strict=False)
    return len(declared) == len(shape) and all(not isinstance(want, int) or want == has for want, has in pairs)


def picked(logits: np.ndarray, mask: np.ndarray, temperature: float, rng: np.random.Generator) -> int:
    """Returns a legal action by its logit: [actions] float64. Raises ValueError where the legal ones are no numbers."""
    legal = np.flatnonzero(mask)
    values = logits[legal]
    most = values.max()
    if not np.isfinite(most):
        raise ValueError(f"the logits of the legal actions are no numbers: {values[:8].tolist()}")
    if temperature == 0.0:
        return int(legal[values.argmax()])
    weights = np.exp((values - most) / temperature)
    return int(rng.choice(legal, p=weights / weights.sum()))


def first_of(answer: Any) -> Any:
    """Returns the logits of an answer: its first part where it has several."""
    if isinstance(answer, dict):
        return next(iter(answer.values()))
    return answer[0] if isinstance(answer, (tuple, list)) else answer


def torch_agent(
    path: Any, layout: str = "chw", temperature: float = 0.0, timeout: float | None = None, digest: str = ""
) -> Guard:
    """Returns the agent of a PyTorch network.

    path: a file of torch.jit.save or torch.export.save, the reference of a function that returns a module or of a module, or a
    module; digest: the file's, another file is refused. Raises ImportError without PyTorch, ValueError for an unusable file.
    """
    torch = library("torch", "torch")
    label = path if isinstance(path, str) else type(path).__name__
    module = path
    if isinstance(path, str) and is_reference(path):
        name, written = parse(path)
        module = built(name, load(name), written)
    elif isinstance(path, str):
        module = _loaded_module(torch, checked_file(path, digest))
    if not callable(module):
        raise ValueError(f"{label} is no network: expected a module that can be called, not {shown(module)}")
    if hasattr(module, "eval") and not isinstance(module, torch.fx.GraphModule):  # what torch.export saves refuses it
        module.eval()

    def answer(given: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            found: np.ndarray = first_of(module(torch.from_numpy(given))).float().cpu().numpy()
            return found

    return Guard(FunctionAgent(Net(answer, label, layout, temperature)), timeout)


def _loaded_module(torch: Any, file: Path) -> Any:
    """Returns the module of a file. Raises ValueError with one sentence for a file that has none."""
    try:
        with zipfile.ZipFile(file) as archive:
            parts = {name.partition("/")[2] for name in archive.namelist()}
        if "constants.pkl" in parts:
            return torch.jit.load(str(file), map_location="cpu")
        if "archive_format" in parts:
            return torch.export.load(str(file)).module()
    except Exception as error:
        raise ValueError(f"{file} cannot be loaded as a network: {str(error).splitlines()[0][:200]}") from error
    raise ValueError(
        f"{file} has weights without a network: save it by torch.jit.save or torch.export.save, or name a function"
    )


def onnx_agent(
    path: str, layout: str = "chw", temperature: float = 0.0, timeout: float | None = None, digest: str = ""
) -> Guard:
    """Returns the agent of an ONNX file, run by onnxruntime in one thread. Its first output are the logits.

    Raises ImportError without onnxruntime, ValueError for an unusable file and for one of several inputs.
    """
    runtime = library("onnxruntime", "onnx")
    file = checked_file(path, digest)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        session = runtime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise ValueError(f"{path} cannot be loaded as ONNX: {str(error).splitlines()[0][:200]}") from error
    inputs = session.get_inputs()
    if len(inputs) != 1 or inputs[0].type not in ONNX_TYPES:
        told = ", ".join(f"{each.name} {each.type}" for each in inputs)
        raise ValueError(f"{path} must have one input, of numbers of a kind in {', '.join(ONNX_TYPES)}, not {told}")

    def answer(given: np.ndarray) -> np.ndarray:
        found: np.ndarray = session.run(None, {inputs[0].name: given})[0]
        return found

    return Guard(FunctionAgent(Net(answer, path, layout, temperature, ONNX_TYPES[inputs[0].type], inputs[0].shape)), timeout)


def sb3_agent(path: str, temperature: float = 0.0, timeout: float | None = None, digest: str = "") -> Guard:
    """Returns the agent of a model that Stable-Baselines3 has saved: MaskablePPO, PPO, A2C or DQN.

    temperature: 0 is the library's deterministic=True, 1 its deterministic=False; for DQN values take the place of logits.
    Raises ImportError without the library, ValueError for a file that is none of its models.
    """
    file = checked_file(path, digest)
    try:
        with zipfile.ZipFile(file) as archive:
            policy = str(json.loads(archive.read("data"))["policy_class"]["__module__"])
    except (OSError, zipfile.BadZipFile, KeyError, ValueError, TypeError) as error:
        raise ValueError(f"{path} is no model of Stable-Baselines3: {type(error).__name__}: {error}") from error
    if policy not in ALGORITHMS:
        raise ValueError(f"{path} has a policy of {policy}: expected a model of MaskablePPO, PPO, A2C or DQN")
    package, name = ALGORITHMS[policy]
    algorithm = getattr(library(package, "sb3"), name)
    try:
        model = algorithm.load(str(file), device="cpu")
    except Exception as error:
        raise ValueError(f"{path} cannot be loaded by {name}: {str(error).splitlines()[0][:200]}") from error
    return Guard(FunctionAgent(Baseline(model, path, temperature)), timeout)


class Baseline(Net):
    """A model of Stable-Baselines3, which takes observations in the form in which it was trained.

    The forms are those of our environments' views: as observed, flat, with planes first, any of them in a dictionary under
    "observation", with or without the mask under "action_mask".
    """

    def __init__(self, model: Any, label: str, temperature: float) -> None:
        super().__init__(lambda given: given, label, "hwc", temperature)
        self.model, self.policy = model, model.policy
        self.policy.set_training_mode(False)

    def __call__(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> int:
        """Returns a legal action."""
        return picked(self.logits(observation, mask), mask, self.temperature, rng)

    def check(self, rules: Rules) -> None:
        """Raises ValueError, with both shapes, for a game whose observation or actions the model does not fit."""
        shape, planes = self._shape(), rules.planes
        if shape not in (planes, (int(np.prod(planes)),), (planes[2], *planes[:2])):
            raise ValueError(f"{self.label} takes observations of {list(shape or ())}, but those of {rules} are {list(planes)}")
        actions = getattr(self.model.action_space, "n", None)
        if actions != rules.actions:
            raise ValueError(f"{self.label} has {actions} actions, but {rules} has {rules.actions}")

    def logits(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns the logits of all actions, for DQN their values: [actions] float64."""
        torch = library("torch", "sb3")
        seen, shape = observation, self._shape()
        if shape != seen.shape:
            seen = seen.reshape(-1) if len(shape) == 1 else seen.transpose(2, 0, 1)
        given: Any = seen
        if hasattr(self.model.observation_space, "spaces"):
            given = {"observation": seen, "action_mask": mask}
            given = {key: given[key] for key in self.model.observation_space.spaces}
        with torch.no_grad():
            tensor, _ = self.policy.obs_to_tensor(given)
            if hasattr(self.policy, "q_net"):
                found = self.policy.q_net(tensor)
            else:
                found = self.policy.get_distribution(tensor).distribution.logits
        return np.asarray(found.cpu().numpy(), np.float64).reshape(-1)

    def _shape(self) -> tuple[int, ...]:
        """Returns the shape of the observations with which the model was trained."""
        space = self.model.observation_space
        own = getattr(space, "spaces", {"observation": space}).get("observation", space)
        return tuple(own.shape or ())


def is_reference(path: str) -> bool:
    """Returns whether a text names an object of Python, `package.module:name`, with parameters or without, and no file."""
    return REFERENCE.fullmatch(path.partition("(")[0].strip()) is not None and not os.path.exists(path)


def library(name: str, extra: str) -> Any:
    """Returns an imported library. Raises ImportError with the extra to install."""
    try:
        return __import__(name)
    except ImportError:
        raise ImportError(f"this agent needs {name}: pip install 'ucd-planners[{extra}]'") from None


def checked_file(path: str, digest: str = "") -> Path:
    """Returns a file by its path. Raises ValueError where there is none, or another one than that of the digest."""
    file = Path(path)
    if not file.is_file():
        raise ValueError(f"there is no file {path}")
    if digest and digest != digest_of(path):
        raise ValueError(f"{path} is another file than the one meant: its digest is {digest_of(path)}, not {shown(digest)}")
    return file


def digest_of(path: str) -> str:
    """Returns the digest of a file, empty for a path that is no file."""
    return sha256(Path(path).read_bytes()).hexdigest()[:DIGITS] if Path(path).is_file() else ""
