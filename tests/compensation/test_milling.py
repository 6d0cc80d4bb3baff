"""Cutting forces by hand, by integrating over the turn of a cutter, and their directions."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.compensation.loads import Milling, milling_wrenches

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
