"""An instrument or a target that was moved while a campaign was read: its rows from some row on are seen from a place
of its own.

Both have words that accept them; the row is named by its place, as messages name it.  "From a row on" is by ``time``
where the campaign has it, else in the order of the rows.
"""

from __future__ import annotations

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.calibration.exchanged import BY_MARKER, rows_at, rows_from

STATION = "a station for "


def station_word(place: str) -> str:
    return STATION + rows_from(place)


def marker_word(marker: str, place: str) -> str:
    return f"a marker for {marker} in {rows_from(place)}"


def undone(campaign: Campaign, word: str) -> Campaign | None:
    """The campaign with a station or a marker for rows that ``word`` names; None where it is no such word."""
    if word.startswith(STATION):
        return _own_station(campaign, word.removeprefix(STATION))
    for number, marker in enumerate(campaign.markers):
        if word.startswith(start := marker_word(marker, "").partition("rows")[0]):
            return _own_marker(campaign, number, word.removeprefix(start))
    return None


def _own_station(campaign: Campaign, place: str) -> Campaign | None:
    """Of the station that the first of the rows was seen from."""
    rows = rows_at(campaign, place)
    if not len(rows):
        return None
    old = str(campaign.station[rows[0]])
    names = campaign.station.astype(object)
    names[rows[campaign.station[rows] == old]] = f"{old} in {place}"
    return campaign.changed(station=names.astype(str))


def _own_marker(campaign: Campaign, number: int, place: str) -> Campaign | None:
    rows = rows_at(campaign, place)
    if not len(rows):
        return None
    later = np.zeros(campaign.count, dtype=bool)
    later[rows] = True
    read = {key: getattr(campaign, key) for key in BY_MARKER if getattr(campaign, key) is not None}
    for key, values in read.items():
        both = np.concatenate([values, values[:, number : number + 1]], axis=1)
        both[later, number], both[~later, -1] = np.nan, np.nan
        read[key] = both
    return campaign.changed(**read, markers=(*campaign.markers, f"{campaign.markers[number]} in {place}"))
