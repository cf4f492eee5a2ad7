"""The command in this process, and a table with columns of every kind."""

import contextlib
import io
import os
import sys

import numpy as np
import pandas as pd
import pytest

from optiscore.table.app import run

posix_only = pytest.mark.skipif(os.name != "posix", reason="signals, named pipes and the shell are POSIX's")


def call(*arguments):
    """The command in this process: exit code, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    before = sys.argv
    sys.argv = ["optiscore", *map(str, arguments)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                run()
                code = 0
            except SystemExit as leave:
                code = leave.code or 0
    finally:
        sys.argv = before
    return code, out.getvalue(), err.getvalue()


def mixed_frame(n=200, seed=0):
    """Columns of every kind, with missing cells."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    frame = pd.DataFrame(
        {
            "length": rng.normal(size=n) + y,
            "count": rng.integers(0, 9, size=n) + 2 * y,
            "colour": np.where(rng.random(n) < 0.3 + 0.4 * y, "red", "blue"),
            "member": rng.random(n) < 0.5,
            "since": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, size=n), unit="D"),
            "street": [f"street {i}" for i in rng.integers(0, 60, size=n)],
            "same": 1,
        }
    )
    frame.loc[::7, "length"] = np.nan
    frame.loc[::11, "colour"] = None
    return frame.assign(label=np.where(y == 1, "yes", "no"))
