"""Kinds of members of a loaded model, and how they are checked: shapes that agree, kinds and ranges of numbers.

A shape is written as the letters of its lengths: "K d" is one row per class and one column per feature, "K+1" one more.
A letter stands for one number throughout an object; the first member that has it tells which.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

Lengths = dict[str, int]

_TERM = re.compile(r"(?:(\d+)\*)?([A-Za-z]*)([+-]\d+)?|(\d+)")


class RefusedError(ValueError):
    """A member that cannot be; its name comes first in the message."""


@dataclass(frozen=True)
class Numbers:
    """An array of numbers of a shape, finite and within a range."""

    shape: str
    low: float = -np.inf
    high: float = np.inf
    kinds: str = "f"
    may_be_nan: bool = False
    sums_to_one: bool = False

    def check(self, name: str, value: Any, lengths: Lengths) -> None:
        """Refuse what is no such array."""
        if not isinstance(value, np.ndarray) or value.dtype.kind not in self.kinds:
            raise RefusedError(f"{name} must be an array of {'integers' if self.kinds == 'iu' else 'numbers'}")
        check_shape(name, value, self.shape, lengths)
        known = value[~np.isnan(value)] if self.may_be_nan else value
        if known.size < min(value.size, 1) or not np.isfinite(known).all():
            raise RefusedError(f"{name} must hold finite numbers")
        if known.size and not (known.min() >= self.low and known.max() <= self.high):
            raise RefusedError(f"{name} must lie between {self.low:g} and {self.high:g}")
        if self.sums_to_one and value.size and np.abs(value.sum(axis=-1) - 1).max() > 1e-6:
            raise RefusedError(f"{name} must sum to 1")


@dataclass(frozen=True)
class Number:
    """One number within a range."""

    low: float = -np.inf
    high: float = np.inf
    length: str = ""

    def check(self, name: str, value: Any, lengths: Lengths) -> None:
        """Refuse what is no such number; it may tell a length."""
        is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        if not is_number or not np.isfinite(value) or not self.low <= value <= self.high:
            raise RefusedError(f"{name} must be a number between {self.low:g} and {self.high:g}")
        if self.length and lengths.setdefault(self.length, int(value)) != value:
            raise RefusedError(f"{name} must be {lengths[self.length]} to go with the others")


@dataclass(frozen=True)
class Count:
    """One number of samples, or one per feature."""

    def check(self, name: str, value: Any, lengths: Lengths) -> None:
        """Refuse what is no such number."""
        counts = np.asarray(value)
        if counts.dtype.kind not in "fiu" or counts.shape not in ((), (lengths.get("d"),)):
            raise RefusedError(f"{name} must be a number, or one per feature")
        if not (np.isfinite(counts) & (counts >= 0)).all() or counts.max() < 1:
            raise RefusedError(f"{name} must be finite and >= 0, and not all 0")


@dataclass(frozen=True)
class Type:
    """The type of an array."""

    kinds: str

    def check(self, name: str, value: Any, lengths: Lengths) -> None:
        """Refuse another type."""
        if not isinstance(value, np.dtype) or value.kind not in self.kinds:
            raise RefusedError(f"{name} must be a type of numbers or text")


@dataclass(frozen=True)
class Labels:
    """Distinct labels in increasing order."""

    shape: str = "K"
    fewest: int = 2

    def check(self, name: str, value: Any, lengths: Lengths) -> None:
        """Refuse what are no labels."""
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "biufUO":
            raise RefusedError(f"{name} must be an array of labels")
        check_shape(name, value, self.shape, lengths)
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            raise RefusedError(f"{name} must be finite")
        if value.dtype.kind == "O" and not all(isinstance(label, (str, int, float)) for label in value.tolist()):
            raise RefusedError(f"{name} must hold text or numbers")
        try:
            is_sorted = bool(np.all(value[1:] > value[:-1]))
        except TypeError:
            is_sorted = False
        if len(value) < self.fewest or not is_sorted:
            raise RefusedError(f"{name} must hold at least {self.fewest} labels, distinct and in increasing order")


@dataclass(frozen=True)
class Categories:
    """Distinct values of a column in any order, of which one may be missing."""

    def check(self, name: str, value: Any, lengths: Lengths) -> None:
        """Refuse what are no categories."""
        if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind not in "biufUO" or not len(value):
            raise RefusedError(f"{name} must be an array of values")
        # A missing value is not equal to itself.
        known = [each for each in value.tolist() if each is not None and each == each]
        if len(value) - len(known) > 1 or len({repr((type(each), each)) for each in known}) < len(known):
            raise RefusedError(f"{name} must hold distinct values, and at most one that is missing")
        if value.dtype.kind == "f" and np.isinf(value).any():
            raise RefusedError(f"{name} must not be infinite")


@dataclass(frozen=True)
class Texts:
    """An array of text."""

    shape: str

    def check(self, name: str, value: Any, lengths: Lengths) -> None:
        """Refuse what is no text."""
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "UO":
            raise RefusedError(f"{name} must be an array of text")
        check_shape(name, value, self.shape, lengths)
        if value.dtype.kind == "O" and not all(isinstance(text, str) for text in value.tolist()):
            raise RefusedError(f"{name} must hold text only")


@dataclass(frozen=True)
class Cells:
    """A column of any kind, or a list; numbers may be missing, but not infinite."""

    shape: str

    def check(self, name: str, value: Any, lengths: Lengths) -> None:
        """Refuse what is no such column."""
        if isinstance(value, list):
            check_length(name, len(value), self.shape, lengths)
            return
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "biufUO":
            raise RefusedError(f"{name} must be an array")
        check_shape(name, value, self.shape, lengths)
        if value.dtype.kind == "f" and (np.isinf(value).any() or (value.size and np.isnan(value).all())):
            raise RefusedError(f"{name} must not be infinite, nor all missing")


@dataclass(frozen=True)
class Each:
    """A list or tuple of which every item is of one kind."""

    item: Any
    shape: str = ""

    def check(self, name: str, value: Any, lengths: Lengths) -> None:
        """Refuse what is no such list."""
        if not isinstance(value, (list, tuple)):
            raise RefusedError(f"{name} must be a list")
        if self.shape:
            check_length(name, len(value), self.shape, lengths)
        for i, item in enumerate(value):
            self.item.check(f"{name}[{i}]", item, dict(lengths))


@dataclass(frozen=True)
class Columns:
    """A table: a dict of columns of one length."""

    columns: Mapping[str, Any]
    others: Any = None

    def check(self, name: str, value: Any, lengths: Lengths) -> None:
        """Refuse what is no such table."""
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
        """Refuse members by the name of the one that is wrong."""
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
    """Refuse an array of another shape."""
    terms = shape.split()
    if value.ndim != len(terms):
        raise RefusedError(f"{name} must have {len(terms)} dimensions, got {value.ndim}")
    for length, term in zip(value.shape, terms, strict=True):
        check_length(name, length, term, lengths)


def check_length(name: str, length: int, term: str, lengths: Lengths) -> None:
    """Refuse a length that does not go with those before; the first with a letter tells its number."""
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
