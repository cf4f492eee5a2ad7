"""The classifier on a real cluster of two processes, one of which is killed."""

import os
import signal
import threading
import time

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from blocks import assert_same_model, in_blocks, make_data, n_right
from command import posix_only
from dask.distributed import Client, LocalCluster

from optiscore import OptimisticScoreClassifier as InMemory
from optiscore.dask import OptimisticScoreClassifier


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with Client(cluster) as client:
        client.wait_for_workers(2)
        yield client


@pytest.mark.parametrize("rule", ["minimax", "tuned"])
def test_on_a_cluster_of_two_processes(client, rule):
    X, y = make_data(3, n=20_000)
    model = OptimisticScoreClassifier(decision_rule=rule).fit(*in_blocks(X, y, 1000))
    assert_same_model(model, InMemory(decision_rule=rule).fit(X, y))
    predicted = model.predict(in_blocks(X, y, 1000)[0])
    assert (predicted.compute() == model.predict(X)).all()
    pids = set(client.run(os.getpid).values())
    assert len(pids) == 2
    assert os.getpid() not in pids


@posix_only
@pytest.mark.parametrize("rule", ["minimax", "tuned"])
def test_a_worker_killed_in_the_middle_of_fit_changes_nothing(client, rule, tmp_path):
    X, y = make_data(n=6000)

    def slow(block):
        time.sleep(0.1)
        (tmp_path / f"{os.getpid()} {time.monotonic_ns()}").touch()
        return block

    lazy_X, lazy_y = in_blocks(X, y, 150)
    lazy_X = lazy_X.map_blocks(slow, dtype=float, meta=np.empty((0, 0)))
    victim = next(iter(client.run(os.getpid).values()))
    killed = threading.Event()

    def kill():
        while len(list(tmp_path.iterdir())) < 8:
            time.sleep(0.01)
        os.kill(victim, signal.SIGKILL)
        killed.set()

    killer = threading.Thread(target=kill)
    killer.start()
    model = OptimisticScoreClassifier(decision_rule=rule).fit(lazy_X, lazy_y)
    killer.join(timeout=60)
    assert killed.is_set()
    passes = 2 if rule == "tuned" else 1
    assert len(list(tmp_path.iterdir())) > 40 * passes, "nothing that the worker had made was missed"
    assert victim not in set(client.run(os.getpid).values())
    assert_same_model(model, InMemory(decision_rule=rule).fit(X, y))
    assert n_right(model, X, y) == n_right(InMemory(decision_rule=rule).fit(X, y), X, y)


def test_collections_that_are_persisted(client):
    X, y = make_data()
    lazy_X, lazy_y = client.persist(in_blocks(X, y))
    for rule in ("minimax", "tuned"):
        model = OptimisticScoreClassifier(decision_rule=rule).fit(lazy_X + 0, lazy_y)
        assert_same_model(model, InMemory(decision_rule=rule).fit(X, y))
    frame = client.persist(dd.from_pandas(pd.DataFrame(X, columns=list("abc")).assign(y=y), npartitions=3))
    model = OptimisticScoreClassifier(decision_rule="minimax").fit(frame[["a", "b", "c"]], frame["y"])
    assert_same_model(model, InMemory(decision_rule="minimax").fit(X, y))
