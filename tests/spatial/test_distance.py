"""Distances against brute force on dense points and against scipy's bounded minimiser."""

from __future__ import annotations

import numpy as np
import pytest

from elastocal.spatial.capsules import point_segment, segment_box, segment_segment, segments_nearer

T = np.linspace(0, 1, 2001)


def dense(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a + T[:, None] * (b - a)


def test_a_point_beside_and_beyond_a_segment() -> None:
    a, b = np.array([0.0, 0, 0]), np.array([2.0, 0, 0])
    points = np.array([[1.0, 3, 0], [5.0, 4, 0], [-3.0, 0, 4]])
    assert point_segment(points, a, b) == pytest.approx([3, 5, 5])
    assert point_segment(points, a, a) == pytest.approx([np.sqrt(10), np.sqrt(41), 5])


def test_segments_that_cross_pass_or_run_alongside() -> None:
    o, x = np.zeros(3), np.array([1.0, 0, 0])
    across = segment_segment(o, x, np.array([0.5, -1, 2]), np.array([0.5, 1, 2]))
    beside = segment_segment(o, x, np.array([0.2, 3, 0]), np.array([0.7, 3, 0]))
    in_line = segment_segment(o, x, np.array([4.0, 0, 0]), np.array([9.0, 0, 0]))
    assert (float(across), float(beside), float(in_line)) == pytest.approx((2, 3, 3))


def test_segments_against_dense_points() -> None:
    rng = np.random.default_rng(1)
    ends = rng.normal(size=(4, 60, 3))
    ends[3, ::5] = ends[2, ::5]  # some are points
    ends[3, 1::5] = ends[2, 1::5] + 0.5 * (ends[1, 1::5] - ends[0, 1::5])  # some are parallel
    found = segment_segment(*ends)
    for i in range(60):
        one = dense(ends[0, i], ends[1, i])
        brute = point_segment(one, ends[2, i], ends[3, i]).min()
        assert brute - 2e-3 < found[i] <= brute + 1e-12


@pytest.mark.parametrize("tilt", [0.0, 1e-8, 3e-7, 1e-6, 1e-5, 1e-3])
def test_nearly_parallel_segments_are_as_near_as_more_digits_say(tilt: float) -> None:
    """At an end of either, or where the lines are nearest if that is within both.

    The bound is what any place along segments costs that are tilted by the least of these.
    """
    rng = np.random.default_rng(4)
    a, u, c = rng.normal(size=(3, 4000, 3))
    b, c = a + u, a + 0.3 * c
    d = c + rng.uniform(-2, 2, (4000, 1)) * u + tilt * rng.normal(size=u.shape)
    ends = [point_segment(*e) for e in ((a, c, d), (b, c, d), (c, a, b), (d, a, b))]
    x, y, w = ((j.astype(np.longdouble) - i) for i, j in ((a, b), (c, d), (c, a)))
    xx, xy, yy, xw, yw = (np.sum(i * j, axis=1) for i, j in ((x, x), (x, y), (y, y), (x, w), (y, w)))
    area = xx * yy - xy**2
    area[area < 1e-17] = np.inf
    s, t = (xy * yw - yy * xw) / area, (xx * yw - xy * xw) / area
    within = (s > 0) & (s < 1) & (t > 0) & (t < 1)
    lines = np.where(within, np.sqrt(np.sum((w + s[:, None] * x - t[:, None] * y) ** 2, axis=1)), np.inf)
    want = np.min([*ends, lines], axis=0)
    np.testing.assert_allclose(segment_segment(a, b, c, d), want.astype(float), atol=1e-8)


def test_segments_are_nearer_where_their_distance_says_so() -> None:
    a, b, c, d = np.random.default_rng(3).normal(size=(4, 400, 3))
    for least in (0.2, 1.0, 3.0):
        near = segments_nearer((a, b), (c, d), least)
        np.testing.assert_array_equal(near, segment_segment(a, b, c, d) < least)
        assert 0 < np.sum(near) < len(near)
        np.testing.assert_array_equal(
            segments_nearer((a, b), (c[0], d[0]), least), segment_segment(a, b, c[0], d[0]) < least
        )


def test_segments_and_boxes_against_a_minimiser() -> None:
    from scipy.optimize import minimize_scalar

    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 200, 3)) * 2
    b[::7, 0] = a[::7, 0]  # some run along faces
    b[3::11] = a[3::11]
    half = np.array([0.5, 0.8, 0.2])
    found = segment_box(a, b, half)
    assert np.sum(found == 0) > 3
    for i in range(200):

        def far(t: float, i: int = i) -> float:
            x = a[i] + t * (b[i] - a[i])
            return float(np.linalg.norm(x - np.clip(x, -half, half)))

        least = min(minimize_scalar(far, bounds=(0, 1), method="bounded", options={"xatol": 1e-10}).fun, far(0), far(1))
        brute = min(far(float(t)) for t in T[::20])
        assert found[i] == pytest.approx(min(least, brute), abs=1e-8)


def test_batches_broadcast() -> None:
    a = np.array([[[2.0, 0, 0]], [[0.0, 5, 0]]])
    b = a + np.array([0.0, 0, 1])
    half = np.array([1.0, 1, 1])
    assert segment_box(a, b, half)[:, 0] == pytest.approx([1, 4])
    assert segment_segment(a, b, np.zeros((1, 3, 3)), np.zeros((1, 3, 3))).shape == (2, 3)
