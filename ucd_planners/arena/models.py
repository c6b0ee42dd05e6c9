"""Trained networks as agents: TorchScript, torch.export, ONNX and models of Stable-Baselines3, from files.

A network takes one observation as float32, in one of the layouts, and answers with logits, [1, actions] or [actions], or with a
tuple that begins with them, such as (logits, value). Illegal actions are masked here. The library is imported with the first of
its files. The file of a Stable-Baselines3 model is unpickled, so it can run any code: load only files that you trust.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ucd_envs.registry import load
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules
from ucd_envs.settings import one_of, real
from ucd_planners.arena.functions import FunctionAgent, Guard, observed
from ucd_planners.evaluators.loading import (
    LAYOUTS,
    ONNX_TYPES,
    answering,
    arranged,
    baseline_input,
    check_baseline,
    fits,
    last_line,
    library,
    load_baseline,
    load_onnx,
    load_torch,
)
from ucd_planners.grammar import parse
from ucd_planners.references import built, is_reference


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
        one_of("layout", layout, LAYOUTS)
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
        return arranged(observation[None], self.layout, self.dtype)

    def check(self, rules: Rules) -> None:
        """Raises ValueError, with both shapes, for a game whose observation or actions the network does not fit."""
        state = rules.initial_state().settled(seeded(0))
        if state.over:
            return
        given = self.arranged(observed(state)[0])
        if self.shape is not None and not fits(self.shape, given.shape):
            seen = f"that of {rules} in the layout {self.layout} is {list(given.shape)}"
            raise ValueError(f"{self.label} takes an input of {list(self.shape)}, but {seen}")
        try:
            shape = np.shape(self.answer(given))
        except Exception as error:
            raise ValueError(f"{self.label} cannot see {rules}, an input of {list(given.shape)}: {last_line(error)}") from error
        if shape not in ((rules.actions,), (1, rules.actions)):
            raise ValueError(f"{self.label} answers with {list(shape)}, but {rules} needs logits of [1, {rules.actions}]")


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
        module = load_torch(path, digest)
    module = answering(module, label)

    def answer(given: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            found: np.ndarray = first_of(module(torch.from_numpy(given))).float().cpu().numpy()
            return found

    return Guard(FunctionAgent(Net(answer, label, layout, temperature)), timeout)


def onnx_agent(
    path: str, layout: str = "chw", temperature: float = 0.0, timeout: float | None = None, digest: str = ""
) -> Guard:
    """Returns the agent of an ONNX file, run by onnxruntime in one thread. Its first output are the logits.

    Raises ImportError without onnxruntime, ValueError for an unusable file and for one of several inputs.
    """
    session = load_onnx(path, digest)
    told = session.get_inputs()[0]

    def answer(given: np.ndarray) -> np.ndarray:
        found: np.ndarray = session.run(None, {told.name: given})[0]
        return found

    return Guard(FunctionAgent(Net(answer, path, layout, temperature, ONNX_TYPES[told.type], told.shape)), timeout)


def sb3_agent(path: str, temperature: float = 0.0, timeout: float | None = None, digest: str = "") -> Guard:
    """Returns the agent of a model that Stable-Baselines3 has saved: MaskablePPO, PPO, A2C or DQN.

    temperature: 0 is the library's deterministic=True, 1 its deterministic=False; for DQN values take the place of logits.
    Raises ImportError without the library, ValueError for a file that is none of its models.
    """
    return Guard(FunctionAgent(Baseline(load_baseline(path, digest), path, temperature)), timeout)


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
        check_baseline(self.model, self.label, rules)

    def logits(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns the logits of all actions, for DQN their values: [actions] float64."""
        torch = library("torch", "sb3")
        given = baseline_input(self.model, observation[None], mask[None])
        with torch.no_grad():
            tensor, _ = self.policy.obs_to_tensor(given)
            if hasattr(self.policy, "q_net"):
                found = self.policy.q_net(tensor)
            else:
                found = self.policy.get_distribution(tensor).distribution.logits
        return np.asarray(found.cpu().numpy(), np.float64).reshape(-1)
