"""Executors on clusters: where a schedule's batches are played, given as an object or as a text.

| text               | executor                                                                                     |
| ------------------ | -------------------------------------------------------------------------------------------- |
| `dask://local`     | Dask workers, started on this machine                                                        |
| `dask://HOST:PORT` | a Dask scheduler and its workers                                                             |
| `ray://local`      | Ray workers, started on this machine                                                         |
| `ray://auto`       | the Ray cluster to which this machine belongs                                                |
| `ray://HOST:PORT`  | a Ray cluster by its client server, usually at port 10001                                    |

`?batch_seconds=30` after any of them sets the length of a batch. Workers need this package in the same version.
"""

from __future__ import annotations

import logging
import math
import os
import re
import socket
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, InvalidStateError
from concurrent.futures import TimeoutError as LateError
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import parse_qsl

import ucd_envs
from ucd_envs.settings import integer, real, shown

BATCH_SECONDS = 10.0
"""Approximate time of a batch on a cluster, where a batch costs the scheduler some milliseconds."""
PATIENCE = 60.0
"""Seconds to wait for a cluster's first answer."""
KNOCK = 10.0
"""Seconds to wait for a connection."""
LOOK = 0.5
"""Seconds between two looks at whether a cluster is there."""
MOST_JOBS = 65_536
ADDRESS = re.compile(r"(\[[0-9a-fA-F:]+\]|[^\s:/@]+):(\d{1,5})")
FORMS = "dask://local, dask://HOST:PORT, ray://local, ray://auto or ray://HOST:PORT"


Opened = tuple[Executor, int, tuple[type[BaseException], ...], Callable[[], bool]]
"""An executor, its cores, what its futures raise for a lost worker, and whether the cluster is there."""


class LostError(BrokenExecutor):
    """Raised for a batch whose worker, or whose whole cluster, has ended; the text gives the reason."""


class Cluster(Executor):
    """An executor with the number of batches that it can play at once, and their length.

    executor: plays the batches, as `client.get_executor(pure=False)` of Dask does; jobs: batches at once, 1 to 65,536;
    batch_seconds: approximate time of a batch; lost: exceptions of futures that mean that a worker has ended. Games of such a
    batch are played again. A context manager that ends the executor. Raises ValueError or TypeError for anything else.
    """

    def __init__(
        self,
        executor: Executor,
        jobs: int,
        batch_seconds: float = BATCH_SECONDS,
        lost: tuple[type[BaseException], ...] = (),
    ) -> None:
        self.jobs = integer("jobs", jobs, 1, MOST_JOBS)
        if not 0 < real("batch_seconds", batch_seconds) < math.inf:
            raise ValueError(f"batch_seconds must be a finite number above 0, not {batch_seconds!r}")
        self.batch_seconds = float(batch_seconds)
        self._executor, self._lost = executor, lost
        self._waiting: set[_Outer] = set()
        self._gone = ""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Submits a call. Its future raises LostError if its worker has ended. Raises LostError if the cluster has."""
        if self._gone:
            raise LostError(self._gone)
        try:
            inner = self._executor.submit(function, *arguments, **named)
        except Exception as error:
            if not isinstance(error, (OSError, RuntimeError, *self._lost)):
                raise
            raise LostError(f"the cluster cannot be reached any more: {_reason(error)}") from None
        outer = _Outer(inner)
        self._waiting.add(outer)
        if self._gone:  # meanwhile, and after those that wait were told
            raise LostError(self._gone)
        inner.add_done_callback(lambda done: self._hand_over(done, outer))
        return outer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the executor."""
        self._executor.shutdown(wait, cancel_futures=cancel_futures)

    def give_up(self, reason: str) -> None:
        """Ends all futures, since the cluster has ended without a word: they raise LostError, and so does `submit`."""
        self._gone = f"the cluster cannot be reached any more: {reason}"
        for outer in list(self._waiting):
            with suppress(InvalidStateError):
                outer.set_exception(LostError(self._gone))
        self._waiting.clear()

    def _hand_over(self, inner: Future[Any], outer: _Outer) -> None:
        """Ends a future as another one has ended."""
        self._waiting.discard(outer)
        with suppress(InvalidStateError):  # it was cancelled meanwhile
            if inner.cancelled():
                outer.set_exception(LostError("the cluster has given up a batch of games"))
                return
            error = inner.exception()
            if error is None:
                outer.set_result(inner.result())
            elif isinstance(error, self._lost):
                outer.set_exception(LostError(f"workers have ended again and again: {_reason(error)}"))
            else:
                outer.set_exception(error)


class _Outer(Future[Any]):
    """A future whose cancellation also cancels another one. A call that was submitted may have begun."""

    def __init__(self, inner: Future[Any]) -> None:
        super().__init__()
        self._inner = inner

    def cancel(self) -> bool:
        """Cancels both. Returns whether the result will never come."""
        cancelled = super().cancel()
        if cancelled:
            self._inner.cancel()
        return cancelled


class RayExecutor(Executor):
    """Ray's tasks as futures. Each takes one core. Ray must have been started; it is left as it is.

    Raises ImportError without Ray.
    """

    def __init__(self) -> None:
        self._ray = library("ray")
        self._run = self._ray.remote(num_cpus=1)(_call)

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Submits a call. Its future raises the function's own exceptions, without Ray's account of them."""
        reference = self._run.remote(function, arguments, named)
        future = _RayFuture(self._ray, reference)
        reference.future().add_done_callback(lambda done: self._hand_over(done, future))
        return future

    def _hand_over(self, inner: Future[Any], future: Future[Any]) -> None:
        """Ends a future as that of Ray has ended."""
        with suppress(InvalidStateError):  # it was cancelled meanwhile
            error = inner.exception()
            if error is None:
                future.set_result(inner.result())
            else:
                future.set_exception(getattr(error, "cause", None) or error)


class _RayFuture(Future[Any]):
    """The future of a task of Ray."""

    def __init__(self, ray: Any, reference: Any) -> None:
        super().__init__()
        self._ray, self._reference = ray, reference

    def cancel(self) -> bool:
        """Takes the task off the cluster, or interrupts it. Returns whether its result will never come."""
        cancelled = super().cancel()
        if cancelled:
            with suppress(Exception):
                self._ray.cancel(self._reference)
        return cancelled


def _call(function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    return function(*arguments, **named)


@contextmanager
def executor_from(text: str | None, jobs: int | None = None) -> Iterator[Cluster | None]:
    """Opens the executor of a text, and closes it at the end; None without one.

    jobs: batches at once, by default one for each core of the cluster; with `local` that many workers are started. Raises
    ValueError for a text of another form, ImportError for a library that is not installed, and ConnectionError, in about a
    minute at most, for a cluster that cannot be reached or has no worker with this version of the package.
    """
    if text is None:
        yield None
        return
    kind, address, seconds = _parts(text)
    library("distributed" if kind == "dask" else "ray")
    if address not in ("local", "auto"):
        _knock(text, address)
    with (_dask if kind == "dask" else _ray)(text, address, jobs) as (executor, cores, lost, is_there):
        cluster = Cluster(executor, cores if jobs is None else jobs, seconds, lost)
        _check(text, cluster)
        with _watched(text, cluster, is_there):
            yield cluster


@contextmanager
def _watched(text: str, cluster: Cluster, is_there: Callable[[], bool]) -> Iterator[None]:
    """Gives a cluster up that has not been there for KNOCK seconds: the futures of a dead scheduler never end."""
    over = threading.Event()

    def watch() -> None:
        gone = 0.0
        while not over.wait(LOOK):
            gone = 0.0 if is_there() else gone + LOOK
            if gone >= KNOCK:
                cluster.give_up(f"{text} has not answered for {KNOCK:g} seconds")
                return

    watcher = threading.Thread(target=watch, name="ucd-cluster", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def library(name: str) -> Any:
    """Returns Ray or Dask's `distributed`. Raises ImportError with the name of its extra where it is not installed."""
    try:
        if name == "ray":
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            import ray

            return ray
        import distributed
    except ImportError:
        extra = "ray" if name == "ray" else "dask"
        raise ImportError(f"{extra}:// needs {name}: pip install 'ucd-planners[{extra}]'") from None
    return distributed


def _parts(text: str) -> tuple[str, str, float]:
    """Returns kind, address and seconds of a batch. Raises ValueError for a text of another form."""
    place, _, query = text.partition("?")
    kind, _, address = place.partition("://")
    port = ADDRESS.fullmatch(address)
    known = address in {"dask": ("local",), "ray": ("local", "auto")}.get(kind, ())
    if kind not in ("dask", "ray") or not (known or (port and 0 < int(port[2]) < 65536)):
        raise ValueError(f"executor must be {FORMS}, not {shown(text)}")
    settings: dict[str, str] = {}
    try:
        settings = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=True)) if query else {}
        seconds = float(settings.pop("batch_seconds", BATCH_SECONDS))
    except ValueError:
        seconds = math.nan
    if settings or not 0 < seconds < math.inf:
        raise ValueError(f"an executor's only setting is such as ?batch_seconds=30, not {shown(text)}")
    return kind, address, seconds


def _knock(text: str, address: str) -> None:
    """Raises ConnectionError where nothing listens at an address."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), KNOCK).close()
    except OSError as error:
        raise ConnectionError(f"{text} cannot be reached: {error.strerror or error}") from None


def _in_time(opened: Callable[[], Any]) -> Any:
    """Returns the result of a call. Raises TimeoutError for one that takes too long, as Dask's where another server answers."""
    result: Future[Any] = Future()

    def run() -> None:
        try:
            result.set_result(opened())
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        return result.result(KNOCK + 1)
    except LateError:
        raise LateError("nothing answers as it should") from None


@contextmanager
def _dask(text: str, address: str, jobs: int | None) -> Iterator[Opened]:
    """Opens Dask."""
    import distributed
    from distributed.comm.core import CommClosedError

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # a lost worker would be told on many lines
    if address == "local":
        place: Any = distributed.LocalCluster(
            n_workers=jobs or os.cpu_count() or 1,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        )
    else:
        place = None
    try:
        try:
            client = _in_time(lambda: distributed.Client(place or f"tcp://{address}", timeout=KNOCK, set_as_default=False))
        except (OSError, ValueError, LateError) as error:
            raise ConnectionError(f"{text} cannot be reached: {_reason(error)}") from None
        try:
            cores = sum(client.nthreads().values())
            lost = (distributed.KilledWorker, CancelledError, distributed.CancelledError, CommClosedError)
            # By default Dask takes equal calls for one, and a batch that is played again for done.
            yield client.get_executor(pure=False), max(1, cores), lost, lambda: client.status == "running"
        finally:
            client.close(timeout=KNOCK)
    finally:
        if place is not None:
            place.close(timeout=KNOCK)


@contextmanager
def _ray(text: str, address: str, jobs: int | None) -> Iterator[Opened]:
    """Opens Ray."""
    ray = library("ray")
    quiet = {"logging_level": logging.CRITICAL, "log_to_driver": False}
    try:
        if address == "local":
            cores = jobs or os.cpu_count() or 1
            ray.init(address="local", num_cpus=cores, include_dashboard=False, _node_ip_address="127.0.0.1", **quiet)
        elif address == "auto":
            ray.init(address="auto", **quiet)
        else:
            with warnings.catch_warnings(action="ignore"):  # of attempts to connect, where the error says it all
                ray.init(address=f"ray://{address}", **quiet)
    except (ConnectionError, OSError, RuntimeError, ValueError, LateError) as error:
        token = (
            "" if address in ("local", "auto") else "; a cluster with tokens needs the environment variable RAY_AUTH_MODE=token"
        )
        raise ConnectionError(f"{text} cannot be reached: {_reason(error)}{token}") from None
    try:
        errors = ray.exceptions
        lost = (errors.WorkerCrashedError, errors.NodeDiedError, errors.ObjectLostError, errors.OutOfMemoryError)
        yield RayExecutor(), max(1, int(ray.cluster_resources().get("CPU", 1))), lost, ray.is_initialized
    finally:
        ray.shutdown()


def _check(text: str, cluster: Cluster) -> None:
    """Raises ConnectionError where no worker answers or where one has another version of this package."""
    try:
        answer = cluster.submit(_version).result(PATIENCE)
    except LateError:
        raise ConnectionError(f"{text} has no worker that answers within {PATIENCE:g} seconds") from None
    except Exception as error:
        raise ConnectionError(f"a worker of {text} cannot play: {_reason(error)}") from None
    if answer != ucd_envs.__version__:
        own = ucd_envs.__version__
        raise ConnectionError(f"a worker of {text} has version {answer} of this package, but this process has {own}")


def _version() -> str:
    """Returns the version of this package, where it is called."""
    return ucd_envs.__version__


def _reason(error: BaseException) -> str:
    """Returns the first line of an exception's text, or its kind."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
