"""Colors of all plots, and reports as one HTML file by the template `page.html.j2`."""

import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from gapboost.optional import DataFrame, Figure, imported
from gapboost.validation import PathLike

# Okabe and Ito's colors, which color-blind readers tell apart, without black and yellow: they
# must show on light and dark.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

PURPOSE = "for the report"
# Cells that are numbers as text, such as "+0.0012", "1,204" or "< 0.001", align right.
NUMBER = re.compile(r"(|[<>]? ?[-+−]?[\d.,]*\d(e[-+−]?\d+)?( ?%)?)( to [-+−]?[\d.,]*\d)?")


def write_page(path: PathLike, title: str, sections: Mapping[str, Sequence[object]]) -> None:
    """Write an HTML page that needs no other files.

    Parameters
    ----------
    path : path
    title : str
    sections : mapping {heading: content}
        The content in the order of the page: a str is a paragraph (addresses in it become links), a
        pandas.DataFrame is a table, a list of matplotlib Figures are plots side by side, and a
        mapping are sections within this one. The index of a table is shown if it has a name. Floats
        have four decimals; format other columns as text.

    Raises
    ------
    ImportError
        If jinja2, pandas or matplotlib is missing.
    """
    jinja2 = imported("jinja2", "analysis", PURPOSE)
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("gapboost"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(table=_table, svg=_svg)
    page = environment.get_template("page.html.j2").render(title=title, sections=sections)
    Path(path).write_text(page, encoding="utf-8")


def _table(frame: DataFrame) -> dict[str, object]:
    """Return the names of the columns, the rows as text, and which columns are numbers."""
    if frame.index.name is not None:
        frame = frame.reset_index()
    columns = [[_cell(value) for value in frame[name]] for name in frame.columns]
    numbers = [all(map(NUMBER.fullmatch, column)) for column in columns]
    return {"head": list(frame.columns), "rows": list(zip(*columns, strict=True)), "of": numbers}


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.4f}".replace("-", "−")
    return str(value)


def _svg(figure: Figure) -> str:
    """Return a figure as SVG, in the color of the page's text; ids differ between plots."""
    stream = io.StringIO()
    with imported("matplotlib", "plot", PURPOSE).rc_context({"svg.fonttype": "none"}):
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    drawn = stream.getvalue()
    drawn = drawn[drawn.index("<svg") :].replace("#000000", "currentColor")
    used = set(re.findall(r"#(\w+)", drawn))
    drawn = re.sub(r' id="([^"]*)"', lambda id: id[0] if id[1] in used else "", drawn)
    return drawn
