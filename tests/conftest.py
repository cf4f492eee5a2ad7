"""Seeded hypothesis runs, threads of the workers, and folders of reference values and data sets where there are any."""

import os
from pathlib import Path

# Lets scikit-learn dispatch to other array libraries; SciPy reads it when it is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# Workers that share the processors would slow each other down if each started a thread per processor.
if "PYTEST_XDIST_WORKER" in os.environ:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")

import pytest
from command import call, mixed_frame
from hypothesis import HealthCheck, settings

settings.register_profile(
    "seeded", derandomize=True, deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("seeded")


@pytest.fixture(scope="session")
def reference() -> Path:
    """The folder with scores.csv and table1.csv."""
    folder = os.environ.get("OPTISCORE_REFERENCE")
    if not folder:
        pytest.skip("the environment variable OPTISCORE_REFERENCE names no folder with further reference values")
    return Path(folder)


@pytest.fixture(scope="session")
def published() -> Path:
    """The folder with the paper's data sets."""
    folder = os.environ.get("OPTISCORE_DATA")
    if not folder:
        pytest.skip("the environment variable OPTISCORE_DATA names no folder with all of the paper's data sets")
    return Path(folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables and models: the default, and one of each kind."""
    folder = tmp_path_factory.mktemp("cli")
    mixed_frame(300).to_csv(folder / "train.csv", index=False)
    mixed_frame(120, seed=1).to_csv(folder / "test.csv", index=False)
    for name in ("model", "moderated", "optimistic"):
        kind = "auto" if name == "model" else name
        out = folder / f"{name}.skops"
        code, _, err = call("fit", folder / "train.csv", "--target", "label", "-o", out, "-q", "--model", kind)
        assert code == 0, err
    return folder
