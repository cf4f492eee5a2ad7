"""TableReport: what is known of a model on some rows, for a notebook, and the whole page."""

from html import escape
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from ..documented import plain_signatures
from ..files.whole_files import write_atomically
from .frames import NAME
from .judging import Judgement
from .table_model import percent
from .verdict import Verdict


@plain_signatures
class TableReport(NamedTuple):
    """What is known of a model on some rows; it shows itself in a notebook.

    Attributes
    ----------
    judgement : Judgement
        The model, the rows, the evaluation and the verdict, as the command has them.
    """

    judgement: Judgement

    @property
    def verdict(self) -> Verdict:
        """The answer ("yes", "only", "no" or "unknown"), a headline, a reason, and what to do."""
        return self.judgement.verdict

    @property
    def evaluation(self) -> pd.DataFrame:
        """Measures of the model and of simple methods, with their 95 % intervals, where the rows have labels."""
        rows = [
            (method, measure, value.value, value.low, value.high)
            for method, measures in self.judgement.evaluation.methods.items()
            for measure, value in measures.items()
        ]
        return pd.DataFrame(rows, columns=["method", "measure", "value", "low", "high"])

    @property
    def drift(self) -> pd.DataFrame:
        """Columns that moved: what moved, in which rows, and how surely."""
        return pd.DataFrame(
            [(each.column, each.words, each.rows, each.p_value) for each in self.judgement.evaluation.drift.moved],
            columns=["column", "change", "rows", "p_value"],
        )

    def save(self, path: str | Path) -> None:
        """Write the whole page, which needs nothing else.

        Parameters
        ----------
        path : path
            The HTML file.
        """
        from .page import render

        write_atomically(path, render(self.judgement, NAME).encode())

    def __repr__(self) -> str:
        said = self.verdict
        return f"{said.headline}\n{said.reason}\n{said.recommendation}"

    def _repr_html_(self) -> str:
        said, found = self.verdict, self.judgement.evaluation
        right, decided = found.decided
        numbers = {"rows": f"{found.n_rows:,}", "decided": percent(decided / max(found.n_rows, 1))}
        if found.has_labels:
            numbers["right of these"] = percent(right / decided if decided else float("nan"))
        numbers["columns that moved"] = str(len(found.drift.columns))
        cells = "".join(
            f'<td style="padding:0 1.5em 0 0;text-align:left"><b>{value}</b><br>{escape(name)}</td>'
            for name, value in numbers.items()
        )
        return (
            f"<h4>{escape(said.headline)}</h4><p>{escape(said.reason)}</p><table><tr>{cells}</tr></table>"
            f"<p>{escape(said.recommendation)}</p>"
        )
