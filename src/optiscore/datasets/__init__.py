"""Data: the data sets of the paper's Table 1, and the synthetic samples of its figures."""

from .benchmarks import fetch_benchmark, list_benchmarks
from .synthetic import make_chi_square, make_plane_classes

__all__ = ["fetch_benchmark", "list_benchmarks", "make_chi_square", "make_plane_classes"]
