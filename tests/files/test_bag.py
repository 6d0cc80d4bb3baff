"""ROS 1 and ROS 2 bags written by rosbags, read as campaigns (by dwells) and as logs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from oracle.refusals import refused
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_typestore
from scipy.spatial.transform import Rotation

from elastocal.files.campaign.observed import observed_tables
from elastocal.files.campaign.read import read_campaign
from elastocal.files.log.read import read_log
from elastocal.files.robot.read import read_robot
from elastocal.measure.motion import dwells
from elastocal.model.kinematics import kinematics
from elastocal.model.loads.wrench import AppliedWrenches

ROBOT = "abb-irb4600-60"
STOPS = np.radians([[10.0, 20, -10, 5, 40, 0], [-20.0, 30, 5, 20, 30, 50], [0.0, 0, 0, 60, -50, 10]])
RATE = 100.0


def recording() -> tuple[np.ndarray, np.ndarray]:
    """Times and joint values: three dwells of 2 s, moves of 1 s between them, encoder noise."""
    rng = np.random.default_rng(0)
    parts = []
    for a, b in zip(STOPS, [*STOPS[1:], STOPS[-1]], strict=True):
        parts += [np.repeat(a[None], 200, axis=0), a + (b - a) * np.linspace(0, 1, 102)[1:-1, None]]
    q = np.concatenate(parts[:-1])
    return np.arange(len(q)) / RATE, q + rng.normal(0, 1e-6, q.shape)


def write(path: Path, kind: str) -> Path:
    """A bag with joint states at 100 Hz, poses of the tool at 50 Hz and wrenches."""
    robot = read_robot(ROBOT)
    time, q = recording()
    at = kinematics(robot, q)
    ros1 = kind == "bag"
    store = get_typestore(Stores.ROS1_NOETIC if ros1 else Stores.ROS2_HUMBLE)
    make = store.types
    header, stamp = make["std_msgs/msg/Header"], make["builtin_interfaces/msg/Time"]
    vector, point, quaternion = (make[f"geometry_msgs/msg/{n}"] for n in ("Vector3", "Point", "Quaternion"))
    if ros1:
        out, args = Writer1(path), {}
    else:
        out, args = Writer2(path, version=9, storage_plugin=StoragePlugin[kind.upper()]), {}
    types = ("sensor_msgs/msg/JointState", "geometry_msgs/msg/PoseStamped", "geometry_msgs/msg/WrenchStamped")
    with out as writer:
        topics = [writer.add_connection(t, m, typestore=store, **args) for t, m in
                  zip(("/joint_states", "/tracker/pose", "/ft"), types, strict=True)]  # fmt: skip
        for i, t in enumerate(time):
            nanoseconds = int(1e9 * (1000 + t))
            moment = stamp(nanoseconds // 10**9, nanoseconds % 10**9)
            head = header(seq=i, stamp=moment, frame_id="base") if ros1 else header(stamp=moment, frame_id="base")
            turn = Rotation.from_matrix(at.rotation[i]).as_quat()
            pose = make["geometry_msgs/msg/Pose"](point(*at.position[i]), quaternion(*turn))
            wrench = make["geometry_msgs/msg/Wrench"](vector(0.0, 0.0, -100.0), vector(0.0, 0.0, 0.0))
            messages = [
                make[types[0]](head, list(robot.joints), q[i], np.zeros(6), np.full(6, 5.0)),
                make[types[1]](head, pose), make[types[2]](head, wrench),
            ]  # fmt: skip
            for connection, message, name in zip(topics, messages, types, strict=True):
                raw = store.serialize_ros1(message, name) if ros1 else store.serialize_cdr(message, name)
                writer.write(connection, nanoseconds, raw)
    if ros1:
        return path
    return next(p for p in path.iterdir() if p.suffix == (".mcap" if kind == "mcap" else ".db3"))


def test_dwells_are_found_by_their_spread() -> None:
    time, q = recording()
    found = dwells(time, q, np.full(6, 1e-4), 1.0)
    assert len(found) == 3
    for dwell, stop in zip(found, STOPS, strict=True):
        np.testing.assert_allclose(np.median(q[dwell.rows], axis=0), stop, atol=1e-6)
        assert dwell.last - dwell.first == pytest.approx(0.8 * 1.99, abs=0.02)


@pytest.mark.parametrize("kind", ["bag", "mcap", "sqlite3"])
def test_a_campaign_by_dwells(tmp_path: Path, kind: str) -> None:
    file = write(tmp_path / ("run.bag" if kind == "bag" else "run"), kind)
    text = (
        f"format: elastocal-campaign/1\nname: bag\nrobot: {ROBOT}\nmeasurement: position\nmarkers: [tool]\n"
        f"table: {{file: {file.relative_to(tmp_path).as_posix()}, format: ros-bag}}\n"
        "errors:\n  - {kind: reading, sd_um: 20, turn_sd_urad: 20}\n"
    )
    (tmp_path / "campaign.yaml").write_text(text)
    found = read_campaign(tmp_path / "campaign.yaml")
    robot = read_robot(ROBOT)
    at = kinematics(robot, STOPS)
    read = np.asarray(found.campaign.readings).reshape(3, -1)
    np.testing.assert_allclose(read[:, :3], at.position, atol=1e-5)
    assert any("3 dwells" in note for note in found.notes)
    bare = observed_tables([file], ROBOT, {})
    np.testing.assert_allclose(bare.readings.read["position"][:, 0], at.position, atol=1e-5)
    assert isinstance(bare.load, AppliedWrenches)
    np.testing.assert_allclose(bare.load.wrench, [[0, 0, -100.0, 0, 0, 0]] * 3)


def test_a_log_of_efforts(tmp_path: Path) -> None:
    robot = read_robot(ROBOT)
    log = read_log(write(tmp_path / "run", "mcap"), robot)
    assert log.q.shape == (len(recording()[0]), 6)
    np.testing.assert_allclose(log.torque, 5.0)
    other = read_log(tmp_path / "run", read_robot("kuka-kr270"))
    np.testing.assert_array_equal(other.q, log.q)
    assert "axis1 is joint A1, axis2 is joint A2" in other.notes[-1]
    with refused("other-joints", "T", file="run"):
        read_log(tmp_path / "run", read_robot("iiwa14-on-track"))


def test_wrong_bags_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.mcap").write_bytes(b"not a bag at all")
    (tmp_path / "b.bag").write_bytes(b"#ROSBAG V2.0\nbroken")
    for name in ("a.mcap", "b.bag"):
        with refused("not-a-bag", file=name):
            read_log(tmp_path / name, read_robot(ROBOT))
