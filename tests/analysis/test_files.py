"""TREC files that are read and written: what they say, and what is wrong in them."""

import gzip

import numpy as np
import pytest

from gapboost.analysis import trec

QRELS = "601 0 a 2\n601 0 b 1\n601 0 c 0\n602 0 a 1\n602 0 d -1\n"
RUN = "601 Q0 c 1 9.5 x\n601 Q0 a 2 8.5 x\n601 Q0 u 3 8.0 x\n602 Q0 d 1 1e-3 x\n"
COMPRESS = {"txt": bytes, "gz": gzip.compress}


@pytest.fixture
def written(tmp_path):
    def write(text, name="file.txt"):
        path = tmp_path / name
        content = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(COMPRESS[path.suffix[1:]](content))
        return path

    return write


@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "byte order mark"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_reads_judgments_and_runs(written, ending, mark, end):
    qrels, run = (mark + text.replace("\n", end) for text in (QRELS + "\n", RUN))
    assert trec.read_qrels(written(qrels, f"q.{ending}")) == {
        "601": {"a": 2, "b": 1, "c": 0},
        "602": {"a": 1, "d": -1},
    }
    assert trec.read_run(str(written(run, f"r.{ending}"))) == {
        "601": {"c": 9.5, "a": 8.5, "u": 8.0},
        "602": {"d": 1e-3},
    }


def test_reads_judgments_of_beir_and_ms_marco(written):
    beir = "query-id\tcorpus-id\tscore\nPLAIN-2\tMED-10\t2\nPLAIN-2\tMED-7\t1\n"
    assert trec.read_qrels(written(beir)) == {"PLAIN-2": {"MED-10": 2, "MED-7": 1}}
    assert trec.read_qrels(written(beir.partition("\n")[2])) == trec.read_qrels(written(beir))
    assert trec.read_qrels(written("7\t0\t55\t1\n")) == {"7": {"55": 1}}
    with pytest.raises(ValueError, match=r"file\.txt has a column 'rank'"):
        trec.read_qrels(written("query document Rank\n1 a 2"))


# Third columns of topic 7, whose documents are a, b, ..., and of topic 8; the sign of the scores
# that they are, 0 for an error.
THIRD_COLUMNS = {
    "ranks": ("1 2 3", "1 2", -1),
    "ranks in a part of the list": ("1 4 9", "1", -1),
    "named ranks": ("qid\tpid\trank\n 3 7 2", "2 1", -1),
    "named scores": ("Query-Id\tCorpus-Id\tScore\n 1 2 3", "1 2", 1),
    "scores of a ranker": ("qid pid rerank_score\n 3 7 2", "2 1", 1),
    "one fraction": ("1 2 3", "1 2.5", 1),
    "with zero": ("2 0 1", "1", 1),
    "rising from 0": ("0 1 2", "0", 0),
    "negative": ("-1 -2 -3", "-1", 1),
    "repeated": ("2 1 1", "1", 1),
    "unordered whole numbers": ("120 57 310", "3 7", 1),
    "falling to 1": ("3 2 1", "2 1", 0),
    "rising from 2": ("2 5 9", "3 4", 0),
    "named ranks with fractions": ("qid pid rank\n 1.5 2 3", "1", 0),
    "named ranks from -1": ("qid pid rank\n -1 2 3", "1", 0),
}


@pytest.mark.parametrize("case", THIRD_COLUMNS)
def test_third_columns_are_ranks_or_scores(written, case):
    first, second, sign = THIRD_COLUMNS[case]
    header, _, first = first.rpartition("\n")
    topics = {"7": first.split(), "8": second.split()}
    lines = [header] * bool(header)
    for topic, numbers in topics.items():
        lines += [f"{topic}\t{name}\t{n}" for name, n in zip("abc", numbers, strict=False)]
    path = written("\n".join(lines))
    if not sign:
        with pytest.raises(ValueError, match=r"file\.txt.*rank"):
            trec.read_run(path)
        return
    assert trec.read_run(path) == {
        topic: {name: sign * float(n) for name, n in zip("abc", numbers, strict=False)}
        for topic, numbers in topics.items()
    }


def test_names_are_what_the_file_says(written):
    names = ["CR#93", '"q', "NA", "a_1", "007", "é"]
    text = "".join(f"1 0 {name} 1\n" for name in names)
    assert list(trec.read_qrels(written(text))["1"]) == names


@pytest.mark.parametrize("name", ["run.txt", "run.gz"])
def test_a_written_run_is_read_again(tmp_path, name):
    run = {"601": {"a": 8.5, "c": 1 / 3, "b": 8.5, "é": -1e300}, "602": {"d": 0}}
    trec.write_run(tmp_path / name, run, tag="mine")
    assert trec.read_run(tmp_path / name) == run
    content = (tmp_path / name).read_bytes()
    text = gzip.decompress(content) if name.endswith("gz") else content
    assert text.decode().splitlines()[:2] == ["601 Q0 b 1 8.5 mine", "601 Q0 a 2 8.5 mine"]


@pytest.mark.parametrize(
    "run", [{}, {"1": {}}, {"1": {"a b": 1}}, {"": {"a": 1}}, {1: {"a": 1}}, {"1": {"a": np.nan}}]
)
def test_a_run_that_cannot_be_written(tmp_path, run):
    with pytest.raises(ValueError, match="run"):
        trec.write_run(tmp_path / "run.txt", run)
    assert not list(tmp_path.iterdir()), "nothing is written"


@pytest.mark.parametrize("name", ["qrels.txt", "qrels.gz"])
def test_written_judgments_are_read_again(tmp_path, name):
    qrels = {"601": {"a": 2, "é": 1.0, "b": -1}, "602": {"d": 0}}
    trec.write_qrels(tmp_path / name, qrels)
    assert trec.read_qrels(tmp_path / name) == qrels


@pytest.mark.parametrize(
    "qrels", [{}, {"1": {}}, {"1": {"a b": 1}}, {1: {"a": 1}}, {"1": {"a": 0.5}}, {"1": {"a": "2"}}]
)
def test_judgments_that_cannot_be_written(tmp_path, qrels):
    with pytest.raises(ValueError, match=r"^qrels"):
        trec.write_qrels(tmp_path / "qrels.txt", qrels)
    assert not list(tmp_path.iterdir()), "nothing is written"


NOT_TEXT = (b"caf\xe9 0 a 1\n", RUN.encode("utf-16"))
BROKEN = {
    trec.read_qrels: {
        QRELS: (
            *("601 0 x", "601 0 x 1 1", "601 0 x good", "601 0 x nan", "601 0 x 0.5", "601 0 a 2"),
            *("601", "601 Q0 c 1 9.5 x", "601 0 x 1_0"),
        ),
        "topic document grade\n1 a 2\n": ("1 a", "1 a 1", "1 0 b 1", "topic document grade"),
        "": (RUN, "topic 0 document grade", "1 a nan", "1 a 1,5"),
    },
    trec.read_run: {
        RUN: (
            *("601 Q0 x 1 9.5", "601 Q0 a name 1 9.5 tag", "601 Q0 x 1 high tag", QRELS),
            *("601 Q0 x 1 nan tag", "601 Q0 x 1 inf tag", "601 Q0 a 7 1.0 tag"),
        ),
        "topic document score\n1 a 2\n": ("1 a", "1 a 1", "1 b high", "1 b inf"),
        "": (QRELS, "1 a nan", "1 a 1,5"),
    },
}


@pytest.mark.parametrize(
    ("reader", "good", "broken"),
    [
        (reader, good, line)
        for reader, layouts in BROKEN.items()
        for good, lines in layouts.items()
        for line in lines
    ],
)
def test_broken_lines_and_repeated_documents_are_named(written, reader, good, broken):
    number = good.count("\n") + 2
    with pytest.raises(ValueError, match=rf"file\.txt, line {number}: .*expected"):
        reader(written(f"\n{good}{broken}"))


def test_swapped_files_are_named(written):
    for reader, text, other in ((trec.read_qrels, RUN, "run"), (trec.read_run, QRELS, "qrels")):
        with pytest.raises(ValueError, match=f"parts, as in files for read_{other}; expected"):
            reader(written(text))


@pytest.mark.parametrize("reader", [trec.read_qrels, trec.read_run])
@pytest.mark.parametrize("content", NOT_TEXT)
def test_files_that_are_no_text(written, reader, content):
    with pytest.raises(ValueError, match=r"file\.txt"):
        reader(written(content))


@pytest.mark.parametrize("reader", [trec.read_qrels, trec.read_run])
def test_empty_damaged_and_missing_files(reader, tmp_path):
    path = tmp_path / "cut.gz"
    for content in (gzip.compress(b""), gzip.compress(RUN.encode())[:-9], b"601 0 a 1"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"cut\.gz"):
            reader(path)
    with pytest.raises(FileNotFoundError):
        reader(tmp_path / "none")
