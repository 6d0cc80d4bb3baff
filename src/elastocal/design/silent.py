"""Parameters that no candidate tells anything of, and why.

A joint compliance shows where a load turns the joint, tau_j = (J^T w)_j, and where that turn moves a marker: a force
whose line meets an axis or is parallel to it does not turn the joint, and a point on an axis stays where it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastocal.design.measuring import Measuring
from elastocal.design.method import Method
from elastocal.design.observed import Observed
from elastocal.design.pool import Pool
from elastocal.errors import InputError
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.kinematics import kinematics
from elastocal.spatial.entries import Array, Bools

FELT = 1e-6
"""A parameter whose whole value moves no number by this share of its standard deviation is not seen."""
ROUNDING = 1e-9
"""Of the largest torque, or lever, that is taken for none."""


def silent_names(rows: Observed, scales: Array) -> tuple[str, ...]:
    """Parameters of size ``scales`` that neither a candidate nor earlier knowledge tells anything of."""
    p = len(rows.names)
    felt = np.abs(rows.candidates.blocks[:, :, :p]).max(axis=(0, 1)) * scales[:p]
    known = np.abs(rows.candidates.prior_rows[:, :p]).max(axis=0, initial=0.0) * scales[:p]
    return tuple(name for name, size in zip(rows.names, np.maximum(felt, known), strict=True) if size < FELT)


def not_told(names: Sequence[str], pool: Pool, method: Method) -> InputError:
    """What to say of parameters that no candidate depends on."""
    model = pool.model
    joint = {f"{e.joint}.k": e.joint for e in model.elements if isinstance(e, JointCompliance)}
    mine = [joint[n] for n in names if joint.get(n) in model.joints]
    reasons = []
    if isinstance(method, Measuring) and mine:
        at = [model.joints.index(j) for j in mine]
        idle = [j for j, turned in zip(mine, _turned(pool)[at], strict=True) if not turned]
        if idle and method.kind == "deflection":
            reasons.append(
                f"no load turns {', '.join(idle)} (a force whose line meets an axis, or is parallel to it, does not: "
                "pull sideways or off the axis, by directions and points of loads)"
            )
        still = [j for j, moved in zip(mine, _moved(pool, method)[at], strict=True) if not moved]
        if still:
            reasons.append(f"no marker moves with {', '.join(still)} (it lies on the axis: choose markers beside it)")
    why = f": {'; '.join(reasons)}" if reasons else ""
    return InputError(f"no candidate depends on {', '.join(names)}{why}; leave it out or offer other candidates")


def _turned(pool: Pool) -> Bools:
    """(n,) joints that some load turns, or pushes."""
    torque = np.abs(np.einsum("nij,ni->nj", kinematics(pool.model, pool.q, pool.frame).jacobian, pool.wrenches))
    return np.asarray(torque.max(axis=0) > ROUNDING * pool.model.size * np.abs(pool.wrenches).max(initial=1e-300))


def _moved(pool: Pool, method: Measuring) -> Bools:
    """(n,) joints that move some marker."""
    rows = [6 if m.rows == 6 else 3 for m in method.markers]
    ways = (kinematics(pool.model, pool.poses.q, m.frame).jacobian for m in method.markers)
    lever = [np.abs(way[:, :r]).max(axis=(0, 1)) for r, way in zip(rows, ways, strict=True)]
    return np.asarray(np.max(lever, axis=0) > ROUNDING * pool.model.size)
