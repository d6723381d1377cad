"""gapboost's graded measures inside ir_measures, such as ``GAP(g=(0.5, 0.5)) @ 10``.

Importing this module registers the provider. ``ir_measures.parse_measure`` reads the text form
``GAP(g='0.5,0.5')@10``, which is what the measures print as.

>>> import ir_measures
>>> from gapboost.analysis.provider import GAP
>>> qrels = [ir_measures.Qrel("601", "a", 2), ir_measures.Qrel("601", "b", 1)]
>>> run = [ir_measures.ScoredDoc("601", "b", 9.0), ir_measures.ScoredDoc("601", "a", 8.0)]
>>> values = ir_measures.calc_aggregate([GAP(g=(0.5, 0.5)), ir_measures.AP], qrels, run)
>>> [round(float(values[measure]), 4) for measure in (GAP(g=(0.5, 0.5)), ir_measures.AP)]
[0.8333, 1.0]
"""

from collections.abc import Iterator
from typing import Any

try:
    import ir_measures
except ImportError as error:
    raise ImportError(
        "gapboost.analysis.provider needs ir_measures; expected it installed: pip install "
        "'gapboost[analysis]'"
    ) from error

from gapboost.analysis.trec import evaluate
from gapboost.measures import as_measure

__all__ = ["GAP", "GapboostProvider", "eGAP", "xGAP"]

PARAMETERS = {
    "cutoff": ir_measures.ParamInfo(dtype=int, required=False, desc="ranking cutoff threshold"),
    "g": ir_measures.ParamInfo(
        dtype=tuple, required=False, default=None, desc="threshold probabilities"
    ),
    "ties": ir_measures.ParamInfo(dtype=str, choices=["expected", "trec_eval"], default="expected"),
}


class _Graded(ir_measures.Measure):  # type: ignore[misc]
    """Graded measure of gapboost in the form of ir_measures.

    Parameters: ``g``, one threshold probability for each positive grade, as a tuple or as text with
    commas, by default uniform over the judged grades; ``cutoff``; ``ties``, "expected" (the
    default) or "trec_eval".
    """

    SUPPORTED_PARAMS = PARAMETERS

    def __init__(self, **params: Any) -> None:
        # ir_measures reads no lists: in its texts g stands in quotes.
        if isinstance(params.get("g"), str):
            params["g"] = tuple(map(float, params["g"].split(",")))
        super().__init__(**params)

    def _param_repr(self, v: Any) -> str:
        return repr(",".join(map(repr, v))) if isinstance(v, tuple) else repr(v)


def _family(name: str) -> Any:
    names = {"__name__": name, "NAME": name, "__doc__": _Graded.__doc__}
    measure = type(f"_{name}", (_Graded,), names)()
    ir_measures.measures.register(measure)
    return measure


GAP, xGAP, eGAP = _family("GAP"), _family("xGAP"), _family("eGAP")


class _Evaluator(ir_measures.Evaluator):  # type: ignore[misc]
    def __init__(self, measures: list[Any], qrels: dict[str, dict[str, int]]) -> None:
        super().__init__(measures, set(qrels))
        self._qrels = qrels

    def _iter_calc(self, run: Any) -> Iterator[Any]:
        scores = ir_measures.util.RunConverter(run).as_dict_of_dict()
        if not set(scores) & set(self._qrels):
            return  # ir_measures then gives every topic the value 0
        for measure in self.measures:
            family: Any = type(as_measure(measure.NAME))
            ours = family(g=measure["g"], k=measure.params.get("cutoff"))
            values: Any = evaluate(ours, self._qrels, scores, ties=measure["ties"], per_query=True)
            for topic, value in zip(values.qid, values[ours], strict=True):
                yield ir_measures.Metric(query_id=topic, measure=measure, value=float(value))


class GapboostProvider(ir_measures.Provider):  # type: ignore[misc]
    """Computes `GAP`, `xGAP` and `eGAP` for ir_measures."""

    NAME = "gapboost"
    SUPPORTED_MEASURES = [  # noqa: RUF012 - the form that ir_measures gives its providers
        measure(**dict.fromkeys(PARAMETERS, ir_measures.providers.base.Any()))
        for measure in (GAP, xGAP, eGAP)
    ]

    def _evaluator(self, measures: Any, qrels: Any) -> _Evaluator:
        return _Evaluator(list(measures), ir_measures.util.QrelsConverter(qrels).as_dict_of_dict())


provider = ir_measures.providers.register(GapboostProvider())
ir_measures.DefaultPipeline.providers.append(provider)
