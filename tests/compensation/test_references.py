"""Which way the arm reaches the stations of a program: axes, S and T, the way before."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.compensation.left_open import references
from elastocal.compensation.posts.post import post_for
from elastocal.compensation.stations import placed, stations, tool_frame, with_tools
from elastocal.files.robot.read import read_robot
from elastocal.model.inverse_kinematics import task
from elastocal.model.kinematics import kinematics

FRAMES = "$BASE = {X 0,Y 0,Z 0,A 0,B 0,C 0}\n$TOOL = {X 0,Y 100,Z 200,A 0,B 0,C 0}\n"
HERE = "X 1810,Y -80,Z 795,A 0,B 0,C 180"


def found(*lines, near=None):
    """Controller values in deg at the stations of a KRL program on the KR 270."""
    text = "DEF p( )\n" + FRAMES + "\n".join(lines) + "\nEND\n"
    program = post_for("p.src").read({"p.src": text.encode()})
    model = with_tools(read_robot("kuka-kr270"), program, "flange")
    at = placed(model, stations(program, 1e-5))
    q = references(at, task(model, at.frames[0]), near)
    there = kinematics(model, q, frame=tool_frame(program.targets[0].tool))
    np.testing.assert_allclose(there.position, at.position, atol=1e-9)
    np.testing.assert_allclose(there.rotation, at.rotation, atol=1e-9)
    return np.degrees(q)


def test_s_and_t_name_the_branch_and_the_turn():
    """T bit 5 (32) is the sign of A6, S bit 2 (4) that of A5."""
    one = found(f"PTP {{{HERE},S 2,T 35}}")[0]
    assert one[5] == pytest.approx(-180.633, abs=1e-3)
    other = found(f"PTP {{{HERE},S 2,T 3}}")[0]
    assert other[5] == pytest.approx(one[5] + 360, abs=1e-9)
    np.testing.assert_allclose(one[:5], other[:5], atol=1e-9)
    turned = found(f"PTP {{{HERE},S 6,T 19}}")[0]
    assert turned[4] == pytest.approx(-one[4], abs=1e-6)
    assert abs(abs(turned[3]) - 180) < 1e-6


def test_lines_stay_on_the_branch_of_what_is_before():
    """LIN goes where the arm can follow, whatever S its target states; PTP obeys S."""
    way = found("PTP {A1 0,A2 -90,A3 90,A4 0,A5 90,A6 0}", f"LIN {{{HERE},S 6,T 19}}")
    assert way[1][4] > 0
    assert way[1][5] == pytest.approx(179.367, abs=1e-3)
    way = found("PTP {A1 0,A2 -90,A3 90,A4 0,A5 90,A6 0}", f"PTP {{{HERE},S 6,T 19}}", "LIN {X 1900}")
    assert way[1][4] < 0
    assert way[2][4] < 0


def test_what_is_typed_comes_before_the_first():
    near = np.radians([0, -70, 90, 170, -60, 10])
    assert found(f"LIN {{{HERE}}}", near=near)[0][4] < 0
    assert found(f"LIN {{{HERE}}}", near=near * [1, 1, 1, 0, -1, 1])[0][4] > 0


def test_nothing_before_the_first_is_refused():
    with refused("no-reference", parameter="near"):
        found(f"LIN {{{HERE}}}")
