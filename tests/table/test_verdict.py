"""The verdict on made-up evaluations: yes, only above a confidence, or no, with the reason that weighs most."""

import numpy as np
import pytest

from optiscore.table.answers import Answers
from optiscore.table.evaluation import OURS, Evaluation, MethodAnswers, paired_difference
from optiscore.table.table_model import Interval, proportion
from optiscore.table.verdict import reach_verdict
from optiscore.table.watch import ColumnShift, TableDrift

STILL = TableDrift(0.6, [])
MOVED = TableDrift(0.001, [ColumnShift("x", "larger by 0.8 standard deviations", "all rows", 0.001)])


class Trained:
    """What a verdict needs of a model."""

    def __init__(self, right=90, of=100):
        self.confusion = [[right // 2, (of - right) // 2], [of - right - (of - right) // 2, right - right // 2]]
        self.labels = ["no", "yes"]
        self.given_priors = None


def evaluation(right, confidence, peer=None, majority=0.5, drift=STILL, information=0.2, reasons=None):
    """Rows that are right or not, with a confidence each."""
    right, n = np.asarray(right), len(right)
    reasons = np.full(n, "") if reasons is None else np.asarray(reasons)
    confidence = np.asarray(confidence)
    proba = np.stack([confidence, 1 - confidence], axis=1)
    answers = Answers(np.zeros(n, dtype=int), proba, {"probability": confidence})
    return Evaluation(
        answers=answers,
        reasons=reasons,
        thresholds={"probability": 0.65},
        n_unlabelled=0,
        unseen={},
        drift=drift,
        n_trained_on=0,
        n_equal=0,
        is_right=right,
        judged={OURS: MethodAnswers(answers.predicted, proba, confidence)},
        methods={OURS: {"accuracy": proportion(int(right.sum()), n)}},
        recalls={},
        majority=("no", int(majority * n)),
        advantages={} if peer is None else {"logistic regression": paired_difference(np.asarray(peer), right)},
        information=Interval(information, information - 0.1, information + 0.1),
    )


def rows(n_right, n):
    return np.arange(n) < n_right


def test_yes():
    verdict = reach_verdict(Trained(), evaluation(rows(95, 100), np.full(100, 0.9)), 0.9)
    assert verdict.answer == "yes"
    assert "95.0 % (95 % interval 88.8 to 97.8) of 100 rows are right" in verdict.reason
    assert verdict.recommendation == "Use it as it is."
    reasons = np.where(np.arange(100) >= 95, "too uncertain", "")
    verdict = reach_verdict(Trained(), evaluation(rows(95, 100), np.full(100, 0.9), reasons=reasons), 0.9)
    assert "Send the 5.0 % of the rows that abstain to a person: of the others 100.0 % are right." in (
        verdict.recommendation
    )


def test_yes_as_far_as_few_rows_can_tell():
    """An accuracy that is good enough, of an interval that is not."""
    verdict = reach_verdict(Trained(), evaluation(rows(95, 100), np.full(100, 0.9)), 0.9)
    assert verdict.headline == "Yes, as far as 100 rows can tell."
    assert "95.0 % (95 % interval 88.8 to 97.8) of 100 rows are right" in verdict.reason
    assert "More rows would tell whether it is 90.0 % in the long run" in verdict.reason
    assert reach_verdict(Trained(), evaluation(rows(98, 100), np.full(100, 0.9)), 0.9).headline.startswith(
        "Yes, this model"
    )


@pytest.mark.parametrize("n", [50, 100, 300])
def test_chance_alone_is_rarely_trusted(n):
    """Certainties that tell nothing, and an accuracy of 85 % where 90 % are required."""
    rng, answers = np.random.default_rng(n), []
    for _ in range(200):
        made_up = evaluation(rng.random(n) < 0.85, rng.uniform(0.5, 1, n))
        answers.append(reach_verdict(Trained(), made_up, 0.9))
    assert np.mean([verdict.headline.startswith("Yes, this model") for verdict in answers]) <= 0.03
    assert np.mean([verdict.answer == "only" for verdict in answers]) <= 0.08


def test_a_certified_factor_is_what_its_model_is_asked_for_without_labels():
    """The recommended option must be one that the model has."""
    blind = evaluation(np.ones(100, dtype=bool), np.linspace(0.5, 1, 100))
    answers = blind.answers._replace(certainty={"certified factor": np.linspace(0, 2, 100)})
    blind = blind._replace(
        judged={}, is_right=np.empty(0, dtype=bool), answers=answers, thresholds={"certified factor": 1.0}
    )
    verdict = reach_verdict(Trained(80), blind, 0.9)
    assert (verdict.answer, verdict.threshold) == ("only", 1.5)
    assert "(--abstain-below factor=1.5)" in verdict.recommendation


def test_yes_but_drifted():
    verdict = reach_verdict(Trained(), evaluation(rows(95, 100), np.full(100, 0.9), drift=MOVED), 0.9)
    assert verdict.answer == "yes"
    assert "drifted, column 'x' (larger by 0.8 standard deviations)" in verdict.recommendation


def test_only_above_a_confidence():
    confidence = np.where(np.arange(100) < 70, 0.93, 0.6)
    verdict = reach_verdict(Trained(), evaluation(rows(75, 100), confidence), 0.9)
    assert (verdict.answer, verdict.threshold) == ("only", 0.65)
    assert verdict.headline == "Only where its probability is at least 0.65."
    assert "Send the other 30.0 % to a person (--abstain-below probability=0.65)." in verdict.recommendation
    moved = reach_verdict(Trained(), evaluation(rows(75, 100), confidence, drift=MOVED), 0.9)
    assert "Train again on rows like these" in moved.recommendation


def test_no_since_another_method_is_better():
    worse = evaluation(rows(900, 1000), np.full(1000, 0.9), peer=rows(931, 1000))
    verdict = reach_verdict(Trained(), worse, 0.92)
    assert verdict.answer == "no"
    assert "Logistic regression is more accurate on these rows by 3.1 points (95 % interval 2.0 to 4.2)" in (
        verdict.reason
    )
    assert verdict.recommendation.startswith("Use logistic regression: trained on the same rows")
    # A model that does what is required may be used, and a better one should be.
    verdict = reach_verdict(Trained(), worse, 0.8)
    assert verdict.answer == "yes"
    assert verdict.recommendation.startswith("Use logistic regression")
    # A method that is not good enough either is no advice, nor is one that chance makes better.
    assert "logistic" not in str(reach_verdict(Trained(), worse, 0.99))
    few = evaluation(rows(27, 30), np.full(30, 0.9), peer=rows(28, 30))
    assert "logistic" not in str(reach_verdict(Trained(), few, 0.8))


def test_few_rows_prove_nothing():
    verdict = reach_verdict(Trained(), evaluation(rows(4, 4), np.full(4, 0.9)), 0.9)
    assert verdict.answer == "unknown"
    assert verdict.headline == "No answer yet: 4 rows are too few."


def test_rows_of_one_class_prove_nothing():
    one = evaluation(rows(38, 40), np.full(40, 0.9), majority=1.0)._replace(recalls={"no": (38, 40), "yes": (0, 0)})
    verdict = reach_verdict(Trained(), one, 0.9)
    assert verdict.answer == "unknown"
    assert verdict.headline == "No answer yet: all rows are 'no'."


def test_a_class_without_rows_is_named():
    none = evaluation(rows(38, 40), np.full(40, 0.9))
    answers = none.answers._replace(predicted=np.arange(40) % 2)
    none = none._replace(answers=answers, recalls={"a": (19, 20), "b": (19, 20), "c": (0, 0)})
    verdict = reach_verdict(Trained(), none, 0.9)
    assert verdict.answer == "yes"
    assert "how it does on 'c' cannot be seen on these rows" in verdict.reason


def test_no_since_a_class_is_never_found():
    found = evaluation(rows(96, 100), np.full(100, 0.9), majority=0.9)
    found = found._replace(recalls={"no": (90, 90), "yes": (0, 10)})
    verdict = reach_verdict(Trained(), found, 0.9)
    assert verdict.answer == "no"
    assert "It never finds 'yes' (10 rows)." in verdict.reason
    as_good = evaluation(rows(96, 100), np.full(100, 0.9), majority=0.96)
    verdict = reach_verdict(Trained(), as_good, 0.9)
    assert "not more often right than one answer for all, but its probabilities tell" in verdict.reason
    assert "order the rows by the probability of the rare class" in verdict.recommendation
    empty = evaluation(rows(96, 100), np.full(100, 0.9), majority=0.96, information=0.0)
    assert "hardly better than one answer for all" in reach_verdict(Trained(), empty, 0.9).reason


def test_no_since_one_answer_for_all_is_as_good():
    empty = evaluation(rows(62, 100), np.full(100, 0.9), majority=0.6, information=0.0)
    verdict = reach_verdict(Trained(), empty, 0.6)
    assert verdict.answer == "no"
    assert "always answering 'no' would be right on 60.0 %" in verdict.reason
    # Probabilities that tell more than frequencies are worth something where labels do not.
    assert reach_verdict(Trained(), evaluation(rows(62, 100), np.full(100, 0.9), majority=0.6), 0.6).answer == "yes"


def test_with_given_priors_classes_count_by_these():
    """Of rows that are mostly of one class; then one answer for all is no standard, nor is another method."""
    found = evaluation(np.r_[np.full(88, True), np.full(12, False)], np.full(100, 0.9), majority=0.92, information=-0.5)
    answers = found.answers._replace(predicted=np.r_[np.zeros(80, dtype=int), np.ones(20, dtype=int)])
    found = found._replace(answers=answers, recalls={"no": (80, 92), "yes": (8, 8)})
    plain = reach_verdict(Trained(), found, 0.8)
    assert plain.answer == "no"
    assert "worse than one answer for all" in reach_verdict(Trained(), found._replace(majority=("no", 99)), 0.8).reason
    equal = Trained()
    equal.given_priors = [0.5, 0.5]
    verdict = reach_verdict(equal, found, 0.8)
    assert verdict.answer == "yes"
    assert verdict.reason.startswith("93.5 % (95 % interval 8")
    assert "of the rows are right with the priors that were given, and" in verdict.reason
    assert "88.0 % of these 100; always answering 'no' would be right on 50.0 %" in verdict.reason
    # More of the rows as they are may be right than are required: that is another question.
    few = found._replace(recalls={"no": (90, 92), "yes": (5, 8)})
    verdict = reach_verdict(equal, few, 0.9)
    assert verdict.answer == "no"
    assert "90.0 % are required" in verdict.reason
    assert "--abstain-below" not in verdict.recommendation


def test_copies_of_training_rows_are_told():
    found = evaluation(rows(98, 100), np.full(100, 0.9))._replace(n_equal=40)
    reason = "40 rows are equal to training rows: if they are the same observations, the accuracy is too good"
    assert reason in reach_verdict(Trained(), found, 0.9).reason
    assert "equal" not in reach_verdict(Trained(), found._replace(n_equal=4), 0.9).reason


def test_drift_that_chance_may_make_is_no_verdict():
    perhaps = TableDrift(0.03, [ColumnShift("x", "larger by 0.4 standard deviations", "all rows", 0.03)])
    blind = evaluation(np.ones(100, dtype=bool), np.full(100, 0.97), drift=perhaps)
    blind = blind._replace(judged={}, is_right=np.empty(0, dtype=bool))
    verdict = reach_verdict(Trained(), blind, 0.9)
    assert (verdict.answer, verdict.headline) == ("unknown", "No answer yet: the rows may have drifted.")
    assert reach_verdict(Trained(), blind._replace(unseen={"city": 60}), 0.9).answer == "no"
    surely = reach_verdict(Trained(), blind._replace(drift=MOVED), 0.9)
    assert surely.answer == "no"
    new = reach_verdict(Trained(), blind._replace(drift=MOVED, unseen={"x": 30}), 0.9)
    assert "column 'x' (30 rows have values that training did not have; larger by" in new.reason


def test_no_confidence_is_enough():
    upside_down = reach_verdict(Trained(), evaluation(rows(70, 100), np.linspace(0.99, 0.5, 100)[::-1]), 0.9)
    assert upside_down.answer == "no"
    assert "its probability does not surely tell which ones: 70.0 % of all rows are" in upside_down.reason
    # 80 % of the surer half are right and 40 % of the other.
    right = np.arange(100) % 5 >= np.where(np.arange(100) < 50, 1, 3)
    verdict = reach_verdict(Trained(), evaluation(right, np.where(np.arange(100) < 50, 0.9, 0.6)), 0.9)
    assert verdict.answer == "no"
    assert "At none of the limits on the probability that were tried are 90.0 % of the decisions right" in (
        verdict.reason
    )


def test_factors_without_limit_are_no_obstacle():
    """Of radius 0, all certified factors are infinite."""
    endless = evaluation(rows(70, 100), np.full(100, 0.9))
    endless = endless._replace(
        answers=endless.answers._replace(certainty={"certified factor": np.full(100, np.inf)}),
        thresholds={"certified factor": 1.0},
    )
    assert "70.0 % (95 % interval 60.4 to 78.1) of the surest quarter" in reach_verdict(Trained(), endless, 0.9).reason


def test_only_where_it_does_not_abstain():
    """A model that would not decide most rows is not to be trusted on all; a column that moved far gets a question."""
    most = evaluation(rows(95, 100), np.full(100, 0.9), reasons=np.array(["unlike the training rows"] * 80 + [""] * 20))
    verdict = reach_verdict(Trained(), most, 0.9)
    assert verdict.answer == "only"
    assert verdict.headline == "Only on the 20.0 % of the rows for which it does not abstain."
    assert "80.0 % unlike the training rows" in verdict.reason
    far = TableDrift(
        0.001, [ColumnShift("mass", "smaller by more than 2.5 standard deviations", "all rows", 0.001, True)]
    )
    assert "column 'mass' first" in reach_verdict(Trained(), most._replace(drift=far), 0.9).recommendation
    assert "has its unit changed?" in reach_verdict(Trained(), most._replace(drift=far), 0.9).recommendation


def test_abstention_is_recommended_where_it_helps():
    reasons = np.array(["too uncertain"] * 5 + [""] * 95)
    helps = evaluation(np.arange(100) >= 5, np.full(100, 0.9), reasons=reasons)
    assert "of the others 100.0 % are right" in reach_verdict(Trained(), helps, 0.9).recommendation
    harms = evaluation(np.arange(100) < 95, np.full(100, 0.9), reasons=reasons)
    assert reach_verdict(Trained(), harms, 0.9).recommendation == "Use it as it is."


def test_classes_that_are_never_answered_above_the_limit_are_named():
    confidence = np.where(np.arange(100) < 70, 0.93, 0.6)
    found = evaluation(rows(75, 100), confidence)
    answers = found.answers._replace(predicted=(np.arange(100) >= 70).astype(int))
    found = found._replace(answers=answers, recalls={"no": (60, 70), "yes": (15, 30)})
    assert "there it never answers 'yes'" in reach_verdict(Trained(), found, 0.9).reason


def test_thresholds_are_for_rows_that_do_not_abstain_otherwise():
    certainty = {"probability": np.full(100, 0.97), "typicality": np.where(np.arange(100) < 50, 1e-9, 0.5)}
    found = evaluation(np.arange(100) >= 25, np.full(100, 0.97))
    found = found._replace(
        answers=found.answers._replace(certainty=certainty), thresholds={"probability": 0.6, "typicality": 0.001}
    )
    verdict = reach_verdict(Trained(), found, 0.9)
    assert (verdict.answer, verdict.threshold) == ("only", 0.55)
    assert "50.0 % of all, 100.0 %" in verdict.reason


@pytest.mark.parametrize(
    ("right", "confidence", "answer", "words"),
    [
        (80, np.linspace(0.5, 1, 100), "only", "By its own probabilities"),
        (80, np.full(100, 0.7), "no", "less than the 90.0 % required"),
        (95, np.full(100, 0.97), "yes", "look like the training rows"),
    ],
)
def test_what_is_required_counts_without_labels_too(right, confidence, answer, words):
    blind = evaluation(np.ones(100, dtype=bool), confidence)
    verdict = reach_verdict(Trained(right), blind._replace(judged={}, is_right=np.empty(0, dtype=bool)), 0.9)
    assert verdict.answer == answer
    assert words in verdict.reason


def test_new_values_and_too_few_rows_do_not_look_like_the_training_rows():
    blind = evaluation(np.ones(100, dtype=bool), np.full(100, 0.97))._replace(judged={})
    verdict = reach_verdict(Trained(), blind._replace(unseen={"city": 60}), 0.9)
    assert verdict.answer == "no"
    assert "60.0 % of the rows have values of column 'city'" in verdict.reason
    verdict = reach_verdict(Trained(), blind._replace(drift=TableDrift(None, [])), 0.9)
    assert "Drift cannot be assessed" in verdict.reason
    assert "look like" not in verdict.reason


@pytest.mark.parametrize(
    ("reasons", "drift", "right", "answer", "words"),
    [
        ([], STILL, 90, "yes", "look like the training rows"),
        (["too uncertain"] * 10, STILL, 90, "only", "10.0 % too uncertain"),
        ([], MOVED, 90, "no", "The rows have drifted: column 'x'"),
        (["unlike the training rows"] * 40, STILL, 90, "no", "40.0 % of the rows are unlike"),
        ([], STILL, 50, "no", "no better than one answer for all"),
    ],
)
def test_without_labels(reasons, drift, right, answer, words):
    reasons = np.array(reasons + [""] * (100 - len(reasons)))
    blind = evaluation(np.ones(100, dtype=bool), np.full(100, 0.9), drift=drift, reasons=reasons)
    verdict = reach_verdict(Trained(right), blind._replace(judged={}, is_right=np.empty(0, dtype=bool)), 0.9)
    assert verdict.answer == answer
    assert words in verdict.reason
    assert "cannot be known without labels" in verdict.reason


def test_a_class_that_is_rarely_found_is_named():
    """And where one answer for all is right about as often, the verdict is no."""
    mostly = evaluation(rows(285, 300), np.full(300, 0.9), majority=0.94)
    answers = mostly.answers._replace(predicted=np.arange(300) % 2)
    mostly = mostly._replace(answers=answers, recalls={"no": (281, 283), "yes": (4, 17)})
    verdict = reach_verdict(Trained(), mostly, 0.9)
    assert verdict.answer == "no"
    assert "of the 17 rows that are 'yes' it finds 4" in verdict.reason
    assert "--priors equal" in verdict.recommendation
    clearly = reach_verdict(Trained(), mostly._replace(majority=("no", 200)), 0.9)
    assert clearly.answer == "yes"
    assert "it finds 4" in clearly.reason


@pytest.mark.parametrize(
    ("n", "words"), [(100, "these are the training rows"), (75, "75 of 100 rows are training rows")]
)
def test_training_rows_prove_nothing(n, words):
    seen = evaluation(rows(100, 100), np.full(100, 0.9))._replace(n_trained_on=n)
    verdict = reach_verdict(Trained(), seen, 0.9)
    assert verdict.answer == "unknown"
    assert words in verdict.headline
