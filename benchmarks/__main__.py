"""Run timings: ``python -m benchmarks NAME...``. Without arguments, list the subjects.

Each run writes ``benchmarks/results/NAME.csv``, the table on the page and the figure.
"""

import argparse
import subprocess
import sys
import time
from functools import partial
from importlib import import_module

from benchmarks.harness import Subject, version_of

MODULES = ["gradients", "measures", "objectives", "training", "compilation", "evaluation"]
MODULES += ["query_features", "selection", "latency", "scaling", "collections", "tuned"]


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
    flag = partial(parser.add_argument, action="store_true")
    flag("--all", help="all subjects, in order")
    flag("--redraw", help="write tables and figures from results")
    flag("--smoke", help="tiny sizes; print tables, write nothing")
    arguments = parser.parse_args()
    known = subjects()
    every = arguments.all or (arguments.redraw and not arguments.names)
    names = list(known) if every else arguments.names
    if unknown := ", ".join(sorted(set(names) - set(known))):
        parser.error(f"unknown subjects: {unknown}; expected some of {', '.join(known)}")
    if not names:
        width = max(map(len, known))
        for name, subject in known.items():
            print(f"{name:{width}}  {subject.description}")
    elif arguments.redraw:
        for name in names:
            known[name].redraw()
    elif len(names) > 1:
        if failed := run_each(names, arguments.smoke):
            sys.exit(f"failed: {', '.join(failed)}")
    elif missing := [name for name in known[names[0]].packages if not version_of(name)]:
        reason = f"{', '.join(missing)} not installed"
        print(f"{names[0]} skipped, its results are kept: {reason}", file=sys.stderr)
    else:
        known[names[0]].run(arguments.smoke)


if __name__ == "__main__":
    main()
