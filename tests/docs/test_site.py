"""The built site (``nox -s docs``): links, page width, and no requests to other hosts."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from browser import CHROMIUM, measure

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (SITE / "index.html").exists(), reason="the site is not built: nox -s docs"
    ),
]

PAGES = (
    "index",
    "install",
    "migration",
    "auto_tutorials/index",
    "auto_tutorials/01_quick_start",
    "auto_tutorials/05_fractional_grades",
    "guide/train",
    "guide/production",
    "guide/compare",
    "guide/analyze",
    "guide/report",
    "benchmarks/EFFECTIVENESS",
    "benchmarks/BETTER_RANKINGS",
    "benchmarks/FINDINGS",
    "theory",
    "measures",
    "api/generated/gapboost.lightgbm.LGBMGAPRanker",
    "api/generated/gapboost.GAP",
)
WIDTHS = (1300, 390)


class Page(HTMLParser):
    """Links of a page, and the names that others may link to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.names |= {attributes.get("id"), attributes.get("name")}
        self.links += [attributes[name] for name in ("href", "src") if attributes.get(name)]


@pytest.fixture(scope="module")
def pages():
    # Pages of sources are left out: viewcode links back by the module that first shows a name.
    left_out = {"_static", "_modules"}
    return {path: Page(path) for path in SITE.rglob("*.html") if not left_out & {*path.parts}}


def test_links_anchors_and_pictures(pages):
    broken = []
    for at, page in pages.items():
        for link in page.links:
            url = urlsplit(link)
            assert url.scheme != "mailto", (
                f"{at.relative_to(SITE)}: {link}: a measure and its cut-off, taken for an address"
            )
            if url.scheme or url.netloc or "_modules" in url.path:
                continue
            target = (at.parent / unquote(url.path)).resolve() if url.path else at
            if not target.exists():
                broken.append(f"{at.relative_to(SITE)}: {link}")
            elif (
                url.fragment
                and target in pages
                and unquote(url.fragment) not in pages[target].names
            ):
                broken.append(f"{at.relative_to(SITE)}: {link}, a heading that is not there")
    assert len(pages) > 50
    assert not broken, "\n".join(sorted(set(broken)))


@pytest.fixture(scope="module")
def seen():
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    asked = [(f"{page}.html", width) for page in PAGES for width in WIDTHS]
    answer = measure(SITE, asked)
    assert "error" not in answer, answer["error"]
    return dict(zip(asked, answer["pages"], strict=True))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("page", PAGES)
def test_page_fits_the_window(seen, page, width):
    found = seen[f"{page}.html", width]
    assert found["page"] <= width
    assert found["pictures"] == []
    assert found["wrapped"] == 0
    assert found["contents"] or width < 1300


def test_no_request_leaves_the_machine(seen):
    assert {url for page in seen.values() for url in page["away"]} == set()
