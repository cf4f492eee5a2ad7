"""Download of a pinned file: time-out, retries, checksum, and a cache that never holds anything but the right bytes."""

import hashlib
import os
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

_TIMEOUT = 20.0
_ATTEMPTS = 3
_PAUSE = 1.0

# The largest of the files has 120 kB; whatever is longer than this is none of them.
_MAX_BYTES = 10_000_000


def read_checked(path: Path, sha256: str) -> bytes:
    """The content of a file, or ValueError if it is not the one with this checksum."""
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ValueError(f"{path} does not have the expected content (SHA-256 {sha256[:12]}...).")
    return content


def read_cached(path: Path, sha256: str) -> bytes | None:
    """The content of a file in the cache; None if there is none. A damaged file is removed."""
    if not path.exists():
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
    write_atomically(target, content)
    return content


def write_atomically(target: Path, content: bytes) -> None:
    """Write a file beside its place and rename it: it is there as a whole, or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        os.replace(beside, target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _fetch(address: str, pause: float, timeout: float) -> bytes:
    problem = ""
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(pause * 2 ** (attempt - 1))
        try:
            with urlopen(address, timeout=timeout) as response:
                content = response.read(_MAX_BYTES + 1)
                expected = response.headers.get("Content-Length")
        except HTTPError as error:
            problem = f"HTTP status {error.code}"
            if error.code < 500 and error.code != 429:
                break
        except OSError as error:
            problem = str(getattr(error, "reason", error)) or type(error).__name__
        else:
            if expected is None or len(content) == int(expected):
                return content
            problem = f"the connection ended after {len(content)} of {expected} bytes"
    raise OSError(f"{address} could not be downloaded: {problem}.")
