"""Files of any content are read as a naive parser reads them, or refused by a ValueError."""

import gzip
import math
import re

import numpy as np
import pytest
from fuzz_readers import read_letor, read_trec
from fuzzing import Refused, fuzz
from hypothesis import strategies as st

WORDS = [
    b"0",
    b"1",
    b"2",
    b"qid:1",
    b"qid:2",
    b"qid:",
    b"qid:a",
    b"1:1",
    b"1:0.5",
    b"2:-3e2",
    b"3:nan",
    b"0:1",
    b"1:",
    b":1",
    b"1:1:1",
    b"x",
]
NUMBERS = [
    b"-1",
    b"0.5",
    b"nan",
    b"inf",
    b"1e400",
    b"99999999999",
    b"1_0",
    b"+1",
    b"\xc2\xb2",
    b"4:1e-400",
    b"9:inf",
    b"\x00",
    b"\xff\xfe",
]
ENDS = [
    b"\n",
    b"\r\n",
    b"\n\n",
    b" # docid = d7\n",
    b"#x\n",
    b"# \xe2\x80\xa8 y\n",
    b"\x0c",
    b"\x1c",
    b"\x85",
    b"\r",
    b"",
]
GOOD = st.tuples(
    st.sampled_from([b"0", b"1", b"2"]), st.sampled_from([b"qid:1", b"qid:2"]), st.floats(-9, 9)
).map(lambda row: b"%b %b 1:%b 3:1" % (row[0], row[1], repr(row[2]).encode()))
BAD = st.lists(st.sampled_from(WORDS + NUMBERS), max_size=5).map(b" ".join)
LINES = st.sampled_from([0] * 9 + [1]).flatmap(lambda bad: BAD if bad else GOOD)
LETOR = st.lists(
    st.tuples(LINES, st.sampled_from([b"\n"] * 12 + ENDS)).map(b"".join), max_size=5
).map(b"".join)

TREC_WORDS = [
    b"601",
    b"Q0",
    b"0",
    b"a",
    b"b",
    b"1",
    b"-1",
    b"9.5",
    b"nan",
    b"1e400",
    b"x",
    b"\xff",
    b"\xc2\xa0",
    b"\t",
    b"1_0",
    b"",
    b"#",
    b"# made by hand",
    b"and more",
]
JUDGMENT = st.tuples(st.sampled_from("123"), st.sampled_from("abcdefgh"), st.integers(-1, 3)).map(
    "{0[0]} 0 {0[1]} {0[2]}".format
)
RETRIEVED = st.tuples(st.sampled_from("123"), st.sampled_from("abcdefgh"), st.floats(-9, 9)).map(
    "{0[0]} Q0 {0[1]} 1 {0[2]} x".format
)
TREC_BAD = st.lists(st.sampled_from(TREC_WORDS), max_size=7).map(b" ".join)


def trec_files(kind):
    usual = (JUDGMENT, RETRIEVED)[kind].map(str.encode)
    line = st.sampled_from([0] * 12 + [1]).flatmap(lambda bad: TREC_BAD if bad else usual)
    return st.lists(
        st.tuples(line, st.sampled_from([b"\n"] * 12 + ENDS)).map(b"".join), max_size=4
    ).map(b"".join)


def damaged(content):
    """Compressed, cut, or with one byte changed."""
    return st.one_of(
        content,
        content.map(b"\xef\xbb\xbf".__add__),
        content.map(gzip.compress),
        st.tuples(content.map(gzip.compress), st.integers(0, 60)).map(
            lambda drawn: drawn[0][: drawn[1]]
        ),
        st.tuples(content, st.integers(0, 40), st.binary(min_size=1, max_size=1)).map(
            lambda drawn: drawn[0][: drawn[1]] + drawn[2] + drawn[0][drawn[1] + 1 :]
        ),
    )


def naive_lines(content):
    text = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    return re.split(b"\r\n|\r|\n", text.removeprefix(b"\xef\xbb\xbf"))


@pytest.mark.slow
@fuzz(5, 0.9, content=damaged(LETOR))
def test_letor(content):
    """Grades, queries and features are those of a naive parser."""
    data = read_letor(content)
    if data is None:
        raise Refused
    assert (data.y >= 0).all()
    expected = [line.partition(b"#")[0].split() for line in naive_lines(content)]
    expected = [words for words in expected if words]
    assert len(data) == len(expected)
    zero = any(word.startswith(b"0:") for words in expected for word in words[2:])
    for i, words in enumerate(expected):
        assert not any(b"_" in word for word in words if not word.startswith(b"qid:"))
        assert data.y[i] == float(words[0])
        assert str(data.qid[i]) == words[1][4:].decode() or int(data.qid[i]) == int(words[1][4:])
        row = np.zeros(data.n_features)
        for word in words[2:]:
            index, _, value = word.partition(b":")
            row[int(index) - (not zero)] = float(value)
        np.testing.assert_array_equal(data.X[i], row)


@pytest.mark.slow
@fuzz(3, 0.9, content=damaged(trec_files(0)))
def test_qrels(content):
    """Judgments are those of a naive parser."""
    check_trec(content, "qrels", 4, 3, int)


@pytest.mark.slow
@fuzz(3, 0.9, content=damaged(trec_files(1)))
def test_run(content):
    """Scores are those of a naive parser."""
    check_trec(content, "run", 6, 4, float)


def check_trec(content, kind, parts, place, number):
    topics = read_trec(content, kind)
    if topics is None:
        raise Refused
    found = {}
    for line in naive_lines(content):
        words = line.split()
        if words and words[0][:1] != b"#":
            assert len(words) == parts or (len(words) > parts and kind == "run")
            assert b"_" not in words[place]
            found.setdefault(words[0].decode(), {})[words[2].decode()] = number(words[place])
    assert topics == found
    assert all(
        math.isfinite(value) for documents in topics.values() for value in documents.values()
    )
