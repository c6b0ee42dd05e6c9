"""Games of dice and coins as models, and the Gymnasium environment that plays a model. States end with the moves left."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from exact_values import Model, Outcome
from gymnasium.spaces import Discrete, MultiDiscrete

FACES = range(1, 7)
Faces = tuple[int, int]


class ModelGame(gymnasium.Env[Any, Any]):
    """A model as an environment: its observation is the state, and illegal actions raise AssertionError."""

    def __init__(self, model: Model, start: tuple[int, ...], actions: int) -> None:
        self.model, self.start, self.actions = model, start, actions
        self.state: Any = start
        self.over = False
        self.observation_space, self.action_space = MultiDiscrete([13] * len(start), start=[-6] * len(start)), Discrete(actions)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.state, self.over = self.start, False
        return np.array(self.state), {}

    def action_masks(self) -> list[bool]:
        """Whether each action is legal."""
        legal = self.model(self.state)
        return [action in legal for action in range(self.actions)]

    def drawn(self, outcomes: list[Outcome]) -> Outcome:
        """One of the outcomes, by their probabilities."""
        number = float(self.np_random.random())
        for outcome in outcomes:
            number -= outcome.probability
            if number < 0:
                return outcome
        return outcomes[-1]

    def step(self, action: int) -> Any:
        assert not self.over, "a move after the end"
        outcomes = self.model(self.state).get(action)
        assert outcomes, f"the action {action} is illegal in {self.state}"
        _, reward, state = outcomes[0] if len(outcomes) == 1 else self.drawn(outcomes)
        self.over = state is None
        if not self.over:
            self.state = state
        return np.array(self.state), reward, self.over, False, {}


def throws(reward: dict[int, float], left: int) -> list[Outcome]:
    """Outcomes of a throw of a die with these rewards, and the state (face, moves left) after each."""
    return [Outcome(1 / 6, reward.get(face, 0.0), (face, left - 1) if left > 1 else None) for face in FACES]


def die(state: Faces) -> dict[int, list[Outcome]]:
    """A die is shown, the only legal action is its face, and each of the throws that follow is paid 0.1."""
    face, left = state
    return {face: throws(dict.fromkeys(FACES, 0.1), left)}


def naming(state: Faces) -> dict[int, list[Outcome]]:
    """A die is shown and may be named: its face is paid 1. It is thrown again after each move."""
    face, left = state
    return {name: throws(dict.fromkeys(FACES, float(name == face)), left) for name in FACES}


def bets(state: Faces) -> dict[int, list[Outcome]]:
    """A die is shown. A bet on a number up to its face throws it again and is paid the number if the throw is as high.
    The action 0 turns the die over, which is paid 1 and leaves nothing to chance."""
    face, left = state
    moves = {0: [Outcome(1.0, 1.0, (7 - face, left - 1) if left > 1 else None)]}
    for bet in range(1, face + 1):
        moves[bet] = throws({thrown: float(bet) for thrown in FACES if thrown >= bet}, left)
    return moves


def walk(state: Faces) -> dict[int, list[Outcome]]:
    """Five moves of a token. The first puts it on 1, by the actions 1 and 2 only with probability 1/4 and 3/4, else on -1.
    The others have one action, which moves it to the left or to the right. It is paid 1 if it ends above 0."""
    place, left = state
    if left == 5:
        return {
            action: [Outcome(share, 0.0, (at, 4)) for share, at in ((right, 1), (1 - right, -1)) if share]
            for action, right in enumerate((1.0, 0.25, 0.75))
        }
    places = (place - 1, place + 1)
    return {0: [Outcome(0.5, float(left == 1 and at > 0), (at, left - 1) if left > 1 else None) for at in places]}


def doors(state: Faces) -> dict[int, list[Outcome]]:
    """A door is open, and the only legal action walks through it. The door 1 pays 1 and is the next one once in 300 times."""
    door, left = state
    shares = ((0, 299 / 300), (1, 1 / 300))
    return {door: [Outcome(share, float(door), (other, left - 1) if left > 1 else None) for other, share in shares]}


def late(state: Faces) -> dict[int, list[Outcome]]:
    """Moves without chance, by the actions 0 and 1, until three are left; then a die whose face is the only legal action."""
    face, left = state
    if left > 3:
        return {action: [Outcome(1.0, 0.0, (action, left - 1))] for action in (0, 1)}
    return {face: throws({thrown: thrown / 6 for thrown in FACES}, left)}


def played(model: Model, start: Faces, actions: int = 7) -> ModelGame:
    """The environment of a model, reset."""
    env = ModelGame(model, start, actions)
    env.reset(seed=0)
    return env
