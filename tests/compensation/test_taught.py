"""Taught targets: only what the load adds is corrected, and its confidence by drawing robots."""

from __future__ import annotations

import numpy as np

from elastocal.compensation.commands import correct
from elastocal.compensation.loads import PathLoads
from elastocal.compensation.targets import Targets
from elastocal.compensation.verification import taught, taught_covariance
from elastocal.files.robot.read import read_robot
from elastocal.model.kinematics import kinematics
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.deflection import frame_pose
from elastocal.model.statics.equilibrium import equilibrium
from elastocal.reduction.prediction import IdentifiedModel

Q = np.array([[0.1, -1.2, 1.3, 0.4, 0.7, -0.3], [-0.6, -0.9, 1.0, -0.8, 0.5, 1.2]])
LOAD = AppliedWrenches("tool", np.array([[40.0, 30, -60, 4, 2, 3]]))


def job():
    k = kinematics(read_robot("kuka-kr5"), Q)
    return Targets("tool", k.position, k.rotation, Q), PathLoads((LOAD,))


def test_the_loaded_arm_stands_where_the_unloaded_one_stood():
    robot = read_robot("kuka-kr5")
    targets, loads = job()
    aim = taught(robot, targets, Q, loads)
    rest = frame_pose(robot, Q, equilibrium(robot, Q), "tool")[0].T
    np.testing.assert_allclose(aim.position, rest, atol=1e-12)
    assert np.linalg.norm(aim.position - targets.position, axis=1).min() > 1e-5
    command = correct(robot, aim, loads).command
    loaded = frame_pose(robot, command, equilibrium(robot, command, [LOAD.rows(slice(0, 2), 2)]), "tool")[0].T
    np.testing.assert_allclose(loaded, rest, atol=1e-9)


def test_without_load_nothing_changes():
    robot = read_robot("kuka-kr5")
    targets, _ = job()
    command = correct(robot, taught(robot, targets, Q, PathLoads()), PathLoads()).command
    np.testing.assert_allclose(command, Q, atol=1e-9)
    assert np.abs(correct(robot, targets).command - Q).max() > 1e-5  # the weight is corrected where it is not taught


def test_the_covariance_is_that_of_drawn_robots():
    """Robots drawn from the parameters: loaded pose at the command minus unloaded pose at the nominal one."""
    robot = read_robot("kuka-kr5")
    targets, loads = job()
    names = ("A1.k", "A2.k", "A3.k")
    k = np.array([p.value for p in robot.parameters if p.name in names])
    spread = np.array([[1.0, 0.3, 0.0], [0.3, 1.0, -0.2], [0.0, -0.2, 1.0]]) * np.outer(0.05 * k, 0.05 * k)
    command = correct(robot, taught(robot, targets, Q, loads), loads).command
    said = taught_covariance(IdentifiedModel(robot, names, spread, np.nan), Q, command, "tool", loads)
    drawn = []
    for values in np.random.default_rng(5).multivariate_normal(k, spread, 400):
        true = robot.with_parameters(dict(zip(names, values, strict=True)))
        loaded = frame_pose(true, command, equilibrium(true, command, [LOAD.rows(slice(0, 2), 2)]), "tool")[0]
        drawn.append((loaded - frame_pose(true, Q, equilibrium(true, Q), "tool")[0]).T)
    for i in range(2):
        found = np.cov(np.array(drawn)[:, i].T)
        assert np.abs(found - said[i, :3, :3]).max() < 0.2 * np.abs(found).max()
        assert np.sqrt(np.trace(found)) > 1e-7


def test_the_discrepancy_is_added():
    robot = read_robot("kuka-kr5")
    _, loads = job()
    without, having = (
        taught_covariance(IdentifiedModel(robot, ("A2.k",), np.array([[1e-16]]), d), Q, Q, "tool", loads)
        for d in (np.nan, 3e-5)
    )
    np.testing.assert_allclose((having - without)[0, :3, :3], 9e-10 * np.eye(3), atol=1e-20)
