"""Streams of Python's that others read from: ones whose start was read already, and ones that Arrow's threads hold."""

import io
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

# Seconds to wait for Arrow's threads, of which one may hang on a pipe from which nothing comes.
_PATIENCE = 1.0


class Replayed(io.RawIOBase):
    """A stream that starts with bytes that were read from it already."""

    def __init__(self, head: bytes, rest: Any) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, or a part of it."""
        piece = self._head[: len(buffer)] or self._rest.read1(len(buffer))
        self._head = self._head[len(piece) :]
        buffer[: len(piece)] = piece
        return len(piece)


class Lent:
    """A stream of Python's, as Arrow sees it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def batches_of(stream: Any, opened: Callable[[Lent], Iterator[Any]]) -> Iterator[Any]:
    """Yield what Arrow reads from a stream; when this ends, however it does, none of its threads holds the stream.

    One that still did while the interpreter leaves would want to tell Python so, and abort the process.
    """
    lent, batches = Lent(stream), iter(())
    watched = weakref.ref(lent)
    try:
        batches = opened(lent)
        yield from batches
    except BaseException as error:
        # The frames of its traceback hold the stream, too, those of an interruption among them.
        raise error.with_traceback(None) from None
    finally:
        # What this frame holds is let go, so that Arrow's threads are all that may still hold the stream.
        del lent, batches
        # A callback would be run by the very thread that is waited for.
        patience = time.monotonic() + _PATIENCE
        while watched() is not None and time.monotonic() < patience:
            time.sleep(0.001)
