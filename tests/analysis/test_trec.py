"""TREC files: reading, the rules for what they leave open, and agreement with trec_eval."""

import gzip
import tracemalloc
from functools import cache, partial

import ir_measures
import numpy as np
import oracle
import pytest
from collections_on_disk import RUNS, made, real
from rankings import judged_run

import gapboost as gb
from gapboost import analysis
from gapboost.analysis import trec

QRELS = "601 0 a 2\n601 0 b 1\n601 0 c 0\n602 0 a 1\n602 0 d -1\n"
RUN = "601 Q0 c 1 9.5 x\n601 Q0 a 2 8.5 x\n601 Q0 u 3 8.0 x\n602 Q0 d 1 1e-3 x\n"


read_qrels = cache(trec.read_qrels)


@pytest.fixture
def written(tmp_path):
    def write(text, name="file.txt"):
        path = tmp_path / name
        content = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


# --- reading --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["file.txt", "file.gz"])
def test_reads_judgments_and_runs(written, name):
    assert trec.read_qrels(written(QRELS + "\n", name)) == {
        "601": {"a": 2, "b": 1, "c": 0},
        "602": {"a": 1, "d": -1},
    }
    assert trec.read_run(str(written(RUN, name))) == {
        "601": {"c": 9.5, "a": 8.5, "u": 8.0},
        "602": {"d": 1e-3},
    }


@pytest.mark.parametrize("name", ["run.txt", "run.gz"])
def test_a_written_run_is_read_again(tmp_path, name):
    run = {"601": {"a": 8.5, "c": 1 / 3, "b": 8.5, "é": -1e300}, "602": {"d": 0}}
    trec.write_run(tmp_path / name, run, tag="mine")
    assert trec.read_run(tmp_path / name) == run
    text = (
        gzip.decompress((tmp_path / name).read_bytes())
        if name.endswith("gz")
        else (tmp_path / name).read_bytes()
    )
    assert text.decode().splitlines()[:2] == ["601 Q0 b 1 8.5 mine", "601 Q0 a 2 8.5 mine"]


@pytest.mark.parametrize(
    ("run", "tag", "found"),
    [
        ({}, "mine", "run is empty|holds no documents"),
        ({"1": {}}, "mine", "holds no documents"),
        ({"1": {"a b": 1.0}}, "mine", "a document of the run is 'a b'"),
        ({"": {"a": 1.0}}, "mine", "a topic of the run is ''"),
        ({1: {"a": 1.0}}, "mine", "a topic of the run is 1"),
        ({"#1": {"a": 1.0}}, "mine", "a topic of the run is '#1'; expected no '#'"),
        ({"1": {"a": 1.0}}, "my run", "the tag of the run is 'my run'"),
        ({"1": {"a": float("nan")}}, "mine", "the score nan for document 'a'"),
    ],
)
def test_a_run_that_cannot_be_written(tmp_path, run, tag, found):
    with pytest.raises(ValueError, match=found):
        trec.write_run(tmp_path / "run.txt", run, tag=tag)
    assert not list(tmp_path.iterdir()), "nothing is written"


@pytest.mark.parametrize(
    ("reader", "line"),
    [
        (trec.read_qrels, "601 0 x"),
        (trec.read_qrels, "601 0 x 1 1"),
        (trec.read_qrels, "601 0 x relevant"),
        (trec.read_qrels, "601 0 x half"),
        (trec.read_qrels, "601 0 x nan"),
        (trec.read_qrels, "601 0 a 2"),
        (trec.read_run, "601 Q0 x 1 9.5"),
        (trec.read_run, "601 Q0 a name 1 9.5 tag"),
        (trec.read_run, "601 Q0 x 1 high tag more"),
        (trec.read_qrels, "601 0 x 1 # why"),
        (trec.read_run, "601 Q0 x 1 high tag"),
        (trec.read_run, "601 Q0 x 1 nan tag"),
        (trec.read_run, "601 Q0 x 1 inf tag"),
        (trec.read_run, "601 Q0 a 7 1.0 tag"),
    ],
)
def test_broken_lines_and_duplicates_are_named(written, reader, line):
    good = QRELS if reader is trec.read_qrels else RUN
    path = written(good + "\n" + line + "\n")
    with pytest.raises(
        ValueError, match=rf"file.txt, line {good.count(chr(10)) + 2}: expected '.*found '{line}'"
    ):
        reader(path)


@pytest.mark.parametrize(
    ("reader", "line", "number"),
    [
        (trec.read_qrels, "601 0 x 1_0", "1_0"),
        (trec.read_run, "601 Q0 x 1 1_0 tag", "1_0"),
        (trec.read_run, "601 Q0 x 1 9.2_5 tag", "9.2_5"),
        (trec.read_run, "601 Q0 x 1_0 9.5 tag more", "1_0"),
    ],
)
def test_numbers_that_only_python_reads_are_refused(written, reader, line, number):
    """Not read as 10; names may hold what they like, and signs and leading zeros are anybody's."""
    good = QRELS if reader is trec.read_qrels else RUN
    with pytest.raises(
        ValueError, match=rf"file.txt, line \d: .*found '{line}' \(the number '{number}'"
    ):
        reader(written(good + line + "\n"))
    plain = line.replace(number, "+07").replace(" x ", " x_1 ").replace("601", "60_1")
    assert reader(written(plain))["60_1"]["x_1"] in (7, 9.5)


# Laid out as the files that trec_eval is tested with.
COMMENTED_QRELS = (
    "# comment here\n601 0 a 2\n601 0 CR#93 1\n  # and here\n602 0 a 1\n#\n#602 0 b 1\n"
)
COMMENTED_RUN = """# This is my favorite run
601\tQ0\ta\t104\t  2.129133\tSTANDARD
 # And has another comment here.
601 Q0 CR#93 2 1.5 STANDARD and text after it
601 Q0 c 3 -1.5 STANDARD # 7 8.5
"""


@pytest.mark.parametrize("name", ["file.txt", "file.gz"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "byte order mark"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
def test_comments_and_text_after_the_sixth_part_of_a_run_as_in_trec_eval(written, name, mark, end):
    qrels, run = (
        mark + text.encode().replace(b"\n", end) for text in (COMMENTED_QRELS, COMMENTED_RUN)
    )
    assert trec.read_qrels(written(qrels, name)) == {"601": {"a": 2, "CR#93": 1}, "602": {"a": 1}}
    assert trec.read_run(written(run, name)) == {"601": {"a": 2.129133, "CR#93": 1.5, "c": -1.5}}


@pytest.mark.parametrize("name", ["file.txt", "file.gz"])
def test_a_byte_order_mark_is_no_part_of_the_first_topic(written, name):
    mark = b"\xef\xbb\xbf"
    qrels = trec.read_qrels(written(mark + b"1 0 a 1\n2 0 a 1\n3 0 a 1\n", name))
    run = trec.read_run(written(mark + b"1 Q0 a 1 1 x\n2 Q0 a 1 1 x\n3 Q0 a 1 1 x\n", name))
    assert list(qrels) == list(run) == ["1", "2", "3"]
    assert trec.evaluate(gb.AP(), qrels, run) == {gb.AP(): 1.0}


def test_names_are_parted_by_the_white_space_of_ascii_only(written):
    spaces = "\u00a0\u2003\u2028\x1c\x85"
    documents = [f"a{space}b" for space in spaces]
    run = "".join(f"1 Q0 {document} 7 {score} x\n" for score, document in enumerate(documents))
    assert trec.read_run(written(run)) == {
        "1": {document: score for score, document in enumerate(documents)}
    }


@pytest.mark.parametrize("reader", [trec.read_qrels, trec.read_run])
def test_names_that_are_not_utf8_are_named_with_their_line(written, reader):
    """Also far behind the first block that is read."""
    line = b"1 0 d%d 1\n" if reader is trec.read_qrels else b"1 Q0 d%d 1 1.5 x\n"
    content = b"".join(line % number for number in range(3000))
    for broken in (line.replace(b"d%d", b"caf\xe9"), line.replace(b"1 ", b"caf\xe9 ", 1)):
        with pytest.raises(
            ValueError,
            match=r"file.txt, line 3001: expected '.*' .*'utf-8' codec can't decode byte 0xe9",
        ):
            reader(written(content + broken + content))


@pytest.mark.slow
@pytest.mark.parametrize("reader", [trec.read_qrels, trec.read_run])
def test_a_long_line_is_refused_before_it_is_read(written, reader):
    line = "601 0 a 2\n" if reader is trec.read_qrels else "601 Q0 a 1 8.5 x\n"
    long = line.replace("a", "a" * 100)
    assert len(reader(written(line + long, "file.gz"), max_line_bytes=len(long))["601"]) == 2
    for text in (line + long, line + "# " + "x" * len(long), line + long.rstrip() + " " * 90):
        with pytest.raises(
            ValueError,
            match=r"file.gz, line 2: found more than 100 bytes, expected .* max_line_bytes=100",
        ):
            reader(written(text, "file.gz"), max_line_bytes=100)
    path = written(b" " * 100_000_000, "huge.gz")
    tracemalloc.start()
    with pytest.raises(
        ValueError, match=r"huge\.gz, line 1: found more than 67108864 bytes, expected at most"
    ):
        reader(path)
    assert tracemalloc.get_traced_memory()[1] < 180e6
    tracemalloc.stop()


@pytest.mark.parametrize("reader", [trec.read_qrels, trec.read_run])
def test_empty_and_missing_files(written, reader, tmp_path):
    with pytest.raises(ValueError, match="holds no lines"):
        reader(written("\n \n# 601 0 a 1\n"))
    with pytest.raises(FileNotFoundError):
        reader(tmp_path / "none")


@pytest.mark.parametrize(
    ("reader", "text"), [(trec.read_qrels, "601 0 a 1\n"), (trec.read_run, RUN)]
)
def test_broken_gzip(reader, text, tmp_path):
    path = tmp_path / "cut.gz"
    for content in (
        b"\x1f\x8b",
        gzip.compress(text.encode())[:-9],
        b"601 0 a 1",
        b"\x1f\x8b\x08" + bytes(20),
    ):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"cut\.gz: broken gzip file"):
            reader(path)


def test_the_same_document_in_two_topics_is_no_duplicate(written):
    assert trec.read_qrels(written("1 0 a 1\n2 0 a 1\n")) == {"1": {"a": 1}, "2": {"a": 1}}


def test_gains_become_grades():
    assert trec.map_gains({"1": {"a": 3, "b": -2}}, {3: 1, -2: 0}) == {"1": {"a": 1, "b": 0}}
    with pytest.raises(ValueError, match=r"holds the gain 3; expected a grade"):
        trec.map_gains({"1": {"a": 3}}, {0: 0})


# --- rules ----------------------------------------------------------------------------------------

G = (0.3, 0.7)
MEASURES = {
    gb.GAP(g=G): partial(oracle.gap, g=G),
    gb.xGAP(g=G): partial(oracle.xgap, g=G),
    gb.eGAP(g=G): partial(oracle.egap, g=G),
    gb.AP(): partial(oracle.ap, rel=1),
    gb.AP(rel=2, k=3): partial(oracle.ap, rel=2, k=3),
    gb.nDCG(k=5): partial(oracle.ndcg, k=5),
    gb.Precision(k=3): partial(oracle.precision, rel=1, k=3),
    gb.RBP(p=0.7): partial(oracle.rbp, p=0.7, gain=(1).__le__),
    gb.RPrecision(): partial(oracle.r_precision, rel=1),
    gb.QMeasure(): partial(oracle.q_measure, beta=1),
    gb.ERR(top=2): partial(oracle.err, top=2),
}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_expected_value_over_ties_against_the_oracle(seed):
    qrels, run = judged_run(seed)
    values = trec.evaluate(list(MEASURES), qrels, run, per_query=True)
    assert values.qid.tolist() == list(qrels)
    for measure, oracles in MEASURES.items():
        for q, topic in enumerate(values.qid):
            counts = oracle.grade_counts([max(g, 0) for g in qrels[topic].values()], 2)
            grades = [max(qrels[topic].get(doc, 0), 0) for doc in run[topic]]
            expected = oracle.expected_over_ties(oracles, grades, list(run[topic].values()), counts)
            assert values[measure][q] == pytest.approx(expected, abs=1e-12), (measure, topic)


PEERS = {
    gb.AP(): ir_measures.AP,
    gb.AP(rel=2): ir_measures.AP(rel=2),
    gb.Precision(k=10): ir_measures.P @ 10,
    gb.nDCG(gains=(0, 1, 2)): ir_measures.nDCG,
    gb.nDCG(gains="linear", k=10): ir_measures.nDCG @ 10,
    gb.Recall(k=10): ir_measures.R @ 10,
    gb.Recall(k=100, rel=2): ir_measures.R(rel=2) @ 100,
    gb.RPrecision(): ir_measures.Rprec,
    gb.RPrecision(rel=2): ir_measures.Rprec(rel=2),
    gb.RR(): ir_measures.RR,
    gb.RR(rel=2): ir_measures.RR(rel=2),
}


def assert_as_trec_eval(qrels, run):
    values = trec.evaluate(list(PEERS), qrels, run, ties="trec_eval", per_query=True)
    theirs = {
        (m.measure, m.query_id): m.value for m in ir_measures.iter_calc(PEERS.values(), qrels, run)
    }
    assert len(theirs) == len(PEERS) * len(qrels)
    for ours, peer in PEERS.items():
        expected = [theirs[peer, topic] for topic in values.qid]
        np.testing.assert_allclose(values[ours], expected, rtol=0, atol=1e-9, err_msg=str(ours))
    return values


@pytest.mark.parametrize("seed", range(10))
def test_order_of_ties_as_in_trec_eval(seed):
    qrels, run = judged_run(seed)
    values = assert_as_trec_eval(qrels, run)
    assert any(
        values[m] != pytest.approx(v)
        for m, v in trec.evaluate(list(PEERS), qrels, run, per_query=True).items()
    )


@pytest.mark.parametrize(
    ("path", "size"),
    [
        made("trec/runs/short.gz", 36),
        real("robust03/runs/NLPR03vb10.gz", 1004),
        real("robust03/runs/uic0301.gz", 99969),
    ],
)
def test_odd_runs_are_read_whole(path, size):
    assert sum(map(len, trec.read_run(path).values())) == size


@pytest.mark.parametrize(("path", "qrels"), RUNS)
def test_runs_on_disk_as_trec_eval(path, qrels):
    qrels, run = read_qrels(qrels), trec.read_run(path)
    assert_as_trec_eval(qrels, run)
    expected = {
        m.query_id: m.value for m in ir_measures.iter_calc([ir_measures.Bpref(rel=1)], qrels, run)
    }
    found = analysis.bpref(qrels, run, ties="trec_eval")
    assert found == pytest.approx({topic: expected.get(topic, 0.0) for topic in qrels}, abs=1e-9)


def test_topics_of_only_one_side():
    qrels = {"1": {"a": 1, "b": 0}, "2": {"a": 1}, "3": {"a": 0}}
    run = {"1": {"a": 2.0}, "9": {"a": 1.0}, "3": {"a": 1.0}}
    measures = [gb.AP(), gb.nDCG(gains=(0.5, 1))]
    values = trec.evaluate(measures, qrels, run, per_query=True)
    assert values.qid.tolist() == ["1", "2", "3"]  # topic 9 has no judgments
    assert values[measures[0]].tolist() == [1, 0, 0]  # topic 2 has no documents
    assert values[measures[1]][1] == 0
    # what is skipped is a topic without relevant documents, not one without retrieved ones
    assert trec.evaluate(gb.AP(), qrels, run, empty="skip") == {gb.AP(): 0.5}
    assert trec.evaluate(gb.AP(), qrels, run, empty=1) == {gb.AP(): pytest.approx(2 / 3)}
    with pytest.raises(ValueError, match="share no topic"):
        trec.evaluate(gb.AP(), qrels, {"01": {"a": 1.0}})


def test_judgments_with_a_decimal_point(tmp_path):
    path = tmp_path / "qrels"
    path.write_text("1 0 a 0.5\n1 0 b 1.0\n1 0 c 0.25\n1 0 d -1\n2 0 a 2\n")
    qrels = trec.read_qrels(path)
    assert qrels == {"1": {"a": 0.5, "b": 1, "c": 0.25, "d": -1}, "2": {"a": 2}}
    assert [type(grade) for grade in qrels["1"].values()] == [float, int, float, int]
    run = {"1": {"a": 3.0, "c": 2.0, "x": 1.0, "d": 0.5}, "2": {"b": 1.0}}
    measures = [
        gb.GAP(g=(0.5, 0.5)),
        gb.AP(rel=0.5),
        gb.nDCG(k=3),
        gb.nDCG(gains=(0, 1, 3)),
        gb.ERR(top=2),
    ]
    values = trec.evaluate(measures, qrels, run)
    grades, scores, qid = [0.5, 0.25, 0, 0, 0], [3, 2, 1, 0.5, 1], ["1"] * 4 + ["2"]
    base = {"1": {0.5: 1, 1: 1, 0.25: 1}, "2": {2: 1}}
    assert values == gb.evaluate(measures, grades, scores, qid, recall_base=base)
    with pytest.raises(ValueError, match="fractional grades.*expected whole grades"):
        trec.rankings(qrels, run).lists()


def test_judgments_of_more_different_values_than_judges_make_are_told_how_they_are_read():
    qrels = {str(i // 20): {} for i in range(1001)}
    for i in range(1001):
        qrels[str(i // 20)][f"d{i}"] = i / 1000
    with pytest.warns(
        UserWarning, match=r"qrels holds 1001 different values up to 1: GAP\(g=\(1.0,\)\) reads"
    ):
        trec.evaluate(gb.GAP(g=(1.0,)), qrels, {"1": {"d3": 1.0}})


@pytest.mark.parametrize(("run", "qrels"), RUNS[:1])
def test_halved_judgments_of_a_made_collection(run, qrels):
    whole, found = trec.read_qrels(qrels), trec.read_run(run)
    halves = {t: {d: grade / 2 for d, grade in judged.items()} for t, judged in whole.items()}
    first, second = gb.GAP(g=(0.5, 0.5)), gb.GAP(g=(0.5, 0.5), levels=(0.5, 1.0))
    assert trec.evaluate(first, whole, found)[first] == trec.evaluate(second, halves, found)[second]


def test_negative_and_missing_judgments_are_not_relevant():
    run = {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}
    low = trec.evaluate(gb.AP(), {"1": {"a": -2, "c": 1, "x": 2}}, run)
    assert (
        low
        == trec.evaluate(gb.AP(), {"1": {"c": 1, "x": 2}}, run)
        == {gb.AP(): pytest.approx(1 / 3 / 2)}
    )


def test_open_thresholds_come_from_the_judgments():
    qrels = {"1": {"a": 1, "b": 2}}
    run = {"1": {"a": 1.0}}  # the document of grade 2 is not retrieved
    assert (
        trec.evaluate(gb.GAP(), qrels, run)[gb.GAP()]
        == trec.evaluate(gb.GAP(g=(0.5, 0.5)), qrels, run).popitem()[1]
    )
    with pytest.raises(
        ValueError,
        match=r"qrels holds the grade 2, but GAP\(g=\(1.0,\)\) is defined for the grades 0..1",
    ):
        trec.evaluate(gb.GAP(g=(1.0,)), qrels, run)


def test_scores_beyond_2_to_the_53_are_refused_unless_ties_are_those_of_trec_eval():
    qrels, run = {"1": {"a": 1}}, {"1": {"a": 2**53, "b": 2**53 + 1, "c": 0.5}}
    with pytest.raises(
        ValueError, match=r"run holds the different scores 9007199254740993 and 9007199254740992"
    ):
        trec.evaluate(gb.AP(), qrels, run)
    # by which they are equal, and the document b comes first
    assert trec.evaluate(gb.AP(), qrels, run, ties="trec_eval") == {gb.AP(): 0.5}


@pytest.mark.parametrize(
    ("name", "function"),
    [("bpref", analysis.bpref), ("Bpref", analysis.bpref), ("tau_ap", analysis.tau_ap)],
)
def test_what_another_function_computes_is_named_by_it(name, function):
    """Not by the measure that is spelled nearest to it, rbp or ap."""
    qrels, run = {"1": {"a": 1}}, {"1": {"a": 1.0}}
    calls = (
        lambda: trec.evaluate(name, qrels, run),
        lambda: analysis.system_values([name], qrels, {"r": run}),
        lambda: gb.evaluate(name, [1], [1.0]),
    )
    for call in calls:
        with pytest.raises(
            ValueError,
            match=rf"is '{name}', which gapboost\.analysis\.{function.__name__} computes; expec",
        ):
            call()


def test_lists_are_in_the_order_of_trec_eval():
    qrels = {"1": {"a": 2, "b": 1}, "2": {"a": 1}, "3": {"a": 1}}
    run = {"1": {"a": 1.0, "b": 1.0, "c": 2.0}, "3": {"a": 0.0}}
    lists = trec.rankings(qrels, run).lists()
    assert [(found.name, found.grades.tolist()) for found in lists] == [
        ("1", [0, 1, 2]),
        ("3", [1]),
    ]
    assert lists[1].recall_base.tolist() == [0, 1, 0]
