"""Start values by size: finite, positive, near published ones, marked as assumed, never over known ones."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.files.located import parse_yaml
from elastocal.files.robot.file import build_robot
from elastocal.files.robot.read import read_robot, shipped_robots
from elastocal.files.robot.write import robot_text
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.start_values import bending, mass_of, rated_payload_of, with_joint_compliance
from elastocal.model.statics.deflection import linear_deflection
from elastocal.robots.sizes import ARMS

MOVING = tuple(name for name in shipped_robots() if read_robot(name).n)
SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
REAL = {
    "talos/talos_full_v2.urdf": "gripper_left_base_link",
    "tiago/tiago_no_hand.urdf": None,
    "ur10/ur10_robot.urdf": "wrist_3_link",
    "staubli-tx40/tx40_mdh_modified.urdf": None,
    "kuka-med7/med7_nomesh.urdf": None,
}


def compliances(model: Robot) -> dict[str, float]:
    return {e.joint: e.k for e in model.elements if isinstance(e, JointCompliance)}


def test_the_published_robot_is_met_within_a_factor_of_two() -> None:
    robot = read_robot("kuka-kr270", tool="flange")
    known = compliances(robot)
    found = compliances(robot.nominal.with_joint_compliance(rated_payload=270))
    for joint in ("A2", "A3", "A4", "A5", "A6"):
        assert 0.45 < found[joint] / known[joint] < 2.2
    masses = {e.frame: e.mass for e in robot.elements if isinstance(e, LinkMass) and e.kind == "link_mass"}
    moving = sum(m for frame, m in masses.items() if frame != "link0_end")
    added = [e.mass for e in robot.nominal.with_masses(mass=sum(masses.values())).elements if isinstance(e, LinkMass)]
    assert sum(added) == pytest.approx(moving, rel=0.01)
    assert all(a > b for a, b in pairwise(added[:4]))


@pytest.mark.parametrize("name", MOVING)
def test_any_bare_robot_gets_usable_numbers(name: str) -> None:
    bare = read_robot(name).nominal
    before: dict[str, float] | None = None
    for payload in (1.0, 3.0, 10.0, 60.0, 270.0, 800.0):
        model = bare.with_joint_compliance(rated_payload=payload)
        k = compliances(model)
        assert set(k) == set(bare.joints)
        assert all(np.isfinite(v) and v > 0 for v in k.values())
        assert before is None or all(k[j] < before[j] for j in k)
        before = k
    ready = bare.with_masses().with_joint_compliance()
    assert all(e.status == "assumed" and e.source for e in ready.elements)
    assert sum(isinstance(e, LinkMass) and e.mass > 0 for e in ready.elements) == bare.n
    load = AppliedWrenches(ready.tool, [0, 0, -10, 0, 0, 0])
    bend = linear_deflection(ready, np.full((1, bare.n), 0.3), [load]).translation
    assert np.all(np.isfinite(bend))
    again = build_robot(parse_yaml(robot_text(ready), "again.yaml"))
    assert [e.status for e in again.elements] == ["assumed"] * len(ready.elements)


@pytest.mark.skipif(not SHARED.exists(), reason="../shared/data is not beside the repository")
@pytest.mark.parametrize("file", REAL)
def test_real_robots_get_usable_numbers(file: str) -> None:
    robot = read_robot(SHARED / file, REAL[file]).with_joint_compliance(rated_payload=7)
    values = [k for j, k in compliances(robot).items() if robot.tree.joint(j).kind == "revolute"]
    assert all(1e-6 < k < 1e-2 for k in values)


def test_known_numbers_stay_and_zeros_are_replaced() -> None:
    robot = read_robot("kuka-kr270")
    zero = tuple(replace(e, k=0.0) if isinstance(e, JointCompliance) and e.joint == "A3" else e for e in robot.elements)
    robot = replace(robot, elements=zero)
    new = robot.with_joint_compliance(rated_payload=270)
    assert {j: k for j, k in compliances(new).items() if j != "A3"} == {
        j: k for j, k in compliances(robot).items() if j != "A3"
    }
    assert compliances(new)["A3"] > 0
    assert robot.with_masses(270).elements == robot.elements
    assert read_robot("kuka-kr5").with_joint_compliance(5).elements == read_robot("kuka-kr5").elements


def test_a_heavier_arm_of_the_same_payload_is_stiffer() -> None:
    bare = read_robot("kuka-kr5").nominal
    light, heavy = (compliances(bare.with_joint_compliance(5, mass=m)) for m in (30.0, 130.0))
    assert all(heavy[j] < light[j] for j in light)


def test_sizes_follow_the_table() -> None:
    ratios = [mass_of(p, r) / m for _, p, r, m in ARMS]
    assert min(ratios) > 0.5
    assert max(ratios) < 2
    assert rated_payload_of(0.6) < rated_payload_of(1.4) < rated_payload_of(2.7)


@pytest.mark.parametrize("payload", [0.0, -3.0, float("nan")])
def test_a_payload_that_is_none_is_refused(payload: float) -> None:
    with refused("range", ("rated_payload", payload)):
        read_robot("kuka-kr5").nominal.with_joint_compliance(payload)


def test_a_tool_that_no_joint_moves_is_refused() -> None:
    with refused("unobservable", ("orthoglide-link", "tip")):
        read_robot("orthoglide-link").with_masses()


def test_a_rigid_file_gets_start_values_and_says_so():
    rigid = read_robot("kuka-kr270").nominal
    made = bending(rigid)
    known = with_joint_compliance(rigid)
    assert [e.k for e in made.elements] == [e.k for e in known.elements]
    assert all(e.k > 0 and e.status == "assumed" for e in made.elements)
    assert len(made.notes) == len(rigid.notes) + 1
    assert all(f"{j}.k" in made.notes[-1] for j in rigid.joints)
    soft = read_robot("kuka-kr270")
    assert bending(soft) is soft
