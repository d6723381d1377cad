"""Check what the distributions in a folder hold: ``python .ci/check_dist.py dist``.

The wheel holds the sources of the package, the form of its reports, `py.typed` and the licence, and
nothing else; the source distribution what its tests need; and the README of both has no link that
leads nowhere on a package index. The recipe of the conda package needs what the wheel needs.
"""

import re
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

ROOT = Path(__file__).parents[1]
METADATA = {"METADATA", "WHEEL", "RECORD", "licenses/LICENSE"}
IN_SDIST = {
    "PKG-INFO",
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "LICENSE",
    "examples/quickstart.py",
    "benchmarks/harness.py",
    "tests/conftest.py",
    "tests/support/oracle.py",
}
# Leftovers of runs.
RUBBISH = re.compile(r"__pycache__|\.nb[ci]$|\.py[co]$|/\.")
RELATIVE = re.compile(r"""\]\((?!https?://)[^)]*\)|(?:href|src|srcset)="(?!https?://)[^"]*\"""")


def main(folder: Path) -> None:
    """Check the one wheel and the one source distribution."""
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "gapboost").rglob("*.py")}
    modules |= {"gapboost/py.typed"}
    templates = (ROOT / "gapboost").rglob("*.html*")
    modules |= {path.relative_to(ROOT).as_posix() for path in templates}

    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (about,) = {name.split("/")[0] for name in names if ".dist-info/" in name}
        metadata = message_from_bytes(archive.read(f"{about}/METADATA"))
    expect(wheel, names, modules | {f"{about}/{name}" for name in METADATA})

    with tarfile.open(sdist) as archive:
        found = {name.partition("/")[2] for name in archive.getnames()}
    # Only what is missing is an error: files come and go in tests and benchmarks.
    expect(sdist, found & (IN_SDIST | modules), IN_SDIST | modules)
    rubbish = sorted(name for name in found if RUBBISH.search(name))
    if rubbish:
        raise SystemExit(f"{sdist.name} holds {rubbish[:5]}")

    links = RELATIVE.findall(str(metadata.get_payload()))
    if links:
        raise SystemExit(f"links of the README lead nowhere on an index: {links[:5]}")
    recipe = (ROOT / ".ci" / "recipe.yaml").read_text("utf-8")
    needs = [need for need in metadata.get_all("Requires-Dist", []) if ";" not in need]
    lacking = [need for need in needs if f"- {need.replace('>=', ' >=')}\n" not in recipe]
    if lacking:
        raise SystemExit(f".ci/recipe.yaml lacks {lacking}")
    print(f"{wheel.name}: {len(names)} files; {sdist.name}: {len(found)}")


def expect(path: Path, found: set[str], expected: set[str]) -> None:
    """Stop where an archive holds something else than it should."""
    if found != expected:
        raise SystemExit(
            f"{path.name}: missing {sorted(expected - found)}, unexpected "
            f"{sorted(found - expected)}"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
