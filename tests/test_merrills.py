"""Merrills against OpenSpiel and a slow player of its rules; the board, removals, blocked players and the ends of a game."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pyspiel
import pytest
from lockstep import lockstep, mean_return

import ucd_envs
from ucd_envs.boards import mills
from ucd_envs.boards.men import PLANES
from ucd_envs.games import merrills as game
from ucd_envs.pictures import stones, svg, text
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields

BLOCKED_AT_18 = "+Ms +Mw +Osw +Mn +Ise +Ose +Oe +Is +Msw +On +Me +Mse +One +Ow +Os +Onw +Mne +Ie"
"""All men are down, none has been removed, and white cannot move."""
BLOCKED_AT_28 = (
    "+Mne +Oe +Onw +In +Ow +Inw +Ie +Mse +Ine +Mw +Mn +On +Is +Ise +Msw +Os +Ms +Mnw "
    "Mne>Me Os>Osw Me>Mne Oe>Me Is>Isw Mw>Iw Ms>Is Mse>Ms Ow>Mw Osw>Ow"
)
"""White cannot move after ten moves without a mill."""
AND_BACK = "Mne>Me On>One Me>Mne One>On"
"""Moves after the first 18 plies of BLOCKED_AT_28 that lead back to the position."""


def merrills(tournament: bool = False) -> Rules:
    """The rules of Merrills, or of tournaments."""
    return ucd_envs.make_rules("merrills", tournament=tournament)


both = pytest.mark.parametrize("tournament", [False, True])


def played(rules: Rules, moves: str) -> State:
    """The state after moves, none of which but the last ends the game."""
    state = rules.initial_state()
    for move in moves.split():
        state = state.after(state.action_named(move))
    return state


def drawn(
    tournament: bool,
    white: str,
    black: str,
    turn: int = 0,
    removing: bool = False,
    ply: int = 40,
    hands: tuple[int, int] = (0, 0),
) -> State:
    """The state with men on these points, written straight into the record."""
    rules = merrills(tournament)
    array = rules.initial_state().array()
    s = fields(array, game.STATE)
    s.player = s.turn = turn
    s.ply, s.removing, s.hands[:] = ply, removing, hands
    for player, points in enumerate((white, black)):
        s.men[player] = sum(1 << mills.NAMES.index(point) for point in points.split())
    return State.trusted(rules, array.tobytes())


def named(state: State) -> set[str]:
    """The legal moves as they are written."""
    return {state.action_name(action) for action in state.legal_actions()}


# The board, derived from its description alone

DIRECTIONS = ("n", "ne", "e", "se", "s", "sw", "w", "nw")
EDGES = {frozenset((ring + DIRECTIONS[i], ring + DIRECTIONS[(i + 1) % 8])) for ring in "OMI" for i in range(8)}
EDGES |= {frozenset((one + side, other + side)) for one, other in ("OM", "MI") for side in "nesw"}
LINES = {frozenset(ring + DIRECTIONS[(i + k) % 8] for k in range(3)) for ring in "OMI" for i in (1, 3, 5, 7)}
LINES |= {frozenset(ring + side for ring in "OMI") for side in "nesw"}


def test_the_board_has_24_points_32_edges_and_16_mills() -> None:
    """F11: three squares of eight points, joined at the middles of their sides."""
    assert (len(set(mills.NAMES)), len(EDGES), len(LINES)) == (24, 32, 16)
    assert {frozenset(mills.NAMES[point] for point in mill) for mill in mills.MILLS} == LINES


@both
@pytest.mark.parametrize("start", mills.NAMES)
def test_men_slide_along_all_edges_both_ways(tournament: bool, start: str) -> None:
    """B055: from each point to its two, three or four neighbours. Four more men keep it from flying."""
    near = {other for edge in EDGES if start in edge for other in edge - {start}}
    others = sorted(set(mills.NAMES) - near - {start})[:4]
    moves = named(drawn(tournament, " ".join([start, *others]), ""))
    assert {move for move in moves if move.startswith(f"{start}>")} == {f"{start}>{other}" for other in near}


def test_the_corner_counted_0_is_reached_from_both_sides() -> None:
    """B055: it is a7, of outer north-west."""
    assert (mills.GRID[0], mills.NAMES[0]) == ("a7", "Onw")
    assert {"On>Onw", "Ow>Onw"} <= named(drawn(False, "On Ow Is Ms", "Ine Ise Mne Mse"))


# A slow player of the rules, on names of points


class Slow:
    """Merrills on names of points: the rulesheet, or tournaments."""

    def __init__(self, tournament: bool) -> None:
        self.tournament = tournament
        self.men: list[set[str]] = [set(), set()]
        self.hands, self.turn, self.ply, self.turns, self.removing = [9, 9], 0, 0, 0, False

    def empty(self) -> set[str]:
        return set(mills.NAMES) - self.men[0] - self.men[1]

    def moves(self) -> set[str]:
        """The moves of the player to move, as they are written."""
        own, other = self.men[self.turn], self.men[1 - self.turn]
        if self.removing:
            standing = {point for line in LINES if line <= other for point in line}
            free = other - standing or (other if self.tournament else set())
            found = {f"x{point}" for point in free}
        elif self.hands[self.turn]:
            found = {f"+{point}" for point in self.empty()}
        else:
            found = {
                f"{man}>{target}"
                for man in own
                for target in self.empty()
                if len(own) == 3 or frozenset((man, target)) in EDGES
            }
        return found or {"pass"}

    def play(self, move: str) -> None:
        """Makes a move."""
        own, other, mill = self.men[self.turn], self.men[1 - self.turn], False
        if move[0] == "x":
            other.remove(move[1:])
        elif move != "pass":
            man, _, target = move.partition(">")
            target = target or man[1:]
            own.discard(man)
            own.add(target)
            self.hands[self.turn] -= move[0] == "+"
            mill = any(line <= own for line in LINES if target in line)
        self.ply += 1
        self.removing = mill
        if not mill:
            self.turn = 1 - self.turn
            self.turns += 1

    def payoffs(self) -> list[float] | None:
        """The payoffs at the end, None while the game goes on."""
        for player in range(2):
            few = not any(self.hands) and len(self.men[player]) < 3
            blocked = self.tournament and player == self.turn and self.moves() == {"pass"}
            if few or blocked:
                return [float(player == 1), float(player == 0)]
        if self.tournament:
            return [0.5, 0.5] if self.turns == 200 else None
        more = len(self.men[0]) - len(self.men[1])
        first = 0.5 if more == 0 else 0.75 if more > 0 else 0.25
        return [first, 1 - first] if self.ply == 60 else None


def walked(tournament: bool, games: int, seed: int) -> Iterator[tuple[State, Slow]]:
    """Positions of random games of both; every second game takes what removals and mills there are."""
    choice = random.Random(f"{tournament} {seed}")
    for number in range(games):
        state, slow = merrills(tournament).initial_state(), Slow(tournament)
        yield state, slow
        while not state.over:
            moves = sorted(slow.moves())
            if number % 2:
                moves = [move for move in moves if after(state, move).player == state.player] or moves
            move = choice.choice(moves)
            state = after(state, move)
            slow.play(move)
            yield state, slow


def after(state: State, move: str) -> State:
    """The state after a written move."""
    return state.after(state.action_named(move))


@both
def test_random_games_are_those_of_a_slow_player(tournament: bool) -> None:
    """Legal moves, players, men and the end at every ply. Passes, flights and all kinds of ends occur."""
    seen: set[str] = set()
    for state, slow in walked(tournament, 40, 1):
        payoffs = slow.payoffs()
        assert state.over == (payoffs is not None)
        board = stones(state)
        assert [
            {name for name, at in zip(mills.NAMES, mills.PLACES, strict=True) if board[at] == p + 1} for p in (0, 1)
        ] == slow.men
        if payoffs is None:
            assert (state.player, named(state)) == (slow.turn, slow.moves())
            flies = not slow.removing and not slow.hands[slow.turn] and len(slow.men[slow.turn]) == 3
            seen |= {"pass"} & slow.moves() | ({"flight"} if flies else set())
        else:
            assert state.payoffs() == payoffs
            seen.add(str(payoffs[0]))
    assert seen >= ({"flight", "0.0", "0.5", "1.0"} if tournament else {"flight", "pass", "0.25", "0.5", "0.75", "1.0"})


# OpenSpiel plays the rules of tournaments


def test_random_games_of_tournaments_agree_with_openspiel() -> None:
    """At every ply the end, the mover and the whole legal list, and the returns; actions have the same numbers."""
    results = lockstep(merrills(tournament=True), "nine_mens_morris", 60, seed=2, translated=lambda state, action: action)
    assert set(results) == {(1.0, -1.0), (0.0, 0.0), (-1.0, 1.0)}


def test_random_games_of_tournaments_have_openspiels_mean() -> None:
    """Mean return +0.0342 of 50,000 games, standard error 0.0045."""
    mean, error = mean_return(merrills(tournament=True), 20_000, seed=3)
    assert abs(mean - 0.0342) < 4 * (error**2 + 0.0045**2) ** 0.5


def assert_openspiel_agrees_on(moves: list[str]) -> State:
    """Plays moves in both programs, which must end at once. Returns the last state."""
    state, other = merrills(tournament=True).initial_state(), pyspiel.load_game("nine_mens_morris").new_initial_state()
    for move in moves:
        assert not state.over
        action = state.action_named(move)
        assert action in other.legal_actions()
        other.apply_action(action)
        state = state.after(action)
        assert state.over == other.is_terminal()
    assert state.over
    assert [2 * payoff - 1 for payoff in state.payoffs()] == other.returns()
    return state


def test_a_player_blocked_by_the_last_turn_of_all_has_lost() -> None:
    """B058: 43 times there and back make turn 200 the one that blocks white: no draw. With once more it is one."""
    first, last = BLOCKED_AT_28.split()[:18], BLOCKED_AT_28.split()[18:]
    assert assert_openspiel_agrees_on(first + 43 * AND_BACK.split() + last).payoffs() == [0.0, 1.0]
    late = assert_openspiel_agrees_on((first + 44 * AND_BACK.split() + last)[:200])
    assert (late.ply, late.payoffs()) == (200, [0.5, 0.5])


def test_the_last_removal_of_all_wins() -> None:
    """B058: turn 200 ends after its removal, which may take the third man. No game has more plies than that one."""
    # Twelve men are gone, each by a ply of its own, and 199 turns are complete.
    state = drawn(True, "Ie Mn Iw", "Onw On Me", turn=1, ply=12 + 199)
    assert State(state.rules, state.data) == state
    assert after(state, "Me>Mne").payoffs() == [0.5, 0.5]
    mill = after(state, "Me>One")
    assert (mill.over, mill.player, named(mill)) == (False, 1, {"xIe", "xMn", "xIw"})
    assert after(mill, "xIe").payoffs() == [0.0, 1.0]
    assert after(mill, "xIe").ply == state.rules.max_plies


# Removals


def test_men_in_mills_are_not_removed_while_another_one_stands() -> None:
    """B056: a man of two lines is protected by either of them."""
    for tournament in (False, True):
        state = drawn(tournament, "Onw On One", "Ise Is Isw Ie Ine Me Mw", removing=True)
        assert named(state) == {"xMe", "xMw"}


def test_men_all_in_mills_are_removed_in_tournaments_only() -> None:
    """B056: by the rulesheet the player passes and the other one is to move."""
    men = "Onw On One Iw", "Ise Is Isw Ie Ine"
    assert named(drawn(True, *men, removing=True)) == {"xIse", "xIs", "xIsw", "xIe", "xIne"}
    state = drawn(False, *men, removing=True)
    assert named(state) == {"pass"}
    assert (after(state, "pass").player, after(state, "pass").ply) == (1, 41)


@both
def test_two_mills_at_once_remove_one_man(tournament: bool) -> None:
    """F11: the corner of two full sides."""
    state = after(drawn(tournament, "Mnw One On Ow Osw", "Is Mse Me Iw"), "Mnw>Mw")
    assert state.player == 1
    state = after(drawn(tournament, "Is One On Ow Osw", "Ie Mse Me Iw", hands=(1, 1), ply=20), "+Onw")
    assert (state.player, len(named(state))) == (0, 4)
    assert after(state, "xIe").player == 1


@both
def test_a_man_may_leave_a_mill_and_complete_it_again(tournament: bool) -> None:
    state = drawn(tournament, "Onw On One Is", "Ie Mse Me Isw")
    state = after(after(state, "One>Oe"), "Mse>Ms")
    state = after(state, "Oe>One")
    assert (state.player, named(state)) == (0, {"xIe", "xMs", "xMe", "xIsw"})


# The last three men, and players without a move


@both
def test_three_men_fly_only_after_the_hand_is_empty(tournament: bool) -> None:
    """B056: with three men on the board and one in hand the player puts that one down."""
    men = "Onw Oe Is", "Ie Mse Me Isw"
    assert len(named(drawn(tournament, *men))) == 3 * 17
    assert named(drawn(tournament, *men, hands=(1, 0), ply=21)) == {
        f"+{p}" for p in mills.NAMES if p not in " ".join(men).split()
    }
    four = named(drawn(tournament, "Onw Oe Is Iw", men[1]))
    assert four == {"Onw>On", "Onw>Ow", "Oe>One", "Oe>Ose", "Is>Ise", "Is>Ms", "Iw>Inw", "Iw>Mw"}


def test_a_player_without_a_move_loses_in_tournaments() -> None:
    """B056: with nine men, directly after the last one was put down."""
    state = assert_openspiel_agrees_on(BLOCKED_AT_18.split())
    assert (state.ply, state.payoffs(), state.legal_actions()) == (18, [0.0, 1.0], [])


def test_a_player_without_a_move_passes_by_the_rulesheet() -> None:
    state = played(merrills(), BLOCKED_AT_18)
    assert (state.player, named(state)) == (0, {"pass"})
    state = after(state, "pass")
    assert (state.player, state.ply, "pass" in named(state)) == (1, 19, False)


# Ends


def test_fewer_than_three_men_lose_at_any_ply() -> None:
    """B064: for both players; the last ply of the rulesheet too."""
    for turn, ply in ((0, 40), (1, 40), (0, 59), (1, 59)):
        men = ("Onw On One Is", "Ie Mse Isw")
        state = drawn(False, *(men if turn == 0 else men[::-1]), turn=turn, removing=True, ply=ply)
        assert after(state, "xIe").payoffs() == [float(turn == 0), float(turn == 1)]


def test_more_men_are_worth_three_quarters_after_60_plies() -> None:
    """And as many a half. A mill of the last ply removes nothing."""
    for white, black, payoffs in (
        ("Onw On Me Is", "Ie Mse Isw", [0.75, 0.25]),
        ("Onw On Me", "Ie Mse Isw Ow", [0.25, 0.75]),
        ("Onw On Me Is", "Ie Mse Isw Ow", [0.5, 0.5]),
    ):
        state = after(drawn(False, white, black, ply=59), "Me>Mne")
        assert (state.over, state.payoffs()) == (True, payoffs)
    state = drawn(False, "Onw On Oe Is", "Ie Mse Isw Ow", ply=59)
    assert after(state, "Oe>One").payoffs() == [0.5, 0.5]


def test_the_ply_and_removals_are_part_of_a_position() -> None:
    """B058: the same men at another ply, on turn of the other player, in hand, or before a removal are other positions."""
    men = "Onw On One Is", "Ie Mse Isw Ow"
    for tournament in (False, True):
        positions = [
            drawn(tournament, *men),
            drawn(tournament, *men, ply=42),
            drawn(tournament, *men, turn=1),
            drawn(tournament, *men, removing=True),
            drawn(tournament, *men, hands=(1, 0)),
            drawn(tournament, *men, hands=(0, 1)),
        ]
        assert len(set(positions)) == 6


# Names


def test_moves_are_also_written_by_column_and_row() -> None:
    state = played(merrills(), "a7 +A4 oN iS")
    assert state.data == played(merrills(), "+Onw +Ow +On +Is").data
    state = after(state, "g7")
    assert [state.action_named(name) for name in ("xOw", "xa4", "XA4", "a4", "Ow")] == [9] * 5
    assert state.action_name(9) == "xOw"
    state = drawn(False, "Onw On Oe Is", "Ie Mse Isw Ow")
    assert {state.action_named(name) for name in ("Oe>One", "g4-g7", "G4>one", "oe-ONE")} == {24 + 24 * 14 + 2}


@pytest.mark.parametrize(
    "name", ["", "x", "+", "a2", "xOn", "Onn", "On>", ">On", "On>One>Oe", "+On>One", "++On", "passes", "n"]
)
def test_a_text_that_names_no_move_is_refused(name: str) -> None:
    """A removal is none before a mill."""
    with pytest.raises(ValueError, match=r"\A.* is no move here: expected one such as \+Onw\Z"):
        merrills().initial_state().action_named(name)


def test_a_man_is_not_put_down_where_one_is_removed() -> None:
    state = played(merrills(), "+Onw +Ow +On +Is +One")
    with pytest.raises(ValueError, match=r"'\+Ow' is no move here: expected one of xOw, xIs"):
        state.action_named("+Ow")


@pytest.mark.parametrize("value", [1, 0, "yes", None])
def test_tournament_is_true_or_false(value: object) -> None:
    with pytest.raises(TypeError, match="tournament must be True or False, not "):
        ucd_envs.make_rules("merrills", tournament=value)


# What players see, and drawings


def test_players_see_men_points_hands_and_the_removal() -> None:
    """B106, B107: own men in plane 0, the same points for both, the top row first."""
    state = played(merrills(), "+Onw +Ow +On +Is +One")
    rules, views = state.rules, np.zeros((2, 7, 7, PLANES), np.int8)
    for player in range(2):
        rules.kernels.observe(rules.config, state.array(), player, views[player].reshape(-1))
    for player, view in enumerate(views):
        found = [{(int(row), int(column)) for row, column in np.argwhere(view[:, :, plane])} for plane in range(3)]
        assert found[player] == {(0, 0), (0, 3), (0, 6)}
        assert found[1 - player] == {(3, 0), (4, 3)}
        assert found[2] == set(mills.PLACES)
        assert (view == view[0, 0])[:, :, 3:].all()
        facts = view[0, 0, 3:].tolist()
        hands = [0, 1, 1, 0], [1, 1, 1, 0]
        assert facts == [1 - player, 1, *hands[player], *hands[1 - player], 1, 0, 1, 0, 0, 0, 0, 0]


def test_the_board_as_text() -> None:
    assert (
        text(played(merrills(), "+Onw +Ow +On +Is +One"))
        == """\
7 X-----X-----X
6 | .---.---. |
5 | | .-.-. | |
4 O-.-.   .-.-.
3 | | .-O-. | |
2 | .---.---. |
1 .-----.-----.
  a b c d e f g
in hand: X 6, O 7; a man is to be removed
ply 5: White (X) to move
"""
    )


def test_the_end_as_text() -> None:
    """More men are no win."""
    state = after(drawn(False, "Onw On Me Is", "Ie Mse Isw", ply=59), "Me>Mne")
    assert text(state).splitlines()[-2:] == ["in hand: X 0, O 0", "ply 60: White (X) is ahead"]
    assert text(played(merrills(True), BLOCKED_AT_18)).splitlines()[-1] == "ply 18: Black (O) has won"


def test_men_that_may_be_removed_are_marked() -> None:
    """With red dots: of three men outside of mills, and of none before and after the removal."""
    before = played(merrills(), "+Onw +Ow +On +Is +Iw +Ine")
    mill = after(before, "+One")
    assert [svg(state).count("#ce3c33") for state in (before, mill, after(mill, "xIs"))] == [0, 3, 0]


# Playouts


def test_playouts_choose_each_move_as_often() -> None:
    """Of slides, flights and removals: 200 a move are expected."""
    rng = seeded(5)
    for state in (
        drawn(False, "Onw On Oe Is", "Ie Mse Isw Ow"),
        drawn(False, "Onw Oe Is", "Ie Mse Isw Ow"),
        drawn(False, "Onw On One Is", "Ie Mse Isw Ow", removing=True),
    ):
        legal, rules = state.legal_actions(), state.rules
        array = state.array()
        drawn_actions = [rules.kernels.playout_action(rules.config, array, rng) for _ in range(200 * len(legal))]
        counts = np.bincount(drawn_actions, minlength=rules.actions)
        assert set(np.flatnonzero(counts).tolist()) == set(legal)
        # Chi-square of k - 1 degrees of freedom: mean k - 1, variance 2 (k - 1).
        free = len(legal) - 1
        assert ((counts[legal] - 200) ** 2 / 200).sum() < free + 5 * (2 * free) ** 0.5
