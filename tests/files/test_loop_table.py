"""Files of force-deflection loops: units, directions, cycles, joints, and every complaint with its place."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.files.tables.loops import read_loops


@pytest.fixture
def table(tmp_path):
    def read(text):
        path = tmp_path / "loops.csv"
        path.write_text(text, encoding="utf-8")
        return read_loops(path)

    return read


def test_units_and_groups(table):
    found = table(
        "direction_deg,cycle,force_kN,displacement_mm\n30,a,0.01,0.4\n30,a,0.02,0.8\n390,b,0.01,0.5\n90,1,-0.01,-1\n"
    )
    first, second = found
    assert (first.name, second.name) == ("30 deg", "90 deg")
    assert first.loop.force == pytest.approx([10, 20, 10])
    assert first.loop.displacement == pytest.approx([4e-4, 8e-4, 5e-4])
    assert list(first.loop.cycle) == [1, 1, 2]
    assert first.direction == pytest.approx([np.cos(np.pi / 6), 0.5])
    assert first.place(2).endswith("loops.csv, line 4")
    assert list(second.lines) == [5]


def test_decimal_commas_and_vectors(table):
    (record,) = table("dx;dy;dz;force_N;displacement_um\n0;3;4;10,5;1,25\n0;0,6;0,8;20;2,5\n")
    assert record.direction == pytest.approx([0, 0.6, 0.8])
    assert record.loop.force == pytest.approx([10.5, 20])
    assert record.loop.displacement == pytest.approx([1.25e-6, 2.5e-6])


def test_joints_with_levers_beside_directions(table):
    text = "joint,lever_mm,direction_deg,force_N,displacement_um\n,,0,10,1\nJ2,330,,10,1\nJ2,,,20,2\n"
    gripper, joint = table(text)
    assert gripper.joint is None
    assert gripper.lever is None
    assert (joint.name, joint.joint, joint.direction) == ("J2", "J2", None)
    assert joint.lever == pytest.approx(0.33)
    assert len(joint.loop.force) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "direction_deg,force,displacement_um\n0,1,1\n",
            ("unit", "force"),
        ),
        ("direction,force_N,displacement_um\n0,1,1\n", ("unit", "direction")),
        ("force_N,displacement_deg\n1,1\n", ("unit", ("displacement_deg", "deg", "displacement"))),
        ("force_N,direction_deg\n1,1\n", ("missing", "displacement")),
        ("displacement_um\n1\n", ("missing", "force")),
        ("force_N,force_kN,displacement_um\n1,1,1\n", ("duplicate", ("force_kN", "force"))),
        ("forse_N,displacement_um\n1,1\n", ("unknown-column", "forse_N")),
        ("direction_deg,dx,dy,force_N,displacement_um\n0,1,0,1,1\n", ("duplicate", "dx")),
        ("dx,dz,force_N,displacement_um\n1,0,1,1\n", ("missing", "dy")),
        ("dx,dy,force_N,displacement_um\n0,0,1,1\n", ("no-direction",)),
        ("lever_mm,force_N,displacement_um\n1,1,1\n", ("lever-without-joint",)),
        ("joint,lever_mm,force_N,displacement_um\nJ,-3,1,1\n", ("range",)),
        ("joint,lever_mm,force_N,displacement_um\nJ,3,1,1\nJ,4,1,1\n", ("two-levers",)),
        ("cycle,force_N,displacement_um\n,1,1\n", ("no-cycle",)),
        ("force_N,displacement_um\n1,x\n", ("number",)),
        ("direction_deg,force_N,displacement_um\n,1,1\n", ("number",)),
        ("force_N,displacement_um\n", ("no-rows",)),
    ],
)
def test_wrong_files(table, text, said):
    with refused(*said):
        table(text)
