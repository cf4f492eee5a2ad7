"""`python -m reproduction`: the paper's table and figures, those that it could not draw, and the evidence."""

import argparse
import os
import sys
from pathlib import Path

from rich.console import Console

from . import GROUPS, NAMES, runner
from .locks import BusyError

# As the shell has it for a signal, and as the system has it for what may work later.
_INTERRUPTED, _BUSY = 130, 75


def main(arguments: list[str] | None = None) -> int:
    """Run experiments; problems are one line on standard error. Return the exit code."""
    options = _parse(arguments)
    if options.data is not None:
        os.environ["OPTISCORE_DATA"] = str(options.data.resolve())
    console = Console(quiet=options.quiet)
    try:
        pages = runner.reproduce(runner.Settings(options.names, options.out, options.quick, options.jobs), console)
    except KeyboardInterrupt:
        return _fail("stopped; what is done is kept, run the same command again to go on.", _INTERRUPTED)
    except BusyError as error:
        return _fail(str(error), _BUSY)
    except (OSError, ValueError) as error:
        return _fail(str(error), 1)
    for page in pages:
        console.print(f"The report is {page}.", markup=False, highlight=False, soft_wrap=True)
    return 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m reproduction", description=__doc__)
    parser.add_argument("experiments", nargs="*", help=f"{', '.join(NAMES)}; or paper (the default), evidence, all")
    parser.add_argument("--quick", action="store_true", help="fewer trials: a look within about a minute")
    parser.add_argument("--jobs", type=int, default=-1, help="processes; -1 is one per processor")
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder for tables, figures and the report")
    parser.add_argument("--data", type=Path, help="folder with the data sets as published, like OPTISCORE_DATA")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    options = parser.parse_args(arguments)
    groups = {**GROUPS, "all": NAMES}
    for name in options.experiments:
        if name not in NAMES and name not in groups:
            parser.error(f"{name!r} is none of {', '.join((*NAMES, *groups))}.")
    if options.jobs == 0 or options.jobs < -1:
        parser.error("--jobs must be a positive number or -1.")
    if options.data is not None and not options.data.is_dir():
        parser.error(f"{options.data} is not a folder.")
    wanted = {name for each in options.experiments or ["paper"] for name in groups.get(each, (each,))}
    options.names = [name for name in NAMES if name in wanted]
    return options


def _fail(message: str, code: int) -> int:
    print(f"reproduction: {message}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
