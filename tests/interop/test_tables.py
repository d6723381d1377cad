"""The tables of docs/works_with.md have the tools' versions, and what the tests show."""

import re
from importlib import import_module

import pytest
from pages import CLAIMS, DOCS, FOLDER, name_of, rows_of_table

FILES = [path.stem for path in FOLDER.glob("test_*.py") if path.stem != "test_tables"]
VERSIONS = dict(re.findall(r"^([\w.-]+)==(\S+)$", (FOLDER / "requirements.txt").read_text(), re.M))
# Names of packages that are others than those of the tools.
PACKAGES = {"hummingbird": "hummingbird-ml", "timber": "timber-compiler", "Spark": "pyspark"}
PACKAGES |= {"Ray Train": "ray", "Dask": "dask", "MLflow": "mlflow", "Optuna": "optuna"}


@pytest.mark.parametrize(("page", "least"), [("works_with.md", 30), ("measures.md", 4)])
def test_versions_of_the_tools(page, least):
    """In tables and sentences."""
    text = (DOCS / page).read_text(encoding="utf-8")
    named = re.findall(r"([A-Z]?[\w-]+(?: Train)?) (?:is )?(\d+(?:\.\d+)+)", text)
    known = {name.lower().replace("_", "-"): version for name, version in VERSIONS.items()}
    found = [(PACKAGES.get(name, name).lower().replace("_", "-"), v) for name, v in named]
    found = [(name, version) for name, version in found if name in known]
    assert len(found) >= least
    for name, version in found:
        assert f"{known[name]}.".startswith(f"{version}."), name


def test_the_page_says_what_the_tests_show():
    for file in FILES:
        import_module(file)
    found = {
        (name_of(row["tool"]), column): row[column]
        for row in rows_of_table("works_with.md", "Tuners, trackers, frames, engines")
        for column in ("agrees", "differs")
        if row[column]
    }
    assert found == {cell: "; ".join(claims) for cell, claims in CLAIMS.items()}
