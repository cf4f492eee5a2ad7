"""The report: one page that needs nothing else, with all tables and figures."""

import base64
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from jinja2 import Environment

from .experiment import COST, HOW_SURE, LOSSES, WHICH, Compared, Experiment, Question, Summary


class Section(NamedTuple):
    """An experiment with what came out of it."""

    experiment: Experiment
    summary: Summary
    seconds: float
    pictures: Mapping[str, bytes]


def render(group: str, sections: Sequence[Section], missing: Mapping[str, str], facts: Mapping[str, str]) -> str:
    """The page of a group of experiments as text."""
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"number": _number, "picture": _picture, "strength": _strength}
    environment.tests["compared"] = lambda value: isinstance(value, Compared)
    template = environment.from_string((files(__package__) / "report.html").read_text(encoding="utf-8"))
    total = sum(section.seconds for section in sections)
    asked: dict[str, list[tuple[Section, Question]]] = {title: [] for title in (WHICH, HOW_SURE, COST, LOSSES)}
    for section in sections:
        for question in section.summary.questions or (_whole(section),):
            asked.setdefault(question.asked, []).append((section, question))
    asked = {title: parts for title, parts in asked.items() if parts}
    return template.render(group=group, asked=asked, missing=missing, facts=facts, total=total)


def _whole(section: Section) -> Question:
    """An experiment without questions is one."""
    summary = section.summary
    return Question(section.experiment.title, summary.notes, [*section.pictures], [*summary.tables])


def _number(value: Any) -> str:
    if not isinstance(value, float):
        return str(value).replace("_", " ")
    return "-" if value != value else f"{value:.3f}" if abs(value) < 1 else f"{value:.2f}"


def _picture(content: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(content).decode("ascii")


def _strength(value: Compared) -> str:
    """How much colour a difference gets: full at four points, and pale enough even then to read on it."""
    return f"{50 * min(abs(value.value - value.printed) / 4, 1.0):.0f}%"
