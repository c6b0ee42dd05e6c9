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
from ucd_envs.symmetries import CANONICAL, Symmetries, canonical, canonical_key, disagreement, of_rectangle, symmetries

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
    ("breakthrough", {}, 2),
    ("breakthrough", {"rows": 4, "columns": 3}, 2),
    ("knightthrough", {}, 2),
    ("knightthrough", {"rows": 5, "columns": 5, "elimination": False}, 2),
    ("pawn_whopping", {}, 2),
    ("pawn_whopping", {"rows": 5, "columns": 6, "corrected": True}, 2),
    ("havannah", {"base": 2}, 12),
    ("havannah", {"base": 4, "swap": True}, 12),
    ("havannah", {"base": 6}, 12),
    ("pentago", {}, 8),
    ("pentago", {"after_rotation": True}, 8),
    ("quarto", {}, 32),
    ("quarto", {"squares": True}, 8),
    ("merrills", {}, 16),
    ("merrills", {"tournament": True}, 16),
]
OTHELLO: list[dict[str, Any]] = [{}, {"size": 6, "start": "parallel"}, {"size": 4, "payoff": "discs"}]


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


def seen_from(state: State, player: int) -> np.ndarray:
    planes = np.zeros(state.rules.planes, np.int8)
    state.rules.kernels.observe(state.rules.config, state.array(), player, planes.reshape(-1))
    return planes


def play_on(rules: Rules, states: list[State], draw: random.Random) -> None:
    """Plays a random game beside all of its images, and compares keys, observations, legal actions and payoffs."""
    named = rules.symmetries
    assert named is not None
    while True:
        legal, mask = states[0].legal_actions(), np.zeros(rules.actions, np.int8)
        mask[legal] = 1
        for symmetry, state in enumerate(states):
            assert state.player == states[0].player
            assert (words_of(state) == image_of(words_of(states[0]), named.bits[symmetry])).all()
            own = np.zeros(rules.actions, np.int8)
            own[state.legal_actions()] = 1
            for player in range(rules.players):
                seen, chances = named.image(symmetry, seen_from(states[0], player), mask)
                assert (seen == seen_from(state, player)).all()
                assert (chances == own).all()
        keys = {canonical_of(rules, state)[1] for state in states}
        assert keys == {min(tuple(map(int, words_of(state))) for state in states)}
        assert len({canonical_key(state)[0] for state in states}) == 1
        if states[0].over:
            break
        action = draw.choice(legal)
        states = [state.after(int(image[action])) for state, image in zip(states, named.actions, strict=True)]
    assert all(state.payoffs() == states[0].payoffs() for state in states)


@pytest.mark.parametrize(("name", "settings", "count"), GAMES, ids=lambda value: str(value))
def test_the_image_of_a_game_is_a_game_with_the_images_of_its_keys(name: str, settings: dict[str, Any], count: int) -> None:
    """The images of the moves are played by the rules, from a start that is its own image."""
    rules = make_rules(name, **settings)
    named = rules.symmetries
    assert named is not None
    assert len(named.actions) == len(named.bits) == count
    draw = random.Random(7)
    for _ in range(1 if count > 8 or rules.max_plies > 60 else 3):
        play_on(rules, [rules.initial_state()] * count, draw)


@pytest.mark.parametrize("settings", OTHELLO, ids=str)
def test_the_image_of_a_game_of_othello_is_a_game_from_an_image_of_its_start(settings: dict[str, Any]) -> None:
    """The first discs are not their own image under all symmetries, so images are set up after the first ply."""
    rules = make_rules("othello", **settings)
    named, cells = rules.symmetries, rules.actions - 1
    assert named is not None
    assert len(named.actions) == 8

    def turned(state: State, image: np.ndarray) -> State:
        data = state.array()
        words = data[8:].view(np.uint64)  # behind player and ply: discs of both players, and open cells
        for place, word in enumerate(words.tolist()):
            words[place] = sum(1 << int(image[cell]) for cell in range(cells) if word >> cell & 1)
        return State(rules, data.tobytes())  # which checks that they agree

    draw = random.Random(5)
    for _ in range(4):
        first = rules.initial_state()
        first = first.after(draw.choice(first.legal_actions()))
        play_on(rules, [turned(first, image) for image in named.actions], draw)


def test_samples_are_mapped_by_symmetries_of_their_own() -> None:
    """Every image comes, observation and policy by the same symmetry, and the given arrays stay."""
    rules = make_rules("tic_tac_toe")
    named = rules.symmetries
    assert named is not None
    state = rules.initial_state().after(0).after(1).after(5)
    seen, policy = seen_from(state, 1), np.arange(9, dtype=np.float32)
    images = {(one.tobytes(), other.tobytes()) for one, other in (named.image(s, seen, policy) for s in range(8))}
    assert len(images) == 8
    observations, policies = np.stack([seen] * 200), np.stack([policy] * 200)
    found = named.augmented(np.random.default_rng(3), observations, policies)
    assert {(one.tobytes(), other.tobytes()) for one, other in zip(*found, strict=True)} == images
    assert found[0].dtype == np.int8
    assert found[1].dtype == np.float32
    assert (observations == seen).all()
    assert (policies == policy).all()


def test_many_observations_have_images_at_once() -> None:
    """Also in arrays whose memory is not in order."""
    rules = make_rules("hex", size=3)
    named = rules.symmetries
    assert named is not None
    states = [rules.initial_state().after(action) for action in range(9)]
    seen = np.stack([seen_from(state, 0) for state in states])
    moves = np.eye(9)
    one = named.image(1, np.asfortranarray(seen), np.asfortranarray(moves))
    assert (one[0] == seen[::-1]).all()
    assert (one[1] == moves[::-1]).all()


@pytest.mark.parametrize(
    ("observation", "policy", "message"),
    [
        (np.zeros((1, 3, 3, 2)), np.zeros((1, 8)), r"of 9 actions, not shapes \(1, 3, 3, 2\), \(1, 8\)"),
        (np.zeros((1, 3, 4, 2)), np.zeros((1, 9)), "expected observations of 18 entries"),
        (np.zeros((2, 3, 3, 2)), np.zeros((1, 9)), "need a row for each sample"),
        (np.zeros((3, 3, 2)), np.zeros(9), "need a row for each sample"),
    ],
)
def test_samples_of_other_shapes_are_refused(observation: np.ndarray, policy: np.ndarray, message: str) -> None:
    named = make_rules("tic_tac_toe").symmetries
    assert named is not None
    with pytest.raises(ValueError, match=message):
        named.augmented(np.random.default_rng(1), observation, policy)


def test_an_unknown_symmetry_and_one_without_observations_are_refused() -> None:
    named = make_rules("tic_tac_toe").symmetries
    assert named is not None
    seen, policy = np.zeros((3, 3, 2)), np.zeros(9)
    with pytest.raises(ValueError, match="the symmetry must be 0 to 7, not 8"):
        named.image(8, seen, policy)
    with pytest.raises(ValueError, match="say nothing of observations"):
        Symmetries(named.bits, named.actions).image(1, seen, policy)


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


def test_a_game_without_symmetries_has_its_own_keys_as_canonical_ones() -> None:
    rules = make_rules("go", size=3, ko="positional")
    assert rules.symmetries is None
    state = rules.initial_state().after(4)
    assert canonical_key(state) == (state.words, 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda named: named._replace(actions=0 * named.actions), "images of legal actions that are not legal"),
        (lambda named: named._replace(actions=named.actions[::-1].copy()), "an image of a key that no position has"),
        (lambda named: named._replace(bits=named.bits[:, ::-1].copy()), "an image of a key that no position has"),
        (lambda named: named._replace(bits=named.bits[:, :5]), "need an image of each of 64 bits and 9 actions"),
        (lambda named: named._replace(entries=named.entries[::-1].copy()), "an image of an observation that nobody sees"),
        (lambda named: named._replace(entries=named.entries[:, :5]), "need an image of each of 18 entries"),
        (lambda named: named._replace(entries=None), ""),
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
