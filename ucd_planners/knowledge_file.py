"""Files of knowledge bases: transactions of LMDB on one memory-mapped file, and a sentence for everything that can go wrong.

LMDB allows one mapping of a file in a process, so all knowledge bases of a process on one file share a `File`. It begins as a
reader and becomes a writer at the first write. Readers and one writer at a time, in any processes, do not disturb each other: a
second writer waits. A transaction is written whole or not at all, even if the process is killed or the disk is full. The lock
file beside a base is made with the base; reading makes no file.
"""

from __future__ import annotations

import errno
import os
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

Result = TypeVar("Result")

HEADER, POSITIONS, LOG = b"header", b"positions", b"log"
"""The key of the header, and the names of the two tables: positions by key, and lines of the log by number."""
FIRST_MAP = 2**26
"""Bytes of the map of a new file. It doubles when it is full."""
READERS = 1024
"""Processes and threads that read at once."""


def library() -> Any:
    """Returns the library LMDB. Raises ImportError with one sentence without it."""
    try:
        import lmdb
    except ImportError:
        raise ImportError("a knowledge base needs lmdb: pip install 'ucd-planners[kb]'") from None
    return lmdb


class File:
    """A base's file, open in this process, with the tables `positions` and `log`. Made by `opened`."""

    def __init__(self, path: Path) -> None:
        self.path, self.identity, self.users = path, _identity(path), 0
        self._lock, self._process, self._writes = threading.RLock(), os.getpid(), False
        self._environment: Any = None
        self._open(False)

    def read(self, key: bytes) -> bytes | None:
        """Returns the value of a position's key, None where there is none. Raises OSError for a damaged file."""
        if self._process == os.getpid():
            with suppress(library().Error), self._lock, self._environment.begin(self.positions) as transaction:
                return transaction.get(key)  # type: ignore[no-any-return]
        return self.within(lambda transaction: transaction.get(key, db=self.positions))  # type: ignore[no-any-return]

    def write(self, change: Callable[[Any], Result]) -> Result:
        """Runs a function on a write transaction, commits it and returns its result; nothing is written if it raises.

        The function may run again in a larger map. Raises OSError for a full disk, a file that may not be written, a damaged
        one, and where there is no room for the map.
        """
        with self._lock:
            if not self._writes:
                try:
                    self._open(True)
                except OSError:
                    self._open(False)  # it stays readable
                    raise
            lmdb = library()
            while True:
                try:
                    return self.within(change, True)
                except lmdb.MapFullError:
                    with self._told():
                        self._environment.set_mapsize(2 * self._environment.info()["map_size"])

    def within(self, work: Callable[[Any], Result], writes: bool = False) -> Result:
        """Runs a function on a transaction and returns its result. Raises OSError for a damaged file."""
        with self._lock, self._told():
            if self._process != os.getpid():  # a fork: the map is the parent's
                self._open(self._writes)
            try:
                transaction = self._environment.begin(write=writes)
            except library().MapResizedError:  # another process has made it larger
                self._environment.set_mapsize(0)
                transaction = self._environment.begin(write=writes)
            with transaction:
                return work(transaction)

    def copy(self, place: Path) -> None:
        """Writes a copy without gaps to a path where nothing is. Raises OSError if it cannot be written."""
        with self._lock, told(place):
            part = place.with_name(f"{place.name}.{uuid.uuid4().hex}.part")
            try:
                self._environment.copy(str(part), compact=True)
                os.link(part, place)
            finally:
                part.unlink(missing_ok=True)
        made = opened(place)
        try:
            made.write(lambda transaction: None)
        finally:
            made.release()

    def release(self) -> None:
        """Closes the file in this process after its last user."""
        with _opening:
            self.users -= 1
            if not self.users:
                _files.pop(self.identity, None)
                self._environment.close()

    def _open(self, writes: bool) -> None:
        """Maps the file, which must exist, to read or to write. Raises OSError with one sentence."""
        if self._environment is not None:
            self._environment.close()
        self._environment = environment(self.path, writes)
        self._writes, self._process = writes, os.getpid()
        with self._told():
            try:
                self.positions = self._environment.open_db(POSITIONS, create=False)
                self.log = self._environment.open_db(LOG, create=False)
            except library().NotFoundError:
                self._environment.close()
                raise OSError(f"{self.path} is no knowledge base: name another file") from None

    def _told(self) -> Any:
        return told(self.path)


_files: dict[tuple[int, ...], File] = {}
"""Files that are open in this process."""
_opening = threading.RLock()


def opened(path: Path) -> File:
    """Returns a base's file, mapped once for all its users in this process; each calls `release`.

    Raises OSError with one sentence for a file that is missing, is no base, is damaged, or that has no room for its map.
    """
    with _opening:
        identity = _identity(path)
        file = _files.get(identity)
        if file is None:
            file = _files[identity] = File(path)
        file.users += 1
        return file


def created(path: Path, header: bytes) -> None:
    """Makes the file of a base with its header and empty tables, at once. Raises OSError if it exists or cannot be written."""
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex}.part")
    try:
        with told(path):
            made = library().open(str(part), subdir=False, map_size=FIRST_MAP, max_dbs=2, max_readers=READERS)
            for name in (POSITIONS, LOG):
                made.open_db(name)
            with made.begin(write=True) as transaction:
                transaction.put(HEADER, header)
            made.close()
            os.link(part, path)
    finally:
        for left in (part, part.with_name(f"{part.name}-lock")):
            left.unlink(missing_ok=True)
    environment(path, True).close()  # leaves the lock file


def environment(path: Path, writes: bool) -> Any:
    """Returns the mapped file, to read or to write. Raises OSError with one sentence."""
    options = {"subdir": False, "create": False, "readonly": not writes, "max_dbs": 2, "max_readers": READERS}
    with told(path):
        if not path.is_file():
            raise OSError(errno.ENOENT if not path.exists() else errno.EISDIR, "there is no such file")
        if not path.stat().st_size:
            raise OSError(f"{path} is no knowledge base, but an empty file: name another file")
        locked = writes or os.access(f"{path}-lock", os.R_OK | os.W_OK)
        # Without `metasync` a commit waits for the disk once; a crash of the system may then undo the last transaction.
        made = library().open(str(path), lock=locked, map_size=FIRST_MAP, readahead=False, metasync=False, **options)
        size = made.stat()["psize"] * (made.info()["last_pgno"] + 1)
        if path.stat().st_size < size:  # reading beyond the end would end the process
            made.close()
            raise OSError(f"{path} is damaged, since its end is missing: use a copy of it")
        if writes:
            made.reader_check()  # readers that were killed hold no pages
    return made


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turns what LMDB and the system raise about a file into an OSError of one sentence. A full map passes."""
    lmdb = library()
    try:
        yield
    except lmdb.MapFullError:
        raise
    except (lmdb.InvalidError, lmdb.VersionMismatchError):
        raise OSError(
            f"{path} is no knowledge base, or its first pages are damaged: name another file, or use a copy"
        ) from None
    except (lmdb.CorruptedError, lmdb.PageNotFoundError, lmdb.PanicError, lmdb.BadTxnError) as error:
        raise OSError(f"{path} is damaged ({_last(error)}): `ucd kb verify` says where; use a copy of it") from None
    except lmdb.ReadersFullError:
        raise OSError(f"{path} is read by {READERS} others at once: wait until some of them have ended") from None
    except (lmdb.Error, MemoryError, OSError) as error:
        if isinstance(error, OSError) and error.errno is None:
            raise
        raise OSError(f"{path} cannot be used: {_reason(error)}") from None


def _reason(error: BaseException) -> str:
    """Returns the reason of a failure, with a way to go on where there is one."""
    text = error.strerror if isinstance(error, OSError) else _last(error)
    for code, advice in ADVICE.items():
        if text == os.strerror(code) or getattr(error, "errno", None) == code:
            return advice
    return str(text)


def _last(error: BaseException) -> str:
    return str(error).rpartition(": ")[2]


ADVICE = {
    errno.ENOENT: "there is no such file",
    errno.EISDIR: "it is no file",
    errno.EEXIST: "it exists already: name another file",
    errno.EIO: "the disk is full, or fails; the base is as it was before",
    errno.ENOSPC: "the disk is full; the base is as it was before",
    errno.EFBIG: "the file may not grow further; the base is as it was before",
    errno.EDQUOT: "the quota of the disk is used up; the base is as it was before",
    errno.ENOMEM: "there is no room for its map in the memory of this process",
    errno.EACCES: "it may not be read or written by this user",
    errno.EROFS: "the disk can only be read",
}


def _identity(path: Path) -> tuple[int, ...]:
    """Returns the device and number of a file, by which one mapping serves all of its names; of a missing one nothing."""
    with suppress(OSError):
        found = path.stat()
        return (found.st_dev, found.st_ino)
    return ()
