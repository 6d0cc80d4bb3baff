"""Cutting forces by hand, by integrating over the turn of a cutter, and their directions."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.compensation.loads import Milling, milling_wrenches
from elastocal.compensation.process import ProcessLoad
from elastocal.compensation.run import compensate
from elastocal.files.programs import read_program
from elastocal.files.robot.read import read_robot

ALUMINIUM = {"specific_force": 7e8, "axial_depth": 5e-3, "radial_engagement": 6e-3, "diameter": 20e-3, "teeth": 2,
             "spindle": 200.0}  # fmt: skip


def test_power_over_cutting_speed():
    """700 N/mm2, 5 x 6 mm, 40 mm/s: 840 W at 12.566 m/s."""
    force = Milling(**ALUMINIUM).tangential(np.array([0.04, 0.08, 0.0]))
    np.testing.assert_allclose(force, [840 / (np.pi * 0.02 * 200), 1680 / (np.pi * 0.02 * 200), 0.0])


def test_the_mean_is_that_of_a_turning_cutter():
    """Chip h = f_z sin(phi) while a tooth is in the material, force k_c a_p h; averaged over a turn, all teeth."""
    process = Milling(**ALUMINIUM)
    feed = 0.05
    per_tooth = feed / (200 * 2)
    phi = (np.arange(400_000) + 0.5) / 400_000 * 2 * np.pi
    inside = phi < np.arccos(1 - 2 * 6 / 20)
    tangential = np.where(inside, 7e8 * 5e-3 * per_tooth * np.sin(phi), 0.0).mean() * 2
    assert process.tangential(np.array([feed]))[0] == pytest.approx(tangential, rel=1e-5)


def test_thin_chips_cost_more_by_the_stated_exponent():
    plain, kienzle = Milling(**ALUMINIUM), Milling(**ALUMINIUM, exponent=0.25)
    feed = np.array([0.04])
    chip = np.array([0.04 / 400])[0]
    phi = np.linspace(0, np.arccos(1 - 0.6), 100_001)
    mean = np.trapezoid(chip * np.sin(phi), phi) / phi[-1]
    ratio = kienzle.tangential(feed) / plain.tangential(feed)
    assert ratio[0] == pytest.approx((mean / 1e-3) ** -0.25, rel=1e-6)
    assert ratio[0] > 1.5


def test_directions_along_a_corner():
    process = Milling(**ALUMINIUM, radial=0.5, axial=0.2)
    size = process.tangential(np.array([0.04]))[0]
    place = np.array([[0, 0, 0], [0.1, 0, 0], [0.1, 0, 0], [0.1, 0.2, 0], [0.1, 0.2, 0.1]], dtype=float)
    cutting = np.array([True, True, True, True, False])
    out = milling_wrenches(process, "tool", place, np.array([0, 0, 2.0]), 0.04, cutting)
    expected = size * np.array([[-1, 0.5, 0.2], [-1, 0.5, 0.2], [-1, 0.5, 0.2], [-0.5, -1, 0.2], [0, 0, 0]])
    np.testing.assert_allclose(out.wrench[:, :3], expected, atol=1e-12 * size)
    assert not out.wrench[:, 3:].any()
    assert out.frame == "tool"


def test_on_arcs_the_force_is_against_the_way_and_not_against_chords():
    """A quarter circle to the left from (0.4, 0) to (0.5, 0.1), past 30 degrees of it; then along +y."""
    x, y = 400 + 50, 100 - 100 * np.cos(np.radians(30))
    text = (
        "DEF a( )\n$BASE={X 1600,Y 0,Z 800,A 0,B 0,C 0}\n$TOOL={X 0,Y 0,Z 200,A 0,B 0,C 0}\n$VEL.CP=0.04\n"
        "PTP {A1 0,A2 -70,A3 90,A4 0,A5 70,A6 -180}\nLIN {X 0,Y 0,Z 0,A 0,B 0,C 180}\nLIN {X 400}\n"
        f"CIRC {{X {x:.6f},Y {y:.6f}}},{{X 500,Y 100}}\nLIN {{Y 200}}\nEND\n"
    )
    process = Milling(**ALUMINIUM, radial=0.5, axial=0.2)
    size = process.tangential(np.array([0.04]))[0]
    load = ProcessLoad(milling=process, lines=((7, 9),))
    done = compensate(read_robot("kuka-kr270"), read_program(text, "krl"), load=load)
    way = np.radians([0, 30, 90, 90])
    ahead, left = (np.stack([np.cos(a), np.sin(a), 0 * a], axis=1) for a in (way, way + np.pi / 2))
    expected = size * (-ahead + 0.5 * left + [0, 0, 0.2])
    np.testing.assert_allclose(done.load.loads.wrench[2:, :3], expected, atol=1e-6 * size)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"diameter": 0.0}, ("range", "diameter")),
        ({"radial_engagement": 0.03}, ("range", (0.03, 0.02))),
        ({"teeth": -1}, ("range", "teeth")),
    ],
)
def test_bad_processes_are_refused(change, message):
    with refused(*message):
        Milling(**{**ALUMINIUM, **change})


def test_bad_paths_are_refused():
    process = Milling(**ALUMINIUM)
    with refused("no-motion"):
        milling_wrenches(process, "tool", np.zeros((1, 3)), np.array([0, 0, 1.0]), 0.04)
    with refused("no-motion"):
        milling_wrenches(process, "tool", np.zeros((3, 3)), np.array([0, 0, 1.0]), 0.04)
    with refused("range", (2, -0.1)):
        milling_wrenches(process, "tool", np.eye(3), np.array([0, 0, 1.0]), np.array([0.1, -0.1, 0.1]))
    with refused("missing", 1):
        milling_wrenches(process, "tool", np.eye(3), np.zeros(3), 0.04)
