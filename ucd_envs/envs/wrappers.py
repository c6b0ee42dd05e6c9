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

from ucd_envs.settings import integer


class SingleAgentView(BaseWrapper[str, np.ndarray, int], gymnasium.Env[np.ndarray, int]):
    """A game as a Gymnasium environment, the common part of its views.

    Observations are those of one agent without the mask: [rows, columns, planes] int8. `info["action_mask"]` and
    `action_mask()` are the legal actions, [actions] int8, and `action_masks()` is the same as bool. `unwrapped` is the view
    itself, and the hooks `clone_state` and `restore_state` are those of the game. Needs equal spaces for all agents.
    """

    def __init__(self, env: AECEnv[str, dict[str, np.ndarray], int]) -> None:
        super().__init__(env)
        first = env.possible_agents[0]
        self.observation_space = _parts(env.observation_space(first))["observation"]
        self.action_space = env.action_space(first)
        self.metadata = env.metadata
        self.render_mode = getattr(env, "render_mode", None)

    @property
    def unwrapped(self) -> Any:
        """Returns the view, which is a Gymnasium environment of its own."""
        return self

    @property
    def viewer(self) -> str:
        """Returns the agent that sees the game."""
        agent: str = self.agent_selection
        return agent

    def observe(self, agent: str) -> np.ndarray:
        """Returns the position seen from an agent, without the mask."""
        observation: np.ndarray = self.env.observe(agent)["observation"]
        return observation

    def action_mask(self) -> np.ndarray:
        """Returns the viewer's legal actions: [actions] int8, all zero if it is not to move."""
        mask: np.ndarray = self.env.observe(self.viewer)["action_mask"]
        return mask

    def action_masks(self) -> np.ndarray:
        """Returns the viewer's legal actions: [actions] bool."""
        return self.action_mask().astype(bool)

    def seen(self, info: dict[str, Any]) -> tuple[np.ndarray, dict[str, Any]]:
        """Returns the viewer's observation, and an info with its legal actions."""
        seen = self.env.observe(self.viewer)
        return seen["observation"], {**info, "action_mask": seen["action_mask"]}

    def outcome(self, agent: str, reward: float) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Returns what a step returns to an agent. A game that ended is not truncated, even by an illegal move."""
        observation, info = self.seen(self.infos[agent])
        ended = bool(self.terminations[agent])
        return observation, reward, ended, bool(self.truncations[agent]) and not ended, info


class MoverViewWrapper(SingleAgentView):
    """The game for one learner that plays all seats: always seen by the agent to move.

    Made for sb3-contrib's MaskablePPO, as in PettingZoo's tutorial. `step` returns the next mover's observation and mask with
    the reward of the agent that has just moved.
    """

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts a game, or with options={"state": state} goes on from a state. Returns the first mover's observation and
        info. Raises ValueError for a state that is over."""
        gymnasium.Env.reset(self, seed=seed)
        self.env.reset(seed=seed, options=options)
        _refuse_over(self)
        return self.seen(self.infos[self.agent_selection])

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Plays a move. Returns the next mover's observation and mask, with reward, terminated and truncated of the agent that
        moved."""
        mover = self.agent_selection
        self.env.step(action)
        return self.outcome(mover, self._cumulative_rewards[mover])


class SeatWrapper(SingleAgentView):
    """The game for one learner in one seat. The others choose legal moves at random, seeded by `reset(seed=...)`.

    seat: the learner's place among the agents. `step` plays the learner's move and the replies to it. Its reward is the sum of
    the learner's rewards over these moves. Raises ValueError for a seat that the game does not have.
    """

    def __init__(self, env: AECEnv[str, dict[str, np.ndarray], int], seat: int = 0) -> None:
        super().__init__(env)
        try:
            self.seat = integer("seat", seat, 0, len(env.possible_agents) - 1)
        except TypeError as error:
            raise ValueError(str(error)) from None

    @property
    def viewer(self) -> str:
        """Returns the learner's agent."""
        agent: str = self.possible_agents[self.seat]
        return agent

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts a game, or with options={"state": state} goes on from a state. Others move until it is the learner's turn.
        If they end the game before, there is no legal action. Raises ValueError for a state that is over."""
        gymnasium.Env.reset(self, seed=seed)
        self.env.reset(seed=seed, options=options)
        _refuse_over(self)
        self._reply()
        return self.seen(self.infos[self.viewer])

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Plays the learner's move and the replies. Returns observation, reward, terminated, truncated and info of the learner.

        Raises ValueError after the end, and where a restored state has another agent to move.
        """
        agent = self.viewer
        if self._is_over():
            raise ValueError("the game is over: call reset() to start another")
        if self.agent_selection != agent:
            raise ValueError(f"{self.agent_selection} is to move, but the learner is {agent}: reset from this state")
        self.env.step(action)
        reward = float(self.rewards[agent]) + self._reply()
        return self.outcome(agent, reward)

    def _is_over(self) -> bool:
        """Returns whether the learner has no more moves."""
        agent = self.viewer
        return bool(self.terminations.get(agent, True) or self.truncations.get(agent, True))

    def _reply(self) -> float:
        """Plays random moves of the others until the learner is to move. Returns the learner's rewards for them."""
        reward = 0.0
        while self.agent_selection != self.viewer and not self._is_over():
            mover = self.agent_selection
            gone = self.terminations[mover] or self.truncations[mover]
            legal = np.flatnonzero(self.env.observe(mover)["action_mask"])
            self.env.step(None if gone else int(self.np_random.choice(legal)))
            reward += float(self.rewards[self.viewer])
        return reward


def _refuse_over(view: Any) -> None:
    """Raises ValueError where a game has begun from a state that is over."""
    if all(view.terminations[agent] or view.truncations[agent] for agent in view.agents):
        raise ValueError("the game is over in this state: there is no move to make")


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
