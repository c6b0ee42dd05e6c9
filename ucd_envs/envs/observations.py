"""Wrappers of PettingZoo environments that change the form of observations. They may be put on each other."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import BaseWrapper

from ucd_envs.rules import State

AEC: TypeAlias = AECEnv[str, dict[str, np.ndarray], int]
"""Environments whose observations are dictionaries with "observation" and "action_mask"."""


class ObservationWrapper(BaseWrapper[str, dict[str, np.ndarray], int]):
    """An environment whose observations have another form, the common part of the wrappers that change them. Masks stay."""

    def __init__(self, env: AEC) -> None:
        super().__init__(env)
        self._spaces: dict[str, spaces.Dict] = {}

    @abstractmethod
    def changed(self, observation: np.ndarray) -> np.ndarray:
        """Returns an observation, or a bound of its space, in the new form: a fresh array."""

    def observation_space(self, agent: str) -> spaces.Dict:
        """Returns the space of observation, in its new form, and action mask, the same object on every call."""
        if agent not in self._spaces:
            below = parts(self.env.observation_space(agent))
            box: Any = below["observation"]
            low, high = self.changed(box.low), self.changed(box.high)
            new = spaces.Box(low, high, dtype=low.dtype)
            self._spaces[agent] = spaces.Dict([("observation", new), ("action_mask", below["action_mask"])])
        return self._spaces[agent]

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """Returns the position seen from an agent, with its legal actions if it is to move."""
        seen = self.env.observe(agent)
        return {"observation": self.changed(seen["observation"]), "action_mask": seen["action_mask"]}


class ChannelsFirstWrapper(ObservationWrapper):
    """Moves the planes of observations first, as PyTorch's convolutions expect: planes x rows x columns."""

    def changed(self, observation: np.ndarray) -> np.ndarray:
        """Returns [planes, rows, columns] of [rows, columns, planes]."""
        return observation.transpose(2, 0, 1).copy()


class FlatWrapper(ObservationWrapper):
    """Makes observations vectors, as networks without convolutions expect."""

    def changed(self, observation: np.ndarray) -> np.ndarray:
        """Returns a vector with the same entries in the same order."""
        return observation.flatten()


class FloatWrapper(ObservationWrapper):
    """Makes observations float32, for libraries that do not convert them."""

    def changed(self, observation: np.ndarray) -> np.ndarray:
        """Returns the same entries as float32."""
        return observation.astype(np.float32)


class ObservationsKeyWrapper(BaseWrapper[str, dict[str, np.ndarray], int]):
    """Renames the key "observation" to "observations", as RLlib's action-masking modules expect."""

    def __init__(self, env: AEC) -> None:
        super().__init__(env)
        self._spaces: dict[str, spaces.Dict] = {}

    def observation_space(self, agent: str) -> spaces.Dict:
        """Returns the space of observations and action mask, the same object on every call."""
        if agent not in self._spaces:
            self._spaces[agent] = spaces.Dict(_renamed(parts(self.env.observation_space(agent)).items()))
        return self._spaces[agent]

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """Returns the position seen from an agent, with its legal actions if it is to move."""
        return dict(_renamed(self.env.observe(agent).items()))


class MaskInInfosWrapper(BaseWrapper[str, np.ndarray, int]):
    """Makes observations plain arrays, with the legal actions of each agent in `infos[agent]["action_mask"]`."""

    def __init__(self, env: AEC) -> None:
        super().__init__(env)
        parts(env.observation_space(env.possible_agents[0]))

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Returns the space of observations, the same object on every call."""
        return parts(self.env.observation_space(agent))["observation"]

    def observe(self, agent: str) -> np.ndarray:
        """Returns the position seen from an agent."""
        observation: np.ndarray = self.env.observe(agent)["observation"]
        return observation

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts a game, or with options={"state": state} goes on from a state."""
        self.env.reset(seed=seed, options=options)
        self._tell()

    def step(self, action: int | None) -> None:
        """Plays a move of the selected agent."""
        self.env.step(action)
        self._tell()

    def restore_state(self, state: State) -> None:
        """Restores a snapshot of the game. Raises as the environment does."""
        self.env.restore_state(state)
        self._tell()

    def _tell(self) -> None:
        """Writes the infos of the agents in the game: "action_mask" is [actions] int8, zero for an agent not to move."""
        self.infos: dict[str, dict[str, Any]] = {
            agent: {**info, "action_mask": self.env.observe(agent)["action_mask"]} for agent, info in self.env.infos.items()
        }


def _renamed(items: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    return [("observations" if key == "observation" else key, value) for key, value in items]


def parts(space: Any) -> dict[str, spaces.Space[Any]]:
    """Returns the spaces of a dictionary space by key. Raises ValueError for any other space and for one without observation
    and mask."""
    if not isinstance(space, spaces.Dict) or not {"observation", "action_mask"} <= set(space):
        raise ValueError(f'observations must be dictionaries with "observation" and "action_mask", but the space is {space}')
    return dict(space.spaces)
