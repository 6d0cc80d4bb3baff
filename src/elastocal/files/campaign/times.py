"""When readings were taken: a column of seconds, or of dates with a time of day."""

from __future__ import annotations

from collections.abc import Container
from datetime import UTC, datetime

import numpy as np

from elastocal.files.tables.raw import RawTable
from elastocal.spatial.entries import Array
from elastocal.untrusted import finite_number

TIME = "time"
TITLES = ("t", TIME, "timestamp", "t_s", "time_s", "timestamp_s")


def time_column(raw: RawTable, axes: Container[str]) -> tuple[int, Array] | None:
    """Place of the column and seconds (N,); None without one, or where a cell is no time."""
    titles = [title.lower() for title in raw.header]
    place = next((titles.index(t) for t in TITLES if t in titles and raw.header[titles.index(t)] not in axes), None)
    if place is None:
        return None
    numbers = raw.numbers(place)
    if np.isfinite(numbers).all():
        return place, numbers
    seconds = [_seconds(raw.numerals.cell(text)) for text in raw.texts(place)]
    known = [s for s in seconds if s is not None]
    return (place, np.array(known)) if len(known) == len(seconds) else None


def _seconds(text: str) -> float | None:
    if (number := finite_number(text)) is not None:
        return number
    try:
        day = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (day if day.tzinfo else day.replace(tzinfo=UTC)).timestamp()
