"""All directions together: matrices by hand and by scipy, the law of the robot's own gripper backlash, the tests."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation
from scipy.stats import f as fisher

from elastocal.model.compliant.gripper_backlash import GripperBacklash
from elastocal.procedures.loops.directions import fit_directions, pairs, principal
from elastocal.procedures.loops.loop import Estimate, mean_of, unknown

ANGLES = np.radians(np.arange(0, 360, 30))
UNITS = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
FREE = 400.0


def numbers(values, sd):
    return [Estimate(float(v), float(s), FREE) for v, s in zip(values, np.broadcast_to(sd, len(values)), strict=True)]


def play(unit, half, turn):
    """The gauge's reading by the element that the statics use: displacement along the force."""
    force = np.zeros((3, 1))
    force[: len(unit), 0] = unit
    element = GripperBacklash(frame="gripper", gap=tuple(half))
    moved, _ = element.backlash(turn.T @ (37.0 * force))
    return float((turn @ moved)[:, 0] @ force[:, 0])


def test_a_compliance_matrix_comes_back_with_its_axes():
    p = np.array([[4e-5, 3e-6], [3e-6, 3e-5]])
    fit = fit_directions(UNITS, numbers(np.einsum("ni,ij,nj->n", UNITS, p, UNITS), 1e-8), root=False)
    assert fit.names == ("k11", "k22", "k12")
    assert fit.components == pytest.approx([4e-5, 3e-5, 3e-6], rel=1e-9)
    values, axes = np.linalg.eigh(p)
    assert fit.principal.values == pytest.approx(values[::-1], rel=1e-9)
    assert fit.principal.angle == pytest.approx(np.arctan2(axes[1, 1], axes[0, 1]) % np.pi, rel=1e-8)
    assert fit.suffices == "matrix"


def test_the_ellipse_is_that_of_the_robots_gripper():
    turn = Rotation.from_euler("z", 20, degrees=True).as_matrix()
    gaps = [play(u, (1e-4, 3e-5, 0.0), turn) for u in UNITS]
    fit = fit_directions(UNITS, numbers(gaps, 1e-7), root=True)
    assert fit.principal.values == pytest.approx([1e-4, 3e-5], rel=1e-8)
    assert np.degrees(fit.principal.angle) == pytest.approx(20.0, abs=1e-6)
    along, _ = fit.at(UNITS)
    assert along == pytest.approx(gaps, rel=1e-8)


def test_in_space_both_come_back():
    rng = np.random.default_rng(1)
    turn = Rotation.random(rng=rng).as_matrix()
    u = rng.normal(size=(14, 3))
    u /= np.linalg.norm(u, axis=1)[:, None]
    gaps = [play(v, (1e-4, 6e-5, 3e-5), turn) for v in u]
    fit = fit_directions(u, numbers(gaps, 1e-7), root=True)
    assert fit.principal.values == pytest.approx([1e-4, 6e-5, 3e-5], rel=1e-7)
    assert np.abs(np.sum(fit.principal.axes * turn, axis=0)) == pytest.approx(np.ones(3), abs=1e-6)
    p = turn @ np.diag([5e-5, 4e-5, 2e-5]) @ turn.T
    tensor = fit_directions(u, numbers(np.einsum("ni,ij,nj->n", u, p, u), 1e-9), root=False)
    assert tensor.principal.values == pytest.approx([5e-5, 4e-5, 2e-5], rel=1e-8)
    flat = fit_directions(np.column_stack([UNITS, np.zeros(12)]), numbers(np.ones(12), 0.1), root=False)
    assert flat.principal is None
    assert "these give 3" in flat.reason


def test_values_covariance_and_tests_against_scipy():
    rng = np.random.default_rng(2)
    sd = rng.uniform(5e-7, 2e-6, 12)
    gaps = np.hypot(1e-4 * UNITS[:, 0], 4e-5 * UNITS[:, 1]) + sd * rng.normal(size=12)

    def off(x):
        square = x[0] * UNITS[:, 0] ** 2 + x[1] * UNITS[:, 1] ** 2 + 2 * x[2] * UNITS[:, 0] * UNITS[:, 1]
        return (1e-5 * np.sqrt(square) - gaps) / sd

    best = least_squares(off, [100.0, 16.0, 0.0], xtol=1e-15, ftol=1e-15, gtol=1e-15, x_scale=[100, 16, 10])
    covariance = np.linalg.inv(best.jac.T @ best.jac)
    fit = fit_directions(UNITS, numbers(gaps, sd), root=True)
    assert fit.components == pytest.approx(1e-10 * best.x, rel=1e-5)
    assert fit.covariance == pytest.approx(1e-20 * covariance, rel=1e-4, abs=1e-26)
    assert fit.matrix.statistic == pytest.approx(2 * best.cost / 9, rel=1e-6)
    assert fit.matrix.probability == pytest.approx(fisher.sf(2 * best.cost / 9, 9, FREE), rel=1e-5)
    mean = np.sum(gaps / sd**2) / np.sum(sd**-2)
    gain = (np.sum(((gaps - mean) / sd) ** 2) - 2 * best.cost) / 2
    assert fit.one.statistic == pytest.approx(gain, rel=1e-6)
    assert fit.isotropic.value == pytest.approx(mean, rel=1e-12)


def test_accuracy_of_half_axes_and_angle_by_propagation_of_every_reading():
    """Half axes and angle as functions of the twelve half gaps, differentiated numerically."""
    sd = np.linspace(5e-7, 1.5e-6, 12)
    gaps = np.array([play(u, (1e-4, 3e-5, 0.0), Rotation.from_euler("z", 0.4).as_matrix()) for u in UNITS])

    def of(values):
        axes = fit_directions(UNITS, numbers(values, sd), root=True).principal
        return np.array([*axes.values, axes.angle])

    step = 1e-9
    slopes = np.column_stack([(of(gaps + step * e) - of(gaps - step * e)) / (2 * step) for e in np.eye(12)])
    expected = np.sqrt((slopes**2) @ sd**2)
    axes = fit_directions(UNITS, numbers(gaps, sd), root=True).principal
    assert [*axes.sd, axes.angle_sd] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("root", [False, True])
def test_accuracy_along_any_direction_by_propagation(root):
    sd = np.linspace(5e-7, 1.5e-6, 12)
    square = (1e-4 * UNITS[:, 0]) ** 2 + (5e-5 * UNITS[:, 1]) ** 2
    values = np.sqrt(square) if root else 1e4 * square
    between = np.array([[np.cos(0.7), np.sin(0.7)], [np.cos(2.9), np.sin(2.9)]])
    step = 1e-9
    ends = [
        [fit_directions(UNITS, numbers(values + s * step * e, sd), root).at(between)[0] for s in (1, -1)]
        for e in np.eye(12)
    ]
    slopes = np.array([(up - down) / (2 * step) for up, down in ends])
    found = fit_directions(UNITS, numbers(values, sd), root).at(between)[1]
    assert found == pytest.approx(np.sqrt((slopes**2).T @ sd**2), rel=1e-4)


@pytest.mark.parametrize("dimension", [2, 3])
def test_axes_are_right_handed(dimension):
    rng = np.random.default_rng(9)
    for _ in range(20):
        m = rng.normal(size=(dimension, dimension))
        m = m @ m.T
        found = principal(np.array([m[i, j] for i, j in pairs(dimension)]), np.eye(len(pairs(dimension))), dimension)
        assert np.linalg.det(found.axes) == pytest.approx(1.0)
        assert found.axes @ np.diag(found.values) @ found.axes.T == pytest.approx(m)


def test_what_suffices():
    rng = np.random.default_rng(5)
    noise = 1e-6 * rng.normal(size=12)
    same = fit_directions(UNITS, numbers(1e-4 + noise, 1e-6), root=True)
    assert same.suffices == "one number"
    assert same.isotropic.sd == pytest.approx(1e-6 / np.sqrt(12), rel=1e-9)
    assert same.along(UNITS[0]) == same.isotropic
    lobes = fit_directions(UNITS, numbers(1e-4 + 3e-5 * np.cos(6 * ANGLES) + noise, 1e-6), root=True)
    assert lobes.suffices == "neither"
    assert lobes.isotropic.sd > 5 * same.isotropic.sd
    ellipse = fit_directions(UNITS, numbers(np.hypot(1e-4 * UNITS[:, 0], 3e-5 * UNITS[:, 1]) + noise, 1e-6), root=True)
    assert ellipse.suffices == "matrix"
    assert ellipse.along(UNITS[3]).value == pytest.approx(3e-5, abs=3e-6)


def test_a_rejected_matrix_is_as_uncertain_as_the_directions_scatter_about_it():
    """The same fit with sds that the scatter would have: the test statistic is one there, and nothing is raised."""
    values = np.hypot(1e-4 * UNITS[:, 0], 5e-5 * UNITS[:, 1]) + 1e-5 * np.cos(6 * ANGLES)
    found = fit_directions(UNITS, numbers(values, 1e-6), root=True)
    assert found.matrix.rejected
    assert found.matrix.statistic > 50
    wide = fit_directions(UNITS, numbers(values, 1e-6 * np.sqrt(found.matrix.statistic)), root=True)
    assert wide.matrix.statistic == pytest.approx(1.0)
    assert found.covariance == pytest.approx(wide.covariance, rel=1e-6)
    assert found.principal.sd == pytest.approx(wide.principal.sd, rel=1e-6)


def test_few_directions_say_what_is_missing():
    one = fit_directions(UNITS[:1], numbers([1e-4], 1e-6), root=True)
    assert one.principal is None
    assert "3 numbers need 3 directions of different lines; these give 1" in one.reason
    assert one.isotropic.value == pytest.approx(1e-4)
    assert not one.one.decided
    line = fit_directions(UNITS[[0, 6, 3]], numbers([1e-4, 1e-4, 5e-5], 1e-6), root=False)
    assert "these give 2" in line.reason
    assert line.suffices == "neither"
    none = fit_directions(UNITS, [unknown("why")] * 12, root=True)
    assert not none.isotropic.known
    assert none.principal is None
    assert not none.used.any()


def test_gaps_about_zero_are_no_ellipse_and_one_number():
    rng = np.random.default_rng(4)
    fit = fit_directions(UNITS, numbers(1e-6 * rng.normal(size=12), 1e-6), root=True)
    assert fit.principal is None
    assert "no ellipse" in fit.reason
    assert fit.suffices == "one number"
    assert abs(fit.isotropic.value) < 1e-6


def test_means_and_differences():
    mean, test = mean_of([Estimate(1.0, 0.1, 10), Estimate(1.3, 0.2, 20), unknown("x")])
    assert mean.value == pytest.approx((100 * 1.0 + 25 * 1.3) / 125)
    assert mean.sd == pytest.approx(125**-0.5)
    assert test.statistic == pytest.approx(0.3**2 / 0.05)
    assert mean.freedom == 10
    apart, rejected = mean_of([Estimate(1.0, 0.1, 30), Estimate(3.0, 0.1, 30)])
    assert rejected.rejected
    assert apart.sd == pytest.approx(1.0)
    less = Estimate(3.0, 0.3, 9).minus(Estimate(1.0, 0.4, 16))
    assert (less.value, less.sd) == pytest.approx((2.0, 0.5))
    assert less.freedom == pytest.approx(0.25**2 / (0.09**2 / 9 + 0.16**2 / 16))
    assert Estimate(1.0, 0.1).minus(unknown("why")).reason == "why"
