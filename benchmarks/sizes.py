"""Small and middle sizes, two classes and fifty: predict, bounds, certificates and fit against scikit-learn's QDA."""

from collections.abc import Callable

from classifier import make_data
from rich.table import Table
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from timing import best_seconds, main

from optiscore import ModeratedDiscriminantAnalysis, OptimisticScoreClassifier

SMALL = (
    (1, 10, 2),
    (1, 20, 5),
    (200, 10, 2),
    (200, 20, 5),
    (2_000, 10, 2),
    (2_000, 20, 5),
    (10_000, 20, 2),
    (10_000, 20, 5),
)
MIDDLE = tuple((n, d, K) for n, d in ((500_000, 2), (100_000, 10), (20_000, 50)) for K in (3, 10, 50))
FITS = ((200, 10, 2), (1_000, 20, 2), *((n, d, K) for n, d in ((500_000, 2), (100_000, 10)) for K in (3, 10, 50)))


def _table(title: str, headings: tuple[str, ...]) -> Table:
    table = Table(title=title)
    for heading in ("rows", "d", "classes", "QDA, ms", *headings):
        table.add_column(heading, justify="right")
    return table


def _repeated(run: Callable[[], object], times: int) -> Callable[[], None]:
    def repeated() -> None:
        for _ in range(times):
            run()

    return repeated


def _add(table: Table, size: tuple[int, int, int], contenders: dict[str, Callable[[], object]], rounds: int) -> None:
    """A row of times relative to QDA's; calls that are over at once are repeated."""
    times = max(1, 20_000 // (size[0] * size[2]))
    seconds = best_seconds({name: _repeated(run, times) for name, run in contenders.items()}, rounds)
    qda = seconds.pop("QDA")
    ratios = (f"{value / qda:.2f}" for value in seconds.values())
    table.add_row(*(f"{part:,}" for part in size), f"{1e3 * qda / times:.3f}", *ratios)


def predict_table(rounds: int) -> Table:
    """Labels by two rules, posterior bounds, and moderated probabilities."""
    table = _table("time relative to QDA's predict", ("tuned", "minimax", "bounds", "moderated proba"))
    for size in (*SMALL, *MIDDLE):
        n, d, n_classes = size
        X, y = make_data(max(n, 4_000), d, n_classes)
        head, rows = slice(0, 20_000), X[:n]
        qda = QuadraticDiscriminantAnalysis().fit(X[head], y[head])
        tuned, minimax = (
            OptimisticScoreClassifier(decision_rule=rule).fit(X[head], y[head]) for rule in ("tuned", "minimax")
        )
        moderated = ModeratedDiscriminantAnalysis(feature_map=None).fit(X[head], y[head])
        # Tables of scores are made once a model was asked often enough: what counts is the time after that.
        for _ in range(60 if n < 10_000 else 2):
            minimax.predict_proba_bounds(rows), tuned.predict(rows)
        contenders = {
            "QDA": lambda q=qda, P=rows: q.predict(P),
            "tuned": lambda m=tuned, P=rows: m.predict(P),
            "minimax": lambda m=minimax, P=rows: m.predict(P),
            "bounds": lambda m=minimax, P=rows: m.predict_proba_bounds(P),
            "moderated": lambda m=moderated, P=rows: m.predict_proba(P),
        }
        _add(table, size, contenders, rounds)
    return table


def certificate_table(rounds: int) -> Table:
    """Microseconds per row of the certified factor."""
    table = Table(title="certified_factor, d = 10, 5,000 rows")
    for heading in ("classes", "microseconds per row"):
        table.add_column(heading, justify="right")
    for n_classes in (2, 10, 50):
        X, y = make_data(20_000, 10, n_classes)
        model = OptimisticScoreClassifier(decision_rule="minimax").fit(X, y)
        seconds = best_seconds({"ours": lambda m=model, P=X[:5_000]: m.certified_factor(P)}, rounds)["ours"]
        table.add_row(str(n_classes), f"{seconds / 5_000 * 1e6:.1f}")
    return table


def fit_table(rounds: int) -> Table:
    """Fit with tuned offsets, with the minimax rule, and moderated."""
    table = _table("fit relative to QDA", ("tuned", "minimax", "moderated"))
    for size in FITS:
        X, y = make_data(*size)
        contenders = {
            "QDA": lambda X=X, y=y: QuadraticDiscriminantAnalysis().fit(X, y),
            "tuned": lambda X=X, y=y: OptimisticScoreClassifier().fit(X, y),
            "minimax": lambda X=X, y=y: OptimisticScoreClassifier(decision_rule="minimax").fit(X, y),
            "moderated": lambda X=X, y=y: ModeratedDiscriminantAnalysis(feature_map=None).fit(X, y),
        }
        _add(table, size, contenders, rounds)
    return table


if __name__ == "__main__":
    main(__doc__, predict_table, certificate_table, fit_table, rounds=3)
