"""Ambiguity sets: the divergence that defines them, and their radii."""
