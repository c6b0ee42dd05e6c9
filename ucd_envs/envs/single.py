"""Gymnasium environments: SinglePlayerEnv for one-player rules, and a seat of a game of several."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from ucd_envs.envs.aec import FRAMES_PER_SECOND, RENDER_MODES, BoardEnv, IllegalMoveError, make
from ucd_envs.envs.wrappers import FlatWrapper, FloatWrapper, MoverViewWrapper, SeatWrapper
from ucd_envs.registry import make_rules
from ucd_envs.rules import Rules, State
from ucd_envs.settings import boolean


class SinglePlayerEnv(gymnasium.Env[np.ndarray, int]):
    """A one-player game as a Gymnasium environment, with the same hooks as the AEC environment.

    Observations are rows x columns x planes int8 of 0 and 1. `info["action_mask"]` is [actions] int8, and `action_masks()` is
    the same as bool. The reward comes with the last move. An illegal move ends the game with reward -1. Raises ValueError for
    rules of more players, for what is no action, and for a step after the end.
    """

    def __init__(self, rules: Rules, render_mode: str | None = None) -> None:
        if rules.players != 1:
            raise ValueError(f"a Gymnasium environment has one player, but {rules} has {rules.players}")
        self._game = BoardEnv(rules, render_mode)
        self.rules = rules
        self.render_mode = render_mode
        self.metadata = {"name": rules.name, "render_modes": list(RENDER_MODES), "render_fps": FRAMES_PER_SECOND}
        self.observation_space = gymnasium.spaces.Box(0, 1, rules.planes, np.int8)
        self.action_space = gymnasium.spaces.Discrete(rules.actions)  # type: ignore[assignment]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts a game, or with options={"state": state} goes on from a state. The seed fixes the outcomes of chance, if there
        is any. Raises as `restore_state` does, and ValueError for a state that is over."""
        super().reset(seed=seed)
        self._game.reset(seed=seed, options=options)
        if self._game.terminations["player_0"]:
            raise ValueError("the game is over in this state: there is no move to make")
        return self._view()

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Plays a move. Returns observation, reward, terminated, truncated and info. A game is never truncated, since its
        length is bounded."""
        if self._game.agents and self._game.terminations["player_0"]:
            raise ValueError("the game is over: call reset() to start another")
        try:
            self._game.step(action)
        except IllegalMoveError:
            self._game._forfeit()
        observation, info = self._view()
        return observation, self._game.rewards["player_0"], self._game.terminations["player_0"], False, info

    def action_masks(self) -> np.ndarray:
        """Returns the legal actions: [actions] bool."""
        mask: np.ndarray = self._game.observe("player_0")["action_mask"]
        return mask.astype(bool)

    def clone_state(self) -> State:
        """Returns an immutable snapshot, hashed and compared by exact position."""
        return self._game.clone_state()

    def restore_state(self, state: State) -> None:
        """Restores a snapshot. Raises TypeError or ValueError as the AEC environment does."""
        self._game.restore_state(state)

    def clone(self) -> SinglePlayerEnv:
        """Returns an independent environment in the same state. Its Gymnasium generator starts anew."""
        twin = SinglePlayerEnv(self.rules, self.render_mode)
        twin._game = self._game.clone()
        return twin

    def render(self) -> Any:
        """Returns the board in the render mode."""
        return self._game.render()

    def close(self) -> None:
        """Closes the window, if one is open. May be called again."""
        self._game.close()

    def _view(self) -> tuple[np.ndarray, dict[str, Any]]:
        seen = self._game.observe("player_0")
        return seen["observation"], {"action_mask": seen["action_mask"]}


def seated(
    game: str,
    opponent: Any = "random",
    seat: int | str = 0,
    render_mode: str | None = None,
    flat: bool = False,
    **settings: Any,
) -> SeatWrapper:
    """Returns one seat of a game of several players, against an opponent. flat: as in `solitary`. Raises as `make` and
    SeatWrapper do."""
    return SeatWrapper(formed(make(game, render_mode, **settings), flat), opponent, seat)


def solitary(
    game: str, render_mode: str | None = None, flat: bool = False, **settings: Any
) -> SinglePlayerEnv | MoverViewWrapper:
    """Returns a game of one player as a Gymnasium environment. flat: whether observations are float32 vectors, for libraries
    whose networks take nothing else. Raises as `make_rules` does."""
    if not flat:
        return SinglePlayerEnv(make_rules(game, **settings), render_mode)
    return MoverViewWrapper(formed(make(game, render_mode, **settings), flat))


def formed(env: Any, flat: bool) -> Any:
    """Returns an environment with its observations as they are, or as float32 vectors. Raises TypeError for no truth value."""
    return FloatWrapper(FlatWrapper(env)) if boolean("flat", flat) else env
