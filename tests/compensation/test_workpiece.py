"""Maps over the workpiece: each place under the load of the nearest target, by differences of loaded deflections."""

from __future__ import annotations

import numpy as np
import pytest

import elastocal as ec
from elastocal.compensation.directions import way
from elastocal.compensation.verification import workpiece
from elastocal.files.robot.read import read_robot
from elastocal.model.loads.wrench import AppliedWrenches

HEAD = """DEF part( )
$BASE={X 1750,Y 0,Z 800,A 0,B 0,C 0}
$TOOL={X 0,Y 100,Z 200,A 0,B 0,C 0}
PTP {A1 0,A2 -90,A3 90,A4 0,A5 90,A6 0}
"""
CORNERS = np.array([[0, 0], [300, 0], [300, 300], [0, 300]])


@pytest.fixture(scope="module")
def robot():
    return read_robot("kuka-kr270")


def test_loads_round_a_part_do_not_cancel(robot) -> None:
    """Four loads whose mean is nothing, far enough apart that each corner is under its own."""
    text = HEAD + "".join(f"LIN {{X {x},Y {y},Z 0,A 0,B 0,C 180}}\n" for x, y in CORNERS) + "END\n"
    force = 2500 * np.array([[0, 0, 0], [1, 0.4, -1], [-0.4, 1, 1], [-1, -0.4, -1], [0.4, -1, 1]])
    assert np.abs(force[1:].mean(axis=0)).max() < 1e-9
    done = ec.compensate(robot, ec.read_program(text, "krl"), wrench=np.hstack([force, np.zeros((5, 3))]))
    piece = workpiece(done)
    assert piece is not None
    model = done.model
    frame, places = done.job.placed.frames[1], piece.at.plane.position
    soft = []
    for number, corner in enumerate(done.job.placed.position[1:], 1):
        at = int(np.argmin(np.linalg.norm(places - corner, axis=1)))
        wrench, step = np.array([*force[number], 0, 0, 0]), 5.0

        def moved(w, at=at):
            push = (AppliedWrenches(frame, w[None]),)
            return model.deflection(piece.at.q[[at]], push, frame).translation[0]

        unit = np.eye(6)[:3]
        yields = np.array([(moved(wrench + step * e) - moved(wrench - step * e)) / (2 * step) for e in unit])
        soft.append((1 / np.linalg.norm(yields, 2), piece.stiffness[at]))
    by_differences, shown = np.array(soft).T
    np.testing.assert_allclose(shown, by_differences, rtol=1e-4)


def test_an_arc_is_drawn_as_an_arc(robot) -> None:
    c = 300 * np.sqrt(0.5)
    text = HEAD + (
        "LIN {X 0,Y 0,Z 0,A 0,B 0,C 180}\n"
        f"CIRC {{X {300 - c:.4f},Y {c:.4f},Z 0}},{{X 300,Y 300,Z 0}}\nLIN {{X 300,Y 400,Z 0}}\nEND\n"
    )
    done = ec.compensate(robot, ec.read_program(text, "krl"), wrench=[0, 0, -100, 0, 0, 0])
    places = 1e3 * (way(done.job.placed, 300)[:, :2] - [1.75, 0])
    on = places[2:-1]
    assert len(on) == 12
    np.testing.assert_allclose(np.hypot(on[:, 0] - 300, on[:, 1]), 300, atol=1e-3)
    np.testing.assert_allclose(places[[1, -2, -1]], [[0, 0], [300, 300], [300, 400]], atol=1e-6)
    assert len(way(done.job.placed, 2)) == len(done.job.placed.position)
