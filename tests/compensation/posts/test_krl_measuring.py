"""KUKA programs: every axis value as on the pendant, one halt for each thing to do."""

from __future__ import annotations

import re

import numpy as np

from elastocal.compensation.posts.krl import Krl
from elastocal.compensation.posts.post import START, language, program_name
from elastocal.design.method import Stop
from elastocal.files.located import parse_yaml
from elastocal.files.robot.file import build_robot
from elastocal.files.robot.read import read_robot

TURNED = """\
format: elastocal-robot/1
name: turned
source: written for a test
joints:
  - {name: J1, type: revolute, axis: [0, 0, 1], limits_deg: [-180, 180]}
  - {name: J2, type: prismatic, axis: [1, 0, 0], limits_mm: [-500, 500]}
  - {name: tip, xyz_mm: [100, 0, 0]}
tool: tip
controller:
  axes: [A1, E1]
  sign: {A1: -1}
  zero_deg: {A1: 10}
"""


def test_axis_values_go_through_the_transmission() -> None:
    model = build_robot(parse_yaml(TURNED, "turned.yaml"))
    texts = Krl().measuring_program(
        "my plan", model, [Stop(np.array([np.radians(-20), 0.25]), ("read",))], ("note",), 3
    )
    assert set(texts) == {"my_plan.src", "my_plan.dat"}
    values = dict(re.findall(r"([AE]\d) (-?[\d.]+)", texts["my_plan.dat"]))
    assert {k: float(v) for k, v in values.items() if float(v)} == {"A1": 30.0, "E1": 250.0}
    assert len(values) == 12
    assert "DECL E6AXIS XM01={" in texts["my_plan.dat"]


def test_the_program_moves_waits_says_and_halts() -> None:
    model = read_robot("kuka-kr270")
    stops = [Stop(np.radians([0, -90, 90, 0, 30, 0]), ('put on "100 kg"', "read")), Stop(np.zeros(6), ())]
    text = Krl().measuring_program("p", model, stops, ("careful",), 2.5)["p.src"]
    lines = [line for line in text.split("\r\n") if line]
    assert lines[:3] == ["&ACCESS RVP", "DEF p( )", "; careful"]
    assert [k for k in lines if k.startswith("PTP")] == ["PTP XM01", "PTP XM02"]
    assert lines.count("WAIT SEC 2.5") == 2
    assert lines.count("HALT") == 3
    assert lines.index("HALT") < lines.index("PTP XM01")  # nothing moves before somebody says so
    assert lines[lines.index("PTP XM01") - 1] == "BAS(#VEL_PTP, 5)"
    assert 'MsgNotify("put on 100 kg")' in lines
    assert lines[-1] == "END"
    assert text.isascii()


def test_names_and_axes_that_a_kuka_takes() -> None:
    assert program_name("kr270 cell") == "kr270_cell"
    assert program_name("3. Zelle Süd") == "P_3__Zelle_S_d"
    assert [program_name(n) for n in ("aux", "COM1", "auxiliary")] == ["P_aux", "P_COM1", "auxiliary"]
    assert len(program_name("a" * 60)) == 24
    assert language(read_robot("kuka-kr270")) == "krl"
    assert language(read_robot("cylindrical")) == ""


def test_long_sentences_are_said_whole_before_one_halt() -> None:
    long = " ".join(f"word{i:02d}" for i in range(30))
    text = Krl().measuring_program("p", read_robot("kuka-kr270"), [Stop(np.zeros(6), (long,), note=long)], (long,), 1)[
        "p.src"
    ]
    messages = re.findall(r'MsgNotify\("(.*)"\)', text)
    assert " ".join(messages) == f"{START} {long}"
    assert max(len(m) for m in messages) <= 80 < len(long)
    assert text.count("HALT") == 2
    assert " ".join(re.findall(r"; (.*)\r", text)).count(long) == 2
