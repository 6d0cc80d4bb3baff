"""Distances of a campaign that read them are predicted, and their intervals hold new readings."""

from __future__ import annotations

import numpy as np
import pytest
from virtual import campaign, joint_values, shipped, true_robot

from elastocal.calibration.calibration import Calibration
from elastocal.calibration.certificate import expected_errors
from elastocal.calibration.run import calibrate
from elastocal.quantities import quantile_95

KR270 = shipped("kuka-kr270")
NOISE = 3e-5


def read_again(cal: Calibration, q: np.ndarray) -> np.ndarray:
    """Sd of a new reading, by its interval."""
    return np.asarray(cal.predict(q).distance_half_width_reading / quantile_95(cal.freedom) / cal.inflation)


def test_distances_are_predicted_where_they_were_read() -> None:
    rng = np.random.default_rng(5)
    truth = true_robot(KR270, rng, ("geometry", "weight"), markers=2)
    q, new = joint_values(KR270, 50, rng), joint_values(KR270, 60, rng)
    exact = np.linalg.norm(truth.points(new), axis=2)
    read = np.linalg.norm(truth.points(q), axis=2) + NOISE * rng.normal(size=(50, 2))
    cal = calibrate(KR270, campaign(q, KR270, distance=read), ("geometry", "weight"))
    seen = cal.predict(new)
    assert seen.ranged
    assert not seen.located
    assert expected_errors(cal, None)[1] == pytest.approx(np.sqrt(np.mean(read_again(cal, q) ** 2)), rel=0.3)
    assert seen.distance.shape == (60, 2)
    off = np.abs(seen.distance - exact)
    assert off.mean() < 3 * NOISE
    assert np.mean(off < seen.distance_half_width) > 0.85
    again = np.abs(seen.distance - exact - NOISE * rng.normal(size=exact.shape))
    assert np.mean(again < seen.distance_half_width_reading) > 0.9
    assert np.median(seen.distance_half_width) < 10 * NOISE < 0.1 < np.median(seen.half_width)  # turns are not told
    row = seen.to_frame()[7] if isinstance(seen.to_frame(), list) else seen.to_frame().iloc[7]  # type: ignore[attr-defined,index]
    assert row["distance_mm"] == pytest.approx(1e3 * seen.distance[3, 1])


def test_intervals_of_distances_are_the_scatter_of_drawn_robots() -> None:
    """Of stations and markers that were drawn with them, whatever the slopes along the beam."""
    rng = np.random.default_rng(6)
    truth = true_robot(KR270, rng, ("geometry",), markers=1)
    q = joint_values(KR270, 40, rng)
    points = truth.points(q) + NOISE * rng.normal(size=(40, 1, 3))
    read = {"position": points, "distance": np.linalg.norm(points, axis=2)}
    cal, new = calibrate(KR270, campaign(q, KR270, **read), ("geometry",)), joint_values(KR270, 4, rng)
    seen = cal.predict(new)
    np.testing.assert_allclose(cal.predict(new, axes="base").distance, seen.distance)
    drawn = np.array([np.linalg.norm(c.predict(new).position, axis=2) for c in cal.drawn(300, rng=1)])
    assert cal.discrepancy == 0
    np.testing.assert_allclose(quantile_95(cal.freedom) * drawn.std(axis=0), seen.distance_half_width, rtol=0.15)
    alone = calibrate(KR270, campaign(q, KR270, position=points), ("geometry",)).predict(new)
    assert not alone.ranged
    assert np.isnan(alone.distance).all()
