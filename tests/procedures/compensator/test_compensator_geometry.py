"""Spring geometry from arcs of a known mechanism, in the plane and in space, with either sense of rotation."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.model.loads.gravity_compensator import GravityCompensator
from elastocal.procedures.compensator.concentric import fit_concentric
from elastocal.procedures.compensator.geometry import CompensatorGeometry, compensator_geometry
from elastocal.procedures.compensator.known_angles import fit_known_angles
from elastocal.procedures.compensator.rigid_body import fit_common_rotation

Q = np.radians([-145.0, -118.0, -80.0, -41.0, -20.0, 0.0])
A, L, PSI = np.array([0.686, 0.119]), 0.185, np.radians(100.0)
P2 = np.array([0.02, -0.01])


def mechanism(sense, noise=0.0, seed=3):
    """P1 about P2, and two markers on a body about P0 that points at P1."""
    angle = PSI + sense * Q
    p1 = P2 + L * np.column_stack([np.cos(angle), np.sin(angle)])
    p0 = P2 - A
    spring = np.arctan2(*(p1 - p0).T[::-1])
    markers = [
        p0 + r * np.column_stack([np.cos(spring + b), np.sin(spring + b)]) for r, b in ((0.187, 2.7), (0.16, 4.1))
    ]
    rng = np.random.default_rng(seed)
    return [x + noise * rng.normal(size=x.shape) for x in (p1, *markers)]


def geometry(data, axes=None, axis=None):
    return compensator_geometry(fit_known_angles(data[0], Q, axis=axis), fit_concentric(data[1:]), axes)


@pytest.mark.parametrize("sense", [1, -1])
def test_a_known_mechanism_is_found(sense):
    data = mechanism(sense)
    found = geometry(data)
    np.testing.assert_allclose([found.L, found.a_x, found.a_y], [L, *A], rtol=1e-10)
    alpha = np.arctan2(A[1], A[0])
    assert found.sense == sense
    assert found.alpha == pytest.approx(alpha, rel=1e-10)
    assert found.phi0 == pytest.approx(-sense * (PSI - alpha), rel=1e-10)
    assert found.phi0_by_length == pytest.approx(found.phi0, rel=1e-10)
    measured = np.linalg.norm(data[0] - (P2 - A), axis=1)
    np.testing.assert_allclose(found.lengths, measured, rtol=1e-10)
    assert found.s_rms < 1e-12
    assert found.printed_error > 0.1
    assert f"phi0 = {np.degrees(found.phi0):.3f} +-" in found.sentences()[0]
    swing = np.arctan2(*(data[0] - (P2 - A)).T[::-1])
    np.testing.assert_allclose(found.swing(Q), swing, atol=1e-10)


def test_the_load_of_the_model_has_this_length():
    """phi0 is the parameter that the compensator of the robot model takes."""
    found = geometry(mechanism(-1))
    load = GravityCompensator(joint="A2", a_x=found.a_x, a_y=found.a_y, L=found.L, phi0=found.phi0, k_c=1e-7, s_0=0.4)
    np.testing.assert_allclose(load.length(Q), found.lengths, rtol=1e-10)


@pytest.mark.parametrize("sense", [1, -1])
def test_covariance_is_the_response_to_errors_of_all_readings(sense, influence):
    """L, a_x, a_y, phi0, and a, alpha and phi0 by the lengths, from every coordinate of P1 and the markers."""

    def outputs(data):
        g = geometry(data)
        return np.array([g.L, g.a_x, g.a_y, g.phi0, g.a, g.alpha, g.phi0_by_length])

    data, noise = mechanism(sense), 1e-5
    g = influence(outputs, data)
    expected = noise**2 * g @ g.T
    found = compensator_geometry(fit_known_angles(data[0], Q, noise=noise), fit_concentric(data[1:], noise=noise))
    np.testing.assert_allclose(found.covariance, expected[:4, :4], rtol=1e-4, atol=1e-4 * expected[0, 0])
    names = ("L", "a_x", "a_y", "phi0", "a", "alpha")
    np.testing.assert_allclose([found.sd[n] for n in names], np.sqrt(np.diag(expected))[:6], rtol=1e-5)
    assert found.phi0_by_length_sd == pytest.approx(np.sqrt(expected[6, 6]), rel=1e-5)
    assert found.phi0_by_length_sd > 1.0001 * found.sd["phi0"]


@pytest.mark.parametrize("sense", [1, -1])
def test_in_space_along_stated_axes(sense, pose):
    """The same mechanism anywhere in space; markers and P1 in planes of different height."""
    origin, matrix = pose(6)
    lifted = [
        origin + np.column_stack([x, np.full(6, h)]) @ matrix.T
        for x, h in zip(mechanism(sense), (0.0, 0.1, -0.07), strict=True)
    ]
    for axis in (matrix[:, 2], -matrix[:, 2], None):
        found = geometry(lifted, matrix[:, :2].T, axis)
        np.testing.assert_allclose([found.L, found.a_x, found.a_y], [L, *A], rtol=1e-9)
        assert found.sense == sense
        assert found.phi0 == pytest.approx(-sense * (PSI - np.arctan2(A[1], A[0])), rel=1e-9)
        assert found.tilt < 1e-7
        assert len(found.sentences()) == 1
    tilted = geometry(lifted, _tilted(matrix))
    assert tilted.tilt == pytest.approx(0.1, abs=1e-6)
    assert "inclined by 5.7 deg" in tilted.sentences()[1]


def _tilted(matrix):
    return np.array([matrix[:, 0], np.cos(0.1) * matrix[:, 1] + np.sin(0.1) * matrix[:, 2]])


def test_covariance_in_space_is_the_response_to_errors(pose, influence):
    origin, matrix = pose(6)
    data = [
        origin + np.column_stack([x, np.full(6, h)]) @ matrix.T
        for x, h in zip(mechanism(-1), (0.0, 0.1, -0.07), strict=True)
    ]
    axes, noise = _tilted(matrix), 1e-5

    def outputs(readings):
        g = geometry(readings, axes, matrix[:, 2])
        return np.array([g.L, g.a_x, g.a_y, g.phi0])

    g = influence(outputs, data)
    found = compensator_geometry(
        fit_known_angles(data[0], Q, noise=noise, axis=matrix[:, 2]), fit_concentric(data[1:], noise=noise), axes
    )
    expected = noise**2 * g @ g.T
    np.testing.assert_allclose(found.covariance, expected, rtol=1e-4, atol=1e-3 * expected[0, 0])


def test_a_rigid_body_serves_as_well_and_is_more_certain():
    data = mechanism(-1, noise=1e-5)
    arc = fit_known_angles(data[0], Q)
    free = compensator_geometry(arc, fit_concentric(data[1:], noise=1e-5, method="geometric"))
    body = compensator_geometry(arc, fit_common_rotation(data[1:], noise=1e-5))
    assert body.a_x == pytest.approx(A[0], abs=4 * body.sd["a_x"])
    assert body.sd["a_x"] < free.sd["a_x"]


def test_mixed_dimensions_and_bad_axes_are_refused():
    data = mechanism(-1)
    arc, pivot = fit_known_angles(data[0], Q), fit_concentric(data[1:])
    flat = [np.column_stack([x, np.zeros(6)]) for x in data]
    with refused("shape", (3, 2)):
        compensator_geometry(fit_known_angles(flat[0], Q), pivot)
    with refused("axes"):
        compensator_geometry(fit_known_angles(flat[0], Q), fit_concentric(flat[1:]), [[1, 0, 0], [1, 1, 0]])
    assert compensator_geometry(arc, pivot).tilt == 0.0


def test_a_geometry_that_nobody_measured_has_no_accuracy():
    spring = GravityCompensator(joint="J", a_x=0.686, a_y=0.119, L=0.185, phi0=1.57, k_c=1e-5, s_0=0.4)
    found = CompensatorGeometry.described(spring, -1)
    q = np.radians([-145.0, -90.0, 0.0])
    np.testing.assert_allclose(found.length(q), spring.length(q), rtol=1e-12)
    assert all(np.isnan(sd) for sd in found.sd.values())
    assert np.isnan([found.tilt, found.phi0_by_length, found.phi0_by_length_sd]).all()
