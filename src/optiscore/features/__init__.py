"""Maps of features: those that make them look Gaussian, and dates as numbers."""

from .power import PowerMap

__all__ = ["PowerMap"]
