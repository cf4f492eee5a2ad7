"""What an experiment is: cells of work that can be done in any order, and what is made of their results."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

#: What tells one unit of work from the others: names and numbers.
Cell: TypeAlias = dict[str, Any]

#: What a cell results in; anything that JSON can hold.
Values: TypeAlias = dict[str, Any]

#: One row of a table: column to value; numbers become text when the table is written.
Row: TypeAlias = dict[str, Any]


class Result(NamedTuple):
    """A cell that is done."""

    cell: Cell
    values: Values
    seconds: float


class Compared(NamedTuple):
    """A value with its standard error beside the printed one; a file holds the value only."""

    value: float
    printed: float
    error: float
    mark: str = ""

    @property
    def in_errors(self) -> float:
        """The difference in standard errors; infinite where there is no error to speak of."""
        difference = self.value - self.printed
        return difference / self.error if self.error > 0 else math.copysign(math.inf, difference) if difference else 0.0


@dataclass(frozen=True)
class Table:
    """Rows for a file and for the report, which may show a caption and more rows, or nothing of it."""

    rows: Sequence[Row]
    caption: str = ""
    more_rows: Sequence[Row] = ()
    is_shown: bool = True


#: What a reader of the evidence asks, in this order.
WHICH, HOW_SURE = "Which model for which data?", "How sure may I be?"
COST, LOSSES = "What does it cost?", "Where does it lose?"


class Question(NamedTuple):
    """A part of the page: the answer to a question, and the figures and tables behind it, by file name.

    Parameters
    ----------
    asked : str
        The question; several parts may answer the same one.
    answer : sequence of str
        Sentences, the first of which says it all.
    figures, tables : sequence of str
        Names in the summary; of the tables the first is in sight.
    title : str
        What this part is about, where a question has several.
    """

    asked: str
    answer: Sequence[str]
    figures: Sequence[str] = ()
    tables: Sequence[str] = ()
    title: str = ""


@dataclass(frozen=True)
class Summary:
    """What is made of the results: tables and figures by file name, sentences, and the questions that they answer.

    Without questions, the experiment is one, and the sentences are its answer.
    """

    tables: Mapping[str, Table] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
    questions: Sequence[Question] = ()


@dataclass(frozen=True)
class Experiment:
    """One table or figure.

    Parameters
    ----------
    name : str
        Name on the command line; its module has the same.
    title : str
        Heading in the report.
    about : str
        What is shown, in a few sentences.
    cells : callable
        ``cells(quick)`` lists the work. A cell that needs a data set has its name under "dataset".
    compute : callable
        ``compute(cell)`` does it; a function of the module, so that other processes find it.
    summarise : callable
        ``summarise(results)`` turns results, in the order of the cells, into tables and pictures.
    extras : sequence of str
        Libraries that some methods need; without them these are left out.
    """

    name: str
    title: str
    about: str
    cells: Callable[[bool], list[Cell]]
    compute: Callable[[Cell], Values]
    summarise: Callable[[Sequence[Result]], Summary]
    extras: Sequence[str] = ()


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Mean and its standard error."""
    n = len(values)
    mean = sum(values) / n
    if n < 2:
        return mean, float("nan")
    variance = sum((value - mean) ** 2 for value in values) / (n - 1)
    return mean, (variance / n) ** 0.5
