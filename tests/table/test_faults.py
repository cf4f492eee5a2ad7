"""Outputs that are inputs, streams that are closed, interruptions: a line each, and nothing is lost."""

import contextlib
import gzip
import itertools
import os
import shutil
import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from command import call, posix_only

from optiscore.table import streams, tables

COMMAND = [shutil.which("optiscore", path=Path(sys.executable).parent)]


def refused(*arguments):
    """The message of a command that must fail with one line."""
    code, _, err = call(*arguments)
    assert code == 1, (code, err)
    assert err.startswith("optiscore: ")
    assert err.count("\n") == 1
    return err


def test_outputs_that_are_inputs(folder, tmp_path):
    table, model = tmp_path / "t.csv", tmp_path / "m.skops"
    table.write_bytes((folder / "train.csv").read_bytes())
    model.write_bytes((folder / "model.skops").read_bytes())
    (tmp_path / "link.csv").symlink_to(table)
    os.link(table, tmp_path / "hard.csv")
    before = table.read_bytes(), model.read_bytes()
    for out in ("t.csv", "link.csv", "hard.csv"):
        assert "is the input" in refused("fit", table, "-t", "label", "-o", tmp_path / out)
        assert "is the input" in refused("predict", model, table, "-o", tmp_path / out)
        assert "is the input" in refused("report", model, table, "-o", tmp_path / out)
    assert "is the input" in refused("predict", model, table, "-o", model)
    assert "is the input" in refused("report", model, table, "-o", model)
    assert (table.read_bytes(), model.read_bytes()) == before


def test_outputs_that_exist_are_replaced(folder, tmp_path):
    (tmp_path / "p.csv").write_text("old")
    assert call("predict", folder / "model.skops", folder / "test.csv", "-o", tmp_path / "p.csv")[0] == 0
    assert (tmp_path / "p.csv").read_text().startswith('"predicted"')


def test_outputs_are_checked_before_any_work(folder, tmp_path):
    for command in (
        ("fit", tmp_path / "absent.csv", "-t", "label"),
        ("predict", tmp_path / "absent", folder / "test.csv"),
        ("report", tmp_path / "absent", folder / "test.csv"),
    ):
        assert "is a folder" in refused(*command, "-o", tmp_path)
        assert "there is no folder" in refused(*command, "-o", tmp_path / "new" / "x.csv")
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_not_there(folder, tmp_path):
    absent = tmp_path / "absent.csv"
    for command in (
        ("fit", absent, "-t", "label", "-o", tmp_path / "m"),
        ("predict", folder / "model.skops", absent, "-o", tmp_path / "p.csv"),
        ("evaluate", folder / "model.skops", absent),
        ("inspect", absent),
    ):
        assert refused(*command) == f"optiscore: no file '{absent}'.\n"


def test_a_flipped_byte_in_a_compressed_table(folder, tmp_path):
    content = bytearray(gzip.compress((folder / "test.csv").read_bytes()))
    for place in range(20, len(content) - 20, len(content) // 25):
        broken = bytearray(content)
        broken[place] ^= 0x55
        (tmp_path / "t.csv.gz").write_bytes(broken)
        code, _, err = call("predict", folder / "model.skops", tmp_path / "t.csv.gz", "-o", tmp_path / "p.csv")
        assert code == 1
        assert err.count("\n") == 1
    assert not (tmp_path / "p.csv").exists()


def test_columns_of_unusual_types(folder, tmp_path):
    frame = pd.read_csv(folder / "train.csv")
    table = pa.Table.from_pandas(frame, preserve_index=False)
    place = table.column_names.index("colour")
    views = table.set_column(place, "colour", pa.array(table["colour"].to_pylist(), pa.string_view()))
    with pa.ipc.new_file(str(tmp_path / "views.arrow"), views.schema) as writer:
        writer.write_table(views)
    assert call("fit", tmp_path / "views.arrow", "-t", "label", "-o", tmp_path / "m.skops", "-q")[0] == 0
    assert call("predict", tmp_path / "m.skops", tmp_path / "views.arrow", "-o", tmp_path / "p.csv")[0] == 0
    # Older versions of pyarrow do not write them to Parquet files.
    with contextlib.suppress(pa.ArrowNotImplementedError):
        pyarrow.parquet.write_table(views, tmp_path / "views.parquet")
        assert call("predict", tmp_path / "m.skops", tmp_path / "views.parquet", "-o", tmp_path / "p.csv")[0] == 0
    lists = table.set_column(place, "colour", pa.array([["a"]] * len(frame)))
    pyarrow.parquet.write_table(lists, tmp_path / "lists.parquet")
    assert "list" in refused("fit", tmp_path / "lists.parquet", "-t", "label", "-o", tmp_path / "m2.skops")
    assert "list" in refused("fit", tmp_path / "lists.parquet", "-t", "colour", "-o", tmp_path / "m2.skops")
    assert "list" in refused("predict", tmp_path / "m.skops", tmp_path / "lists.parquet", "-o", tmp_path / "p2.csv")


@posix_only
@pytest.mark.parametrize(
    ("streams", "message"),
    [("<&-", "standard input is closed"), (">&-", "standard output is closed")],
)
def test_closed_streams(folder, streams, message):
    table = "-" if streams == "<&-" else str(folder / "test.csv")
    command = " ".join([*COMMAND, "predict", str(folder / "model.skops"), table, streams])
    done = subprocess.run(command, shell=True, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_reader_that_has_seen_enough(folder, tmp_path):
    frame = pd.read_csv(folder / "test.csv")
    pd.concat([frame] * 500).to_csv(tmp_path / "long.csv", index=False)
    process = subprocess.Popen(
        [*COMMAND, "predict", str(folder / "model.skops"), str(tmp_path / "long.csv")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait() == 1
        assert process.stderr.read() == b""


def test_an_interruption_says_what_was_kept(folder, tmp_path):
    process = subprocess.Popen(
        [*COMMAND, "predict", str(folder / "model.skops"), "-", "-o", str(tmp_path / "p.csv")],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Whoever runs the tests in the background has interruptions ignored, and so would the command.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    # The file that will take the output's place is there once the command waits for the table.
    deadline = time.monotonic() + 60
    while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    # Its input stays open: an end of that would be another reason to stop.
    code, err = process.wait(timeout=60), process.stderr.read()
    process.stdin.close()
    process.stderr.close()
    assert code == 130, err
    assert "stopped; " in err
    assert "is not written" in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_members_of_a_table_model_that_cannot_be(folder, tmp_path):
    import skops.io

    from optiscore import load
    from optiscore.files.states import to_states

    plain = to_states(load(folder / "model.skops"))
    for name, value in (
        ("columns", [["length", "colour", 1, 1]]),
        ("columns", "length"),
        ("class_counts", [["yes"]]),
        ("confusion", [[1, 2]]),
        ("confusion", [[1, 2], [3, -4]]),
        ("tried", [["moderated", float("nan"), 0.5]]),
        ("kind", "unknown"),
        ("decimal", ";"),
        ("least_typical", 2.0),
        ("failed_peers", {"QDA": 3}),
        ("n_rows", -1),
        ("target", 3),
        ("peers", []),
        ("watch", None),
        ("watch", {"entries": [["length", "value", ""]]}),
    ):
        content = skops.io.dumps({"format": 2, "optiscore": "0", "model": {**plain, name: value}})
        (tmp_path / "m.skops").write_bytes(content)
        assert "is refused" in refused("predict", tmp_path / "m.skops", folder / "test.csv", "-o", tmp_path / "p.csv")


@pytest.mark.parametrize("kind", ["csv", "damaged", "parquet", "feather"])
def test_no_thread_of_arrow_keeps_a_stream(tmp_path, monkeypatch, kind):
    """One that still had a stream of Python's when the interpreter leaves would abort the process."""
    lent = []

    class Watched(streams.Lent):
        def __init__(self, stream):
            super().__init__(stream)
            lent.append(weakref.ref(self))

    monkeypatch.setattr(streams, "Lent", Watched)
    path = tmp_path / "table"
    frame = pd.DataFrame({"a": ["some text of some length"] * 400_000, "b": 1.5})
    writers = {"parquet": frame.to_parquet, "feather": frame.to_feather}
    writers.get(kind, lambda target: frame.to_csv(target, index=False))(path)
    if kind == "damaged":
        path.write_bytes(path.read_bytes()[:-200_000] + b"a,b,c\n" * 10_000)
    for n_blocks in (0, 1):
        is_refused = kind == "damaged" and not n_blocks
        expected = pytest.raises(ValueError, match="cannot be read") if is_refused else contextlib.nullcontext()
        with expected, contextlib.closing(tables.read_blocks(str(path))) as blocks:
            for _ in itertools.islice(blocks, n_blocks or None):
                pass
        assert [each() for each in lent] == [None] * len(lent)
    assert len(lent) == 2


def test_what_split_refuses_and_calls_its_tables(tmp_path):
    """Targets that `fit` would refuse; a table without a name."""
    rng = np.random.default_rng(0)
    pd.DataFrame({"x": rng.normal(size=100), "y": rng.normal(size=100)}).to_csv(tmp_path / "t.csv", index=False)
    assert "looks continuous" in refused("split", tmp_path / "t.csv", "-t", "y", "-o", tmp_path)
    content = pd.DataFrame({"x": range(100), "y": ["a", "b"] * 50}).to_csv(index=False).encode()
    subprocess.run(
        [*COMMAND, "split", "-", "-t", "y", "-o", str(tmp_path)], input=content, check=True, capture_output=True
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv", "table_test.csv", "table_train.csv"]
