"""Tables, model files and command lines at random: no traceback, no file that is half written, one line per fault."""

import contextlib
import io

import numpy as np
import pytest
from command import call, mixed_frame
from kinds import blobs
from mutations import KINDS_OF_FILES, arrays_of, mutations, rewrite

from optiscore import load, save

pytestmark = pytest.mark.slow


class Tally:
    """What the runs of a fuzzer came to."""

    def __init__(self):
        self.runs = self.refused = self.tracebacks = self.partial_files = 0

    def command(self, folder, *arguments):
        """Run the command; anything but an exit code is a traceback, anything left behind a partial file."""
        self.runs += 1
        before = {path.name for path in folder.iterdir()}
        code, err = None, ""
        with contextlib.suppress(Exception):
            code, _, err = call(*arguments)
        self.refused += code not in (0, None)
        self.tracebacks += code is None or "Traceback" in err
        left = {path.name for path in folder.iterdir()} - before
        self.partial_files += sum(name.startswith(".") for name in left) + bool(code and left)
        return code

    def report(self, what):
        """Print the counts and demand that none is a fault."""
        print(
            f"\n{what}: {self.runs} runs, {self.refused} refused, {self.tracebacks} tracebacks, "
            f"{self.partial_files} partial files"
        )
        assert self.tracebacks == 0
        assert self.partial_files == 0


def scrambled(content, rng):
    """Text with some bytes changed, dropped, repeated, or exchanged for what tables trip over."""
    data = bytearray(content)
    words = [b"", b",", b'"', b"\n", b"\r", b"\t", b"\x00", b"\xff", b"NaN", b"inf", b"1e999", b";", b"\xef\xbb\xbf"]
    for _ in range(rng.integers(1, 6)):
        place, length = rng.integers(0, len(data)), rng.integers(0, 40)
        kind = rng.integers(4)
        if kind == 0:
            data[place : place + length] = words[rng.integers(len(words))]
        elif kind == 1:
            data[place:place] = data[place : place + 10 * length]
        elif kind == 2:
            data[place] = rng.integers(256)
        else:
            del data[place + 1000 * length : place + 1000 * length + 200]
        if not data:
            break
    return bytes(data)


def test_tables(tmp_path):
    """300 damaged tables in three formats, through fit and predict."""
    rng, tally = np.random.default_rng(0), Tally()
    frame = mixed_frame(60)
    whole = {"t.csv": frame.to_csv(index=False).encode()}
    for name, write in (("t.parquet", frame.to_parquet), ("t.feather", frame.to_feather)):
        buffer = io.BytesIO()
        write(buffer)
        whole[name] = buffer.getvalue()
    (tmp_path / "good.csv").write_bytes(whole["t.csv"])
    assert call("fit", tmp_path / "good.csv", "-t", "label", "-o", tmp_path / "m.skops", "-q")[0] == 0
    for i in range(300):
        name = ("t.csv", "t.csv", "t.parquet", "t.feather")[i % 4]
        (tmp_path / name).write_bytes(scrambled(whole[name], rng))
        if i % 2:
            tally.command(tmp_path, "fit", tmp_path / name, "-t", "label", "-o", tmp_path / "new", "-q")
        else:
            tally.command(tmp_path, "predict", tmp_path / "m.skops", tmp_path / name, "-o", tmp_path / "new.csv", "-q")
        for path in tmp_path.glob("new*"):
            path.unlink()
    tally.report("tables")


def same_arrays(a, b):
    """Whether two models hold the same: then what was replaced is read by nobody."""
    save(a[0], a[1])
    save(b[0], b[1])
    first, second = (list(arrays_of(path.read_bytes()).values()) for path in (a[1], b[1]))
    return len(first) == len(second) and all(
        np.array_equal(one, other, equal_nan=one.dtype.kind == "f") for one, other in zip(first, second, strict=True)
    )


def refusal_of(path, name):
    """The message with which a model file is refused."""
    try:
        load(path)
    except ValueError as error:
        return str(error)
    return pytest.fail(f"{name} was read")


@pytest.mark.parametrize("kind", KINDS_OF_FILES)
def test_model_files_with_an_array_replaced(tmp_path, kind):
    """Every array in every way: NaN, infinity, other lengths, dimensions and types, absurd sizes."""
    X, y = blobs(3)
    path, n_runs = tmp_path / "model.skops", 0
    save(KINDS_OF_FILES[kind](X[::2, :3], y[::2]), path)
    content = path.read_bytes()
    for name, mutated in mutations(content):
        path.write_bytes(mutated)
        n_runs += 1
        assert "\n" not in refusal_of(path, name)
    print(f"\nmodel files, {kind}: {n_runs} mutations, all refused")


def test_model_files_of_tables(tmp_path):
    """The same for what the command saves, encoders and other methods included, and bytes changed at random."""
    tally, rng = Tally(), np.random.default_rng(0)
    mixed_frame(150).to_csv(tmp_path / "t.csv", index=False)
    assert call("fit", tmp_path / "t.csv", "-t", "label", "-o", tmp_path / "good.skops", "-q")[0] == 0
    content, n_without_effect = (tmp_path / "good.skops").read_bytes(), 0
    for _, mutated in mutations(content):
        (tmp_path / "m.skops").write_bytes(mutated)
        if tally.command(tmp_path, "predict", tmp_path / "m.skops", tmp_path / "t.csv", "-o", tmp_path / "p.csv") == 0:
            n_without_effect += 1
            (tmp_path / "p.csv").unlink()
            pair = ((load(tmp_path / name), tmp_path / f"{name}.again") for name in ("m.skops", "good.skops"))
            assert same_arrays(*pair)
            for path in tmp_path.glob("*.again"):
                path.unlink()
    for _ in range(100):
        broken = bytearray(content)
        for _ in range(rng.integers(1, 4)):
            broken[rng.integers(len(broken))] = rng.integers(256)
        (tmp_path / "m.skops").write_bytes(broken)
        tally.command(tmp_path, "predict", tmp_path / "m.skops", tmp_path / "t.csv", "-o", tmp_path / "p.csv", "-q")
        (tmp_path / "p.csv").unlink(missing_ok=True)
    assert tally.runs > 1_000
    print(f"\n{n_without_effect} replaced arrays that nobody reads")
    tally.report("model files")


def test_compressed_model_files(tmp_path):
    X, y = blobs(2)
    for kind, make in KINDS_OF_FILES.items():
        save(make(X, y), tmp_path / "model.skops")
        content = (tmp_path / "model.skops").read_bytes()
        (tmp_path / "model.skops").write_bytes(rewrite(content, {}, 8))
        assert "is compressed" in refusal_of(tmp_path / "model.skops", kind)


def test_command_lines(tmp_path):
    """Words of the command in any order, with files that are there and files that are not."""
    rng, tally = np.random.default_rng(0), Tally()
    mixed_frame(60).to_csv(tmp_path / "t.csv", index=False)
    assert call("fit", tmp_path / "t.csv", "-t", "label", "-o", tmp_path / "m.skops", "-q")[0] == 0
    words = ["fit", "predict", "evaluate", "report", "inspect", "--target", "-t", "label", "-o", "--out", "--json"]
    words += ["--rule", "tuned", "minimax", "--radius", "empirical", "-1", "nan", "--cv", "--seed", "--abstain-below"]
    words += ["", "-q", "--model", "optimistic", "moderated", "--drop", "--id", "--keep", "--interval", "0.9", "--use"]
    words += [str(tmp_path / name) for name in ("t.csv", "m.skops", "absent.csv", "new.csv", "new.skops", "no/new.csv")]
    words += [str(tmp_path), "--help", "--version", "ä", "%s", "length"]
    for _ in range(300):
        chosen = rng.choice(words, size=rng.integers(1, 8)).tolist()
        tally.command(tmp_path, chosen[0] if rng.random() < 0.3 else rng.choice(words[:5]), *chosen[1:])
        for path in tmp_path.glob("new*"):
            path.unlink()
        mixed_frame(60).to_csv(tmp_path / "t.csv", index=False)
    tally.report("command lines")
