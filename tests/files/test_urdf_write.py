"""Origins written back: only what changed changes, everything else byte for byte."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.files.robot.export import write_origins
from elastocal.files.robot.urdf import read_links, read_urdf
from elastocal.files.robot.urdf_tags import document
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import rpy_matrix

MED7 = Path(__file__).resolve().parents[3] / "shared" / "data" / "kuka-med7" / "med7_nomesh.urdf"
needs_med7 = pytest.mark.skipif(not MED7.exists(), reason="../shared/data/kuka-med7 is not beside the repository")

# odd but legal: both quotes, > in an attribute, tags in comments and CDATA, a name with an entity, joints elsewhere
SOURCE = """<?xml version='1.0'  encoding="{encoding}" ?>
<!-- <joint name="swing"><origin xyz="9 9 9"/></joint> Größe -->
<robot  name="arm" xmlns:gz="http://gz">
\t<link name="a"/><link name="b"/><link name="c"/><link name="d"/>
  <gazebo reference="a>b"><joint name="swing"><origin xyz="8 8 8"/></joint></gazebo>
  <gz:joint name="swing"><origin xyz="7 7 7"/></gz:joint>
  <note><![CDATA[ <joint name="swing"><origin xyz="6 6 6"/></joint> ]]></note>
  <joint name="swing"   type="revolute" >
    <!-- <origin xyz="5 5 5"/> -->
    <origin rpy = '0 0  0.5'
            xyz="0.10 0.20 3e-1" />
    <parent link="a"/><child link="b"/>
  </joint>
  <joint name="nod" type="fixed">
    <parent link="b"/><child link="c"/><calibration><origin xyz="4 4 4"/></calibration>
  </joint>
  <joint type="fixed" name="a&amp;b"><origin xyz='1 2 3'></origin><parent link="c"/><child link="d"/></joint>
  <ros2_control name="x"><joint name="nod"><origin xyz="3 3 3"/></joint></ros2_control>
</robot>
<!-- end -->

"""


def saved(folder: Path, codec: str = "utf-8", declared: str = "UTF-8", newline: str = "\n") -> Path:
    path = folder / "arm.urdf"
    path.write_bytes(encoded(SOURCE, codec, declared, newline))
    return path


def encoded(text: str, codec: str, declared: str, newline: str) -> bytes:
    mark = "\ufeff" if codec in ("utf-16-le", "utf-16-be") else ""
    return (mark + text.replace("{encoding}", declared).replace("\n", newline)).encode(codec)


def poses(path: Path) -> dict[str, Pose]:
    return {joint.name: joint.pose for joint in read_links(document(path)).joints}


NEW = {
    "swing": Pose.from_xyz_rpy((0.10000000000000002, 0.2, -1 / 3), (0, 0, 0.5)),
    "nod": Pose.from_xyz_rpy((0, 0, 1e-7), (0.5, 0, 0)),
    "a&b": Pose.from_xyz_rpy((1, 2, 3), (0, 0, 2)),
}
EDITED = (
    SOURCE.replace('"0.10 0.20 3e-1"', '"0.10000000000000002 0.2 -0.3333333333333333"')
    .replace(
        '<joint name="nod" type="fixed">\n    ',
        '<joint name="nod" type="fixed">\n    <origin xyz="0.0 0.0 1e-07" rpy="0.5 0.0 0.0"/>\n    ',
    )
    .replace("xyz='1 2 3'>", "xyz='1 2 3' rpy=\"0.0 0.0 2.0\">")
)


@pytest.mark.parametrize(
    ("codec", "declared", "newline"),
    [
        ("utf-8", "UTF-8", "\n"),
        ("utf-8", "UTF-8", "\r\n"),
        ("utf-8-sig", "utf-8", "\n"),
        ("iso-8859-1", "ISO-8859-1", "\n"),
        ("utf-16-le", "UTF-16", "\r\n"),
        ("utf-16-be", "UTF-16", "\n"),
    ],
)
def test_only_the_named_attributes_change(tmp_path: Path, codec: str, declared: str, newline: str) -> None:
    source, target = saved(tmp_path, codec, declared, newline), tmp_path / "new.urdf"
    before = source.read_bytes()
    write_origins(source, target, NEW)
    assert target.read_bytes() == encoded(EDITED, codec, declared, newline)
    assert source.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["arm.urdf", "new.urdf"]


def test_utf_16_needs_no_declaration(tmp_path: Path) -> None:
    source = saved(tmp_path)
    head = "<?xml version='1.0'  encoding=\"{encoding}\" ?>\n"
    source.write_bytes(encoded(SOURCE.removeprefix(head), "utf-16-le", "", "\n"))
    write_origins(source, source, NEW)
    assert source.read_bytes() == encoded(EDITED.removeprefix(head), "utf-16-le", "", "\n")


def test_unchanged_poses_leave_the_file_byte_identical(tmp_path: Path) -> None:
    source, target = saved(tmp_path, newline="\r\n"), tmp_path / "new.urdf"
    same = {name: Pose(pose.rotation, pose.translation + 5e-16) for name, pose in poses(source).items()}
    assert len(same) == 3
    write_origins(source, target, same)
    assert target.read_bytes() == source.read_bytes()
    write_origins(source, target, {})
    assert target.read_bytes() == source.read_bytes()


def test_in_place(tmp_path: Path) -> None:
    source = saved(tmp_path)
    os.chmod(source, 0o640)
    write_origins(source, source, NEW)
    assert source.read_bytes() == EDITED.replace("{encoding}", "UTF-8").encode()
    if os.name == "posix":
        assert stat.S_IMODE(source.stat().st_mode) == 0o640
    once = source.read_bytes()
    write_origins(source, source, NEW)
    assert source.read_bytes() == once


@needs_med7
def test_med7_keeps_all_other_lines(tmp_path: Path) -> None:
    target = tmp_path / "med7.urdf"
    old = poses(MED7)
    write_origins(MED7, target, old)
    assert target.read_bytes() == MED7.read_bytes()
    move = Pose.from_xyz_rpy((1e-4, -2e-4, 3e-4), (1e-3, 2e-3, -3e-3))
    new = {name: old[name] @ move for name in ("world_joint", "A3", "A7", "joint_shaft")}
    write_origins(MED7, target, new)
    before, after = MED7.read_text().splitlines(), target.read_text().splitlines()
    changed = [line for line in after if line not in before]
    assert len(changed) == 4
    assert len(after) == len(before) + 1
    got = poses(target)
    for name in old:
        np.testing.assert_allclose(got[name].matrix(), new.get(name, old[name]).matrix(), rtol=0, atol=1e-15)
    tool = read_urdf(target).model.tree.frame("link_shaft").pose
    np.testing.assert_allclose(tool.matrix(), new["joint_shaft"].matrix(), rtol=0, atol=1e-15)


@pytest.mark.parametrize("pitch", [0.3, -1.2, np.pi / 2, -np.pi / 2, 1.5708, 1.5707963267, np.pi / 2 - 1e-9, 2.5])
def test_angles_come_back_at_any_pitch(tmp_path: Path, pitch: float) -> None:
    source, target = saved(tmp_path), tmp_path / "new.urdf"
    for roll, yaw in ((0.7, -2.1), (3.1, 0.4), (0.0, 1.0)):
        pose = Pose(rpy_matrix(roll, pitch, yaw), (1, 2, 3))
        write_origins(source, target, {"swing": pose})
        np.testing.assert_allclose(poses(target)["swing"].rotation, pose.rotation, rtol=0, atol=1e-15)


def bad_poses() -> dict[str, Pose]:
    return {
        "nan": Pose(translation=(0, np.nan, 0)),
        "nan turn": Pose(rotation=np.full((3, 3), np.nan)),
        "scaled": Pose(rotation=1.01 * np.eye(3)),
        "mirror": Pose(rotation=np.diag([1, 1, -1])),
    }


@pytest.mark.parametrize("case", bad_poses())
def test_a_pose_that_is_none_writes_nothing(tmp_path: Path, case: str) -> None:
    source, target = saved(tmp_path), tmp_path / "new.urdf"
    with refused("number", "nod"):
        write_origins(source, target, {"swing": NEW["swing"], "nod": bad_poses()[case]})
    assert not target.exists()


def test_an_unknown_joint_writes_nothing(tmp_path: Path) -> None:
    source, target = saved(tmp_path), tmp_path / "new.urdf"
    target.write_text("old")
    with refused("unknown-joint", "swng", nearest="swing"):
        write_origins(source, target, {"nod": NEW["nod"], "swng": NEW["swing"]})
    assert target.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_failing_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = saved(tmp_path), tmp_path / "new.urdf"
    target.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with refused("file", "No space left on device", file="new.urdf"):
        write_origins(source, target, NEW)
    assert target.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_missing_folder_is_said_so(tmp_path: Path) -> None:
    with refused("file", "No such file or directory", file="new.urdf"):
        write_origins(saved(tmp_path), tmp_path / "none" / "new.urdf", NEW)


def test_markup_that_cannot_be_edited_in_place_is_refused(tmp_path: Path) -> None:
    # a joint of another vocabulary looks like a URDF joint in the text, not to the parser
    source, target = saved(tmp_path), tmp_path / "new.urdf"
    text = source.read_text().replace("<note>", '<joint xmlns="http://other"><origin xyz="1 1 1"/></joint><note>')
    source.write_text(text)
    with refused("format", "swing"):
        write_origins(source, target, NEW)
    assert not target.exists()
