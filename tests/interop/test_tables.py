"""The tables of docs/works_with.md have the tools' versions, and what the tests show."""

import re
from importlib import import_module

import pytest
from pages import CLAIMS, FOLDER, name_of, rows_of_table

FILES = [path.stem for path in FOLDER.glob("test_*.py") if path.stem != "test_tables"]
VERSIONS = dict(re.findall(r"^([\w.-]+)==(\S+)$", (FOLDER / "requirements.txt").read_text(), re.M))
# Names of packages that are others than those of the tools.
PACKAGES = {"hummingbird": "hummingbird-ml", "timber": "timber-compiler", "Spark": "pyspark"}
PACKAGES |= {"Ray Train": "ray", "Dask": "dask", "MLflow": "mlflow", "Optuna": "optuna"}


@pytest.mark.parametrize("title", ["Exporters and compilers", "Tuners, trackers, frames, engines"])
def test_versions_of_the_tools(title):
    for row in rows_of_table("works_with.md", title):
        for name, version in re.findall(r"([^,]+?) ([\d.]+)(?=,|$)", row["tool"]):
            name = name.strip()
            assert f"{VERSIONS[PACKAGES.get(name, name)]}.".startswith(f"{version}."), name


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
