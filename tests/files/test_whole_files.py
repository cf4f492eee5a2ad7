"""Files that are there as a whole or not at all: one, and several together."""

import contextlib
import os

import pytest

from optiscore.files.whole_files import all_or_none, write_atomically


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def write(folder, *texts):
    """Two files together."""
    with all_or_none(folder / "a", folder / "b") as made:
        for path, text in zip(made, texts, strict=True):
            path.write_text(text)


def test_several_files(tmp_path):
    write(tmp_path, "1", "2")
    assert contents(tmp_path) == {"a": "1", "b": "2"}
    write(tmp_path, "3", "4")
    assert contents(tmp_path) == {"a": "3", "b": "4"}


@pytest.mark.parametrize("before", [{}, {"a": "old"}, {"a": "old", "b": "old, too"}])
def test_none_is_there_if_one_cannot_be(tmp_path, monkeypatch, before):
    """The second file cannot take its place: the first one gives way to what was there."""
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    replace = os.replace

    def full(source, target):
        if os.path.basename(target) == "b" and os.path.basename(source) == "b":
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write(tmp_path, "new", "new")
    assert contents(tmp_path) == before


def test_an_error_on_the_way_leaves_nothing(tmp_path):
    with contextlib.suppress(ZeroDivisionError), all_or_none(tmp_path / "a", tmp_path / "b") as made:
        made[0].write_text("half")
        raise ZeroDivisionError
    assert contents(tmp_path) == {}


def test_one_file(tmp_path):
    write_atomically(tmp_path / "a", b"1")
    assert contents(tmp_path) == {"a": "1"}
    with pytest.raises(ValueError, match="there is no folder"):
        write_atomically(tmp_path / "new" / "a", b"1")
