"""Entry point, arguments and errors of the evaluator for MLflow; tests/docs runs it with MLflow."""

import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from planted import Case

from gapboost.diagnosis.mlflow_evaluator import ReportEvaluator, _report

pandas = pytest.importorskip("pandas")
PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


def test_the_entry_point_leads_to_the_class():
    group = "mlflow.model_evaluator"
    ((name, value),) = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"][
        "entry-points"
    ][group].items()
    assert name == "gapboost"
    assert EntryPoint(name, value, group).load() is ReportEvaluator


def test_other_models_are_left_to_others():
    for kind in (None, "classifier", "regressor"):
        assert not ReportEvaluator().can_evaluate(model_type=kind, evaluator_config={})


def frame(part):
    return pandas.DataFrame(part.X, columns=list("abcde")).assign(
        query=part.qid, grade=part.y, half=part.qid % 2
    )


def given(**changes):
    """Return a data set as MLflow passes it."""
    table = frame(Case().test)
    parts = {"features_data": table.drop(columns="grade"), "labels_data": table["grade"].to_numpy()}
    return SimpleNamespace(
        **{
            **parts,
            "has_targets": True,
            "targets_name": "grade",
            "predictions_data": None,
            **changes,
        }
    )


def test_the_report_is_that_of_the_columns():
    """Query ids and slices are no features, in training neither."""
    case = Case()
    config = {
        "qid": "query",
        "train": frame(case.training),
        "slices": ["half"],
        "measures": "ap",
        "ignore": ["ties"],
    }
    report = _report(case.ranker, given(), config)
    subject = report.subject
    assert subject.test.features.names == subject.training.features.names == tuple("abcde")
    np.testing.assert_array_equal(subject.test.queries.ids, np.unique(case.test.qid))
    assert report.slices.loc["half", "queries"].tolist() == [30, 30]
    assert list(subject.measures) == ["ap"]
    assert report.checks.loc["ties", "status"] == "ignored"
    scores = case.ranker.predict(case.test.X)
    alone = _report(
        None, given(predictions_data=scores), {"qid": "query", "slices": ["half"], "measures": "ap"}
    )
    assert alone.values.loc["ap", "value"] == report.values.loc["ap", "value"]


CONFIG = {"qid": "query", "slices": ["half"]}
MESSAGES = {
    "an unknown key": (
        {"config": {"queries": 1}},
        "evaluator_config holds 'queries'; expected some of qid, train, ",
    ),
    "no grades": (
        {"has_targets": False},
        "targets is missing; expected the name of the column with the grades",
    ),
    "no query ids": ({"config": {}}, "data has no column 'qid'; expected a data frame with"),
    "an array": (
        {"features_data": np.zeros((3, 2))},
        "data has no column 'query'; expected a data frame with",
    ),
    "no slice": (
        {"config": {**CONFIG, "slices": ["language"]}},
        "data has no column 'language'; expected",
    ),
    "no training ids": (
        {"config": {**CONFIG, "train": frame(Case().training).drop(columns="query")}},
        "train has no column 'query'; expected",
    ),
    "no training grades": (
        {"config": {**CONFIG, "train": frame(Case().training).drop(columns="grade")}},
        "train has no column 'grade'; expected the grades, under their name in data",
    ),
    "a metric": (
        {"extra_metrics": [1]},
        'extra_metrics is given; expected none with evaluators="gapboost"',
    ),
    "an artifact": ({"custom_artifacts": [1]}, "custom_artifacts is given; expected none"),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_unusable_arguments(case):
    changes, message = MESSAGES[case]
    config = changes.get("config", CONFIG)
    passed = {
        name: value
        for name, value in changes.items()
        if name in ("extra_metrics", "custom_artifacts")
    }
    others = {name: value for name, value in changes.items() if name not in (*passed, "config")}
    with pytest.raises(ValueError, match=message):
        ReportEvaluator().evaluate(
            model_type="ranker",
            dataset=given(**others),
            run_id="",
            evaluator_config=config,
            model=Case().ranker,
            **passed,
        )
