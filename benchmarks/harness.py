"""Subjects to time: contestants that take turns, result files, and the tables on the pages."""

import csv
import io
import platform
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import joblib
import numpy as np

HERE = Path(__file__).parent
FIGURES = HERE / "figures"
CPUINFO = Path("/proc/cpuinfo")

THREADS = joblib.cpu_count()
N_DOCUMENTS = 100_000
N_FEATURES = 50
GRADE_SHARES = (0.52, 0.32, 0.13, 0.023, 0.007)
BOOSTERS = ("lightgbm", "xgboost")
RATIO = "time / peer's"

Row = Mapping[str, Any]
Run = Callable[[], object]
Runs = Mapping[str, Run]


def ranking_task(length: int, n_documents: int = N_DOCUMENTS) -> tuple[np.ndarray, ...]:
    """Return float32 features, grades that depend on some of them with noise, and query ids."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_documents, N_FEATURES), dtype=np.float32)
    noise = 2.0 * rng.standard_normal(n_documents)
    signal = X[:, :10] @ rng.standard_normal(10) + 0.5 * X[:, 10] * X[:, 11] + noise
    edges = np.quantile(signal, np.cumsum(GRADE_SHARES)[:-1])
    return X, np.searchsorted(edges, signal).astype(np.int32), np.arange(n_documents) // length


def race(
    contestants: Runs,
    peer: str = "",
    repetitions: int = 5,
    unit: str = "ms",
    factor: float = 1e3,
    by: str = "processor ",
    once: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Return the median time of each contestant, and its ratio to that of the peer.

    Contestants take turns, so that a change of the machine's speed meets all of them. A first turn
    compiles, and is not timed. Contestants in `once` run once, without that turn. Times are by the
    clock, and by the processor time of this process. The ratio is of processor times, or of times
    by the clock with `by=""`. `factor` converts seconds to the unit.
    """
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in contestants}
    for turn in range(-1, repetitions):
        for name, run in contestants.items():
            if name in once and turn != 0:
                continue
            clock, processor = time.perf_counter(), time.process_time()
            run()
            spent = time.perf_counter() - clock, time.process_time() - processor
            times[name] += [spent] * (turn >= 0)
    rows = []
    for name, turns in times.items():
        clock, processor = (factor * np.median(turns, axis=0)).tolist()
        rows.append({"contestant": name, unit: clock, f"processor {unit}": processor})
    return with_ratios(rows, peer, by + unit)


def with_ratios(rows: list[dict[str, Any]], peer: str, key: str) -> list[dict[str, Any]]:
    """Add to each row its ratio to the row of the peer, if there is a peer."""
    base = next((row[key] for row in rows if row["contestant"] == peer), None)
    return [{**row, RATIO: row[key] / base if base else None} for row in rows]


def output_of(code: str, *arguments: str, **options: Any) -> str:
    """Run Python code in a new process and return its output; `options` are of `subprocess`."""
    return subprocess.check_output([sys.executable, "-c", code, *arguments], text=True, **options)


@dataclass(frozen=True)
class Subject:
    """One table: how its rows are measured, and where the page shows them.

    `name` is that on the command line, of the result file and of the markers on the page.
    `measured` returns rows whose keys are the titles of the table; its argument is True for a smoke
    test with tiny sizes. `packages` are needed. Values of the key `across` become columns, which
    hold the values of the last key. `draw` returns the figure of the rows.
    """

    name: str
    description: str
    measured: Callable[[bool], Iterable[Row]]
    packages: tuple[str, ...] = ()
    across: str = ""
    draw: Callable[[Sequence[Row]], Any] | None = None
    page: Path = HERE / "README.md"

    @property
    def results(self) -> Path:
        """Path of the result file."""
        return HERE / "results" / f"{self.name}.csv"

    def run(self, smoke: bool) -> None:
        """Measure; write results, figure and page, or print the table of a smoke test."""
        rows = list(self.measured(smoke))
        results = as_csv(rows, conditions(*self.packages))
        if smoke:
            print(self.part(results))
            if self.draw:
                self.draw(parsed(results)[1]).savefig(io.BytesIO())
            return
        self.results.parent.mkdir(exist_ok=True)
        self.results.write_text(results, encoding="utf-8")
        self.redraw()

    def redraw(self) -> None:
        """Write figure and table from the result file."""
        results = self.results.read_text(encoding="utf-8")
        write(self.name, self.part(results), self.page)
        if self.draw:
            from benchmarks.pictures import save

            save(self.draw(parsed(results)[1]), FIGURES / f"{self.name}.png")

    def part(self, results: str) -> str:
        """Return the table of a result file, and the conditions, as they stand on the page."""
        measured_on, rows = parsed(results)
        rows = spread(rows, self.across) if self.across else rows
        cells = [[shown(cell) for cell in row.values()] for row in rows]
        measured = textwrap.fill(f"Measured on {measured_on}.", 100, break_on_hyphens=False)
        return f"{table(list(rows[0]), cells)}\n\n{measured}"


def spread(rows: Sequence[Row], across: str) -> list[Row]:
    """Return one row for the rows that differ by `across` and the last key only."""
    columns = dict.fromkeys(row[across] for row in rows)
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        *first, value = (key for key in row if key != across)
        empty = {**{key: row[key] for key in first}, **dict.fromkeys(columns, "")}
        found.setdefault(tuple(row[key] for key in first), empty)[row[across]] = row[value]
    return list(found.values())


def shown(text: str) -> str:
    """Return a cell of the page: whole numbers as they are, others with three digits."""
    try:
        number = int(text) if text.isdigit() else float(f"{float(text):.3g}")
    except ValueError:
        return text or "–"
    return f"{number:,}" if isinstance(number, int) else f"{number:,.9g}"


def as_csv(rows: Sequence[Row], measured_on: str) -> str:
    """Return the text of a result file: conditions, then the rows in full precision."""
    text = io.StringIO()
    columns = list(dict.fromkeys(key for row in rows for key in row))
    text.write(f"# {measured_on}\n")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def parsed(results: str) -> tuple[str, list[Row]]:
    """Return conditions and rows of the text of a result file."""
    first, _, rest = results.partition("\n")
    return first.removeprefix("# "), list(csv.DictReader(io.StringIO(rest)))


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def signed(value: float, digits: int = 4) -> str:
    """Return a number with a sign, which is a minus and no hyphen."""
    return f"{value:+.{digits}f}".replace("-", "−")


def first_number(text: str) -> float:
    """Return the number at the beginning of a cell that `signed` wrote."""
    return float(text.split()[0].replace("−", "-"))


def write(name: str, text: str, page: Path) -> None:
    """Replace the text between the markers of `name`.

    Raises
    ------
    ValueError
        If the page does not have each marker once.
    """
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    old = page.read_text(encoding="utf-8")
    n = old.count(begin)
    if n != 1 or old.count(end) != 1:
        raise ValueError(f"{page} holds {begin} {n} times; expected it once, and {end} after it")
    head, rest = old.split(begin)
    page.write_text(f"{head}{begin}\n\n{text}\n\n{end}{rest.split(end)[1]}", encoding="utf-8")


def version_of(package: str) -> str:
    """Return the version of a distribution, or an empty text without it."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def conditions(*packages: str) -> str:
    """Return date, processor, cores and versions."""
    model = platform.processor() or platform.machine()
    if CPUINFO.exists():
        lines = CPUINFO.read_text(encoding="utf-8").splitlines()
        names = [line.split(":", 1)[1] for line in lines if line.startswith("model name")]
        model = names[0].strip() if names else model
    versions = ", ".join(f"{name} {version_of(name)}" for name in ("numpy", "numba", *packages))
    python = platform.python_version()
    return f"{date.today()}: {model}, {THREADS} cores, Python {python}, {versions}"
