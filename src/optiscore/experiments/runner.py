"""Run experiments: cells in parallel, each kept as soon as it is done; then tables, figures and the report."""

import csv
import hashlib
import io
import json
import platform
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from matplotlib import rc_context
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from threadpoolctl import threadpool_limits

from .. import __version__
from ..atomic import write_atomically
from ..datasets import fetch_benchmark
from . import EXPERIMENTS
from .experiment import Cell, Experiment, Result, Row, Summary, Values
from .report import Section, render
from .store import CellStore, fingerprint


@dataclass(frozen=True)
class Settings:
    """What to run, where to put it, and on how many processes."""

    names: Sequence[str]
    out: Path
    quick: bool = False
    jobs: int = -1


def reproduce(settings: Settings, console: Console) -> Path:
    """Run experiments and write their tables, figures and the report; the path of the report.

    The report has all experiments that are done, whether in this run or before. A quick look has a folder of its own.
    """
    out = settings.out / "quick" if settings.quick else settings.out
    todo = {name: _unfinished(name, settings.quick, out) for name in EXPERIMENTS}
    missing = _missing_data([cell for name in settings.names for cell in todo[name]], console)
    for name, reason in missing.items():
        console.print(f"missing {name}: {reason}", markup=False, highlight=False, soft_wrap=True)
    for name in settings.names:
        _run(EXPERIMENTS[name], settings, out, missing, console)
    shown = [name for name in EXPERIMENTS if name in settings.names or not todo[name]]
    outcomes = [_Outcome(EXPERIMENTS[name], _results(name, settings.quick, out)) for name in shown]
    page, stamp = out / "report.html", _Stamp(out)
    state = _digest(outcomes, missing)
    if not stamp.vouches_for(state):
        stamp.remove()
        _write(outcomes, settings.quick, missing, page, console)
        stamp.write(state)
    return page


def _store(name: str, out: Path) -> CellStore:
    return CellStore(out / "cells" / f"{name}.jsonl", fingerprint(EXPERIMENTS[name]))


def _unfinished(name: str, quick: bool, out: Path) -> list[Cell]:
    with _store(name, out) as store:
        return [cell for cell in EXPERIMENTS[name].cells(quick) if cell not in store]


def _results(name: str, quick: bool, out: Path) -> list[Result]:
    with _store(name, out) as store:
        return store.results(EXPERIMENTS[name].cells(quick))


def _missing_data(cells: Sequence[Cell], console: Console) -> dict[str, str]:
    """Data sets that some cell needs and that cannot be had, and why."""
    missing = {}
    with console.status("looking for the data sets"):
        for name in sorted({cell["dataset"] for cell in cells if "dataset" in cell}):
            try:
                fetch_benchmark(name)
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
        files = sorted(path for path in self._out.glob("*.*") if path.is_file() and path != self._path)
        return "\n".join([state, *(f"{path.name} {path.stat().st_size}" for path in files)]).encode()


@dataclass(frozen=True)
class _Outcome:
    experiment: Experiment
    results: list[Result]


def _run(experiment: Experiment, settings: Settings, out: Path, missing: dict[str, str], console: Console) -> None:
    """Compute the cells that are not there yet."""
    cells = experiment.cells(settings.quick)
    with _store(experiment.name, out) as store:
        todo = [cell for cell in cells if cell not in store and cell.get("dataset") not in missing]
        # The executor is not even started where there is nothing to do.
        jobs = settings.jobs if len(todo) > 1 else 1
        with _bar(experiment.name, len(cells), console) as advance:
            advance(len(cells) - len(todo))
            work = (delayed(_timed)(experiment.name, cell) for cell in todo)
            for cell, values, seconds in Parallel(n_jobs=jobs, return_as="generator_unordered")(work):
                store.add(cell, values, seconds)
                advance(1)


def _timed(name: str, cell: Cell) -> tuple[Cell, Values, float]:
    """One cell; on one thread, so that results do not depend on the number of processes."""
    start = time.perf_counter()
    with threadpool_limits(1):
        values = EXPERIMENTS[name].compute(cell)
    return cell, values, time.perf_counter() - start


@contextmanager
def _bar(name: str, total: int, console: Console) -> Iterator[Any]:
    columns = (
        TextColumn(f"{name:<10}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(name, total=total)
        yield lambda steps: progress.advance(task, steps)


def _write(outcomes: Sequence[_Outcome], quick: bool, missing: dict[str, str], page: Path, console: Console) -> None:
    sections = []
    with console.status("tables, figures and the report"):
        for experiment, results in ((outcome.experiment, outcome.results) for outcome in outcomes):
            if not results:
                sections.append(Section(experiment, Summary(notes=["No data: see above."]), 0.0, {}))
                continue
            summary = experiment.summarise(results)
            for name, rows in summary.tables.items():
                write_atomically(page.with_name(f"{name}.csv"), to_csv(rows))
            pictures = {name: _save(figure, page.with_name(name)) for name, figure in summary.figures.items()}
            sections.append(Section(experiment, summary, sum(result.seconds for result in results), pictures))
        facts = {
            "optiscore": __version__,
            "Python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scipy", "scikit-learn")},
            "settings": "quick: fewer trials than the paper" if quick else "full",
            "written": time.strftime("%Y-%m-%d %H:%M"),
        }
        write_atomically(page, render(sections, missing, facts, _column_times(outcomes)).encode())


def _column_times(outcomes: Sequence[_Outcome]) -> dict[str, float]:
    """Seconds of each method of Table 1."""
    seconds: dict[str, float] = {}
    for outcome in outcomes:
        for cell, _, spent in outcome.results if outcome.experiment.name == "table1" else ():
            seconds[cell["method"]] = seconds.get(cell["method"], 0.0) + spent
    return seconds


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
        writer.writerow({name: f"{value:.6f}" if isinstance(value, float) else value for name, value in row.items()})
    return text.getvalue().encode()


def _digest(outcomes: Sequence[_Outcome], missing: dict[str, str]) -> str:
    """What the report was made of, and by what."""
    digest = hashlib.sha256(json.dumps(missing).encode())
    for path in sorted(Path(__file__).parent.iterdir()):
        if path.is_file():
            digest.update(path.read_bytes())
    for outcome in outcomes:
        for cell, values, _ in outcome.results:
            digest.update(json.dumps([outcome.experiment.name, cell, values]).encode())
    return digest.hexdigest()
