"""Pages of reports: text is escaped, and a page needs no other files."""

import math
import re

import pandas as pd
import pytest
from matplotlib.figure import Figure

from gapboost.page import write_page

NASTY = '<b> & "quotes"'


@pytest.fixture
def page(tmp_path):
    figures = []
    for _ in range(2):
        figure = Figure(figsize=(4, 2))
        figure.subplots().plot([0, 1], [1, 0], "o-", label=NASTY)
        figure.axes[0].set_title(NASTY)
        figures.append(figure)
    table = pd.DataFrame(
        {NASTY: [NASTY, "see https://example.org/x", ""], "n": [0.5, -1.0, math.nan]}
    )
    sections = {NASTY: [NASTY, figures, table, {"More": [table, "inside"]}]}
    write_page(tmp_path / "page.html", NASTY, sections)
    return (tmp_path / "page.html").read_text(encoding="utf-8")


def test_text_is_escaped_in_titles_paragraphs_tables_and_pictures(page):
    assert "<b>" not in page
    assert page.count("&lt;b&gt;") >= 8


def test_no_two_parts_have_the_same_id_and_every_reference_has_its_part(page):
    ids = re.findall(r' id="([^"]*)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', page))
    assert {a or b for a, b in re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', page)} <= set(ids)


def test_a_page_loads_nothing(page):
    assert not re.search(r'(src|href)="(?!#|https://example.org)[^"]*"|@import|url\((?!#)', page)


def test_numbers_links_and_inner_sections(page):
    for number in ("−1.0000", ""):  # NaN is an empty cell
        assert f'<td class="number">{number}</td>' in page
    assert '<a href="https://example.org/x"' in page
    assert "<h3>More</h3>" in page
