"""Risk and coverage, against definitions by brute force."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optiscore.metrics import area_under_risk_coverage, risk_coverage_curve


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.5, 1.0, np.inf])), min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_area_is_the_mean_over_all_orders_of_ties(samples):
    right, confidence = (np.array(part) for part in zip(*samples, strict=True))
    areas = []
    for order in permutations(range(len(right))):
        order = list(order)
        if all(confidence[a] >= confidence[b] for a, b in pairwise(order)):
            areas.append(np.mean(np.cumsum(~right[order]) / np.arange(1, len(right) + 1)))
    assert area_under_risk_coverage(right, confidence) == pytest.approx(np.mean(areas))


def test_curve_by_thresholds():
    rng = np.random.default_rng(0)
    right, confidence = rng.random(200) < 0.7, rng.normal(size=200).round(1)
    coverage, risk, thresholds = risk_coverage_curve(right, confidence)
    for fraction, error, threshold in zip(coverage, risk, thresholds, strict=True):
        kept = confidence >= threshold
        assert fraction == pytest.approx(kept.mean())
        assert error == pytest.approx(1 - right[kept].mean())
    assert coverage[-1] == 1
    assert (np.diff(thresholds) < 0).all()


def test_extremes():
    right = np.array([True] * 6 + [False] * 4)
    assert area_under_risk_coverage(right, np.zeros(10)) == pytest.approx(0.4)
    best, worst = (area_under_risk_coverage(right, c) for c in (np.arange(10)[::-1], np.arange(10)))
    assert best < 0.4 < worst


@pytest.mark.parametrize(
    ("right", "confidence", "message"),
    [
        ([], [], "not empty"),
        ([True], [np.nan], "must not hold NaN"),
        ([True, False], [1.0], "inconsistent numbers"),
        ([2, 0], [1.0, 2.0], "True and False"),
        ([[True]], [[1.0]], "one-dimensional"),
    ],
)
def test_bad_input(right, confidence, message):
    with pytest.raises(ValueError, match=message):
        area_under_risk_coverage(right, confidence)
