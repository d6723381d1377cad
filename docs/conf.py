"""The documentation: ``sphinx-build -W -b html docs docs/_build/html``, without a network."""

import re
import shutil
import tomllib
import warnings
from pathlib import Path

from sphinx_gallery.sorting import FileNameSortKey

import gapboost

HERE = Path(__file__).parent
ROOT = HERE.parent
REPOSITORY = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Source"]

project = "gapboost"
author = "The gapboost developers"
copyright = "The gapboost developers"
version = release = gapboost.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",
]
exclude_patterns = ["_build", "tutorials"]
templates_path = ["_templates"]
html_theme = "furo"
html_title = f"gapboost {release}"
html_static_path = ["_static"]
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 4
# [a file](repo:gapboost/evaluation.py) is a link into the repository.
myst_url_schemes = {"http": None, "https": None, "mailto": None, "repo": REPOSITORY + "/blob/main/{{path}}"}

default_role = "code"  # docstrings write names in single backticks
autosummary_generate = True
autodoc_typehints = "none"  # numpydoc sections say the types
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "tutorials",
    "gallery_dirs": "auto_tutorials",
    "filename_pattern": r"/\d\d_",
    "within_subsection_order": FileNameSortKey,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 5,
    "abort_on_example_error": True,
    "image_scrapers": ("matplotlib",),
    "plot_gallery": True,
}
# sphinx-gallery keeps functions of this file in the configuration, which Sphinx cannot store between builds.
suppress_warnings = ["config.cache"]
warnings.filterwarnings("ignore", message=".*non-interactive.*")


def copy_benchmarks(source: Path, target: Path) -> None:
    """The pages of benchmarks/ as they stand there; links to what is no page go to the repository."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    shutil.copytree(source / "figures", target / "figures")
    names = {page.name: "index.md" if page.name == "README.md" else page.name for page in sorted(source.glob("*.md"))}

    def link(found: re.Match[str]) -> str:
        text, path, anchor = found.groups()
        if path in names:
            return f"{text}({names[path]}{anchor or ''})"
        if path.startswith("figures/"):
            return found.group()
        inside = (source / path).resolve().relative_to(ROOT)
        return f"{text}(repo:{inside})"

    for page, name in names.items():
        text = re.sub(r"(\[[^\]\n]*\])\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)", link, (source / page).read_text())
        if name == "index.md":
            others = "\n".join(n.removesuffix(".md") for n in names.values() if n != "index.md")
            text += f"\n```{{toctree}}\n:hidden:\n\n{others}\n```\n"
        (target / name).write_text(text)


copy_benchmarks(ROOT / "benchmarks", HERE / "benchmarks")
