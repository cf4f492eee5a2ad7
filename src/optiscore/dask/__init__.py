"""The classifiers on Dask's arrays and data frames: more data than memory, more machines than one (extra `dask`)."""

try:
    import dask.array  # noqa: F401 - only to say what is missing
    import distributed  # noqa: F401 - Dask forgets to load it for some of its frames
except ImportError:
    raise ImportError("optiscore.dask needs Dask: pip install 'optiscore[dask]'.") from None

from .classifier import OptimisticScoreClassifier
from .moderated import ModeratedDiscriminantAnalysis

__all__ = ["ModeratedDiscriminantAnalysis", "OptimisticScoreClassifier"]
