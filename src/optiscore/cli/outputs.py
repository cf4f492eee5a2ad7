"""Outputs that can be written, known before any work is done: no folder, no input, in a folder that is there."""

import os
from pathlib import Path

from ..io.whole_files import check_target


def check_output(out: str | os.PathLike[str], *inputs: str) -> None:
    """Refuse an output that cannot be written or that is one of the inputs, also through links; "-" is a stream."""
    if str(out) == "-":
        return
    for path in inputs:
        if path != "-" and os.path.exists(out) and os.path.exists(path) and os.path.samefile(out, path):
            raise ValueError(f"the output {str(out)!r} is the input {path!r}: choose another file.")
    target = Path(os.path.realpath(out))
    # Devices are written to as they are.
    if not target.exists() or target.is_file() or target.is_dir():
        check_target(target)
