"""An arm as lines, at rest and under load: the way from base to tool through its frames, and a short piece of every
joint's axis; of one pose also how soft it is there and what its drives must hold.

Bent states are drawn larger: every point p(rest) goes to p(rest) + f (p(bent) - p(rest)), so that a picture of
metres shows tenths of a millimetre with the right direction at every place of the arm.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastocal.model.limits import ready
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import FrameDeflection, deflection
from elastocal.model.statics.equilibrium import Equilibrium, equilibrium
from elastocal.model.statics.holding import holding_torque
from elastocal.model.statics.stiffness import softest, stiffness
from elastocal.spatial import entries as en
from elastocal.spatial.entries import Array, Ints, Row3
from elastocal.values import dataclass

THICK = 0.03
"""Half the drawn piece of a joint's axis, as a share of the robot's size."""


@dataclass(frozen=True, eq=False)
class Skeleton:
    """N arms in base axes, in m: ``line`` (N, K, 3) from base to tool, ``axes`` (N, joints, 2, 3)."""

    line: Array
    axes: Array

    def __len__(self) -> int:
        return len(self.line)

    @property
    def tip(self) -> Array:
        """(N, 3)"""
        return self.line[:, -1]

    @property
    def extent(self) -> float:
        """Longest side of the box that holds all arms, m."""
        points = self.line.reshape(-1, 3)
        return float(np.nanmax(np.nanmax(points, axis=0) - np.nanmin(points, axis=0)))

    def picked(self, rows: Ints) -> Skeleton:
        return Skeleton(self.line[rows], self.axes[rows])

    def enlarged(self, bent: Skeleton, factor: float) -> Skeleton:
        """These arms with what ``bent`` adds to them drawn ``factor`` times larger."""
        return Skeleton(
            self.line + factor * (bent.line - self.line),
            self.axes + factor * (bent.axes - self.axes),
        )


def loaded_skeletons(
    model: Robot, q: object, loads: Sequence[AppliedWrenches] = (), *, rigid: bool = False
) -> tuple[Skeleton, Skeleton]:
    """Arms at rest under their own weight, or ``rigid`` ones, and under ``loads`` too."""
    rest = skeleton(model, q, None if rigid else equilibrium(model, q))
    return rest, skeleton(model, q, equilibrium(model, q, loads))


def skeleton(model: Robot, q: object, bent: Equilibrium | None = None, tip: str | None = None) -> Skeleton:
    """Arms from the base to a frame (default: the tool) at joint values (N, n).

    Without any load or in an equilibrium; nan where that is not known.
    """
    at = model.posture(model.configurations(q))
    total, chain = at.size, model.chain
    theta = at.offsets if bent is None else [np.ascontiguousarray(t) for t in bent.theta.T]
    values = chain.values(at.q, theta)
    path = model.tree.path(tip or model.tool)
    dofs = {f.name: chain.joint_dof(f.name) for f in path if f.joint is not None}
    state = chain.evaluate(values, total)
    line: list[Row3] = [en.ORIGIN]
    axes: list[Array] = []
    half = THICK * model.size
    for frame in path:
        origin = state.pose(frame.name)[1]
        if frame.joint is not None:
            screw = state.screws[dofs[frame.name]]
            assert screw is not None
            if screw.point is None:  # a slide starts where its frame is at zero
                line.append(en.minus(origin, en.scaled(screw.axis, values[dofs[frame.name]])))
            middle, along = en.dense(screw.point or line[-1], total), half * en.dense(screw.axis, total)
            axes.append(np.stack([middle - along, middle + along]))
        line.append(origin)
    points = np.stack([en.dense(p, total) for p in line])
    pieces = np.stack(axes) if axes else np.empty((0, 2, 3, total))
    return Skeleton(np.moveaxis(points, -1, 0), np.moveaxis(pieces, -1, 0))


@dataclass(frozen=True, eq=False)
class LoadedPose:
    """``rigid``, ``rest`` and ``bent`` are the arm without any load, under its own weight, and under ``load`` too.

    ``give`` (3,) in m/N and its ``directions`` (3, 3), in columns, are the axes of the compliance of the tool, nan
    where there is none; ``torques`` (n,) are of the controller's axes, without the own weight where ``weightless``.
    """

    model: Robot
    q: Array
    load: AppliedWrenches
    rigid: Skeleton
    rest: Skeleton
    bent: Skeleton
    moved: FrameDeflection
    give: Array
    directions: Array
    torques: Array
    weightless: bool


def loaded_pose(model: Robot, q: Array, wrench: Array) -> LoadedPose:
    """At joint values (n,) under a wrench (6,) on the tool, base axes."""
    at, load = q[None], AppliedWrenches(model.tool, np.asarray(wrench, dtype=np.float64)[None])
    rest, bent = loaded_skeletons(model, at, (load,))
    sizes, directions = stiffness(model, at).principal()
    torques = model.controller.torques_to_controller(holding_torque(model, at, (load,)))[0]
    weightless = not holding_torque(model, at).any()
    moved = deflection(model, at, (load,))
    return LoadedPose(
        model, q, load, skeleton(model, at), rest, bent, moved, sizes[0], directions[0], torques, weightless
    )


VISIBLE = 1e-3
"""A deflection in m that can be seen."""
USUAL, LARGEST = 1e3, 1e5
"""The force in N of a picture of a robot that does not bend, and the largest."""


def visible_force(stiff: float, most: float, bend: float = VISIBLE) -> float:
    """A force in N, of one digit, that bends what is ``stiff`` (N/m) by ``bend`` (m), not above ``most``."""
    return float(f"{min(bend * stiff, most):.1g}")


def pictured_force(model: Robot) -> float:
    """A force that bends the robot visibly in its softest direction where it is looked at."""
    stiff = float(softest(stiffness(model, ready(model)[None]))[0])
    return visible_force(stiff, LARGEST) if np.isfinite(stiff) else USUAL
