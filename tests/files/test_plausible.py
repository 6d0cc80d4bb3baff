"""Robot files with numbers that no robot has are refused at their place, whatever the format."""

from __future__ import annotations

from pathlib import Path

import pytest

from elastocal.errors import InputError
from elastocal.files.robot.read import read_robot, shipped_robots

YAML = """\
format: elastocal-robot/1
name: arm
source: written for a test
gravity_m_s2: [0, 0, -9.81]
joints:
  - {name: J, type: revolute, axis: [0, 1, 0], xyz_mm: [0, 0, 400]}
frames:
  - {name: tip, xyz_m: [1, 0, 0]}
elements:
  - {kind: link_mass, frame: J, mass_kg: 20, com_mm: [500, 0, 0]}
"""
URDF = """\
<robot name="arm">
<link name="a"/>
<link name="b"><inertial><origin xyz="0.5 0 0"/><mass value="20"/>
<inertia ixx="0.5" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<link name="c"/>
<joint name="J" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 0.4"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="K" type="fixed"><parent link="b"/><child link="c"/><origin xyz="1 0 0"/></joint>
</robot>
"""


@pytest.mark.parametrize(
    ("text", "old", "new", "said"),
    [
        (YAML, "com_mm: [500", "com_m: [500", "line 10, elements[1]: a centre of mass 500 m from its frame"),
        (YAML, "mass_kg: 20,", "mass_kg: 20000000,", "line 10, elements[1]: a mass of 2e+07 kg"),
        (YAML, "xyz_mm: [0, 0, 400]", "xyz_m: [0, 0, 400]", "line 6, joints[1]: J lies 400 m from the frame before"),
        (YAML, "xyz_m: [1,", "xyz_m: [1000,", "line 8, frames[1]: tip lies 1000 m"),
        (YAML, "-9.81]", "-9810]", "line 4, gravity_m_s2: gravity of 9810 m/s2"),
        (URDF, 'xyz="0.5 0', 'xyz="500 0', "line 3, <inertial> of <link> 'b': a centre of mass 500 m"),
        (URDF, '"20"', '"2e7"', "line 3, <inertial> of <link> 'b': a mass of 2e+07 kg"),
        (URDF, 'xyz="1 0', 'xyz="1000 0', "line 8, <origin> of <joint> 'K': lies 1000 m"),
        (URDF, 'ixx="0.5"', 'ixx="-0.5"', "<link> 'b': has a negative principal moment of inertia, -0.5"),
        (URDF, 'izz="1"', 'izz="4"', "<link> 'b': principal moments of inertia 0.5, 1, 4 kg m2: the largest exceeds"),
        (URDF, 'izz="1"', 'izz="1e9"', "radius of gyration"),
        (URDF, 'ixx="0.5"', 'ixx="nan"', "not a finite number"),
    ],
)
def test_numbers_that_no_robot_has(tmp_path: Path, text: str, old: str, new: str, said: str) -> None:
    path = tmp_path / ("arm.yaml" if text is YAML else "arm.urdf")
    path.write_text(text)
    read_robot(path)
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(InputError) as caught:
        read_robot(path)
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_an_inertia_that_is_nearly_right_is_noted(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(URDF.replace('izz="1"', 'izz="1.6"'))
    notes = " ".join(read_robot(tmp_path / "arm.urdf").notes)
    assert "link 'b': principal moments of inertia 0.5, 1, 1.6 kg m2" in notes


@pytest.mark.parametrize("name", shipped_robots())
def test_shipped_robots_are_plausible(name: str) -> None:
    read_robot(name)
