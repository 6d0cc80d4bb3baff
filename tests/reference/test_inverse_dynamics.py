"""Torques of a moving rigid arm, linear in inertial parameters: against Pinocchio, statics and energy."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused
from oracle.robots import SHIPPED, configurations, random_robot

from elastocal.files.robot.read import read_robot
from elastocal.model.inverse_dynamics import INERTIAL, inertial_regressor, shifted_inertia
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.statics.holding import holding_torque

ROBOTS = [pytest.param(read_robot, name, id=name) for name in SHIPPED] + [
    pytest.param(lambda s: random_robot(*s), (seed, 1 + seed % 7, seed % 4), id=f"random{seed}") for seed in range(8)
]


def motion(model, count, seed=0):
    rng = np.random.default_rng(seed)
    return configurations(model, count, rng), rng.normal(size=(count, model.n)), rng.normal(size=(count, model.n))


@pytest.mark.parametrize(("make", "what"), ROBOTS)
def test_the_regressor_is_that_of_pinocchio(make, what):
    """Body by body at the joint frames; Pinocchio orders its tensor Ixx, Ixy, Iyy, Ixz, Iyz, Izz."""
    pin = pytest.importorskip("pinocchio")
    from reference.test_pinocchio import pinocchio_model

    model = make(what)
    if model.leads is not None or not model.n:
        return  # Pinocchio's tree has no joints that follow others
    theirs = pinocchio_model(model)
    data = theirs.createData()
    q, v, a = motion(model, 5)
    ours = inertial_regressor(model, q, v, a, model.joints)
    order = [INERTIAL.index(x) for x in ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")]
    at = np.concatenate([10 * b + np.array(order) for b in range(model.n)])
    for i in range(len(q)):
        expected = pin.computeJointTorqueRegressor(theirs, data, q[i], v[i], a[i]).reshape(model.n, -1)
        np.testing.assert_allclose(ours[i][:, at], expected, atol=1e-11 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("name", SHIPPED)
def test_at_rest_it_is_the_holding_torque(name):
    model = read_robot(name)
    weights = [e for e in model.elements if isinstance(e, LinkMass)]
    if not weights:
        pytest.skip("nothing weighs")
    rigid = model.without(*({e.kind for e in model.elements} - {"link_mass", "payload"}))
    q, v, a = motion(rigid, 40)
    y = inertial_regressor(rigid, q, 0 * v, 0 * a, [e.frame for e in weights])
    values = np.concatenate([[e.mass, *e.moment, *shifted_inertia(e.mass, e.moment)] for e in weights])
    expected = holding_torque(rigid, q)
    np.testing.assert_allclose(y @ values, expected, atol=1e-9 * max(1.0, np.abs(expected).max()))


def test_power_of_the_drives_is_the_rate_of_energy():
    """Of a point mass: kinetic and potential energy along a path, by central differences."""
    from elastocal.model.kinematics import kinematics

    model, h = read_robot("kuka-kr5"), 1e-5
    frame, mass, centre = "A5", 3.0, np.array([0.1, -0.05, 0.2])
    moment = mass * centre
    time = np.array([0.3, 0.7, 1.9])

    def q(t):
        return np.stack([np.sin((1 + 0.3 * j) * t + j) for j in range(6)], axis=1)

    def point(t):
        at = kinematics(model, q(t), frame)
        return at.position + at.rotation @ centre

    def energy(t):
        speed = (point(t + h) - point(t - h)) / (2 * h)
        return 0.5 * mass * np.sum(speed**2, axis=1) - mass * point(t) @ model.gravity

    v = (q(time + h) - q(time - h)) / (2 * h)
    a = (q(time + h) - 2 * q(time) + q(time - h)) / h**2
    y = inertial_regressor(model, q(time), v, a, [frame])
    torque = y @ np.array([mass, *moment, *shifted_inertia(mass, moment)])
    rate = (energy(time + 30 * h) - energy(time - 30 * h)) / (60 * h)
    np.testing.assert_allclose(np.sum(torque * v, axis=1), rate, rtol=1e-4)


def test_a_joint_that_follows_loads_its_leader():
    """Leader and follower by one ratio: torques are those of a free arm, brought together by virtual work."""
    from dataclasses import replace

    model = random_robot(3, 4, 0)
    tree = model.tree
    last = model.joints[-1]
    frames = [
        replace(f, joint=replace(f.joint, follows=model.joints[0], ratio=-0.7)) if f.name == last else f
        for f in tree.frames
    ]
    led = replace(model, tree=replace(tree, frames=tuple(frames)), transmission=None)
    q, v, a = (x[:, :3] for x in motion(model, 6))
    full = [np.column_stack([x, -0.7 * x[:, 0]]) for x in (q, v, a)]
    free = inertial_regressor(model, *full, model.joints)
    lever = np.vstack([np.eye(3), [-0.7, 0, 0]])
    expected = np.einsum("njp,jk->nkp", free, lever)
    np.testing.assert_allclose(inertial_regressor(led, q, v, a, model.joints), expected, atol=1e-10)


def test_shapes_are_checked():
    model = read_robot("kuka-kr5")
    with refused("shape", ((1, 6), (2, 6))):
        inertial_regressor(model, np.zeros((2, 6)), np.zeros((1, 6)), np.zeros((2, 6)), model.joints)
