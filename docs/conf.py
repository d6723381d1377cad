"""The documentation: ``sphinx-build -W -b html docs docs/_build/html``, without a network."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import gapboost

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import reference  # noqa: E402

ROOT = HERE.parent
REPOSITORY = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Source"]

project = "gapboost"
author = "The gapboost developers"
copyright = "The gapboost developers"
version = release = gapboost.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",
]
exclude_patterns = ["_build", "tutorials"]
templates_path = ["_templates"]
html_theme = "furo"
# Between releases the commit tells one page from another.
describe = ["git", "describe", "--tags", "--always"]
commit = subprocess.run(describe, cwd=HERE, capture_output=True, text=True, check=False).stdout
html_title = f"gapboost {release}" + (f" ({commit.strip()})" if commit.strip() else "")
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_logo = "_static/logo.svg"
html_favicon = html_logo
html_theme_options = {"navigation_with_keys": True}
pygments_dark_style = "github-dark"

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 4

default_role = "code"  # docstrings write names in single backticks
autosummary_generate = True
autodoc_typehints = "none"  # numpydoc sections say the types
# Spark is no part of the environment that builds.
autodoc_mock_imports = ["pyspark", "py4j", "xgboost.spark"]
autodoc_member_order = "bysource"
autosummary_context = {"members_of": reference.Members()}
numpydoc_show_class_members = False  # the template lists them
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "tutorials",
    "gallery_dirs": "auto_tutorials",
    "filename_pattern": r"/\d\d_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 5,
    "abort_on_example_error": True,
}


def copy_benchmarks(source: Path, target: Path) -> None:
    """The pages of benchmarks/ become pages of the site, as they stand there."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source / "figures", target / "figures")
    pages = sorted(page for page in source.glob("*.md") if page.name != "README.md")
    for page in pages:
        shutil.copy(page, target)
    others = "\n".join(page.stem for page in pages)
    toctree = f"\n```{{toctree}}\n:hidden:\n\n{others}\n```\n"
    (target / "index.md").write_text((source / "README.md").read_text("utf-8") + toctree, "utf-8")


LINK = re.compile(r"(\[[^\]]*\])\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")


def lead_somewhere(app: Any, docname: str, content: list[str]) -> None:
    """Replace links to files of the repository by links to pages of the site."""
    at = (HERE / docname).parent
    if at.name == "benchmarks":
        at = ROOT / "benchmarks"

    def led(found: re.Match[str]) -> str:
        text, path, anchor = found[1], found[2], found[3] or ""
        inside = os.path.relpath(os.path.normpath(at / path), ROOT)
        if inside == "README.md":
            inside = "docs/index.md"
        elif re.fullmatch(r"docs/tutorials/\w+\.py", inside):
            inside = inside.replace("tutorials", "auto_tutorials").replace(".py", ".rst")
        elif re.fullmatch(r"benchmarks/(\w+\.md|figures/.*)", inside):
            inside = "docs/" + inside.replace("README", "index")
        if inside.startswith("docs/"):
            return f"{text}({inside.removeprefix('docs')}{anchor})"
        return f"{text}({REPOSITORY}/blob/main/{inside}{anchor})"

    content[0] = LINK.sub(led, content[0])


copy_benchmarks(ROOT / "benchmarks", HERE / "benchmarks")


def setup(app: Any) -> None:
    """Connect our functions to Sphinx's events."""
    app.connect("source-read", lead_somewhere)
    app.connect("autodoc-process-docstring", reference.linked)
