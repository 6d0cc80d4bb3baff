"""A ROS bag as a table: one row for each time that the arm stood still.

    table: {file: run.mcap, format: ros-bag, joints: /joint_states, pose: /tracker/pose, wrench: /ft/wrench}

Topics need not be named where there is one of a kind.  A dwell is an interval of at least ``still_s`` in which every
joint stays within ``band_deg`` (slides: the same number of mm); readings within it are averaged, orientations as
rotations.  A wrench is taken as it stands: in base axes and applied to the robot.  Joint values are of the joints.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np
from scipy.spatial.transform import Rotation

from elastocal.errors import InputError, MissingError, RangeError
from elastocal.files.bag import JOINTS, POINT, POSE, WRENCH, Series, joint_columns, one_topic, read_bag
from elastocal.files.formats.format import Asked, TableFormat
from elastocal.files.tables.raw import RawTable
from elastocal.measure.slow_motion import Dwell, dwells
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

FORCES = ("fx_N", "fy_N", "fz_N", "mx_Nm", "my_Nm", "mz_Nm")


@dataclass(frozen=True, kw_only=True)
class RosBag(TableFormat):
    """``joints``, ``pose`` (or points) and ``wrench`` are topics; ``still_s`` and ``band_deg`` say what standing is."""

    kind: ClassVar[str] = "ros-bag"
    joints: str | None = None
    pose: str | None = None
    wrench: str | None = None
    still_s: float = 1.0
    band_deg: float = 0.02

    def read(self, file: Path, asked: Asked) -> RawTable:
        if asked.robot is None:
            raise asked.error(
                (), f"{file} holds joint values, which need a robot; name the table in a campaign file", MissingError
            )
        if not self.still_s > 0 or not self.band_deg > 0:
            raise asked.error((), "still_s and band_deg must be positive", RangeError)
        model, bag = asked.robot, read_bag(file)
        topics = [
            one_topic(file, bag, kinds, stated)
            for kinds, stated in (((JOINTS,), self.joints), ((POSE, POINT), self.pose), ((WRENCH,), self.wrench))
        ]
        if topics[0] is None:
            raise MissingError(f"{file}: has no joint states; without them no pose of the arm is known")
        states = bag[topics[0]]
        places, called = joint_columns(file, model, states)
        q = states.values[:, places]
        turns = np.array([m.kind == "revolute" for m in model.motions])
        band = np.where(turns, np.radians(self.band_deg), 1e-3 * self.band_deg)
        rests = dwells(states.time, q, band, self.still_s)
        if not rests:
            raise InputError(
                f"{file}: the arm never stands still for {self.still_s:g} s within {self.band_deg:g} deg; state "
                "still_s and band_deg as the recording has them",
                code="no-dwell",
                file=str(file),
            )
        shown = model.controller.to_controller(np.array([np.median(q[d.rows], axis=0) for d in rests]))
        header = [f"{a}_{'rad' if t else 'm'}" for a, t in zip(model.controller.axes, turns, strict=True)]
        columns = [shown, *(_averaged(file, bag[t], rests) for t in topics[1:] if t is not None)]
        for topic in topics[1:]:
            if topic is not None:
                header += _names(bag[topic])
        cells = np.concatenate(columns, axis=1)
        rows = tuple((i, tuple(repr(float(v)) for v in row)) for i, row in enumerate(cells, 1))
        used = ", ".join(t for t in topics if t)
        notes = (
            f"{file.name}: {len(rests)} dwells of {used}; row numbers count them, values are means within a dwell.",
            *called,
        )
        return RawTable(str(file), tuple(header), rows, header_line=0, named=str(file), notes=notes)


def _names(series: Series) -> list[str]:
    if series.kind == WRENCH:
        return list(FORCES)
    place = ["x_m", "y_m", "z_m"]
    return place if series.kind == POINT else [*place, "qx", "qy", "qz", "qw"]


def _averaged(file: Path, series: Series, dwells: tuple[Dwell, ...]) -> Array:
    """Means (D, k) of a series within dwells."""
    out = []
    for dwell in dwells:
        inside = (series.time >= dwell.first) & (series.time <= dwell.last)
        if not inside.any():
            raise InputError(
                f"{file}: no {series.kind} between {dwell.first - series.time[0]:.3f} and "
                f"{dwell.last - series.time[0]:.3f} s of its topic, while the arm stood still; compare the clocks",
                code="no-reading-in-dwell",
                file=str(file),
            )
        values = series.values[inside]
        mean = values.mean(axis=0)
        if series.kind == POSE:
            mean[3:] = Rotation.from_quat(values[:, 3:]).mean().as_quat()
        out.append(mean)
    return np.array(out)
