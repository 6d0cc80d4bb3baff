"""Centres, axes and radii of tracked points that turn about an axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cells.roles import REPORT, Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.errors import ConflictError, MissingError, RangeError, ShapeError, UnknownNameError
from elastocal.untrusted import shell_word
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.files.tables.points import PointTable
    from elastocal.model.robot import Robot
    from elastocal.procedures.circle_points import CirclePoints
    from elastocal.procedures.compensator.arcs import Arcs, MarkerError
    from elastocal.spatial.entries import Array

SENSES = {"with": 1, "against": -1}
Noise = Annotated[float | None, o.option("UM", "Standard deviation of a coordinate (default: from the residuals).")]
Sense = Annotated[str | None, o.option("with|against", "How the points run with growing angle (default: found).")]
Axis = Annotated[str | None, o.option("X,Y,Z", "In space: rough direction of the axis that the sense refers to.")]


@dataclass(frozen=True, eq=False)
class ArcsResult:
    table: PointTable
    arcs: Arcs
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class CirclePointsResult:
    """Axes of every joint swept, against the robot file; ``files`` the robot file with the frame errors."""

    points: Path
    word: str
    robot: Robot
    circle_points: CirclePoints
    files: dict[Path, str]
    notes: tuple[str, ...]


@command("procedures", 3, Uses({"points": "points"}, (REPORT,)), csv=True)
def arcs(
    points: Annotated[
        Path,
        o.argument(
            "POINTS.csv", "Tracked points: x_mm,y_mm[,z_mm][,marker][,pose][,q_deg]; or a .yaml that names a table."
        ),
    ],
    known: Annotated[
        list[str] | None, o.option("MARKER", "A marker that turns by the angle column; repeatable.")
    ] = None,
    noise_um: Noise = None,
    sense: Sense = None,
    axis: Axis = None,
    robot: Annotated[
        str | None, o.option("ROBOT", "Circle-point analysis: every joint swept, all axes and SMRs in the table.")
    ] = None,
    more: Annotated[
        list[Path] | None, o.option("POINTS.csv", "With --robot: files of further sweeps; repeatable.")
    ] = None,
    out: Annotated[
        Path | None, o.option("FILE.yaml", "With --robot: write the robot file with the frame errors."), o.WRITTEN
    ] = None,
) -> ArcsResult | CirclePointsResult:
    """Centre, axis and radius of tracked points, with accuracy.

    Markers whose joint angles are known are fitted with them, all others as arcs about one common axis. Outliers are
    named. With --robot the table holds sweeps of every joint: axes, angles and distances of neighbours, frame errors
    for the robot file, joint ratios and couplings.

    \b
    Example:
      elastocal arcs points.csv --known P1 --noise-um 20
      elastocal arcs sweeps.csv --robot abb-irb4600-60 --noise-um 20 --out measured.yaml
    """
    from elastocal.files.tables.points import read_points
    from elastocal.procedures.compensator.arcs import fit_arcs

    noise, way = noise_of(noise_um), sense_from_word(sense)
    if robot is not None:
        return _circle_points((points, *(more or ())), robot, noise, out)
    if more or out is not None:
        raise ConflictError("--more and --out belong to circle-point analysis; name the robot by --robot")
    table = read_points(points)
    turned = _known(table, tuple(known or ()))
    direction = axis_of(axis, table)
    if way is not None and not turned:
        raise ConflictError("--sense is of markers whose angles are known; name them by --known")
    if way is not None and table.dimension == 3 and direction is None:
        raise MissingError('--sense: a sense in space refers to an axis; add its rough direction as --axis "X,Y,Z"')
    check_same_poses(table, [m for m in table.markers if m not in turned])
    for marker in turned:
        check_known_angles(table, marker)
    with located(table):
        fit = fit_arcs(table.points, pose_angles(table), known=turned, noise=noise, sense=way, axis=direction)
    return ArcsResult(table, fit, (*table.notes, *unseen_notes(table, table.markers), *fit.notes))


def _circle_points(points: Sequence[Path], word: str, noise: float | None, out: Path | None) -> CirclePointsResult:
    from elastocal.files.robot.read import read_robot
    from elastocal.files.robot.write import robot_text
    from elastocal.files.tables.points import read_sweeps
    from elastocal.procedures.circle_points import circle_points
    from elastocal.procedures.circle_points.frame_errors import with_frame_errors

    robot = read_robot(word)
    sweeps, notes = read_sweeps(points, robot)
    axes = circle_points(robot, sweeps, noise)
    message = f"circle-point analysis of {', '.join(p.name for p in points)}"
    files = (
        {} if out is None else {out: robot_text(with_frame_errors(robot, axes.errors, message), (f"By {message}.",))}
    )
    return CirclePointsResult(points[0], word, robot, axes, files, (*robot.notes, *notes))


def noise_of(noise_um: float | None) -> float | None:
    from math import isfinite

    if noise_um is not None and not (isfinite(noise_um) and noise_um > 0):
        raise RangeError.of("noise_um", noise_um, "must be a positive number; leave it out if the noise is unknown")
    return None if noise_um is None else 1e-6 * noise_um


def sense_from_word(word: str | None) -> int | None:
    if word is not None and word not in SENSES:
        raise UnknownNameError("sense", word, SENSES, "--sense")
    return None if word is None else SENSES[word]


def axis_of(text: str | None, table: PointTable) -> Array | None:
    import numpy as np

    from elastocal.app.configurations import numbers

    if text is None:
        return None
    if table.dimension == 2:
        raise ConflictError.of("axis", text, f"{table.file} has two coordinates, whose axis is z; leave the option out")
    axis = np.array(numbers(text, 3, f"--axis {text!r}", "x, y, z"))
    if not np.any(axis):
        raise RangeError.of("axis", text, "three zeros have no direction; give the direction of the joint's axis")
    return axis


def pose_angles(table: PointTable) -> Array:
    """(poses,) in rad, nan where no marker gives any; the table has one angle for each pose."""
    import numpy as np

    rows = np.array([table.angles[m] for m in table.markers])
    return np.asarray(rows[np.argmax(np.isfinite(rows), axis=0), np.arange(rows.shape[1])])


def _known(table: PointTable, asked: tuple[str, ...]) -> tuple[str, ...]:
    """Markers that turn by the angle column: those named, or the only one."""
    check_markers(table, asked, "--known")
    if asked or table.angle is None:
        if asked and table.angle is None:
            raise MissingError.of("known", asked[0], f"{table.file} has no column with angles; add one such as q_deg")
        return tuple(dict.fromkeys(asked))
    if len(table.markers) == 1:
        return table.markers
    raise MissingError(
        f"{table.file}: has angles ({table.angle}) and {len(table.markers)} markers; name those that turn by this "
        f"angle, such as --known {shell_word(table.markers[0])}, or remove the column"
    )


def check_markers(table: PointTable, asked: Sequence[str], option: str) -> None:
    for name in asked:
        if name not in table.points:
            raise UnknownNameError("marker", name, table.markers, f"{option} {name}: {table.file}")


def check_same_poses(table: PointTable, markers: Sequence[str]) -> None:
    """Counted poses need markers of one length; named ones do not."""
    counts = {m: int((table.lines[m] > 0).sum()) for m in markers}
    if table.numbered and len(set(counts.values())) > 1:
        each = ", ".join(f"{m} {n}" for m, n in counts.items())
        raise ShapeError(
            f"{table.file}: the markers have different numbers of rows ({each}), and without a column pose row i of "
            "each must be pose i; add a column pose or the missing rows"
        )


def check_known_angles(table: PointTable, marker: str) -> None:
    """Every point of a marker that turns by known angles has one."""
    import numpy as np

    if table.angle is None:
        raise MissingError(f"{table.file}: there is no column with the joint's angle; add one such as q_deg")
    lost = np.flatnonzero(np.isnan(table.angles[marker]) & (table.lines[marker] > 0))
    if len(lost):
        raise MissingError(
            f"{table.place(marker, int(lost[0]))}, column {table.angle}: is empty, but marker {marker} turns by this "
            "angle; give it or leave the row out"
        )


def unseen_notes(table: PointTable, markers: Sequence[str]) -> tuple[str, ...]:
    """Rows without coordinates, by line."""
    import numpy as np

    lost = [
        f"{marker} in pose {table.poses[i]} (line {table.lines[marker][i]})"
        for marker in markers
        for i in np.flatnonzero(np.isnan(table.points[marker][:, 0]) & (table.lines[marker] > 0))
    ]
    return (f"Not seen, the row has no coordinates: {', '.join(lost)}.",) if lost else ()


@contextmanager
def located(table: PointTable) -> Iterator[None]:
    """Errors about points name the file, and the column of angles in another unit."""
    from elastocal.procedures.compensator.arcs import MarkerError

    try:
        yield
    except MarkerError as error:
        raise error.reworded(f"{table.file}, {_with_column(table, error)}") from None


def _with_column(table: PointTable, error: MarkerError) -> str:
    from elastocal.procedures.compensator.known_angles import WrongUnitError

    reason = error.reason
    if not isinstance(reason, WrongUnitError):
        return str(error)
    name, unit = table.angle, table.angle_unit
    marker, column = f"marker {error.markers[0]}", f"the angles of column {name}_{unit} look"
    other = {"rad": "deg", "deg": "rad"}.get(unit or "", "")
    if other and (unit == "rad") == (reason.factor < 1):
        words = {"deg": "degrees", "rad": "radians"}[other]
        return f"{marker}: {column} like {words}; name it {name}_{other}: {reason.left}"
    size = "large" if reason.factor < 1 else "small"
    return f"{marker}: {column} 57.3 times too {size}; check their unit: {reason.left}"
