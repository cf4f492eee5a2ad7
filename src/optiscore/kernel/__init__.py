"""Curved boundaries: kernel ridge regression with every row left out, models behind its maps, and their mixture."""
