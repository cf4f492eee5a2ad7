"""The package as a whole: what importing it brings."""

import subprocess
import sys


def test_import_brings_only_the_core_dependencies():
    """Nothing beyond what scikit-learn's own discriminant analysis brings, but for the package itself."""
    code = (
        "import sys, sklearn.discriminant_analysis; before = {m.partition('.')[0] for m in sys.modules};"
        "import optiscore; print(*{m.partition('.')[0] for m in sys.modules} - before - set(sys.stdlib_module_names))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["optiscore"]


def test_without_private_names_of_other_libraries():
    """What is imported from them by a private name has a fallback."""
    code = """
import dask.array as da
import dask.dataframe, distributed
import numpy as np
import sklearn.discriminant_analysis
import sklearn.utils._array_api as dispatch
convert = dispatch._convert_to_numpy
del dispatch._convert_to_numpy
import optiscore.numerics.arrays
from optiscore.dask import OptimisticScoreClassifier
dispatch._convert_to_numpy = convert
assert not optiscore.numerics.arrays.has_dispatch
X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
blocks = da.from_array(X, chunks=20), da.from_array(y, chunks=20)
model = OptimisticScoreClassifier().fit(*blocks)
assert (model.predict(blocks[0]).compute() == OptimisticScoreClassifier().fit(X, y).predict(X)).all()
"""
    subprocess.run([sys.executable, "-c", code], check=True)
