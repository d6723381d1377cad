"""Trees of a fitted model as values, with each threshold between two neighboring numbers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Leaf:
    """Node that adds its value to the score."""

    value: float


@dataclass(frozen=True)
class ThresholdSplit:
    """Node that compares a number with a threshold.

    Attributes
    ----------
    feature : int
        Position of the column.
    last_left : float
        Largest number that goes left.
    first_right : float
        Smallest number that goes right.
    missing_left : bool
        True if a missing value goes left.
    left, right : node
    """

    feature: int
    last_left: float
    first_right: float
    missing_left: bool
    left: "Node"
    right: "Node"


@dataclass(frozen=True)
class CategorySplit:
    """Node that sends some categories left; all others, and missing ones, go right.

    Attributes
    ----------
    feature : int
        Position of the column.
    codes : tuple of int
        Codes of the categories that go left.
    left, right : node
    """

    feature: int
    codes: tuple[int, ...]
    left: "Node"
    right: "Node"


Node = Leaf | ThresholdSplit | CategorySplit


@dataclass(frozen=True)
class Trees:
    """Trees of a model: the score of a row is the sum of one leaf of each tree.

    Attributes
    ----------
    roots : tuple of node
        A constant is a tree of one leaf.
    feature_names : tuple of str
        Empty if the model has no names.
    n_features : int
    categories : dict of int to list
        Categories of each categorical column, in the order of their codes.
    """

    roots: tuple[Node, ...]
    feature_names: tuple[str, ...]
    n_features: int
    categories: dict[int, list[Any]]


def splits_below(node: Node) -> Iterator[ThresholdSplit | CategorySplit]:
    """Yield the splits of a tree, each before those below it."""
    if not isinstance(node, Leaf):
        yield node
        yield from splits_below(node.left)
        yield from splits_below(node.right)


def leaves(node: Node) -> Iterator[float]:
    """Yield the values of the leaves of a tree."""
    if isinstance(node, Leaf):
        yield node.value
    else:
        yield from leaves(node.left)
        yield from leaves(node.right)


def largest_at_most(number: float, kind: type[np.floating[Any]]) -> float:
    """Return the largest number of a float type that is at most `number`.

    The next larger number of the type is finite too: see `next_above`.
    """
    limits = np.finfo(kind)
    if number >= float(limits.max):
        return float(np.nextafter(limits.max, kind(0)))
    if number < float(limits.min):
        return float(limits.min)
    rounded = kind(number)
    # numpy would round the number for a comparison with float32.
    return float(rounded if float(rounded) <= number else np.nextafter(rounded, limits.min))


def next_above(number: float, kind: type[np.floating[Any]]) -> float:
    """Return the next larger number of a float type."""
    return float(np.nextafter(kind(number), kind(np.inf)))
