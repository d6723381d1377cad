"""Write the made collections of `tests/support/made`: ``python tests/support/make_collections.py``.

They have the form of real ones, oddities included, and nothing in them is real: all numbers are
random.
"""

import gzip
from pathlib import Path

import numpy as np

MADE = Path(__file__).parent / "made"

N_FEATURES = 8
PARTS = (24, 16, 12, 4, 4)  # queries of the five parts that folds are made of
DOCUMENTS = (40, 70)  # of a query


def main() -> None:
    """Write all of them."""
    rng = np.random.default_rng(20)
    write_letor(MADE / "letor", rng)
    write_lightgbm(MADE / "lightgbm", rng)
    write_trec(MADE / "trec", rng)


def write(path: Path, lines: list[str]) -> None:
    """Write lines; the same lines always make the same file, compressed or not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(line + "\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)


def documents(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Features of the documents of one query, and grades 0 to 2 that depend on three of them."""
    X = rng.normal(size=(n, N_FEATURES)).round(2)
    X[:, 3] = round(rng.normal(), 2)  # the same for all of its documents
    told = X[:, 0] + 0.7 * X[:, 1] + 0.5 * X[:, 0] * X[:, 2] + 1.6 * rng.normal(size=n)
    return X, np.digitize(told, [1.2, 2.8])


def write_letor(folder: Path, rng: np.random.Generator) -> None:
    """Write five folds as LETOR has them.

    Training and validation queries of the first are test queries of others.
    """
    parts, query = [], 0
    for n_queries in PARTS:
        lines = []
        for _ in range(n_queries):
            query += 1
            X, y = documents(rng, int(rng.integers(*DOCUMENTS)))
            if query == 60:
                y[:] = 0  # nothing relevant
            for i, (row, grade) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
                pairs = " ".join(f"{column}:{value:g}" for column, value in enumerate(row, 1))
                lines.append(f"{grade} qid:{query} {pairs} #docid = {query:02}{i:03}")
        parts.append(lines)
    for fold, lines in enumerate([*parts[2:], parts[1], parts[0]], 1):
        write(folder / f"Fold{fold}" / "test.txt.gz", lines)
    write(folder / "Fold1" / "train.txt.gz", parts[0])
    write(folder / "Fold1" / "vali.txt.gz", parts[1])


def write_lightgbm(folder: Path, rng: np.random.Generator) -> None:
    """Write LightGBM's form: sizes of groups beside the file, no query ids, and no zeros."""
    for name, n_queries in (("rank.train", 12), ("rank.test", 5)):
        lines, sizes = [], []
        for _ in range(n_queries):
            X, y = documents(rng, int(rng.integers(3, 9)))
            sizes.append(str(len(y)))
            for row, grade in zip(X.tolist(), y.tolist(), strict=True):
                pairs = " ".join(
                    f"{column}:{value:.2f}" for column, value in enumerate(row, 1) if value > -0.5
                )
                lines.append(f"{grade} {pairs}")
        write(folder / f"{name}.gz", lines)
        write(folder / f"{name}.query", sizes)


def write_trec(folder: Path, rng: np.random.Generator) -> None:
    """Write judgments and runs with oddities of real ones, such as ties and wrong ranks."""
    topics = [str(topic) for topic in range(701, 709)]
    names = {
        topic: [f"DOC-{number:04}" for number in rng.permutation(4000)[:400]] for topic in topics
    }
    judged = {
        topic: {
            name: int(grade)
            for name, grade in zip(
                names[topic], rng.choice(4, 150, p=[0.8, 0.1, 0.06, 0.04]) - 1, strict=False
            )
        }
        for topic in topics
    }
    judged[topics[-1]] = dict.fromkeys(judged[topics[-1]], 0)  # nothing relevant
    write(
        folder / "qrels.txt.gz",
        [f"{t} 0 {doc} {grade}" for t in topics for doc, grade in judged[t].items()],
    )
    for run, (noise, length, decimals) in {
        "good": (0.5, 200, 6),
        "fair": (1.5, 200, 6),
        "poor": (9.0, 200, 6),
        "ties": (1.0, 150, 0),
        "short": (1.0, 6, 6),
    }.items():
        lines = []
        for topic in topics if run != "short" else topics[2:]:
            scores = {
                doc: round(judged[topic].get(doc, 0) + noise * rng.normal(), decimals)
                for doc in names[topic]
            }
            ranked = sorted(scores, key=scores.__getitem__, reverse=True)[:length]
            shown = rng.permutation(length) if run == "ties" else np.arange(length)
            lines += [
                f"{topic} Q0 {ranked[i]} {rank} {scores[ranked[i]]} {run}"
                for rank, i in enumerate(shown, 1)
            ]
        write(folder / "runs" / f"{run}.gz", lines)


if __name__ == "__main__":
    main()
