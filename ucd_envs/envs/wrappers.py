"""Wrappers that adapt environments to learning libraries. They import none of the libraries.

They wrap any environment of this package, and any other PettingZoo AEC environment whose observations are dictionaries with
"observation" and "action_mask". The hooks `clone_state` and `restore_state` work through them. TorchRL and tianshou need no
wrapper.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import BaseWrapper


class MoverViewWrapper(BaseWrapper[str, np.ndarray, int], gymnasium.Env[np.ndarray, int]):
    """The game for one learner that plays all seats: a Gymnasium environment, always seen by the agent to move.

    Made for sb3-contrib's MaskablePPO, as in PettingZoo's tutorial. `step` returns the next mover's observation with the
    reward of the agent that has just moved. Legal actions are given by `action_mask()`, [actions] int8, and
    `action_masks()`, [actions] bool. Needs equal spaces for all agents.
    """

    def __init__(self, env: AECEnv[str, dict[str, np.ndarray], int]) -> None:
        super().__init__(env)
        first = env.possible_agents[0]
        self.observation_space = _parts(env.observation_space(first))["observation"]
        self.action_space = env.action_space(first)
        self.metadata = env.metadata
        self.render_mode = getattr(env, "render_mode", None)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts a game. Returns the first mover's observation and info."""
        gymnasium.Env.reset(self, seed=seed)
        self.env.reset(seed=seed, options=options)
        return self.observe(self.agent_selection), self.infos[self.agent_selection]

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Plays a move. Returns the next mover's observation, with reward, terminated, truncated and info of the agent that
        moved."""
        mover = self.agent_selection
        self.env.step(action)
        return (
            self.observe(self.agent_selection),
            self._cumulative_rewards[mover],
            self.terminations[mover],
            self.truncations[mover],
            self.infos[mover],
        )

    def observe(self, agent: str) -> np.ndarray:
        """Returns the position seen from an agent, without the mask."""
        observation: np.ndarray = self.env.observe(agent)["observation"]
        return observation

    def action_mask(self) -> np.ndarray:
        """Returns the mover's legal actions: [actions] int8."""
        mask: np.ndarray = self.env.observe(self.agent_selection)["action_mask"]
        return mask

    def action_masks(self) -> np.ndarray:
        """Returns the mover's legal actions: [actions] bool."""
        return self.action_mask().astype(bool)


class ObservationsKeyWrapper(BaseWrapper[str, dict[str, np.ndarray], int]):
    """Renames the key "observation" to "observations", as RLlib's action-masking modules expect."""

    def __init__(self, env: AECEnv[str, dict[str, np.ndarray], int]) -> None:
        super().__init__(env)
        self._spaces: dict[str, spaces.Dict] = {}

    def observation_space(self, agent: str) -> spaces.Dict:
        """Returns the space of observations and action mask, the same object on every call."""
        if agent not in self._spaces:
            self._spaces[agent] = spaces.Dict(_renamed(_parts(self.env.observation_space(agent)).items()))
        return self._spaces[agent]

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """Returns the position seen from an agent, with its legal actions if it is to move."""
        return dict(_renamed(self.env.observe(agent).items()))


class ChannelsFirstWrapper(BaseWrapper[str, dict[str, np.ndarray], int]):
    """Moves the planes of observations first, as PyTorch's convolutions expect: planes x rows x columns."""

    def __init__(self, env: AECEnv[str, dict[str, np.ndarray], int]) -> None:
        super().__init__(env)
        self._spaces: dict[str, spaces.Dict] = {}

    def observation_space(self, agent: str) -> spaces.Dict:
        """Returns the space of observation, [planes, rows, columns], and action mask, the same object on every call."""
        if agent not in self._spaces:
            below = _parts(self.env.observation_space(agent))
            box: Any = below["observation"]
            turned = spaces.Box(_channels_first(box.low), _channels_first(box.high), dtype=box.dtype)
            self._spaces[agent] = spaces.Dict([("observation", turned), ("action_mask", below["action_mask"])])
        return self._spaces[agent]

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """Returns the position seen from an agent, with its legal actions if it is to move."""
        seen = self.env.observe(agent)
        return {"observation": _channels_first(seen["observation"]), "action_mask": seen["action_mask"]}


def _renamed(items: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    return [("observations" if key == "observation" else key, value) for key, value in items]


def _channels_first(planes: np.ndarray) -> np.ndarray:
    return planes.transpose(2, 0, 1).copy()


def _parts(space: Any) -> dict[str, spaces.Space[Any]]:
    """Returns the spaces of a dictionary space by key. Raises ValueError for any other space and for one without observation
    and mask."""
    if not isinstance(space, spaces.Dict) or not {"observation", "action_mask"} <= set(space):
        raise ValueError(f'observations must be dictionaries with "observation" and "action_mask", but the space is {space}')
    return dict(space.spaces)
