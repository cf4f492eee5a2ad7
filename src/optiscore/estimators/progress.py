"""A progress bar for long work, where one is asked for (extra `rich`)."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeAlias

#: Given what is being done and how many steps that takes, a context that yields a function to tell how many are done.
Progress: TypeAlias = Callable[[str, int | None], AbstractContextManager[Callable[[int], None]]]


@contextmanager
def progress_bar(
    description: str, total: int | None, *, visible: bool = True, console: Any = None
) -> Iterator[Callable[[int], None]]:
    """Yield a function that advances the bar by some steps; silent unless visible."""
    if not visible:
        yield lambda _: None
        return
    try:
        from rich import progress as parts
    except ImportError:
        raise ImportError(
            "a progress bar needs rich: pip install 'optiscore[rich]', or ask for none (verbose=0)."
        ) from None
    columns = (
        parts.TextColumn("{task.description}", markup=False),
        parts.BarColumn(),
        parts.MofNCompleteColumn(),
        parts.TimeElapsedColumn(),
        parts.TextColumn("left"),
        parts.TimeRemainingColumn(),
    )
    with parts.Progress(*columns, console=console) as progress:
        task = progress.add_task(description, total=total)
        yield lambda steps: progress.advance(task, steps)
