"""Subcommand `ucd play`: a person at the terminal against a planner, or either alone."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable
from typing import Any

from ucd_envs import pictures, registry
from ucd_envs.kernels import CHANCE
from ucd_envs.rng import seeded, unforeseen
from ucd_envs.rules import State
from ucd_planners.cli.console import readable, usage

SEATS = ("first", "second", "both", "none")
"""Seats of the person: one seat, with the planner in the others, all seats, or none."""
PLAYOUTS = 10_000
"""Playouts of a move, where neither the command nor the planner's text has a budget."""


def add(commands: Any) -> None:
    """Adds `ucd play`."""
    parser = commands.add_parser(
        "play",
        allow_abbrev=False,
        help="plays against a planner in the terminal",
        description="A person plays against a planner: type moves as the game writes them, such as b2, or help. Other options "
        "are the game's settings, such as --size 5 for hex.",
        epilog='example: ucd play --game hex --size 5 --planner "ucd(c=0.3)" --seat second',
    )
    parser.add_argument("--game", required=True, help="a registered game, with or without its version")
    parser.add_argument("--planner", default="ucd", help="default ucd, another is uct(c=0.3)")
    budget = parser.add_mutually_exclusive_group()
    budget.add_argument("--playouts", type=int, help=f"playouts a move (default {PLAYOUTS:,})")
    budget.add_argument("--seconds", type=float, help="seconds a move")
    parser.add_argument(
        "--seat",
        choices=SEATS,
        default="first",
        help="what the person plays: the first (default) or second seat, both (all moves), or none (the planner plays all)",
    )
    parser.add_argument("--seed", type=int, help="the random numbers of the planner and of chance (default: others each time)")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from ucd_planners.notation import planner_from

    with usage():
        rules = registry.make_rules(arguments.game, **arguments.settings)
        budget = {"playouts": PLAYOUTS if arguments.playouts is None else arguments.playouts}
        if arguments.seconds is not None:
            budget = {"seconds": arguments.seconds}
        planner = planner_from(arguments.planner, **budget, **({} if arguments.seed is None else {"seed": arguments.seed}))
        planner.check(rules)
        if arguments.seat == "second" and rules.players == 1:
            raise ValueError(f"{rules} has no second seat: it has one player")
    everyone = set(range(rules.players))
    people = {"first": {0}, "second": {1}, "both": everyone, "none": set[int]()}[arguments.seat]
    if people:
        with usage():
            readable()
    Table(rules.initial_state(), planner, people, arguments.seed).play()
    return 0


class Table:
    """A game in progress, with people in some of the seats and a planner in the others."""

    def __init__(self, state: State, planner: Any, people: set[int], seed: int | None = None) -> None:
        self.states = [state]
        """All positions so far, the present one last."""
        self.planner, self.people = planner, people
        self.chance = seeded(unforeseen() if seed is None else seed)
        """The generator of chance."""
        self.left = False
        """Whether the person has quit."""

    @property
    def state(self) -> State:
        """Returns the present position."""
        return self.states[-1]

    def play(self) -> None:
        """Plays to the end, or until the person quits. The end of the input raises EOFError."""
        self.show()
        while not self.state.over and not self.left:
            if self.state.player == CHANCE:
                outcome = self.state.outcome(self.chance)
                print(f"chance: {self.state.action_name(outcome)}")
                self.move(outcome)
            elif self.state.player in self.people:
                self.obey(self.asked())
            else:
                self.reply()
        if self.state.over:
            print(result_of(self.state, self.people))

    def show(self) -> None:
        """Prints the board."""
        print("\n" + pictures.text(self.state), flush=True)

    def asked(self) -> str:
        """Returns the person's input for the next move, in lower case."""
        question = "your move" if len(self.people) == 1 else f"move of player_{self.state.player}"
        while True:
            try:
                return input(f"{question}: ").strip().lower()
            except UnicodeDecodeError:
                print("this cannot be read as text")
            except (EOFError, KeyboardInterrupt):
                print()
                raise

    def obey(self, word: str) -> None:
        """Runs a command or plays a move. Prints one sentence for anything else."""
        if word in COMMANDS:
            COMMANDS[word][0](self)
            return
        if not word:
            print(f"type a move, such as {self.names()[0]}, or help")
            return
        rules = self.state.rules
        try:
            action = self.state.action_named(word)
        except ValueError as error:
            print(f"{error} (or type help)")
            return
        if action in self.state.legal_actions():
            self.move(action)
        else:
            print(f"move {self.state.action_name(action)} is not legal: {rules.why_illegal(action)}")

    def move(self, action: int) -> None:
        """Plays a legal move and shows the board."""
        self.states.append(self.state.after(action))
        self.show()

    def reply(self) -> None:
        """Lets the planner move and prints its move and value."""
        result = self.searched()
        place = list(result.actions).index(result.action)
        whose = f"player_{self.state.player}: " if self.state.rules.players > 1 else ""
        value = f"value {result.values[place]:.3f} in {result.playouts:,} playouts"
        print(f"{whose}{self.planner.name} plays {result.names(result.action)}, {value}")
        self.move(result.action)

    def searched(self) -> Any:
        """Returns a search from the present position. Raises KeyboardInterrupt after Ctrl-C."""
        result = self.planner.search(self.state)
        if result.stopped == "interrupt":
            raise KeyboardInterrupt
        return result

    def names(self) -> list[str]:
        """Returns the legal moves as the game writes them."""
        return [self.state.action_name(action) for action in self.state.legal_actions()]

    def hint(self) -> None:
        """Prints the move that the planner would play, and its table."""
        result = self.searched()
        print(f"{self.planner.name} suggests {result.names(result.action)}\n{result}")

    def list_moves(self) -> None:
        """Prints the legal moves."""
        print(textwrap.fill(" ".join(self.names()), 100))

    def undo(self) -> None:
        """Goes back to the person's previous turn."""
        turns = [place for place, state in enumerate(self.states[:-1]) if state.player in self.people]
        if not turns:
            print("there is no move of yours to take back")
            return
        del self.states[turns[-1] + 1 :]
        self.show()

    def explain(self) -> None:
        """Prints the available commands."""
        print(f"a move, such as {self.names()[0]}, or one of these words:")
        for word, (_, purpose) in COMMANDS.items():
            print(f"  {word:6} {purpose}")

    def leave(self) -> None:
        """Quits the game."""
        self.left = True


COMMANDS: dict[str, tuple[Callable[[Table], None], str]] = {
    "help": (Table.explain, "shows this list"),
    "moves": (Table.list_moves, "lists the legal moves"),
    "hint": (Table.hint, "shows what the planner would play, with visits and values"),
    "undo": (Table.undo, "takes back your last move and what was played since"),
    "quit": (Table.leave, "ends the game"),
}
"""Commands beside moves: function and help text."""


def result_of(state: State, people: set[int]) -> str:
    """Returns the winner of a finished game and each player's payoff in words. `people` are the seats of the reader."""
    payoffs = state.payoffs()
    if len(payoffs) == 1:
        return f"the game is over: payoff {payoffs[0]:.3g}"
    winners = {player for player, payoff in enumerate(payoffs) if payoff == max(payoffs)}
    each = ", ".join(f"player_{player} {payoff:.3g}" for player, payoff in enumerate(payoffs))
    if len(winners) == len(payoffs):
        return f"a draw: {each}"
    if len(people) == 1:
        return f"you {'won' if people <= winners else 'lost'}: {each}"
    return f"{' and '.join(f'player_{player}' for player in sorted(winners))} won: {each}"
