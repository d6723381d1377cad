"""Length of sentences: at most 30 words on README and the landing page, 40 on other pages."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONGEST, AVERAGE = 30, 16
LONGEST_ELSEWHERE = 40
PAGES = [
    *ROOT.glob("docs/*.md"),
    *ROOT.glob("docs/guide/*.md"),
    ROOT / "CONTRIBUTING.md",
    ROOT / "benchmarks/README.md",
]
# Lines that are no prose: headings, tables, pictures, lines of directives, and HTML.
NO_PROSE = re.compile(r"\s*(?:#|\||!\[|:|<|\{)")
ITEM = re.compile(r"^\s*(?:[*+-]|\d+\.)\s+")


def paragraphs(text):
    """Yield paragraphs and list items of a Markdown page as one line each.

    Code and references are left out.
    """
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    lines = []
    for line in [*text.splitlines(), ""]:
        prose = bool(line.strip()) and not NO_PROSE.match(line)
        if lines and (not prose or ITEM.match(line)):
            yield " ".join(lines)
            lines = []
        if prose:
            lines.append(ITEM.sub("", line).strip())


def sentences(text):
    """Yield the sentences of a page; links are their texts, and code is one word."""
    for paragraph in paragraphs(text):
        if re.match(r"\[\w+\d{4}\] ", paragraph):
            continue  # an entry of the references
        plain = re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", paragraph)
        plain = re.sub(r"`[^`]+`", "code", plain).replace("*", "")
        yield from re.split(r"(?<=[.!?:])\s+(?=[A-Z\d\"(+]|code)", plain)


def length(sentence):
    """Return the number of words that have a letter or a digit."""
    return sum(bool(re.search(r"\w", word)) for word in sentence.split())


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_sentences_are_short(page):
    found = list(sentences((ROOT / page).read_text(encoding="utf-8")))
    assert len(found) > 20
    assert [sentence for sentence in found if length(sentence) > LONGEST] == []
    assert sum(map(length, found)) / len(found) <= AVERAGE


@pytest.mark.parametrize("page", sorted(PAGES), ids=lambda page: page.stem)
def test_sentences_of_other_pages_are_not_long(page):
    found = list(sentences(page.read_text(encoding="utf-8")))
    assert [sentence for sentence in found if length(sentence) > LONGEST_ELSEWHERE] == []


def test_the_pages_of_the_guide_are_found():
    assert sum(page.parent.name == "guide" for page in PAGES) > 10


PAGE = """---
title: none
---
# Heading

One `x = 1 + 2` two. Three
[four five](page.md).

```python
no = "prose"
```

| no | prose |

* Six: seven. Eight.
* [robertson2010] No prose.
"""


def test_sentences_are_found():
    assert list(sentences(PAGE)) == ["One code two.", "Three four five.", "Six: seven.", "Eight."]
    assert length("Three – four, 5.") == 3
