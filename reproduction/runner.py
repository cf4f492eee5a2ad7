"""Run experiments: cells in parallel, each kept as soon as it is done; then tables, figures and the report."""

import csv
import hashlib
import io
import json
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from matplotlib import rc_context
from rich.console import Console
from threadpoolctl import threadpool_limits

from optiscore import __version__
from optiscore.estimators.progress import progress_bar
from optiscore.files.whole_files import write_atomically

from . import EXPERIMENTS, GROUPS
from .experiment import Cell, Compared, Result, Row, Summary, Values
from .locks import exclusive
from .report import Section, render
from .store import CellStore, fingerprint
from .suites import load

#: The report of each group of experiments.
_PAGES = {"paper": "report.html", "evidence": "evidence.html"}


@dataclass(frozen=True)
class Settings:
    """What to run, where to put it, and on how many processes."""

    names: Sequence[str]
    out: Path
    quick: bool = False
    jobs: int = -1


def reproduce(settings: Settings, console: Console) -> list[Path]:
    """Run experiments and write their tables, figures and reports; the paths of the reports of their groups.

    There is a report per group of experiments, with all that are done, whether in this run or before. A quick look
    has a folder of its own. One run at a time works in a folder: `BusyError` says who is there already.
    """
    out = settings.out / "quick" if settings.quick else settings.out
    with exclusive(out):
        return _reproduce(settings, out, console)


def _reproduce(settings: Settings, out: Path, console: Console) -> list[Path]:
    stores = {name: _store(name, out) for name in EXPERIMENTS}
    cells = {name: experiment.cells(settings.quick) for name, experiment in EXPERIMENTS.items()}
    missing = _missing_data([c for name in settings.names for c in cells[name] if c not in stores[name]], console)
    for name, reason in missing.items():
        console.print(f"missing {name}: {reason}", markup=False, highlight=False, soft_wrap=True)
    for name in settings.names:
        at_hand = [cell for cell in cells[name] if cell.get("dataset") not in missing]
        _run(name, at_hand, stores[name], settings.jobs, console)
    results = {name: stores[name].results(cells[name]) for name in EXPERIMENTS}
    shown = {n: found for n, found in results.items() if n in settings.names or len(found) == len(cells[n])}
    stamp, state = _Stamp(out), _digest(shown, missing)
    if not stamp.vouches_for(state):
        stamp.remove()
        _write(shown, settings.quick, missing, out, console)
        stamp.write(state)
    return [out / page for group, page in _PAGES.items() if set(GROUPS[group]) & set(settings.names)]


def _store(name: str, out: Path) -> CellStore:
    return CellStore(out / "cells" / f"{name}.jsonl", fingerprint(EXPERIMENTS[name]))


def _missing_data(cells: Sequence[Cell], console: Console) -> dict[str, str]:
    """Data sets that some cell needs and that cannot be had, and why."""
    missing = {}
    with console.status("looking for the data sets"):
        for name in sorted({cell["dataset"] for cell in cells if "dataset" in cell}):
            try:
                load(name)
            except OSError as error:
                missing[name] = str(error)
    return missing


class _Stamp:
    """What the files of a report were made of: written last, removed before they change."""

    def __init__(self, out: Path) -> None:
        self._out, self._path = out, out / ".stamp"

    def vouches_for(self, state: str) -> bool:
        """Whether all files are there that were made of this."""
        return self._path.is_file() and self._path.read_bytes() == self._text(state)

    def write(self, state: str) -> None:
        write_atomically(self._path, self._text(state))

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)

    def _text(self, state: str) -> bytes:
        files = sorted(path for path in self._out.glob("[!.]*.*") if path.is_file())
        return "\n".join([state, *(f"{path.name} {path.stat().st_size}" for path in files)]).encode()


def _run(name: str, cells: Sequence[Cell], store: CellStore, jobs: int, console: Console) -> None:
    """Compute the cells that are not there yet."""
    todo = [cell for cell in cells if cell not in store]
    with progress_bar(f"{name:<10}", len(cells), console=console) as advance:
        advance(len(cells) - len(todo))
        work = (delayed(_timed)(name, cell) for cell in todo)
        # The executor is not even started where there is nothing to do.
        executor = Parallel(n_jobs=jobs if len(todo) > 1 else 1, return_as="generator_unordered")
        for cell, values, seconds in executor(work):
            store.add(cell, values, seconds)
            advance(1)


def _timed(name: str, cell: Cell) -> tuple[Cell, Values, float]:
    """One cell; on one thread, so that results do not depend on the number of processes."""
    start = time.perf_counter()
    with threadpool_limits(1):
        values = EXPERIMENTS[name].compute(cell)
    return cell, values, time.perf_counter() - start


def _write(
    results: Mapping[str, list[Result]], quick: bool, missing: dict[str, str], out: Path, console: Console
) -> None:
    facts = {
        "optiscore": __version__,
        "Python": platform.python_version(),
        **{library: version(library) for library in ("numpy", "scipy", "scikit-learn")},
        "settings": "quick: few trials" if quick else "full",
        "written": time.strftime("%Y-%m-%d %H:%M"),
    }
    with console.status("tables, figures and the reports"):
        sections = {name: _section(name, found, out) for name, found in results.items()}
        for group, page in _PAGES.items():
            if shown := [sections[name] for name in GROUPS[group] if name in sections]:
                write_atomically(out / page, render(group, shown, missing, facts).encode())


def _section(name: str, found: list[Result], out: Path) -> Section:
    """What came out of an experiment, with its tables and figures on disk."""
    summary = EXPERIMENTS[name].summarise(found) if found else Summary(notes=["No data: see below."])
    for table_name, table in summary.tables.items():
        write_atomically(out / f"{table_name}.csv", to_csv(table.rows))
    pictures = {title: _save(figure, out / title) for title, figure in summary.figures.items()}
    return Section(EXPERIMENTS[name], summary, sum(result.seconds for result in found), pictures)


def _save(figure: Any, path: Path) -> bytes:
    """Write a figure as SVG and PNG; the bytes of the latter."""
    for suffix in ("svg", "png"):
        buffer = io.BytesIO()
        metadata = {"Date": None} if suffix == "svg" else {}
        with rc_context({"svg.hashsalt": "optiscore"}):
            figure.savefig(buffer, format=suffix, dpi=110, metadata=metadata)
        write_atomically(path.with_suffix(f".{suffix}"), buffer.getvalue())
    return buffer.getvalue()


def to_csv(rows: Sequence[Row]) -> bytes:
    """A table as text; numbers with six digits after the point."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(value) for name, value in row.items()})
    return text.getvalue().encode()


def _cell(value: Any) -> Any:
    number = value.value if isinstance(value, Compared) else value
    return f"{number:.6f}" if isinstance(number, float) else number


def _digest(results: Mapping[str, list[Result]], missing: dict[str, str]) -> str:
    """What the report was made of, and by what."""
    digest = hashlib.sha256(json.dumps(missing).encode())
    for path in sorted(Path(__file__).parent.iterdir()):
        if path.is_file():
            digest.update(path.read_bytes())
    for name, found in results.items():
        for cell, values, _ in found:
            digest.update(json.dumps([name, cell, values]).encode())
    return digest.hexdigest()
