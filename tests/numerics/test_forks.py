"""A process that forks while another thread predicts: neither it nor its child hangs, both predict the same bits."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import os, sys, threading
import numpy as np
from optiscore import KernelDiscriminantClassifier, ModeratedDiscriminantAnalysis, OptimisticScoreClassifier

rng = np.random.default_rng(0)
y = rng.integers(3, size=600)
X = rng.normal(size=(600, 40)) + 0.4 * y[:, None]
model = {
    "moderated": ModeratedDiscriminantAnalysis(feature_map=None),
    "kernel": KernelDiscriminantClassifier(["linear", "rbf-1"]),
    "optimistic": OptimisticScoreClassifier(decision_rule="minimax"),
}[sys.argv[1]].fit(X, y)
rows = np.tile(X, (20, 1))
expected, stop = model.predict_proba(rows), threading.Event()

def predict():
    while not stop.is_set():
        model.predict_proba(rows)

threads = [threading.Thread(target=predict) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(15):
    child = os.fork()
    if not child:
        os._exit(0 if np.array_equal(model.predict_proba(rows), expected) else 1)
    assert os.waitpid(child, 0)[1] == 0
assert np.array_equal(model.predict_proba(rows), expected)
stop.set()
for thread in threads:
    thread.join()
"""


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="there are no forks on this system")
@pytest.mark.parametrize("model", ["moderated", "kernel", "optimistic"])
def test_forking_while_another_thread_predicts(model):
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", SCRIPT, model]
    subprocess.run(command, check=True, timeout=100, cwd=Path(__file__).parent)
