"""scikit-learn's own checks of estimators, without those for array libraries that are not installed."""

from importlib.util import find_spec

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from optiscore import KernelDiscriminantClassifier, KernelDiscriminantMap

_DEVICES = (None, "cpu", "CPU_DEVICE", "device1")


def scikit_learn_checks(*estimators):
    """Decorator: the test, called with ``estimator`` and ``check``, once for every check."""
    pairs = [
        pair
        for estimator in estimators
        for pair in estimator_checks_generator(
            estimator, expected_failed_checks=_expected_failures(estimator), mark="xfail"
        )
        if _can_run(pair)
    ]
    return pytest.mark.parametrize(("estimator", "check"), pairs, ids=_name)


def _expected_failures(estimator):
    together = "copies of a row are left out together where they are weights, and one by one where they are repeated"
    weights = {"check_sample_weight_equivalence_on_dense_data": together}
    if isinstance(estimator, KernelDiscriminantClassifier):
        return weights
    if isinstance(estimator, KernelDiscriminantMap):
        reason = "both ask for fit_transform = fit().transform(); ours leaves each row out, as TargetEncoder's folds do"
        return weights | dict.fromkeys(("check_transformer_general", "check_transformer_data_not_an_array"), reason)
    if not hasattr(estimator, "partial_fit"):
        return {}
    return {"check_fit_score_takes_y": "it calls partial_fit after fit, which keeps no sums and says so"}


def _can_run(pair):
    return all(
        library is None or (find_spec(library.partition(".")[0]) is not None and device in _DEVICES)
        for library, device in _libraries_and_devices(getattr(_check_of(pair), "keywords", None) or {})
    )


def _libraries_and_devices(keywords):
    """What a check of array libraries needs, as the versions of scikit-learn spell it."""
    yield keywords.get("array_namespace"), keywords.get("device_name", keywords.get("device"))
    for name in ("X_ns_and_device", "other_ns_and_device"):
        if name in keywords:
            yield keywords[name].xp, keywords[name].device


def _check_of(pair):
    return (pair.values if hasattr(pair, "values") else pair)[1]


def _name(value):
    if not hasattr(value, "func"):
        return str(value).replace("\n", "").replace(" ", "")
    keywords = ",".join(f"{key}={part}" for key, part in value.keywords.items())
    return f"{value.func.__name__}({keywords})" if keywords else value.func.__name__
