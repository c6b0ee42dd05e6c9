"""A review of a recorded game of Go: the planner's choice in each position, and its value of the move that was played."""

from __future__ import annotations

import math

from ucd_envs.formats import sgf
from ucd_planners import rave

RECORD = """
(;GM[1]FF[4]SZ[7]KM[8.5];B[dd];W[dc];B[cc];W[ec];B[cb];W[ed];B[de];W[ee];B[df];W[ef];B[dg];W[db];B[da];W[ea];B[ca];W[eg]
;B[];W[])
"""


def main() -> None:
    record = sgf.load(RECORD)
    planner = rave(playouts=2000, seed=1)
    for number, (state, action) in enumerate(zip(record.states(), record.actions, strict=False), start=1):
        result = planner.search(state)
        values = dict(zip(result.actions.tolist(), result.values.tolist(), strict=True))  # NaN for a move that was never tried
        colour = ("Black", "White")[state.player]
        played, wanted = (state.action_name(move) for move in (action, result.action))
        thought = "never tried" if math.isnan(values[action]) else f"{values[action]:.2f}"
        print(f"{number:2} {colour} {played:4} {thought}; the planner: {wanted:4} {values[result.action]:.2f}")
    print(f"result {record.result or 'unknown'}, by area {record.rules.score(record.state):+g} for Black")


if __name__ == "__main__":
    main()
