"""The command `optiscore` (extra `cli`)."""

import sys

_NEEDED = {"typer", "rich", "matplotlib", "jinja2", "pandas", "pyarrow", "plotly", "skops"}


def main() -> None:
    """Run the command; say what to install where that is missing."""
    try:
        from .app import run
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in _NEEDED:
            raise
        sys.exit(f"optiscore: {error.name} is not installed: pip install 'optiscore[cli]'.")
    run()
