"""Cells as text: equal ones are equal, however they came."""

import numpy as np
import pandas as pd
import pytest

from optiscore.table.texts import MISSING_TEXT, as_text


@pytest.mark.parametrize(
    ("cells", "texts"),
    [
        (["a", "", None, np.nan], ["a", MISSING_TEXT, MISSING_TEXT, MISSING_TEXT]),
        ([True, False, np.bool_(True)], ["true", "false", "true"]),
        (["True", "false", "007", "1.0"], ["true", "false", "007", "1.0"]),
        ([1, 2.0, np.float32(3), np.int8(4), 0.5], ["1", "2", "3", "4", "0.5"]),
        ([np.inf, 2.0**60], ["inf", str(2.0**60)]),
        (pd.array(["x", pd.NA], dtype="string"), ["x", MISSING_TEXT]),
        (pd.array([1, pd.NA], dtype="Int64"), ["1", MISSING_TEXT]),
        (pd.array([True, pd.NA], dtype="boolean"), ["true", MISSING_TEXT]),
        (pd.Categorical(["u", None]), ["u", MISSING_TEXT]),
        ([pd.NaT, pd.Timestamp("2020-01-31")], [MISSING_TEXT, "2020-01-31 00:00:00"]),
    ],
)
def test_cells(cells, texts):
    found = as_text(pd.DataFrame({"c": cells}))
    assert found.shape == (len(texts), 1)
    assert found[:, 0].tolist() == texts
    np.testing.assert_array_equal(as_text(found), found)


def test_several_columns_and_no_rows():
    frame = pd.DataFrame({"a": ["x", "y"], "b": [True, False], "c": [1.0, np.nan]})
    assert as_text(frame).tolist() == [["x", "true", "1"], ["y", "false", MISSING_TEXT]]
    assert as_text(frame[:0]).shape == (0, 3)
