"""F02: finished games whose score by Tromp-Taylor rules is known, from Fuego's regression suite (scoring_static)."""

from __future__ import annotations

import pytest

from ucd_envs.formats import sgf

DAME = """(;GM[1]SZ[9]KM[6.5];B[ei];W[fi];B[eh];W[fh];B[eg];W[fg];B[ef];W[ff];B[ee];W[fe];B[ed];W[fd];B[ec];W[fc];B[eb];W[fb]
;B[da];W[fa];B[db];W[ea];B[be];W[he];B[bc];W[hc];B[bg];W[hg])"""
PASSES = """(;GM[1]SZ[9]KM[6.5];B[ei];W[fi];B[eh];W[fh];B[eg];W[fg];B[ef];W[ff];B[ee];W[fe];B[ed];W[fd];B[ec];W[fc];B[eb];W[fb]
;B[da];W[fa];B[db];W[ea];B[];W[hd];B[];W[hb];B[bc];W[];B[be];W[];B[])"""


@pytest.mark.parametrize(
    ("record", "moves"), [*((DAME, moves) for moves in range(21, 26)), *((PASSES, moves) for moves in range(20, 30))]
)
def test_stones_in_ones_own_area_change_no_score(record: str, moves: int) -> None:
    """Black has 5 columns of 9 less one point at the top: 44 points against 37 and 6.5, whoever plays there or passes."""
    state = sgf.load(record, stop=moves).state
    assert state.rules.score is not None
    assert state.rules.score(state) == 0.5


def test_two_passes_end_the_record() -> None:
    """Black has won it, in moves 28 and 29."""
    assert not sgf.load(PASSES, stop=28).state.over
    assert sgf.load(PASSES).state.payoffs() == [1.0, 0.0]
