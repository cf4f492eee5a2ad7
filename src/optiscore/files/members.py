"""Kinds of members of a loaded model, and how they are checked: shapes that agree, kinds and ranges of numbers.

A shape is written as the letters of its lengths: "K d" is one row per class and one column per feature, "K+1" one more.
A letter stands for one number throughout an object; the first member that has it tells which.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

Lengths = dict[str, int]

_TERM = re.compile(r"(?:(\d+)\*)?([A-Za-z]*)([+-]\d+)?|(\d+)")


class RefusedError(ValueError):
    """A member that cannot be; its name comes first in the message."""


@dataclass(frozen=True)
class Array:
    """An array of a shape, of some kinds of entries; numbers are finite and within a range."""

    shape: str
    kinds: str = "f"
    low: float = -np.inf
    high: float = np.inf
    may_be_nan: bool = False
    sums_to_one: bool = False
    is_increasing: bool = False
    fewest: int = 0

    def check(self, name: str, value: Any, lengths: Lengths) -> None:
        """Raise if it is no such array."""
        if not isinstance(value, np.ndarray) or value.dtype.kind not in self.kinds:
            raise RefusedError(f"{name} must be an array of {_WORDS.get(self.kinds, 'values')}")
        check_shape(name, value, self.shape, lengths)
        if len(value) < self.fewest:
            raise RefusedError(f"{name} must hold at least {self.fewest} entries")
        if value.dtype.kind == "f":
            known = value[~np.isnan(value)] if self.may_be_nan else value
            if known.size < min(value.size, 1) or not np.isfinite(known).all():
                raise RefusedError(f"{name} must hold finite numbers")
        if value.dtype.kind in "fiu":
            known = value[value == value]
            if known.size and not (known.min() >= self.low and known.max() <= self.high):
                raise RefusedError(f"{name} must lie between {self.low:g} and {self.high:g}")
        if self.sums_to_one and value.size and np.abs(value.sum(axis=-1) - 1).max() > 1e-6:
            raise RefusedError(f"{name} must sum to 1")
        if value.dtype.kind == "O" and not all(isinstance(each, _PLAIN) for each in value.tolist()):
            raise RefusedError(f"{name} must hold text or numbers")
        if self.is_increasing and not _is_increasing(value):
            raise RefusedError(f"{name} must hold distinct values in increasing order")


_PLAIN = (str, int, float, tuple, dict, type(None))
_WORDS = {"f": "numbers", "iu": "integers", "u": "integers", "UO": "text"}


def _is_increasing(value: np.ndarray) -> bool:
    try:
        return bool(np.all(value[1:] > value[:-1]))
    except TypeError:
        return False


def numbers(shape: str, low: float = -np.inf, high: float = np.inf, **options: Any) -> Array:
    """Return what numbers of a shape and within a range are."""
    return Array(shape, low=low, high=high, **options)


def texts(shape: str) -> Array:
    """Return what texts of a shape are."""
    return Array(shape, "UO")


#: Labels of the classes K, and columns of any kind, in which numbers may be missing.
LABELS = Array("K", "biufUO", is_increasing=True, fewest=2)


def cells(shape: str) -> Any:
    """Return what a column of any kind is, or a list in its place."""
    return Either(Array(shape, "biufUO", may_be_nan=True), Each(None, shape))


@dataclass(frozen=True)
class Either:
    """An array, or a list."""

    array: Array
    items: Any

    def check(self, name: str, value: Any, lengths: Lengths) -> None:
        """Raise if it is neither."""
        (self.items if isinstance(value, list) else self.array).check(name, value, lengths)


@dataclass(frozen=True)
class Number:
    """One number within a range; a whole one may tell a length."""

    low: float = -np.inf
    high: float = np.inf
    length: str = ""
    is_whole: bool = False
    may_be_none: bool = False

    def check(self, name: str, value: Any, lengths: Lengths) -> None:
        """Raise if it is no such number."""
        if value is None and self.may_be_none:
            return
        is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        if not is_number or not np.isfinite(value) or not self.low <= value <= self.high:
            raise RefusedError(f"{name} must be a number between {self.low:g} and {self.high:g}")
        if self.is_whole and not isinstance(value, int):
            raise RefusedError(f"{name} must be an integer")
        if self.length and lengths.setdefault(self.length, int(value)) != value:
            raise RefusedError(f"{name} must be {lengths[self.length]} to go with the others")


@dataclass(frozen=True)
class Word:
    """A text, one of several if these are listed; or what is of another simple type."""

    among: Sequence[str] = ()
    type: type = str

    def check(self, name: str, value: Any, lengths: Lengths) -> None:
        """Raise if it is another."""
        if not isinstance(value, self.type) or (self.among and value not in self.among):
            raise RefusedError(
                f"{name} must be {'one of ' + ', '.join(self.among) if self.among else 'of another type'}"
            )


@dataclass(frozen=True)
class Count:
    """One number of samples, or one per feature."""

    def check(self, name: str, value: Any, lengths: Lengths) -> None:
        """Raise if it is no such number."""
        counts = np.asarray(value)
        if counts.dtype.kind not in "fiu" or counts.shape not in ((), (lengths.get("d"),)):
            raise RefusedError(f"{name} must be a number, or one per feature")
        if not (np.isfinite(counts) & (counts >= 0)).all() or counts.max() < 1:
            raise RefusedError(f"{name} must be finite and >= 0, and not all 0")


@dataclass(frozen=True)
class Categories:
    """Distinct values of a column in any order, of which one may be missing."""

    def check(self, name: str, value: Any, lengths: Lengths) -> None:
        """Raise if there are no such values."""
        Array("n", "biufUO", may_be_nan=True, fewest=1).check(name, value, {})
        # A missing value is not equal to itself.
        known = [each for each in value.tolist() if each is not None and each == each]
        if len(value) - len(known) > 1 or len({repr((type(each), each)) for each in known}) < len(known):
            raise RefusedError(f"{name} must hold distinct values, and at most one that is missing")


@dataclass(frozen=True)
class Each:
    """A list or tuple of which every item is of one kind."""

    item: Any
    shape: str = ""

    def check(self, name: str, value: Any, lengths: Lengths) -> None:
        """Raise if it is no such list."""
        if not isinstance(value, (list, tuple)):
            raise RefusedError(f"{name} must be a list")
        if self.shape:
            check_length(name, len(value), self.shape, lengths)
        for i, item in enumerate(value if self.item is not None else ()):
            self.item.check(f"{name}[{i}]", item, dict(lengths))


@dataclass(frozen=True)
class Columns:
    """A table: a dict of columns of one length."""

    columns: Mapping[str, Any]
    others: Any = None

    def check(self, name: str, value: Any, lengths: Lengths) -> None:
        """Raise if it is no such table."""
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
            raise RefusedError(f"{name} must be a dict of columns")
        if missing := self.columns.keys() - value.keys():
            raise RefusedError(f"{name} has no column {min(missing)!r}")
        within = {key: length for key, length in lengths.items() if key != "rows"}
        for key, column in value.items():
            kind = self.columns.get(key, self.others)
            if kind is not None:
                kind.check(f"{name}[{key!r}]", column, within)


@dataclass(frozen=True)
class Members:
    """The members of a type: those that must be there, those that may be missing, and what they satisfy together."""

    required: Mapping[str, Any]
    optional: Mapping[str, Any] = field(default_factory=dict)
    together: Callable[[Any], None] | None = None

    def check(self, name: str, held: Mapping[str, Any]) -> None:
        """Raise by the name of the one that is wrong."""
        lengths: Lengths = {}
        for attribute, kind in self.required.items():
            if attribute not in held:
                raise RefusedError(f"{name}{attribute} is missing")
            kind.check(f"{name}{attribute}", held[attribute], lengths)
        for attribute, kind in self.optional.items():
            if held.get(attribute) is not None:
                kind.check(f"{name}{attribute}", held[attribute], lengths)
        if self.together is None:
            return
        try:
            self.together(SimpleNamespace(**held))
        except RefusedError as error:
            raise RefusedError(f"{name}{error}") from None
        # Members of members may be anything.
        except (AttributeError, TypeError, LookupError, ValueError) as error:
            raise RefusedError(f"{name or 'the model '}has members that do not go together: {error}") from error


def check_shape(name: str, value: np.ndarray, shape: str, lengths: Lengths) -> None:
    """Raise if an array is of another shape."""
    terms = shape.split()
    if value.ndim != len(terms):
        raise RefusedError(f"{name} must have {len(terms)} dimensions, got {value.ndim}")
    for length, term in zip(value.shape, terms, strict=True):
        check_length(name, length, term, lengths)


def check_length(name: str, length: int, term: str, lengths: Lengths) -> None:
    """Raise at a length that does not go with those before; the first with a letter tells its number."""
    match = _TERM.fullmatch(term)
    assert match is not None, term
    factor, letter, more, constant = match.groups()
    if constant is not None and not letter:
        expected = int(constant)
    else:
        times, plus = int(factor or 1), int(more or 0)
        expected = times * lengths.setdefault(letter, max(0, (length - plus) // times)) + plus
    if length != expected:
        raise RefusedError(f"{name} must be of length {expected} to go with the others, got {length}")


#: Members of estimators: the number of features d, and their names where there were any.
N_FEATURES = {"n_features_in_": Number(1, 1e9, length="d")}
NAMES = {"feature_names_in_": texts("d")}
