"""Finished cells on disk: one line each, added as soon as it is done, so that an interrupted run can go on."""

import contextlib
import hashlib
import json
import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import optiscore

from ..atomic import write_atomically
from .experiment import Cell, Experiment, Result, Values

# What decides about numbers, beside this package: its files except those that only show results.
_LIBRARIES = ("numpy", "scipy", "scikit-learn")
_SHOWING = ("cli", "experiments", "plotting")


def fingerprint(experiment: Experiment) -> str:
    """A hash of all code that the results of an experiment depend on: results of other code are not taken up."""
    package = Path(optiscore.__file__).parent
    here = [f"{name}.py" for name in (experiment.name, "methods", "regions", "experiment")]
    sources = [path for path in package.rglob("*.py") if path.relative_to(package).parts[0] not in _SHOWING]
    sources += [path for path in (package / "experiments").glob("*.py") if path.name in here]
    digest = hashlib.sha256(" ".join(f"{name} {version(name)}" for name in _LIBRARIES).encode())
    for path in sorted(sources):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


class CellStore:
    """The finished cells of one experiment.

    A file of JSON lines, the first of which names the code that made them. Whatever interrupted the last run, every
    line but perhaps the last is whole; a torn one is cut off.

    Parameters
    ----------
    path : Path
        The file.
    code : str
        Fingerprint of the code; a file that was made by other code is started anew.
    """

    def __init__(self, path: Path, code: str) -> None:
        self._path, self._header = path, json.dumps({"code": code})
        self._results: dict[str, Result] = {}
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        whole = self._read()
        if whole is None:
            write_atomically(self._path, f"{self._header}\n".encode())
        elif whole < self._path.stat().st_size:
            os.truncate(self._path, whole)
        self._file = self._path.open("ab")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            # On a full disk closing fails as well; the reason is under way already.
            with contextlib.suppress(OSError):
                self._file.close()

    def __contains__(self, cell: Cell) -> bool:
        return _key(cell) in self._results

    def add(self, cell: Cell, values: Values, seconds: float) -> None:
        """Keep a result."""
        assert self._file is not None
        record = {"cell": cell, "values": values, "seconds": round(seconds, 3)}
        try:
            self._file.write(f"{json.dumps(record)}\n".encode())
            self._file.flush()
        except OSError as error:
            raise OSError(
                f"{self._path}: {error}. What is done is kept: make room and run the command again."
            ) from error
        self._results[_key(cell)] = Result(cell, values, seconds)

    def results(self, cells: Sequence[Cell]) -> list[Result]:
        """Results of those cells that are done, in the order of the cells."""
        return [self._results[key] for key in map(_key, cells) if key in self._results]

    def _read(self) -> int | None:
        """Take up what is there; the number of bytes that are whole, or None if there is nothing to take up."""
        if not self._path.exists():
            return None
        lines = self._path.read_bytes().splitlines(keepends=True)
        if not lines or lines[0].decode(errors="replace").rstrip("\n") != self._header:
            return None
        for line in lines[1:]:
            try:
                record = json.loads(line) if line.endswith(b"\n") else None
            except ValueError:
                record = None
            # Whatever is no record is not taken up, and its cell is computed again.
            if isinstance(record, dict) and record.keys() == {"cell", "values", "seconds"}:
                self._results[_key(record["cell"])] = Result(**record)
        return sum(len(line) for line in lines if line.endswith(b"\n"))


def _key(cell: Cell) -> str:
    return json.dumps(cell, sort_keys=True)
