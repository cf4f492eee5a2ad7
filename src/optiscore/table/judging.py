"""From a model file and a table to a verdict: what `evaluate` prints and `report` draws."""

from collections.abc import Sequence
from typing import NamedTuple

from ..estimators.progress import Progress
from .answers import thresholds_for
from .evaluation import Evaluation, Rows, evaluate, read_rows
from .table_model import TableModel
from .tables import estimate_rows
from .verdict import Verdict, reach_verdict


class Query(NamedTuple):
    """A model file, a table and limits; the decimal separator is that of the training table where none is given."""

    model: str
    test: str
    abstain_below: Sequence[str]
    required: float
    decimal: str | None
    seed: int


class Judgement(NamedTuple):
    """The model, the rows, what is known of it on them, and whether it may be trusted."""

    trained: TableModel
    rows: Rows
    evaluation: Evaluation
    verdict: Verdict


def judge(asked: Query, progress: Progress) -> Judgement:
    """Read, evaluate, decide."""
    trained = TableModel.load(asked.model)
    thresholds = thresholds_for(trained.classifier, trained.least_typical, asked.abstain_below)
    with progress("reading", estimate_rows(asked.test)) as advance:
        rows = read_rows(trained, asked.test, asked.decimal, advance)
    evaluation = evaluate(trained, rows, thresholds, asked.seed, progress)
    return Judgement(trained, rows, evaluation, reach_verdict(trained, evaluation, asked.required))
