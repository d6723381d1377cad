"""Coverage-guided fuzzing of the readers: ``python -m tests.support.fuzz_readers [--seconds 60]``.

Needs atheris (``pip install atheris``). Each file is read by the readers of LETOR files, judgments
and runs; any other error than a ValueError stops the run and is shown with the input.
"""

import argparse
import sys
import tempfile
from pathlib import Path

DIRECTORY = tempfile.TemporaryDirectory()
SEEDS = (
    b"2 qid:7 1:0.5 3:1 # docid = a\n0 qid:7 2:0.25\n",
    b"1 1:1\n0 0:nan\n",
    b"601 0 a 2\n601 0 b -1\n",
    b"601 Q0 a 1 9.5 x\n602 Q0 b 2 -1e3 x\n",
    b"\xef\xbb\xbf# a comment\n601 Q0 a 1 9.5 x and more\n",
)


def read_letor(content):
    """The data, or None where the file is refused."""
    from gapboost.datasets import load_letor

    path = Path(DIRECTORY.name) / "letor.txt"
    path.write_bytes(content)
    try:
        return load_letor(path)
    except ValueError as error:
        named(error, path)
        return None


def read_trec(content, kind):
    """Return ``{topic: {document: number}}``, or None if the file is refused.

    `kind` is qrels or run.
    """
    from gapboost.analysis import trec

    path = Path(DIRECTORY.name) / ("trec.gz" if content[:2] == b"\x1f\x8b" else "trec.txt")
    path.write_bytes(content)
    try:
        return trec.read_qrels(path) if kind == "qrels" else trec.read_run(path)
    except ValueError as error:
        named(error, path)
        return None


def named(error, path):
    """Every refusal begins with the file."""
    if not str(error).startswith(str(path)):
        raise AssertionError(f"the message does not name {path}: {error}") from error


def once(content):
    """One input through all readers."""
    read_letor(content)
    read_trec(content, "qrels")
    read_trec(content, "run")


def main():
    """Fuzz for the given time."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=int, default=60)
    seconds = parser.parse_args().seconds
    try:
        import atheris
    except ImportError:
        sys.exit("atheris is needed for coverage-guided fuzzing: pip install atheris")
    with atheris.instrument_imports(
        include=[
            "gapboost.datasets",
            "gapboost.analysis.trec",
            "gapboost._data.text",
            "sklearn.datasets",
        ]
    ):
        import gapboost.analysis.trec
        import gapboost.datasets  # noqa: F401
    corpus = Path(DIRECTORY.name) / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(SEEDS):
        (corpus / str(number)).write_bytes(seed)
    limits = [f"-max_total_time={seconds}", "-max_len=400", "-timeout=20", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], *limits, str(corpus)], once)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
