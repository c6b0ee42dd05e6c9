"""BoardEnv: the one PettingZoo environment for all games."""

from __future__ import annotations

import operator
from math import isfinite
from struct import Struct
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
from pettingzoo import AECEnv
from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, BaseWrapper, OrderEnforcingWrapper

from ucd_envs import pictures
from ucd_envs.kernels import CHANCE, OVER
from ucd_envs.registry import make_rules
from ucd_envs.rng import seeded, unforeseen
from ucd_envs.rules import Rules, State

FRAMES_PER_SECOND = 2
RENDER_MODES = ("human", "ansi", "rgb_array")
ILLEGAL_REWARD = -1.0
_read_player = Struct("<i").unpack_from


class IllegalMoveError(ValueError):
    """Raised for a move that the rules do not allow in this position."""


class BoardEnv(AECEnv[str, dict[str, np.ndarray], int]):
    """A board game whose state can be hashed, cloned and restored.

    Agents are "player_0", "player_1", ... in seat order. An observation is a dictionary of fresh arrays: "observation", rows
    x columns x planes int8 of 0 and 1 seen from its agent, and "action_mask", [actions] int8, all zero for an agent that is
    not to move. Rewards come with the last move: the game's payoffs on the scale of `Rules.rewards`. When a game ends, the
    agent after its last mover is selected, and each agent takes one step with None.
    """

    def __init__(self, rules: Rules, render_mode: str | None = None) -> None:
        super().__init__()
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode must be None or one of {', '.join(RENDER_MODES)}, not {render_mode!r}")
        self.rules = rules
        self.render_mode = render_mode
        self.metadata = {
            "name": rules.name,
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": FRAMES_PER_SECOND,
        }
        self.possible_agents = [f"player_{player}" for player in range(rules.players)]
        self.agents: list[str] = []
        self._observation_spaces: dict[str, gymnasium.spaces.Dict] = {}
        self._action_spaces: dict[str, gymnasium.spaces.Discrete] = {}
        self._state = np.zeros(rules.state_bytes, np.uint8)
        self._is_reset = False
        self._rng: Any = seeded(unforeseen()) if rules.has_chance else None
        self._drawn: list[int] = []
        self._screen: pictures.Screen | None = None

    def observation_space(self, agent: str) -> gymnasium.spaces.Dict:
        """Returns the space of observation and action mask, the same object on every call."""
        if agent not in self._observation_spaces:
            self._seat(agent)
            self._observation_spaces[agent] = gymnasium.spaces.Dict(
                [  # pairs, because Gymnasium sorts the keys of a dictionary
                    ("observation", gymnasium.spaces.Box(0, 1, self.rules.planes, np.int8)),
                    ("action_mask", gymnasium.spaces.Box(0, 1, (self.rules.actions,), np.int8)),
                ]
            )
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Discrete:
        """Returns the space of all actions, the same object on every call."""
        if agent not in self._action_spaces:
            self._seat(agent)
            self._action_spaces[agent] = gymnasium.spaces.Discrete(self.rules.actions)
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts a game, or with options={"state": state} goes on from a state. The seed fixes the outcomes of chance. Other
        options are ignored. A game without a first move is over at once. Raises as `restore_state` does."""
        if seed is not None:
            self._rng = seeded(seed)
        if options and "state" in options:
            self.restore_state(options["state"])
            return
        self.rules.kernels.reset(self.rules.config, self._state)
        self._draw()
        self._is_reset = True
        self._begin()
        self.agent_selection = self._first_agent()

    def step(self, action: int | None) -> None:
        """Plays a move of the selected agent. Raises ValueError, and changes nothing, for an illegal action."""
        if not self.agents:
            raise ValueError("no agent is there to move: call reset() first")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number, rules = self._checked(action), self.rules
        rules.kernels.play(rules.config, self._state, number)
        player = self._draw() if rules.has_chance else self._player()
        if player == OVER:
            self._cumulative_rewards[agent] = 0.0
            self._end((self._seat(agent) + 1) % rules.players)
        else:
            self.agent_selection = self.possible_agents[player]
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """Returns the position seen from an agent, with its legal actions if it is to move."""
        if not self._is_reset:
            raise ValueError("there is nothing to observe yet: call reset() first")
        rules = self.rules
        seat = self._seat(agent)
        planes = np.zeros(rules.planes, np.int8)
        mask = np.zeros(rules.actions, np.int8)
        rules.kernels.observe(rules.config, self._state, seat, planes.reshape(-1))
        if seat == self._player() and not self.terminations.get(agent, True):
            mask[self._legal_actions()] = 1
        return {"observation": planes, "action_mask": mask}

    def clone_state(self) -> State:
        """Returns an immutable snapshot, hashed and compared by exact position, from which planners start. Needs a reset
        first."""
        if not self._is_reset:
            raise ValueError("there is no state yet: call reset() first")
        return State.trusted(
            self.rules,
            self._state.tobytes(),
            self._ending() if any(self.terminations.values()) or len(self.agents) < len(self.possible_agents) else None,
        )

    def restore_state(self, state: State) -> None:
        """Restores a snapshot: board, agents, rewards and masks. Where chance is to move an outcome is drawn.

        Raises TypeError for anything but a State, ValueError for a state of another game or configuration, or with an ending
        that no environment has given it. The environment is then unchanged.
        """
        if not isinstance(state, State):
            raise TypeError(f"expected a State from clone_state(), not {type(state).__name__}")
        if state.rules is not self.rules:
            if state.rules.identity != self.rules.identity:
                raise ValueError(f"this state belongs to {state.rules}, but the environment plays {self.rules}")
            self.rules.checked(state.data)
        if state.ending is not None and not self._is_ending(state.ending):
            raise ValueError("this state has an ending that no environment of the game has given it")
        self._state = state.array()
        self._draw()
        self._is_reset = True
        self._begin()
        if state.ending is not None:
            self._restore_ending(state.ending)
        else:
            self.agent_selection = self._first_agent()

    def clone(self) -> BoardEnv:
        """Returns an independent environment in the same state, with its own spaces. Mode "human" is not copied, so that
        clones open no windows."""
        twin = BoardEnv(self.rules, None if self.render_mode == "human" else self.render_mode)
        if self._is_reset:
            twin.restore_state(self.clone_state())
        return twin

    def render(self) -> np.ndarray | str | None:
        """Returns the board in the render mode: text, or [height, width, 3] uint8. Mode "human" shows a window and returns
        None."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() does nothing without a render_mode: pass one when the environment is made")
            return None
        if self.render_mode == "ansi":
            return pictures.text(self.clone_state())
        pixels = pictures.pixels(self.clone_state())
        if self.render_mode == "rgb_array":
            return pixels
        if self._screen is None:
            self._screen = pictures.Screen(str(self.rules), pixels.shape)
        self._screen.show(pixels, FRAMES_PER_SECOND)
        return None

    def close(self) -> None:
        """Closes the window, if one is open. May be called again."""
        if self._screen is not None:
            self._screen.close()
            self._screen = None

    def __getstate__(self) -> dict[str, Any]:
        state = State.trusted(self.rules, self._state.tobytes()) if self._is_reset else None
        return {**self.__dict__, "_screen": None, "_state": state}

    def __setstate__(self, found: dict[str, Any]) -> None:
        self.__dict__.update(found)
        state: State | None = found["_state"]
        self._state = np.zeros(self.rules.state_bytes, np.uint8) if state is None else state.array()

    def _seat(self, agent: str) -> int:
        if agent not in self.possible_agents:
            raise ValueError(f"unknown agent {agent!r}: expected one of {', '.join(self.possible_agents)}")
        return self.possible_agents.index(agent)

    def _player(self) -> int:
        player: int = _read_player(self._state.data)[0]
        return player

    def _draw(self) -> int:
        """Draws outcomes until a player is to move or the game is over; returns the player. `_drawn` lists them."""
        self._drawn = []
        while (player := self._player()) == CHANCE:
            state = State.trusted(self.rules, self._state.tobytes())
            self._drawn.append(state.outcome(self._rng))
            self._state = state.after(self._drawn[-1]).array()
        return player

    def _legal_actions(self) -> np.ndarray:
        actions = np.empty(self.rules.actions, np.int32)
        return actions[: self.rules.kernels.legal_actions(self.rules.config, self._state, actions)]

    def _number(self, action: Any) -> int:
        """Returns an action as an int. Raises ValueError for what is none."""
        rules = self.rules
        try:
            if isinstance(action, bool):
                raise TypeError
            number = operator.index(action)
        except TypeError:
            raise ValueError(f"an action is a whole number from 0 to {rules.actions - 1}, not {action!r}") from None
        if not 0 <= number < rules.actions:
            raise ValueError(f"action {number} is not legal: actions are 0 to {rules.actions - 1}")
        return number

    def _checked(self, action: Any) -> int:
        """Returns a legal action as an int. Raises ValueError for any other."""
        rules, number = self.rules, self._number(action)
        if not rules.kernels.is_legal(rules.config, self._state, number):
            name = State.trusted(rules, self._state.tobytes()).action_name(number)
            raise IllegalMoveError(f"move {name} is not legal: {rules.why_illegal(number)}")
        return number

    def _begin(self) -> None:
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection: str | None = None

    def _first_agent(self) -> str:
        """Returns the agent to move. In a game that is over, ends it and returns the first one."""
        player = self._player()
        if player == OVER:
            self._end(0)
        return self.possible_agents[max(player, 0)]

    def _end(self, selected: int) -> None:
        payoffs = np.zeros(self.rules.players)
        self.rules.kernels.payoffs(self.rules.config, self._state, payoffs)
        least, most = self.rules.rewards
        for agent, payoff in zip(self.possible_agents, payoffs.tolist(), strict=True):
            self.rewards[agent] = least + (most - least) * payoff
            self._cumulative_rewards[agent] += self.rewards[agent]
            self.terminations[agent] = True
        self.agent_selection = self.possible_agents[selected]

    def _forfeit(self) -> None:
        """Ends the game against the selected agent, for an illegal move."""
        self._give_up(ILLEGAL_REWARD, 0.0, truncated=True)

    def _resign(self) -> None:
        """Ends the game as a loss of the selected agent."""
        self._give_up(*self.rules.rewards, truncated=False)

    def _give_up(self, lost: float, others: float, *, truncated: bool) -> None:
        """Ends the game with these rewards for the selected agent and for the others."""
        loser = self.agent_selection
        for agent in self.agents:
            self.rewards[agent] = lost if agent == loser else others
            self._cumulative_rewards[agent] = self.rewards[agent]
            self.terminations[agent], self.truncations[agent] = True, truncated
        self.agent_selection = self.possible_agents[(self._seat(loser) + 1) % self.rules.players]
        if self.render_mode == "human":
            self.render()

    def _clear_rewards(self) -> None:
        self.rewards = dict.fromkeys(self.rewards, 0.0)

    def _ending(self) -> tuple[Any, ...]:
        """Returns the part of an ended game that its state does not contain: agents left, rewards, flags, selection."""
        return (
            tuple(self.agents),
            tuple((self.rewards[agent], self._cumulative_rewards[agent]) for agent in self.agents),
            tuple((self.terminations[agent], self.truncations[agent]) for agent in self.agents),
            self.agent_selection,
            self._skip_agent_selection,
        )

    def _is_ending(self, ending: Any) -> bool:
        """Returns whether an ending has the form that `_ending` gives it."""
        try:
            agents, rewards, flags, selected, skipped = ending
            seats = [self._seat(agent) for agent in (*agents, selected, *([] if skipped is None else [skipped]))]
            numbers = [float(number) for pair in rewards for number in (*pair, 0.0)]
            marks = [flag in (False, True) for pair in flags for flag in (*pair, True)]
        except (TypeError, ValueError):
            return False
        count = len(agents)
        ordered = seats[:count] == sorted(set(seats[:count]))
        return ordered and len(numbers) == len(marks) == 3 * count and all(map(isfinite, numbers)) and all(marks)

    def _restore_ending(self, ending: tuple[Any, ...]) -> None:
        agents, rewards, flags, self.agent_selection, self._skip_agent_selection = ending
        self.agents = list(agents)
        self.rewards = {agent: reward for agent, (reward, _) in zip(agents, rewards, strict=True)}
        self._cumulative_rewards = {agent: total for agent, (_, total) in zip(agents, rewards, strict=True)}
        self.terminations = {agent: flag for agent, (flag, _) in zip(agents, flags, strict=True)}
        self.truncations = {agent: flag for agent, (_, flag) in zip(agents, flags, strict=True)}
        self.infos = {agent: {} for agent in agents}


class LegalMovesWrapper(BaseWrapper[str, dict[str, np.ndarray], int]):
    """Ends the game with reward -1 for the player of an illegal move and 0 for the others, and prints PettingZoo's warning.

    PettingZoo's TerminateIllegalWrapper uses the mask of the last observation, which is wrong after `restore_state`. In
    PettingZoo 1.24.3 it also selects the next agent on itself only. This wrapper asks the game.
    """

    def step(self, action: int | None) -> None:
        """Plays a legal move, or ends the game for an illegal one."""
        try:
            super().step(action)
        except IllegalMoveError:
            EnvLogger.warn_on_illegal_move()
            self.unwrapped._forfeit()

    def __str__(self) -> str:
        return str(self.env)


class OrderWrapper(OrderEnforcingWrapper[str, dict[str, np.ndarray], int]):
    """Requires a reset before anything else, as PettingZoo's wrapper does. A restored state counts as a reset."""

    def restore_state(self, state: State) -> None:
        """Restores a snapshot in the wrapped environment."""
        self.unwrapped.restore_state(state)
        self._has_reset = self._has_updated = True

    def __str__(self) -> str:
        return str(self.env)


def environment(rules: Rules, render_mode: str | None = None) -> Any:
    """Returns the environment of a game inside PettingZoo's usual wrappers."""
    return OrderWrapper(AssertOutOfBoundsWrapper(LegalMovesWrapper(BoardEnv(rules, render_mode))))


def make(name: str, /, render_mode: str | None = None, **settings: Any) -> Any:
    """Returns a PettingZoo AEC environment of a game, by name or reference, wrapped as PettingZoo's classic games are.

    An illegal move ends the game with reward -1 for its player. The unwrapped environment (`env.unwrapped`) raises
    ValueError instead. Raises as `make_rules` does, and ValueError for an unknown render mode.
    """
    return environment(make_rules(name, **settings), render_mode)


def module_of(name: str) -> ModuleType:
    """Returns the PettingZoo module of a versioned game, with `env(**settings)` and `raw_env(**settings)`."""
    module = ModuleType(f"ucd_envs.{name}", f"{name} as a PettingZoo module: `env(**settings)` and `raw_env(**settings)`.")

    def env(render_mode: str | None = None, **settings: Any) -> Any:
        return make(name, render_mode, **settings)

    def raw_env(render_mode: str | None = None, **settings: Any) -> BoardEnv:
        return BoardEnv(make_rules(name, **settings), render_mode)

    for constructor in (env, raw_env):
        constructor.__module__, constructor.__qualname__ = module.__name__, constructor.__name__
        setattr(module, constructor.__name__, constructor)
    module.__all__ = ["env", "raw_env"]  # type: ignore[attr-defined]
    return module
