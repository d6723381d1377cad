"""The migration page: its scripts run, and its tables hold all parameters of the boosters."""

import importlib.util
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from blocks import run, sections
from collections_on_disk import real
from pages import in_one_line, text
from threadpoolctl import threadpool_limits

import gapboost as gb
from gapboost.datasets import load_letor

pytest.importorskip("lightgbm")
xgboost = pytest.importorskip("xgboost")

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "migration.md"
SCRIPTS = [block for section in sections(PAGE) for block in section.of("python")]


@pytest.fixture(scope="module")
def words():
    """The module that makes the tables."""
    spec = importlib.util.spec_from_file_location("words", ROOT / "docs" / "words.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_scripts_run():
    smaller = {
        "load_digits_ranking()": "load_digits_ranking((40, 20, 20), 16)",
        "n_estimators=60": "n_estimators=3",
    }
    assert len(SCRIPTS) >= 8
    with threadpool_limits(1):
        run(SCRIPTS, instead=smaller)


@pytest.mark.parametrize("path", [real("mq2007/mq2007.txt.gz")])
@pytest.mark.filterwarnings("ignore")
def test_what_changes_in_logs(path):
    """The table of the first tree: a random two fifths of the queries validate, one tree."""
    from gapboost.xgboost import XGBGAPRanker

    data = load_letor(path)

    def part(queries):
        rows = np.flatnonzero(np.isin(data.qid, queries))
        rows = rows[np.argsort(data.qid[rows], kind="stable")]
        return data.X[rows], data.y[rows], data.qid[rows]

    queries = np.random.default_rng(0).permutation(np.unique(data.qid))
    (X, y, qid), (vali_X, vali_y, vali_qid) = part(queries[:-677]), part(queries[-677:])
    page = in_one_line(PAGE)
    empty = sum(
        grades.max() == 0 for grades in np.split(vali_y, np.flatnonzero(np.diff(vali_qid)) + 1)
    )
    assert f"On 677 validation queries of MQ2007, of which {empty} have nothing relevant" in page
    logged = []
    for name, ranker in {
        "XGBRanker": xgboost.XGBRanker(n_estimators=1, eval_metric="ndcg@10"),
        'XGBGAPRanker(measure="ndcg@10")': XGBGAPRanker(measure="ndcg@10", n_estimators=1),
    }.items():
        ranker.fit(X, y, qid=qid, eval_set=[(vali_X, vali_y)], eval_qid=[vali_qid], verbose=False)
        logged.append(text(ranker.evals_result()["validation_0"]["ndcg@10"][0]))
        scores = ranker.predict(vali_X)
        values = [gb.evaluate("ndcg@10", vali_y, scores, vali_qid, empty=e) for e in (0, 1, "skip")]
        assert f"| {name} | {' | '.join(text(*v.values()) for v in values)} |" in page
    assert (
        f'logs nDCG@10 {logged[0]} after its first tree and `XGBGAPRanker(measure="ndcg@10")` '
        f"{logged[1]}." in page
    )


@pytest.mark.parametrize("library", ["LightGBM", "XGBoost"])
def test_each_word_has_an_example(words, library):
    """A word that the rankers learn shows up here before it is missing in the table."""
    vocabulary = words.RANKERS[library][2]
    assert {names[0] for names in words.groups(vocabulary)} == set(words.EXAMPLES[library])


@pytest.mark.slow
def test_tables_say_what_happens(words):
    tables = words.substitutions()
    text = PAGE.read_text(encoding="utf-8")
    assert set(re.findall(r"\{\{ (\w+) \}\}", text)) == set(tables)
    lines = tables["lightgbm_words"].splitlines()
    (line,) = [line for line in lines if line.startswith("| `lambdarank_truncation_level=20`")]
    assert line.endswith("| trains by `LambdaRank(nDCG(), truncation=20)` |")
    (line,) = [line for line in lines if line.startswith("| `label_gain=(0, 1, 3)`")]
    assert "error: write `measure=" in line
    (line,) = [
        line
        for line in tables["xgboost_words"].splitlines()
        if line.startswith("| `eval_metric='pre@5'`")
    ]
    assert "reports `precision@5`" in line
    assert "`num_leaves`" in tables["lightgbm_trees"]
    assert "`position`" in tables["lightgbm_fit"]


def names(title, *columns):
    """The names in code in the first column of the table under a heading."""
    table = PAGE.read_text(encoding="utf-8").partition(f"# {title}\n")[2].partition("\n#")[0]
    firsts = [line.split("|")[1] for line in table.splitlines() if line.startswith("|")]
    return [name for cell in firsts for name in re.findall(r"`(\w+)`", cell)]


def listed(function):
    return set(inspect.signature(function).parameters) - {"self"}


def test_no_parameter_of_catboost_stands_twice():
    said = names("Every parameter of CatBoostRanker")
    assert len(said) == len(set(said)) > 100


def test_every_parameter_of_catboost():
    ranker = pytest.importorskip("catboost").CatBoostRanker
    assert set(names("Every parameter of CatBoostRanker")) == listed(ranker.__init__)
    of_calls = listed(ranker.fit) | listed(ranker.predict) | listed(ranker.score)
    assert (
        set(names("Arguments of fit, predict and score")) - {"fit", "predict", "score"} == of_calls
    )
