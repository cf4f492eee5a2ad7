"""May a model be trusted on some rows? Yes, only above a confidence, or no; with one reason and one recommendation."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import mannwhitneyu

from ..numerics.types import BoolArray
from .answers import FACTOR, REASONS, TYPICALITY, abstentions
from .evaluation import OURS, Evaluation
from .remarks import left_out_accuracy, no_better_than_majority
from .table_model import Interval, TableModel, percent, proportion

#: Thresholds that a person can remember.
_LADDER = (0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999)
_FACTOR_LADDER = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0)

# Fewer labelled rows than this prove nothing.
_FEWEST_ROWS = 20

# Another method that is surely better, but by less than this, is no reason to change.
_LEAST_ADVANTAGE = 0.01

# A threshold says something if so many rows, and such a part of all, are above it.
_FEWEST_DECIDED, _LEAST_COVERAGE = _FEWEST_ROWS, 0.1

# Of certainties that tell nothing, so few are taken for ones that do.
_LEVEL = 0.05

# Drift that chance makes less often than this is a reason not to rely on a model whose accuracy cannot be seen.
_SURELY_DRIFTED = 0.01

# More rows than this part that are equal to training rows are told.
_MANY_EQUAL = 0.05

# A class that so many rows are of must be predicted for some.
_FEWEST_OF_A_CLASS = 5

# Without labels: more rows than this that abstain are told; more that are unlike the training rows, or that have new
# values in a column, are too many.
_MANY_ABSTAIN, _MOST_UNLIKE = 0.05, 0.3

_YES = "Yes, this model may be trusted on these rows."
_YES_PERHAPS = "Yes, as far as {:,} rows can tell."
_NO = "No, do not rely on this model for these rows."
_NO_ANSWER = "No answer yet: {}."
_SEEN = "A model knows the rows that it was trained on: how often it is right on them says nothing of others."
_JUDGE_ON_OTHERS = "Judge it on other rows; `optiscore split` cuts a table into rows for training and rows to judge on."
_CARE_FOR_RARE = (
    "Do not use its labels: order the rows by the probability of the rare class (predict --all-probabilities), collect "
    "more rows of it, or give it more weight (--model moderated --priors equal)."
)
_MORE_DATA = "Look for columns that tell the classes apart, or collect more rows."
_LABEL_SOME = "Label some of these rows and judge the model on them, or train again on rows like these."


class Verdict(NamedTuple):
    """The answer, and what it rests on."""

    #: May the model be trusted?
    answer: Literal["yes", "only", "no", "unknown"]
    #: A sentence each.
    headline: str
    reason: str
    recommendation: str
    #: What the first sense of certainty has to reach.
    threshold: float | None = None


def reach_verdict(trained: TableModel, evaluation: Evaluation, required: float) -> Verdict:
    """The verdict on rows of which a fraction has to be decided right; without labels, as far as that can be known."""
    if evaluation.n_trained_on:
        return _on_training_rows(evaluation)
    if evaluation.has_labels:
        return _with_labels(trained, evaluation, required)
    return _without_labels(trained, evaluation, required)


def _on_training_rows(evaluation: Evaluation) -> Verdict:
    n, n_seen = evaluation.n_rows, evaluation.n_trained_on
    what = "these are the training rows" if n_seen == n else f"{n_seen:,} of {n:,} rows are training rows"
    return Verdict("unknown", _NO_ANSWER.format(what), _SEEN, _JUDGE_ON_OTHERS)


def _with_labels(trained: TableModel, evaluation: Evaluation, required: float) -> Verdict:
    n_rows = evaluation.n_rows
    priors = trained.given_priors
    accuracy, share, found = _standing(evaluation) if priors is None else _standing_by_priors(evaluation, priors)
    present = [name for name, (_, n) in evaluation.recalls.items() if n]
    if n_rows < _FEWEST_ROWS:
        few = _NO_ANSWER.format(f"{n_rows} row{'s are' if n_rows > 1 else ' is'} too few")
        return Verdict("unknown", few, f"{found}.", f"Judge it on {_FEWEST_ROWS} rows or more.")
    if len(present) == 1:
        reason = f"{accuracy.percent} are right, but how well it tells the classes apart cannot be seen on them."
        one = _NO_ANSWER.format(f"all rows are {present[0]!r}")
        return Verdict("unknown", one, reason, "Judge it on rows of all classes, drawn at random.")
    # Others know nothing of priors.
    other = _use_another(evaluation, required) if priors is None else ""
    is_informed = evaluation.information.low > 0
    if not is_informed and accuracy.low <= share:
        reason = f"It is {'worse' if accuracy.high < share else 'hardly better'} than one answer for all: {found}."
        return Verdict("no", _NO, reason, _retrain(evaluation) or other or _MORE_DATA)
    if missed := _missed_classes(evaluation):
        return Verdict("no", _NO, f"It never finds {missed}. {found}.", _retrain(evaluation) or _MORE_DATA)
    rare = _rarely_found(evaluation)
    found += rare + _absent(evaluation) + _equal(evaluation)
    if accuracy.value <= share or (accuracy.low <= share and rare):
        more = "more often" if accuracy.value <= share else "surely more often"
        reason = f"Its labels are not {more} right than one answer for all, but its probabilities tell: {found}."
        return Verdict("no", _NO, reason, _retrain(evaluation) or _CARE_FOR_RARE)
    if accuracy.value >= required:
        return _right_often_enough(evaluation, accuracy, required, found, other)
    if other and not evaluation.drift.moved:
        name, gain = _better_method(evaluation)
        return Verdict("no", _NO, f"{_capitalised(name)} is more accurate on these rows by {_points(gain)}.", other)
    if priors is not None:
        return Verdict("no", _NO, f"{found}; {percent(required)} are required.", _retrain(evaluation) or _MORE_DATA)
    return _above_a_threshold(evaluation, required) or _at_no_threshold(evaluation, required)


def _standing(evaluation: Evaluation) -> tuple[Interval, float, str]:
    """The accuracy, that of one answer for all, and both in words."""
    accuracy, n_rows = evaluation.methods[OURS]["accuracy"], evaluation.n_rows
    label, n_majority = evaluation.majority
    words = (
        f"{_with_interval(accuracy)} of {n_rows:,} rows are right; always answering {label!r} would be right on "
        f"{percent(n_majority / n_rows)}"
    )
    return accuracy, n_majority / n_rows, words


def _standing_by_priors(evaluation: Evaluation, priors: Sequence[float]) -> tuple[Interval, float, str]:
    """The same where each class counts by the prior that was given for it."""
    right, n = np.array(list(evaluation.recalls.values()), dtype=float).T
    weights = np.where(n > 0, priors, 0) / np.sum(priors, where=n > 0)
    value = float(weights @ (right / np.maximum(n, 1)))
    # One more row of either kind, so that a recall of 1 is not taken for certain.
    likely = (right + 1) / (n + 2)
    error = 1.96 * float(np.sqrt(np.square(weights) @ (likely * (1 - likely) / np.maximum(n, 1))))
    accuracy = Interval(value, max(value - error, 0.0), min(value + error, 1.0))
    words = (
        f"{_with_interval(accuracy)} of the rows are right with the priors that were given, and "
        f"{evaluation.methods[OURS]['accuracy'].percent} of these {evaluation.n_rows:,}; always answering "
        f"{list(evaluation.recalls)[int(weights.argmax())]!r} would be right on {percent(float(weights.max()))}"
    )
    return accuracy, float(weights.max()), words


def _right_often_enough(evaluation: Evaluation, accuracy: Interval, required: float, found: str, other: str) -> Verdict:
    """Yes, unless the model itself would rather not decide most of the rows."""
    n, n_abstained = evaluation.n_rows, sum(evaluation.n_by_reason.values())
    if n_abstained > n / 2:
        headline = f"Only on the {percent(1 - n_abstained / n)} of the rows for which it does not abstain."
        advice = _retrain(evaluation) or "Choose other limits with --abstain-below, or train on rows like these."
        return Verdict("only", headline, f"{found}, but it abstains on most: {_reasons(evaluation)}.", advice)
    advice = _retrain(evaluation) or other or _send_abstentions(evaluation)
    if accuracy.low >= required:
        return Verdict("yes", _YES, f"{found}.", advice)
    perhaps = f"{found}. More rows would tell whether it is {percent(required)} in the long run, as required."
    return Verdict("yes", _YES_PERHAPS.format(n), perhaps, advice)


def _missed_classes(evaluation: Evaluation) -> str:
    """Classes that the model never predicts, with their numbers of rows."""
    rows = {name: evaluation.recalls[name][1] for name in evaluation.never_predicted}
    return ", ".join(f"{name!r} ({n} rows)" for name, n in rows.items() if n >= _FEWEST_OF_A_CLASS)


def _rarely_found(evaluation: Evaluation) -> str:
    """The class of which the smallest part is found, if less than half of its rows are; as the end of a sentence."""
    parts = {name: counts for name, counts in evaluation.recalls.items() if counts[1] >= _FEWEST_OF_A_CLASS}
    name, (right, n) = min(parts.items(), key=lambda pair: pair[1][0] / pair[1][1], default=("", (1, 1)))
    return f"; of the {n:,} rows that are {name!r} it finds {right:,}" if right < n / 2 else ""


def _absent(evaluation: Evaluation) -> str:
    """Classes that none of the rows is of, as the end of a sentence."""
    names = [repr(name) for name, (_, n) in evaluation.recalls.items() if not n]
    listed = f"{', '.join(names[:3])}{' and more' if len(names) > 3 else ''}"
    return f"; how it does on {listed} cannot be seen on these rows" if names else ""


def _equal(evaluation: Evaluation) -> str:
    """Rows that are copies of training rows, if they are many; as the end of a sentence."""
    n, n_equal = evaluation.n_rows, evaluation.n_equal
    if n_equal <= _MANY_EQUAL * n:
        return ""
    return f"; {n_equal:,} rows are equal to training rows: if they are the same observations, the accuracy is too good"


def _reasons(evaluation: Evaluation) -> str:
    n = evaluation.n_rows
    return ", ".join(f"{percent(count / n)} {reason}" for reason, count in evaluation.n_by_reason.items())


def _better_method(evaluation: Evaluation) -> tuple[str, Interval]:
    """The method that is most surely more accurate, by enough to matter; an empty name if there is none."""
    better = {
        name: gain for name, gain in evaluation.advantages.items() if gain.low > 0 and gain.value >= _LEAST_ADVANTAGE
    }
    return max(better.items(), key=lambda pair: pair[1].value, default=("", Interval(0, 0, 0)))


def _use_another(evaluation: Evaluation, required: float) -> str:
    """The recommendation of a method that is surely better and good enough, if there is one."""
    name, gain = _better_method(evaluation)
    if not name or evaluation.methods[OURS]["accuracy"].value + gain.value < required:
        return ""
    return f"Use {name}: trained on the same rows, it is more accurate on these by {_points(gain)}."


def _above_a_threshold(evaluation: Evaluation, required: float) -> Verdict | None:
    """The smallest threshold above which enough rows are right, if certainty tells right from wrong at all."""
    right = evaluation.is_right
    for threshold, kept in _kept_by_threshold(evaluation, _FEWEST_DECIDED) if _certainty_tells(evaluation) else ():
        above = proportion(int(right[kept].sum()), int(kept.sum()))
        if above.value >= required:
            reason = (
                f"Of these rows, {percent(kept.mean())} of all, {_with_interval(above)} are right; of all rows "
                f"{percent(right.mean())}, and {percent(required)} are required. The limit was chosen on these rows"
                f"{_never_above(evaluation, kept)}."
            )
            return _only_above(evaluation, threshold, kept, reason, _retrain(evaluation))
    return None


def _kept_by_threshold(evaluation: Evaluation, fewest: int) -> Iterator[tuple[float, BoolArray]]:
    """Growing thresholds of the first sense of certainty, while enough rows reach them and abstain by no other."""
    sense, certainty = next(iter(evaluation.answers.certainty.items()))
    stays = kept_by_others(evaluation)
    for threshold in _FACTOR_LADDER if sense == FACTOR else _LADDER:
        kept = stays & (certainty >= threshold)
        if kept.sum() < max(fewest, _LEAST_COVERAGE * evaluation.n_rows):
            return
        yield threshold, kept


def _certainty_tells(evaluation: Evaluation) -> bool:
    """Whether rows that are right are surely more certain than those that are wrong (Mann and Whitney, one-sided).

    Else the best of many thresholds would often look good enough by chance.
    """
    certainty = next(iter(evaluation.answers.certainty.values()))
    order = np.where(kept_by_others(evaluation), certainty, -1)
    right, wrong = order[evaluation.is_right], order[~evaluation.is_right]
    if not len(right) or not len(wrong):
        return False
    return bool(mannwhitneyu(right, wrong, alternative="greater").pvalue < _LEVEL)


def _only_above(evaluation: Evaluation, threshold: float, kept: BoolArray, reason: str, advice: str) -> Verdict:
    """The answer "only", with the option that makes the other rows abstain."""
    sense = next(iter(evaluation.answers.certainty))
    send = f"Send the other {percent(1 - kept.mean())} to a person"
    how = f"(--abstain-below {sense.split()[-1]}={threshold:g})"
    headline = f"Only where its {sense} is at least {threshold:g}."
    return Verdict("only", headline, reason, f"{send} {how}. {advice}".strip(), threshold)


def _never_above(evaluation: Evaluation, kept: np.ndarray) -> str:
    """Classes that some rows are of and that none of the kept rows is given, as the end of a sentence."""
    named = set(evaluation.answers.predicted[kept].tolist())
    never = [repr(name) for code, (name, (_, n)) in enumerate(evaluation.recalls.items()) if n and code not in named]
    return f"; there it never answers {', '.join(never[:5])}{' and more' if len(never) > 5 else ''}" if never else ""


def kept_by_others(evaluation: Evaluation) -> BoolArray:
    """Rows that abstain by no sense of certainty but perhaps the first."""
    others = dict(list(evaluation.thresholds.items())[1:])
    if not others:
        return np.ones(evaluation.n_rows, dtype=bool)
    return abstentions(evaluation.answers.certainty, others) == ""


def _at_no_threshold(evaluation: Evaluation, required: float) -> Verdict:
    sense, certainty = next(iter(evaluation.answers.certainty.items()))
    right = evaluation.is_right
    surest = certainty >= np.quantile(certainty, 0.75, method="lower")
    why = (
        f"At none of the limits on the {sense} that were tried are {percent(required)} of the decisions right"
        if _certainty_tells(evaluation)
        else f"Too few are right, {percent(required)} are required, and its {sense} does not surely tell which ones"
    )
    return Verdict(
        "no",
        _NO,
        f"{why}: {percent(right.mean())} of all rows are, and "
        f"{_with_interval(proportion(int(right[surest].sum()), int(surest.sum())))} of the surest quarter.",
        _retrain(evaluation) or "Give it more rows or better columns, or require less (--required-accuracy).",
    )


def _without_labels(trained: TableModel, evaluation: Evaluation, required: float) -> Verdict:
    known = left_out_accuracy(trained)
    unknown = (
        f"Accuracy cannot be known without labels; of the training rows, when left out, {_with_interval(known)} were "
        f"right."
    )
    if strange := _strange_rows(evaluation):
        return Verdict("no", _NO, f"{strange} {unknown}", _LABEL_SOME)
    if evaluation.drift.moved:
        perhaps = f"Perhaps they drifted: {_moved(evaluation)}. Chance may do that. {unknown}"
        return Verdict("unknown", _NO_ANSWER.format("the rows may have drifted"), perhaps, _LABEL_SOME)
    if no_better_than_majority(trained):
        reason = f"Already in training it was no better than one answer for all. {unknown}"
        return Verdict("no", _NO, reason, _MORE_DATA)
    can_tell = evaluation.drift.p_value is not None
    like = "They look like the training rows" if can_tell else _capitalised(evaluation.drift.sentence)
    n, n_abstained = evaluation.n_rows, sum(evaluation.n_by_reason.values())
    parts = _reasons(evaluation)
    if known.value < required:
        return _by_own_probabilities(evaluation, required, unknown)
    if n_abstained > _MANY_ABSTAIN * n:
        return Verdict(
            "only",
            f"Only on the {percent(1 - n_abstained / n)} of the rows for which it does not abstain.",
            f"{like}, but the evidence is thin for some: {parts}. {unknown}",
            f"Send the {percent(n_abstained / n)} that abstain to a person.",
        )
    return Verdict(
        "yes",
        "Yes, as far as rows without labels can tell.",
        f"{like}, and {f'few abstain ({parts})' if parts else 'none abstains'}. {unknown}",
        "Label some of these rows from time to time and judge the model on them.",
    )


def _strange_rows(evaluation: Evaluation) -> str:
    """Why the rows are surely not like the training rows, if they are not."""
    n, drift = evaluation.n_rows, evaluation.drift
    if drift.moved and drift.p_value is not None and drift.p_value <= _SURELY_DRIFTED:
        return f"The rows have drifted: {_moved(evaluation)}."
    n_unlike = evaluation.n_by_reason.get(REASONS[TYPICALITY], 0)
    if n_unlike > _MOST_UNLIKE * n:
        return f"{percent(n_unlike / n)} of the rows are unlike the training rows."
    for name, count in evaluation.unseen.items():
        if count > _MOST_UNLIKE * n:
            return f"{percent(count / n)} of the rows have values of column {name!r} that training did not have."
    return ""


def _by_own_probabilities(evaluation: Evaluation, required: float, unknown: str) -> Verdict:
    """Which rows are decided right often enough, if the model's probabilities are right."""
    answers = evaluation.answers
    probability = answers.proba[np.arange(evaluation.n_rows), answers.predicted]
    for threshold, kept in _kept_by_threshold(evaluation, 1):
        if probability[kept].mean() >= required:
            reason = (
                f"By its own probabilities {percent(probability[kept].mean())} of these rows, {percent(kept.mean())} "
                f"of all, are decided right, and {percent(required)} are required. {unknown}"
            )
            return _only_above(evaluation, threshold, kept, reason, "Label some rows to check.")
    return Verdict("no", _NO, f"{unknown} That is less than the {percent(required)} required.", _LABEL_SOME)


def _retrain(evaluation: Evaluation) -> str:
    """Return advice about drift, if there is any."""
    if not evaluation.drift.moved:
        return ""
    if far := next((moved for moved in evaluation.drift.moved if moved.is_far), None):
        return f"Look at column {far.column!r} first ({far.words}): has its unit changed? Otherwise train again."
    return f"Train again on rows like these: they have drifted, {_moved(evaluation)}."


def _moved(evaluation: Evaluation) -> str:
    first = evaluation.drift.moved[0]
    where = "" if first.rows == "all rows" else f", in rows {first.rows}"
    others = len(evaluation.drift.columns) - 1
    more = f", and {others} more column{'s' if others > 1 else ''}" if others else ""
    n_new = evaluation.unseen.get(first.column, 0)
    new = f"{n_new:,} rows have values that training did not have; " if n_new else ""
    return f"column {first.column!r} ({new}{first.words}{where}){more}"


def _send_abstentions(evaluation: Evaluation) -> str:
    right, decided = evaluation.decided
    n = evaluation.n_rows
    if decided == n or right / decided <= evaluation.is_right.mean():
        return "Use it as it is."
    return (
        f"Send the {percent(1 - decided / n)} of the rows that abstain to a person: of the others "
        f"{percent(right / decided)} are right."
    )


def _points(gain: Interval) -> str:
    value, low, high = (100 * part for part in gain)
    return f"{value:.1f} points (95 % interval {low:.1f} to {high:.1f})"


def _with_interval(value: Interval) -> str:
    return f"{value.percent} (95 % interval {value.percent_range})"


def _capitalised(name: str) -> str:
    return name[0].upper() + name[1:]
