"""Slopes of every least-squares problem against differences, and the way to its minimum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.procedures.compensator.arc_problem import AxisFrame, as_markers, minimise
from elastocal.procedures.compensator.concentric import ConcentricProblem, algebraic
from elastocal.procedures.compensator.known_angle_arc import KnownAngleProblem, unit_directions
from elastocal.procedures.compensator.rigid_body import BodyProblem, PointingProblem

Q = np.array([0.1, 0.9, 1.3, 2.2, -0.4])
POSES = tuple(range(5))


def problems(d, pose):
    """One state of each kind, off its minimum, with residuals of a tenth of the radius."""
    rng = np.random.default_rng(4)
    origin, matrix = pose(3)
    frame = AxisFrame(origin[:d], matrix) if d == 3 else AxisFrame(origin[:2], np.eye(2)).turned(0.7)
    places, heights, radii = np.array([0.3, 2.0, -1.5]), np.array([0.2, -0.4, 0.1]), np.array([1.0, 1.3, 0.7])
    turned = places[:, None] + Q
    local = np.stack([radii[:, None] * np.cos(turned), radii[:, None] * np.sin(turned)], axis=2)
    if d == 3:
        local = np.concatenate([local, np.broadcast_to(heights[:, None, None], (3, 5, 1))], axis=2)
    points = frame.origin + local @ frame.matrix.T + 0.1 * rng.normal(size=local.shape)
    points[1, 4] = points[2, :2] = np.nan
    data = as_markers(list(points))
    off = frame.shifted(np.array([0.05, -0.1]))
    off = off.tilted(np.array([0.1, 0.05])) if d == 3 else off
    body = BodyProblem(off, radii[:, None] * np.column_stack([np.cos(places), np.sin(places)]), heights, Q, data, POSES)
    targets = frame.origin + 3 * np.column_stack([np.cos(Q), np.sin(Q)]) @ frame.plane.T + 0.1 * rng.normal(size=(5, d))
    return [
        KnownAngleProblem(off.turned(0.2), 1.1, unit_directions(Q, 1, d), points[0], POSES),
        ConcentricProblem(off, radii, heights, data),
        body,
        PointingProblem(body, targets[[0, 2, 3, 4]], np.array([0, 2, 3, 4])),
    ]


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("kind", range(4))
def test_slopes_are_the_change_of_the_model(d, kind, pose):
    problem = problems(d, pose)[kind]
    slopes, h = problem.jacobian(), 1e-6
    for i in range(slopes.shape[2]):
        step = h * np.eye(slopes.shape[2])[i]
        difference = (problem.moved(-step).residuals() - problem.moved(step).residuals()) / (2 * h)
        np.testing.assert_allclose(slopes[:, :, i], difference, atol=2e-9)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("kind", range(4))
def test_every_minimum_is_one(d, kind, pose):
    """No small move from it lowers the weighted squares, and its gradient is rounding."""
    start = problems(d, pose)[kind]
    weights = np.linspace(0.2, 1.0, len(start.residuals()))
    found = minimise(start, weights)
    r, j = found.residuals(), found.jacobian()
    gradient = np.einsum("g,gc,gcp->p", weights, r, j) / np.linalg.norm(j, axis=(0, 1)) / np.linalg.norm(r)
    np.testing.assert_allclose(gradient, 0, atol=1e-9)

    def squares(state):
        return float(weights @ np.sum(state.residuals() ** 2, axis=1))

    assert squares(found) < squares(start)
    rng = np.random.default_rng(1)
    for _ in range(20):
        assert squares(found.moved(1e-3 * rng.normal(size=j.shape[2]))) > squares(found)


def test_a_start_beyond_the_arc_ends_at_the_minimum_or_in_words():
    """From there circles grow without end; from the side of the centre all starts meet."""
    t = np.linspace(0, 1.2, 9)
    points = np.column_stack([np.cos(t), np.sin(t)]) + 0.01 * np.random.default_rng(0).normal(size=(9, 2))
    start = algebraic(as_markers([points]))
    best = minimise(start)
    for shift in ([0.5, 0.2], [-0.6, 0.9], [-2.0, -2.0], [0.95, 0.2]):
        found = minimise(replace(start, frame=start.frame.shifted(np.array(shift))))
        np.testing.assert_allclose(found.frame.origin, best.frame.origin, atol=1e-9)
    with refused("not-converged"):
        minimise(replace(start, frame=start.frame.shifted(np.array([1.5, 1.0]))))
