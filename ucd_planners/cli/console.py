"""Common parts of the commands: errors of usage, settings of games, tables and progress bars."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TextIO

from ucd_envs import registry
from ucd_envs.settings import shown


class UsageError(Exception):
    """Raised for unusable arguments; the text gives the reason."""


@contextmanager
def usage() -> Iterator[None]:
    """Turns errors from wrong arguments into a UsageError, for the part of a command that only reads its arguments."""
    try:
        yield
    except (ValueError, TypeError, ImportError) as error:
        raise UsageError(str(error)) from error


def game_from(text: str | None) -> tuple[str | None, dict[str, Any]]:
    """Returns name and settings of a game written as my_module:rules(size=5), or of a name alone.

    Raises ValueError for a text with brackets that does not parse.
    """
    from ucd_planners.grammar import parse

    if text is None or "(" not in text or registry.family_of(text) is not None:
        return text, {}
    try:
        return parse(text)
    except ValueError:
        raise ValueError(f"game {shown(text)} does not parse: expected a name, or name(key=value, ...)") from None


def settings_from(words: Sequence[str], game: str | None) -> dict[str, Any]:
    """Returns a game's settings from the options that are not the command's own: --size 5 or --size=5; --swap alone is true.

    Raises ValueError for a word that belongs to no option, an unknown game, and options without a game.
    """
    from ucd_planners.grammar import setting_from

    if words and game is None:
        raise ValueError(f"unexpected argument {shown(words[0])}: settings are those of a game, after --game")
    typed: dict[str, str | None] = {}
    waiting: str | None = None
    for word in words:
        if word.startswith("--"):
            option, equals, value = word[2:].partition("=")
            waiting = option.replace("-", "_")
            typed[waiting] = value if equals else None
            waiting = None if equals else waiting
        elif waiting is None:
            raise ValueError(f"unexpected argument {shown(word)}: expected options such as --size 5")
        else:
            typed[waiting] = word
            waiting = None
    known = registry.parameters(game) if game is not None else {}
    return {name: setting_from(name, text, known[name].default) if name in known else text for name, text in typed.items()}


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Adds --jobs and --executor."""
    parser.add_argument("--jobs", type=int, help="games at once, in processes (default 1; of an executor all its cores)")
    parser.add_argument(
        "--executor", metavar="URL", help="play on dask://local, dask://HOST:PORT, ray://local, ray://auto or ray://HOST:PORT"
    )


@contextmanager
def workers_of(arguments: argparse.Namespace) -> Iterator[tuple[int, Any]]:
    """Yields the number of jobs, and the executor of --executor, open, or None.

    Raises UsageError for unusable arguments, and ConnectionError for an executor that cannot be reached.
    """
    from ucd_envs.settings import integer
    from ucd_planners.arena.executors import executor_from

    with ExitStack() as stack:
        with usage():
            jobs = integer("jobs", 1 if arguments.jobs is None else arguments.jobs, 1, 1024)
            executor = stack.enter_context(executor_from(arguments.executor, arguments.jobs))
        yield jobs, executor


def folder(name: str) -> Path:
    """Returns a folder, created if necessary. Raises ValueError if that is not possible."""
    place = Path(name)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"the folder {name} cannot be made: {error.strerror}") from None
    return place


def readable() -> TextIO:
    """Returns standard input. Raises ValueError if it is closed."""
    if sys.stdin is None:
        raise ValueError("standard input is closed")
    return sys.stdin


def rich() -> Any:
    """Returns the library that draws tables and progress bars."""
    try:
        import rich.box
        import rich.console
        import rich.progress
        import rich.table
    except ImportError:
        raise ImportError("the command ucd needs rich: pip install 'ucd-planners[cli]'") from None
    return rich


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints a table, words to the left and numbers to the right. It is as wide as necessary, since rich would cut off
    numbers."""
    library = rich()
    drawn = library.table.Table(box=library.box.SIMPLE_HEAD, pad_edge=False)
    for i, column in enumerate(columns):
        words = all(not row[i][:1].isdigit() for row in rows if row[i])
        drawn.add_column(column, justify="left" if words else "right", no_wrap=True)
    for row in rows:
        drawn.add_row(*row)
    library.console.Console(width=1000, highlight=False).print(drawn)


@contextmanager
def progress(total: int, unit: str) -> Iterator[Callable[..., None]]:
    """Shows a progress bar on a terminal's standard error and removes it at the end.

    Yields a function to call after each of `total` steps, or before one with the text that describes it.
    """
    library = rich()
    console = library.console.Console(stderr=True)
    with library.progress.Progress(
        library.progress.SpinnerColumn(),
        library.progress.TextColumn("{task.description}", markup=False),
        library.progress.BarColumn(),
        library.progress.TextColumn("{task.completed:.0f}/{task.total:.0f} " + unit),
        library.progress.TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
        redirect_stdout=False,
    ) as bar:
        task = bar.add_task("", total=total)
        yield lambda text=None: bar.advance(task) if text is None else bar.update(task, description=text)
