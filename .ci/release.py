"""Cut a version: ``python .ci/release.py 0.1.0rc2`` commits and tags.

Pushing the tag publishes. See CONTRIBUTING.md.

The version stands in `gapboost/__init__.py`. The notes are what stands under *Unreleased* in
`CHANGELOG.md`.
"""

import re
import subprocess
import sys
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSION = ROOT / "gapboost" / "__init__.py"
CHANGELOG = ROOT / "CHANGELOG.md"

FORM = re.compile(r"\d+\.\d+\.\d+(rc\d+)?")
LINE = '^__version__ = "(.+)"$'
UNRELEASED = "## [Unreleased]\n"


def main(version: str) -> None:
    """Write the version and the heading of its notes, commit and tag."""
    if not FORM.fullmatch(version):
        raise SystemExit(f"version is {version!r}; expected one like 0.2.0 or 0.2.0rc1")
    if git("status", "--porcelain"):
        raise SystemExit("the working tree has changes that are not committed")
    if git("tag", "--list", f"v{version}"):
        raise SystemExit(f"there is a tag v{version} already")
    changelog = with_heading(CHANGELOG.read_text("utf-8"), version)
    CHANGELOG.write_text(changelog, "utf-8", newline="\n")
    VERSION.write_text(with_version(VERSION.read_text("utf-8"), version), "utf-8", newline="\n")
    git("commit", "--all", "--allow-empty", "-m", f"Release {version}")
    git("tag", "--annotate", "--cleanup=whitespace", f"v{version}", "-m", notes(changelog, version))
    print(f"committed and tagged v{version}; `git push --follow-tags` publishes it")


def with_version(text: str, version: str) -> str:
    """The text with another version in the one place where a line has it."""
    (found,) = re.finditer(LINE, text, re.MULTILINE)
    return text[: found.start(1)] + version + text[found.end(1) :]


def with_heading(changelog: str, version: str) -> str:
    """The changelog with what is unreleased under the version and today's date.

    Raises
    ------
    SystemExit
        Where there is neither anything unreleased nor a heading of the version, or both.
    """
    head, found, rest = changelog.partition(UNRELEASED)
    if not found:
        raise SystemExit(f"{CHANGELOG.name} has no heading {UNRELEASED.strip()}")
    if rest.partition("\n## [")[0].strip():
        if f"\n## [{version}]" in rest:
            raise SystemExit(
                f"{CHANGELOG.name} has notes of {version} and others that are unreleased; expected "
                "one of them"
            )
        return f"{head}{UNRELEASED}\n## [{version}] - {date.today()}\n{rest}"
    notes(changelog, version)
    return changelog


def notes(changelog: str, version: str) -> str:
    """Return the notes of a version in the changelog.

    Raises
    ------
    SystemExit
        If the changelog has no notes of this version.
    """
    found = re.search(
        rf"^## \[{re.escape(version)}\] - [0-9-]+\n(.*?)(?=^## \[|\Z)",
        changelog,
        re.MULTILINE | re.DOTALL,
    )
    if found is None or not found[1].strip():
        raise SystemExit(f"{CHANGELOG.name} says nothing of {version}")
    return found[1].strip() + "\n"


def git(*arguments: str) -> str:
    """Run git and return what it prints."""
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--notes":
        print(notes(CHANGELOG.read_text("utf-8"), sys.argv[2]), end="")
    elif len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        raise SystemExit(__doc__)
