"""The extreme scores: what each looks like as a function of alpha, their tables, and their registry by name."""
