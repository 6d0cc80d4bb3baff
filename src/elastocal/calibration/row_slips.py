"""Slips of some rows: two rows or two markers that stand in each other's place; an instrument or a target that was
moved while a campaign was read, so that its rows from some row on are seen from a place of its own.

Each has words that accept it; rows are named by their places, as messages name them.  "From a row on" is by ``time``
where the campaign has it, else in the order of the rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from elastocal.calibration.campaign import READ, Campaign
from elastocal.calibration.placing import placed_distances
from elastocal.errors import RangeError
from elastocal.model.kinematics import Kinematics, kinematics
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Ints

STATION, MARKER = "a station for ", "a marker for "
BY_MARKER = ("position", "deflection", "distance")


def rows_word(campaign: Campaign, one: int, other: int) -> str:
    return f"readings of {campaign.line(one)} and {campaign.line(other)} exchanged"


def markers_word(one: str, other: str, place: str) -> str:
    return f"markers {one} and {other} exchanged in {place}"


def mended(campaign: Campaign, word: str) -> Campaign | None:
    """The campaign with what ``word`` says put back; None where it is no such word of this campaign."""
    pair = _rows_named(campaign, word)
    if pair is not None:
        return _rows_mended(campaign, word, *pair)
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


def each_word(given: str) -> list[str]:
    """Words of rows one after another, as messages list them."""
    return re.split(rf", (?={STATION}|{MARKER}|readings of |markers? )", given.strip())


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


def _rows_mended(campaign: Campaign, word: str, i: int, j: int) -> Campaign:
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


LEAST = 4
"""Rows on either side: an instrument can be placed to suit three whatever they are."""
PARTS = 8
"""Rows tried at first as the one from which on something is elsewhere; those about the best of them after that."""


def station_word(place: str) -> str:
    return STATION + rows_from(place)


def marker_word(marker: str, place: str) -> str:
    return f"{MARKER}{marker} in {rows_from(place)}"


def parted(campaign: Campaign, word: str) -> Campaign | None:
    """The campaign with a station or a marker for rows that ``word`` names; None where it is no such word."""
    if word.startswith(STATION):
        place = word.removeprefix(STATION)
        rows = rows_at(campaign, place)
        return _own_station(campaign, place, rows) if len(rows) else None
    starts = [marker_word(marker, "").removesuffix(rows_from("")) for marker in campaign.markers]
    named = [number for number, start in enumerate(starts) if word.startswith(start)]
    if not named:
        return None
    longest = max(named, key=lambda number: len(starts[number]))  # "marker2 in rows from row 20 on" is one of them too
    place = word.removeprefix(starts[longest])
    rows = rows_at(campaign, place)
    return _own_marker(campaign, longest, place, rows) if len(rows) else None


def from_rows(robot: Robot, campaign: Campaign) -> Iterator[tuple[str, Campaign]]:
    """Words by which points come near that are far from the robot in some of the rows, and the campaign put right.

    A station from some row on, or two markers exchanged from there on; the row is that which brings them nearest."""
    if campaign.count < 2 * LEAST:
        return
    at = kinematics(robot.nominal, campaign.joint_values(robot))
    if len(campaign.stations) == 1:
        yield _nearest(campaign, at, None)
    for pair in combinations(campaign.markers, 2):
        yield _nearest(campaign, at, pair)


def _nearest(campaign: Campaign, at: Kinematics, pair: tuple[str, str] | None) -> tuple[str, Campaign]:
    order = measured_order(campaign)

    def right(place: int) -> tuple[str, Campaign]:
        line = campaign.line(int(order[place]))
        word = station_word(line) if pair is None else markers_word(*pair, rows_from(line))
        return word, parted(campaign, word) or mended(campaign, word) or campaign

    def nearness(place: int) -> float:
        """Mean logarithm of the distances of all points, best placed: it tells one wrong row, which no median does."""
        off = placed_distances(right(place)[1], at.position, at.rotation, quick=True)
        return float(np.nanmean(np.log(off + 1e-6)))

    places = np.arange(LEAST, len(order) - LEAST + 1)
    rough = np.unique(places[np.linspace(0, len(places) - 1, PARTS).astype(np.int64)])
    best, step = min(rough.tolist(), key=nearness), int(np.diff(rough).max(initial=1))
    return right(min(places[np.abs(places - best) < step].tolist(), key=nearness))


def _own_station(campaign: Campaign, place: str, rows: Ints) -> Campaign:
    """Of the station that the first of the rows was seen from."""
    old = str(campaign.station[rows[0]])
    names = campaign.station.astype(object)
    names[rows[campaign.station[rows] == old]] = f"{old} in {place}"
    return campaign.changed(station=names.astype(str))


def _own_marker(campaign: Campaign, number: int, place: str, rows: Ints) -> Campaign:
    later = np.zeros(campaign.count, dtype=bool)
    later[rows] = True
    read = {key: getattr(campaign, key) for key in BY_MARKER if getattr(campaign, key) is not None}
    for key, values in read.items():
        both = np.concatenate([values, values[:, number : number + 1]], axis=1)
        both[later, number], both[~later, -1] = np.nan, np.nan
        read[key] = both
    return campaign.changed(**read, markers=(*campaign.markers, f"{campaign.markers[number]} in {place}"))
