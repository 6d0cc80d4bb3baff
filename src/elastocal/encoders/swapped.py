"""Columns in each other's place: two headings of a table that, exchanged, make its rows agree with all others."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from elastocal.encoders.equations import system
from elastocal.encoders.pattern import robust_pattern
from elastocal.encoders.scatter import scattered
from elastocal.encoders.series import AxisColumn, EncoderSeries
from elastocal.errors import InputError

FEW = 1 / 10
"""Share of the rows that may be bad once the columns are in place."""


def swapped(
    series: Sequence[EncoderSeries], from_zero: bool, level: float, prismatic: Collection[str] = ()
) -> str | None:
    """Table and headings of the exchange that leaves fewest bad numbers; None where none makes sense of the rows."""
    found = []
    for said, candidate in _exchanges(series):
        try:
            screening, _ = robust_pattern(system(candidate, from_zero), level)
        except (InputError, np.linalg.LinAlgError):
            continue
        if not scattered(screening.fit, prismatic) and len(screening.bad) <= FEW * sum(len(s.rows) for s in series):
            found.append((len(screening.bad), said))
    return min(found)[1] if found else None


def _exchanges(series: Sequence[EncoderSeries]) -> Iterator[tuple[str, list[EncoderSeries]]]:
    for k, one in enumerate(series):
        pairs = [
            *((a, b, one.joints, "joints") for a, b in combinations(one.joints, 2)),
            *((a, b, one.counts, "counts") for a, b in combinations(one.counts, 2)),
        ]
        for a, b, columns, group in pairs:
            first, second = sorted((columns[a].heading, columns[b].heading))
            said = f"{one.table}: columns {first} and {second}"
            changed = _with(one, group, {**columns, a: columns[b], b: columns[a]})
            yield said, [*series[:k], changed, *series[k + 1 :]]


def _with(series: EncoderSeries, group: str, columns: Mapping[str, AxisColumn]) -> EncoderSeries:
    return replace(series, joints=columns) if group == "joints" else replace(series, counts=columns)
