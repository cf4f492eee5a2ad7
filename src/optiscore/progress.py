"""A progress bar for long work, where one is asked for (extra `rich`)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(description: str, total: int, *, visible: bool) -> Iterator[Callable[[int], None]]:
    """Yield a function that advances the bar by some steps; silent unless visible."""
    if not visible:
        yield lambda _: None
        return
    try:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        raise ImportError(
            "a progress bar needs rich: pip install 'optiscore[rich]', or ask for none (verbose=0)."
        ) from None
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns) as progress:
        task = progress.add_task(description, total=total)
        yield lambda steps: progress.advance(task, steps)
