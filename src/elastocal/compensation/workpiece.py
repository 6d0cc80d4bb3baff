"""Stiffness and predicted residual error over the places of the workpiece that a program works on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from elastocal.compensation.verification import Standing, expected_at
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.places import Plane, Reached, box_plane, reach
from elastocal.model.statics.equilibrium import equilibrium
from elastocal.model.statics.stiffness import loaded_stiffness, softest
from elastocal.spatial.entries import Array, Ints
from elastocal.spatial.pose import Pose
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.compensation.correction import Correction

COUNTS = (25, 17)
MARGIN = 0.12
"""Beyond the program on every side, as a share of its longest side."""


@dataclass(frozen=True, eq=False)
class Workpiece:
    """``stiffness`` (N,) in the softest direction, N/m; ``predicted`` (N,) residual error, k = 2, m, or None."""

    at: Reached
    frame: str
    near: Array
    stiffness: Array
    predicted: Array | None


def workpiece(result: Correction, plane: Plane | None = None) -> Workpiece | None:
    """Under the mean of the loads of the program, over ``plane``, else over the places of the program; None where it
    has no extent in two directions, or nothing is reached."""
    job, model = result.job, result.model
    loaded = np.flatnonzero(job.loads.wrench.any(axis=1) & np.isfinite(result.commands.command).all(axis=1))
    usable = np.flatnonzero(np.isfinite(result.commands.command).all(axis=1))
    rows = loaded if len(loaded) > 2 else usable
    plane = plane or _plane(result, rows)
    if plane is None or not len(rows):
        return None
    middle = rows[len(rows) // 2]
    frame, near = job.placed.frames[middle], result.commands.command[middle]
    at = reach(model, frame, plane, near)
    if not at.reached.any():
        return None
    mean = job.loads.wrench[rows].mean(axis=0)[None]
    load = () if not mean.any() else (AppliedWrenches(job.loads.frame or frame, mean, job.loads.follows),)
    q = at.q[at.reached]
    bent = equilibrium(model, q, load)
    stiff = _spread(at, softest(loaded_stiffness(model, q, load, frame, bent=bent)))
    if result.covariance is None or result.known is None:
        return Workpiece(at, frame, near, stiff, None)
    known = replace(result.known, model=model)
    residual = expected_at(known, [Standing(np.arange(len(q)), model, q, load, bent)], frame, len(q))
    sizes = 2 * np.sqrt(np.einsum("nii->n", residual.covariance[:, :3, :3]))
    return Workpiece(at, frame, near, stiff, _spread(at, sizes))


def _plane(result: Correction, rows: Ints) -> Plane | None:
    """In the base of the program's first such target, a little larger than the program."""
    if len(rows) < 3:
        return None
    placed = result.job.placed
    program, first = placed.stations.program, int(rows[0])
    named = program.targets[int(placed.stations.target[first])].base in program.bases  # axis targets have none
    base = placed.base(first) if named else Pose(np.eye(3), np.zeros(3))
    seen = (placed.position[rows] - base.translation) @ base.rotation
    low, high = seen.min(axis=0), seen.max(axis=0)
    air = MARGIN * float(np.max(high - low))
    if np.count_nonzero(high - low > 1e-3) < 2:
        return None
    wide = high - low > 1e-3 * np.max(high - low)
    wide[int(np.argmin(high - low))] = False
    return box_plane(np.where(wide, low - air, low), np.where(wide, high + air, high), base, COUNTS)


def _spread(reached: Reached, values: Array) -> Array:
    out = np.full(len(reached.reached), np.nan)
    out[reached.reached] = values
    return out
