"""Model files that are safe to open: `save` and `load` (extra `io`); whole files, and progress bars."""

from .model_files import load, save

__all__ = ["load", "save"]
