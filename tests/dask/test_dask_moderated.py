"""Moderated discriminant analysis on Dask: the model of memory, lazy methods, and what is refused."""

import dask.array as da
import numpy as np
import pytest
from blocks import in_blocks, make_data

from optiscore import ModeratedDiscriminantAnalysis as InMemory
from optiscore import PowerMap, load, save
from optiscore.dask import ModeratedDiscriminantAnalysis

VECTORS = ("predict", "stability", "typicality", "score_samples")
TABLES = ("predict_proba", "predict_log_proba", "nominal_proba")


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("mapped", [False, True])
def test_the_same_as_in_memory(n_classes, weighted, mapped, tmp_path):
    X, y = make_data(n_classes, n=1500)
    weight = np.random.default_rng(0).uniform(0, 2, len(y)) if weighted else None
    lazy = None if weight is None else da.from_array(weight, chunks=700)
    feature_map = PowerMap().fit(X[:200]) if mapped else None
    blocks, labels = in_blocks(X, y)
    model = ModeratedDiscriminantAnalysis(feature_map=feature_map).fit(blocks, labels, lazy)
    # The same blocks in memory: fit would train the map anew.
    expected = InMemory(feature_map=feature_map).partial_fit(X, y, np.unique(y), weight)
    for name in VECTORS + TABLES:
        found = getattr(model, name)(blocks)
        assert isinstance(found, da.Array)
        np.testing.assert_allclose(found.compute(), getattr(expected, name)(X), rtol=1e-8, atol=1e-8, err_msg=name)
    for name in ("predict_proba_interval", "likelihood_ratio"):
        for lazy_part, part in zip(getattr(model, name)(blocks), getattr(expected, name)(X), strict=True):
            np.testing.assert_allclose(lazy_part.compute(), part, rtol=1e-7, atol=1e-8, err_msg=name)
    sets = model.predict_set(blocks, utility="u80").compute()
    np.testing.assert_array_equal(sets, expected.predict_set(X, utility="u80"))
    wide = model.predict_proba_interval(blocks, confidence_level=0.99)[0].compute()
    np.testing.assert_allclose(wide, expected.predict_proba_interval(X, 0.99)[0], rtol=1e-7, atol=1e-8)
    assert model.score(blocks, labels, lazy) == pytest.approx(expected.score(X, y, weight))
    save(model, tmp_path / "model.skops")
    assert (load(tmp_path / "model.skops").predict(X) == expected.predict(X)).all()


def test_what_needs_all_samples_is_refused():
    blocks = in_blocks(*make_data())
    with pytest.raises(ValueError, match="'power' needs all samples at once"):
        ModeratedDiscriminantAnalysis().fit(*blocks)
    with pytest.raises(ValueError, match="in memory"):
        ModeratedDiscriminantAnalysis(feature_map=None).partial_fit(*blocks)
