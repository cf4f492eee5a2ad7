"""Files that are there as a whole or not at all, and outputs that are refused before any work is done."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO


@contextmanager
def whole_or_nothing(target: Path) -> Iterator[Path]:
    """A path beside the target to write to, which takes the target's place at the end; after an error it is gone."""
    check_target(target)
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        yield beside
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def open_whole(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A stream to a file that is there as a whole at the end, or not at all.

    Links are followed, and what is no file, such as a device, is written to as it is.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not (target.is_file() or target.is_dir()):
        with target.open("wb") as stream:
            yield stream
        return
    with whole_or_nothing(target) as beside, beside.open("wb") as stream:
        yield stream


@contextmanager
def all_or_none(*targets: Path) -> Iterator[list[Path]]:
    """Paths beside some files to write to, which all take their places at the end, or none does.

    What was there before stays if one cannot be replaced.
    """
    for target in targets:
        check_target(target)
    with TemporaryDirectory(prefix=".", dir=targets[0].parent) as folder:
        made = [Path(folder) / target.name for target in targets]
        yield made
        before = {target: Path(folder) / f"{target.name}.before" for target in targets if target.exists()}
        for target, copy in before.items():
            shutil.copy2(target, copy)
        replaced = []
        try:
            for new, target in zip(made, targets, strict=True):
                os.replace(new, target)
                replaced.append(target)
        except OSError:
            for target in replaced:
                if target in before:
                    os.replace(before[target], target)
                else:
                    target.unlink()
            raise


def write_atomically(target: str | os.PathLike[str], content: bytes) -> None:
    """Write a whole file."""
    with open_whole(target) as stream:
        stream.write(content)


def check_target(target: Path) -> None:
    """Refuse a file that cannot be written where it shall be; folders are not made."""
    if target.is_dir():
        raise ValueError(f"{target} is a folder: name a file in it.")
    if not target.parent.is_dir():
        raise ValueError(f"there is no folder {str(target.parent)!r} to write {target.name!r} to: make it first.")


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
