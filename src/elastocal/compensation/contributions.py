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

How certain each of them is follows from the covariance C of the estimated parameters: with F the derivatives of the two
poses that a part is the difference of, its own is (F_1 - F_2) C (F_1 - F_2)^T.  Parts that the readings do not tell
apart are uncertain each and may be certain together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from elastocal.compensation.job import Job, Stood, command_residuals, stand, stood_residuals
from elastocal.compensation.verification import Residual, pose_slopes, within
from elastocal.model.compliant.gripper_backlash import GripperBacklash
from elastocal.model.compliant.joint_backlash import JointBacklash
from elastocal.model.compliant.lateral_weight import LateralWeight
from elastocal.model.compliant.own_weight import OwnWeight
from elastocal.model.compliant.weight_backlash import WeightBacklash
from elastocal.quantities import quantile_95
from elastocal.reduction.prediction import IdentifiedModel
from elastocal.solve.summary import rms
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

GAPS = (JointBacklash.kind, GripperBacklash.kind)
OWN_WEIGHT = (OwnWeight.kind, LateralWeight.kind, WeightBacklash.kind)
PARTS = ("load", "weight", "joint errors", "geometry")
"""Parts that add up, in the order in which effects are taken away."""
CHUNK = 500
"""Targets whose derivatives are held at a time."""
MORE = 1 + 1e-6
"""Times the whole that a part must be to count as larger."""


@dataclass(frozen=True, eq=False)
class Contributions:
    """The parts of ``total``; ``weight`` is that of the arm and of what it carries, with its compensator.

    ``assumed`` is the part of ``weight`` that unknown masses make, ``backlash`` that of load and weight which gaps make
    (None without gaps).  Load and weight are nan where the arm has no determined state under its weights alone.
    ``sd`` are standard uncertainties (S,) in m of the parts that add up, and of all together; None where the accuracy
    of the model is not known.
    """

    load: Residual
    weight: Residual
    joint_errors: Residual
    geometry: Residual
    assumed: Residual
    total: Residual
    backlash: Residual | None = None
    sd: Mapping[str, Array] | None = None

    @classmethod
    def unknown(cls, count: int) -> Contributions:
        """Where nobody asks for them."""
        nowhere = np.broadcast_to(np.nan, (count, 3))
        none = Residual(nowhere, nowhere, np.zeros(count, dtype=np.int64))
        return cls(none, none, none, none, none, none)

    def half_width(self, word: str, freedom: float) -> float:
        """95 % half width in m of a part, root mean square over all targets; nan where it is not known."""
        sizes = None if self.sd is None else self.sd.get(word)
        return float("nan") if sizes is None else quantile_95(freedom) * rms(sizes)

    @property
    def named(self) -> dict[str, Residual]:
        """The parts that add up, by their names."""
        return dict(zip(PARTS, (self.load, self.weight, self.joint_errors, self.geometry), strict=True))

    @property
    def cancel(self) -> bool:
        """Whether contributions work against each other: one of them is larger than all together."""
        whole = self.total.distances().rms
        return any(part.distances().rms > MORE * whole for part in (*self.named.values(), self.assumed))


def contributions(
    work: Job, command: Array, assumed: Sequence[str] = (), known: IdentifiedModel | None = None
) -> Contributions:
    """Of commands (S, n) for targets as the program states them; ``assumed`` are parameters of unknown masses."""
    model, loads = work.placed.model, work.loads
    unloaded = replace(loads, wrench=np.zeros_like(loads.wrench))
    bare = replace(unloaded, mass=np.full_like(loads.mass, np.nan))
    tight = model.without(*GAPS)
    weightless = replace(tight, elements=tuple(e for e in tight.coordinates if e.kind not in OWN_WEIGHT))
    constant = replace(weightless, elements=tuple(e for e in weightless.coordinates if not e.varies))
    stood = stand(model, work, (command, loads), (command, unloaded)) + stand(weightless, work, (command, bare))
    stood += stand(constant, work, (command, bare)) if weightless.varying else stood[-1:]
    residuals = {id(s): stood_residuals(work, s) for s in stood}
    total, rest, nothing, geometry = (residuals[id(s)] for s in stood)
    lighter = rest
    if assumed:
        none = dict.fromkeys(assumed, 0.0)
        empty = replace(work, loads=unloaded)
        lighter = command_residuals(model.with_estimates(none), empty, command)
        if np.isnan(lighter.position).any():
            lighter = _filled(lighter, command_residuals(tight.with_estimates(none), empty, command))
    gaps = any(p.value for p in model.parameters if p.kind in GAPS)
    return Contributions(
        load=_difference(total, rest), weight=_difference(rest, nothing), joint_errors=_difference(nothing, geometry),
        geometry=geometry, assumed=_difference(rest, lighter), total=total,
        backlash=_difference(total, command_residuals(tight, work, command)) if gaps else None,
        sd=None if known is None else uncertainties(known, stood, len(command)),
    )  # fmt: skip


def uncertainties(known: IdentifiedModel, stood: Sequence[Stood], total: int) -> dict[str, Array]:
    """Standard uncertainty (S,) in m of every part of ``Contributions.named``, and of the ``total``."""
    out = {word: np.full(total, np.nan) for word in (*PARTS, "total")}
    for groups in zip(*stood, strict=True):
        rows, frame, _ = groups[0]
        for first in range(0, len(rows), CHUNK):
            some = rows[first : first + CHUNK]
            made = {
                id(pieces): pose_slopes(known.names, within(pieces, first, CHUNK), frame, len(some))[0][:, :3]
                for _, _, pieces in groups
            }
            slopes = [made[id(pieces)] for _, _, pieces in groups]
            steps = [a - b for a, b in pairwise((*slopes, np.zeros_like(slopes[0])))]
            for word, slope in zip((*PARTS, "total"), (*steps, slopes[0]), strict=True):
                out[word][some] = np.sqrt(np.einsum("nip,nip->n", slope @ known.covariance, slope))
    return out


def _filled(residual: Residual, other: Residual) -> Residual:
    """``other`` where nothing was found."""
    open_ = np.asarray(np.isnan(residual.position).any(axis=1))
    return Residual(
        np.where(open_[:, None], other.position, residual.position),
        np.where(open_[:, None], other.rotation, residual.rotation),
        np.where(open_, other.status, residual.status),
    )


def _difference(of: Residual, without: Residual) -> Residual:
    return Residual(of.position - without.position, of.rotation - without.rotation, without.status)
