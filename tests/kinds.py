"""The table of scores that the tests are crossed with."""

from optiscore import SCORES

SIDES = ("optimistic", "pessimistic")
KINDS = [(score, side) for score in SCORES for side in SIDES]


def extreme(kind, radius, n_features):
    """One of the six extreme scores."""
    score, side = kind
    return SCORES[score].at(side, radius, n_features)
