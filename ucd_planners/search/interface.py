"""The contract of the search with selections, playout policies and initial statistics.

A *selection* chooses actions on the way down and backs values up. At each node the search calls `select(graph, sim, node,
may_add)`, which returns the place of an action in the node's list: the first `expanded` of them have edges, and `may_add` says
whether one without may be chosen; -1 if there is nothing to choose from; SETTLED to end the simulation here without a playout,
for a backup that finds what `select` has left in `payoffs(sim)`, anywhere but at the root. The edge that led to the node is the
last entry of the path, at `sim.path.length - 1`, whose number is -1 if it is yet to be made. A selection whose own choice
honours `graph.first_play_urgency`, or `initial_stats(graph)`, declares `serves_urgency = True`, or `serves_initial = True`, and
one to which all untried actions of a node are alike `serves_untried = True`, since the loop then tries the first of them in
place of the chosen one; the planner refuses these options for others. After each simulation it calls `backup(graph, sim)`: the
first `sim.path.length` entries of `path(sim)` are the sources and edges of the path, `payoffs(sim)` each player's payoff. The
backup leaves `mean_value`, `exploration` and the exploration scale right for the next choice.

A *playout policy* is asked with the probability `prob` for a move of a playout: `suggest(playout_actions, is_playable, config,
state, graph, sim, memory, rng)` returns a playable action, or -1 to leave the move to the next policy and in the end to the
game's random one. `playout_actions(config, state, actions)` lists the playable actions in any order, `is_playable(config,
state, action)` says it of one; `action_list(sim)` has room for a list. `trace(sim)` are the moves of the simulation from the
root on, `sim.traced.length` of them, and the first `sim.leaf_depth` are those of the descent. After each simulation the search
calls `learn(sim, memory)` of all, which returns whether the memory has room for another simulation; if not, the search stops
until `grown` has made room. A search with several workers has a memory for each.

*Initial statistics* are virtual playouts of untried actions. When a node's actions are listed, the search calls
`initial(config, state, sim, memory, actions, values)`, which writes a row of `values` for each of `actions`: a number of
playouts and their payoffs for the mover in sum, 0 and 0 for nothing known. Choices add them to the real playouts; they count in
no result.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numba import types
from numba.core.types import FunctionType

from ucd_envs.kernels import ACTIONS, BYTES, IS_LEGAL, LEGAL_ACTIONS, PAYOFFS, RNG, kernel
from ucd_envs.rules import Rules
from ucd_envs.settings import real
from ucd_planners.search.graph import GRAPH_RECORD
from ucd_planners.search.sim import SIM_RECORD

MOST_POLICIES = 4
UNTRIED = ("random", "listed", "reversed")
"""Orders of a node's untried actions: at random, as its actions are listed, and the other way round."""
DONE, GROW_NODES, GROW_EDGES, GROW_ACTIONS, GROW_MEMORY, NEEDS_EVALUATION = range(6)
"""The simulation came to its end; a block of the graph or a policy's memory has to grow first; the leaf waits for a value."""
STOPPED, NO_ACTIONS, TOO_MANY_ACTIONS, NO_ACTION, NO_PLAYER, NO_CHOICE, NO_SUGGESTION = range(10, 17)
NO_DRAW, NO_MOVE, NO_COUNT, TOO_LONG, NO_PRIORS, NO_VALUE = range(17, 23)
"""A kernel broke its contract, or a callback of Python has failed: errors.py has a sentence for each."""

SELECT = types.int64(GRAPH_RECORD, SIM_RECORD, types.int64, types.boolean)
BACKUP = types.void(GRAPH_RECORD, SIM_RECORD)
SUGGEST = types.int64(
    *(FunctionType(LEGAL_ACTIONS), FunctionType(IS_LEGAL)), *(BYTES, BYTES, GRAPH_RECORD, SIM_RECORD, BYTES, RNG)
)
LEARN = types.boolean(SIM_RECORD, BYTES)
INITIAL = types.void(BYTES, BYTES, SIM_RECORD, BYTES, ACTIONS, types.float32[:, ::1])
EVALUATE = types.void(BYTES, BYTES, BYTES, ACTIONS, types.float32[::1], PAYOFFS)


@kernel(SUGGEST)
def suggest_nothing(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    """Fills the place of a policy that is not there."""
    return np.int64(-1)


@kernel(LEARN)
def learn_nothing(sim, memory):
    """Fills the place of a policy that is not there."""
    return np.bool_(True)


@kernel(INITIAL)
def no_initial(config, state, sim, memory, actions, values):
    """Fills the place of initial statistics that are not there."""


@kernel(EVALUATE)
def evaluate_nothing(config, state, memory, actions, priors, values):
    """Fills the place of an evaluation that is not there."""


class Layout(NamedTuple):
    """The statistics that a selection keeps in the graph, by their names."""

    merges: bool
    """Whether positions share nodes."""
    node_stats: tuple[str, ...]
    """Numbers of a node; the first is the exploration scale, the second the visits of its edges."""
    edge_stats: tuple[str, ...]
    """Numbers of an edge; the first are the value sums of the players."""
    node_action_stats: tuple[str, ...] = ()
    """Counted playouts of actions after a node: a count and a sum of payoffs for each action of each name. "all" stands for
    the actions of all players. If there are any, playouts are traced and a new position gets its node at once."""
    scratch: tuple[int, int] = (0, 0)
    """Bytes of scratch in the simulation: fixed, and for each node."""
    traced: bool = False
    """Whether the backup reads the moves of the simulation."""
    has_priors: bool = False
    """Whether actions have priors P(a), a column of `initial_stats` that comes with a node's evaluation. Behind the rows of its
    actions is one with the value of its position for the mover. A new position gets its node at once."""


class Selection(Protocol):
    """A selection, as the graph and the planner know it. Kernels are fields of the class, or properties."""

    select_kernel: Any
    """The choice, declared with @kernel(SELECT); None for `select_action` of ucb.py, which is compiled into the loop."""

    @property
    def backup_kernel(self) -> Any:
        """The backup, declared with @kernel(BACKUP)."""

    def layout(self, players: int, actions: int) -> Layout:
        """Returns its statistics in the graph of a game."""

    def parameters(self, players: int, actions: int) -> np.ndarray:
        """Returns the record that its kernels read as `graph.parameters`: [any] uint8."""


def is_graded(selection: Selection) -> bool:
    """Returns whether a position at another ply is another node, as for every selection that does not say otherwise."""
    return bool(getattr(selection, "graded", True))


def divides_budget(selection: Selection) -> bool:
    """Returns whether a selection divides a budget in playouts among the moves of the root, as few do.

    It has a method `divide(parameters, playouts)`, called before each search, and two for the end of one: `final_move(graph)`
    returns the move to play, and `policy(graph, actions)` what a network should learn.
    """
    return bool(getattr(selection, "divides_budget", False))


class PlayoutPolicy(Protocol):
    """A playout policy, as the search knows it. One that inherits from this has no memory but where it says so."""

    suggest: Any
    """The kernel that suggests moves, declared with @kernel(SUGGEST)."""
    learn: Any = learn_nothing
    """The kernel that learns from simulations, declared with @kernel(LEARN)."""

    @property
    def prob(self) -> float:
        """The probability that it is asked for a move, 0 to 1. A search leaves a policy out that is never asked."""

    def memory(self, rules: Rules) -> np.ndarray:
        """Returns memory that has learned nothing, with the parameters that the kernels read: [any] uint8."""
        return np.zeros(0, np.uint8)

    def begin(self, memory: np.ndarray, goes_on: bool) -> None:
        """Prepares memory for another search; `goes_on`: from a later position of the same game."""

    def grown(self, memory: np.ndarray) -> np.ndarray:
        """Returns the memory with more room; called where `learn` has returned that there is none."""
        return memory


class Initial(Protocol):
    """Initial statistics, as the planner knows them."""

    kernel: Any
    """The kernel that writes them, declared with @kernel(INITIAL)."""

    def memory(self, rules: Rules) -> np.ndarray:
        """Returns the parameters that the kernel reads: [any] uint8. Raises ValueError for a game that it does not know."""


class SearchOptions(NamedTuple):
    """Options of the loop and of the growth of the graph."""

    expand_all: bool = False
    """Whether all positions of a simulation are added, or the first new one."""
    first_play_urgency: float = float("inf")
    """The bound of an untried action."""
    reuse_graph: bool = False
    """Whether the graph serves the next search too."""
    has_initial: bool = False
    """Whether actions have initial statistics."""
    evaluates: bool = False
    """Whether the loop stops at each new leaf for a value from outside, in place of a playout."""
    untried: str = "random"
    """The order in which a node's untried actions are tried, one of UNTRIED."""
    leaves: int = 1
    """Leaves of a search in one batch at most; more than one are kept apart by visits in flight, in `initial_stats`."""


DEFAULT = SearchOptions()


def exploration_constant(c: Any) -> float:
    """Checks an exploration constant: a finite number, 0 or more. Raises TypeError or ValueError otherwise."""
    if not 0 <= real("c", c) < float("inf"):
        raise ValueError(f"c must be a finite number, 0 or more, not {c!r}")
    return float(c)


def probability(name: str, value: Any) -> float:
    """Checks a parameter: a number from 0 to 1. Raises TypeError or ValueError otherwise."""
    if not 0 <= real(name, value) <= 1:
        raise ValueError(f"{name} must be a number from 0 to 1, not {value!r}")
    return float(value)
