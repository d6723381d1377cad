"""XGBoost ranker on a Dask cluster."""

from functools import partial
from typing import Any, Self

import dask.array as da
import numpy as np
import xgboost.dask

from gapboost._boosters.ranker import refuse
from gapboost._data.features import split, without_qid
from gapboost._data.grades import GradeLimit
from gapboost._data.judged import DataSummary
from gapboost.dask.rows import survey
from gapboost.xgboost import XGBGAPRanker, eval_metric, objective
from gapboost.xgboost.models import finished

OFFERED = (
    "XGBoost has no functions as metrics on Dask, because it adds up measures over its workers"
)


class DaskXGBGAPRanker(XGBGAPRanker, xgboost.dask.DaskXGBRanker):  # type: ignore[misc]
    """`XGBGAPRanker` trained by `xgboost.dask.train`.

    It promises that ``g=None`` is that of all rows, that no query is cut, and that metrics are
    exact means over all queries: early stopping ends on all workers in the same round. It does not
    promise the model of one machine: XGBoost merges the bins of features of its workers, and ties
    are ordered within each worker.

    It has no weights and no positions.

    Parameters
    ----------
    coll_cfg : xgboost.collective.Config, optional
    **kwargs
        Parameters of `XGBGAPRanker`. Set the attribute `client` to use another client than the one
        that was opened last.

    Examples
    --------
    >>> from gapboost.dask import DaskXGBGAPRanker
    >>> DaskXGBGAPRanker(measure="gap", n_estimators=20).get_params()["n_estimators"]
    20
    """

    def __init__(self, *, coll_cfg: Any = None, **kwargs: Any) -> None:
        super().__init__(coll_cfg=coll_cfg, **kwargs)

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        qid: Any = None,
        *,
        base_margin: Any = None,
        eval_set: Any = None,
        eval_qid: Any = None,
        base_margin_eval_set: Any = None,
        verbose: bool | int | None = False,
        xgb_model: Any = None,
    ) -> Self:
        """Train on all workers that hold partitions.

        Parameters
        ----------
        X : Dask array or data frame of shape (N, n_features)
            Each partition holds whole queries, as those of a data frame after
            ``frame.shuffle("qid")``.
        y : Dask array or series of shape (N,)
            Grades ``0..c``, with the partitions of `X`.
        qid : Dask array or series of shape (N,)
            Query id of each row. A data frame `X` may hold it as the column ``qid``.
        base_margin : Dask array or series of shape (N,), optional
        eval_set : list of (X, y), optional
        eval_qid, base_margin_eval_set : list of Dask collections, optional
            Query ids and initial scores of each evaluation set.
        verbose, xgb_model
            As in `XGBGAPRanker.fit`.

        Raises
        ------
        ValueError, TypeError
            If an argument or parameter is unusable, or if a query is in several partitions.
        """
        plan = self._plan()
        refuse({"eval_metric": plan.functions or None}, OFFERED)
        refuse({"allow_group_split": self.allow_group_split or None}, "no query is cut here")
        train, summary = self._dask_matrix(plan.limit, X, y, qid, base_margin)
        summary.check_contrasts("y")
        plan = plan.resolved(summary.occurring)
        sets = list(eval_set or [])
        ids, margins = (values or [None] * len(sets) for values in (eval_qid, base_margin_eval_set))
        evals = [
            (self._dask_matrix(plan.limit, X, y, q, margin, train)[0], f"validation_{i}")
            for i, ((X, y), q, margin) in enumerate(zip(sets, ids, margins, strict=True))
        ]
        n_jobs = min(self.client.nthreads().values())
        found = xgboost.dask.train(
            self.client,
            self._train_parameters(self.get_xgb_params()),
            train,
            self.get_num_boosting_rounds(),
            evals=evals,
            obj=objective(plan.objective, n_jobs=n_jobs),
            custom_metric=eval_metric(plan.measures[::-1], n_jobs=n_jobs),
            early_stopping_rounds=self.early_stopping_rounds,
            verbose_eval=verbose,
            xgb_model=xgb_model,
            callbacks=self.callbacks,
            coll_cfg=self.coll_cfg,
        )
        booster = finished(found["booster"], plan.objective)
        learned = {"_Booster": booster, "evals_result_": found["history"]}
        self._learn(plan.objective, summary, booster.feature_names or (), learned)
        return self

    def _dask_matrix(
        self, limit: GradeLimit, X: Any, y: Any, qid: Any, base_margin: Any, train: Any = None
    ) -> tuple[Any, DataSummary]:
        """Return the matrix of a data set, and the summary of its rows."""
        X, qid = split(X, qid)
        summary, ids = survey(self.client, limit, y=y, qid=qid)
        # XGBoost keeps 32 bits of an id.
        numbers = da.asarray(qid).map_blocks(partial(np.searchsorted, ids), dtype=np.int64)
        matrix = xgboost.dask.DaskQuantileDMatrix(
            self.client,
            X,
            y,
            qid=numbers,
            base_margin=base_margin,
            missing=self.missing,
            feature_types=self.feature_types,
            max_bin=self.max_bin,
            enable_categorical=self.enable_categorical,
            ref=train,
        )
        return matrix, summary

    def predict(self, X: Any, **kwargs: Any) -> Any:
        """Return the scores of Dask collections, lazily; arguments as in `XGBGAPRanker.predict`.

        Parameters
        ----------
        X : Dask array or data frame of shape (N, n_features)

        Returns
        -------
        Dask array of shape (N,)
        """
        return xgboost.dask.DaskXGBRanker.predict(self, without_qid(X)[0], **kwargs)

    def to_local(self) -> XGBGAPRanker:
        """Return the local ranker with the same parameters and, once fitted, the same booster."""
        given = self.get_params(deep=False)
        del given["coll_cfg"]
        local = XGBGAPRanker(**given)
        others = {*given, "coll_cfg", "allow_group_split", "_client", "_asynchronous", "kwargs"}
        local.__dict__.update({n: v for n, v in vars(self).items() if n not in others})
        return local
