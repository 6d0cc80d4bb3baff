"""Residuals and their expected size: by hand, and by drawing true robots from what the fit says of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elastocal.compensation.commands import correct
from elastocal.compensation.loads import PathLoads, PayloadChange
from elastocal.compensation.targets import Targets
from elastocal.compensation.verification import expected_residual, residual, verify
from elastocal.files.robot.read import read_robot
from elastocal.model.kinematics import kinematics
from elastocal.model.loads.payload import Payload
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.equilibrium import Status
from elastocal.reduction.prediction import IdentifiedModel
from elastocal.solve.summary import ErrorSummary


def arm():
    return read_robot("kuka-kr5")


def job(count=25):
    q = np.array([0.1, -1.2, 1.3, 0.4, 0.7, -0.3]) + 0.3 * np.random.default_rng(2).uniform(-1, 1, (count, 6))
    k = kinematics(arm(), q)
    return Targets("tool", k.position, k.rotation, q), PathLoads((AppliedWrenches("tool", [[40.0, 30, -60, 4, 2, 3]]),))


def test_summary_of_known_sizes():
    sizes = np.append(np.arange(1.0, 102.0), np.nan)
    found = ErrorSummary.of(sizes)
    assert (found.count, found.mean, found.max, found.p95) == (101, 51.0, 101.0, 96.0)
    assert found.rms == pytest.approx(math.sqrt(102 * 203 / 6))
    assert ErrorSummary.of(np.array([np.nan])).count == 0
    assert math.isnan(ErrorSummary.of(np.array([np.nan])).mean)


def test_a_prismatic_joint_by_hand():
    """1000 N on 1e-6 m/N bends the column by 1 mm; a model that believes 0.9e-6 leaves 0.1 mm: 90 %."""
    true = read_robot("cylindrical")
    known = true.with_parameters({"q1.k": 0.9e-6})
    place = np.array([[0.6, 0.0, 0.5], [0.5, 0.2, 0.4]])
    targets = Targets("tool", place, np.repeat(np.eye(3)[None], 2, axis=0), np.array([0.5, 0.0, 0.6]))
    loads = PathLoads((AppliedWrenches("tool", [[0.0, 0, -1000, 0, 0, 0]]),))
    out = correct(known, targets, loads)
    seen = verify(true, out.nominal, out.command, targets, loads)
    np.testing.assert_allclose(seen.before.position, [[0, 0, -1e-3]] * 2, atol=1e-12)
    np.testing.assert_allclose(seen.after.position, [[0, 0, -1e-4]] * 2, atol=1e-12)
    assert seen.compensated_percent == pytest.approx(90.0)
    assert seen.before.distances().p95 == pytest.approx(1e-3)


def test_commands_that_do_not_exist_are_left_out():
    targets, loads = job(4)
    out = correct(arm(), targets, loads)
    command = out.command.copy()
    command[1] = np.nan
    found = residual(arm(), command, targets, loads)
    assert np.isnan(found.position[1]).all()
    assert found.status[1] == Status.NOT_CONVERGED
    assert found.distances().count == 3
    assert found.distances().max < 1e-9
    assert verify(arm(), out.nominal, command, targets, loads).compensated_percent > 99.9


def test_a_rotation_is_seen():
    targets, _ = job(3)
    turned = targets.rotation @ np.array([[0, -1.0, 0], [1, 0, 0], [0, 0, 1]])
    rigid = arm().without("joint_compliance", "motor_compliance")
    found = residual(rigid, targets.reference, Targets("tool", targets.position, turned, targets.reference))
    np.testing.assert_allclose(np.linalg.norm(found.rotation, axis=1), np.pi / 2, atol=1e-9)
    # the tool has to turn back by 90 deg about its own z
    np.testing.assert_allclose(found.rotation, -np.pi / 2 * targets.rotation[:, :, 2], atol=1e-9)
    assert found.distances().max < 1e-12


def test_the_expected_residual_is_that_of_robots_drawn_from_the_fit():
    model = arm()
    names = ("A1.k", "A2.k", "A3.k", "A3.offset")
    sd = np.array([2e-7, 1.5e-7, 4e-7, 1e-4])
    mix = np.eye(4) + 0.4 * np.eye(4, k=1)
    covariance = mix @ mix.T * np.outer(sd, sd)
    targets, loads = job(3)
    out = correct(model, targets, loads)
    sure = IdentifiedModel(model, names, covariance, math.nan)
    expected = expected_residual(sure, out.command, "tool", loads)
    rng = np.random.default_rng(5)
    base = np.array([model.parameters.rows[model.parameters.index(n)].value for n in names])
    drawn = []
    for values in rng.multivariate_normal(base, covariance, 400):
        true = model.with_parameters(dict(zip(names, values, strict=True)))
        left = residual(true, out.command, targets, loads)
        drawn.append(np.concatenate([left.position, left.rotation], axis=1))
    spread = np.std(np.array(drawn), axis=0)
    assert expected.sd[:, :3].max() > 2e-5
    large = expected.sd > 0.2 * expected.sd.max(axis=1, keepdims=True)
    np.testing.assert_allclose(spread[large], expected.sd[large], rtol=0.12)
    assert np.all(expected.twist == 0)
    wide = expected_residual(IdentifiedModel(model, names, covariance, 5e-5), out.command, "tool", loads)
    np.testing.assert_allclose(wide.sd[:, :3] ** 2, expected.sd[:, :3] ** 2 + 25e-10, rtol=1e-9)
    np.testing.assert_allclose(wide.sd[:, 3:], expected.sd[:, 3:])


def test_names_in_another_order_mean_the_same():
    model = arm()
    targets, loads = job(2)
    command = targets.reference
    covariance = np.diag([1e-14, 4e-14])
    one = expected_residual(IdentifiedModel(model, ("A2.k", "A3.k"), covariance, 0.0), command, "tool", loads)
    other = expected_residual(
        IdentifiedModel(model, ("A3.k", "A2.k"), covariance[::-1, ::-1], 0.0), command, "tool", loads
    )
    np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-12)


def test_payload_changes_count_in_both():
    model = arm()
    targets, loads = job(6)
    heavy = PathLoads(loads.wrenches, (PayloadChange(3, Payload(frame="flange", mass=30.0)),))
    out = correct(model, targets, heavy)
    assert residual(model, out.command, targets, heavy).distances().max < 1e-9
    plain = residual(model, out.command, targets, loads)
    assert np.nanmax(np.abs(plain.position[:3])) < 1e-9
    assert np.linalg.norm(plain.position[3:], axis=1).min() > 1e-4
    sure = IdentifiedModel(model, ("A2.k",), np.array([[1e-14]]), 0.0)
    light, full = (expected_residual(sure, out.command, "tool", p).sd for p in (loads, heavy))
    np.testing.assert_allclose(light[:3], full[:3], rtol=1e-9)
    assert (np.abs(light[3:, :3] / full[3:, :3] - 1) > 0.05).any()
