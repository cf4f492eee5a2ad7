"""Download of a pinned file: time-out, retries, checksum, and a cache that never holds anything but the right bytes."""

import hashlib
import time
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from optiscore.files.whole_files import write_atomically

_TIMEOUT = 20.0
_ATTEMPTS = 3
_PAUSE = 1.0

# The largest of the files has 120 kB; whatever is longer than this is none of them.
_MAX_BYTES = 10_000_000
_PIECE = 65_536


def read_checked(path: Path, sha256: str) -> bytes:
    """The content of a file, or ValueError if it is not the one with this checksum."""
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ValueError(f"{path} does not have the expected content (SHA-256 {sha256[:12]}...).")
    return content


def read_cached(path: Path, sha256: str) -> bytes | None:
    """The content of a file in the cache; None if there is none. A damaged file is removed."""
    if not path.is_file():
        return None
    try:
        return read_checked(path, sha256)
    except ValueError:
        path.unlink()
        return None


def download(address: str, sha256: str, target: Path, *, pause: float = _PAUSE, timeout: float = _TIMEOUT) -> bytes:
    """Bring a file into the cache and return its content; OSError, with the cache untouched, if that fails."""
    content = _fetch(address, pause, timeout)
    if hashlib.sha256(content).hexdigest() != sha256:
        kind = "a web page" if content.lstrip()[:1] == b"<" else f"{len(content)} bytes of something else"
        raise OSError(f"{address} sent {kind} instead of the data set (the checksum differs).")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, content)
    except OSError as error:
        raise OSError(f"{target} cannot be written: {error}.") from error
    return content


def _fetch(address: str, pause: float, timeout: float) -> bytes:
    problem = ""
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(pause * 2 ** (attempt - 1))
        try:
            return _read(address, timeout)
        except HTTPError as error:
            problem = f"HTTP status {error.code}"
            if error.code < 500 and error.code != 429:
                break
        except _TooLongError as error:
            problem = str(error)
            break
        except (OSError, HTTPException) as error:
            problem = " ".join(str(getattr(error, "reason", error)).split())[:200] or type(error).__name__
    raise OSError(f"{address} could not be downloaded: {problem}.")


class _TooLongError(Exception):
    """What is sent cannot be a data set; trying again would not help."""


def _read(address: str, timeout: float) -> bytes:
    """One attempt; the time-out holds for each piece, and three times that for the whole."""
    deadline = time.monotonic() + 3 * timeout
    content = b""
    with urlopen(address, timeout=timeout) as response:
        while piece := response.read1(_PIECE):
            content += piece
            if len(content) > _MAX_BYTES:
                raise _TooLongError("it is far too long for a data set")
            if time.monotonic() > deadline:
                raise TimeoutError("it came too slowly")
        expected = response.headers.get("Content-Length", "")
    if expected.isdigit() and len(content) != int(expected):
        raise ConnectionError(f"the connection ended after {len(content)} of {expected} bytes")
    return content
