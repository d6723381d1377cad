"""Evaluator ``gapboost`` of MLflow: a report of a model, logged to its run.

MLflow finds the class by the entry point in ``pyproject.toml``, and creates it without arguments.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gapboost._data.arguments import shown
from gapboost._data.columns import numeric_column
from gapboost._kernels import Array
from gapboost.diagnosis.call import DEFAULT_MEASURES, report
from gapboost.diagnosis.report_result import Report
from gapboost.preprocessing.pipeline import library_of

MODEL_TYPE = "ranker"
CONFIG = ("qid", "train", "slices", "measures", "ignore")


class ReportEvaluator:
    """Evaluator ``"gapboost"`` of ``mlflow.models.evaluate`` for ``model_type="ranker"``.

    It makes a `gapboost.report` and logs to the run: the mean of each measure, ``checks_found``,
    ``report.html`` and ``checks.csv``. Keys of ``evaluator_config``:

    ============  ==========================================================
    ``qid``       column with the query ids, by default ``"qid"``
    ``train``     data frame of the training rows, with the same columns
    ``slices``    columns that group the queries; they are no features
    ``measures``  as in `gapboost.report`
    ``ignore``    as in `gapboost.report`
    ============  ==========================================================

    Examples
    --------
    >>> from gapboost.diagnosis.mlflow_evaluator import ReportEvaluator
    >>> ReportEvaluator.can_evaluate(model_type="ranker", evaluator_config={})
    True
    """

    @classmethod
    def can_evaluate(cls, *, model_type: Any, evaluator_config: Any, **others: Any) -> bool:
        """Return True for the model type ``"ranker"``, which no evaluator of MLflow takes."""
        return bool(model_type == MODEL_TYPE)

    def evaluate(
        self,
        *,
        model_type: str,
        dataset: Any,
        run_id: str,
        evaluator_config: Mapping[str, Any],
        model: Any = None,
        extra_metrics: Any = None,
        custom_artifacts: Any = None,
        model_id: Any = None,
        **others: Any,
    ) -> Any:
        """Make a report, log it to the run, and return MLflow's ``EvaluationResult``.

        Parameters
        ----------
        model_type, dataset, run_id, evaluator_config, model, extra_metrics, custom_artifacts,
        model_id
            As MLflow passes them. Without a model, the predictions of the data set are the scores.

        Raises
        ------
        ValueError, TypeError
            If an argument is unusable; the message names it, what was found and what is expected.
        """
        for name, given in {
            "extra_metrics": extra_metrics,
            "custom_artifacts": custom_artifacts,
        }.items():
            if given:
                raise ValueError(f'{name} is given; expected none with evaluators="gapboost"')
        found = _report(model, dataset, evaluator_config)
        return _logged(found, run_id, model_id)


def _report(model: Any, dataset: Any, config: Mapping[str, Any]) -> Report:
    unknown = [name for name in config if name not in CONFIG]
    if unknown:
        raise ValueError(
            f"evaluator_config holds {shown(unknown[0])}; expected some of {', '.join(CONFIG)}"
        )
    if not dataset.has_targets:
        raise ValueError("targets is missing; expected the name of the column with the grades")
    slices = list(config.get("slices", ()))
    X, qid = _columns(dataset.features_data, "data", config, slices)
    given = {name: config[name] for name in ("measures", "ignore") if name in config}
    training: dict[str, Any] = {}
    if (train := config.get("train")) is not None:
        X_train, qid_train = _columns(
            train, "train", config, [one for one in slices if one in train]
        )
        target = dataset.targets_name
        if target not in X_train:
            raise ValueError(
                f"train has no column {target!r}; expected the grades, under their name in data"
            )
        training = {
            "X_train": X_train.drop(columns=target),
            "y_train": X_train[target],
            "qid_train": qid_train,
        }
    return report(
        _Predictions(dataset.predictions_data) if model is None else _raw(model),
        X,
        dataset.labels_data,
        qid,
        slices={name: dataset.features_data[name] for name in slices},
        **{"measures": DEFAULT_MEASURES, **given},
        **training,
    )


def _columns(
    table: Any, name: str, config: Mapping[str, Any], slices: list[str]
) -> tuple[Any, Any]:
    """Return the features and the query ids of a data frame."""
    qid = config.get("qid", "qid")
    for column in (qid, *slices):
        if column not in getattr(table, "columns", ()):
            raise ValueError(
                f"{name} has no column {column!r}; expected a data frame with the columns qid and "
                "slices"
            )
    return table.drop(columns=[qid, *slices]), table[qid]


def _raw(model: Any) -> Any:
    """Return the ranker inside a model of MLflow if its contributions are known, else the model."""
    raw = model.get_raw_model() if hasattr(model, "get_raw_model") else model
    return raw if library_of(raw) else model


class _Predictions:
    """Ranker whose scores are known."""

    def __init__(self, scores: Any) -> None:
        self.scores = numeric_column(scores, "predictions", "scores")

    def predict(self, X: Any) -> Array:
        """Return the scores of all rows."""
        return self.scores


def _logged(found: Report, run_id: str, model_id: Any) -> Any:
    import mlflow
    from mlflow.models.evaluation.artifacts import CsvEvaluationArtifact, TextEvaluationArtifact

    means = found.values["value"]
    metrics = {
        measure.label: float(means[name]) for name, measure in found.subject.measures.items()
    }
    metrics["checks_found"] = float(sum(result.found for result in found.results))
    mlflow.log_metrics(metrics, run_id=run_id, model_id=model_id)
    client = mlflow.MlflowClient()
    checks = found.checks.reset_index()
    with tempfile.TemporaryDirectory() as folder:
        page, table = Path(folder, "report.html"), Path(folder, "checks.csv")
        found.to_html(page)
        checks.to_csv(table, index=False)
        text = page.read_text(encoding="utf-8")
        for path in (page, table):
            client.log_artifact(run_id, str(path))
    at = client.get_run(run_id).info.artifact_uri
    artifacts = {
        "report": TextEvaluationArtifact(f"{at}/report.html", text),
        "checks": CsvEvaluationArtifact(f"{at}/checks.csv", checks),
    }
    return mlflow.models.EvaluationResult(metrics, artifacts, run_id)
