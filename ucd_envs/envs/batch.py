"""BatchEnv: many games of one kind as a Gymnasium vector environment, stepped by one compiled call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from struct import Struct
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ucd_envs.envs import steps
from ucd_envs.envs.aec import BoardEnv, IllegalMoveError
from ucd_envs.envs.crew import Crew, cores
from ucd_envs.kernels import OVER, compiled
from ucd_envs.registry import make_rules
from ucd_envs.rng import seeded, unforeseen
from ucd_envs.rules import Rules, State
from ucd_envs.settings import boolean, integer, shown

MOST_GAMES, MOST_THREADS, MOST_SEED = 2**20, 2**10, 2**64 - 1
FORFEIT, RAISE = "forfeit", "raise"
MODES = {
    AutoresetMode.NEXT_STEP: steps.NEXT_STEP,
    AutoresetMode.SAME_STEP: steps.SAME_STEP,
    AutoresetMode.DISABLED: steps.NEXT_STEP,  # a step with an ended game is refused before
}
GOLDEN, MIX_A, MIX_B = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
BOUND = {"_beginning", "_settling", "_stepping", "_looking", "_written", "_seen", "_sampling", "_finding"}
"""Attributes of a batch with kernels and addresses."""
_read_player = Struct("<i").unpack_from

Seen = tuple[np.ndarray, dict[str, Any]]
"""Observations and infos."""


class BatchEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """B games of one kind, stepped by one compiled call.

    Each game is seen by its player to move, and an action is that player's. `step` takes [B] whole numbers and returns

    - observations: [B, rows, columns, planes] int8 of 0 and 1, seen from the next player to move, as that of `make`;
    - rewards: [B] float64, each of the player that has just moved, as in `MoverViewWrapper`; 0 while the game goes on;
    - terminations: [B] bool; truncations: [B] bool, never set, since the length of games is bounded;
    - infos: "action_mask", [B, actions] int8, the legal actions of the players to move; "player", [B] int32, who they are, -1
      at the end; "rewards", [B, players] float64, the rewards of this step for every player, as pgx gives them.

    An ended game is seen from the player after its last mover and has no legal action. Outcomes of chance are drawn inside.

    autoreset_mode: with SAME_STEP, the default, the step that ends a game begins the next one, and returns its observation,
    mask and player; the end itself is in infos: "final_obs", [B] arrays or None, "_final_obs", [B] bool, and "final_info". With
    NEXT_STEP the step after an end ignores the action and begins a game, with reward 0. With DISABLED ended games wait for
    reset(options={"reset_mask": mask}). A text is the value of a mode, such as "NextStep".
    illegal: "forfeit" ends a game with reward -1 for the player of an illegal action and 0 for the others, as `make` does; with
    "raise", as in the raw environment, `step` raises ValueError and changes no game.
    threads: number of threads that share the games, by default one for each core, but none for fewer than 64 games, or for a
    step so short that waking a thread does not pay. Results do not depend on it.
    copy: whether `step` returns fresh arrays. If not, it returns the same arrays, with the next contents, at every call; do not
    write into them.

    Raises TypeError or ValueError for parameters out of range, and ValueError for a game that calls back into Python.
    """

    def __init__(
        self,
        rules: Rules,
        num_envs: int,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        illegal: str = FORFEIT,
        threads: int | None = None,
        copy: bool = True,
    ) -> None:
        if rules.live is not None:
            raise ValueError(f"a batch holds compiled games, but {rules.name} calls back into Python")
        if illegal not in (FORFEIT, RAISE):
            raise ValueError(f"illegal must be {FORFEIT!r} or {RAISE!r}, not {shown(illegal)}")
        self.rules, self.illegal, self.copy = rules, illegal, boolean("copy", copy)
        self.num_envs = count = integer("num_envs", num_envs, 1, MOST_GAMES)
        self.threads = integer("threads", cores() if threads is None else threads, 1, MOST_THREADS)
        self.autoreset_mode = _mode(autoreset_mode)
        self.metadata = {"name": rules.name, "render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = Box(0, 1, rules.planes, np.int8)
        self.single_action_space = Discrete(rules.actions)
        self.observation_space = batch_space(self.single_observation_space, count)
        self.action_space = batch_space(self.single_action_space, count)
        self._states = np.zeros((count, rules.state_bytes), np.uint8)
        self._marks = np.zeros(count, np.uint8)
        self._viewers, self._players = np.zeros(count, np.int32), np.zeros(count, np.int32)
        self._rngs, self._choices = np.ones((count, 2), np.uint64), np.ones((count, 2), np.uint64)
        self._gains, self._rewards = np.zeros((count, rules.players)), np.zeros(count)
        self._ended, self._truncated = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        self._masks = np.zeros((count, rules.actions), np.int8)
        self._planes, self._finals = (np.zeros((count, *rules.planes), np.int8) for _ in range(2))
        self._actions = np.zeros(count, np.int64)
        self._final_info: dict[str, np.ndarray] = {
            "action_mask": np.zeros_like(self._masks),
            "player": np.full_like(self._players, OVER),
        }
        for constant in self._final_info.values():
            constant.flags.writeable = False
        self._is_reset = False
        self._crew = Crew(self.threads, count)
        self._bind()
        self._seed(range(count), [(unforeseen() + i) & MOST_SEED for i in range(count)])

    def reset(self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None) -> Seen:
        """Begins all games, or those of options={"reset_mask": mask}, [B] bool. Returns observations and infos of all.

        seed: that of game i is `seed` + i, or is given in a sequence; games without one go on with their generators. From it
        follow the outcomes of chance, those of `make` with the same seed, and `sample_actions`. options={"state": states}: a
        State, or one for each game that begins, from which these go on. Other options are ignored. Raises TypeError or
        ValueError for other values, for a state that is over, and for a game without a first move.
        """
        if seed is None or isinstance(seed, (int, np.integer)):
            super().reset(seed=None if seed is None else integer("seed", seed, 0, MOST_SEED))
        options = options or {}
        chosen = self._chosen(options.get("reset_mask"))
        seeds = self._seeds(seed)
        data = None
        if "state" in options:
            data, marks, _ = self._admitted(options["state"], chosen)
            if marks.any():
                raise ValueError(f"game {chosen[int(marks.argmax())]} is over in its state: there is no move to make")
        self._seed(chosen, [seeds[i] for i in chosen])
        if data is None:
            mask = np.zeros(self.num_envs, np.uint8)
            mask[chosen] = 1
            self._each(*self._beginning, mask)
        else:
            self._write(chosen, data, np.zeros(len(chosen), np.uint8), np.zeros(len(chosen), np.int32))
        self._is_reset = True
        self._gains.fill(0.0)
        return self.observe()

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Plays an action in each game. Returns observations, rewards, terminations, truncations and infos.

        actions: [B] of any integer type. Those of games that the step begins anew are ignored. Raises ValueError, and changes
        nothing, for another shape or type, for a number that is no action, for an illegal action where that was chosen, for an
        ended game that waits for a reset, and before the first reset. Raises RuntimeError for a game that breaks its contract.
        """
        played = self._checked(actions)
        planes = self._room()
        self._each(*self._stepping, played, *self._written, planes.reshape(-1), *self._seen)
        infos = self._infos()
        if self.autoreset_mode is AutoresetMode.SAME_STEP and self._ended.any():
            infos |= self._final()
        return planes, self._own(self._rewards), self._own(self._ended), self._own(self._truncated), infos

    def observe(self) -> Seen:
        """Returns observations and infos of the games as they are, such as after `restore_states`."""
        self._require_reset()
        return self._look(), self._infos()

    def action_masks(self) -> np.ndarray:
        """Returns the legal actions of the players to move: [B, actions] bool, none set for an ended game."""
        self._require_reset()
        return self._masks.astype(np.bool_)

    def sample_actions(self) -> np.ndarray:
        """Returns a random legal action of each game, all equally likely, and 0 for an ended game: [B] int64.

        They follow from the seed of `reset`, with any number of threads.
        """
        self._require_reset()
        actions = np.empty(self.num_envs, np.int64) if self.copy else self._actions
        self._each(*self._sampling, actions)
        return actions

    def clone_states(self, games: Any = None) -> list[State]:
        """Returns snapshots of all games, or of some: their numbers, [n], or a mask, [B] bool.

        Planners search from them and `restore_states` goes back to them. Generators are not part of them. Raises TypeError or
        ValueError for games that the batch does not have, and ValueError before the first reset.
        """
        self._require_reset()
        chosen = self._numbers(games)
        return [
            State.trusted(self.rules, data.tobytes()) if mark == steps.GOES_ON else self._ended_state(data.tobytes(), viewer)
            for data, mark, viewer in zip(
                self._states[chosen], self._marks[chosen].tolist(), self._viewers[chosen].tolist(), strict=True
            )
        ]

    def restore_states(self, states: State | Sequence[State], games: Any = None) -> None:
        """Restores snapshots in all games, or in some, as in `clone_states`: one State for all of them, or one for each.

        `observe` returns what there is to see then. Where chance is to move, an outcome is drawn. The next step begins anew the
        games that are over in their states, unless ended games wait for a reset. Raises TypeError for anything but a State, and
        ValueError for a wrong number of states and for one of another game or configuration. All games are then unchanged.
        """
        chosen = self._numbers(games)
        if not self._is_reset and len(chosen) < self.num_envs:
            raise ValueError("no game has begun: call reset() first")
        data, marks, viewers = self._admitted(states, chosen)
        self._write(chosen, data, marks, viewers)
        self._is_reset = True
        self._look()

    def clone(self) -> BatchEnv:
        """Returns an independent batch of the same games in the same states. Its generators start anew, so that it cannot
        foresee the draws of the original."""
        options: dict[str, Any] = {"autoreset_mode": self.autoreset_mode, "illegal": self.illegal}
        twin = BatchEnv(self.rules, self.num_envs, threads=self.threads, copy=self.copy, **options)
        for name in ("_states", "_marks", "_viewers", "_players", "_gains", "_masks"):
            getattr(twin, name)[:] = getattr(self, name)
        twin._is_reset = self._is_reset
        return twin

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the threads."""
        self._crew.close()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in BOUND}

    def __setstate__(self, found: dict[str, Any]) -> None:
        self.__dict__.update(found)
        self._bind()

    def _bind(self) -> None:
        """Compiles the kernels, and prepares what they take: BOUND, which belongs to this process and these arrays."""
        words, flat = steps.bound_steps(self.rules), lambda array: array.reshape(-1)
        begin, settle = compiled(steps.begin_games, steps.BEGIN), compiled(steps.settle_games, steps.SETTLE)
        step, look = compiled(steps.step_games, steps.STEP), compiled(steps.look_at_games, steps.LOOK)
        sample, find = compiled(steps.sample_actions, steps.SAMPLE), compiled(steps.find_illegal, steps.FIND_ILLEGAL)
        states, rngs = flat(self._states), flat(self._rngs)
        self._beginning = begin, words, states, self._marks, rngs
        self._settling = settle, words, states, self._marks, self._viewers, rngs
        self._stepping = step, words, states, self._marks, self._viewers, rngs, MODES[self.autoreset_mode]
        self._looking = look, words, states, self._marks, self._viewers
        self._written = flat(self._gains), self._rewards, self._ended.view(np.uint8), flat(self._finals)
        self._seen = flat(self._masks), self._players
        self._sampling = sample, flat(self._choices), flat(self._masks), self.rules.actions
        self._finding = partial(find, words, states, self._marks)

    def _each(self, kernel: Any, *arguments: Any) -> None:
        """Runs a kernel over all games, by several threads where that is worth it. Raises for one that breaks its contract."""
        game = self._crew.run(kernel, *arguments)
        if game != steps.FINE:
            raise self._fault(game)

    def _fault(self, game: int) -> Exception:
        """Returns the error for a game in which a kernel has stopped."""
        self._is_reset = False
        if _read_player(self._states[game].data)[0] == OVER:
            return ValueError(f"{self.rules} is over before its first move: there is nothing to step")
        return RuntimeError(f"{self.rules} breaks its contract: ucd_envs.check tells how")

    def _room(self) -> np.ndarray:
        """Returns an array for observations."""
        return np.empty((self.num_envs, *self.rules.planes), np.int8) if self.copy else self._planes

    def _own(self, array: np.ndarray) -> np.ndarray:
        """Returns an array for the caller."""
        return array.copy() if self.copy else array

    def _look(self) -> np.ndarray:
        """Writes masks and players to move. Returns observations."""
        planes = self._room()
        self._each(*self._looking, planes.reshape(-1), *self._seen)
        return planes

    def _infos(self) -> dict[str, Any]:
        return {
            "action_mask": self._own(self._masks),
            "player": self._own(self._players),
            "rewards": self._own(self._gains),
        }

    def _final(self) -> dict[str, Any]:
        """Returns the infos of games that have ended in a step which began others in their places."""
        ended = self._ended.copy()
        where = np.flatnonzero(ended)
        final = np.empty(self.num_envs, object)  # of None
        for game, planes in zip(where.tolist(), list(self._finals[where]), strict=True):
            final[game] = planes
        return {"final_obs": final, "_final_obs": ended, "final_info": dict(self._final_info), "_final_info": ended}

    def _require_reset(self) -> None:
        if not self._is_reset:
            raise ValueError("no game has begun: call reset() first")

    def _checked(self, actions: Any) -> np.ndarray:
        """Returns actions as [B] int64. Raises ValueError with one sentence for others than `step` takes."""
        self._require_reset()
        try:
            given = np.asarray(actions)
        except (ValueError, TypeError):
            given = np.empty(0, object)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            found = f"{given.dtype} of shape {given.shape}"
            raise ValueError(f"actions must be whole numbers, one for each of {self.num_envs} games, not {found}")
        played = np.ascontiguousarray(given, np.int64)
        count = self.rules.actions
        if self.autoreset_mode is AutoresetMode.DISABLED and self._marks.any():
            raise ValueError(f'game {int(self._marks.argmax())} is over: reset(options={{"reset_mask": mask}}) begins another')
        if played.view(np.uint64).max() >= count:  # negative numbers are the largest ones
            wrong = (self._marks == steps.GOES_ON) & (played.view(np.uint64) >= count)
            if wrong.any():
                game = int(wrong.argmax())
                raise ValueError(f"game {game}: action {given[game]} is not legal: actions are 0 to {count - 1}")
        if self.illegal == RAISE:
            game = int(self._finding(played))
            if game != steps.FINE:
                action = int(played[game])
                name = State.trusted(self.rules, self._states[game].tobytes()).action_name(action)
                raise IllegalMoveError(f"game {game}: move {name} is not legal: {self.rules.why_illegal(action)}")
        return played

    def _chosen(self, mask: Any) -> np.ndarray:
        """Returns the numbers of the games of a reset. Raises TypeError or ValueError for what is no mask of some games."""
        if mask is None:
            return np.arange(self.num_envs)
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
            raise ValueError(f"reset_mask must be an array of {self.num_envs} booleans, not {shown(mask)}")
        if not mask.any():
            raise ValueError("reset_mask chooses no game")
        if not self._is_reset and not mask.all():
            raise ValueError("no game has begun: the first reset takes all of them")
        return np.flatnonzero(mask)

    def _numbers(self, games: Any) -> np.ndarray:
        """Returns numbers of games, all by default. Raises TypeError or ValueError with one sentence for others."""
        count = self.num_envs
        if games is None:
            return np.arange(count)
        given = np.atleast_1d(np.asarray(games))
        if given.dtype == np.bool_ and given.shape == (count,):
            return np.flatnonzero(given)
        if given.ndim != 1 or (given.dtype.kind not in "iu" and given.size):
            raise TypeError(f"games must be numbers or a mask of {count} booleans, not {shown(games)}")
        if given.size and not 0 <= given.min() <= given.max() < count:
            raise ValueError(f"games are 0 to {count - 1}, not {shown(games)}")
        if np.unique(given).size < given.size:
            raise ValueError(f"games must be different, not {shown(games)}")
        return given.astype(np.int64)

    def _seeds(self, seed: Any) -> list[int | None]:
        """Returns the seed of each game, None for those without one. Raises TypeError or ValueError for others."""
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, (int, np.integer)):
            return [(int(seed) + i) & MOST_SEED for i in range(self.num_envs)]
        if isinstance(seed, str) or not isinstance(seed, (Sequence, np.ndarray)):
            raise TypeError(f"seed must be a whole number or a sequence of them, not {shown(seed)}")
        given = list(seed)
        if len(given) != self.num_envs:
            raise ValueError(f"seeds must be one for each of {self.num_envs} games, not {len(given)}")
        return [None if one is None else integer("seed", one, 0, MOST_SEED) for one in given]

    def _seed(self, games: Any, seeds: Sequence[int | None]) -> None:
        """Begins the generators of games that have a seed."""
        pairs = [(game, seed) for game, seed in zip(games, seeds, strict=True) if seed is not None]
        if not pairs:
            return
        chosen, numbers = np.array([game for game, _ in pairs]), np.array([seed for _, seed in pairs], np.uint64)
        self._choices[chosen] = np.stack([_mixed(numbers + GOLDEN), _mixed(numbers + GOLDEN + GOLDEN)], axis=1)
        if self.rules.has_chance:
            for game, seed in pairs:
                self._rngs[game] = seeded(seed)

    def _admitted(self, states: Any, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns bytes, [n, state_bytes], marks and viewers of states. Raises as `restore_states` does."""
        if not isinstance(states, (State, Sequence)):
            raise TypeError(f"states must be a State or a sequence of them, not {type(states).__name__}")
        given = [states] * len(chosen) if isinstance(states, State) else list(states)
        if len(given) != len(chosen):
            raise ValueError(f"there are {len(given)} states for {len(chosen)} games")
        board = BoardEnv(self.rules)
        marks, viewers = np.zeros(len(given), np.uint8), np.zeros(len(given), np.int32)
        for place, state in enumerate(given):
            if not isinstance(state, State) or state.rules is not self.rules or state.over:
                board.restore_state(state)  # checks it
                if any(board.terminations.values()):
                    marks[place], viewers[place] = steps.ENDED, board.possible_agents.index(board.agent_selection)
        data = np.frombuffer(b"".join(state.data for state in given), np.uint8)
        return data.reshape(len(given), self.rules.state_bytes), marks, viewers

    def _write(self, chosen: np.ndarray, data: np.ndarray, marks: np.ndarray, viewers: np.ndarray) -> None:
        """Writes states into games, and draws outcomes until a player is to move."""
        self._states[chosen], self._marks[chosen], self._viewers[chosen] = data, marks, viewers
        if self.rules.has_chance:
            mask = np.zeros(self.num_envs, np.uint8)
            mask[chosen] = marks == steps.GOES_ON
            self._each(*self._settling, mask)

    def _ended_state(self, data: bytes, viewer: int) -> State:
        """Returns the snapshot of an ended game, as an environment of one game gives it."""
        board = BoardEnv(self.rules)
        board.restore_state(State.trusted(self.rules, data))
        if not any(board.terminations.values()):
            board._forfeit()
        board.agent_selection = board.possible_agents[viewer]
        return board.clone_state()


def batch(name: str, num_envs: int, /, **options: Any) -> BatchEnv:
    """Returns a vector environment of `num_envs` games, by name or reference.

    options: `autoreset_mode`, `illegal`, `threads` and `copy` as in BatchEnv; all others are settings of the game. Raises as
    `make_rules` and BatchEnv do.
    """
    own = {key: options.pop(key) for key in ("autoreset_mode", "illegal", "threads", "copy") if key in options}
    return BatchEnv(make_rules(name, **options), num_envs, **own)


def _mode(mode: Any) -> AutoresetMode:
    """Returns a mode. Raises ValueError with one sentence for anything else."""
    try:
        return AutoresetMode(mode)
    except ValueError:
        known = ", ".join(repr(known.value) for known in AutoresetMode)
        raise ValueError(f"autoreset_mode must be an AutoresetMode or one of {known}, not {shown(mode)}") from None


def _mixed(numbers: Any) -> Any:
    """Returns 64 well-mixed bits of each number, different ones for different numbers (splitmix64, Steele et al. 2014)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * MIX_A
    numbers = (numbers ^ (numbers >> np.uint64(27))) * MIX_B
    return numbers ^ (numbers >> np.uint64(31))
