"""Forces of milling on arcs of G-code, which are written as chords: against the tangent, as in any language."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import elastocal as ec
from elastocal.compensation.loads import Milling
from elastocal.compensation.process import ProcessLoad
from elastocal.files.robot.read import read_robot
from elastocal.spatial.pose import Pose

CUTTER = Milling(specific_force=9e8, axial_depth=4e-3, radial_engagement=8e-3, diameter=2e-2, teeth=2, spindle=100.0)
TURN = Rotation.from_euler("z", 30, degrees=True)
DOWN = Rotation.from_euler("x", 180, degrees=True).as_matrix()


def corrected(text, lines, **options):
    program = ec.read_program(
        text, "gcode", bases={"G54": Pose(TURN.as_matrix(), np.array([1.75, 0.0, 0.8]))},
        tools={"T0": Pose(np.eye(3), np.array([0.0, 0.1, 0.2]))}, orientation=DOWN,
    )  # fmt: skip
    load = ProcessLoad(milling=CUTTER, lines=lines)
    near = np.radians([0.0, -90, 90, 0, 90, 0])
    return ec.compensate(read_robot("kuka-kr270"), program, load=load, near=near, **options)


@pytest.mark.parametrize(("word", "sense", "rise"), [("G3", 1, 0), ("G2", -1, 0), ("G3", 1, 3)])
def test_the_force_is_against_the_tangent_at_every_chord(word, sense, rise) -> None:
    """A quarter circle of 20 mm from (20, 0) about the origin, in a base that is turned by 30 degrees."""
    text = (
        f"G21 G90 G54\nG0 X20 Y0 Z20\nG1 Z0 F3000\n{word} X0 Y{20 * sense} Z{rise} I-20 J0\nG1 X{-60 * sense}\nG0 Z20\n"
    )
    done = corrected(text, ((4, 5),), chord=1e-4)
    at, number = done.job.placed, 2
    rows = [*at.stations.arcs[number], at.stations.nodes[number, 2]]
    assert len(rows) > 5
    x, y, _ = at.stations.position[rows].T / 0.02
    climb = np.full(len(rows), rise / (20 * np.pi / 2))
    tangent = TURN.apply(np.stack([-sense * y, sense * x, climb], axis=1))
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    force = done.job.loads.wrench[rows, :3]
    np.testing.assert_allclose(force / np.linalg.norm(force, axis=1, keepdims=True), -tangent, atol=1e-12)
    start = done.job.loads.moving[number, 0, :3]
    expected = TURN.apply([0.0, sense, climb[0]])
    np.testing.assert_allclose(start / np.linalg.norm(start), -expected / np.linalg.norm(expected), atol=1e-12)


def test_a_force_that_comes_at_once_on_an_arc_is_not_laid_to_its_chords() -> None:
    text = "G21 G90 G54\nG0 X0 Y-40 Z20\nG1 Z0 F3000\nG2 X40 Y0 I40 J0\nG1 X160\nG2 X200 Y-40 I0 J-40\nG0 Z20\n"
    done = corrected(text, ((4, 6),), densify=2e-5)
    assert done.along.worst.line in {4, 6}
    assert done.along.at_turn
    assert "(lead_lines)" in next(f for f in done.verdict if f.code == "between-targets").text
    assert not [f for f in done.warnings if f.data.get("parameter") == "chord"]
