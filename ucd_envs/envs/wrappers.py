"""Wrappers that adapt environments to learning libraries. They import none of the libraries.

They wrap any environment of this package, and any other PettingZoo AEC environment whose observations are dictionaries with
"observation" and "action_mask". The hooks `clone_state` and `restore_state` work through them. A view for one learner is a
Gymnasium environment, and goes on top of the wrappers that change observations. TorchRL and tianshou need no wrapper.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import Any, Self

import gymnasium
import numpy as np
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, BaseWrapper

from ucd_envs.envs.aec import BoardEnv, IllegalMoveError, LegalMovesWrapper, OrderWrapper
from ucd_envs.envs.observations import (
    AEC,
    ChannelsFirstWrapper,
    FlatWrapper,
    FloatWrapper,
    MaskInInfosWrapper,
    ObservationsKeyWrapper,
    parts,
)
from ucd_envs.envs.opponents import RESIGNS, answer, opponent_from, started
from ucd_envs.envs.turns import ILLEGAL, RANDOM, SEES, Turns
from ucd_envs.kernels import CHANCE
from ucd_envs.rng import seeded, unforeseen
from ucd_envs.rules import State
from ucd_envs.settings import integer, shown

__all__ = [
    "ChannelsFirstWrapper",
    "FlatWrapper",
    "FloatWrapper",
    "MaskInInfosWrapper",
    "MoverViewWrapper",
    "ObservationsKeyWrapper",
    "SeatWrapper",
    "SingleAgentView",
]

ORDINARY = (OrderWrapper, AssertOutOfBoundsWrapper, LegalMovesWrapper)
"""Wrappers of `make`, below which a view may play with the game's kernels."""
CHANGES = (ChannelsFirstWrapper, FlatWrapper, FloatWrapper)
OVER_TEXT = "the game is over: call reset() to start another"
Step = tuple[np.ndarray, float, bool, bool, dict[str, Any]]
"""Observation, reward, terminated, truncated and info."""


class SingleAgentView(BaseWrapper[str, np.ndarray, int], gymnasium.Env[np.ndarray, int]):
    """A game as a Gymnasium environment, the common part of its views.

    Observations are those of one agent without the mask: [rows, columns, planes] int8, or as the wrappers below make them.
    `info["action_mask"]` and `action_mask()` are the legal actions, [actions] int8, and `action_masks()` is the same as bool.
    `unwrapped` is the view itself, and the hooks `clone_state` and `restore_state` are those of the game. An illegal move ends
    the game with reward -1. Needs equal spaces for all agents.
    """

    def __init__(self, env: AEC) -> None:
        super().__init__(env)
        self.possible_agents: list[str] = list(env.possible_agents)
        first = self.possible_agents[0]
        self.observation_space = parts(env.observation_space(first))["observation"]
        self.action_space = env.action_space(first)
        self.metadata = env.metadata
        self.render_mode = getattr(env, "render_mode", None)
        self._board, self._forfeits, self._changes = _board_of(env)

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
        return self._look(agent)["observation"]

    def action_mask(self) -> np.ndarray:
        """Returns the viewer's legal actions: [actions] int8, all zero if it is not to move."""
        mask: np.ndarray = (self._board or self.env).observe(self.viewer)["action_mask"]
        return mask

    def action_masks(self) -> np.ndarray:
        """Returns the viewer's legal actions: [actions] bool."""
        return self.action_mask().astype(bool)

    def seen(self, info: dict[str, Any]) -> tuple[np.ndarray, dict[str, Any]]:
        """Returns the viewer's observation, and an info with its legal actions."""
        seen = self._look(self.viewer)
        return seen["observation"], {**info, "action_mask": seen["action_mask"]}

    def outcome(self, agent: str, reward: float) -> Step:
        """Returns what a step returns to an agent. A game that ended is not truncated, even by an illegal move."""
        observation, info = self.seen(self.infos[agent])
        ended = bool(self.terminations[agent])
        return observation, reward, ended, bool(self.truncations[agent]) and not ended, info

    def clone(self) -> Self:
        """Returns an independent view in the same state. Its generators start anew, so that it cannot foresee the draws of the
        original, and it opens no window. Raises TypeError where the environment or the opponent cannot be copied."""
        try:
            twin = copy.deepcopy(self)
        except Exception as error:
            raise TypeError(f"{self} cannot be copied: {error}") from error
        twin._np_random = twin._np_random_seed = None
        board = twin.env.unwrapped
        if isinstance(board, BoardEnv):
            if board.rules.has_chance:
                board._rng = seeded(unforeseen())
            if board.render_mode == "human":
                board.render_mode = twin.render_mode = None
        return twin

    def _look(self, agent: str) -> dict[str, np.ndarray]:
        """Returns observation and mask of an agent."""
        if self._board is None:
            found: dict[str, np.ndarray] = self.env.observe(agent)
            return found
        seen = self._board.observe(agent)
        return {"observation": self._formed(seen["observation"]), "action_mask": seen["action_mask"]}

    def _formed(self, observation: np.ndarray) -> np.ndarray:
        """Returns a game's observation in the form of the wrappers below."""
        for change in self._changes:
            observation = change(observation)
        return observation

    def _play(self, action: Any) -> None:
        """Plays a move of the agent selected, without PettingZoo's warning of an illegal one."""
        if self._board is None:
            self.env.step(action)
            return
        try:
            self._board.step(action)
        except IllegalMoveError:
            if not self._forfeits:
                raise
            self._board._forfeit()


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

    def step(self, action: int) -> Step:
        """Plays a move. Returns the next mover's observation and mask, with reward, terminated and truncated of the agent that
        moved. Raises ValueError for what is no action."""
        mover = self.agent_selection
        self._play(action)
        return self.outcome(mover, self._cumulative_rewards[mover])


class SeatWrapper(SingleAgentView):
    """The game for one learner in one seat, against an opponent in all others.

    opponent: "random" for legal moves that are all equally likely; the text of a planner or an agent in the notation of
    ucd_planners, such as "uct(playouts=20)"; a function of observation, mask and a NumPy generator that returns an action; a
    planner, which has `act(env)` and may have `reset(seed)`; or an agent of a match, which has `begin(rules, seed, stop)` and
    `choose(state, moves)`. What it draws follows from `reset(seed=...)`. An agent that resigns has lost. Agents are not told
    the moves before a state from which a game begins.
    seat: the learner's place among the agents, or "random" for a new one at each reset, which is the attribute `seat`.

    `step` plays the learner's move and the replies to it. Its reward is the sum of the learner's rewards over these moves.
    `clone` copies planners too. Raises ValueError for a seat that the game does not have, for a game of one player, and for an
    unknown text, TypeError for an object that is no opponent. `reset` and `step` raise ValueError for an illegal move of the
    opponent, and RuntimeError where it raises.
    """

    def __init__(self, env: AEC, opponent: Any = "random", seat: int | str = 0) -> None:
        super().__init__(env)
        if len(self.possible_agents) < 2:
            raise ValueError("a game of one player has no seat for an opponent: MoverViewWrapper shows it to its learner")
        self._draws_seat = isinstance(seat, str) and seat == "random"
        self.seat = 0 if self._draws_seat else _place(seat, len(self.possible_agents))
        raw = env.unwrapped
        self._raw: BoardEnv | None = raw if isinstance(raw, BoardEnv) else None
        self.opponent = opponent_from(opponent, None if self._raw is None else self._raw.rules)
        self._moves: list[tuple[int, int]] = []
        self._owed: float | None = None
        self._turns = None if self._board is None or self.opponent.hears else Turns(self._board.rules)
        # In a window every move is shown, so that none is played inside the kernel.
        self._kind = SEES if self.render_mode == "human" and self.opponent.kind == RANDOM else self.opponent.kind

    @property
    def viewer(self) -> str:
        """Returns the learner's agent."""
        return self.possible_agents[self.seat]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts a game, or with options={"state": state} goes on from a state. Others move until it is the learner's turn.
        If they end the game before, there is no legal action, and the first step returns the end and its reward for any
        action. Raises ValueError for a state that is over."""
        gymnasium.Env.reset(self, seed=seed)
        self.env.reset(seed=seed, options=options)
        _refuse_over(self)
        if self._draws_seat:
            self.seat = self.np_random.bit_generator.random_raw() % len(self.possible_agents)
        self._moves, self._owed = [], None
        if not options or "state" not in options:
            self._hear()
        started(self.opponent, self.np_random)
        if self._turns is None:
            owed = self._reply()
            self._owed = owed if self._is_over() or owed else None
            return self.seen(self.infos[self.viewer])
        seen, board = self._advance(-1), self._board
        assert seen is not None
        assert board is not None
        if self._is_over():
            self._owed = board.rewards[self.viewer]
        return seen[0], {"action_mask": seen[1]}

    def step(self, action: int) -> Step:
        """Plays the learner's move and the replies. Returns observation, reward, terminated, truncated and info of the learner.

        Raises ValueError after the end, for what is no action, and where a restored state has another agent to move.
        """
        agent, board = self.viewer, self._board
        if self._is_over():
            if self._owed is None:
                raise ValueError(OVER_TEXT)
            reward, self._owed = self._owed, None
            return self.outcome(agent, reward)
        selected = self.agent_selection if board is None else board.agent_selection
        if selected != agent:
            raise ValueError(f"{selected} is to move, but the learner is {agent}: reset from this state")
        if self._turns is None or board is None:
            self._play(action)
            self._hear((self.seat, action))
            reward = float(self.rewards[agent]) + self._reply() + (self._owed or 0.0)
            self._owed = None
            return self.outcome(agent, reward)
        seen = self._advance(board._number(action))
        if seen is None:
            self._play(action)
            return self.outcome(agent, float(board.rewards[agent]))
        observation, mask = seen
        return observation, board.rewards[agent], board.terminations[agent], False, {"action_mask": mask}

    def restore_state(self, state: State) -> None:
        """Restores a snapshot of the game. Raises as the environment does."""
        self.env.restore_state(state)
        self._moves, self._owed = [], None

    def clone(self) -> Self:
        """Returns an independent view in the same state, against an opponent of its own. Raises as other views do."""
        twin = super().clone()
        started(twin.opponent, twin.np_random)
        return twin

    def _is_over(self) -> bool:
        """Returns whether the learner has no more moves. Raises ValueError before the first reset."""
        agent, board = self.viewer, self._board
        if board is None:
            return bool(self.terminations.get(agent, True) or self.truncations.get(agent, True))
        if not board._is_reset:
            raise ValueError("no game has begun: call reset() first")
        return board.terminations.get(agent, True)

    def _advance(self, action: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Plays an action of the learner, none for -1, and the replies, by the game's kernels.

        Returns the learner's observation and mask, or None for an illegal action, which is not played.
        """
        board, turns, opponent, kind, seat = self._board, self._turns, self.opponent, self._kind, self.seat
        assert board is not None
        assert turns is not None
        state, rules, answered = board._state, board.rules, False
        chance = opponent.rng if board._rng is None else board._rng
        while True:
            planes, mask = np.zeros(rules.planes, np.int8), np.zeros(rules.actions, np.int8)
            player = turns.advance(turns.words, state, action, seat, kind, opponent.rng, chance, planes.reshape(-1), mask)
            if player <= ILLEGAL or player >= rules.players:
                if player != ILLEGAL:
                    raise RuntimeError(f"{rules} breaks its contract: ucd_envs.check tells how")
                if not answered:
                    return None
                raise self._refused(action)
            if self.render_mode == "human" and action >= 0:
                board.render()
            if player == seat:
                board.agent_selection = self.possible_agents[seat]
                return self._formed(planes), mask
            if player < 0:
                board._end((-player) % rules.players)
                return self._formed(planes), mask
            board.agent_selection = self.possible_agents[player]
            seen = {"observation": self._formed(planes), "action_mask": mask} if kind == SEES else {}
            reply = answer(opponent, board, seen, ())
            try:
                action, answered = board._number(reply), True
            except ValueError:
                raise self._refused(reply) from None

    def _hear(self, *moves: tuple[int, int]) -> None:
        """Keeps moves, player and action, and the outcomes of chance after them, for an opponent that reads them."""
        if self.opponent.hears and self._raw is not None:
            self._moves += [*moves, *((CHANCE, outcome) for outcome in self._raw._drawn)]

    def _refused(self, action: Any) -> ValueError:
        """Returns the error for an illegal answer of the opponent."""
        return ValueError(f"the opponent {self.opponent} chose {shown(action)}, which is no legal action")

    def _reply(self) -> float:
        """Plays moves of the others until the learner is to move. Returns the learner's rewards for them."""
        reward, opponent = 0.0, self.opponent
        while self.agent_selection != self.viewer and not self._is_over():
            mover = self.agent_selection
            if self.terminations[mover] or self.truncations[mover]:
                self.env.step(None)
            else:
                seen = self.env.observe(mover) if opponent.kind else {}
                action = answer(opponent, self.env, seen, self._moves)
                if action is RESIGNS and self._raw is not None:
                    self._raw._resign()
                    return reward + float(self.rewards[self.viewer])
                number = None if isinstance(action, bool) or not hasattr(action, "__index__") else operator.index(action)
                if number not in np.flatnonzero(self.env.observe(mover)["action_mask"]).tolist():
                    raise self._refused(action)
                self.env.step(number)
                self._hear((self.possible_agents.index(mover), number))
            reward += float(self.rewards[self.viewer])
        return reward


def _place(seat: Any, players: int) -> int:
    """Returns a seat. Raises ValueError for one that the game does not have."""
    try:
        return integer("seat", seat, 0, players - 1)
    except (TypeError, ValueError):
        raise ValueError(f"seat must be from 0 to {players - 1} or 'random', not {shown(seat)}") from None


def _refuse_over(view: Any) -> None:
    """Raises ValueError where a game has begun from a state that is over."""
    if all(view.terminations[agent] or view.truncations[agent] for agent in view.agents):
        raise ValueError("the game is over in this state: there is no move to make")


def _board_of(env: Any) -> tuple[BoardEnv | None, bool, list[Callable[[np.ndarray], np.ndarray]]]:
    """Returns the game below an environment if the package's own wrappers alone lie between, else None; whether an illegal
    move ends it; and how the wrappers change its observations, in turn."""
    forfeits = False
    changes: list[Callable[[np.ndarray], np.ndarray]] = []
    while type(env) in ORDINARY or type(env) in CHANGES:
        forfeits = forfeits or type(env) is LegalMovesWrapper
        if type(env) in CHANGES:
            changes.insert(0, env.changed)
        env = env.env
    return (env, forfeits, changes) if type(env) is BoardEnv and env.rules.live is None else (None, False, [])
