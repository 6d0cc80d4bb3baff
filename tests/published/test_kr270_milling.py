"""The milled contour: its path and forces by hand, and what the identified model leaves."""

from __future__ import annotations

import numpy as np
import pytest

from elastocal.files.robot.read import read_robot
from elastocal.published.kr270_milling import compensated, contour, contour_targets, cutting_loads


def test_the_contour_is_closed_and_as_long_as_it_should_be() -> None:
    at = contour()
    np.testing.assert_allclose(at[0], at[-1], atol=1e-12)
    steps = np.linalg.norm(np.diff(at, axis=0), axis=1)
    assert 0.003 < steps.min() <= steps.max() < 0.0111
    assert steps.sum() == pytest.approx(2 * (0.54 + 0.34) + 2 * np.pi * 0.08, rel=1e-3)
    area = 0.5 * np.sum(at[:-1, 0] * at[1:, 1] - at[1:, 0] * at[:-1, 1])
    assert area == pytest.approx(0.7 * 0.5 - (4 - np.pi) * 0.08**2, rel=1e-3)  # positive: counter-clockwise


def test_the_forces_push_back_in_and_up() -> None:
    """F_t = k a_p a_e v / (pi D n) = 2.521 kN against the motion, 0.8 of it to the left, 0.6 of it to the spindle."""
    robot = read_robot("kuka-kr270")
    path = contour_targets(robot)
    force = cutting_loads(robot, path).wrenches[0].wrench[:, :3]
    size = 2e9 * 0.01 * 0.03 * 3.3e-3 / (np.pi * 0.05 * 5)
    along = int(np.argmax((path.position[:, 1] > 0.2499) & (path.position[:, 0] < 1.85)))  # towards -x
    np.testing.assert_allclose(force[along], size * np.array([1, -0.8, 0.6]), rtol=1e-9)
    np.testing.assert_allclose(path.rotation[0][:, 0], [0, 0, -1], atol=1e-12)


def test_an_error_of_one_compliance_is_not_compensated() -> None:
    robot = read_robot("kuka-kr270")
    path = contour_targets(robot).picked(slice(0, 225, 25))
    loads = cutting_loads(robot, path)
    exact = compensated(robot, robot, path, loads)
    assert exact.after.distances().max < 1e-8
    wrong = compensated(robot, robot.with_parameters({"A2.k": 0.9 * 0.302e-6}), path, loads)
    assert 90 < wrong.compensated_percent < 99.9
    heavy = compensated(robot, robot.with_parameters({"A2.k": 0.9 * 0.302e-6}), path, loads, weights=True)
    # the axial force lifts what the weight lets sag
    assert heavy.after.distances().rms < 0.5 * wrong.after.distances().rms
    assert heavy.before.distances().rms < 0.98 * wrong.before.distances().rms


def test_the_identified_model_compensates_as_published(outcome, figure) -> None:
    of = outcome("kr270-milling")
    assert 2.5 < figure(of, "force_along_kN") < figure(of, "force_kN") < 3.6
    assert not [f.name for f in of.figures if f.published is not None and f.name.startswith("force")]
    assert figure(of, "uncompensated_rms_mm") > 3
    assert figure(of, "exact_rest_um") < 1e-3
    for name in ("tracker", "budget"):
        assert 95 < figure(of, f"compensated_percent_{name}") < 100
    assert figure(of, "rest_rms_mm_budget") < 0.1
    for name in ("tracker", "budget"):
        assert 80 < figure(of, f"compensated_percent_{name}_weights") < 100
    assert figure(of, "rest_rms_mm_tracker") > 1e-3
    before, after = figure(of, "uncompensated_rms_mm"), figure(of, "rest_rms_mm_budget")
    assert figure(of, "compensated_percent_budget") == pytest.approx(100 * (1 - after / before), abs=1e-9)
    assert 0.3 < figure(of, "rest_rms_mm_budget") / figure(of, "expected_rms_mm_budget") < 3
    drawn = {c.key: c for c in of.curves}
    assert max(drawn["errors"].series[0].y) == pytest.approx(figure(of, "uncompensated_max_mm"))
    assert "99." in of.verdict
