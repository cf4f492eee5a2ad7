"""One run at a time in a folder: who holds it is said, and what a dead process left is taken over."""

import os
import re
import subprocess
import sys

import pytest

from reproduction.__main__ import main
from reproduction.locks import BusyError, exclusive

HOLD = """
import pathlib, sys
from reproduction.__main__ import main
from reproduction.locks import exclusive
with exclusive(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds a folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "out" / "quick")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_the_second_run_says_who_is_there_and_stops(tmp_path, holder, capsys):
    with (
        pytest.raises(BusyError, match=rf"since 20\d\d-.* as process {holder.pid}: wait for it"),
        exclusive(tmp_path / "out" / "quick"),
    ):
        pytest.fail("two processes hold the folder")
    assert main(["figure2", "--quick", "--jobs", "1", "--out", str(tmp_path / "out")]) == 75
    assert re.fullmatch(r"reproduction: another run is at work in .* as process \d+: .*\n", capsys.readouterr().err)


def test_a_lock_of_a_dead_process_is_taken_over(tmp_path, holder):
    holder.kill()
    holder.wait()
    with exclusive(tmp_path / "out" / "quick"):
        assert str(os.getpid()) in (tmp_path / "out" / "quick" / ".lock").read_text()


def test_after_a_run_the_next_one_can_start(tmp_path):
    for _ in range(2):
        with exclusive(tmp_path):
            pass
