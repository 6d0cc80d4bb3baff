"""Tables that a RoboDK calibration project saves: joints, the measured pose and the tool, one line per measurement.

    J1 .. J6 in deg, x y z in mm and w p r of the measurement, x y z in mm and w p r of the tool

Lines at x = y = z = 0 have not been measured.  Whether w p r are in degrees, and how they turn, is not said there:
``angle`` and ``orientation`` say it.  Which frame of a robot a tool is follows from its place on the flange.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from elastocal.errors import FormatError, MissingError, ShapeError, UnsupportedError
from elastocal.files.formats.format import Asked, TableFormat
from elastocal.files.tables.csv_file import separator_of, text_lines
from elastocal.files.tables.raw import Field, Origin, RawTable, si_number
from elastocal.files.tables.rows import split_line
from elastocal.model.kinematics import kinematics
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import matrix_rpy
from elastocal.values import dataclass

TITLES = (*(f"J{i}" for i in range(1, 7)), *"XYZWPR", *(f"tool {c}" for c in "XYZWPR"))
JOINTS, PLACE, TURN, TOOL = range(6), range(6, 9), range(9, 12), range(12, 15)
NOTHING = 1e-3
"""mm: a measurement this close to zero was not made."""


def measured_lines(file: Path) -> RawTable:
    """Every measurement that was made, as RoboDK's own columns; a note names the others."""
    lines = text_lines(file, "#")
    if len(lines) < 2:
        message = f"{file}: holds no measurements; save the table of the calibration project again"
        raise MissingError(message, file=str(file), value="measurements")
    separator = separator_of(lines[0][1])
    first, *rows = ((n, split_line(file, (n, s), separator)) for n, s in lines)
    if all(_numeric(c) for c in first[1] if c.strip()):
        message = f"{file}, line {first[0]}: holds numbers where RoboDK writes titles; put the titles back"
        raise FormatError(message, file=str(file), line=first[0])
    for line, cells in rows:
        if len(cells) < len(TITLES):
            raise ShapeError(
                f"{file}, line {line}: {len(cells)} cells, but joints, measured pose and tool are {len(TITLES)}; "
                "save the table of the calibration project again",
                file=str(file),
                line=line,
                value=len(cells),
            )
    whole = RawTable(str(file), TITLES, tuple((n, c[: len(TITLES)]) for n, c in rows), header_line=first[0])
    absent = [r for r in whole.rows if all(abs(si_number(whole, r, Field(i, 1.0))) < NOTHING for i in PLACE)]
    if len(absent) == len(whole.rows):
        message = f"{file}: none of its {len(absent)} measurements has been made: all are at 0, 0, 0"
        raise MissingError(message, code="not-measured", file=str(file), value=len(absent))
    text = ", ".join(str(n) for n, _ in absent)
    note = f"{file.name}: left out, since they have not been made (0, 0, 0): measurements in lines {text}."
    kept = tuple(r for r in whole.rows if r not in absent)
    return replace(whole, rows=kept, notes=(note,) if absent else ())


def _numeric(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


NEAR = 1e-3
"""m: a frame this close to a tool is meant by it."""


def frame_of_tool(asked: Asked, flange: str, place: Array, where: str) -> tuple[str, float]:
    """The frame nearest to ``place`` (m) among those that move with the flange, and how far it is off."""
    robot = asked.robot
    assert robot is not None
    if flange not in robot.tree.names:
        raise asked.unknown("flange", "frame", flange, robot.tree.names)
    q = np.stack([np.zeros(robot.n), np.full(robot.n, 0.3)])
    hand = kinematics(robot, q, flange)
    off: dict[str, float] = {}
    for name in robot.tree.names:
        from_hand = np.einsum("nji,nj->ni", hand.rotation, kinematics(robot, q, name).position - hand.position)
        if np.allclose(from_hand[0], from_hand[1], atol=1e-9):
            off[name] = float(np.linalg.norm(from_hand[0] - place))
    best = min(off, key=off.__getitem__)
    if off[best] > NEAR:
        x, y, z = (f"{1e3 * float(v):g}" for v in place)
        raise MissingError(
            f"{where}: no frame of {robot.name} is at this tool; the nearest, {best}, is {1e3 * off[best]:.3g} mm off; "
            f"add a frame {{name: ..., parent: {flange}, xyz_mm: [{x}, {y}, {z}]}} to the robot file",
            code="no-frame",
            value=tuple(map(float, place)),
        )
    return best, off[best]


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
            lacking = "angle" if self.angle is None else "orientation"
            problem = "orientation and angle belong together: how W P R turn, and whether in deg or rad"
            raise asked.error((), problem, MissingError, value=lacking)
        axes = _axes(file, asked)
        raw = measured_lines(file)
        names = [*(f"{a}_deg" for a in axes), "x_mm", "y_mm", "z_mm"]
        plain: list[Column] = [
            (name, TITLES[i], [cells[i] for _, cells in raw.rows])
            for name, i in zip(names, (*JOINTS, *PLACE), strict=True)
        ]
        turned, unused = self._turned(file, raw)
        tools, notes = self._tools(file, raw, asked)
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
                *notes,
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
            tools = [
                frame_of_tool(asked, self.flange, 1e-3 * place, f"{file}, line {line}")
                for place, line in zip(places, lines, strict=True)
            ]
            message = ", ".join(f"{name} ({round(1e3 * off, 3):g} mm off)" for name, off in tools)
            return [("marker", "tool", [tools[i][0] for i in which.ravel()])], (f"{file.name}: tools are {message}.",)
        if len(places) > 1:
            known = f"{file} has {len(places)} tools (first in lines {', '.join(str(n) for n in sorted(lines))})"
            problem = f"{known}; add flange, the frame of the robot that they are given in"
            raise asked.error((), problem, MissingError, value="flange")
        text = ", ".join(f"{v:g}" for v in places[0])
        return [], (f"{file.name}: its one tool ({text} mm) is taken to be the marker; flange would have it checked.",)


def _axes(file: Path, asked: Asked) -> tuple[str, ...]:
    robot = asked.robot
    if robot is None:
        problem = f"{file} holds joint values, which need a robot; name the table in a campaign file"
        raise asked.error((), problem, MissingError, value="robot")
    if len(robot.motions) != len(JOINTS) or any(m.kind != "revolute" for m in robot.motions):
        problem = f"{file}: RoboDK has six joints that turn, and {robot.name} has others; use format: csv"
        raise asked.error((), problem, UnsupportedError, value=robot.name)
    return tuple(robot.controller.axes)


def _numbers(raw: RawTable, places: range) -> Array:
    return np.array([[si_number(raw, row, Field(i, 1.0)) for i in places] for row in raw.rows])


def robodk_table(joints: Array, poses: Sequence[Pose], tools: Sequence[Pose]) -> str:
    """The same columns for RoboDK: controller values (N, 6) in rad, poses in the base, tools on the flange.

    Angles are in deg about x, y and z in turn, as RoboDK shows poses.
    """

    titles = [f"{t} (deg)" if t[0] == "J" else f"{t} ({'mm' if t[-1] in 'XYZ' else 'deg'})" for t in TITLES]
    lines = [",".join(titles)]
    for row, pose, tool in zip(joints, poses, tools, strict=True):
        numbers = list(np.degrees(row))
        for p in (pose, tool):
            numbers += [*(1e3 * p.translation), *(0.0 - np.degrees(matrix_rpy(p.rotation.T)))]
        lines.append(",".join(f"{v + 0.0:.6f}" for v in numbers))
    return "\n".join(lines) + "\n"
