"""Model files that were written once are opened for ever, and answer as they did."""

import numpy as np
import pytest
from sklearn import __version__ as sklearn_version
from stored_models import FOLDER, MODELS, TABLES, question_to

from optiscore import load

FILES = sorted(path.stem for path in FOLDER.glob("*.skops"))

#: scikit-learn's own steps are stored as it has them, and read by the version that wrote them or later ones.
_OF_SCIKIT_LEARN = ("pipeline", *(f"{kind} table" for kind in TABLES))
_WRITTEN_BY = (1, 9)


def test_there_is_a_file_of_every_kind():
    assert set(FILES) >= {*MODELS, *(f"{kind} table" for kind in TABLES)}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.parametrize("name", FILES)
def test_a_file_of_an_earlier_version_answers_as_it_did(name):
    if name in _OF_SCIKIT_LEARN and tuple(map(int, sklearn_version.split(".")[:2])) < _WRITTEN_BY:
        pytest.skip(f"it holds steps of scikit-learn {'.'.join(map(str, _WRITTEN_BY))}, and this is {sklearn_version}")
    with np.load(FOLDER / "answers.npz") as stored:
        expected = stored[name]
    found = question_to(load(FOLDER / f"{name}.skops"), name.removesuffix(" table") if name not in MODELS else name)
    np.testing.assert_allclose(found, expected, rtol=1e-5 if expected.dtype == np.float32 else 1e-9, atol=1e-9)
