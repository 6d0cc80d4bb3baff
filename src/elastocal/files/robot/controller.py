"""The section ``controller`` of a robot file: signs, zeros and couplings of the axes, and the drives behind them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from elastocal.errors import UnknownNameError
from elastocal.files import schema
from elastocal.files.keys import check_unit
from elastocal.files.located import Located, Path_
from elastocal.files.robot.entry import NO_SOURCE, ControllerEntry, RobotFile
from elastocal.files.schema import Units
from elastocal.model.drives import Drives
from elastocal.model.frames import FrameTree
from elastocal.model.transmission import Transmission


def read_transmission(located: Located, top: RobotFile, tree: FrameTree, units: Units) -> Transmission | None:
    """The map from controller values to joints; None where the file has no such section."""
    if not top.controller:
        return None
    path: Path_ = ("controller",)
    fields = schema.read_fields(ControllerEntry, located, path, top.controller, units)
    e = schema.validated(ControllerEntry, located, path, fields)
    if not (e.source or top.source):
        raise located.error(path, NO_SOURCE)
    joints = tree.joint_names
    axes = e.axes or joints
    if len(axes) != len(joints):
        raise located.error((*path, "axes"), f"{len(axes)} axes for {len(joints)} joints")
    if len(set(axes)) != len(axes):
        raise located.error((*path, "axes"), "names an axis twice; every pendant axis needs a name of its own")
    at = {axis: i for i, axis in enumerate(axes)}
    matrix, zero = np.eye(len(axes)), np.zeros(len(axes))
    for axis, sign in _known(located, (*path, "sign"), e.sign, at).items():
        if sign not in (1.0, -1.0):
            raise located.error((*path, "sign", axis), f"{sign:g} must be 1 or -1")
        matrix[at[axis], at[axis]] = sign
    for axis, value in _known(located, (*path, "zero"), e.zero, at).items():
        kind = tree.joint(joints[at[axis]]).kind
        check_unit(located, path, fields, "zero", kind)
        zero[at[axis]] = value
    for i, coupling in enumerate(e.couplings):
        where = (*path, "couplings", i)
        if set(coupling) != {"joint", "axis", "ratio"}:
            raise located.error(where, "needs joint, axis and ratio")
        joint, axis = str(coupling["joint"]), str(coupling["axis"])
        _known(located, where, {axis: 0.0}, at)
        if joint not in joints:
            raise UnknownNameError("joint", joint, joints, located.where(where))
        row, column = joints.index(joint), at[axis]
        if row == column:
            raise located.error(where, f"axis {axis} moves joint {joint} anyway; a coupling is to another axis")
        if matrix[row, column] != 0:
            raise located.error(where, f"couples {joint} to {axis} a second time; keep one")
        matrix[row, column] = schema.in_si(coupling["ratio"], 1.0, located, (*where, "ratio"))
    return Transmission(tuple(axes), matrix, zero, _drives(located, path, e, at), e.language)


def _drives(located: Located, path: Path_, e: ControllerEntry, at: Mapping[str, int]) -> Drives | None:
    for key in ("counts_per_turn", "counts_at_zero"):
        if getattr(e, key) and not e.structure:
            raise located.error((*path, key), "belongs to motors; add structure, their turns per turn of each axis")
        _known(located, (*path, key), getattr(e, key), at)
    if not e.structure:
        return None
    wrong = next((i for i, row in enumerate(e.structure) if len(row) != len(at)), None)
    if wrong is not None or len(e.structure) != len(at):
        where = (*path, "structure") if wrong is None else (*path, "structure", wrong)
        raise located.error(where, f"must have {len(at)} rows of {len(at)} numbers: motors by axes")
    per_turn = np.array([e.counts_per_turn.get(a, np.nan) for a in at])
    return Drives(np.array(e.structure), per_turn, np.array([e.counts_at_zero.get(a, 0.0) for a in at]))


def _known(located: Located, path: Path_, values: Mapping[str, float], at: Mapping[str, int]) -> Mapping[str, float]:
    for axis in values:
        if axis not in at:
            raise UnknownNameError("controller axis", str(axis), at, located.where(path))
    return values
