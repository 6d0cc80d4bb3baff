"""Where the loads have a potential, the equilibrium is the minimum of U = theta k^-1 theta / 2 + potential."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.mechanics import compliance, generalised_forces, gradient, load_energy
from oracle.robots import configurations, random_robot, random_wrench
from scipy.optimize import minimize
from scipy.optimize import root as scipy_root

from elastocal.model.loads.gravity_compensator import GravityCompensator
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.equilibrium import Status, equilibrium


def lowest(model, q, forces):
    """theta of least energy, by BFGS in the variables y with theta = B y, k = B B^T; then its gradient's root."""
    root = np.linalg.cholesky(compliance(model))

    def energy(y):
        return y @ y / 2 + load_energy(model, q, root @ y, forces)

    found = minimize(lambda y: float(energy(y)), np.zeros(len(root)), jac=lambda y: gradient(energy, y),
                     method="BFGS", options={"gtol": 1e-9, "maxiter": 500})  # fmt: skip
    polished = scipy_root(lambda y: gradient(energy, y), found.x, tol=1e-14).x
    np.testing.assert_allclose(polished, found.x, rtol=0, atol=1e-4)
    return root @ polished, energy, root


@pytest.mark.parametrize("seed", range(5))
def test_equilibrium_under_weights_and_base_fixed_forces_is_the_energy_minimum(seed):
    model = random_robot(seed, 2 + seed % 3, 2, k=1e-4)
    q = configurations(model, 1, seed)
    tip, side = random_wrench(seed, 150.0)[:3], random_wrench(seed + 9, 80.0)[:3]
    applied = [AppliedWrenches("tip", [[*tip, 0, 0, 0]]), AppliedWrenches("side", [[*side, 0, 0, 0]])]
    bent = equilibrium(model, q, applied)
    expected, energy, root = lowest(model, q[0], [("tip", tip), ("side", side)])
    assert np.abs(expected).max() > 5e-3
    np.testing.assert_allclose(bent.theta[0], expected, rtol=0, atol=1e-11)
    here = np.linalg.solve(root, bent.theta[0])
    for step in np.random.default_rng(seed).normal(size=(20, len(here))):
        assert energy(here + 1e-2 * step) > energy(here)


def compensated(seed):
    """A chain of revolute joints, the first with a spring that pulls with a few hundred newton."""
    model = random_robot(seed, 4, 1, k=1e-4)
    joint = next(j for j in model.joints if model.tree.joint(j).kind == "revolute")
    spring = GravityCompensator(joint=joint, a_x=0.35, a_y=0.12, L=0.18, phi0=1.1, k_c=2e-5, s_0=0.25)
    return model.with_elements(spring)


@pytest.mark.parametrize("seed", range(3))
def test_equilibrium_with_a_gravity_compensator_is_the_energy_minimum(seed):
    model = compensated(seed)
    q = configurations(model, 1, seed)
    force = random_wrench(seed, 150.0)[:3]
    bent = equilibrium(model, q, [AppliedWrenches("tip", [[*force, 0, 0, 0]])])
    assert bent.status[0] == Status.CONVERGED
    expected, _, _ = lowest(model, q[0], [("tip", force)])
    without, _, _ = lowest(model.without("gravity_compensator"), q[0], [("tip", force)])
    assert np.abs(expected - without).max() > 1e-2
    np.testing.assert_allclose(bent.theta[0], expected, rtol=0, atol=1e-11)


def test_the_force_of_a_potential_is_its_negative_gradient():
    """Two independent routes of the oracle agree: energy gradient and virtual work."""
    model = compensated(1)
    q = configurations(model, 1, 1)[0]
    theta = 0.05 * np.random.default_rng(0).normal(size=len(model.chain.dofs))
    force = np.array([100.0, -50.0, 70.0])
    slope = gradient(lambda t: load_energy(model, q, t, [("tip", force)]), theta)
    work = generalised_forces(model, q, theta, [("tip", [*force, 0, 0, 0], False)])
    np.testing.assert_allclose(work, -slope, rtol=1e-12, atol=1e-10)
