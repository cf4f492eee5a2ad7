"""The subcommands of `optiscore`, and how errors become one line and an exit code."""

import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console

from .. import __version__
from ..experiments import GROUPS, NAMES

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown", pretty_exceptions_enable=False)

# As the shell has them for signals, and as the system has it for what may work later.
_INTERRUPTED, _BUSY = 130, 75


def run() -> None:
    """Run the command; problems with files and settings are one line on standard error."""
    try:
        app()
    except FileNotFoundError as error:
        _fail(f"no file {error.filename!r}." if error.filename else str(error), 1)
    except OSError as error:
        _fail(f"{error.strerror}: {error.filename!r}." if error.strerror and error.filename else str(error), 1)
    except ValueError as error:
        _fail(str(error), 1)


@contextmanager
def _stopped_by_hand(kept: str) -> Iterator[None]:
    """Within, an interruption is told in a line, with what was kept."""
    try:
        yield
    except KeyboardInterrupt:
        _fail(f"stopped; {kept}.", _INTERRUPTED)


def _fail(message: str, code: int) -> NoReturn:
    print(f"optiscore: {message}", file=sys.stderr)
    sys.exit(code)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"optiscore {__version__}")
        raise typer.Exit


@app.callback()
def optiscore(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """Classification that stays right when the class distributions are known only roughly."""


@app.command()
def example(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the two tables.")] = Path(),
) -> None:
    """Write the breast cancer table that comes with scikit-learn as train.csv and test.csv.

    - `optiscore example -o /tmp`
    """
    from .example import write_example

    for path in write_example(out):
        print(path)


@app.command()
def fit(
    train: Annotated[
        str, typer.Argument(help="Table: CSV, TSV, Parquet, Arrow, Feather or svmlight; compressed or not.")
    ],
    target: Annotated[str, typer.Option("--target", "-t", help="Column with the labels.")],
    out: Annotated[str, typer.Option("--out", "-o", help="Model file to write.")],
    likelihood: Annotated[str, typer.Option(help="gaussian, nonparametric or fixed-mean.")] = "gaussian",
    radius: Annotated[str, typer.Option(help="clt, empirical, or a number.")] = "clt",
    cv: Annotated[bool, typer.Option("--cv", help="Choose the radii by cross-validation.")] = False,
    rule: Annotated[str, typer.Option("--rule", help="Decision rule: minimax, tuned, prior, or a number.")] = "minimax",
    seed: Annotated[int, typer.Option(help="Seed of the folds.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Train a classifier on a table and save it.

    A table of more than half a gigabyte is read twice, block by block, unless the settings need all of it at once
    (--cv, --rule tuned, --radius empirical).

    - `optiscore fit train.csv --target diagnosis -o model.skops`

    - `optiscore fit train.parquet -t label -o model.skops --cv --rule tuned`
    """
    from .. import OptimisticScoreClassifier, OptimisticScoreClassifierCV
    from ..classifiers.parameters import check_parameters
    from ..io.progress import progress_bar
    from .outputs import check_output
    from .show import show_training
    from .tables import estimate_rows
    from .training import train as train_on

    if cv and radius != "clt":
        raise typer.BadParameter("--cv chooses the radii: leave out --radius.")
    decision_rule = _number_or_name(rule)
    classifier: Any = OptimisticScoreClassifier(likelihood, radius=_number_or_name(radius), decision_rule=decision_rule)
    check_parameters(classifier.get_params())
    if cv:
        classifier = OptimisticScoreClassifierCV(likelihood, decision_rule=decision_rule)
    check_output(out, train)
    errors, about = Console(stderr=True), estimate_rows(train)

    def watch(doing: str) -> AbstractContextManager[Callable[[int], None]]:
        return progress_bar(f"{doing} {train}", about, visible=not quiet and errors.is_terminal, console=errors)

    with _stopped_by_hand(f"{out} is not written, what was there is as it was"):
        trained = train_on(train, target, classifier, seed, watch)
        trained.save(out)
    if not quiet:
        show_training(trained, as_json)


@app.command()
def predict(
    model: Annotated[str, typer.Argument(help="Model file.")],
    data: Annotated[str, typer.Argument(help="Table; - is standard input.")],
    out: Annotated[
        str, typer.Option("--out", "-o", help="CSV, TSV, Parquet or Arrow file; - is standard output.")
    ] = "-",
    abstain_below: Annotated[float, typer.Option(help="Abstain where the certified factor is smaller.")] = 1.0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Predict the rows of a table, in blocks: one row out per row in, in the same order.

    - `optiscore predict model.skops new.csv -o predictions.csv`

    - `cat new.csv | optiscore predict model.skops - > predictions.csv`
    """
    from ..io.progress import progress_bar
    from .outputs import check_output
    from .prediction import predict_file
    from .table_model import TableModel
    from .tables import estimate_rows

    if math.isnan(abstain_below):
        raise typer.BadParameter("--abstain-below must be a number.")
    check_output(out, model, data)
    trained = TableModel.load(model)
    errors = Console(stderr=True)
    bar = progress_bar(data, estimate_rows(data), visible=not quiet and errors.is_terminal, console=errors)
    with _stopped_by_hand(f"{out} is not written, what was there is as it was"), bar as advance:
        n_rows, seconds = _clocked(lambda: predict_file(trained, data, out, abstain_below, advance))
    if not quiet and out != "-":
        print(f"{n_rows:,} rows in {seconds:.1f} s ({n_rows / seconds:,.0f} per second) -> {out}", file=sys.stderr)


@app.command()
def evaluate(
    model: Annotated[str, typer.Argument(help="Model file.")],
    test: Annotated[str, typer.Argument(help="Table with labels.")],
    abstain_below: Annotated[float, typer.Option(help="Abstain where the certified factor is smaller.")] = 1.0,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Judge a model on labelled rows, beside QDA, LDA and logistic regression.

    - `optiscore evaluate model.skops test.csv`
    """
    from .evaluation import evaluate as evaluate_on
    from .evaluation import judge, read_test
    from .show import show_evaluation
    from .table_model import TableModel

    with _stopped_by_hand("nothing is kept"):
        trained = TableModel.load(model)
        rows = read_test(trained, test)
        show_evaluation(evaluate_on(judge(trained, rows), rows.codes, abstain_below, seed), len(rows.codes), as_json)


@app.command()
def report(
    model: Annotated[str, typer.Argument(help="Model file.")],
    test: Annotated[str, typer.Argument(help="Table with labels.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Page to write.")] = Path("report.html"),
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
) -> None:
    """Show on one page, which needs nothing else, where a model may be trusted.

    - `optiscore report model.skops test.csv -o report.html`
    """
    from ..io.whole_files import write_atomically
    from .evaluation import read_test
    from .outputs import check_output
    from .page import render
    from .table_model import TableModel

    check_output(out, model, test)
    with _stopped_by_hand(f"{out} is not written, what was there is as it was"):
        trained = TableModel.load(model)
        write_atomically(out, render(trained, read_test(trained, test), Path(test).name, seed).encode())
    print(out)


@app.command()
def inspect(
    model: Annotated[str, typer.Argument(help="Model file.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what is in a model file.

    - `optiscore inspect model.skops`
    """
    from .show import show_training
    from .table_model import TableModel

    show_training(TableModel.load(model), as_json)


def _number_or_name(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def _clocked(run: Callable[[], int]) -> tuple[int, float]:
    start = time.perf_counter()
    return run(), time.perf_counter() - start


def _check_names(given: list[str]) -> list[str]:
    """Experiments by name or by group, in their order."""
    groups = {**GROUPS, "all": NAMES}
    for name in given:
        if name not in NAMES and name not in groups:
            raise typer.BadParameter(f"{name!r} is none of {', '.join((*NAMES, *groups))}.")
    wanted = {name for each in given for name in groups.get(each, (each,))}
    return [name for name in NAMES if name in wanted]


@app.command()
def reproduce(
    experiments: Annotated[
        list[str] | None,
        typer.Argument(help=f"{', '.join(NAMES)}; or paper, evidence, all.", metavar="[EXPERIMENT]..."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer trials: a look within about a minute.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", help="Processes; -1 is one per processor.")] = -1,
    out: Annotated[Path, typer.Option("--out", help="Folder for tables, figures and the report.")] = Path("results"),
    data: Annotated[
        Path | None, typer.Option("--data", help="Folder with the data sets as published, like OPTISCORE_DATA.")
    ] = None,
) -> None:
    """Compute the paper's table and figures, and those that it could not draw.

    Interrupted at any moment, the same command goes on where it was. Examples:

    - `optiscore reproduce paper`

    - `optiscore reproduce table1 figure2 --quick --out /tmp/look`
    """
    from ..experiments import runner
    from ..io.locks import BusyError

    if jobs == 0 or jobs < -1:
        raise typer.BadParameter("jobs must be a positive number or -1.")
    if data is not None:
        if not data.is_dir():
            raise typer.BadParameter(f"{data} is not a folder.")
        os.environ["OPTISCORE_DATA"] = str(data.resolve())
    console = Console()
    names = _check_names(experiments or ["paper"])
    try:
        with _stopped_by_hand("what is done is kept, run the same command again to go on"):
            page = runner.reproduce(runner.Settings(names, out, quick, jobs), console)
    except BusyError as error:
        _fail(str(error), _BUSY)
    console.print(f"The report is {page}.", markup=False, highlight=False, soft_wrap=True)
