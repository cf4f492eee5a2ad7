"""
Which patients should a person look at?
=======================================

A classifier that decides nine cases of ten and hands over the tenth is worth more than one that decides all, if it
knows which is the tenth. The risk-coverage curve shows whether it does: the error rate among the surest decisions,
against the fraction of cases that are decided.
"""

# %%
# The heart data set: 13 features, 270 patients. A few training rows only, as in a new clinic.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from optiscore import KernelDiscriminantClassifier, ModeratedDiscriminantAnalysis
from optiscore.metrics import area_under_risk_coverage, risk_coverage_curve
from optiscore.plotting import RiskCoverageDisplay
from reproduction.datasets import fetch_benchmark  # of a clone of the repository

X, y = fetch_benchmark("heart", return_X_y=True)
models = {
    "moderated": ModeratedDiscriminantAnalysis(),
    "kernel": KernelDiscriminantClassifier(),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
}

# %%
# Twenty splits with 52 training rows; the test rows of all of them make one curve.
predicted, confidence = ({name: [] for name in models} for _ in range(2))
truth = []
for train, test in StratifiedShuffleSplit(20, train_size=52, random_state=0).split(X, y):
    for name, model in models.items():
        proba = model.fit(X[train], y[train]).predict_proba(X[test])
        predicted[name].extend(model.classes_[proba.argmax(axis=1)])
        confidence[name].extend(proba.max(axis=1))
    truth.extend(y[test])

figure, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
for name in models:
    RiskCoverageDisplay.from_predictions(truth, predicted[name], confidence[name], name=name, ax=ax)
ax.set_title("Errors among the decided cases")

# %%
# The same in numbers: how many errors remain if a tenth, or a third, of the patients is seen by a person?
for name in models:
    correct = np.equal(truth, predicted[name])
    coverage, risk, _ = risk_coverage_curve(correct, confidence[name])
    area = area_under_risk_coverage(correct, confidence[name])
    at = {f"{part:.0%}": f"{np.interp(part, coverage, risk):.1%}" for part in (1.0, 0.9, 2 / 3)}
    print(f"{name:20s} errors at coverage {at}, area {area:.3f}")

# %%
# For one clinic. The stability of the moderated model answers another question than the probability does:
# not "is this patient ill?" but "would the label be the same after an endless training sample?" A patient in the
# lower right has a clear probability that rests on too few samples.
train, test = next(StratifiedShuffleSplit(1, train_size=52, random_state=0).split(X, y))
model = ModeratedDiscriminantAnalysis().fit(X[train], y[train])
right = model.predict(X[test]) == y[test]
probability, stability = model.predict_proba(X[test]).max(axis=1), model.stability(X[test])
figure, ax = plt.subplots(figsize=(5.4, 4.2), layout="constrained")
ax.plot(probability[right], stability[right], "o", alpha=0.7, label="right")
ax.plot(probability[~right], stability[~right], "x", color="#d55e00", label="wrong")
ax.set(xlabel="probability of the predicted label", ylabel="stability of the label")
ax.legend(loc="lower right")
