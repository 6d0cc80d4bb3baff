"""ROS bags: ROS 1 (.bag), ROS 2 (.mcap, .db3 or a folder of them), read by rosbags without ROS.

Messages that are used: JointState (values and efforts), WrenchStamped, PoseStamped and PointStamped, all in SI.
Times are those of the headers, where they have some.  As a table a bag has one row for each time the arm stood still:

    table: {file: run.mcap, format: ros-bag, joints: /joint_states, pose: /tracker/pose, wrench: /ft/wrench}

Topics need not be named where there is one of a kind.  A dwell is an interval of at least ``still_s`` in which every
joint stays within ``band_deg`` (slides: the same number of mm); readings within it are averaged, orientations as
rotations.  A wrench is taken as it stands: in base axes and applied to the robot.  Joint values are of the joints.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.transform import Rotation

from elastocal.errors import (
    ConflictError,
    ExtraMissingError,
    FormatError,
    InputError,
    MissingError,
    RangeError,
    UnknownNameError,
)
from elastocal.files.formats.format import Asked, TableFormat
from elastocal.files.opened import note_file
from elastocal.files.tables.raw import RawTable, by_numbers
from elastocal.measure.motion import Dwell, dwells
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

ENDINGS = (".bag", ".mcap", ".db3")
JOINTS, WRENCH, POSE, POINT = "JointState", "WrenchStamped", "PoseStamped", "PointStamped"
WIDTHS = {WRENCH: 6, POSE: 7, POINT: 3}


@dataclass(frozen=True, eq=False)
class Series:
    """Messages of one topic: ``time`` (N,) in s and ``values`` (N, k); ``names`` and ``effort`` (N, k) of joints.

    A wrench is force and moment, a pose x y z and the quaternion x y z w, a point x y z.
    """

    kind: str
    time: Array
    values: Array
    names: tuple[str, ...] = ()
    effort: Array | None = None
    velocity: Array | None = None


def is_bag(path: Path) -> bool:
    return path.suffix.lower() in ENDINGS or (path.is_dir() and (path / "metadata.yaml").is_file())


def read_bag(path: Path) -> dict[str, Series]:
    """The series of a bag by topic; topics of other types are left out."""
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise ExtraMissingError.needed(
            f"{path}: reading ROS bags needs rosbags", "formats", "export it as .csv", file=str(path)
        ) from None
    if path.is_file():
        note_file(path)
    topics: dict[str, list[tuple[float, Any]]] = {}
    kinds: dict[str, str] = {}
    store = get_typestore(Stores.ROS1_NOETIC if path.suffix.lower() == ".bag" else Stores.ROS2_HUMBLE)
    try:
        with AnyReader([path], default_typestore=store) as reader:
            used = [c for c in reader.connections if c.msgtype.rpartition("/")[2] in (JOINTS, *WIDTHS)]
            for connection, stamp, raw in reader.messages(connections=used) if used else ():
                message = reader.deserialize(raw, connection.msgtype)
                kinds[connection.topic] = connection.msgtype.rpartition("/")[2]
                topics.setdefault(connection.topic, []).append((_time(message, stamp), message))
            others = sorted({f"{c.topic} ({c.msgtype})" for c in reader.connections if c not in used})
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"{path}: is no readable ROS bag ({type(error).__name__}: {' '.join(str(error).split())[:150]}); give a "
            ".bag, .mcap or .db3 file, or the folder with metadata.yaml",
            code="not-a-bag",
            file=str(path),
        ) from None
    if not topics:
        has = ", ".join(others) or "nothing"
        raise FormatError(f"{path}: holds no JointState, WrenchStamped, PoseStamped or PointStamped, but {has}")
    return {topic: _series(path, topic, kinds[topic], rows) for topic, rows in sorted(topics.items())}


def _time(message: Any, stamp: int) -> float:
    header = message.header.stamp
    nanoseconds = getattr(header, "nanosec", getattr(header, "nsec", 0))
    own = header.sec + 1e-9 * nanoseconds
    return float(own if own > 0 else 1e-9 * stamp)


def _series(path: Path, topic: str, kind: str, rows: list[tuple[float, Any]]) -> Series:
    rows.sort(key=lambda row: row[0])
    time = np.array([t for t, _ in rows])
    messages = [m for _, m in rows]
    if kind == JOINTS:
        names = tuple(messages[0].name)
        if any(tuple(m.name) != names or len(m.position) != len(names) for m in messages):
            raise ConflictError(
                f"{path}: the messages of {topic} name different joints, or have no positions; split it"
            )
        effort, velocity = (
            np.array([getattr(m, w) for m in messages]) if all(len(getattr(m, w)) == len(names) for m in messages)
            else None for w in ("effort", "velocity")
        )  # fmt: skip
        return Series(kind, time, np.array([m.position for m in messages], dtype=float), names, effort, velocity)
    return Series(kind, time, np.array([_numbers(kind, m) for m in messages], dtype=float))


def _numbers(kind: str, message: Any) -> list[float]:
    if kind == WRENCH:
        force, moment = message.wrench.force, message.wrench.torque
        return [force.x, force.y, force.z, moment.x, moment.y, moment.z]
    if kind == POINT:
        return [message.point.x, message.point.y, message.point.z]
    p, q = message.pose.position, message.pose.orientation
    return [p.x, p.y, p.z, q.x, q.y, q.z, q.w]


def one_topic(path: Path, series: Mapping[str, Series], kinds: tuple[str, ...], asked: str | None) -> str | None:
    """The topic that is asked for, or the only one of its kinds; None where there is none."""
    if asked is not None:
        if asked not in series or series[asked].kind not in kinds:
            fitting = [t for t, s in series.items() if s.kind in kinds]
            raise UnknownNameError("topic", asked, fitting, str(path))
        return asked
    fitting = [t for t, s in series.items() if s.kind in kinds]
    if len(fitting) > 1:
        raise InputError(
            f"{path}: has {len(fitting)} topics of {' or '.join(kinds)} ({', '.join(fitting)}); say which",
            code="which-topic",
            file=str(path),
            allowed=tuple(fitting),
        )
    return fitting[0] if fitting else None


def joint_columns(path: Path, model: Robot, series: Series) -> tuple[Array, tuple[str, ...]]:
    """Places (n,) of the robot's joints in a series of joint states by their names, else by number, which is said."""
    known = {name: i for i, name in enumerate(series.names)}
    wanted = model.joints if all(j in known for j in model.joints) else model.controller.axes
    lacking = [j for j in wanted if j not in known]
    called = by_numbers(series.names, model.joints) if lacking else {}
    if called:
        message = f"{path.name}: {', '.join(f'{word} is joint {joint}' for word, joint in called.items())}."
        words = {joint: word for word, joint in called.items()}
        return np.array([known[words[j]] for j in model.joints], dtype=np.int64), (message,)
    if lacking:
        raise InputError(
            f"{path}: its joint states are of {', '.join(series.names)}, and {lacking[0]} of {model.name} is not among "
            "them; name the joints in the robot file as ROS does",
            code="other-joints",
            file=str(path),
            value=lacking[0],
        )
    return np.array([known[j] for j in wanted], dtype=np.int64), ()


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
