"""A calibrated robot for others: robot file, URDF with corrected origins, DH table, kinematics.yaml.

The last three hold fixed origins of joints.  In a calibrated robot geometry is what is left once weight, gears and
loads have their part: alone it predicts worse than geometry that was estimated alone and stands for their mean as well.
So it is estimated again (``fixed_geometry``), from what the calibrated robot predicts at poses that the calibration has
seen and at others within their range: readings without noise, as many as wanted.  How far that is from the calibrated
robot is its leave-one-out error, stations and markers fitted.  Whatever depends on the configuration or on loads has no
place there; it is said first how much that is, then what.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from elastocal.arguments import checked
from elastocal.calibration.campaign import Campaign
from elastocal.calibration.placing import placed
from elastocal.compensation.corrected_geometry import corrected_poses
from elastocal.design.candidates import sobol
from elastocal.errors import ConflictError, MissingError
from elastocal.files.robot.dh_write import dh_table
from elastocal.files.robot.export import kinematics_text, not_in_urdf, urdf_text, with_origins
from elastocal.files.robot.urdf import read_links, read_urdf
from elastocal.files.robot.urdf_tags import document
from elastocal.files.robot.write import robot_text
from elastocal.files.write import check_targets, write_files
from elastocal.model.frames import Frame
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot
from elastocal.results import Finding
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import matrix_rpy

if TYPE_CHECKING:
    from elastocal.calibration.calibration import Calibration


CONSTANT = ("frame_error", "joint_offset")
"""Kinds of effects that fixed origins hold."""
SEEN, OTHERS = 150, 8
"""Poses of the calibration, and of how many others in their range the logarithm to base 2, that the geometry is fitted
to."""
NOTHING = 1e-6
"""m below which a prediction is that of the constant geometry."""


def fixed_geometry(c: Calibration) -> tuple[Robot, tuple[Finding, ...]]:
    """The robot with constant geometry alone, and how well it predicts where that is less than the calibration does."""
    from elastocal.calibration.run import calibrate

    own = c.robot.without(*{e.kind for e in c.robot.elements if e.kind not in CONSTANT})
    if not c.placed:
        return own, ()
    q = _poses(c)
    prediction = c.predict_joints(q)
    at = kinematics(own, q)
    station = np.zeros(len(q), dtype=np.int64)
    off = np.linalg.norm(placed(c.placing, at.position, at.rotation, station) - prediction.position, axis=2)
    if np.nanmax(off) < NOTHING:
        return own, ()
    data = Campaign(
        q=c.robot.controller.to_controller(q), position=prediction.position, markers=c.markers,
        orientation=prediction.orientation if "orientation" in c.noise else None, length="m", angle="rad",
    )  # fmt: skip
    alone = calibrate(c.nominal, data, ["geometry"], outliers=False)
    return alone.robot, (_finding(c, alone, len(q)),)


def _poses(c: Calibration) -> Array:
    """(N, n): some that were read, and some spread between the least and the largest joint values of all."""
    seen = c.residuals.q
    some = seen[np.linspace(0, len(seen) - 1, min(SEEN, len(seen))).astype(np.int64)]
    low, high = seen.min(axis=0), seen.max(axis=0)
    return np.concatenate([some, low + (high - low) * sobol(seen.shape[1], OTHERS)])


def _finding(c: Calibration, alone: Calibration, poses: int) -> Finding:
    left, nominal, own = alone.leave_one_out.mean, alone.before.mean, c.claim.mean
    text = (
        f"Fixed origins cannot hold all of the calibration: {1e3 * left:.3f} mm are left of what it predicts (mean "
        f"over {poses} poses of its range, base and markers fitted), {1e3 * nominal:.3f} mm by the nominal robot; the "
        f"calibration itself predicts to {1e3 * own:.3f} mm. The geometry was fitted to predict best alone and is not "
        "that of the calibration; correct programs with the calibration where the rest matters."
    )
    data = {"left_m": left, "nominal_m": nominal, "calibration_m": own, "poses": poses}
    return Finding("fixed-geometry", "warning", text, data)


SAME = 1e-6
"""m and rad by which nominal poses of one robot may differ."""


@checked()
def export(
    calibration: Calibration | Robot,
    *,
    yaml: str | PathLike[str] | None = None,
    urdf: str | PathLike[str] | None = None,
    source: str | PathLike[str] | None = None,
    kinematics: str | PathLike[str] | None = None,
    dh: str | PathLike[str] | None = None,
) -> tuple[str, ...]:
    """Write a calibrated robot as robot file, URDF (from ``source``), kinematics.yaml or DH table; what is lost.

    All but the first hold constant geometry alone.  Of a calibration with other effects it is fitted again to predict
    best by itself, and the first sentence of the answer says how much is left; a robot is written as it is.
    """
    asked = {"yaml": yaml, "urdf": urdf, "kinematics": kinematics, "dh": dh}
    check_targets(
        {name: Path(path) for name, path in asked.items() if path is not None},
        {} if source is None else {"source": Path(source)},
    )
    robot = calibration if isinstance(calibration, Robot) else calibration.robot
    rigid = robot
    files: dict[Path, str | bytes] = {}
    lost: list[str] = []
    fixed = not (urdf is None and kinematics is None and dh is None)
    if not isinstance(calibration, Robot) and fixed:
        rigid, how_well = fixed_geometry(calibration)
        lost += [f.text for f in how_well]
    if yaml is not None:
        files[Path(yaml)] = calibrated_text(calibration)
    if urdf is not None:
        if source is None and not of_table(robot):
            raise MissingError(f"urdf {urdf}: name the URDF that robot {robot.name} was made from as source")
        files[Path(urdf)], notes = new_urdf(rigid) if source is None else corrected_urdf(rigid, Path(source))
        lost += notes
    if kinematics is not None:
        files[Path(kinematics)], notes = corrected_kinematics(rigid, robot.name)
        lost += notes
    if dh is not None:
        files[Path(dh)], notes = corrected_dh(rigid, Path(dh).suffix)
        lost += notes
    if fixed:
        lost += varying_effects(robot)
    if not files:
        raise MissingError("nothing is asked for; name a file for yaml, urdf, kinematics or dh")
    write_files(files)
    return tuple(dict.fromkeys(lost))


def calibrated_text(calibration: Calibration | Robot) -> str:
    """The robot file with the estimates, with markers and registration where they are known."""
    if isinstance(calibration, Robot):
        return robot_text(calibration)
    robot, notes = with_placing(calibration.robot, calibration)
    return robot_text(robot, ("Calibrated; the calibration file holds covariance, priors and noise.", *notes))


def with_placing(robot: Robot, calibration: Calibration) -> tuple[Robot, tuple[str, ...]]:
    """Markers as frames of the tool, and in words where the base stands for every station of the instrument."""
    if not calibration.placed:
        return robot, ()
    placing = calibration.placing
    spots = zip(calibration.markers, placing.markers, strict=True)
    added = [Frame(name, robot.tool, Pose(np.eye(3), spot)) for name, spot in spots if name not in robot.tree.names]
    notes = []
    for name, turn, shift in zip(calibration.stations, placing.turn, placing.shift, strict=True):
        xyz = ", ".join(f"{1e3 * v:.4f}" for v in shift)
        rpy = ", ".join(f"{np.degrees(v):.6f}" for v in matrix_rpy(turn))
        notes.append(f"Base in the axes of station {name}: xyz_mm [{xyz}], rpy_deg [{rpy}].")
    return replace(robot, tree=replace(robot.tree, frames=(*robot.tree.frames, *added))), tuple(notes)


def corrected_urdf(robot: Robot, source: Path) -> tuple[bytes, Sequence[str]]:
    """``source`` with corrected origins, every other byte as it was, and what it cannot hold."""
    made_from = read_urdf(source, robot.tool if robot.tool in _links(source) else None)
    _same_geometry(made_from.model, robot, source)
    new = corrected_poses(robot, set(made_from.joint_of))
    lost = [f"The error of frame {name} has no joint in the URDF that could hold it." for name in new.lost]
    poses = {j: new.poses[f] for f, j in made_from.joint_of.items() if f in new.poses}
    return with_origins(source, poses), lost


def corrected_kinematics(robot: Robot, mark: str) -> tuple[str, Sequence[str]]:
    """kinematics.yaml in the style of Universal Robots with ``mark`` as its hash, and what it cannot hold."""
    new = corrected_poses(robot)
    lost = [f"The error of frame {name} is behind the last joint and not in the kinematics." for name in new.lost]
    return kinematics_text(robot, new.poses, mark), lost


def of_table(robot: Robot) -> bool:
    """Whether a robot was made from a DH table, so that there is no URDF of it."""
    return robot.source.lower().endswith((".csv", ".xlsx", ".xlsm"))


def new_urdf(robot: Robot) -> tuple[str, Sequence[str]]:
    """A URDF of a robot that was made from none, and what it does not hold."""
    new = corrected_poses(robot)
    lost = [f"The error of frame {name} is behind the last joint and not in the URDF." for name in new.lost]
    return urdf_text(robot, new.poses), [*lost, *not_in_urdf(robot)]


def corrected_dh(robot: Robot, suffix: str = ".csv") -> tuple[str | bytes, Sequence[str]]:
    """The DH table, standard and Hayati rows, as robots are read from one; what it cannot hold."""
    table = dh_table(robot, corrected_poses(robot).poses)
    notes = (
        _elsewhere("the first frame", "the base", table.base),
        _elsewhere(robot.tool, "the last frame", table.tool),
        f"Not in the DH table, whose limits are angles: those of {', '.join(table.unlimited)}." * bool(table.unlimited),
    )
    if suffix.lower() == ".xlsx":
        from elastocal.files.tables.excel import excel_bytes

        return excel_bytes(table.titles, table.cells), [n for n in notes if n]
    lines = [",".join(map(str, row)) for row in (table.titles, *table.cells)]
    return "\n".join([*lines, ""]), [n for n in notes if n]


def _elsewhere(what: str, where: str, pose: Pose) -> str:
    if np.abs(pose.matrix() - np.eye(4)).max() < SAME:
        return ""
    xyz = ", ".join(f"{1e3 * v:.4f}" for v in pose.translation)
    rpy = ", ".join(f"{np.degrees(v):.5f}" for v in matrix_rpy(pose.rotation))
    return f"Beside the DH table: {what} stands in {where} at x y z {xyz} mm, roll pitch yaw {rpy} deg."


def varying_effects(robot: Robot) -> list[str]:
    """What depends on the configuration is in no fixed origin: one sentence, or none."""
    names = corrected_poses(robot).varying
    return [f"Not in the origins, since it depends on the configuration: {', '.join(names)}."] if names else []


def _links(path: Path) -> set[str]:
    links = read_links(document(path))
    return {links.root, *(j.child for j in links.joints)}


def _same_geometry(urdf: Robot, robot: Robot, path: Path) -> None:
    """Refuse a URDF of another robot: every frame of it must stand where the calibrated robot's nominal one does."""
    known = {f.name: f for f in robot.tree.frames}
    for frame in urdf.tree.frames:
        same = known.get(frame.name)
        if same is None or same.parent != frame.parent or np.abs(same.pose.matrix() - frame.pose.matrix()).max() > SAME:
            what = "is not in" if same is None else "stands elsewhere in"
            raise ConflictError(
                f"{path}: frame {frame.name} {what} the calibrated robot {robot.name}; give its own URDF"
            )
