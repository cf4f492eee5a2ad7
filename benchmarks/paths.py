"""How far fit and predict reach: files and functions of the package that a first call on iris enters."""

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from rich.table import Table
from sklearn.datasets import load_iris
from timing import main

import optiscore

ESTIMATORS = {
    "moderated": lambda: optiscore.ModeratedDiscriminantAnalysis(),
    "kernel": lambda: optiscore.KernelDiscriminantClassifier(),
    "paper's": lambda: optiscore.OptimisticScoreClassifier(),
    "minimax": lambda: optiscore.OptimisticScoreClassifier(decision_rule="minimax"),
    "paper's, CV": lambda: optiscore.OptimisticScoreClassifierCV(),
}


def entered(call: Callable[[], Any]) -> list[tuple[str, str]]:
    """File and name of every function of the package that a call enters, in whatever thread; no comprehensions."""
    package, seen = str(Path(optiscore.__file__).parent), dict[CodeType, None]()

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(package):
            seen[frame.f_code] = None

    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    kept = [code for code in seen if code.co_name not in ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")]
    return [(str(Path(code.co_filename).relative_to(package)), code.co_qualname) for code in kept]


def paths_table(rounds: int) -> Table:
    """One row per estimator and method."""
    X, y = load_iris(return_X_y=True)
    table = Table("estimator", "method", "files", "functions", title="Files and functions entered, iris")
    for name, make in ESTIMATORS.items():
        model = make()
        # The first prediction makes tables of scores; what later ones enter is what all others cost.
        calls = {
            "fit": lambda m: m.fit(X, y),
            "first predict": lambda m: m.predict(X),
            "predict": lambda m: m.predict(X),
        }
        for method, call in calls.items():
            functions = entered(lambda call=call, model=model: call(model))
            table.add_row(name, method, str(len({file for file, _ in functions})), str(len(functions)))
            if rounds > 1:
                print(name, method, *(f"  {file}: {function}" for file, function in functions), sep="\n")
    return table


if __name__ == "__main__":
    main(__doc__, paths_table, rounds=1)
