"""README, guide and recipes: every block of Python and every example runs, and links lead to files.

A page runs from top to bottom in one namespace, in an empty directory. `GIVEN` states what a page
leaves to its reader.
"""

import importlib
import itertools
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from blocks import Block, run, sections
from threadpoolctl import threadpool_limits

import gapboost.datasets
from gapboost.datasets import load_digits_ranking

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("index", "install", "measures", "migration")),
    ROOT / "docs" / "works_with.md",
    *sorted((ROOT / "docs" / "guide").glob("*.md")),
]
# Sections that tests of clusters run, where there is a Spark or a Ray.
ELSEWHERE = {"Spark", "On Spark", "Train on Spark", "On Ray"}
# A coarser grid is searched, with fewer trees and trials.
SMALLER = {
    "simplex_grid(2, 10)": "simplex_grid(2, 2)",
    "n_estimators=500": "n_estimators=60",
    "n_estimators=100,": "n_estimators=20,",
    "n_trials=20": "n_trials=2",
    "cv=5, repeats=2": "cv=2, repeats=2",
}


def trec_files(folder):
    """Write invented judgments of 50 topics, and three runs that know something of them."""
    rng = np.random.default_rng(0)
    documents = [(topic, f"d{number}") for topic in range(50) for number in range(12)]
    grades = rng.integers(3, size=len(documents))
    lines = [f"{t} 0 {document} {g}" for (t, document), g in zip(documents, grades, strict=True)]
    (folder / "qrels.txt").write_text("\n".join(lines) + "\n")
    for name, knowledge in (("mine", 0.25), ("theirs", 0.2), ("baseline", 0.05)):
        scores = rng.random(len(documents)) + knowledge * grades
        lines = [
            f"{topic} Q0 {document} 0 {score:.6f} {name}"
            for (topic, document), score in zip(documents, scores, strict=True)
        ]
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")


def letor_folders(directory):
    """Write five folds as LETOR has them, of some queries of the digits."""
    data, _, _ = load_digits_ranking((30, 6, 6), 10)
    fifths = np.split(np.arange(len(data)), 5)
    for test in range(5):
        folder = directory / f"Fold{test + 1}"
        folder.mkdir()
        train = np.concatenate([fifths[(test + other) % 5] for other in (1, 2, 3)])
        for name, rows in (("train", train), ("vali", fifths[test - 1]), ("test", fifths[test])):
            lines = [
                f"{data.y[row]} qid:{data.qid[row]} "
                + " ".join(f"{i}:{x:g}" for i, x in enumerate(data.X[row], start=1))
                for row in rows
            ]
            (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")


@pytest.fixture
def directory(tmp_path, monkeypatch):
    """An empty directory with the reader's files."""
    pytest.importorskip("matplotlib").use("Agg")
    pyplot = importlib.import_module("matplotlib.pyplot")
    trec_files(tmp_path)
    letor_folders(tmp_path)
    monkeypatch.chdir(tmp_path)
    with threadpool_limits(1):  # a test has neighbors
        yield
    pyplot.close("all")  # shap draws into the current figure


@pytest.fixture
def desk(directory, monkeypatch):
    """The same, and the digits have fewer queries."""
    monkeypatch.setattr(
        gapboost.datasets, "load_digits_ranking", lambda: load_digits_ranking((24, 12, 12), 12)
    )


@pytest.fixture
def client():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=True) as client,
    ):
        yield client


def smaller(code):
    return {text: small for text, small in SMALLER.items() if text in code}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@pytest.mark.filterwarnings("ignore")  # the libraries' own, as a reader would see them
def test_python(page, desk, request):
    names = {"client": request.getfixturevalue("client")} if page.stem == "cluster" else {}
    blocks = [
        block
        for section in sections(page)
        if section.title not in ELSEWHERE
        for block in section.of("python")
    ]
    run(blocks, names, smaller("".join(block.code for block in blocks)))


def outputs(page):
    """Return the blocks of Python of a page, each with the block of text right below it or None."""
    pairs = []
    for section in sections(page):
        blocks = [] if section.title in ELSEWHERE else [*section.blocks, None]
        for block, below in itertools.pairwise(blocks):
            if block.language == "python":
                is_output = below is not None and below.language == "text"
                pairs.append((block, below if is_output else None))
    last = max((place for place, (_, below) in enumerate(pairs) if below), default=-1)
    return pairs[: last + 1]


# The digits that pages show are those of these versions.
SHOWN_BY = {"lightgbm": (4, 7), "xgboost": (3, 2)}


@pytest.mark.parametrize("page", [*filter(outputs, PAGES)], ids=lambda page: page.name)
@pytest.mark.filterwarnings("ignore")
def test_outputs(page, directory, request, capsys):
    """Pages show what their code prints."""
    for library, lowest in SHOWN_BY.items():
        version = importlib.import_module(library).__version__.split(".")
        if tuple(map(int, version[:2])) < lowest:
            pytest.skip(f"{library} is older")
    names = {"client": request.getfixturevalue("client")} if page.stem == "cluster" else {}
    for block, below in outputs(page):
        capsys.readouterr()
        names = run([block], names)
        if below is not None:
            found, shown = (
                [line.rstrip() for line in text.strip("\n").splitlines()]
                for text in (capsys.readouterr().out, below.code)
            )
            assert found == shown, f"{page.name}, line {below.line}"


EXAMPLES = {
    "quickstart.py": [],
    "letor.py": ["Fold1"],
    "choose_g.py": ["."],
    "analyze_runs.py": ["qrels.txt", "mine.txt", "theirs.txt", "baseline.txt", "--out", "pictures"],
}


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.filterwarnings("ignore")
def test_examples(name, desk, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [name, *EXAMPLES[name]])
    monkeypatch.syspath_prepend(ROOT / "examples")
    monkeypatch.setattr(importlib.import_module("comparison"), "ROUNDS", 5)
    path = ROOT / "examples" / name
    code = path.read_text(encoding="utf-8")
    coarse = {"= 5, 5, range(10, 101, 10)": "= 5, 2, range(2, 5)"}
    run([Block("python", code, path, 1)], instead=coarse if name == "choose_g.py" else None)
    assert capsys.readouterr().out


LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
READ = [
    *PAGES,
    *ROOT.glob("docs/*.md"),
    *ROOT.glob("benchmarks/*.md"),
    *(ROOT / f"{name}.md" for name in ("CONTRIBUTING", "CHANGELOG")),
]


@pytest.mark.parametrize("page", READ, ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page):
    """Linked files exist; Sphinx checks headings."""
    links = LINK.findall(page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []
