"""Centres, axes and radii of tracked points that turn about an axis."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.tracking.tracked import (
    KnownArc,
    check_known_angles,
    check_markers,
    check_same_poses,
    known_arc,
)
from elastocal.app.tracking.tracked_free import FreeArcs, free_arcs
from elastocal.errors import InputError

if TYPE_CHECKING:
    from elastocal.files.tables.points import PointTable
    from elastocal.spatial.entries import Array

SENSES = {"with": 1, "against": -1}


@dataclass(frozen=True)
class ArcsRequest:
    points: Path
    known: tuple[str, ...] = ()
    noise_um: float | None = None
    sense: str | None = None
    axis: str | None = None


@dataclass(frozen=True, eq=False)
class ArcsResult:
    table: PointTable
    noise: float | None
    known: tuple[KnownArc, ...]
    free: FreeArcs | None
    notes: tuple[str, ...]


def run(request: ArcsRequest) -> ArcsResult:
    from elastocal.app.threads import one_thread
    from elastocal.files.tables.points import read_points

    noise, sense = noise_of(request.noise_um), sense_from_word(request.sense)
    table = read_points(request.points)
    known = _known(table, request.known)
    axis = axis_of(request.axis, table)
    if sense is not None and not known:
        raise InputError("--sense is of markers whose angles are known; name them by --known")
    if sense is not None and table.dimension == 3 and axis is None:
        raise InputError('--sense: a sense in space refers to an axis; add its rough direction as --axis "X,Y,Z"')
    rest = tuple(m for m in table.markers if m not in known)
    check_same_poses(table, rest)
    for marker in known:
        check_known_angles(table, marker)
    with one_thread():
        arcs = tuple(known_arc(table, m, noise, sense, axis, table.angles[m]) for m in known)
        free = free_arcs(table, rest, noise) if rest else None
    notes = [*table.notes, *(n for a in arcs for n in a.notes), *(free.notes if free else ())]
    return ArcsResult(table, noise, arcs, free, tuple(notes))


def noise_of(noise_um: float | None) -> float | None:
    from math import isfinite

    if noise_um is not None and not (isfinite(noise_um) and noise_um > 0):
        raise InputError(f"--noise-um {noise_um:g}: must be a positive number; leave it out if the noise is unknown")
    return None if noise_um is None else 1e-6 * noise_um


def sense_from_word(word: str | None) -> int | None:
    from elastocal.errors import UnknownNameError

    if word is not None and word not in SENSES:
        raise UnknownNameError("sense", word, SENSES, "--sense")
    return None if word is None else SENSES[word]


def axis_of(text: str | None, table: PointTable) -> Array | None:
    import numpy as np

    from elastocal.app.configurations import numbers

    if text is None:
        return None
    if table.dimension == 2:
        raise InputError(f"--axis {text!r}: {table.file} has two coordinates, whose axis is z; leave the option out")
    axis = np.array(numbers(text, 3, f"--axis {text!r}", "x, y, z"))
    if not np.any(axis):
        raise InputError(f"--axis {text!r}: three zeros have no direction; give the direction of the joint's axis")
    return axis


def _known(table: PointTable, asked: tuple[str, ...]) -> tuple[str, ...]:
    """Markers that turn by the angle column: those named, or the only one."""
    check_markers(table, asked, "--known")
    if asked or table.angle is None:
        if asked and table.angle is None:
            raise InputError(f"--known {asked[0]}: {table.file} has no column with angles; add one such as q_deg")
        return tuple(dict.fromkeys(asked))
    if len(table.markers) == 1:
        return table.markers
    raise InputError(
        f"{table.file}: has angles ({table.angle}) and {len(table.markers)} markers; name those that turn by this "
        f"angle, such as --known {table.markers[0]}, or remove the column"
    )
