"""The report: one page that needs nothing else, with all tables and figures."""

import base64
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from jinja2 import Environment

from .experiment import Compared, Experiment, Summary


class Section(NamedTuple):
    """An experiment with what came out of it."""

    experiment: Experiment
    summary: Summary
    seconds: float
    pictures: Mapping[str, bytes]


def render(sections: Sequence[Section], missing: Mapping[str, str], facts: Mapping[str, str]) -> str:
    """The page as text."""
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"number": _number, "picture": _picture, "strength": _strength}
    environment.tests["compared"] = lambda value: isinstance(value, Compared)
    template = environment.from_string((files(__package__) / "report.html").read_text(encoding="utf-8"))
    total = sum(section.seconds for section in sections)
    return template.render(sections=sections, missing=missing, facts=facts, total=total)


def _number(value: Any) -> str:
    if not isinstance(value, float):
        return str(value).replace("_", " ")
    return "-" if value != value else f"{value:.3f}" if abs(value) < 1 else f"{value:.2f}"


def _picture(content: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(content).decode("ascii")


def _strength(value: Compared) -> str:
    """How much colour a difference gets: full at four points, and pale enough even then to read on it."""
    return f"{50 * min(abs(value.value - value.printed) / 4, 1.0):.0f}%"
