"""Readings that stand in each other's place: two rows of a table, or two markers in some of its rows.

Each has words that accept it; the rows are named by their places, as messages name them.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from elastocal.calibration.campaign import READ, Campaign
from elastocal.errors import RangeError
from elastocal.spatial.entries import Array, Ints

BY_MARKER = ("position", "deflection", "distance")


def rows_word(campaign: Campaign, one: int, other: int) -> str:
    return f"readings of {campaign.line(one)} and {campaign.line(other)} exchanged"


def markers_word(one: str, other: str, place: str) -> str:
    return f"markers {one} and {other} exchanged in {place}"


def mended(campaign: Campaign, word: str) -> Campaign | None:
    """The campaign with what ``word`` says put back; None where it is no such word of this campaign."""
    if word.startswith("readings of "):
        return _rows_mended(campaign, word)
    if not word.startswith("markers "):
        return None
    for one, other in combinations(range(len(campaign.markers)), 2):
        start = markers_word(campaign.markers[one], campaign.markers[other], "")
        rows = rows_at(campaign, word.removeprefix(start)) if word.startswith(start) else np.zeros(0, dtype=int)
        if len(rows):
            order = np.arange(len(campaign.markers))
            order[[one, other]] = order[[other, one]]
            return campaign.changed(**{key: _reordered(getattr(campaign, key), rows, order) for key in BY_MARKER})
    return None


def rows_from(place: str) -> str:
    """Rows from a line on, as words name them."""
    return f"rows from {place} on"


def measured_order(campaign: Campaign) -> Ints:
    """Rows as they were measured: by time where it was read, else as they stand."""
    return np.arange(campaign.count) if campaign.time is None else np.argsort(campaign.time, kind="stable")


def rows_at(campaign: Campaign, place: str) -> Ints:
    """Rows of a line, of a whole table, or from a line on in the order of measuring."""
    names = [campaign.line(i) for i in range(campaign.count)]
    order = measured_order(campaign)
    for at, row in enumerate(order.tolist()):
        if rows_from(names[row]) == place:
            return np.asarray(order[at:])
    return np.array(
        [i for i, n in enumerate(names) if n == place or n.startswith((f"{place} line", f"{place}, "))], int
    )


def _rows_mended(campaign: Campaign, word: str) -> Campaign | None:
    pair = _rows_named(campaign, word)
    if pair is None:
        return None
    i, j = pair
    if i == j:
        raise RangeError(f"accept: {word!r} names one row twice; name two rows", value=word, parameter="accept")
    order = np.arange(campaign.count)
    order[[i, j]] = order[[j, i]]
    read = {key: getattr(campaign, key) for key in READ}
    return campaign.changed(**{key: None if v is None else v[order] for key, v in read.items()})


def _rows_named(campaign: Campaign, word: str) -> tuple[int, int] | None:
    """The two rows of ``word``, the lower first."""
    if not word.startswith("readings of "):
        return None
    number = {campaign.line(i): i for i in range(campaign.count)}
    names = word.removeprefix("readings of ").removesuffix(" exchanged")
    for one, i in number.items():
        if names.startswith(f"{one} and ") and names.removeprefix(f"{one} and ") in number:
            j = number[names.removeprefix(f"{one} and ")]
            return min(i, j), max(i, j)
    return None


def in_order(campaign: Campaign, word: str) -> str:
    """The word with its rows in the order of the table: the same exchange has one word."""
    pair = _rows_named(campaign, word)
    return word if pair is None or pair[0] == pair[1] else rows_word(campaign, *pair)


def _reordered(values: Array | None, rows: Ints, order: Ints) -> Array | None:
    if values is None:
        return None
    out = values.copy()
    out[rows] = out[rows][:, order]
    return out
