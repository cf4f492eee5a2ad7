"""All six scores against numbers of higher precision: a stored table, and the duals solved in 60 digits."""

import csv

import numpy as np
import oracle
import pytest
from kinds import KINDS, extreme

RADII = [0.0, 1e-12, 1e-8, 1e-3, 0.3, 5.0, 60.0, 1e3]
ALPHAS = [0.0, 1e-12, 1e-4, 0.7, 1.0, 1 + 1e-9, 3.0, 90.0, 1e6, 1e12]


def relative_error(actual, expected):
    """Relative, and absolute where the value is below 1."""
    return float(abs(oracle.mpf(float(actual)) - expected) / max(1, abs(expected)))


def assert_stored_values(path):
    """All values of a table within 1e-10."""
    with open(path, newline="", encoding="ascii") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) >= 600
    for row in rows:
        kind = row.get("likelihood") or row["score"], row["side"]
        value = extreme(kind, float(row["rho"]), int(row["d"])).value(np.array([float(row["alpha"])]))[0]
        assert relative_error(value, oracle.mpf(row["value"])) < 1e-10, row


def test_stored_values():
    assert_stored_values(oracle.STORED)


def test_stored_values_of_others(reference):
    """A table that was made independently of this package."""
    assert_stored_values(reference / "scores.csv")


def test_the_stored_values_are_those_of_the_oracle():
    with open(oracle.STORED, newline="", encoding="ascii") as lines:
        rows = list(csv.DictReader(lines))
    for row in rows[::37]:
        found = oracle.value(row["likelihood"], row["side"], row["d"], float(row["rho"]), float(row["alpha"]))
        assert abs(found - oracle.mpf(row["value"])) <= 1e-20 * max(1, abs(found)), row


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 2, 30, 2000])
def test_dual_in_sixty_digits(kind, d):
    for rho in RADII:
        values = extreme(kind, rho, d).value(np.array(ALPHAS))
        for alpha, value in zip(ALPHAS, values, strict=True):
            assert relative_error(value, oracle.value(*kind, d, rho, alpha)) < 1e-11, (rho, alpha)


@pytest.mark.parametrize("kind", KINDS)
def test_float32_is_the_rounded_double(kind):
    score = extreme(kind, 0.3, 4)
    alpha = np.array([0.0, 0.5, 7.0, 1e3, 1e12], dtype=np.float32)
    for single, double in zip(score.solve(alpha), score.solve(alpha.astype(np.float64)), strict=True):
        assert single.dtype == np.float32
        largest = np.finfo(np.float32).max
        np.testing.assert_array_equal(single, double.clip(-largest, largest).astype(np.float32))
