"""Outputs that cannot be written are refused before any work is done: folders, inputs, files in no folder."""

import os
from pathlib import Path

from ..files.whole_files import check_target


def check_new(out: Path, force: bool) -> None:
    """Refuse a file that is there already, unless that is wanted."""
    if out.exists() and not force:
        raise ValueError(f"{str(out)!r} is there already: name another folder with --out, or replace it with --force.")
    check_output(out)


def check_output(out: str | os.PathLike[str], *inputs: str, may_be_stream: bool = False) -> None:
    """Refuse an output that cannot be written or that is one of the inputs, also through links; "-" is a stream."""
    if str(out) == "-":
        if not may_be_stream:
            raise ValueError("--out must name a file: standard output is for what this command prints.")
        return
    for path in inputs:
        if path != "-" and os.path.exists(out) and os.path.exists(path) and os.path.samefile(out, path):
            raise ValueError(f"the output {str(out)!r} is the input {path!r}: choose another file.")
    target = Path(os.path.realpath(out))
    # Devices are written to as they are.
    if not target.exists() or target.is_file() or target.is_dir():
        check_target(target)
