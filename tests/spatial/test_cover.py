"""Capsules hold what they cover, by points of the surface, and are not much larger than it."""

from __future__ import annotations

import numpy as np
import pytest

from elastocal.spatial.capsules import Capsule, box_triangles, covering, cylinder_triangles, smallest_capsule
from elastocal.spatial.rotation import rpy_matrix


def beyond(points: np.ndarray, capsules: tuple[Capsule, ...]) -> np.ndarray:
    """How far points lie outside of the nearest capsule, by many places along each axis."""
    t = np.linspace(0, 1, 2001)[:, None]
    out = np.full(len(points), np.inf)
    for c in capsules:
        axis = np.array(c.start) + t * (np.array(c.end) - np.array(c.start))
        for i, p in enumerate(points):
            out[i] = min(out[i], np.linalg.norm(axis - p, axis=1).min() - c.radius)
    return out


def on_box(rng: np.random.Generator, sides: np.ndarray, count: int) -> np.ndarray:
    points = rng.uniform(-0.5, 0.5, size=(count, 3))
    points[np.arange(count), rng.integers(3, size=count)] = rng.choice([-0.5, 0.5], size=count)
    return points * sides


@pytest.mark.parametrize(
    ("sides", "room"), [((1.0, 0.1, 0.2), 0.12), ((0.5, 0.5, 0.05), 0.13), ((0.3, 0.3, 0.3), 0.13)]
)
def test_a_box_anywhere_is_held(sides: tuple[float, ...], room: float) -> None:
    rng = np.random.default_rng(3)
    turn, shift = rpy_matrix(0.3, -1.1, 2.0), np.array([0.2, -0.4, 1.0])
    found = covering(box_triangles(np.array(sides)) @ turn.T + shift)
    assert beyond(on_box(rng, np.array(sides), 150) @ turn.T + shift, found).max() < 1e-6
    for c in found:  # no capsule sticks out of the box by more than that
        ends = (np.array([c.start, c.end]) - shift) @ turn
        assert np.max(np.abs(ends) + c.radius - np.array(sides) / 2) < room


def test_a_long_cylinder_is_one_capsule_of_its_radius() -> None:
    (c,) = covering(cylinder_triangles(0.05, 1.0))
    assert 0.05 < c.radius < 0.052
    assert abs(np.linalg.norm(np.subtract(c.end, c.start)) - 1.0) < 0.06
    angle = np.linspace(0, 2 * np.pi, 40)
    rim = np.stack([0.05 * np.cos(angle), 0.05 * np.sin(angle), 0 * angle + 0.5], axis=1)
    assert beyond(rim, (c,)).max() < 1e-6


def test_an_elbow_of_two_beams_is_several_capsules() -> None:
    """One capsule would fill the corner between them."""
    one, two = box_triangles(np.array([1.0, 0.1, 0.1])), box_triangles(np.array([0.1, 0.1, 1.0]))
    elbow = np.concatenate([one, two + np.array([0.5, 0, 0.5])])
    found = covering(elbow)
    assert len(found) >= 2
    assert beyond(np.array([[0.1, 0, 0.4]]), (smallest_capsule(elbow.reshape(-1, 3)),)) < 0
    assert beyond(np.array([[0.1, 0, 0.4]]), found) > 0.3


def test_flat_and_single_triangles() -> None:
    flat = np.array([[[0.0, 0, 0], [1, 0, 0], [0, 0.2, 0]]])
    assert beyond(flat[0], covering(flat)).max() < 1e-6
    assert smallest_capsule(np.zeros((3, 3))).radius < 1e-8
