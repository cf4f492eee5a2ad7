"""TableClassifier: from a data frame to labels and to what can be known about them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..estimators.progress import progress_bar
from ..estimators.results import Results
from ..metrics import log_losses
from ..numerics.types import BoolArray, FloatArray
from ..trust.proportions import ClassProportions
from .answers import thresholds_for
from .columns import Choices
from .evaluation import Rows, evaluate, read_rows
from .frames import NAME, TableInMemory, coded_columns, like, to_arrow, with_target
from .judging import Judgement
from .report import TableReport
from .selection import candidates_of
from .table_model import TableModel
from .tables import read_table
from .training import Plan, train
from .verdict import reach_verdict


# scikit-learn has no types: its classes are Any to the type checker.
class TableClassifier(ClassifierMixin, Results):  # type: ignore[misc]
    """A classifier of data frames: columns of all kinds, the choice of a model, and how far its answers can be trusted.

    Numbers, categories, dates, texts and missing cells are taken as what they are; columns that only number the rows
    are left out. Models are compared on rows that are left out, and the best one is taken.

    Parameters
    ----------
    model : {"auto", "moderated", "kernel", "mixture", "boosting"}, list of these, or classifier, default="auto"
        "auto" tries the moderated and the kernel classifier, and from 1,000 rows on a mixture of the kernel classifier
        and histogram boosting. A classifier of another library is asked by `CrossFitClassifier`; it sees numbers.
    target_accuracy : float, default=0.9
        Part of the decisions of `answers` that shall be right, and what `report` requires.
    priors : dict, "equal" or None, default=None
        Class probabilities by label; None takes the fractions of the training rows.
    drop, categorical, use, keep : sequence of str, default=()
        Columns to leave out; to take as categories; to use, though they look like row numbers; and to keep as ids,
        which tell rows apart in reports.
    n_jobs : int, default=None
        For mixtures and classifiers of other libraries, fits at a time.
    random_state : int, default=None
        Seed of the folds; None is 0, so that two fits are the same.
    verbose : int, default=0
        Above 0, a progress bar is shown (extra `rich`).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    columns_ : DataFrame
        A row for each column: "column", "kind" it was taken for, "done" (what was done), "missing" cells, distinct
        "values".
    tried_ : DataFrame
        Models that were compared: "model", "log_loss" and "accuracy" on rows left out.
    table_model_ : TableModel
        The pipeline, and all that is known of the table: what the command saves.

    See Also
    --------
    KernelDiscriminantClassifier, ModeratedDiscriminantAnalysis, CrossFitClassifier : Models of numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> from optiscore import TableClassifier
    >>> from sklearn.datasets import load_wine
    >>> frame = load_wine(as_frame=True).frame
    >>> model = TableClassifier("moderated").fit(frame[::2], "target")
    >>> answers = model.answers(frame[1::2])
    >>> answers.columns.tolist()[:4]
    ['label', 'probability', 'low', 'high']
    >>> model.report(frame[1::2]).verdict.answer
    'yes'
    """

    table_model_: TableModel
    classes_: np.ndarray

    def __init__(
        self,
        model: Any = "auto",
        *,
        target_accuracy: float = 0.9,
        priors: Any = None,
        drop: Sequence[str] = (),
        categorical: Sequence[str] = (),
        use: Sequence[str] = (),
        keep: Sequence[str] = (),
        n_jobs: int | None = None,
        random_state: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.model = model
        self.target_accuracy = target_accuracy
        self.priors = priors
        self.drop = drop
        self.categorical = categorical
        self.use = use
        self.keep = keep
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Learn columns, encodings and a model from a table of labelled rows.

        Parameters
        ----------
        X : data frame, dict of columns or array of two dimensions
            Rows: of pandas, polars, pyarrow, or of anything that offers Arrow's C stream.
        y : str or array-like of shape (n_samples,)
            Name of the column of labels, or the labels.

        Returns
        -------
        self : TableClassifier
        """
        table = to_arrow(X)
        table, target = (table, y) if isinstance(y, str) else with_target(table, y)
        if target not in table.column_names:
            raise ValueError(f"{NAME} has no column {target!r}: there are {table.column_names[:10]}.")
        coded = [name for name in coded_columns(table) if name not in (target, *self.drop, *self.keep)]
        categorical = tuple(dict.fromkeys([*self.categorical, *coded]))
        choices = Choices(tuple(self.drop), categorical, tuple(self.use), tuple(self.keep))
        seed = 0 if self.random_state is None else int(self.random_state)
        with self._learning():
            plan = Plan(TableInMemory(table), target, candidates_of(self.model, seed, self.n_jobs), choices, seed=seed)
            trained = train(plan, table.num_rows, self._progress)
            labels = _labels_in(table[target], trained.classifier.classes_)
            if self.priors is not None:
                trained = trained.with_priors(_priors_of(self.priors, labels))
            return self._take(trained, labels)

    def _take(self, trained: TableModel, labels: np.ndarray) -> Self:
        """Take over a trained model, and its labels as they were given."""
        names = [column.name for column in trained.columns]
        facts = [(c.name, c.kind, trained.treatment(c), c.n_missing, c.n_distinct) for c in trained.columns]
        return self._keep(
            classes_=labels,
            n_features_in_=len(names),
            feature_names_in_=np.array(names, dtype=object),
            table_model_=trained,
            columns_=pd.DataFrame(facts, columns=["column", "kind", "done", "missing", "values"]),
            tried_=pd.DataFrame(trained.tried, columns=["model", "log_loss", "accuracy"]),
        )

    def _progress(self, what: str, total: int | None) -> Any:
        return progress_bar(what, total, visible=self.verbose > 0)

    def _features(self, X: Any) -> np.ndarray:
        """Return rows as the classifier sees them."""
        check_is_fitted(self)
        # As read from a file: columns of other kinds of text are text.
        source = TableInMemory(to_arrow(X))
        return self.table_model_.features(self.table_model_.frame(read_table(source), source))

    @property
    def _classifier(self) -> Any:
        return self.table_model_.classifier

    def predict(self, X: Any) -> np.ndarray:
        """Return the labels of rows.

        Parameters
        ----------
        X : data frame, dict of columns or array
            Rows, with the columns of training; others do not matter.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        return self.classes_.take(self.predict_proba(X).argmax(axis=1))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : data frame, dict of columns or array
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        X = self._features(X)
        return self._classifier.predict_proba(X)

    def predict_set(self, X: Any, confidence_level: float = 0.9, *, by_class: bool = False) -> BoolArray:
        """Return sets of labels that hold the true one as often as asked.

        Parameters
        ----------
        X : data frame, dict of columns or array
            Rows.
        confidence_level : float, default=0.9
            Part of new rows whose set shall hold the true label.
        by_class : bool, default=False
            Whether each class shall be covered alike.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) of bool
            True for the labels that are named.
        """
        return self._classifier.predict_set(self._features(X), confidence_level, by_class=by_class)

    def stability(self, X: Any) -> FloatArray:
        """How surely the label is the one that models of other samples of this size give on average.

        Parameters
        ----------
        X : data frame, dict of columns or array
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            As of the classifier that was taken.
        """
        return self._classifier.stability(self._features(X))

    def predict_proba_interval(
        self, X: Any, confidence_level: float = 0.9, *, classes: str = "all"
    ) -> tuple[FloatArray, FloatArray]:
        """Interval of the probabilities, from sampling error alone.

        Parameters
        ----------
        X : data frame, dict of columns or array
            Rows.
        confidence_level : float, default=0.9
            Level of the intervals.
        classes : {"all", "predicted"}, default="all"
            Whether the intervals are those of all classes or of the predicted one.

        Returns
        -------
        lower, upper : ndarray of shape (n_samples, n_classes) or (n_samples,)
            Ends of the intervals.
        """
        return self._classifier.predict_proba_interval(self._features(X), confidence_level, classes=classes)

    def typicality(self, X: Any) -> FloatArray:
        """How usual rows are: the p-value of the distance to the nearest class, in the encoded columns.

        Parameters
        ----------
        X : data frame, dict of columns or array
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Near 0 for a row unlike anything in training.
        """
        return self._classifier.typicality(self._features(X))

    def answers(self, X: Any, *, confidence_level: float = 0.9) -> Any:
        """Return everything that is said of rows, as a frame of the library that they came from.

        Parameters
        ----------
        X : data frame, dict of columns or array
            Rows.
        confidence_level : float, default=0.9
            Level of intervals and sets.

        Returns
        -------
        data frame
            "label", "probability", "low", "high", "stability", "set", "typicality", "abstain" and "why", a row for each
            row, with its index; a pandas frame where X is none.
        """
        found = self._classifier.answers(
            self._features(X), confidence_level=confidence_level, target_accuracy=self.target_accuracy
        )
        known = dict(zip(self._classifier.classes_.tolist(), self.classes_.tolist(), strict=True))
        columns = {**found, "label": np.array([known[label] for label in found["label"].tolist()])}
        sets = np.empty(len(found["set"]), dtype=object)
        sets[:] = [tuple(known[label] for label in labels) for labels in found["set"]]
        return like(X, {**columns, "set": sets})

    def estimate_priors(self, X: Any) -> ClassProportions:
        """Estimate the proportions of the classes among new rows without labels.

        Parameters
        ----------
        X : data frame, dict of columns or array
            Rows of a population in which the classes may have other proportions, and nothing else has changed.

        Returns
        -------
        ClassProportions
            With `priors`, `low`, `high` and `p_value` (of no change); prints as a table.
        """
        return self._classifier.estimate_priors(self._features(X))

    def with_priors(self, priors: Any) -> Self:
        """Return a fitted copy for other class probabilities.

        Parameters
        ----------
        priors : array-like of shape (n_classes,), dict or "equal"
            Class probabilities in the order of `classes_`, by label, or all the same.

        Returns
        -------
        TableClassifier
        """
        check_is_fitted(self)
        changed = self.table_model_.with_priors(_priors_of(priors, self.classes_))
        return self._copy_with(table_model_=changed)

    def report(self, X: Any, y: Any = None) -> TableReport:
        """Say whether the model may be trusted on rows, and where: the verdict, measures, drift.

        Parameters
        ----------
        X : data frame, dict of columns or array
            Rows that the model was not trained on.
        y : str or array-like of shape (n_samples,), default=None
            Their labels, or the name of their column; a column of the name that it had in training is found. None for
            rows without labels.

        Returns
        -------
        TableReport
            Shows itself in a notebook; `save` writes the whole page.
        """
        check_is_fitted(self)
        trained, rows = self.table_model_, self._rows(X, y)
        thresholds = thresholds_for(trained.classifier, trained.least_typical, [])
        seed = 0 if self.random_state is None else int(self.random_state)
        found = evaluate(trained, rows, thresholds, seed, self._progress)
        return TableReport(Judgement(trained, rows, found, reach_verdict(trained, found, self.target_accuracy)))

    def importances(self, X: Any, y: Any = None, *, n_repeats: int = 3) -> pd.DataFrame:
        """What each column is worth: by how much the log loss grows where its cells are those of other rows.

        Parameters
        ----------
        X : data frame, dict of columns or array
            Labelled rows, best such that the model was not trained on.
        y : str or array-like of shape (n_samples,), default=None
            Their labels, or the name of their column; None where X has the column of training.
        n_repeats : int, default=3
            How often each column is shuffled.

        Returns
        -------
        DataFrame
            "column", "importance" (mean growth of the log loss; near 0 for a column that others can stand for) and its
            standard "error" over the rows, the largest first.
        """
        check_is_fitted(self)
        trained, rows = self.table_model_, self._rows(X, y)
        codes = rows.codes
        if codes is None:
            raise ValueError(f"{NAME} has no labels: importances are losses of labelled rows.")

        def losses(frame: pd.DataFrame) -> FloatArray:
            return log_losses(trained.classifier.predict_proba(trained.features(frame)), codes)

        plain, rng, found = losses(rows.frame), np.random.default_rng(0), []
        for name in rows.frame.columns:
            orders = [rng.permutation(len(plain)) for _ in range(n_repeats)]
            column = rows.frame[name].to_numpy()
            grown = np.mean([losses(rows.frame.assign(**{name: column[order]})) for order in orders], axis=0) - plain
            found.append((name, grown.mean(), grown.std() / np.sqrt(len(grown))))
        table = pd.DataFrame(found, columns=["column", "importance", "error"])
        return table.sort_values("importance", ascending=False, kind="stable", ignore_index=True)

    def _rows(self, X: Any, y: Any) -> Rows:
        """Return rows with their labels, which may be beside them or in a column of any name."""
        target, table = self.table_model_.target, to_arrow(X)
        if y is not None and not (isinstance(y, str) and y == target):
            others = [name for name in table.column_names if name != target]
            given, name = (table.select(others), y) if isinstance(y, str) else with_target(table.select(others), y)
            table = given.rename_columns([target if each == name else each for each in given.column_names])
        return read_rows(self.table_model_, TableInMemory(table), None, lambda n: None)

    @classmethod
    def load(cls, path: str | Path, *, trusted: Sequence[str] = ()) -> Self:
        """Read a model that `save` or the command wrote.

        Parameters
        ----------
        path : path
            The file.
        trusted : sequence of str, default=()
            Types of other libraries that may be in it, as skops names them.

        Returns
        -------
        TableClassifier
            Parameters are those of a new one.
        """
        trained = TableModel.load(str(path), trusted)
        return cls()._take(trained, trained.classifier.classes_)

    def save(self, path: str | Path, *, trusted: Sequence[str] = ()) -> None:
        """Write the model to a file, the same as that of the command.

        Parameters
        ----------
        path : path
            The file; it is written as a whole or not at all.
        trusted : sequence of str, default=()
            Types of other libraries that may be in it, as skops names them.
        """
        check_is_fitted(self)
        self.table_model_.save(str(path), trusted)


def _labels_in(column: pa.ChunkedArray, trained: np.ndarray) -> np.ndarray:
    """Return the labels as they were given, in the order of the model's."""
    given = np.unique(np.array([label for label in column.to_pylist() if label is not None]))
    return given if len(given) == len(trained) else trained


def _priors_of(priors: Any, labels: np.ndarray) -> Any:
    return [priors[label] for label in labels.tolist()] if isinstance(priors, dict) else priors
