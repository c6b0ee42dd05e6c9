"""Boards as text, character by character, and as pictures, by their colours at places (ids: cases.md)."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import write_a_game
from scipy.ndimage import label

import ucd_envs
from ucd_envs import State, registry
from ucd_envs.pictures import Screen, svg, text
from ucd_envs.pictures import pixels as drawn
from ucd_envs.pictures.scene import BLACK, BLUE, CELL, GREEN, INK, PAPER, RED, WHITE, WOOD, YELLOW
from ucd_envs.pictures.tilings import stars

CAPTION = 44
"""Rows of pixels at the foot of a picture that hold the caption."""
EVERY = [(name, settings) for name in ucd_envs.available() for settings in registry.examples(name)]
BOARDS = [
    ("hex_v0", {"size": 5}),
    ("hex_v0", {"size": 11}),
    ("hex_v0", {"rows": 3, "columns": 7}),
    ("hex_v0", {"rows": 4, "columns": 1}),
    ("hex_v0", {"size": 19}),
    ("connect_four_v0", {}),
    ("tic_tac_toe_v0", {}),
]
COLOURS = {"connect_four_v0": (RED, YELLOW)}


def shown(value: Any) -> str:
    return "".join(f"-{key}={setting}" for key, setting in value.items()) if isinstance(value, dict) else str(value)


every_example = pytest.mark.parametrize(("name", "settings"), EVERY, ids=shown)
every_board = pytest.mark.parametrize(("name", "settings"), BOARDS, ids=shown)
every_go_board = pytest.mark.parametrize(
    "settings", [{"size": 9}, {"size": 19}, {"rows": 5, "columns": 7}, {"rows": 19, "columns": 5}, {"size": 2}], ids=shown
)


def after(moves: str, name: str, **settings: Any) -> State:
    """The state after moves as players of the game write them."""
    rules = ucd_envs.make_rules(name, **settings)
    state = rules.initial_state()
    for move in moves.split():
        state = state.after(rules.initial_state().action_named(move))
    return state


def game(name: str, settings: dict[str, Any]) -> list[State]:
    """The states of a random game."""
    state = ucd_envs.make_rules(name, **settings).initial_state()
    choose = random.Random(1).choice
    states = [state]
    while not state.over:
        state = state.after(choose(state.legal_actions()))
        states.append(state)
    return states


def near(pixels: np.ndarray, colour: tuple[int, int, int]) -> np.ndarray:
    """Where the picture has this colour: [height, width] bool."""
    found: np.ndarray = (np.abs(pixels.astype(int) - colour) <= 3).all(axis=2)
    return found


def planes(state: State, player: int) -> np.ndarray:
    seen = np.zeros(state.rules.planes, np.int8)
    state.rules.kernels.observe(state.rules.config, state.array(), player, seen.reshape(-1))
    return seen


def new_stone(before: State, then: State) -> tuple[int, int]:
    """Row and column of the stone that the last move has put."""
    ((row, column),) = np.argwhere(planes(then, before.player)[:, :, 0] != planes(before, before.player)[:, :, 0])
    return int(row), int(column)


def middle(changed: np.ndarray) -> tuple[int, int]:
    """x and y of the middle of the pixels that are set."""
    y, x = np.nonzero(changed)
    return int(x.min() + x.max()) // 2, int(y.min() + y.max()) // 2


def grid(name: str, settings: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where stones appear: (1, row, column) and (x, y) of up to 12 stones of a random game, and the linear map between them.

    Each place is the middle of what changes when the stone is put.
    """
    states = game(name, settings)
    chosen = sorted({round(at) for at in np.linspace(1, len(states) - 1, 12)})
    cells, places = [], []
    for ply in chosen:
        before, then = states[ply - 1], states[ply]
        cells.append((1, *new_stone(before, then)))
        places.append(middle((drawn(before)[:-CAPTION] != drawn(then)[:-CAPTION]).any(axis=2)))
    known, found = np.array(cells, float), np.array(places, float)
    return known, found, np.linalg.lstsq(known, found, rcond=None)[0]


def crossings(settings: dict[str, Any]) -> np.ndarray:
    """x and y of the points of a Go board: [rows, columns, 2]. Each of up to 12 is the middle of what a first stone changes
    there, and the others are where the linear map through these puts them."""
    start = ucd_envs.make_rules("go", **settings).initial_state()
    rows, columns, _ = start.rules.planes
    empty = drawn(start)[:-CAPTION]
    cells, places = [], []
    for action in sorted({round(at) for at in np.linspace(0, rows * columns - 1, 12)}):
        cells.append((1, action // columns, action % columns))
        places.append(middle((drawn(start.after(action))[:-CAPTION] != empty).any(axis=2)))
    known, found = np.array(cells, float), np.array(places, float)
    fitted = np.linalg.lstsq(known, found, rcond=None)[0]
    assert np.abs(known @ fitted - found).max() < 1.5
    every = np.array([(1, row, column) for row in range(rows) for column in range(columns)])
    placed: np.ndarray = np.round(every @ fitted).astype(int).reshape(rows, columns, 2)
    return placed


# Text


def test_an_empty_tic_tac_toe_board_in_text() -> None:
    expected = """\
    a b c
  1 . . .
  2 . . .
  3 . . .
ply 0: player_0 (X) to move
"""
    assert text(after("", "tic_tac_toe")) == expected


def test_a_won_tic_tac_toe_board_in_text() -> None:
    expected = """\
    a b c
  1 O O .
  2 X X X
  3 . . .
ply 5: player_0 (X) has won
"""
    assert text(after("b2 a1 a2 b1 c2", "tic_tac_toe")) == expected


def test_a_drawn_tic_tac_toe_board_in_text() -> None:
    expected = """\
    a b c
  1 O X O
  2 X X O
  3 X O X
ply 9: a draw
"""
    assert text(after("b2 a1 c3 c1 b1 b3 a2 c2 a3", "tic_tac_toe")) == expected


def test_a_hex_board_in_text_slants_to_the_right() -> None:
    expected = """\
    a b c d
  1 . . . .
   2 . X . .
    3 . O . X
ply 3: player_1 (O) to move
"""
    assert text(after("b2 b3 d3", "hex", rows=3, columns=4)) == expected


def test_rows_of_a_hex_board_in_text_stay_in_line_past_row_9() -> None:
    expected = """\
    a b
  1 . .
   2 . .
    3 . .
     4 . .
      5 . .
       6 . .
        7 . .
         8 . .
          9 . .
          10 X .
           11 . O
ply 2: player_0 (X) to move
"""
    assert text(after("a10 b11", "hex", rows=11, columns=2)) == expected


def test_a_hex_board_in_text_after_a_swap() -> None:
    expected = """\
    a b
  1 . .
   2 O .
ply 2: player_0 (X) to move
"""
    assert text(after("b1 swap", "hex", size=2, swap=True)) == expected


def test_a_connect_four_board_in_text() -> None:
    expected = """\
. . . .
. . . .
. X . .
O X . .
1 2 3 4
ply 3: player_1 (O) to move
"""
    assert text(after("2 1 2", "connect_four", columns=4, rows=4)) == expected


def test_a_go_board_in_text_has_line_1_at_the_bottom_and_no_column_i() -> None:
    """B026. The last move takes the stone on A2."""
    expected = """\
 3 X . . . . . . . . .
 2 . X . . . . . . . O
 1 X . . . . . . . O .
   A B C D E F G H J K
ply 7: White (O) to move
"""
    assert text(after("B2 A2 A1 K2 pass J1 A3", "go", rows=3, columns=10)) == expected


def test_lines_of_a_go_board_in_text_stay_in_line_past_line_9() -> None:
    lines = text(after("A10", "go", rows=10, columns=2)).splitlines()
    assert lines[:2] == ["10 X .", " 9 . ."]


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ("", "ply 0: Black (X) to move"),
        ("A1", "ply 1: White (O) to move"),
        ("pass pass", "ply 2: a draw"),
        ("A1 pass pass", "ply 3: Black (X) has won"),
        ("pass A1 pass pass", "ply 4: White (O) has won"),
    ],
)
def test_a_go_board_in_text_tells_of_black_and_white(moves: str, expected: str) -> None:
    assert text(after(moves, "go", size=2, komi=0)).splitlines()[-1] == expected


def test_a_game_of_go_ended_by_an_illegal_move_says_so() -> None:
    env = ucd_envs.make("go", size=5, render_mode="ansi")
    env.reset()
    env.step(4)
    env.step(4)
    assert env.render().splitlines()[-1] == "ply 1: over by an illegal move of White (O)"


def test_columns_past_9_show_their_last_digit() -> None:
    assert text(after("", "connect_four", columns=12, rows=1)).splitlines()[1] == "1 2 3 4 5 6 7 8 9 0 1 2"


def test_a_path_in_text_counts_its_steps() -> None:
    expected = """\
left 2, right 1, to go 1
ply 3: player_0 to move
"""
    assert text(after("left left right", "leftright", steps=4)) == expected


def test_a_finished_path_in_text_tells_the_payoff() -> None:
    expected = """\
left 2, right 1, to go 0
ply 3: over, payoff 0.667
"""
    assert text(after("left left right", "leftright", steps=3)) == expected


def test_a_game_ended_by_an_illegal_move_says_so() -> None:
    env = ucd_envs.make("tic_tac_toe", render_mode="ansi")
    env.reset()
    env.step(4)
    env.step(4)
    assert env.render().splitlines()[-1] == "ply 1: over by an illegal move of player_1 (O)"


@every_example
def test_every_line_of_a_text_ends_without_a_space(name: str, settings: dict[str, Any]) -> None:
    assert all(line == line.rstrip() for line in text(game(name, settings)[-1]).splitlines())


# Pictures


@every_example
def test_a_picture_is_rows_of_pixels_in_three_bytes(name: str, settings: dict[str, Any]) -> None:
    pixels = drawn(game(name, settings)[-1])
    assert (pixels.dtype, pixels.ndim, pixels.shape[2]) == (np.uint8, 3, 3)
    assert pixels.flags.writeable


@every_example
def test_a_picture_is_at_most_640_wide_and_800_high(name: str, settings: dict[str, Any]) -> None:
    height, width, _ = drawn(game(name, settings)[0]).shape
    assert 200 <= width <= 640
    assert 100 <= height <= 800


@every_example
def test_nothing_reaches_the_edge_of_a_picture(name: str, settings: dict[str, Any]) -> None:
    """Clipped parts: the outermost four pixels on all sides are blank."""
    for state in (game(name, settings)[0], game(name, settings)[-1]):
        blank = near(drawn(state), PAPER)
        assert all(side.all() for side in (blank[:4], blank[-4:], blank[:, :4], blank[:, -4:]))


@every_example
def test_the_caption_stands_below_the_board(name: str, settings: dict[str, Any]) -> None:
    pixels = drawn(game(name, settings)[-1])
    assert not near(pixels[-CAPTION:], PAPER).all()
    assert near(pixels[-CAPTION : -CAPTION + 4], PAPER).all()


@every_board
def test_cells_lie_on_a_regular_grid(name: str, settings: dict[str, Any]) -> None:
    """Columns go to the right; rows go down, on a hexagonal board half a cell to the right and sqrt(3)/2 of one down."""
    known, places, fitted = grid(name, settings)
    assert np.abs(known @ fitted - places).max() < 1.5
    rows, columns, _ = ucd_envs.make_rules(name, **settings).planes
    if rows > 1 and columns > 1:
        _, (down_x, down_y), (unit, across_y) = fitted
        slanted = (unit / 2, unit * 3**0.5 / 2) if name == "hex_v0" else (0, unit)
        assert unit > 10
        assert np.allclose([across_y, down_x, down_y], [0, *slanted], atol=0.3)


@every_board
def test_every_cell_shows_its_stone_or_none(name: str, settings: dict[str, Any]) -> None:
    """B110: a wrongly drawn board. The colours in the middle of all cells of a finished random game."""
    state = game(name, settings)[-1]
    pixels = drawn(state)
    seen = planes(state, 0)
    _, _, fitted = grid(name, settings)
    first, second = COLOURS.get(name, (RED, BLUE))
    for row, column in np.ndindex(*seen.shape[:2]):
        x, y = np.round((1, row, column) @ fitted).astype(int)
        none = PAPER if name == "connect_four_v0" else CELL
        expected = first if seen[row, column, 0] else second if seen[row, column, 1] else none
        assert near(pixels[y : y + 1, x : x + 1], expected).all(), (row, column)


@pytest.mark.parametrize(
    "settings", [{"size": 1}, {"size": 5}, {"rows": 3, "columns": 7}, {"rows": 7, "columns": 3}, {"size": 19}], ids=shown
)
@pytest.mark.parametrize(("colour", "axis"), [(RED, 0), (BLUE, 1)], ids=["player 0", "player 1"])
def test_a_hex_board_has_two_unbroken_borders_of_each_player(
    settings: dict[str, Any], colour: tuple[int, int, int], axis: int
) -> None:
    """Player 0 joins top and bottom, player 1 left and right: one border on each side of the board's middle."""
    pixels = drawn(ucd_envs.make_rules("hex", **settings).initial_state())[:-CAPTION]
    strokes = (np.abs(pixels.astype(int) - colour) <= 60).all(axis=2)
    names, count = label(strokes, np.ones((3, 3)))
    sizes = sorted(((names == name).sum() for name in range(1, count + 1)), reverse=True)
    assert sum(sizes[:2]) == sum(sizes), "two pieces and no crumbs"
    ends = sorted(np.argwhere(names == name)[:, axis].mean() for name in (1, 2))
    centre = np.argwhere(near(pixels, CELL))[:, axis].mean()
    assert ends[0] < centre < ends[1]


@every_go_board
def test_points_lie_on_a_grid_with_line_1_at_the_bottom(settings: dict[str, Any]) -> None:
    """Columns go to the right and rows up, all equally far apart."""
    places = crossings(settings)
    units = (places[0, 1] - places[0, 0], places[1, 0] - places[0, 0])
    assert units[0][0] > 10
    assert np.abs(units[0] - (units[0][0], 0)).max() <= 1
    assert np.abs(units[1] - (0, -units[0][0])).max() <= 1


@every_go_board
def test_every_point_shows_its_stone_or_none(settings: dict[str, Any]) -> None:
    """B110: the colours in the middle of all points late in a random game, before the last passes."""
    state = next(state for state in reversed(game("go", settings)) if not state.over)
    pixels = drawn(state)
    seen = planes(state, 0)
    places = crossings(settings)
    for (row, column), _ in np.ndenumerate(seen[:, :, 0]):
        x, y = places[row, column]
        found = pixels[y : y + 1, x : x + 1]
        stone = [near(found, colour).all() for colour in (BLACK, WHITE)]
        assert stone == [bool(seen[row, column, 0]), bool(seen[row, column, 1])], (row, column)


def test_the_point_in_ko_has_a_square_for_one_move() -> None:
    """Black has taken on D5; the square hides the crossing of the lines, which shows again after a move elsewhere."""
    before = ucd_envs.make_rules("go", black="C5 D4 D6", white="E4 E6 F5 D5").initial_state()
    taken = before.after(before.action_named("E5"))
    later = taken.after(taken.action_named("J9"))
    x, y = crossings({})[4, 3]
    for state, wood in ((before, False), (taken, True), (later, False)):
        assert near(drawn(state)[y : y + 1, x : x + 1], WOOD).all() == wood
    changed = (drawn(taken) != drawn(later))[:-CAPTION].any(axis=2)
    unit = crossings({})[4, 4][0] - x
    assert (
        0.3 * unit < np.ptp(np.nonzero(changed[y - unit // 2 : y + unit // 2, x - unit // 2 : x + unit // 2])[0]) < 0.6 * unit
    )


@pytest.mark.parametrize(
    ("rows", "columns", "expected"),
    [
        (9, 9, "C3 G3 E5 C7 G7"),
        (13, 13, "D4 K4 G7 D10 K10"),
        (19, 19, "D4 K4 Q4 D10 K10 Q10 D16 K16 Q16"),
        (8, 8, "C3 F3 C6 F6"),
        (9, 13, "D3 K3 G5 D7 K7"),
        (18, 18, "D4 P4 D15 P15"),
        (5, 7, "D3"),
        (3, 3, "B2"),
        (2, 2, ""),
        (2, 19, ""),
    ],
)
def test_star_points_are_where_players_expect_them(rows: int, columns: int, expected: str) -> None:
    rules = ucd_envs.make_rules("go", rows=rows, columns=columns)
    assert [
        rules.initial_state().action_name(row * columns + column) for row, column in stars(rows, columns)
    ] == expected.split()


@pytest.mark.parametrize("size", [9, 19])
def test_star_points_are_drawn_as_dots(size: int) -> None:
    """How much darker it is near a crossing than without lines, against an ordinary crossing."""
    pixels = drawn(ucd_envs.make_rules("go", size=size).initial_state())
    places = crossings({"size": size})

    def ink(row: int, column: int) -> int:
        x, y = places[row, column]
        return int(sum(WOOD) * 49 - pixels[y - 3 : y + 4, x - 3 : x + 4].astype(int).sum())

    dots = {point for point in np.ndindex(size, size) if ink(*point) > 1.5 * ink(1, 1)}
    assert dots == set(stars(size, size))


def test_an_empty_hole_shows_the_paper() -> None:
    """A stone in column 1 changes the lowest hole from the colour of the paper."""
    before, then = (drawn(after(moves, "connect_four"))[:-CAPTION] for moves in ("", "1"))
    x, y = middle((before != then).any(axis=2))
    assert near(before[y : y + 1, x : x + 1], PAPER).all()


@pytest.mark.parametrize(
    ("moves", "green", "yellow"), [("", 0, 0), ("left", 0.25, 0), ("left right right", 0.25, 0.5), ("left " * 4, 1, 0)]
)
def test_the_bar_of_a_path_is_coloured_in_proportion(moves: str, green: float, yellow: float) -> None:
    """Along the middle of the bar, which is 600 pixels wide."""
    pixels = drawn(after(moves, "leftright", steps=4))
    line = pixels[50:51]
    assert abs(near(line, GREEN).sum() - 600 * green) <= 4
    assert abs(near(line, YELLOW).sum() - 600 * yellow) <= 4


@pytest.mark.parametrize(("moves", "colour"), [("", BLACK), ("A1", WHITE), ("pass pass", WHITE)])
def test_a_disc_beside_the_caption_is_black_or_white_in_go(moves: str, colour: tuple[int, int, int]) -> None:
    """The last one has won by komi."""
    foot = drawn(after(moves, "go"))[-CAPTION:]
    assert [near(foot, paint).sum() > 50 for paint in (BLACK, WHITE)] == [colour == BLACK, colour == WHITE]


@pytest.mark.parametrize(("moves", "colour"), [("", RED), ("b2", BLUE), ("b2 a1 a2 b1 c2", RED)])
def test_a_disc_beside_the_caption_has_the_colour_of_the_player_it_names(moves: str, colour: tuple[int, int, int]) -> None:
    foot = drawn(after(moves, "tic_tac_toe"))[-CAPTION:]
    assert near(foot, colour).sum() > 50


def test_a_draw_has_no_disc_beside_its_caption() -> None:
    foot = drawn(after("b2 a1 c3 c1 b1 b3 a2 c2 a3", "tic_tac_toe"))[-CAPTION:]
    assert not (near(foot, RED) | near(foot, BLUE)).any()


def test_a_narrower_picture_can_be_asked_for() -> None:
    assert drawn(after("", "hex"), width=320).shape[1] == 320


def test_the_same_position_gives_the_same_picture() -> None:
    """Two move orders."""
    assert np.array_equal(drawn(after("a1 b2 c3", "hex", size=4)), drawn(after("c3 b2 a1", "hex", size=4)))


def test_drawing_does_not_change_a_state() -> None:
    """B082: looking changes nothing."""
    state = after("a1 b2", "hex", size=4)
    before = (state.data, hash(state))
    drawn(state), text(state)
    assert (state.data, hash(state)) == before


# Vector graphics


def shapes(document: str, tag: str) -> list[dict[str, str]]:
    """Attributes of all elements of a kind in an SVG document."""
    root = ElementTree.fromstring(document)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    return [element.attrib for element in root.iter(f"{{http://www.w3.org/2000/svg}}{tag}")]


def words_of(document: str) -> list[str]:
    """All words that an SVG document shows."""
    return [element.text or "" for element in ElementTree.fromstring(document).iter("{http://www.w3.org/2000/svg}text")]


def hexadecimal(colour: tuple[int, int, int]) -> str:
    return f"#{bytes(colour).hex()}"


@every_example
def test_vector_graphics_are_as_large_as_the_picture(name: str, settings: dict[str, Any]) -> None:
    """Unless the caption needs more room, whose length depends on the font."""
    state = game(name, settings)[0]
    root = ElementTree.fromstring(svg(state))
    height, width, _ = drawn(state).shape
    assert abs(float(root.attrib["height"]) - height) < 1
    assert abs(float(root.attrib["width"]) - width) < (1 if width == 640 else 0.1 * width)


@every_example
def test_equal_positions_give_equal_vector_graphics_without_a_date(name: str, settings: dict[str, Any]) -> None:
    one, two = (svg(game(name, settings)[-1]) for _ in range(2))
    assert one == two
    assert not re.search(r"\d{4}-\d\d-\d\d", one)


@every_board
def test_vector_graphics_have_a_disc_of_the_owners_colour_for_every_stone(name: str, settings: dict[str, Any]) -> None:
    """And one beside the caption, where the game has a winner."""
    state = game(name, settings)[-1]
    colours = [hexadecimal(colour) for colour in COLOURS.get(name, (RED, BLUE))]
    discs = [disc["fill"] for disc in shapes(svg(state), "circle")]
    seen = planes(state, 0)
    payoffs = state.payoffs()
    for player, colour in enumerate(colours):
        winner = payoffs[player] == 1
        assert discs.count(colour) == int(seen[:, :, player].sum()) + winner


@every_board
def test_stones_of_vector_graphics_stand_where_they_stand_in_the_picture(name: str, settings: dict[str, Any]) -> None:
    state = next(state for state in reversed(game(name, settings)) if state.player >= 0)
    pixels = drawn(state)
    colours = {hexadecimal(colour): colour for colour in (RED, BLUE, YELLOW)}
    *stones, _ = [disc for disc in shapes(svg(state), "circle") if disc["fill"] in colours]
    assert len(stones) == state.ply
    for disc in stones:
        x, y = int(float(disc["cx"])), int(float(disc["cy"]))
        assert near(pixels[y : y + 1, x : x + 1], colours[disc["fill"]]).all()


def test_vector_graphics_name_rows_columns_and_who_is_to_move() -> None:
    assert words_of(svg(after("b2", "tic_tac_toe"))) == [*"abc", *"123", "ply 1: player_1 to move"]


def test_vector_graphics_have_the_game_as_their_title() -> None:
    title = ElementTree.fromstring(svg(after("b2", "tic_tac_toe"))).find("{http://www.w3.org/2000/svg}title")
    assert title is not None
    assert title.text == "tic_tac_toe_v0(), ply 1: player_1 (O) to move"


def test_nothing_of_vector_graphics_is_outside() -> None:
    """Corners of all polygons, lines and rectangles, and all discs, of a board of each kind."""
    for name in ucd_envs.available():
        state = game(name, registry.examples(name)[0])[-1]
        document = svg(state)
        root = ElementTree.fromstring(document)
        width, height = float(root.attrib["width"]), float(root.attrib["height"])
        listed = [shape["points"] for tag in ("polygon", "polyline") for shape in shapes(document, tag)]
        points = [tuple(map(float, point.split(","))) for line in listed for point in line.split()]
        for disc in shapes(document, "circle"):
            x, y, radius = (float(disc[key]) for key in ("cx", "cy", "r"))
            points += [(x - radius, y - radius), (x + radius, y + radius)]
        for box in shapes(document, "rect")[1:]:
            x, y, right, down = (float(box[key]) for key in ("x", "y", "width", "height"))
            points += [(x, y), (x + right, y + down)]
        assert points
        assert all(5 < x < width - 5 and 5 < y < height - 5 for x, y in points), name


def test_vector_graphics_need_no_pillow() -> None:
    program = "import ucd_envs; from ucd_envs import pictures; pictures.svg(ucd_envs.make_rules('tic_tac_toe').initial_state())"
    assert not {"PIL", "pygame"} & modules_after(program)


# Games without a board that is known


def without_tiling(tiling: Any, moves: int) -> State:
    """Tic-tac-toe after some moves, with rules that have another tiling, or none."""
    start = ucd_envs.make_rules("tic_tac_toe").initial_state()
    for _ in range(moves):
        start = start.after(start.legal_actions()[0])
    return State(replace(start.rules, tiling=tiling), start.data)


@pytest.mark.parametrize("tiling", ["", None, "bathroom"])
def test_a_game_without_a_tiling_is_told_in_words(tiling: Any) -> None:
    expected = """\
tic_tac_toe_v0()
legal moves: c1 a2 b2 c2 a3 b3 c3
ply 2: player_0 to move
"""
    assert text(without_tiling(tiling, 2)) == expected


def test_a_finished_game_without_a_tiling_has_no_legal_moves_in_words() -> None:
    assert text(without_tiling("", 7)) == "tic_tac_toe_v0()\nply 7: player_0 has won\n"


def test_a_game_of_five_kernels_is_drawn_in_words() -> None:
    """Clobber has no tiling: the words are the game, its legal moves and the player to move."""
    start = write_a_game.rules(rows=4, columns=2).initial_state()
    lines = text(start).splitlines()
    assert lines[1:] == ["legal moves: " + " ".join(map(start.action_name, start.legal_actions())), "ply 0: player_0 to move"]
    assert words_of(svg(start)) == lines
    assert drawn(start).shape[2] == 3


def test_many_legal_moves_in_words_take_several_lines() -> None:
    start = ucd_envs.make_rules("hex", size=9).initial_state()
    lines = text(State(replace(start.rules, tiling=""), start.data)).splitlines()
    assert len(lines) > 4
    assert max(map(len, lines)) <= 72
    assert " ".join(lines[1:-1]) == "legal moves: " + " ".join(
        f"{column}{row}" for row in range(1, 10) for column in "abcdefghi"
    )


def test_a_picture_of_words_shows_the_words_of_the_text() -> None:
    state = without_tiling("", 2)
    assert words_of(svg(state)) == text(state).splitlines()
    pixels = drawn(state)
    assert near(pixels[:-CAPTION], INK).sum() > 0
    assert near(pixels[:10], PAPER).all()
    assert pixels.shape[1] <= 640


# Libraries


def modules_after(program: str) -> set[str]:
    """The packages that a fresh interpreter has imported after a program."""
    run = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys; print(*{{name.partition('.')[0] for name in sys.modules}})"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(run.stdout.split())


def test_playing_and_text_import_neither_pillow_nor_pygame() -> None:
    program = "import ucd_envs; e = ucd_envs.make('tic_tac_toe', render_mode='ansi'); e.reset(); e.step(0); e.render()"
    assert not {"PIL", "pygame"} & modules_after(program)


def test_a_picture_does_not_import_pygame() -> None:
    """B110: rgb_array needed a display."""
    program = "import ucd_envs; e = ucd_envs.make('tic_tac_toe', render_mode='rgb_array'); e.reset(); e.render()"
    assert {"PIL", "pygame"} & modules_after(program) == {"PIL"}


def test_a_missing_pillow_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match=r"\Apictures need Pillow: pip install 'ucd-planners\[render\]'\Z"):
        drawn(after("", "tic_tac_toe"))


def test_a_missing_pygame_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(ImportError, match=r"\Aa window needs pygame: pip install 'ucd-planners\[render\]'\Z"):
        Screen("tic-tac-toe", (10, 10, 3))


def test_a_window_shows_the_picture() -> None:
    pixels = drawn(after("b2", "tic_tac_toe"))
    screen = Screen("tic-tac-toe", pixels.shape)
    screen.show(pixels, 1_000_000)
    import pygame

    shown_pixels = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    screen.close()
    assert np.array_equal(shown_pixels, pixels)


def test_a_window_that_was_closed_behind_its_back_is_opened_again() -> None:
    pixels = drawn(after("b2", "tic_tac_toe"))
    screen, other = (Screen(title, pixels.shape) for title in ("one", "other"))
    other.show(pixels, 1_000_000)
    other.close()
    screen.show(pixels, 1_000_000)
    screen.close()
