"""ABB programs: every axis value as on the pendant, one stop for each thing to do, read back by the RAPID reader."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
from oracle.refusals import refused

from elastocal.app.plan_files import measuring_program
from elastocal.compensation.posts.post import START, language
from elastocal.compensation.posts.rapid import Rapid
from elastocal.design.method import Stop
from elastocal.files.located import parse_yaml
from elastocal.files.robot.file import build_robot
from elastocal.files.robot.read import read_robot
from elastocal.files.robot.write import robot_text
from elastocal.model.robot import Robot

ARM = """\
format: elastocal-robot/1
name: arm
title: {title}
source: written for a test
joints:
  - {{name: J1, type: revolute, parent: base, xyz_mm: [0, 0, 780], axis: [0, 0, 1], limits_deg: [-170, 170]}}
  - {{name: J2, type: revolute, xyz_mm: [320, 0, 0], axis: [0, 1, 0], limits_deg: [-65, 85]}}
  - {{name: J3, type: revolute, xyz_mm: [0, 0, 1125], axis: [0, 1, 0], limits_deg: [-180, 70]}}
  - {{name: J4, type: revolute, xyz_mm: [0, 0, 200], axis: [1, 0, 0], limits_deg: [-300, 300]}}
  - {{name: J5, type: revolute, xyz_mm: [1142.5, 0, 0], axis: [0, 1, 0], limits_deg: [-130, 130]}}
  - {{name: J6, type: revolute, axis: [1, 0, 0], limits_deg: [-360, 360]}}
  - {{name: flange, xyz_mm: [200, 0, 0], rpy_deg: [0, 90, 0]}}
  - {{name: spindle, xyz_mm: [0, 0, 300]}}
tool: spindle
controller: {{{controller}}}
elements:
  - {{kind: joint_compliance, joint: J2, k_urad_per_Nm: 2}}
"""
Q = np.radians([10.0, 20, -30, 40, 50, -60])


def arm(title: str = "six axes", controller: str = "language: rapid") -> Robot:
    return build_robot(parse_yaml(ARM.format(title=title, controller=controller), "arm.yaml"))


def test_the_program_drives_to_the_pendants_values_and_stops_for_every_sentence() -> None:
    model = arm(controller="language: rapid, sign: {J3: -1}, zero_deg: {J1: 5}")
    stops = [Stop(Q, ('put on "60 kg"', "read \\ twice")), Stop(0.5 * Q, note="back")]
    ((name, text),) = Rapid().measuring_program("my plan", model, stops, ("careful",), 2.5).items()
    assert name == "my_plan.mod"
    program = Rapid().read({name: text.encode("ascii")})
    assert not program.skipped
    assert [t.kind for t in program.targets] == ["joints", "joints"]
    np.testing.assert_allclose(np.degrees(program.joints), [[15, 20, 30, 40, 50, -60], [10, 10, 15, 20, 25, -30]])
    lines = [line.strip() for line in text.split("\r\n") if line]
    assert lines[:2] == ["MODULE my_plan", "! careful"]
    assert lines[2] == "! tool0 has no load: state the load carried (loaddata, GripLoad) before running,"
    acts = [line for line in lines if re.match(r"MoveAbsJ|WaitTime|TPWrite|Stop", line)]
    assert acts == [
        f'TPWrite "{START}";', "Stop;",
        r"MoveAbsJ jm01\NoEOffs,v50,fine,tool0;", "WaitTime 2.5;", 'TPWrite "put on 60 kg";', "Stop;",
        'TPWrite "read  twice";', "Stop;", r"MoveAbsJ jm02\NoEOffs,v200,fine,tool0;", "WaitTime 2.5;",
    ]  # fmt: skip
    assert lines[-2:] == ["ENDPROC", "ENDMODULE"]


def test_long_sentences_are_said_whole() -> None:
    long = " ".join(f"word{i:02d}" for i in range(30))
    text = Rapid().measuring_program("p", arm(), [Stop(Q, (long, "read"), note=long)], (long,), 1)["p.mod"]
    messages = re.findall(r'TPWrite "(.*)";', text)
    assert " ".join(messages) == f"{START} {long} read"
    assert max(len(m) for m in messages) <= 80 < len(long)
    assert text.count("Stop;") == 3
    comments = " ".join(re.findall(r"! (.*)\r", text))
    assert comments.count(long) == 2


def test_a_module_is_not_called_like_a_word_of_the_language() -> None:
    assert list(Rapid().measuring_program("test", arm(), [], (), 1)) == ["P_test.mod"]
    assert list(Rapid().measuring_program("tests", arm(), [], (), 1)) == ["tests.mod"]


def test_the_robot_file_says_which_language() -> None:
    own, kuka = "axes: [J1, J2, J3, J4, J5, J6]", "axes: [A1, A2, A3, A4, A5, A6]"
    for title, controller, spoken in (
        ("six axes", "language: rapid", "rapid"),
        ("six axes", f"language: rapid, {kuka}", "rapid"),
        ("ABB IRB 6640", f"language: krl, {kuka}", "krl"),
        ("ABB IRB 6640", own, "rapid"),
        ("ABB IRB 6640", kuka, "rapid"),
        ("my_irb6640_right", kuka, "rapid"),
        ("six axes", kuka, "krl"),
        ("cabbage of Irbid", own, ""),
        ("KUKA iiwa", own, ""),
    ):
        assert language(arm(title, controller)) == spoken, (title, controller)
    assert language(read_robot("kuka-kr270")) == "krl"
    assert language(replace(arm(controller=kuka), name="abb-irb-6640")) == "rapid"
    assert build_robot(parse_yaml(robot_text(arm()), "again")).controller.language == "rapid"
    with refused("range", "basic", file="arm.yaml", line=15, column="controller.language"):
        arm(controller="language: basic")


def test_what_is_written_or_why_not() -> None:
    stops = (Stop(Q, ("read",)),)
    silent = arm(controller="axes: [J1, J2, J3, J4, J5, J6]")
    assert list(measuring_program("p", arm(), stops)[0]) == ["p.mod"]
    assert list(measuring_program("p", read_robot("kuka-kr270"), stops)[0]) == ["p.src", "p.dat"]
    both = arm("ABB IRB 6640", "axes: [A1, A2, A3, A4, A5, A6]")
    assert list(measuring_program("p", both, stops)[0]) == ["p.mod"]
    for model, halts, why in (
        (silent, stops, "language: krl"),
        (arm(controller="language: krl"), stops, "not J1"),
        (arm(), (replace(stops[0], speed=5.0),), "sweeps"),
    ):
        texts, (said,) = measuring_program("p", model, halts)
        assert not texts
        assert said.startswith("No measuring program is written: ")
        assert why in said
