"""Episodes of self-play: games with a sample for each decision, in memory and in files.

A file is a NumPy archive (.npz) of plain arrays, which `numpy.load` reads too. Its `header`, JSON text in bytes, names the
layout of the file, the game with its settings, and how the games were played. `lengths` has the moves and decisions of each
episode, and the other arrays hold those of all episodes one after another. Nothing is pickled. A file whose name ends with
.sqlite or .db is a database with a row for each episode instead, to which episodes can be added.
"""

from __future__ import annotations

import errno
import json
import os
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np

from ucd_envs.kernels import CHANCE
from ucd_envs.registry import make_rules
from ucd_envs.rules import Rules
from ucd_envs.settings import shown
from ucd_planners import episode_database, files

LAYOUT = 1
"""The layout of files, which changes with what they hold."""
LEVEL = 1
"""The level of compression: observations and masks are mostly zeros, which every level packs well."""
PER_DECISION, PER_MOVE, PER_EPISODE = (
    ("observations", "masks", "policies", "values"),
    ("moves", "players"),
    ("payoffs", "number"),
)
"""The arrays of an episode by what their rows stand for."""
BLOBS = ("payoffs", *PER_DECISION, *PER_MOVE)
"""The columns of a database."""


@dataclass(frozen=True, eq=False)
class Episode:
    """One game with its samples: a row for each decision, and for each move, which outcomes of chance are among."""

    number: int
    """Its place in the sequence of games, from 0 on."""
    observations: np.ndarray
    """Seen by the player to move: [decisions, rows, columns, planes] int8."""
    masks: np.ndarray
    """1 for each legal action: [decisions, actions] int8."""
    policies: np.ndarray
    """Shares of the visits of the search: [decisions, actions] float32."""
    values: np.ndarray
    """Mean payoff of the player to move over the playouts of the search, in [0, 1]: [decisions] float32."""
    moves: np.ndarray
    """Actions played: [moves] int32."""
    players: np.ndarray
    """Players who moved, or CHANCE (1024): [moves] int32. Without chance every move is a decision."""
    payoffs: np.ndarray
    """Payoffs of the players at the end, in [0, 1]: [players] float64."""

    @property
    def movers(self) -> np.ndarray:
        """The player of each decision: [decisions] int32."""
        movers: np.ndarray = self.players[self.players != CHANCE]
        return movers

    @property
    def outcomes(self) -> np.ndarray:
        """The payoff at the end of the player who decided: [decisions] float32."""
        own: np.ndarray = self.payoffs[self.movers].astype(np.float32)
        return own

    def __len__(self) -> int:
        """Returns the number of decisions."""
        return len(self.values)


class Samples(NamedTuple):
    """Decisions of many episodes, a row for each."""

    observations: np.ndarray
    """[samples, rows, columns, planes] int8."""
    masks: np.ndarray
    """[samples, actions] int8."""
    policies: np.ndarray
    """[samples, actions] float32."""
    values: np.ndarray
    """Mean payoffs of the searches, for the player to move: [samples] float32."""
    outcomes: np.ndarray
    """Payoffs at the end, for the player to move: [samples] float32."""


class Episodes(Sequence[Episode]):
    """Episodes of one game.

    rules: the game; episodes: those of `SelfPlay.play`, for example; note: text that is kept with them. Raises ValueError for
    an episode of another game, as far as its sizes tell.
    """

    def __init__(self, rules: Rules, episodes: Iterable[Episode], note: str = "") -> None:
        self.rules, self.note, self._episodes = rules, note, list(episodes)
        for episode in self._episodes:
            sizes = (episode.observations.shape[1:], episode.policies.shape[1], episode.payoffs.shape)
            if sizes != (rules.planes, rules.actions, (rules.players,)):
                raise ValueError(f"episode {episode.number} is no game of {rules}")

    @overload
    def __getitem__(self, place: int) -> Episode: ...
    @overload
    def __getitem__(self, place: slice) -> Episodes: ...

    def __getitem__(self, place: int | slice) -> Episode | Episodes:
        """Returns an episode, or some as Episodes."""
        if isinstance(place, slice):
            return Episodes(self.rules, self._episodes[place], self.note)
        return self._episodes[place]

    def __len__(self) -> int:
        """Returns the number of episodes."""
        return len(self._episodes)

    def samples(self, augment: np.random.Generator | None = None) -> Samples:
        """Returns the decisions of all episodes in their order.

        augment: a generator that draws a symmetry of the game for each sample, by which its observation, mask and policy are
        mapped; without one, or in a game without symmetries, samples are as they were. Raises ValueError without a decision.
        """
        if not any(map(len, self._episodes)):
            raise ValueError("there are no samples: no episode has a decision")
        parts = [np.concatenate([getattr(episode, name) for episode in self._episodes]) for name in PER_DECISION]
        observations, masks, policies, values = parts
        if augment is not None and self.rules.symmetries is not None:
            observations, masks, policies = self.rules.symmetries.augmented(augment, observations, masks, policies)
        outcomes = np.concatenate([episode.outcomes for episode in self._episodes])
        return Samples(observations, masks, policies, values, outcomes)

    def save(self, path: str | PathLike[str]) -> None:
        """Saves the episodes in a file, completely or not at all: an SQLite database where its name ends with .sqlite or .db,
        else a NumPy archive.

        Raises OSError with one sentence, leaving an old file unchanged, where the file cannot be written; ValueError for two
        episodes of one number in a database.
        """
        if Path(path).suffix in episode_database.SUFFIXES:
            files.save(Path(path), lambda part: Episodes.append(self, part))
            return
        header = self._header
        arrays: dict[str, np.ndarray] = {
            "header": np.frombuffer(json.dumps(header, default=str).encode(), np.uint8),
            "lengths": np.array([(len(episode.moves), len(episode)) for episode in self._episodes], np.int64).reshape(-1, 2),
            "number": np.array([episode.number for episode in self._episodes], np.int64),
            "payoffs": np.array([episode.payoffs for episode in self._episodes]).reshape(-1, self.rules.players),
        }
        for name, empty in self._empty().items():
            arrays[name] = np.concatenate([empty, *(getattr(episode, name) for episode in self._episodes)])

        def write(part: Path) -> None:
            with open(part, "wb") as file:
                with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
                    for name, array in arrays.items():
                        with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                            np.lib.format.write_array(member, array, allow_pickle=False)
                file.flush()
                os.fsync(file.fileno())

        files.save(Path(path), write)

    def append(self, path: str | PathLike[str]) -> None:
        """Adds the episodes to an SQLite database, all or none; the file is made if it does not exist.

        Raises ValueError for a file of another game, for one that holds no episodes, and for an episode whose number it has,
        OSError where it cannot be written.
        """
        arrays = [{name: getattr(episode, name) for name in BLOBS} for episode in self._episodes]
        episode_database.add(Path(path), self._header, [episode.number for episode in self._episodes], arrays, BLOBS)

    @property
    def _header(self) -> dict[str, Any]:
        """The facts of all episodes, as a file has them."""
        game = self.rules.reference or self.rules.name
        return {"layout": LAYOUT, "game": game, "settings": dict(self.rules.settings), "note": self.note}

    @classmethod
    def load(cls, path: str | PathLike[str], rules: Rules | None = None) -> Episodes:
        """Returns the episodes of a file.

        rules: the game that they must be of; by default any. Raises OSError where the file cannot be read, and ValueError, with
        one sentence, for one that holds no episodes, is damaged, has another layout or is of another game.
        """
        path = Path(path)
        rows: dict[int, dict[str, bytes]] | None = None
        if episode_database.is_database(path):
            header, rows = episode_database.read(path, BLOBS)
        else:
            header, arrays = _read(path)
        if header.get("layout") != LAYOUT:
            raise ValueError(f"{path} has layout {shown(header.get('layout'))} of episodes, but this version reads {LAYOUT}")
        try:
            there = make_rules(header["game"], **header["settings"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is of a game that cannot be made here: {error}") from None
        if rules is not None and there != rules:
            raise ValueError(f"{path} holds games of {there}, not of {rules}")
        made = cls(there, (), str(header.get("note", "")))
        try:
            made._take(arrays if rows is None else made._joined(rows))
        except (KeyError, IndexError, ValueError) as error:
            raise ValueError(f"{path} is damaged: its arrays do not fit each other ({error})") from None
        return made

    def _take(self, arrays: dict[str, np.ndarray]) -> None:
        """Takes the episodes of a file's arrays. Raises KeyError, IndexError or ValueError for arrays that do not fit."""
        lengths = arrays["lengths"].reshape(-1, 2)
        ends, kept = np.cumsum(lengths, axis=0), self._empty()
        for name, empty in kept.items():
            whole, total = arrays[name], ends[-1, int(name in PER_DECISION)] if len(ends) else 0
            if whole.dtype != empty.dtype or whole.shape != (total, *empty.shape[1:]) or (lengths < 0).any():
                raise ValueError(f"{name} has the shape {whole.shape}")
        if arrays["payoffs"].shape != (len(lengths), self.rules.players) or arrays["number"].shape != (len(lengths),):
            raise ValueError("payoffs or numbers are missing")
        for place, (moves, decisions) in enumerate(ends):
            start = ends[place] - lengths[place]
            at = {name: slice(start[0], moves) for name in PER_MOVE} | {
                name: slice(start[1], decisions) for name in PER_DECISION
            }
            rows = {name: arrays[name][part] for name, part in at.items()}
            players = rows["players"]
            if not ((players == CHANCE) | ((players >= 0) & (players < self.rules.players))).all():
                raise ValueError("a move is nobody's")
            if (players != CHANCE).sum() != decisions - start[1]:
                raise ValueError("moves and decisions disagree")
            self._episodes.append(Episode(int(arrays["number"][place]), payoffs=arrays["payoffs"][place], **rows))

    def _joined(self, rows: dict[int, dict[str, bytes]]) -> dict[str, np.ndarray]:
        """The arrays of a database's episodes as those of an archive. Raises ValueError for bytes that are no whole rows."""
        found = {"number": np.array(list(rows), np.int64), "lengths": np.zeros((len(rows), 2), np.int64)}
        for name, empty in (*self._empty().items(), ("payoffs", np.zeros((0, self.rules.players)))):
            parts = [np.frombuffer(row[name], empty.dtype).reshape(-1, *empty.shape[1:]) for row in rows.values()]
            found[name] = np.concatenate([empty, *parts])
            if name in ("moves", "values"):
                found["lengths"][:, int(name == "values")] = [len(part) for part in parts]
        return found

    def _empty(self) -> dict[str, np.ndarray]:
        """The arrays of an episode without moves."""
        actions = self.rules.actions
        return {
            "observations": np.zeros((0, *self.rules.planes), np.int8),
            "masks": np.zeros((0, actions), np.int8),
            "policies": np.zeros((0, actions), np.float32),
            "values": np.zeros(0, np.float32),
            "moves": np.zeros(0, np.int32),
            "players": np.zeros(0, np.int32),
        }

    def __repr__(self) -> str:
        return f"<{len(self)} episodes of {self.rules}, {sum(map(len, self._episodes))} decisions>"


def _read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Returns the header of a file and its arrays. Raises OSError and ValueError as `Episodes.load` does."""
    try:
        with open(path, "rb") as file:
            try:
                with np.load(file, allow_pickle=False) as found:
                    arrays = {name: found[name] for name in found.files}
                header = json.loads(arrays.pop("header").tobytes())
            except (
                ValueError,
                KeyError,
                EOFError,
                AttributeError,
                TypeError,
                zipfile.BadZipFile,
                zlib.error,
                NotImplementedError,
            ):
                raise ValueError(f"{path} holds no episodes, or is damaged") from None
    except OSError as error:
        if error.errno == errno.EINVAL:  # a place before the beginning of the file, where no archive has anything
            raise ValueError(f"{path} holds no episodes, or is damaged") from None
        raise OSError(f"{path} cannot be read: {error.strerror or error}") from None
    if not isinstance(header, dict):
        raise ValueError(f"{path} holds no episodes, or is damaged")
    return header, arrays
