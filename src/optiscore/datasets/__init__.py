"""Data: the sets of the paper's Table 1, further ones to compare on, and the synthetic samples of its figures."""

from .benchmarks import fetch_benchmark, list_benchmarks
from .further import list_further, load_further
from .synthetic import make_chi_square, make_plane_classes

__all__ = [
    "fetch_benchmark",
    "list_benchmarks",
    "list_further",
    "load_further",
    "make_chi_square",
    "make_plane_classes",
]
