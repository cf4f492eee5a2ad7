"""Numerical tools that know no statistics: root finding, array backends, threads."""

# SciPy's modules take longer to load before scikit-learn's than after them.
import sklearn.base  # noqa: F401 - for its effect on what follows
