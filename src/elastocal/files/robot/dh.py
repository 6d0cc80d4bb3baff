"""A robot from a table of Denavit-Hartenberg parameters, CSV or Excel, one row per joint.

    joint,a_mm,alpha_deg,d_mm,theta_deg,min_deg,max_deg,convention
    J1,150,-90,495,0,-180,180,standard

``convention`` must be said, the same in all rows:

    standard   T_i = Rz(theta_i) Tz(d_i) Tx(a_i) Rx(alpha_i)              (the joint moves before its own row)
    modified   T_i = Rx(alpha_i) Tx(a_i) Rz(theta_i) Tz(d_i)              (Craig: alpha and a of the link before)

``theta`` is the offset of a revolute joint, ``d`` of a prismatic one (``type: prismatic``); ``beta_deg``, the turn
about y after alpha, is Hayati's for axes that are nearly parallel.  ``sign`` is -1 where the controller counts the
other way.  The flange is the last frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from elastocal.errors import InputError
from elastocal.files.robot.plausible import wrong_length
from elastocal.files.tables.raw import Field, RawTable, add_once, read_csv, si_number, understood
from elastocal.files.units import ANGLE, LENGTH
from elastocal.model.frames import Frame, FrameTree, JointMotion
from elastocal.model.robot import Robot
from elastocal.model.transmission import Transmission
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import axis_matrix
from elastocal.untrusted import finite_number

CONVENTIONS = ("standard", "modified")
WORDS = ("joint", "type", "convention", "sign")
GRAVITY = 9.80665


@dataclass(frozen=True)
class Row:
    """One line of the table, in SI."""

    name: str
    prismatic: bool
    a: float
    alpha: float
    d: float
    theta: float
    beta: float
    limits: tuple[float, float] | None
    sign: float


def read_dh(path: Path) -> Robot:
    """The rigid robot of a DH table; notes say what a table leaves open."""
    raw = read_csv(path)
    rows, convention = _rows(raw)
    frames: list[Frame] = []
    behind, parent = Pose(), "base"
    for row in rows:
        before, after = _split(row, convention)
        motion = JointMotion("prismatic" if row.prismatic else "revolute", (0.0, 0.0, 1.0), row.limits)
        frames.append(Frame(row.name, parent, behind @ before, motion, f"{path.name}, {row.name}"))
        behind, parent = after, row.name
    frames.append(Frame("flange", rows[-1].name, behind, None, f"{path.name}, last row"))
    names = tuple(r.name for r in rows)
    signs = np.diag([r.sign for r in rows])
    notes = (
        f"gravity is assumed to be {GRAVITY} m/s2 along -z of the base; a DH table does not say",
        f"{path.name} is read by the {convention} convention; the flange is its last frame",
        *(f"joint {r.name!r} has no limits in the table; none are assumed" for r in rows if r.limits is None),
    )
    return Robot(
        name=path.stem, tree=FrameTree(tuple(frames)), tool="flange", gravity=np.array([0.0, 0.0, -GRAVITY]),
        transmission=Transmission(names, signs, np.zeros(len(names))), source=path.name, notes=notes,
    )  # fmt: skip


def _split(row: Row, convention: str) -> tuple[Pose, Pose]:
    """What lies before the joint's motion about or along z, and what lies behind it."""
    turn = Pose(axis_matrix(2, row.theta))
    lift = Pose(np.eye(3), np.array([0.0, 0.0, row.d]))
    across = Pose(axis_matrix(0, row.alpha), np.array([row.a, 0.0, 0.0])) @ Pose(axis_matrix(1, row.beta))
    if convention == "modified":
        link = (
            Pose(axis_matrix(0, row.alpha))
            @ Pose(np.eye(3), np.array([row.a, 0.0, 0.0]))
            @ Pose(axis_matrix(1, row.beta))
        )
        return link @ turn @ lift, Pose()
    return turn @ lift, across


def _rows(raw: RawTable) -> tuple[list[Row], str]:
    units = {"a": LENGTH, "d": LENGTH, "alpha": ANGLE, "theta": ANGLE, "beta": ANGLE,
             "min": {**ANGLE, **LENGTH}, "max": {**ANGLE, **LENGTH}}  # fmt: skip
    fields: dict[str, Field] = {}
    for place, column in enumerate(raw.header):
        name, factor = (column, 1.0) if column in WORDS else understood(raw, column, units, WORDS)
        add_once(raw, fields, name, Field(place, factor))
    lacking = [n for n in ("joint", "a", "alpha", "d", "theta", "convention") if n not in fields]
    if lacking:
        raise InputError(
            f"{raw.top}: a DH table needs the columns joint, a_mm, alpha_deg, d_mm, theta_deg and convention "
            f"({' or '.join(CONVENTIONS)}); {lacking[0]} is missing",
            code="dh-column", file=raw.file, value=lacking[0],
        )  # fmt: skip
    if not raw.rows:
        raise InputError(f"{raw.file}: has no rows; give one for each joint", file=raw.file)
    words = {cells[fields["convention"].place].strip().lower() for _, cells in raw.rows}
    if len(words) != 1 or not words <= set(CONVENTIONS):
        raise InputError(
            f"{raw.file}: convention is {' and '.join(sorted(words)) or 'empty'}; say {' or '.join(CONVENTIONS)}, the "
            "same in all rows",
            code="dh-convention", file=raw.file, allowed=CONVENTIONS,
        )  # fmt: skip
    return [_row(raw, line, fields) for line in raw.rows], words.pop()


def _row(raw: RawTable, line: tuple[int, tuple[str, ...]], fields: dict[str, Field]) -> Row:
    def number(name: str) -> float:
        has = name in fields and line[1][fields[name].place].strip()
        return si_number(raw, line, fields[name]) if has else 0.0

    def word(name: str) -> str:
        return line[1][fields[name].place].strip() if name in fields else ""

    where = f"{raw.file}, line {line[0]}"
    kind = word("type").lower() or "revolute"
    if kind not in ("revolute", "prismatic"):
        raise InputError(f"{where}: type {kind!r}; say revolute or prismatic", value=kind)
    stated = [n for n in ("min", "max") if word(n)]
    limits = (number("min"), number("max")) if len(stated) == 2 else None
    if limits is not None and not limits[0] < limits[1]:
        raise InputError(f"{where}: min is not below max; exchange them")
    sign = finite_number(word("sign") or "1")
    if sign not in (1.0, -1.0):
        raise InputError(f"{where}: sign {word('sign')!r} must be 1 or -1")
    if not word("joint"):
        raise InputError(f"{where}: the joint has no name; give it one")
    a, alpha, d, theta, beta = (number(n) for n in ("a", "alpha", "d", "theta", "beta"))
    if said := wrong_length(np.array([a, 0.0, d])):
        raise InputError(f"{where}: {word('joint')} {said}", file=raw.file, line=line[0])
    return Row(word("joint"), kind == "prismatic", a, alpha, d, theta, beta, limits, sign)
