"""Axes of one marker alone that stand in each other's columns, or with the other sign."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused
from scipy.spatial.transform import Rotation

import elastocal as ec
from elastocal.calibration.marker_slips import ORDERS
from elastocal.calibration.slips import check_slips

ROBOT = ec.read_robot("kr210")
SPOTS = np.array([[0.05, 0.02, 0.1], [0.0, -0.08, 0.12], [-0.1, 0.04, 0.03]])


def points(markers: int = 3, rows: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """Controller values and points (30, markers, 3) in the axes of an instrument somewhere."""
    rng = np.random.default_rng(4)
    low, high = np.array([m.limits for m in ROBOT.motions]).T
    q = 0.5 * low + 0.5 * (high - low) * rng.random((rows, ROBOT.n))
    at = ROBOT.nominal.kinematics(q)
    base = at.position[:, None] + np.einsum("nij,mj->nmi", at.rotation, SPOTS[:markers])
    turned = base @ Rotation.from_rotvec([0.4, -1.2, 2.0]).as_matrix().T + [1.0, 2.0, 0.5]
    return ROBOT.controller.to_controller(q), turned + 3e-5 * rng.normal(size=turned.shape)


def campaign(q: np.ndarray, y: np.ndarray) -> ec.Campaign:
    return ec.Campaign(q=q, position=y, markers=["A", "B", "C"][: y.shape[1]], length="m", angle="rad")


WRITTEN = {
    "y x z": ([1, 0, 2], [1, 1, 1]),
    "x z y": ([0, 2, 1], [1, 1, 1]),
    "z y x": ([2, 1, 0], [1, 1, 1]),
    "y z x": ([1, 2, 0], [1, 1, 1]),
    "x -y z": ([0, 1, 2], [1, -1, 1]),
    "-y x z": ([1, 0, 2], [-1, 1, 1]),
}


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("number", [0, 1])
def test_axes_of_one_marker_of_three_are_named_and_taken_by_the_word(written: str, number: int) -> None:
    q, y = points()
    order, signs = WRITTEN[written]
    wrong = y.copy()
    wrong[:, number] = y[:, number][:, order] * signs
    name = "AB"[number]
    with refused("slip", f"marker {name} written as {written}", parameter="accept", column=name):
        check_slips(ROBOT, campaign(q, wrong))
    checked = check_slips(ROBOT, campaign(q, wrong), f"marker {name} written as {written}")
    assert [f.code for f in checked.findings] == ["accepted"]
    assert checked.campaign.position == pytest.approx(y)


def test_of_two_markers_the_mirrored_one_is_named() -> None:
    q, y = points(2)
    y[:, 1] = y[:, 1][:, [0, 2, 1]]
    with refused("slip", "marker B written as x z y", parameter="accept"):
        check_slips(ROBOT, campaign(q, y))


def test_of_two_markers_that_are_turned_to_each_other_both_are_named() -> None:
    """Each alone is right to an instrument that stands turned."""
    q, y = points(2)
    y[:, 1] = y[:, 1][:, [1, 2, 0]]
    with pytest.raises(ec.InputError) as caught:
        check_slips(ROBOT, campaign(q, y))
    assert set(caught.value.allowed) == {"marker B written as y z x", "marker A written as z x y"}


def test_a_marker_that_is_wrong_otherwise_is_left_to_the_outliers() -> None:
    q, y = points()
    y[:, 2] += 0.1 * np.random.default_rng(1).normal(size=(len(y), 3))
    assert check_slips(ROBOT, campaign(q, y)).findings == ()


def test_right_markers_cost_no_more_than_they_did(monkeypatch: pytest.MonkeyPatch) -> None:
    """The points are placed once, by the quick start."""
    import elastocal.calibration.slips as slips

    placed = []
    was = slips.placed_distances
    monkeypatch.setattr(slips, "placed_distances", lambda *a, **k: (placed.append(k), was(*a, **k))[1])
    monkeypatch.setattr("elastocal.calibration.marker_slips.placed_distances", None)
    assert check_slips(ROBOT, campaign(*points())).findings == ()
    assert placed == [{"quick": True}]


def test_all_orders_but_the_right_one_are_tried() -> None:
    assert len(ORDERS) == 47
    assert "x y z" not in ORDERS
