"""Tables of joint parameters turned into frames: standard DH, modified DH, Hayati.

    standard   Rz(theta + q) Tz(d) Tx(a) Rx(alpha)          joint first, then the link
    modified   Rx(alpha) Tx(a) Rz(theta + q) Tz(d)          link first, then the joint (Craig)
    hayati     Rz(theta + q) Tx(a) Rx(alpha) Ry(beta)       for nearly parallel axes, where d is badly defined

A prismatic joint moves along z instead of turning about it.  In the standard and Hayati forms the link's
end gets a frame of its own, ``<joint>_end``; a modified row needs none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from elastocal.errors import ConflictError, UnsupportedError
from elastocal.model.frames import BASE, Frame, JointKind, JointMotion
from elastocal.model.parameters import Status, quantity
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import axis_matrix
from elastocal.values import dataclass

Convention = Literal["standard", "modified", "hayati"]


@dataclass(frozen=True, kw_only=True)
class DHRow:
    """One row; lengths in m, angles in rad; ``theta`` is the offset added to the joint value."""

    name: str
    type: JointKind = "revolute"
    a: float = quantity("length", default=0.0)
    d: float = quantity("length", default=0.0)
    alpha: float = quantity("angle", default=0.0)
    beta: float | None = quantity("angle", default=None)
    theta: float = quantity("angle", default=0.0)
    limits: tuple[float, float] | None = quantity("joint value", default=None)
    source: str = ""
    status: Status = ""


def dh_frames(
    rows: Sequence[DHRow], convention: Convention, parent: str = BASE, source: str = "", status: Status = ""
) -> tuple[Frame, ...]:
    """Frames of a DH table; rows without a source of their own have ``source`` and ``status``.

    A row with ``beta`` is a Hayati row also inside a standard table.
    """
    out: list[Frame] = []
    for row in rows:
        motion = JointMotion(row.type, (0.0, 0.0, 1.0), row.limits)
        origin = (row.source, row.status) if row.source else (source, row.status or status)
        if convention == "modified":
            if row.beta is not None:
                raise ConflictError(
                    f"dh row {row.name}: beta belongs to the hayati form; use convention: hayati", value=row.name
                )
            pose = _rx(row.alpha) @ _t(row.a, 0, 0) @ _rz(row.theta) @ _t(0, 0, row.d)
            out.append(Frame(row.name, parent, pose, motion, *origin))
            parent = row.name
            continue
        hayati = convention == "hayati" or row.beta is not None
        if hayati and row.d != 0:
            raise UnsupportedError(
                f"dh row {row.name}: the hayati form has no d (given {row.d} m); set it to zero",
                value=(row.name, row.d),
            )
        link = _t(row.a, 0, 0) @ _rx(row.alpha)
        link = link @ _ry(row.beta or 0.0) if hayati else _t(0, 0, row.d) @ link
        out.append(Frame(row.name, parent, _rz(row.theta), motion, *origin))
        parent = f"{row.name}_end"
        out.append(Frame(parent, row.name, link, None, *origin))
    return tuple(out)


def _t(x: float, y: float, z: float) -> Pose:
    return Pose(np.eye(3), np.array([x, y, z]))


def _rx(angle: float) -> Pose:
    return Pose(axis_matrix(0, angle))


def _ry(angle: float) -> Pose:
    return Pose(axis_matrix(1, angle))


def _rz(angle: float) -> Pose:
    return Pose(axis_matrix(2, angle))
