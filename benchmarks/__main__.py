"""Run timings: ``python -m benchmarks NAME...``. Without arguments, list the subjects.

Each run writes ``benchmarks/results/NAME.csv``, the table on the page and the figure.
"""

import argparse
import subprocess
import sys
import time
from importlib import import_module

from benchmarks.harness import Subject, version_of

MODULES = ["gradients", "measures", "objectives", "training", "compilation", "evaluation"]
MODULES += ["query_features", "selection", "latency", "clusters", "scale"]


def subjects() -> dict[str, Subject]:
    """Return all subjects by name."""
    modules = [import_module(f"benchmarks.{name}") for name in MODULES]
    return {subject.name: subject for module in modules for subject in module.SUBJECTS}


def run_each(names: list[str], smoke: bool) -> list[str]:
    """Run each subject in a process of its own, and return those that failed."""
    failed = []
    for number, name in enumerate(names, start=1):
        print(f"[{number}/{len(names)}] {name}", file=sys.stderr, flush=True)
        begun = time.perf_counter()
        command = [sys.executable, "-m", "benchmarks", name, *["--smoke"] * smoke]
        failed += [name] * (subprocess.run(command, check=False).returncode != 0)
        print(f"    {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
    return failed


def main() -> None:
    """Read the arguments; list, run or redraw."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="subjects")
    parser.add_argument("--all", action="store_true", help="all subjects, in order")
    parser.add_argument(
        "--redraw", action="store_true", help="write tables and figures from results"
    )
    parser.add_argument(
        "--smoke", action="store_true", help="tiny sizes; print tables, write nothing"
    )
    arguments = parser.parse_args()
    known = subjects()
    names = (
        list(known)
        if arguments.all or (arguments.redraw and not arguments.names)
        else arguments.names
    )
    if unknown := set(names) - set(known):
        parser.error(
            f"unknown subjects: {', '.join(sorted(unknown))}; expected some of {', '.join(known)}"
        )
    if not names:
        width = max(map(len, known))
        print(
            "\n".join(f"{name:{width}}  {subject.description}" for name, subject in known.items())
        )
    elif arguments.redraw:
        for name in names:
            known[name].redraw()
    elif len(names) > 1:
        if failed := run_each(names, arguments.smoke):
            sys.exit(f"failed: {', '.join(failed)}")
    elif missing := [name for name in known[names[0]].packages if not version_of(name)]:
        print(
            f"{names[0]} skipped, its results are kept: {', '.join(missing)} not installed",
            file=sys.stderr,
        )
    else:
        known[names[0]].run(arguments.smoke)


if __name__ == "__main__":
    main()
