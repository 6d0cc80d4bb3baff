"""Geometric corrections put into the <origin> of a URDF's joints."""

from __future__ import annotations

import re
from math import degrees
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.errors import DuplicateError, FormatError, NumberError, UnknownNameError
from elastocal.report.blocks import Cell, Column, Report, Section, Table
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.spatial.pose import Pose

_TERM = re.compile(r"\s*(?P<axis>x|y|z|rx|ry|rz)\s*=\s*(?P<number>[-+0-9.eE]+)\s*(?P<unit>[a-z]+)\s*")


@dataclass(frozen=True)
class OriginChange:
    """Origin of one joint before and after: translation in m, roll pitch yaw in rad."""

    joint: str
    before: tuple[float, ...]
    after: tuple[float, ...]


@dataclass(frozen=True)
class UrdfResult:
    target: Path
    changes: tuple[OriginChange, ...]


@command("robots", 6, report=False)
def urdf(
    source: Annotated[Path, o.argument("SOURCE.urdf", "The URDF to correct; it is not changed.")],
    target: Annotated[Path, o.argument("TARGET.urdf", "The corrected URDF."), o.WRITTEN],
    shift: Annotated[
        list[str],
        o.option(
            "JOINT:AXIS=VALUE,...",
            "Move a joint's origin in its own axes: x y z (m, mm, um), rx ry rz (rad, mrad, deg); repeatable.",
        ),
    ],
) -> UrdfResult:
    """Put geometric corrections into the joints of a URDF.

    Only the numbers of <origin> change; comments and foreign tags stay as they are.

    \b
    Example:
      elastocal urdf arm.urdf corrected.urdf --shift "joint_3:x=0.4mm,rz=-0.02deg"
    """
    from elastocal.files.robot.export import write_origins
    from elastocal.files.robot.urdf import read_links
    from elastocal.files.robot.urdf_tags import document

    old = {j.name: j.pose for j in read_links(document(source)).joints}
    new: dict[str, Pose] = {}
    for text in shift:
        joint, motion = parse_shift(text)
        if joint not in old:
            raise UnknownNameError("joint", joint, old, f"--shift {text!r}")
        if joint in new:
            raise DuplicateError.of("shift", text, f"joint {joint!r} is moved twice; write one --shift for it")
        new[joint] = old[joint] @ motion
    write_origins(source, target, new)
    return UrdfResult(target, tuple(OriginChange(j, _numbers(old[j]), _numbers(new[j])) for j in new))


def parse_shift(text: str) -> tuple[str, Pose]:
    """``joint_3:x=0.4mm,rz=-0.02deg`` as the joint and the motion Tx Ty Tz Rx Ry Rz."""
    import numpy as np

    from elastocal.files.units import ANGLE, LENGTH
    from elastocal.spatial.pose import Pose
    from elastocal.spatial.rotation import axis_matrix

    joint, colon, rest = text.rpartition(":")
    values = dict.fromkeys(("x", "y", "z", "rx", "ry", "rz"), 0.0)
    for term in rest.split(","):
        match = _TERM.fullmatch(term)
        units = ANGLE if match and match["axis"].startswith("r") else LENGTH
        if not colon or match is None or match["unit"] not in units:
            each = f"x y z in {', '.join(LENGTH)}; rx ry rz in {', '.join(ANGLE)}"
            why = f"{term!r} is not understood; write JOINT:x=0.4mm,rz=-0.02deg ({each})"
            raise FormatError.of("shift", text, why)
        try:
            values[match["axis"]] = float(match["number"]) * units[match["unit"]]
        except ValueError:
            raise NumberError.of("shift", text, f"{match['number']!r} is not a number") from None
    turn = axis_matrix(0, values["rx"]) @ axis_matrix(1, values["ry"]) @ axis_matrix(2, values["rz"])
    return joint, Pose(turn, np.array([values["x"], values["y"], values["z"]]))


def _numbers(pose: Pose) -> tuple[float, ...]:
    from elastocal.spatial.rotation import matrix_rpy

    return (*(float(v) for v in pose.translation), *matrix_rpy(pose.rotation))


def page(result: UrdfResult) -> Report:
    names = (("x", "mm"), ("y", "mm"), ("z", "mm"), ("roll", "deg"), ("pitch", "deg"), ("yaw", "deg"))
    columns = (
        Column("joint", "joint"),
        Column("state", "origin"),
        *(Column(f"{name}_{unit}", name, unit) for name, unit in names),
    )
    rows: list[tuple[Cell, ...]] = [
        (change.joint, state, *(1e3 * v for v in values[:3]), *(degrees(v) for v in values[3:]))
        for change in result.changes
        for state, values in (("before", change.before), ("after", change.after))
    ]
    verdict = (f"{len(result.changes)} joint origin(s) changed in {result.target}; every other byte is as it was.",)
    return Report("Corrected URDF", verdict, (Section("", (Table("origins", "", columns, tuple(rows)),)),))
