"""README and guide: every block of code runs, and every command and link is checked.

Python runs in order, one namespace a section, in an empty directory. What a block leaves to its
reader is stated here.
"""

import importlib
import re
import shlex
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from blocks import Block, run, sections
from clusters import cut, ranking
from threadpoolctl import threadpool_limits

import gapboost
import gapboost.datasets
from gapboost.datasets import load_digits_ranking

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PACKAGE = Path(gapboost.__file__).parent
FIRST = [
    ROOT / "README.md",
    *(ROOT / "docs" / name for name in ("index.md", "install.md", "measures.md")),
]
PAGES = [*FIRST, *sorted((ROOT / "docs" / "guide").glob("*.md"))]
SECTIONS = [section for page in PAGES for section in sections(page)]

# A coarser grid is searched, with fewer trees.
SMALL = {
    "simplex_grid(2, 10)": "simplex_grid(2, 2)",
    "n_estimators=500": "n_estimators=60",
    "n_estimators=60)": "n_estimators=10)",
    "cv=5, repeats=2": "cv=2, repeats=2",
}


def trec_files(folder):
    """Judgments of 8 topics, and three runs that are noise beside them."""
    rng = np.random.default_rng(0)
    documents = [(topic, f"d{number}") for topic in range(8) for number in range(12)]
    lines = [f"{topic} 0 {document} {rng.integers(3)}" for topic, document in documents]
    (folder / "qrels.txt").write_text("\n".join(lines) + "\n")
    for name in ("mine", "theirs", "baseline"):
        lines = [
            f"{topic} Q0 {document} 0 {rng.random():.6f} {name}" for topic, document in documents
        ]
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")


def letor_folder(folder, number):
    """Write train.txt, vali.txt and test.txt with some queries of the digits.

    Each `number` gives other query ids.
    """
    folder.mkdir()
    for name, part in load_digits_ranking((12, 6, 6), 10)._asdict().items():
        lines = [
            f"{y} qid:{1000 * number + qid} "
            + " ".join(f"{i}:{x:g}" for i, x in enumerate(row, start=1))
            for y, qid, row in zip(part.y, part.qid, part.X, strict=True)
        ]
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")


@pytest.fixture
def cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        X, y, qid = ranking(40, 0)
        X_val, y_val, qid_val = ranking(20, 1)
        arrays = {
            "X": X,
            "y": y,
            "qid": qid,
            "X_val": X_val,
            "y_val": y_val,
            "qid_val": qid_val,
            "X_new": X_val,
        }
        yield {"client": client, **{name: cut(values, 60) for name, values in arrays.items()}}


def place(section):
    """Return the page and the heading of a section."""
    block = section.of("python")[0]
    return f"{block.page.name}: {section.title}"


def test_no_merge_is_left_half_done():
    """Python would not run with the marks of a conflict; pages would, in front of their readers."""
    folders = (
        ROOT,
        *(ROOT / name for name in ("docs", "docs/guide", "docs/api", "benchmarks", ".github")),
    )
    pages = [
        page
        for folder in folders
        for page in folder.glob("*.*")
        if page.suffix in (".md", ".rst", ".yml", ".cff")
    ]
    assert len(pages) > 30
    for page in pages:
        marks = re.findall(
            r"^(?:<{7}|>{7}|\|{7}).*$", page.read_text(encoding="utf-8"), re.MULTILINE
        )
        assert not marks, f"{page}: {marks}"


@pytest.mark.parametrize(
    "section", [section for section in SECTIONS if section.of("python")], ids=place
)
@pytest.mark.filterwarnings("ignore")  # the libraries' own, as a reader would see them
def test_python(section, request, tmp_path, monkeypatch):
    title = section.title
    page = section.of("python")[0].page.name
    if page == "spark.md" or title == "On Ray":
        pytest.skip("a test of tests/cluster runs it, where there is a Spark or a Ray")
    pytest.importorskip("matplotlib").use("Agg")
    if title == "Save, load, export":
        for library in ("onnxmltools", "onnxruntime", "shap"):
            pytest.importorskip(library)
    trec_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    # The digits with fewer queries, and one thread: a test has neighbors.
    monkeypatch.setattr(
        gapboost.datasets, "load_digits_ranking", lambda: load_digits_ranking((24, 12, 12), 12)
    )
    names = request.getfixturevalue("cluster") if title == "Train on a cluster" else {}
    code = "".join(block.code for block in section.of("python"))
    with threadpool_limits(1):
        run(
            section.of("python"),
            names,
            {text: small for text, small in SMALL.items() if text in code},
        )


def test_all_python_is_found():
    """The test above would be content with no block."""
    found = sum(len(section.of("python")) for section in SECTIONS)
    assert (
        sum(page.read_text(encoding="utf-8").count("```python\n") for page in PAGES) == found >= 12
    )


COMMANDS = [
    command.strip()
    for section in SECTIONS
    for block in section.of("sh")
    for command in block.code.replace("\\\n", " ").replace("\n", " && ").split("&&")
    if command.strip()
]

# What comes with Python, is installed by an earlier command of the same line, or is named in the
# text beside it.
INSTALLERS = (["python3", "-m", "venv"], ["uv", "venv"], ["uv", "pip"])


def test_commands():
    """Every command is one that installs, with extras that exist, the tests, or an example."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    examples = set()
    for command in COMMANDS:
        words = shlex.split(command)
        python = Path(words[0]).name == "python"
        if words[:3] in INSTALLERS or words[:2] in INSTALLERS or Path(words[0]).name == "pip":
            asked = [
                word.removeprefix(".[").removesuffix("]") for word in words if word.startswith(".[")
            ]
            assert set(asked) <= set(extras), command
        elif python and words[1].endswith(".py"):
            assert (ROOT / words[1]).is_file(), command
            examples.add(Path(words[1]).name)
        elif words[0] == "curl":
            assert words[-1] in ("@gap.json", "@gap_solr.json"), command
        else:
            assert python, command
            assert words[1] == "-m", command
            modules = (
                "pytest",
                "gapboost.comparison",
                "gapboost.diagnosis",
                "gapboost.export.verify",
            )
            assert words[2] in modules, command
    assert examples == {path.name for path in (ROOT / "examples").glob("*.py")} - {"comparison.py"}


EXAMPLES = {
    "quickstart.py": [],
    "letor.py": ["Fold1"],
    "choose_g.py": ["."],
    "analyze_runs.py": ["qrels.txt", "mine.txt", "theirs.txt", "baseline.txt", "--out", "pictures"],
}

# Fewer rounds, and a coarser grid.
SMALLER = {"choose_g.py": {"= 5, 10, range(10, 201, 10)": "= 5, 2, range(2, 5)"}}


READ = [
    *PAGES,
    *ROOT.glob("docs/*.md"),
    *ROOT.glob("benchmarks/*.md"),
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
]
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


@pytest.mark.parametrize("page", READ, ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page):
    """Linked files exist.

    `tests/studies` checks results of studies, and Sphinx checks headings.
    """
    paths = {
        path: (page.parent / path).resolve()
        for path in LINK.findall(page.read_text(encoding="utf-8"))
    }
    paths = {path: at for path, at in paths.items() if at.parent.name != "results"}
    # The package to test may be the installed one.
    here = {
        path: PACKAGE / at.relative_to(ROOT / "gapboost")
        for path, at in paths.items()
        if at.is_relative_to(ROOT / "gapboost")
    }
    missing = [path for path, at in (paths | here).items() if not at.exists()]
    assert not missing


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.filterwarnings("ignore")
def test_examples(name, tmp_path, monkeypatch, capsys):
    """They run as the commands name them, on small files in place of yours."""
    pytest.importorskip("matplotlib").use("Agg")
    trec_files(tmp_path)
    for fold in range(1, 6):
        letor_folder(tmp_path / f"Fold{fold}", fold)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [name, *EXAMPLES[name]])
    monkeypatch.setattr(
        gapboost.datasets, "load_digits_ranking", lambda: load_digits_ranking((24, 12, 12), 12)
    )
    monkeypatch.syspath_prepend(ROOT / "examples")
    monkeypatch.setattr(importlib.import_module("comparison"), "ROUNDS", 5)
    path = ROOT / "examples" / name
    with threadpool_limits(1):
        run([Block("python", path.read_text(encoding="utf-8"), path, 1)], instead=SMALLER.get(name))
    assert len(capsys.readouterr().out.splitlines()) > 5
