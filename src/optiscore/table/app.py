"""The subcommands of `optiscore`, and how errors become one line and an exit code."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.console import Console

from .. import __version__
from ..estimators.progress import Progress

if TYPE_CHECKING:
    from .judging import Query

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown", pretty_exceptions_enable=False)

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that are there already.")]
Decimal = Annotated[str | None, typer.Option(help="Decimal separator of text files; as in training if not given.")]
AbstainBelow = Annotated[
    list[str] | None,
    typer.Option(
        help="Abstain below this probability (optimistic: certified factor), or below another measure: "
        "stability=0.9, typicality=0.01. May be repeated."
    ),
]
Required = Annotated[float, typer.Option(help="What fraction of the decisions has to be right.")]

# As the shell has it for a signal.
_INTERRUPTED = 130


def run() -> None:
    """Run the command; problems with files and settings are one line on standard error."""
    try:
        app()
    except FileNotFoundError as error:
        _fail(f"no file {error.filename!r}." if error.filename else str(error), 1)
    except OSError as error:
        _fail(f"{error.strerror}: {error.filename!r}." if error.strerror and error.filename else str(error), 1)
    # Some types of columns are beyond the libraries that read them.
    except (ValueError, NotImplementedError) as error:
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


def _print_paths(paths: list[Path], quiet: bool, as_json: bool) -> None:
    """Print the paths of files that were written."""
    if as_json:
        print(json.dumps([str(path) for path in paths]))
    elif not quiet:
        print(*paths, sep="\n")


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
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Write the breast cancer table that comes with scikit-learn as train.csv and test.csv.

    - `optiscore example -o /tmp`
    """
    from .splitting import write_example

    _print_paths(write_example(out, force), quiet, as_json)


@app.command()
def split(
    table: Annotated[str, typer.Argument(help="Table with labels.")],
    target: Annotated[str, typer.Option("--target", "-t", help="Column with the labels.")],
    test_size: Annotated[float, typer.Option("--test-size", help="Fraction of the rows to judge the model on.")] = 0.25,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the two tables.")] = Path(),
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Cut a table into rows for training and rows to judge the model on, at random, with the same fractions of labels.

    - `optiscore split penguins.csv --target species` writes penguins_train.csv and penguins_test.csv
    """
    from .splitting import split_table

    if not 0 < test_size < 1:
        raise typer.BadParameter("--test-size must be between 0 and 1.")
    with _stopped_by_hand("no table is cut"), _progress(table, quiet or as_json)("reading", None) as advance:
        paths, alone = split_table(table, target, out, test_size, force, advance)
    _print_paths(paths, quiet, as_json)
    if alone and not (quiet or as_json):
        listed = ", ".join(map(repr, alone[:5])) + (", ..." if len(alone) > 5 else "")
        print(f"labels of one row only, which cannot be trained on: {listed}", file=sys.stderr)


@app.command()
def fit(
    train: Annotated[str, typer.Argument(help="Table: CSV, TSV, Parquet, Arrow or Feather; compressed or not.")],
    target: Annotated[str, typer.Option("--target", "-t", help="Column with the labels.")],
    out: Annotated[str, typer.Option("--out", "-o", help="Model file to write.")],
    model: Annotated[
        str,
        typer.Option(
            help="moderated, kernel or optimistic; auto takes the better of the first two by log loss on rows left out."
        ),
    ] = "auto",
    no_rows: Annotated[bool, typer.Option("--no-rows", help="No model that keeps training rows (kernel).")] = False,
    drop: Annotated[list[str] | None, typer.Option(help="Column to leave out; may be repeated.")] = None,
    categorical: Annotated[
        list[str] | None, typer.Option(help="Column whose numbers are codes; may be repeated.")
    ] = None,
    identifier: Annotated[
        list[str] | None,
        typer.Option("--id", help="Column that tells rows apart: left out, and copied into predictions."),
    ] = None,
    use: Annotated[
        list[str] | None, typer.Option(help="Column to use, even if it looks like a row number or an id.")
    ] = None,
    decimal: Annotated[str, typer.Option(help="Decimal separator of text files: a point or a comma.")] = ".",
    covariance: Annotated[str | None, typer.Option(help="moderated: both, own or shared.")] = None,
    priors: Annotated[
        str | None, typer.Option(help="moderated, optimistic: equal, or probabilities such as yes=0.2,no=0.8.")
    ] = None,
    likelihood: Annotated[str | None, typer.Option(help="optimistic: gaussian, nonparametric or fixed-mean.")] = None,
    radius: Annotated[str | None, typer.Option(help="optimistic: clt, empirical, or a number.")] = None,
    cv: Annotated[bool, typer.Option("--cv", help="optimistic: choose the radii by cross-validation.")] = False,
    rule: Annotated[
        str | None, typer.Option("--rule", help="optimistic: decision rule minimax, tuned, prior, or a number.")
    ] = None,
    pooling: Annotated[
        float | None, typer.Option(help="optimistic: weight of a shared covariance, from 0 to 1.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the folds.")] = 0,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Train a classifier on a table and save it.

    A table of more than half a gigabyte is read twice, block by block, unless the settings need all of it at once
    (--cv, --rule tuned, --radius empirical); a moderated model is then trained.

    - `optiscore fit train.csv --target diagnosis -o model.skops`

    - `optiscore fit train.parquet -t label -o model.skops --id patient --categorical ward`

    - `optiscore fit train.csv -t label -o model.skops --model optimistic --cv --rule tuned`
    """
    from ..files.whole_files import check_output
    from .columns import Choices
    from .selection import ModelOptions, candidates
    from .show import show_training
    from .tables import estimate_rows
    from .training import Plan
    from .training import train as train_on

    settings = ModelOptions(covariance, priors, likelihood, radius, cv, rule, pooling)
    chosen = candidates(model, settings, no_rows=no_rows, seed=seed)
    columns = Choices(*(tuple(names or ()) for names in (drop, categorical, use, identifier)))
    plan = Plan(train, target, chosen, columns, priors, _check_decimal(decimal), seed)
    check_output(out, train)
    with _stopped_by_hand(f"{out} is not written, what was there is as it was"):
        trained = train_on(plan, estimate_rows(train), _progress(train, quiet or as_json))
        trained.save(out)
    if as_json or not quiet:
        show_training(trained, as_json)


@app.command()
def predict(
    model: Annotated[str, typer.Argument(help="Model file.")],
    data: Annotated[str, typer.Argument(help="Table; - is standard input.")],
    out: Annotated[
        str, typer.Option("--out", "-o", help="CSV, TSV, Parquet or Arrow file; - is standard output.")
    ] = "-",
    abstain_below: AbstainBelow = None,
    interval: Annotated[
        float | None,
        typer.Option(help="Add an interval of the posterior at this level: 0.9 (moderated)."),
    ] = None,
    keep: Annotated[list[str] | None, typer.Option(help="Column to copy into the output; may be repeated.")] = None,
    all_probabilities: Annotated[
        bool, typer.Option("--all-probabilities", help="A column with the probability of every class.")
    ] = False,
    decimal: Decimal = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Predict the rows of a table, in blocks: one row out per row in, in the same order.

    - `optiscore predict model.skops new.csv -o predictions.csv --keep name`

    - `cat new.csv | optiscore predict model.skops - --abstain-below probability=0.8 > predictions.csv`
    """
    from ..files.whole_files import check_output
    from .answers import thresholds_for
    from .prediction import OutputOptions, predict_file
    from .show import plain_tally, print_json, show_tally
    from .table_model import TableModel
    from .tables import estimate_rows

    if interval is not None and not 0 < interval < 1:
        raise typer.BadParameter("--interval must be a level between 0 and 1, such as 0.9.")
    if as_json and out == "-":
        raise typer.BadParameter("--json prints to standard output: name a file with --out.")
    check_output(out, model, data, may_be_stream=True)
    trained = TableModel.load(model)
    thresholds = thresholds_for(trained.classifier, trained.least_typical, abstain_below or [])
    wanted = OutputOptions(
        thresholds, keep or [], interval, all_probabilities, _check_decimal(decimal or trained.decimal)
    )
    bar = _progress(data, quiet or as_json)("predicting", estimate_rows(data))
    with _stopped_by_hand(f"{out} is not written, what was there is as it was"), bar as advance:
        start = time.perf_counter()
        tally = predict_file(trained, data, out, wanted, advance)
        seconds = time.perf_counter() - start
    if as_json:
        print_json(plain_tally(tally, thresholds, out, seconds))
    elif not quiet:
        show_tally(tally, thresholds, out, seconds)


@app.command()
def evaluate(
    model: Annotated[str, typer.Argument(help="Model file.")],
    test: Annotated[str, typer.Argument(help="Table, with labels or without.")],
    abstain_below: AbstainBelow = None,
    required_accuracy: Required = 0.9,
    decimal: Decimal = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")] = 0,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Judge a model on rows of a table, beside QDA, LDA and logistic regression.

    Without labels, what can be known is shown: evidence, typicality and drift.

    - `optiscore evaluate model.skops test.csv`
    """
    from .judging import judge
    from .show import show_evaluation

    asked = _question(model, test, abstain_below, required_accuracy, decimal, seed)
    with _stopped_by_hand("nothing is kept"):
        judged = judge(asked, _progress(test, quiet or as_json))
    if as_json or not quiet:
        show_evaluation(judged.trained, judged.evaluation, judged.verdict, as_json)


@app.command()
def report(
    model: Annotated[str, typer.Argument(help="Model file.")],
    test: Annotated[str, typer.Argument(help="Table, with labels or without.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Page to write.")] = Path("report.html"),
    abstain_below: AbstainBelow = None,
    required_accuracy: Required = 0.9,
    decimal: Decimal = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")] = 0,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Show on one page, which needs nothing else, whether and where a model may be trusted.

    - `optiscore report model.skops test.csv -o report.html`
    """
    from ..files.whole_files import check_output, write_atomically
    from .judging import judge
    from .page import render
    from .show import print_json

    check_output(out, model, test)
    asked = _question(model, test, abstain_below, required_accuracy, decimal, seed)
    with _stopped_by_hand(f"{out} is not written, what was there is as it was"):
        judged = judge(asked, _progress(test, quiet or as_json))
        write_atomically(out, render(judged, Path(test).name).encode())
    if as_json:
        print_json({"page": str(out), "verdict": judged.verdict._asdict()})
    elif not quiet:
        said = judged.verdict
        print(f"{said.headline} {said.reason} {said.recommendation}\n{out}")


def _question(
    model: str, test: str, abstain_below: list[str] | None, required: float, decimal: str | None, seed: int
) -> "Query":
    from .judging import Query

    if not 0 < required <= 1:
        raise typer.BadParameter("--required-accuracy must be above 0 and at most 1, such as 0.9.")
    return Query(model, test, abstain_below or [], required, decimal and _check_decimal(decimal), seed)


@app.command()
def inspect(
    model: Annotated[str, typer.Argument(help="Model file.")],
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Show what is in a model file; with --quiet, only check that it can be read.

    - `optiscore inspect model.skops`
    """
    from .show import show_training
    from .table_model import TableModel

    trained = TableModel.load(model)
    if as_json or not quiet:
        show_training(trained, as_json)


def _progress(name: str, quiet: bool) -> Progress:
    """Bars on the terminal's standard error, about a file."""
    from ..estimators.progress import progress_bar

    errors = Console(stderr=True)

    def bar(doing: str, total: int | None) -> AbstractContextManager[Callable[[int], None]]:
        return progress_bar(f"{doing} {name}", total, visible=not quiet and errors.is_terminal, console=errors)

    return bar


def _check_decimal(decimal: str) -> str:
    if decimal not in (".", ","):
        raise typer.BadParameter("--decimal must be a point or a comma.")
    return decimal
