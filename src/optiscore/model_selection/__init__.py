"""Choosing radii: the candidates, and all of them evaluated on a fold at once."""
