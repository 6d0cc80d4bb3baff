"""Tables that a RoboDK calibration project saves: joints, the measured pose and the tool, one line per measurement.

    J1 .. J6 in deg, x y z in mm and w p r of the measurement, x y z in mm and w p r of the tool

Whether w p r are in degrees, and how they turn, is not said there: ``angle`` and ``orientation`` say it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from elastocal.files.formats.format import Asked, TableFormat
from elastocal.files.formats.robodk_lines import JOINTS, PLACE, TITLES, TOOL, TURN, measured_lines
from elastocal.files.formats.tool_frames import frame_of_tool
from elastocal.files.tables.raw import Field, Origin, RawTable, si_number
from elastocal.spatial.entries import Array

Column = tuple[str, str, Sequence[str]]
"""Name, title in the file, cells."""


@dataclass(frozen=True, kw_only=True)
class RoboDK(TableFormat):
    """``flange`` is the frame of the robot that tools are given in."""

    kind: ClassVar[str] = "robodk"
    flange: str | None = None
    orientation: Literal["robodk", "kuka", "fanuc", "ur"] | None = None
    angle: Literal["deg", "rad"] | None = None

    def read(self, file: Path, asked: Asked) -> RawTable:
        if (self.orientation is None) != (self.angle is None):
            raise asked.error((), "orientation and angle belong together: how W P R turn, and whether in deg or rad")
        axes = _axes(file, asked)
        raw = measured_lines(file)
        names = [*(f"{a}_deg" for a in axes), "x_mm", "y_mm", "z_mm"]
        plain: list[Column] = [
            (name, TITLES[i], [cells[i] for _, cells in raw.rows])
            for name, i in zip(names, (*JOINTS, *PLACE), strict=True)
        ]
        turned, unused = self._turned(file, raw)
        tools, said = self._tools(file, raw, asked)
        columns = [*plain, *turned, *tools]
        return replace(
            raw,
            header=tuple(name for name, _, _ in columns),
            rows=tuple((line, tuple(c[i] for _, _, c in columns)) for i, (line, _) in enumerate(raw.rows)),
            origins=tuple(Origin(str(file), title) for _, title, _ in columns),
            notes=(
                f"{file.name}: axes are in deg and lengths in mm, as RoboDK has them; positions are of its measurement "
                "reference, from which tracker_frame leads to base axes.",
                *raw.notes,
                *unused,
                *said,
            ),
        )

    def _turned(self, file: Path, raw: RawTable) -> tuple[list[Column], tuple[str, ...]]:
        """Rotation vectors, or a note that there are orientations which nothing is said of."""
        from scipy.spatial.transform import Rotation

        angles = _numbers(raw, TURN)
        if self.orientation is None or self.angle is None:
            note = f"{file.name}: measured orientations are not used; orientation and angle would say how."
            return [], ((note,) if np.any(angles) else ())
        turns = np.radians(angles) if self.angle == "deg" else angles
        if self.orientation == "ur":
            vectors = turns
        else:
            sequence = "XYZ" if self.orientation == "robodk" else "ZYX"
            ordered = turns[:, ::-1] if self.orientation == "fanuc" else turns
            vectors = np.asarray(Rotation.from_euler(sequence, ordered).as_rotvec())
        named = zip(("rx_rad", "ry_rad", "rz_rad"), TURN, vectors.T, strict=True)
        return [(name, TITLES[i], [repr(float(v)) for v in values]) for name, i, values in named], ()

    def _tools(self, file: Path, raw: RawTable, asked: Asked) -> tuple[list[Column], tuple[str, ...]]:
        """The markers by the places of the tools, where there are several or ``flange`` is named."""
        places, first, which = np.unique(_numbers(raw, TOOL), axis=0, return_index=True, return_inverse=True)
        lines = [raw.rows[i][0] for i in first]
        if self.flange is not None:
            found = [
                frame_of_tool(asked, self.flange, 1e-3 * place, f"{file}, line {line}")
                for place, line in zip(places, lines, strict=True)
            ]
            said = ", ".join(f"{name} ({round(1e3 * off, 3):g} mm off)" for name, off in found)
            return [("marker", "tool", [found[i][0] for i in which.ravel()])], (f"{file.name}: tools are {said}.",)
        if len(places) > 1:
            known = f"{file} has {len(places)} tools (first in lines {', '.join(str(n) for n in sorted(lines))})"
            raise asked.error((), f"{known}; add flange, the frame of the robot that they are given in")
        at = ", ".join(f"{v:g}" for v in places[0])
        return [], (f"{file.name}: its one tool ({at} mm) is taken to be the marker; flange would have it checked.",)


def _axes(file: Path, asked: Asked) -> tuple[str, ...]:
    robot = asked.robot
    if robot is None:
        raise asked.error((), f"{file} holds joint values, which need a robot; name the table in a campaign file")
    if len(robot.motions) != len(JOINTS) or any(m.kind != "revolute" for m in robot.motions):
        raise asked.error((), f"{file}: RoboDK has six joints that turn, and {robot.name} has others; use format: csv")
    return tuple(robot.controller.axes)


def _numbers(raw: RawTable, places: range) -> Array:
    return np.array([[si_number(raw, row, Field(i, 1.0)) for i in places] for row in raw.rows])
