"""A graded ranking task from the images of handwritten digits that scikit-learn ships."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.datasets import load_digits

from gapboost.data import Array, RankingDataset
from gapboost.datasets.split import RankingSplit
from gapboost.validation import as_integer, random_numbers


def _confusable(images: Array, labels: Array) -> Array:
    """Return True where a digit (column) is one of the two that look most like another (row)."""
    means = np.array([images[labels == digit].mean(axis=0).ravel() for digit in range(10)])
    distances = np.linalg.norm(means[:, None] - means, axis=2)
    # The nearest one is the digit itself.
    ranks = distances.argsort(axis=1, kind="stable").argsort(axis=1)
    confusable: Array = (ranks == 1) | (ranks == 2)
    return confusable


def _cosine(a: Array, b: Array) -> Array:
    a, b = a.reshape(len(a), -1), b.reshape(len(b), -1)
    norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return np.asarray((a * b).sum(axis=1) / np.maximum(norms, 1e-12))


def _features(query: Array, document: Array) -> dict[str, Array]:
    """Compare images pairwise; both have shape (n_pairs, 8, 8) and values from 0 to 1."""
    images = (query, document)
    features: dict[str, Array] = {}
    profiles = {"row": [x.sum(axis=2) for x in images], "column": [x.sum(axis=1) for x in images]}
    for name, (q, d) in profiles.items():
        features[f"{name}_profile_cosine"] = _cosine(q, d)
        features[f"{name}_profile_l1"] = np.abs(q - d).sum(axis=1)
    coarse = (x.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)) for x in images)
    features["coarse_cosine"] = _cosine(*coarse)
    features["vertical_edge_cosine"] = _cosine(*(np.diff(x, axis=2) for x in images))
    features["horizontal_edge_cosine"] = _cosine(*(np.diff(x, axis=1) for x in images))
    q, d = (x.reshape(-1, 2, 4, 2, 4).sum(axis=(2, 4)) for x in images)
    for i, side in enumerate(("top", "bottom")):
        features[f"{side}_left_ink"], features[f"{side}_right_ink"] = np.abs(q - d)[:, i].T
    difference = query - document
    features["centre_ink"] = np.abs(difference[:, 2:6, 2:6].sum(axis=(1, 2)))
    features["total_ink"] = np.abs(difference.sum(axis=(1, 2)))
    places = np.arange(8.0)
    for name, (q, d) in profiles.items():
        moved = q @ places / q.sum(axis=1) - d @ places / d.sum(axis=1)
        features[f"{name}_centre"] = np.abs(moved)
    for name, image in (("document", document), ("query", query)):
        features[f"{name}_mirror_cosine"] = _cosine(image, image[:, :, ::-1])
        features[f"{name}_flip_cosine"] = _cosine(image, image[:, ::-1])
        features[f"{name}_turn_cosine"] = _cosine(image, image[:, ::-1, ::-1])
        features[f"{name}_centre_ink"] = image[:, 2:6, 2:6].sum(axis=(1, 2))
    return features


def load_digits_ranking(
    n_queries: Sequence[int] = (240, 60, 100),
    n_docs: int = 40,
    *,
    random_state: int | np.random.RandomState | None = 0,
) -> RankingSplit:
    """Make a graded ranking task from scikit-learn's handwritten digits, without a download.

    A query is an image, its documents are other images.  A document has grade 2 if it shows the
    same digit, grade 1 if it shows a digit that is easily taken for it, and grade 0 otherwise:
    about 10, 20 and 70 of 100 documents.  The digits easily taken for a digit are the two whose
    mean images are nearest to its own mean image in Euclidean distance, over all the images.

    The images are first dealt out to training, validation and test, in proportion to ``n_queries``:
    no image, neither as query nor as document, is in two of the three.  An image may be a document
    of several queries of one part.

    The grades have no noise.

    Parameters
    ----------
    n_queries : sequence of 3 int, default=(240, 60, 100)
        Number of queries for training, validation and test.
    n_docs : int, default=40
        Number of documents of each query.
    random_state : int, RandomState or None, default=0
        Decides which images are queries and documents.  The same int gives the same data.

    Returns
    -------
    RankingSplit
        ``train``, ``vali`` and ``test``, each a :class:`RankingDataset` with
        ``n = n_queries[part] * n_docs`` rows.
        ``X`` : ndarray of shape (n, 23), dtype float64; comparisons of the two images, and traits
        of each.
        ``y`` : ndarray of shape (n,), dtype int32; grades 0, 1 and 2.
        ``qid`` : ndarray of shape (n,), dtype int64; position of the query's image in
        :func:`sklearn.datasets.load_digits`, ascending.
        ``docid`` : ndarray of shape (n,), dtype str; position of the document's image.
        ``feature_names`` : list of str.

    Raises
    ------
    ValueError
        If a number is below 1, there are not three numbers of queries, or the images do not
        suffice: a part needs as many as it has queries, and more than ``n_docs``.

    Examples
    --------
    >>> train, vali, test = load_digits_ranking()
    >>> train
    RankingDataset(240 queries, 9600 rows, 23 features, grades {0: 6687, 1: 1940, 2: 973})
    """
    n_train, n_vali, n_test = (as_integer(n, "n_queries") for n in n_queries)
    n_docs = as_integer(n_docs, "n_docs")
    digits = load_digits()
    images, labels = digits.images / 16.0, digits.target
    confusable = _confusable(images, labels)
    generator = random_numbers(random_state)
    total = n_train + n_vali + n_test
    bounds = np.array([n_train, n_train + n_vali]) * len(images) // total
    pools = np.split(generator.permutation(len(images)), bounds)
    parts = []
    for pool, n_part in zip(pools, (n_train, n_vali, n_test), strict=True):
        if len(pool) < max(n_part, n_docs + 1):
            raise ValueError(
                f"n_queries is {n_queries} and n_docs {n_docs}; expected fewer: {len(pool)} images "
                f"are left for a part of {n_part} queries"
            )
        queries = np.sort(pool[:n_part])
        documents = np.concatenate(
            [generator.permutation(pool[pool != query])[:n_docs] for query in queries]
        )
        queries = np.repeat(queries, n_docs)
        features = _features(images[queries], images[documents])
        asked, answered = labels[queries], labels[documents]
        grades = np.where(asked == answered, 2, confusable[asked, answered]).astype(np.int32)
        X = np.column_stack(list(features.values()))
        qid, docid = queries.astype(np.int64), documents.astype(np.str_)
        parts.append(RankingDataset(X, grades, qid, docid, list(features)))
    return RankingSplit(*parts)
