"""Data sets: those of the paper's Table 1, and further ones to compare on."""

from .benchmarks import fetch_benchmark, list_benchmarks
from .further import list_extra, load_extra

__all__ = [
    "fetch_benchmark",
    "list_benchmarks",
    "list_extra",
    "load_extra",
]
