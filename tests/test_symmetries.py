"""Symmetries of games: images of games are games, images of keys are keys of images, and a class has one canonical key."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ucd_envs import make_rules
from ucd_envs.kernels import compiled
from ucd_envs.rules import Rules, State
from ucd_envs.symmetries import CANONICAL, canonical, disagreement, of_rectangle, symmetries

GAMES: list[tuple[str, dict[str, Any], int]] = [
    ("tic_tac_toe", {}, 8),
    ("connect_four", {}, 2),
    ("connect_four", {"columns": 4, "rows": 5}, 2),
    ("hex", {"size": 5, "swap": True}, 2),
    ("hex", {"rows": 3, "columns": 7}, 2),
    ("hex", {"size": 11}, 2),
    ("go", {"size": 3}, 8),
    ("go", {"rows": 3, "columns": 4, "suicide": True}, 4),
    ("go", {"size": 6}, 8),
    ("nogo", {"size": 4}, 8),
    ("nogo", {"rows": 2, "columns": 5, "irrational": True}, 4),
    ("nogo", {"rows": 1, "columns": 6}, 4),
    ("nogo", {}, 8),
]


def words_of(state: State) -> np.ndarray:
    return np.frombuffer(state.words, np.uint64).copy()


def image_of(words: np.ndarray, bits: np.ndarray) -> np.ndarray:
    """The image of a key, bit by bit in Python's numbers."""
    whole = sum(int(word) << 64 * place for place, word in enumerate(words))
    image = sum(1 << int(bits[bit]) for bit in range(64 * len(words)) if whole >> bit & 1)
    return np.array([image >> 64 * place & (2**64 - 1) for place in range(len(words))], np.uint64)


def canonical_of(rules: Rules, state: State) -> tuple[int, tuple[int, ...]]:
    assert rules.symmetries is not None
    least = np.zeros(rules.key_words, np.uint64)
    found = compiled(canonical, CANONICAL)(rules.symmetries.bits, words_of(state), least)
    return int(found), tuple(map(int, least))


@pytest.mark.parametrize(("name", "settings", "count"), GAMES, ids=lambda value: str(value))
def test_the_image_of_a_game_is_a_game_with_the_images_of_its_keys(name: str, settings: dict[str, Any], count: int) -> None:
    """The images of the moves are played by the rules, from a start that is its own image."""
    rules = make_rules(name, **settings)
    named = rules.symmetries
    assert named is not None
    assert len(named.actions) == len(named.bits) == count
    draw = random.Random(7)
    for _ in range(6):
        states = [rules.initial_state()] * count
        while not states[0].over:
            legal = states[0].legal_actions()
            for state, image in zip(states, named.actions, strict=True):
                assert state.legal_actions() == sorted(int(image[action]) for action in legal)
                assert state.player == states[0].player
            action = draw.choice(legal)
            states = [state.after(int(image[action])) for state, image in zip(states, named.actions, strict=True)]
            for state, bits in zip(states, named.bits, strict=True):
                assert (words_of(state) == image_of(words_of(states[0]), bits)).all()
            keys = {canonical_of(rules, state)[1] for state in states}
            assert keys == {min(tuple(map(int, words_of(state))) for state in states)}
        assert all(state.payoffs() == states[0].payoffs() for state in states)


def test_the_first_symmetry_that_leads_to_the_canonical_key_is_named() -> None:
    rules = make_rules("tic_tac_toe")
    assert rules.symmetries is not None
    for line in ((), (4,), (0,), (8,), (1, 0, 5), (3, 6, 2)):
        state = rules.initial_state()
        for action in line:
            state = state.after(action)
        images = [tuple(map(int, image_of(words_of(state), bits))) for bits in rules.symmetries.bits]
        assert canonical_of(rules, state) == (images.index(min(images)), min(images))


def test_tic_tac_toe_has_765_positions_up_to_symmetry() -> None:
    """Without the symmetries there are 5478; both are well known."""
    rules = make_rules("tic_tac_toe")
    layer, classes, positions = {rules.initial_state()}, set(), set()
    while layer:
        positions |= {state.words for state in layer}
        classes |= {canonical_of(rules, state)[1] for state in layer}
        layer = {state.after(action) for state in layer for action in state.legal_actions()}
    assert (len(positions), len(classes)) == (5478, 765)


def test_a_simple_ko_is_part_of_a_position_and_turns_with_it() -> None:
    rules = make_rules("go", size=5)
    assert rules.symmetries is not None
    states = [rules.initial_state()] * 8
    for name in ("B1", "C1", "A2", "D2", "B3", "C3", "C2", "B2"):
        action = states[0].action_named(name)
        states = [state.after(int(image[action])) for state, image in zip(states, rules.symmetries.actions, strict=True)]
    shut = states[0].action_named("C2")
    assert shut not in states[0].legal_actions()
    assert len({canonical_of(rules, state)[1] for state in states}) == 1


def test_go_under_superko_names_no_symmetries() -> None:
    assert make_rules("go", size=3, ko="positional").symmetries is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda named: named._replace(actions=0 * named.actions), "images of legal actions that are not legal"),
        (lambda named: named._replace(actions=named.actions[::-1].copy()), "an image of a key that no position has"),
        (lambda named: named._replace(bits=named.bits[:, ::-1].copy()), "an image of a key that no position has"),
        (lambda named: named._replace(bits=named.bits[:, :5]), "need an image of each of 64 bits and 9 actions"),
        (lambda named: named, ""),
    ],
)
def test_symmetries_that_do_not_fit_a_game_are_named(change: Any, message: str) -> None:
    """Random games beside their images."""
    rules = make_rules("tic_tac_toe")
    found = disagreement(replace(rules, symmetries=change(rules.symmetries)))
    assert message in found
    assert bool(message) == bool(found)


@pytest.mark.parametrize(("name", "settings", "count"), GAMES, ids=lambda value: str(value))
def test_no_symmetry_of_ours_disagrees_with_its_game(name: str, settings: dict[str, Any], count: int) -> None:
    assert disagreement(make_rules(name, **settings), seed=3) == ""


def test_a_rectangle_has_four_images_and_a_square_eight() -> None:
    assert of_rectangle(2, 3).tolist() == [[0, 1, 2, 3, 4, 5], [3, 4, 5, 0, 1, 2], [2, 1, 0, 5, 4, 3], [5, 4, 3, 2, 1, 0]]
    turned = of_rectangle(3, 3)
    assert len({tuple(image) for image in turned.tolist()}) == 8
    products = {tuple(one[other]) for one in turned for other in turned}
    assert products == {tuple(image) for image in turned.tolist()}


@pytest.mark.parametrize(
    ("images", "actions"),
    [([[1, 0], [0, 1]], [[0, 1], [1, 0]]), ([[0, 1], [0, 0]], [[0, 1], [1, 0]]), ([[0, 1]], [[0, 1], [1, 0]])],
)
def test_lists_that_are_no_symmetries_are_refused(images: list[list[int]], actions: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="must be permutations, one a symmetry, of which the first is the identity"):
        symmetries(np.array(images), np.array([[0], [1]]), np.array(actions), 1)
