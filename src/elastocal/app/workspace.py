"""Stiffness and deflection over a section of the workspace: the two axes that change the stiffness most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elastocal.app.commands.stiffness import softest
from elastocal.app.configurations import axes_of
from elastocal.app.grid import Grid, grid_configurations

if TYPE_CHECKING:
    from elastocal.model.loads.wrench import AppliedWrenches
    from elastocal.model.robot import Robot
    from elastocal.model.statics.deflection import FrameDeflection
    from elastocal.spatial.entries import Array

POINTS = 25
"""Of each axis of a map."""
TRIED = 9
"""Values of each joint that are compared to choose the axes."""


@dataclass(frozen=True, eq=False)
class Workspace:
    """``smallest`` (N,) is the stiffness in the softest direction, N/m, under weights and springs alone;
    ``moved`` the deflection that ``load`` adds."""

    grid: Grid
    smallest: Array
    load: AppliedWrenches
    moved: FrameDeflection


def workspace(model: Robot, grid: Grid, load: AppliedWrenches) -> Workspace:
    """Both maps of a model under one load."""
    from elastocal.model.statics.deflection import deflection
    from elastocal.model.statics.stiffness import loaded_stiffness

    q = grid.at.q
    return Workspace(grid, softest(loaded_stiffness(model, q)), load, deflection(model, q, [load]))


def section(model: Robot, q: Array) -> Grid:
    """A grid over the whole range of two axes, the others where they are in the middle one of poses (N, n)."""
    import numpy as np

    middle = q[int(np.argmin(np.linalg.norm((q - q.mean(axis=0)) / (np.ptp(q, axis=0) + 1e-9), axis=1)))]
    low, high = _ranges(model, q)
    first, second = sorted(np.argsort(-_effect(model, middle, low, high), kind="stable")[:2])
    axes = axes_of(model)
    parts = []
    for k in (first, second):
        ends = np.array([middle, middle])
        ends[:, k] = low[k], high[k]
        a, b = sorted(model.controller.to_controller(ends)[:, k] / axes.factors[k])
        parts.append(f"{axes.names[k]}:{np.ceil(100 * a) / 100:.2f}:{np.floor(100 * b) / 100:.2f}:{POINTS}")
    at = model.controller.to_controller(middle[None])[0] / axes.factors
    return grid_configurations(model, ",".join(parts), (",".join(f"{v:.2f}" for v in at),), False)


def _ranges(model: Robot, q: Array) -> tuple[Array, Array]:
    """Limits of every joint; without limits as far as it was moved, and a quarter turn or 0.1 m at least."""
    import numpy as np

    ends = []
    for motion, values in zip(model.motions, q.T, strict=True):
        least = np.pi / 4 if motion.kind == "revolute" else 0.05
        middle, half = float(values.max() + values.min()) / 2, max(least, float(np.ptp(values)) / 2)
        ends.append(motion.limits or (middle - half, middle + half))
    return np.array([e[0] for e in ends]), np.array([e[1] for e in ends])


def _effect(model: Robot, middle: Array, low: Array, high: Array) -> Array:
    """How much each joint changes the stiffness in the softest direction: the spread of its logarithm, (n,)."""
    import numpy as np

    from elastocal.model.statics.stiffness import stiffness

    tried = np.repeat(middle[None, None], model.n, axis=0).repeat(TRIED, axis=1)
    for k in range(model.n):
        tried[k, :, k] = np.linspace(low[k], high[k], TRIED)
    found = np.log(softest(stiffness(model, tried.reshape(-1, model.n)))).reshape(model.n, TRIED)
    known = np.isfinite(found)
    centre = np.where(known, found, 0.0).sum(axis=1, keepdims=True) / np.maximum(known.sum(axis=1, keepdims=True), 1)
    return np.asarray(np.where(known, np.abs(found - centre), 0.0).max(axis=1))
