"""Contributions to how far a program is off: load on the tool, weights and springs of the arm, joints, geometry.

With p(everything), p(weights) and p(nothing) where the tool goes under the load and the weights, under the weights
alone, and pushed by nothing, p(constants) where constant errors alone put it, all at the nominal command, and T where
the program wants it,

    load = p(everything) - p(weights),           weight   = p(weights) - p(nothing),
    joint_errors = p(nothing) - p(constants),    geometry = p(constants) - T

and the four add up to how far the tool is off.  (Rotation vectors add up to first order.)  The weight holds what masses
do to springs and what own weight is estimated to do without them; joint errors are those that change with the
configuration: harmonics of gears and encoders, gain, thermal growth.  Of the weight, what masses that nobody knows make
is p(weights) - p(weights without these); of load and weight, what backlash makes is p(everything) - p(everything
without gaps).

Where nothing pushes, backlash has no side: p(nothing) is taken with all gaps zero, in the middle of every gap.  So
backlash counts to the first force that takes it up, the weight; to the load only where it turns the backlash over.
Where weights without the unknown masses do not tell the side, that state is taken in the middle too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from elastocal.compensation.job import Job, command_residuals
from elastocal.compensation.verification import Residual
from elastocal.model.compliant.gripper_backlash import GripperBacklash
from elastocal.model.compliant.joint_backlash import JointBacklash
from elastocal.model.compliant.lateral_weight import LateralWeight
from elastocal.model.compliant.own_weight import OwnWeight
from elastocal.spatial.entries import Array

GAPS = (JointBacklash.kind, GripperBacklash.kind)
OWN_WEIGHT = (OwnWeight.kind, LateralWeight.kind)
MORE = 1 + 1e-6
"""Times the whole that a part must be to count as larger."""


@dataclass(frozen=True, eq=False)
class Contributions:
    """The parts of ``total``; ``weight`` is that of the arm and of what it carries, with its compensator.

    ``assumed`` is the part of ``weight`` that unknown masses make, ``backlash`` that of load and weight which gaps make
    (None without gaps).  Load and weight are nan where the arm has no determined state under its weights alone.
    """

    load: Residual
    weight: Residual
    joint_errors: Residual
    geometry: Residual
    assumed: Residual
    total: Residual
    backlash: Residual | None = None

    @property
    def named(self) -> dict[str, Residual]:
        """The parts that add up, by their names."""
        return {
            "load": self.load, "weight": self.weight, "joint errors": self.joint_errors, "geometry": self.geometry,
        }  # fmt: skip

    @property
    def cancel(self) -> bool:
        """Whether contributions work against each other: one of them is larger than all together."""
        whole = self.total.distances().rms
        parts = (self.load, self.weight, self.joint_errors, self.geometry, self.assumed)
        return any(part.distances().rms > MORE * whole for part in parts)


def contributions(work: Job, command: Array, assumed: Sequence[str] = ()) -> Contributions:
    """Of commands (S, n) for targets as the program states them; ``assumed`` are parameters of unknown masses."""
    model, loads = work.at.model, work.loads
    unloaded = replace(loads, wrench=np.zeros_like(loads.wrench))
    empty = replace(unloaded, mass=np.full_like(loads.mass, np.nan))
    tight = model.without(*GAPS)
    weightless = replace(tight, elements=tuple(e for e in tight.coordinates if e.kind not in OWN_WEIGHT))
    constant = replace(weightless, elements=tuple(e for e in weightless.coordinates if not e.varies))
    total = command_residuals(model, work, command)
    rest = command_residuals(model, replace(work, loads=unloaded), command)
    nothing = command_residuals(weightless, replace(work, loads=empty), command)
    geometry = nothing if not weightless.varying else command_residuals(constant, replace(work, loads=empty), command)
    lighter = rest
    if assumed:
        none = dict.fromkeys(assumed, 0.0)
        lighter, middle = (
            command_residuals(m.with_parameters(none), replace(work, loads=unloaded), command) for m in (model, tight)
        )
        lighter = _filled(lighter, middle)
    gaps = any(p.value for p in model.parameters if p.kind in GAPS)
    return Contributions(
        load=_difference(total, rest), weight=_difference(rest, nothing), joint_errors=_difference(nothing, geometry),
        geometry=geometry, assumed=_difference(rest, lighter), total=total,
        backlash=_difference(total, command_residuals(tight, work, command)) if gaps else None,
    )  # fmt: skip


def _filled(found: Residual, other: Residual) -> Residual:
    """``other`` where nothing was found."""
    open_ = np.asarray(np.isnan(found.position).any(axis=1))
    return Residual(
        np.where(open_[:, None], other.position, found.position),
        np.where(open_[:, None], other.rotation, found.rotation),
        np.where(open_, other.status, found.status),
    )


def _difference(of: Residual, without: Residual) -> Residual:
    return Residual(of.position - without.position, of.rotation - without.rotation, without.status)
