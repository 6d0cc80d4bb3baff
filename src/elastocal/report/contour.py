"""The contour-tracking picture: robot, objects, contacts and forces seen from above (002 figure 1), drawn to scale."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from elastocal.procedures.contact.plan import ContactScene
from elastocal.report.blocks import Lines, Series
from elastocal.report.colours import Role

if TYPE_CHECKING:
    from elastocal.spatial.entries import Array

LONGEST, CLIPPED = 0.13, 2.0
"""Length of the largest measured force as a share of the picture; a model's arrow is cut at so many times that."""


def contact_lines(when: Literal["before", "after"], scene: ContactScene) -> Lines:
    """Forces read and forces of the model before or after calibration."""
    everything = np.concatenate([*scene.arms, *scene.outlines, scene.points])
    extent = float(np.max(np.ptp(everything, axis=0)))
    most = float(np.nanmax(np.linalg.norm(scene.felt, axis=1)))
    scale = LONGEST * extent / most
    sizes = np.linalg.norm(scene.expected, axis=1)
    cut = int(np.sum(sizes > CLIPPED * most))
    factor = np.minimum(1.0, CLIPPED * most / np.maximum(sizes, 1e-12))[:, None]
    notes: tuple[str, ...] = (
        f"Seen along z, the arm at the first contact with each object; the longest measured force is {most:.3g} N.",
    )
    if cut:
        notes += (
            f"{cut} arrows of the model are cut at {CLIPPED * most:.3g} N; the largest is {np.nanmax(sizes):.3g} N.",
        )
    if none := int(np.sum(sizes == 0)):
        notes += (f"In {none} contacts the model does not touch the object at all.",)
    series = (
        _series("objects", scene.outlines, "floor"),
        _series("robot", scene.arms, "robot"),
        _series("force measured", _arrows(scene.points, scale * scene.felt, 0.015 * extent), "read"),
        _series("force of the model", _arrows(scene.points, scale * factor * scene.expected, 0.02 * extent), when),
        Series("contacts", _mm(scene.points[:, 0]), _mm(scene.points[:, 1]), True, role="read"),
    )
    return Lines(
        f"contour_{when}", f"Contour tracking {when} calibration", "x", "mm", "y", "mm", series, notes, equal=True
    )


def _arrows(points: Array, forces: Array, head: float) -> list[Array]:
    """Shaft and head of every force as one line."""
    out = []
    for start, force in zip(points, forces, strict=True):
        length = float(np.linalg.norm(force))
        if not length > 0 or not np.isfinite(start).all():
            continue
        along = force / length
        across = np.array([-along[1], along[0]])
        end = start + force
        barb = min(head, 0.5 * length)
        sides = [end - barb * (along + s * 0.5 * across) for s in (1, -1)]
        out.append(np.array([start, end, sides[0], end, sides[1]]))
    return out


def _series(name: str, lines: Sequence[Array], role: Role) -> Series:
    """Lines as one curve, parted by points without a height."""
    x: list[float] = []
    y: list[float] = []
    for line in lines:
        x += [*_mm(line[:, 0]), 1e3 * float(line[-1, 0])]
        y += [*_mm(line[:, 1]), float("nan")]
    return Series(name, tuple(x), tuple(y), role=role)


def _mm(values: Iterable[float]) -> tuple[float, ...]:
    return tuple(1e3 * float(v) for v in values)
