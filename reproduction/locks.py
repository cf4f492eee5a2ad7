"""One run at a time in a folder: a lock that says who holds it, and that dies with its process."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_NAME = ".lock"


class BusyError(OSError):
    """Another process is at work."""


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Hold a folder, which is made if it is not there.

    The system lets go of the lock when the process ends, however it does: one that a dead process left is taken over.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _NAME).open("a+b") as file:
        if not _try_lock(file):
            raise BusyError(f"another run is at work in {folder}{_holder(file)}: wait for it, or name another folder.")
        file.truncate(0)
        file.write(json.dumps({"process": os.getpid(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}).encode())
        file.flush()
        yield


def _holder(file: Any) -> str:
    """Since when, and as which process, where the file tells."""
    file.seek(0)
    try:
        held = json.loads(file.read())
        return f" since {held['since']} as process {held['process']}"
    except (OSError, ValueError, LookupError, TypeError):
        return ""


def _try_lock(file: Any) -> bool:
    try:
        import fcntl
    except ImportError:
        return _try_lock_on_windows(file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _try_lock_on_windows(file: Any) -> bool:
    """A byte far behind the content, which others shall be able to read."""
    import msvcrt

    lock: Any = msvcrt
    try:
        file.seek(1 << 20)
        lock.locking(file.fileno(), lock.LK_NBLCK, 1)
    except OSError:
        return False
    return True
