"""Mistakes of a first-time user in a robot file: one sentence with file, line, key, value, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from oracle.refusals import refused

from elastocal.errors import InputError
from elastocal.files.located import parse_yaml
from elastocal.files.robot.file import build_robot
from elastocal.files.robot.read import read_robot

HEAD = "format: elastocal-robot/1\nname: arm\nsource: test\n"
JOINTS = """\
joints:
  - {name: J, type: revolute, axis: [0, 0, 1], limits_deg: [-90, 90]}
  - {name: Z, type: prismatic, axis: [0, 0, 1], xyz_mm: [100, 0, 0]}
  - {name: tip, xyz_mm: [500, 0, 0]}
"""
DH = "dh:\n  convention: standard\n  rows:\n    - {name: J, d_mm: 300}\n"


def sentence(text: str) -> str:
    with pytest.raises(InputError) as caught:
        build_robot(parse_yaml(text, "arm.yaml"))
    said = str(caught.value)
    assert "\n" not in said
    assert said.startswith("arm.yaml")
    return said


def element(words: str) -> str:
    """The complaint about one element, which stands in line 9."""
    return sentence(f"{HEAD}{JOINTS}elements:\n  - {{{words}}}\n")


def test_the_examples_are_right_before_they_are_spoilt() -> None:
    assert build_robot(parse_yaml(HEAD + JOINTS, "arm.yaml")).joints == ("J", "Z")
    assert build_robot(parse_yaml(HEAD + DH, "arm.yaml")).joints == ("J",)


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("d_cm: 18", "d_cm: unit cm is not known for d; use d_m, d_mm, d_um or d_in"),
        ("d_deg: 18", "d_deg: d is a length, but deg is a unit of angle; use d_m, d_mm, d_um or d_in"),
        ("alpha_mm: 18", "alpha is an angle, but mm is a unit of length; use alpha_rad, alpha_deg"),
        ("d: 18", "d: has no unit; write d_m, d_mm, d_um or d_in, or declare 'length' under units"),
        (
            "limits_grad: [0, 1]",
            "unit grad is not known for limits; use limits_rad, limits_deg, limits_mrad or limits_",
        ),
        ("limits_mm: [0, 1]", "unit mm does not fit a revolute joint; use limits_rad, limits_deg"),
        ("limits_kg: [0, 1]", "limits is an angle, but kg is a unit of mass"),
    ],
)
def test_units(key: str, said: str) -> None:
    got = sentence(HEAD + DH.replace("d_mm: 300", key))
    assert got.startswith("arm.yaml, line 7, dh.rows[1]." + key.partition(":")[0])
    assert said in got
    assert "did you mean" not in got


def test_units_of_elements_fit_their_joint() -> None:
    joint = "kind: joint_compliance, joint: J"
    got = element(f"{joint}, k_rad_per_nm: 1")
    assert "did you mean 'k_rad_per_Nm'?" in got
    assert "m_per_N," not in got
    assert "'k_rad_per_Nm' is missing" in element(joint)
    assert "'k_m_per_N' is missing" in element("kind: joint_compliance, joint: Z")


@pytest.mark.parametrize(
    ("joint", "key", "write"),
    [
        ("J", "k_Nm_per_rad: 33000", "write k_rad_per_Nm: 3.0303e-05"),
        ("J", "k_kNm_per_rad: 33", "write k_rad_per_Nm: 3.0303e-05"),
        ("J", "k_Nm_per_deg: 500", "write k_rad_per_Nm: 3.4907e-05"),
        ("J", "stiffness_Nm/rad: 33000", "write k_rad_per_Nm: 3.0303e-05"),
        ("Z", "k_N_per_m: 2.0e+7", "write k_m_per_N: 5e-08"),
        ("Z", "k_N_per_um: 20", "write k_m_per_N: 5e-08"),
        ("Z", "k_N_per_um: 0", "write its inverse as k_m_per_N"),
    ],
)
def test_a_stiffness_is_inverted(joint: str, key: str, write: str) -> None:
    got = element(f"kind: joint_compliance, joint: {joint}, {key}")
    assert f"line 9, elements[1].{key.partition(':')[0]}: " in got
    assert "unit of a stiffness" in got
    assert got.endswith(write)


def test_stiffnesses_of_motors_are_a_list() -> None:
    got = element("kind: motor_compliance, joints: [J], structure: [[1]], k_Nm_per_rad: [100, 200]")
    assert got.endswith("write k_rad_per_Nm: [0.01, 0.005]")


def test_valid_keys_show_what_fits() -> None:
    joint = sentence(HEAD + JOINTS.replace("limits_deg", "range"))
    assert "xyz_mm, rpy_deg, axis, limits_deg, follows, ratio, offset_deg" in joint
    lift = sentence(HEAD + JOINTS.replace("xyz_mm: [100", "range: [100"))
    assert "limits_mm" in lift
    assert "limits_deg" not in lift
    assert "did you mean 'k_m_per_N'?" in element("kind: joint_compliance, joint: Z, kk_m_per_N: 1")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[-90, 90]", "[90, -90]", "line 5, joints[1].limits_deg: lower limit 90 is not below -90"),
        ("name: tip", "name: J", "line 7, joints[3].name: 'J' is the name of line 5 already"),
        ("name: tip", "name: base", "joints[3].name: 'base' is the name of the fixed end"),
        ("name: Z,", "name: Z, parent: tip,", "line 6, joints[2].parent: 'tip' comes later or closes a loop"),
        ("name: tip", "name: tip, parent: JJ", "joints[3].parent: there is no frame 'JJ'; did you mean 'J'?"),
        ("axis: [0, 0, 1], l", "axis: [0, 0, 0], l", "line 5, joints[1].axis: [0, 0, 0] has no direction"),
        (
            "name: Z,",
            "name: Z, follows: K,",
            "line 6, joints[2].follows: there is no joint with a value of its own 'K'",
        ),
        ("name: Z,", "name: Z, offset_mm: 3,", "line 6, joints[2].offset_mm: belongs to a joint that follows another"),
        ("name: Z,", "name: Z, parent: base,", "line 6, joints[2]: frame 'Z' moves but does not lie on the path"),
        ("name: tip", "name: 5", "line 7, joints[3].name: 5 does not fit; write text, in quotes"),
        ("[500, 0, 0]", "5", "joints[3].xyz_mm: 5 does not fit; write a list, such as [0, 0, 1]"),
        ("prismatic", "linear", "joints[2].type: 'linear' does not fit; write 'revolute', 'prismatic' or 'fixed'"),
    ],
)
def test_what_the_model_refuses_has_a_line(old: str, new: str, said: str) -> None:
    text = HEAD + JOINTS.replace(old, new, 1)
    assert text != HEAD + JOINTS
    got = sentence(text)
    assert said in got
    assert "line " in got


def test_an_unknown_tool() -> None:
    assert sentence(f"{HEAD}{JOINTS}tool: tpi\n").startswith(
        "arm.yaml, line 8, tool: there is no frame 'tpi'; did you mean 'tip'?"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("kind: joint_complience, joint: J", "line 9, elements[1].kind: there is no kind of element 'joint_compl"),
        ("joint: J", "line 9, elements[1]: an element needs a kind: foundation_compliance, frame_error"),
        ("kind: joint_compliance, joint: K, k_rad_per_Nm: 1", "line 9, elements[1].joint: there is no joint 'K'"),
        (
            "kind: link_mass, frame: tap, mass_kg: 1, com_mm: [0, 0, 0]",
            "line 9, elements[1].frame: there is no frame 'tap'",
        ),
        ("kind: joint_compliance, joint: J, k_urad_per_Nm: -33", "elements[1].k_urad_per_Nm: -33 must not be negative"),
        (
            "kind: link_mass, frame: tip, mass_g: -500, com_mm: [0, 0, 0]",
            "elements[1].mass_g: -500 must not be negative",
        ),
        ("kind: joint_backlash, joint: J, gap_mrad: -3.3", "elements[1].gap_mrad: -3.3 must not be negative"),
        ("kind: gripper_backlash, frame: tip, gap_um: [1, -3, 2]", "gap_um: [1, -3, 2] must not be negative"),
        ("kind: link_mass, frame: tip, mass_kg: 1, com_mm: [1, 2]", "com_mm: [1, 2] has too few values"),
        ("kind: link_mass, frame: tip, mass_kg: 1, com_mm: 5", "com_mm: 5 has the wrong form"),
        ("kind: link_compliance, frame: tip, entries_SI: 5", "entries_SI: 5 has the wrong form"),
        ("kind: link_compliance, frame: tip, entries_SI: {k77: 5}", "entries_SI: there is no element of the compl"),
        ("kind: wrench, frame: tip, force_kN: [1, 2]", "force_kN: [1, 2] has too few values"),
        ("kind: wrench, frame: tip, force_kN: [1,5, 2, 3]", "[1, 5, 2, 3] has more than 3 values; keep 3"),
        ("kind: joint_compliance, joint: J, k_rad_per_Nm: '33,5'", "'33,5' has a decimal comma; use a decimal point"),
        ("kind: joint_compliance, joint: J, k_rad_per_Nm: 33,05", "k_rad_per_Nm: 33,05 has a decimal comma; use a"),
        ("kind: link_compliance, frame: tip, entries_SI: {k11: 2,5}", "entries_SI.k11: 2,5 has a decimal comma"),
    ],
)
def test_elements(words: str, said: str) -> None:
    got = element(words)
    assert "line 9, elements[1]" in got
    assert said in got
    assert "99999" not in got


def test_a_controller_that_cannot_be() -> None:
    text = (
        f"{HEAD}{JOINTS}controller:\n  couplings: [{{joint: J, axis: Z, ratio: 1}}, {{joint: Z, axis: J, ratio: 1}}]\n"
    )
    assert sentence(text).startswith("arm.yaml, line 8, controller: signs and couplings make a singular map")


def test_a_second_compliance_names_both_lines() -> None:
    k = "  - {kind: joint_compliance, joint: J, k_rad_per_Nm: 1.0e-6}\n"
    got = sentence(f"{HEAD}{JOINTS}elements:\n{k}{k}")
    assert got.startswith("arm.yaml, line 10, elements[2]: gives J.k again (first in line 9)")
    motor = "  - {kind: motor_compliance, joints: [J], structure: [[2]], k_rad_per_Nm: [1.0e-6]}\n"
    assert "gives the compliance of J again" in sentence(f"{HEAD}{JOINTS}elements:\n{k}{motor}")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("convention:", "conventoin:", "line 5, dh.conventoin: is not a key here; did you mean 'convention'?"),
        ("  convention: standard\n", "", "dh.convention: is missing; it must be one of standard, modified, hayati"),
        ("standard", "craig", "line 5, dh.convention: 'craig' must be one of standard, modified, hayati"),
        ("d_mm: 300", "d_mm: 300, beta_deg: 0", "line 7, dh.rows[1].d_mm: 300: a hayati row has no d"),
        ("standard", "hayati", "line 7, dh.rows[1].d_mm: 300: a hayati row has no d"),
        ("d_mm: 300", "limits_deg: [9, 3]", "line 7, dh.rows[1].limits_deg: lower limit 9 is not below 3"),
    ],
)
def test_dh_tables(old: str, new: str, said: str) -> None:
    assert said in sentence(HEAD + DH.replace(old, new))


def test_beta_in_a_modified_table() -> None:
    text = HEAD + DH.replace("standard", "modified").replace("d_mm: 300", "beta_deg: 1")
    assert "line 7, dh.rows[1].beta_deg: belongs to the hayati form" in sentence(text)


def test_the_first_line_and_the_units() -> None:
    assert sentence("name: arm\n") == (
        "arm.yaml: the line 'format: elastocal-robot/1' is missing; a robot file starts with it"
    )
    assert "line 1, format: 'robot' is not known; write 'format: elastocal-robot/1'" in sentence("format: robot\n")
    got = sentence(HEAD + "units: {lenght: mm}\n" + JOINTS)
    assert got.startswith("arm.yaml, line 4, units.lenght: there is no dimension 'lenght'; did you mean 'length'?")
    assert "units.length: 'cm' is not a unit of it; use m, mm, um or in" in sentence(HEAD + "units: {length: cm}\n")


def test_beams_say_what_was_written() -> None:
    box = "section: {shape: box, width_mm: 100, height_mm: -80, wall_mm: 8}"
    beam = "kind: link_compliance, frame: tip, form: beam, beam: {{length_mm: {}, {}, E_GPa: 70, nu: 0.3}}"
    assert "beam.section.height_mm: -80 must be positive" in element(beam.format(800, box))
    assert "beam.length_mm: 0 must be positive" in element(beam.format(0, box.replace("-", "")))


@pytest.mark.parametrize("name", ["arm.yaml", "arm.urdf"])
def test_binary_and_empty_files(tmp_path: Path, name: str) -> None:
    from elastocal.files.robot.urdf import read_urdf

    path = tmp_path / name
    read = read_robot if name.endswith("yaml") else read_urdf
    path.write_bytes(b"PK\x03\x04\0\0binary\0")
    with refused("not-text", file=name):
        read(path)
    path.write_bytes(b"")
    with refused("empty", file=name):
        read(path)
    path.write_bytes(b"name: \x07\n")
    with refused(*(("control", "\x07") if name == "arm.yaml" else ("not-xml",))):
        read(path)
