"""Pictures in scikit-learn's Display convention; they need matplotlib (extra `plot`)."""

from .radius_search import RadiusSearchDisplay

__all__ = ["RadiusSearchDisplay"]
