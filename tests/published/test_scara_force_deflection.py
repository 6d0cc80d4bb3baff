"""Figure 4(d) of 002 from virtual loops: the readings by the element laws written out, the figures, the pictures."""

from __future__ import annotations

import numpy as np
import pytest

from elastocal.published import scara_force_deflection as made

PUBLISHED = {
    "gripper_compliance_m_per_N": 3.76e-5,
    "gripper_backlash_min_m": 5.49e-5,
    "gripper_backlash_max_m": 2.05e-4,
    "joint1_compliance_rad_per_Nm": 3.23e-5,
    "joint1_backlash_rad": 2.64e-4,
    "joint2_compliance_rad_per_Nm": 1.08e-4,
    "joint2_backlash_rad": 2.68e-4,
}


def test_the_virtual_robot_yields_as_the_laws_say():
    """Gripper: p F + sqrt(u' G^2 u); joint: an arm of length l turned by k F l + g; no code of the package."""
    experiment = made.experiment()
    side = np.sign(experiment.force)
    for degrees in (0, 30, 90, 240):
        a = np.radians(degrees)
        gap = np.hypot(1.025e-4 * np.cos(a), 2.745e-5 * np.sin(a))
        assert experiment.exact[str(degrees)] == pytest.approx(3.76e-5 * experiment.force + gap * side, rel=1e-9)
    for joint, k, gap, lever in (("J1", 3.23e-5, 1.32e-4, 0.66), ("J2", 1.08e-4, 1.34e-4, 0.33)):
        turn = k * lever * experiment.force + gap * side
        assert experiment.exact[joint] == pytest.approx(lever * turn, rel=1e-5)


def test_every_virtual_loop_costs_work():
    """The closed loops of all readings, force over way: friction takes 4 h F at the turns, F = 40 N."""
    for loop in made.experiment().read(np.random.default_rng(1)).values():
        works = []
        for cycle in (1, 2, 3):
            at = loop.cycle == cycle
            f, s = (np.append(v[at], v[at][0]) for v in (loop.force, loop.displacement))
            works.append(np.sum((f[1:] + f[:-1]) / 2 * np.diff(s)))
        assert np.mean(works) == pytest.approx(4 * 8e-6 * 35, rel=0.25)


def test_figures(outcome, figure):
    of = outcome("scara-force-deflection")
    for name, value in PUBLISHED.items():
        (found,) = [f for f in of.figures if f.name == name]
        assert found.published == found.put_in == value
        sd = float(found.note.split()[1])
        assert found.recomputed == pytest.approx(value, abs=4 * sd)
        assert 0 < sd < 0.03 * value
    assert figure(of, "coverage_95") == pytest.approx(0.95, abs=0.04)
    assert figure(of, "noise_m") == pytest.approx(np.hypot(2e-6, 1e-6 / np.sqrt(12)), rel=0.12)
    assert figure(of, "hysteresis_m") == pytest.approx(1.6e-5, abs=3e-6)
    assert figure(of, "gap_left_at_zero_force_m") == pytest.approx(2.05e-4 + 1.6e-5, abs=6e-6)
    assert figure(of, "one_compliance_probability") > 0.001
    assert figure(of, "one_backlash_probability") < 1e-20
    assert figure(of, "ellipse_probability") > 0.001
    assert "half of it" in of.verdict


def test_polar_maps_are_drawn(outcome):
    graph, left, compliance, backlash = outcome("scara-force-deflection").curves
    assert [c.polar for c in (graph, left, compliance, backlash)] == [False, False, True, True]
    measured, ellipse, one = backlash.series
    assert measured.x == tuple(range(0, 360, 30))
    assert len(measured.spread) == 12
    assert max(ellipse.y) == pytest.approx(205.0, abs=4)
    assert min(ellipse.y) == pytest.approx(54.9, abs=5)
    assert len(set(one.y)) == 1
    assert np.interp(30.0, ellipse.x, ellipse.y) == pytest.approx(measured.y[1], abs=6)
    lines = {s.name: s for s in graph.series}
    gap = lines["loading, F > 0"].y[0] - lines["loading, F < 0"].y[0]
    play = 2e6 * np.hypot(1.025e-4 * 0.75**0.5, 2.745e-5 / 2)
    assert gap == pytest.approx(play - 16, abs=6)
    level = {s.name: s.y for s in left.series}
    assert level["unloading, F > 0"] == pytest.approx([play / 2 + 8] * 2, abs=4)
    assert level["loading, F < 0"] == pytest.approx([-play / 2 + 8] * 2, abs=4)
    assert np.ptp(level["readings"]) < 1.3 * play
