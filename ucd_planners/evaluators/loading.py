"""Trained networks from files: TorchScript, torch.export, ONNX and models of Stable-Baselines3; and forms of their inputs.

A library is imported with the first of its files. The file of a Stable-Baselines3 model is unpickled, so it can run any code:
load only files that you trust.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from ucd_envs.settings import shown

LAYOUTS = ("chw", "hwc", "flat")
"""Forms of a network's input: [n, planes, rows, columns], [n, rows, columns, planes], [n, rows * columns * planes]."""
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


def arranged(planes: np.ndarray, layout: str, dtype: Any) -> np.ndarray:
    """Returns observations [n, rows, columns, planes] in a network's layout and type."""
    seen = planes.transpose(0, 3, 1, 2) if layout == "chw" else planes
    return np.ascontiguousarray(seen.reshape(len(planes), -1) if layout == "flat" else seen, dtype)


def fits(declared: Sequence[Any], shape: Sequence[int]) -> bool:
    """Returns whether an input has a declared shape, in which names stand for any length."""
    pairs = zip(declared, shape, strict=False)
    return len(declared) == len(shape) and all(not isinstance(want, int) or want == has for want, has in pairs)


def last_line(error: BaseException) -> str:
    """Returns the line of a library's message that says what is wrong."""
    told = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return next((each for each in reversed(told) if "Error: " in each), told[0]).rpartition("Error: ")[2][:300]


def load_torch(path: str, digest: str = "") -> Any:
    """Returns the module of a file of torch.jit.save or torch.export.save, for its answers only.

    digest: the file's, another file is refused. Raises ImportError without PyTorch, ValueError for a file that has no module.
    """
    torch, file = library("torch", "torch"), checked_file(path, digest)
    try:
        with zipfile.ZipFile(file) as archive:
            parts = {name.partition("/")[2] for name in archive.namelist()}
        if "constants.pkl" in parts:
            return torch.jit.load(str(file), map_location="cpu").eval()
        if "archive_format" in parts:
            return torch.export.load(str(file)).module()
    except Exception as error:
        raise ValueError(f"{file} cannot be loaded as a network: {str(error).splitlines()[0][:200]}") from error
    raise ValueError(
        f"{file} has weights without a network: save it by torch.jit.save or torch.export.save, or name a function"
    )


def answering(module: Any, label: str) -> Any:
    """Returns a module of PyTorch set to answer, not to learn. Raises ValueError for anything that cannot be called."""
    if not callable(module):
        raise ValueError(f"{label} is no network: expected a module that can be called, not {shown(module)}")
    if hasattr(module, "eval") and not isinstance(module, library("torch", "torch").fx.GraphModule):  # torch.export's refuses
        module.eval()
    return module


def load_onnx(path: str, digest: str = "") -> Any:
    """Returns the session of an ONNX file, run by onnxruntime in one thread.

    Raises ImportError without onnxruntime, ValueError for an unusable file and for one of several inputs.
    """
    runtime, file = library("onnxruntime", "onnx"), checked_file(path, digest)
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
    return session


def load_baseline(path: str, digest: str = "") -> Any:
    """Returns a model that Stable-Baselines3 has saved: MaskablePPO, PPO, A2C or DQN.

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
        return algorithm.load(str(file), device="cpu")
    except Exception as error:
        raise ValueError(f"{path} cannot be loaded by {name}: {str(error).splitlines()[0][:200]}") from error


def baseline_shape(model: Any) -> tuple[int, ...]:
    """Returns the shape of the observations with which a model of Stable-Baselines3 was trained."""
    space = model.observation_space
    own = getattr(space, "spaces", {"observation": space}).get("observation", space)
    return tuple(own.shape or ())


def baseline_input(model: Any, planes: np.ndarray, masks: np.ndarray) -> Any:
    """Returns observations [n, rows, columns, planes] and masks in the form in which a model was trained.

    The forms are those of our environments' views: as observed, flat, with planes first, any of them in a dictionary under
    "observation", with or without the masks under "action_mask".
    """
    seen, shape = planes, baseline_shape(model)
    if shape != seen.shape[1:]:
        seen = seen.reshape(len(seen), -1) if len(shape) == 1 else seen.transpose(0, 3, 1, 2)
    given: Any = seen
    if hasattr(model.observation_space, "spaces"):
        given = {"observation": seen, "action_mask": masks}
        given = {key: given[key] for key in model.observation_space.spaces}
    return given


def check_baseline(model: Any, label: str, rules: Any) -> None:
    """Raises ValueError, with both shapes, for a game whose observation or actions a model does not fit."""
    shape, planes = baseline_shape(model), rules.planes
    if shape not in (planes, (int(np.prod(planes)),), (planes[2], *planes[:2])):
        raise ValueError(f"{label} takes observations of {list(shape)}, but those of {rules} are {list(planes)}")
    actions = getattr(model.action_space, "n", None)
    if actions != rules.actions:
        raise ValueError(f"{label} has {actions} actions, but {rules} has {rules.actions}")


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
