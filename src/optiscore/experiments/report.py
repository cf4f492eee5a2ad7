"""The report: one page that needs nothing else, with all tables and figures."""

import base64
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from jinja2 import Environment

from .experiment import Experiment, Row, Summary
from .methods import PAPER_METHODS
from .table1 import EXCHANGED, printed_values

_PRINTED = printed_values()


class Section(NamedTuple):
    """An experiment with what came out of it."""

    experiment: Experiment
    summary: Summary
    seconds: float
    pictures: Mapping[str, bytes]


def render(
    sections: Sequence[Section],
    missing: Mapping[str, str],
    facts: Mapping[str, str],
    column_seconds: Mapping[str, float],
) -> str:
    """The page as text."""
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"number": _number, "picture": _picture, "compared": _compared}
    template = environment.from_string((files(__package__) / "report.html").read_text(encoding="utf-8"))
    return template.render(
        sections=sections,
        missing=missing,
        facts=facts,
        column_seconds=column_seconds,
        paper_methods=list(PAPER_METHODS),
        total=sum(section.seconds for section in sections),
    )


def _number(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return "-" if value != value else f"{value:.3f}" if abs(value) < 1 else f"{value:.2f}"


def _picture(content: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(content).decode("ascii")


def _compared(row: Row, method: str) -> dict[str, Any]:
    """One cell of Table 1: our value, the printed one, and how far they are apart; pale enough to read on it."""
    printed = _PRINTED.get((row["dataset"], method))
    if printed is None:
        return {"ours": row[method]}
    difference = row[method] - printed
    strength = min(abs(difference) / 4, 1.0)
    return {
        "ours": row[method],
        "printed": printed,
        "difference": difference,
        "strength": f"{50 * strength:.0f}%",
        "side": "more" if difference > 0 else "less",
        "exchanged": (row["dataset"], method) in EXCHANGED,
    }
