"""Maps of features: to look Gaussian, to make curved boundaries straight by kernels, and dates as numbers."""

from .kernel_map import KernelDiscriminantMap
from .power import PowerMap

__all__ = ["KernelDiscriminantMap", "PowerMap"]
