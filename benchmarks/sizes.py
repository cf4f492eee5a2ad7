"""Small and middle sizes, two classes and fifty: predict, bounds, certificates, fit and memory, against QDA."""

from collections.abc import Callable

import numpy as np
from classifier import make_data
from rich.table import Table
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from timing import best_seconds, main, peak_bytes

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
COLUMNS = ("tuned", "minimax", "bounds", "moderated proba")
WIDE, WIDE_SIZE = (50, 100, 200, 500), 4_000_000
MEMORY = ((100_000, 10, 2), (400_000, 10, 2), (400_000, 10, 10), (100_000, 50, 2), (200_000, 50, 10))
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
    proba = seconds.pop("QDA's probabilities", qda)
    ratios = (
        f"{value / (proba if name in ('bounds', 'moderated proba') else qda):.2f}" for name, value in seconds.items()
    )
    table.add_row(*(f"{part:,}" for part in size), f"{1e3 * qda / times:.3f}", *ratios)


def predict_table(rounds: int) -> Table:
    """Labels by two rules, posterior bounds, and moderated probabilities."""
    table = _table("time relative to QDA's predict; that of bounds and probabilities to its predict_proba", COLUMNS)
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
            "QDA's probabilities": lambda q=qda, P=rows: q.predict_proba(P),
            "tuned": lambda m=tuned, P=rows: m.predict(P),
            "minimax": lambda m=minimax, P=rows: m.predict(P),
            "bounds": lambda m=minimax, P=rows: m.predict_proba_bounds(P),
            "moderated proba": lambda m=moderated, P=rows: m.predict_proba(P),
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


def wide_fit_table(rounds: int) -> Table:
    """Fit with many features against taking the rows of each class and multiplying them with themselves."""
    table = Table(title=f"fit, minimax, n d = {WIDE_SIZE:,}, relative to X_c' X_c of two classes")
    for heading in ("d", "products, ms", "fit / products"):
        table.add_column(heading, justify="right")
    for d in WIDE:
        X, y = make_data(WIDE_SIZE // d, d, 2)

        def products(X: np.ndarray = X, y: np.ndarray = y) -> None:
            for c in (0, 1):
                rows = X[y == c]
                rows.T @ rows

        model = OptimisticScoreClassifier(decision_rule="minimax")
        seconds = best_seconds({"products": products, "fit": lambda m=model, X=X, y=y: m.fit(X, y)}, rounds)
        table.add_row(str(d), f"{1e3 * seconds['products']:.1f}", f"{seconds['fit'] / seconds['products']:.2f}")
    return table


def empirical_table(rounds: int) -> Table:
    """Fit with radii for samples of any distribution, relative to radii for Gaussian ones."""
    table = Table(title="fit with radius='empirical', relative to radius='clt'")
    for heading in ("rows", "d", "clt, ms", "empirical / clt"):
        table.add_column(heading, justify="right")
    for n, d in ((1_000, 5), (1_000, 20), (10_000, 20)):
        X, y = make_data(n, d, 2)
        models = {radius: OptimisticScoreClassifier(radius=radius) for radius in ("clt", "empirical")}
        seconds = best_seconds(
            {radius: _repeated(lambda m=m, X=X, y=y: m.fit(X, y), 5) for radius, m in models.items()}, rounds
        )
        ratio = seconds["empirical"] / seconds["clt"]
        table.add_row(f"{n:,}", str(d), f"{1e3 * seconds['clt'] / 5:.2f}", f"{ratio:.1f}")
    return table


def memory_table(rounds: int) -> Table:
    """Largest memory of fit and predict beyond what they return, relative to the samples."""
    table = Table(title="extra memory relative to X")
    for heading in ("rows", "d", "classes", "fit tuned", "fit minimax", "predict tuned", "minimax", "bounds"):
        table.add_column(heading, justify="right")
    for n, d, n_classes in MEMORY:
        X, y = make_data(n, d, n_classes)
        tuned, minimax = (OptimisticScoreClassifier(decision_rule=rule).fit(X, y) for rule in ("tuned", "minimax"))
        extra = (
            peak_bytes(lambda m=tuned, X=X, y=y: m.fit(X, y)),
            peak_bytes(lambda m=minimax, X=X, y=y: m.fit(X, y)),
            peak_bytes(lambda m=tuned, X=X: m.predict(X)) - 8 * n,
            peak_bytes(lambda m=minimax, X=X: m.predict(X)) - 8 * n,
            peak_bytes(lambda m=minimax, X=X: m.predict_proba_bounds(X)) - 16 * n * n_classes,
        )
        table.add_row(f"{n:,}", str(d), str(n_classes), *(f"{bytes / X.nbytes:.2f}" for bytes in extra))
    return table


TABLES = (predict_table, certificate_table, fit_table, wide_fit_table, empirical_table, memory_table)

if __name__ == "__main__":
    main(__doc__, *TABLES, rounds=3)
