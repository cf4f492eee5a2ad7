"""The command `optiscore` (extra `cli`)."""

import sys


def main() -> None:
    """Run the command; say what to install where that is missing."""
    try:
        from .app import run
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in {"typer", "rich", "matplotlib", "jinja2"}:
            raise
        sys.exit(f"optiscore: {error.name} is not installed: pip install 'optiscore[cli]'.")
    run()
