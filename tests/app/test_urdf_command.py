"""The command that writes corrected origins, checked by reading the file with Pinocchio."""

import numpy as np
import pinocchio
from scipy.spatial.transform import Rotation

ARM = """<?xml version="1.0"?>
<!-- kept -->
<robot name="arm"><link name="a"/><link name="b"/><link name="c"/>
  <joint name="j1" type="revolute"><parent link="a"/><child link="b"/>
    <origin xyz="0.1 0 0.3" rpy="0.2 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="j2" type="revolute"><parent link="b"/><child link="c"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <gazebo reference="b"/>
</robot>
"""


def test_origins_move_in_the_joints_own_axes(run, tmp_path):
    source, target = tmp_path / "arm.urdf", tmp_path / "new.urdf"
    source.write_text(ARM)
    done = run("urdf", source, target, "--shift", "j1:y=2mm,rx=10mrad", "--shift", "j2:x=-500um,rz=1deg", "--json")
    assert done.code == 0, done.err
    assert done.data
    model = pinocchio.buildModelFromUrdf(str(target))
    turn = Rotation.from_euler("x", 0.2)
    np.testing.assert_allclose(
        model.jointPlacements[1].translation, [0.1, 0.002 * np.cos(0.2), 0.3 + 0.002 * np.sin(0.2)], atol=1e-12
    )
    np.testing.assert_allclose(
        model.jointPlacements[1].rotation, (turn * Rotation.from_euler("x", 0.01)).as_matrix(), atol=1e-12
    )
    np.testing.assert_allclose(model.jointPlacements[2].translation, [-0.0005, 0, 0], atol=1e-15)
    np.testing.assert_allclose(model.jointPlacements[2].rotation, Rotation.from_euler("z", 1, True).as_matrix())
    text = target.read_text()
    assert "<!-- kept -->" in text
    assert '<gazebo reference="b"/>' in text


def test_wrong_shifts_write_nothing(run, tmp_path):
    source, target = tmp_path / "arm.urdf", tmp_path / "new.urdf"
    source.write_text(ARM)
    for shift, words in [("j9:x=1mm", "did you mean"), ("j1:x=1deg", "not understood"), ("j1", "not understood")]:
        done = run("urdf", source, target, "--shift", shift)
        assert done.code == 2
        assert words in done.err
        assert len(done.err.strip().splitlines()) == 1
        assert not target.exists()
    assert run("urdf", source, source, "--shift", "j1:x=1mm").code == 2
    assert source.read_text() == ARM
