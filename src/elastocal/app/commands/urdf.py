"""Geometric corrections put into the <origin> of a URDF's joints."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import degrees
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.errors import DuplicateError, FormatError, NumberError, UnknownNameError
from elastocal.report.blocks import Column, Report, Section, Table
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.spatial.pose import Pose

_TERM = re.compile(r"\s*(?P<axis>x|y|z|rx|ry|rz)\s*=\s*(?P<number>[-+0-9.eE]+)\s*(?P<unit>[a-z]+)\s*")


@dataclass(frozen=True, eq=False)
class UrdfResult:
    """``changes`` are the origins of joints before and after."""

    target: Path
    changes: Mapping[str, tuple[Pose, Pose]]


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
    return UrdfResult(target, {j: (old[j], pose) for j, pose in new.items()})


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


def page(result: UrdfResult) -> Report:
    from elastocal.spatial.rotation import matrix_rpy

    rows = [(j, *e) for j, both in result.changes.items() for e in zip(("before", "after"), both, strict=True)]
    table = Table.of("origins", rows, {
        Column("joint", "joint"): lambda r: r[0],
        Column("state", "origin"): lambda r: r[1],
        tuple(Column(f"{c}_mm", c, "mm") for c in "xyz"): lambda r: 1e3 * r[2].translation,
        tuple(Column(f"{c}_deg", c, "deg") for c in ("roll", "pitch", "yaw")):
            lambda r: map(degrees, matrix_rpy(r[2].rotation)),
    })  # fmt: skip
    verdict = (f"{len(result.changes)} joint origin(s) changed in {result.target}; every other byte is as it was.",)
    return Report("Corrected URDF", verdict, (Section("", (table,)),))
