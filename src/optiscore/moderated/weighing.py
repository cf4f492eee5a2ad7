"""How much each of two Gaussian models says, and how sharply, by the log loss of training samples that are left out.

Densities of classes that are not Gaussian say more than they know: of their logarithms a part s counts, the sharpness,
so that posteriors are proportional to priors times densities to the power s. For a sequence of s, the weights of the
models are those of the least left-out log loss of their mean; the first s beyond which it grows is taken, if all
samples together gain by more than chance.
"""

from collections.abc import Sequence

import numpy as np

from ..numerics.root_finding import find_root
from ..numerics.types import FloatArray
from .models import GaussianModel

# Sharpnesses that are tried.
_SHARPNESSES = (1.0, 0.8, 0.65, 0.5, 0.4, 0.3, 0.2, 0.1)

# A left-out sample does not count for more than this probability of its class.
_LEAST_PROBABILITY = 1e-6

# So many samples to which the models give the same weight.
_PSEUDO_ROWS = 2.0

# The gain in the sum of log losses, a log likelihood ratio, that chance has in about one case of seventy.
_CHANCE = 3.0

# Weights lie this far from 0 and 1 at least.
_END = 1e-3


def weigh_models(
    models: Sequence[GaussianModel],
    Z: FloatArray,
    codes: np.ndarray,
    weights: FloatArray,
    mass: FloatArray | float = 1.0,
) -> tuple[FloatArray, float]:
    """Return weights of one or two models, and the sharpness.

    Samples Z of classes ``codes`` stand for so many each, ``weights``, and are left out by a mass. Whatever the priors
    of the models, classes have here the probabilities that they have among the training samples.
    """
    rows, log_fractions = np.arange(len(codes)), np.log(models[0].class_count / models[0].class_count.sum())
    left_out = []
    for model in models:
        alpha, joint = model.leave_out(model.distances(Z), codes, mass)
        left_out.append((model, alpha, joint - model.log_priors[:, None]))
    tried = list[tuple[FloatArray, float, float]]()
    for s in _SHARPNESSES:
        found = []
        for model, alpha, log_density in left_out:
            log_joint, tempered = log_fractions[:, None] + s * log_density, model.with_sharpness(s)
            found.append(np.exp(tempered.moderated_log_proba(alpha, log_joint)[codes, rows]))
        p = np.maximum(found, _LEAST_PROBABILITY)
        shares = _least_loss_weights(p, weights)
        tried.append((shares, s, -float(weights @ np.log(shares @ p))))
        if len(tried) > 1 and tried[-1][2] >= tried[-2][2]:
            break
    shares, s, loss = min(tried, key=lambda each: each[2])
    return (shares, s) if tried[0][2] - loss > _CHANCE else tried[0][:2]


def _least_loss_weights(p: FloatArray, weights: FloatArray) -> FloatArray:
    """Return weights of the mean of probabilities (n_models, n_samples) with the least log loss, shrunk to equal ones.

    With w that of the first of two models, the sum over the samples of log(w p_1 + (1 - w) p_2), plus so many times
    log w + log(1 - w), is concave in w.
    """
    if len(p) == 1:
        return np.ones(1)
    apart = p[0] - p[1]

    def slope(w: FloatArray) -> tuple[FloatArray, FloatArray]:
        share = apart / (p[1] + w[0] * apart)
        value = _PSEUDO_ROWS * (1 / (1 - w) - 1 / w) - weights @ share
        return value, _PSEUDO_ROWS * (1 / (1 - w) ** 2 + 1 / w**2) + weights @ share**2

    low, high = np.array([_END]), np.array([1 - _END])
    if slope(low)[0][0] >= 0 or slope(high)[0][0] <= 0:
        w = _END if slope(low)[0][0] >= 0 else 1 - _END
    else:
        w = float(find_root(slope, low, high, step_tolerance=1e-6).root[0])
    return np.array([w, 1 - w])
