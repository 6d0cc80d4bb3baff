"""ROS bags: ROS 1 (.bag), ROS 2 (.mcap, .db3 or a folder of them), read by rosbags without ROS.

Messages that are used: JointState (values and efforts), WrenchStamped, PoseStamped and PointStamped, all in SI.
Times are those of the headers, where they have some.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from elastocal.errors import ConflictError, ExtraMissingError, FormatError, InputError, UnknownNameError
from elastocal.files.opened import note_file
from elastocal.files.tables.axis_titles import by_numbers
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
