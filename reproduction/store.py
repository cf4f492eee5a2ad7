"""Finished cells on disk: one line each, added as soon as it is done, so that an interrupted run can go on."""

import ast
import hashlib
import json
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import optiscore
from optiscore.files.whole_files import write_atomically

from . import EXPERIMENTS
from .experiment import Cell, Experiment, Result, Values

# What decides about numbers, beside the code: these libraries. Modules that only show results do not.
_LIBRARIES = ("numpy", "scipy", "scikit-learn")
_SHOWING = ("table", "plotting")
_RUNNING = ("__init__.py", "__main__.py", "locks.py", "ranking.py", "report.py", "runner.py", "store.py")


def fingerprint(experiment: Experiment) -> str:
    """Return a hash of all code that the results of an experiment depend on: results of other code are not taken up."""
    here, package = Path(__file__).parent, Path(optiscore.__file__).parent
    without = {here / f"{name}.py" for name in EXPERIMENTS if name != experiment.name} | {
        here / name for name in _RUNNING
    }
    libraries = (*_LIBRARIES, *experiment.extras)
    digest = hashlib.sha256(" ".join(f"{name} {_version(name)}" for name in libraries).encode())
    for path in (*sorted(package.rglob("*.py")), *sorted(here.rglob("*.py"))):
        if path not in without and not (
            path.is_relative_to(package) and path.relative_to(package).parts[0] in _SHOWING
        ):
            digest.update(_code_of(path))
    return digest.hexdigest()[:16]


def _code_of(path: Path) -> bytes:
    """Return what a module does, whatever its comments and docstrings say."""
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree).encode()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


class CellStore:
    """The finished cells of one experiment.

    A file of JSON lines, the first of which names the code that made them. A line that an interrupted run left torn is
    overwritten by the next result.

    Parameters
    ----------
    path : Path
        The file.
    code : str
        Fingerprint of the code; a file that was made by other code is started anew by the first result.
    """

    def __init__(self, path: Path, code: str) -> None:
        self._path, self._header = path, json.dumps({"code": code})
        self._results: dict[str, Result] = {}
        self._whole = self._read()

    def __contains__(self, cell: Cell) -> bool:
        return _key(cell) in self._results

    def add(self, cell: Cell, values: Values, seconds: float) -> None:
        """Keep a result."""
        record = {"cell": cell, "values": values, "seconds": round(seconds, 3)}
        line = f"{json.dumps(record)}\n".encode()
        try:
            if not self._whole:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(self._path, f"{self._header}\n".encode())
                self._whole = self._path.stat().st_size
            with self._path.open("r+b") as file:
                file.truncate(self._whole)
                file.seek(self._whole)
                file.write(line)
        except OSError as error:
            raise OSError(f"{error}. What is done is kept: make room and run the command again.") from error
        self._whole += len(line)
        self._results[_key(cell)] = Result(cell, values, seconds)

    def results(self, cells: Sequence[Cell]) -> list[Result]:
        """Results of those cells that are done, in the order of the cells."""
        return [self._results[key] for key in map(_key, cells) if key in self._results]

    def _read(self) -> int:
        """Take up what is there; the number of bytes that are whole, 0 if they are of other code or of none."""
        lines = self._path.read_bytes().splitlines(keepends=True) if self._path.exists() else []
        if not lines or lines[0].decode(errors="replace") != f"{self._header}\n":
            return 0
        whole = [line for line in lines if line.endswith(b"\n")]
        for line in whole[1:]:
            try:
                record = json.loads(line)
            except ValueError:
                continue
            # Whatever is no record is not taken up, and its cell is computed again.
            if isinstance(record, dict) and record.keys() == {"cell", "values", "seconds"}:
                self._results[_key(record["cell"])] = Result(**record)
        return sum(map(len, whole))


def _key(cell: Cell) -> str:
    return json.dumps(cell, sort_keys=True)
