"""Pictures in scikit-learn's Display convention; they need matplotlib (extra `plot`)."""

from .certified_regions import CertifiedRegionsDisplay
from .intervals import ProbaIntervalDisplay
from .posterior_bounds import PosteriorBoundsDisplay
from .radius_search import RadiusSearchDisplay
from .relevance import RelevanceDisplay
from .risk_coverage import RiskCoverageDisplay

__all__ = [
    "CertifiedRegionsDisplay",
    "PosteriorBoundsDisplay",
    "ProbaIntervalDisplay",
    "RadiusSearchDisplay",
    "RelevanceDisplay",
    "RiskCoverageDisplay",
]
