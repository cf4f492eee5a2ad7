"""Axes to draw on, or what to install."""

from typing import Any


def new_axes(ax: Any = None) -> Any:
    """The given axes, or those of a new figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("pictures need matplotlib: pip install 'optiscore[plot]'.") from None
    return plt.subplots(layout="constrained")[1] if ax is None else ax
