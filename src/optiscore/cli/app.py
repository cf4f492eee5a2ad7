"""The subcommands of `optiscore`, and how errors become one line and an exit code."""

import os
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from .. import __version__
from ..experiments import EXPERIMENTS

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown", pretty_exceptions_enable=False)

_INTERRUPTED = 130


def run() -> None:
    """Run the command; problems with files and settings are one line on standard error."""
    try:
        app()
    except (OSError, ValueError) as error:
        _fail(str(error), 1)


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


def _check_names(names: list[str]) -> list[str]:
    for name in names:
        if name not in EXPERIMENTS and name != "all":
            raise typer.BadParameter(f"{name!r} is none of {', '.join(EXPERIMENTS)} and all.")
    return list(EXPERIMENTS) if "all" in names else [name for name in EXPERIMENTS if name in names]


@app.command()
def reproduce(
    experiments: Annotated[
        list[str] | None, typer.Argument(help=f"{', '.join(EXPERIMENTS)}; or all.", metavar="[EXPERIMENT]...")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer trials: a look within a minute.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", help="Processes; -1 is one per processor.")] = -1,
    out: Annotated[Path, typer.Option("--out", help="Folder for tables, figures and the report.")] = Path("results"),
    data: Annotated[
        Path | None, typer.Option("--data", help="Folder with the data sets as published (else: see fetch_benchmark).")
    ] = None,
) -> None:
    """Compute the paper's table and figures, and those that it could not draw.

    Interrupted at any moment, the same command goes on where it was. Examples:

    - `optiscore reproduce all`

    - `optiscore reproduce table1 figure2 --quick --out /tmp/look`
    """
    from ..experiments.runner import Settings, reproduce

    if jobs == 0 or jobs < -1:
        raise typer.BadParameter("jobs must be a positive number or -1.")
    if data is not None:
        if not data.is_dir():
            raise typer.BadParameter(f"{data} is not a folder.")
        os.environ["OPTISCORE_DATA"] = str(data.resolve())
    console = Console()
    names = _check_names(experiments or ["all"])
    try:
        page = reproduce(Settings(names, out, quick, jobs), console)
    except KeyboardInterrupt:
        _fail("interrupted; what is done is kept, run the same command again to go on.", _INTERRUPTED)
    console.print(f"The report is [bold]{page}[/].", highlight=False, soft_wrap=True)
