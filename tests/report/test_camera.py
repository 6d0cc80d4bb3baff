"""The box of a scene fills the picture: corners through the matrices of a camera, as a graphics card does it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from elastocal.report.parts import ASIDE, HIGHEST, LOWEST, camera


def drawn(sides: tuple[float, float, float]) -> np.ndarray:
    """Corners (8, 2) in a square picture from -1 to 1, by look-at and a field of 45 degrees."""
    seen = camera(sides)
    eye, centre = np.array(seen.eye), np.array(seen.centre)
    back = (eye - centre) / np.linalg.norm(eye - centre)
    right = np.cross([0, 0, 1], back)
    right /= np.linalg.norm(right)
    view = np.eye(4)
    view[:3, :3] = np.stack([right, np.cross(back, right), back])
    view[:3, 3] = -view[:3, :3] @ eye
    focus = 1 / np.tan(np.radians(45) / 2)
    perspective = np.array([[focus, 0, 0, 0], [0, focus, 0, 0], [0, 0, -1, -0.2], [0, 0, -1, 0]])
    corners = np.array([[*(np.array(s) * np.array(sides) / 2), 1.0] for s in product((-1, 1), repeat=3)])
    clipped = corners @ (perspective @ view).T
    return clipped[:, :2] / clipped[:, 3:]


@pytest.mark.parametrize("sides", [(1.0, 1.1, 1.2), (1.5, 0.6, 1.0), (0.5, 0.5, 1.7), (1.7, 0.6, 0.6), (0.9, 1.6, 0.5)])
def test_the_box_fills_the_height_and_stands_in_the_middle(sides: tuple[float, float, float]) -> None:
    places = drawn(sides)
    assert places[:, 1].min() == pytest.approx(LOWEST, abs=1e-6)
    assert places[:, 1].max() == pytest.approx(HIGHEST, abs=1e-6)
    assert places[:, 0].min() == pytest.approx(-places[:, 0].max(), abs=1e-6)
    assert camera(sides).aspect == pytest.approx(places[:, 0].max() / ASIDE, abs=1e-6)
    assert HIGHEST - LOWEST > 1.6  # of 2


def test_the_size_of_the_box_does_not_matter() -> None:
    one, ten = camera((1.5, 0.6, 1.0)), camera((15.0, 6.0, 10.0))
    assert np.array(ten.eye) == pytest.approx(10 * np.array(one.eye), rel=1e-6)
    assert ten.aspect == pytest.approx(one.aspect, rel=1e-6)


def test_a_flat_box_is_not_seen_from_too_near() -> None:
    seen = camera((1.3, 1.3, 0.46))
    assert np.linalg.norm(np.array(seen.eye) - seen.centre) == pytest.approx(0.8 * np.linalg.norm((1.3, 1.3, 0.46)))
    assert np.ptp(drawn((1.3, 1.3, 0.46))[:, 1]) < HIGHEST - LOWEST
