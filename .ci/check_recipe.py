"""Hold the conda recipe against pyproject.toml, and render it: ``python .ci/check_recipe.py``."""

import re
import sys
import tomllib

import yaml
from rattler_build import Stage0Recipe, VariantConfig
from release import PLACES, RECIPE, ROOT, VERSION

# Names that conda-forge gives to distributions of the package index.
CONDA = {"xgboost": "py-xgboost"}


def main() -> None:
    """Compare both files, then let conda's own builder read and render the recipe."""
    text = RECIPE.read_text(encoding="utf-8")
    recipe, built = (
        yaml.safe_load(text),
        tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8")),
    )
    project, needs = built["project"], recipe["requirements"]
    version = re.search(PLACES[VERSION], VERSION.read_text("utf-8"), re.MULTILINE)
    boosters = [
        need for name in ("lightgbm", "xgboost") for need in project["optional-dependencies"][name]
    ]
    for what, found, expected in (
        ("version", recipe["context"]["version"], version and version[1]),
        ("python_min", f">={recipe['context']['python_min']}", project["requires-python"]),
        ("host", needs["host"][2:], spaced(built["build-system"]["requires"])),
        ("run", needs["run"][1:], spaced(project["dependencies"])),
        ("run_constraints", needs["run_constraints"], spaced(boosters)),
        ("homepage", recipe["about"]["homepage"], project["urls"]["Source"]),
        ("summary", recipe["about"]["summary"], project["description"]),
        ("license", recipe["about"]["license"], project["license"]),
    ):
        if found != expected:
            sys.exit(
                f"{RECIPE.name}: {what} is {found!r}; expected {expected!r} as in pyproject.toml"
            )
    rendered = Stage0Recipe.from_yaml(text).render(VariantConfig())
    print(f"{RECIPE.name}: {len(rendered)} package(s) rendered")


def spaced(requirements: list[str]) -> list[str]:
    """Return requirements as conda writes them, without those of some Pythons only.

    Its own numba knows its Pythons.
    """
    parted = [re.split("(?=[<>=!~])", need, maxsplit=1) for need in requirements if ";" not in need]
    return [f"{CONDA.get(name, name)} {bound}" for name, bound in parted]


if __name__ == "__main__":
    main()
