"""Files that are there as a whole or not at all."""

import os
from pathlib import Path


def write_atomically(target: Path, content: bytes) -> None:
    """Write a file beside its place and rename it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        os.replace(beside, target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
