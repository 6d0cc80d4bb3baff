"""Orientations, distances and mixtures: found from nothing, with outliers, without noise, and in their own unit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oracle.draws import draws
from oracle.refusals import refused
from scipy.spatial.transform import Rotation
from virtual import Truth, campaign, joint_values, read_positions, shipped, true_robot

from elastocal.calibration.calibration import Calibration
from elastocal.calibration.campaign import Campaign
from elastocal.calibration.campaigns import joined
from elastocal.calibration.placing import Placing
from elastocal.calibration.run import calibrate
from elastocal.calibration.starts import start_distances, start_turns
from elastocal.model.kinematics import kinematics

KR270 = shipped("kuka-kr270")


def made(seed: int, count: int, markers: int = 2, stations: int = 1) -> tuple[Truth, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    truth = true_robot(KR270, rng, ("geometry",), markers=markers, stations=stations)
    return truth, joint_values(KR270, count, rng), rng


def turned(turns: np.ndarray, size: float, rng: np.random.Generator) -> np.ndarray:
    return Rotation.from_rotvec(size * rng.normal(size=(len(turns), 3))).as_matrix() @ turns


def turn_error(cal: Calibration, truth: Truth, rng: np.random.Generator) -> float:
    new = joint_values(KR270, 50, rng)
    seen = Rotation.from_matrix(cal.predict_joints(new).orientation)
    return float((seen.inv() * Rotation.from_matrix(truth.orientation(new))).magnitude().mean())


def test_turns_of_an_exact_robot_are_exact() -> None:
    """Station and tool anywhere, a third of the orientations anything at all."""
    rng = np.random.default_rng(7)
    poses = kinematics(KR270, joint_values(KR270, 30, rng))
    station, tool = Rotation.random(2, random_state=rng).as_matrix()
    read = station @ poses.rotation @ tool
    read[::3] = Rotation.random(10, random_state=rng).as_matrix()
    where, none = np.zeros(30, dtype=np.int64), np.zeros(1, dtype=bool)
    found = start_turns(Placing.none(np.zeros((1, 3)), 1), poses.rotation, where, read, none)
    np.testing.assert_allclose(found.turn[0], station, atol=1e-9)
    np.testing.assert_allclose(found.tool_turn, tool, atol=1e-9)


@pytest.mark.parametrize("count", [15, 40])
def test_distances_of_an_exact_robot_are_exact(count: int) -> None:
    """With too few poses for the products, and with enough."""
    rng = np.random.default_rng(8)
    poses = kinematics(KR270, joint_values(KR270, count, rng))
    spots, centre = rng.uniform(-0.2, 0.2, size=(2, 3)), rng.uniform(-4, 4, size=3)
    points = poses.position[:, None] + np.einsum("nij,mj->nmi", poses.rotation, spots)
    read = np.linalg.norm(points - centre, axis=2)
    where, none = np.zeros(count, dtype=np.int64), np.zeros(2, dtype=bool)
    found = start_distances(Placing.none(np.zeros((1, 3)), 2), poses.position, poses.rotation, where, read, none)
    np.testing.assert_allclose(-found.shift[0], centre, atol=1e-5)
    np.testing.assert_allclose(found.markers, spots, atol=1e-5)


@pytest.mark.parametrize("seed", range(draws(1, 3)))
@pytest.mark.parametrize(("noise", "bad"), [(0.0, 0), (5e-5, 0), (5e-5, 8)])
def test_orientations_alone(seed: int, noise: float, bad: int) -> None:
    """Station and tool turned by anything; eight of thirty poses may be wrong."""
    truth, q, rng = made(seed, 30)
    read = turned(truth.orientation(q), noise, rng)
    wrong = rng.choice(30, bad, replace=False)
    read[wrong] = turned(read[wrong], 0.1, rng)
    cal = calibrate(KR270, campaign(q, KR270, orientation=read), ["geometry"])
    assert turn_error(cal, truth, rng) < (2e-4 if noise else 2e-5)
    assert {o.row for o in cal.outliers} == set(wrong.tolist())
    assert all(o.axis == "orientation" for o in cal.outliers)
    assert cal.leave_one_out.unit == "rad"
    assert "mrad" in cal.verdict.text
    assert " mm" not in repr(cal)


@pytest.mark.parametrize("seed", range(draws(1, 3)))
@pytest.mark.parametrize("bad", [0, 15])
def test_distances_alone(seed: int, bad: int) -> None:
    truth, q, rng = made(seed, 60)
    read = np.linalg.norm(truth.points(q), axis=2) + 3e-5 * rng.normal(size=(60, 2))
    wrong = rng.choice(60, bad, replace=False)
    read[wrong] += 0.02 * rng.normal(size=(bad, 2))
    cal = calibrate(KR270, campaign(q, KR270, distance=read), ["geometry"])
    new = joint_values(KR270, 50, rng)
    off = np.linalg.norm(cal.predict_joints(new).position, axis=2) - np.linalg.norm(truth.points(new), axis=2)
    assert np.abs(off).mean() < 3e-5
    assert {o.row for o in cal.outliers} == set(wrong.tolist())


def test_points_orientations_and_distances_from_three_stations() -> None:
    """One campaign each, joined; the station of distances is known but for a turn about its own origin."""
    truth, q, rng = made(1, 60, stations=3)
    parts = np.split(q, 3)
    read = turned(truth.orientation(parts[1], 1), 5e-5, rng)
    beams = np.linalg.norm(truth.points(parts[2], 2), axis=2) + 3e-5 * rng.normal(size=(20, 2))
    cal = calibrate(KR270, [
        campaign(parts[0], KR270, position=read_positions(truth, parts[0], rng), station=["east"] * 20),
        campaign(parts[1], KR270, orientation=read, station=["north"] * 20, markers=["marker1"]),
        campaign(parts[2], KR270, distance=beams, station=["west"] * 20),
    ], ["geometry"])  # fmt: skip
    new = joint_values(KR270, 50, rng)
    assert np.linalg.norm(cal.predict_joints(new, station="east").position - truth.points(new), axis=2).mean() < 8e-5
    seen = Rotation.from_matrix(cal.predict_joints(new, station="north").orientation)
    assert (seen.inv() * Rotation.from_matrix(truth.orientation(new, 1))).magnitude().mean() < 2e-4
    off = np.linalg.norm(cal.predict_joints(new, station="west").position, axis=2)
    assert np.abs(off - np.linalg.norm(truth.points(new, 2), axis=2)).mean() < 8e-5
    assert cal.outliers == ()


def test_rows_kept_by_hand_stay_so_when_campaigns_are_joined() -> None:
    truth, q, rng = made(1, 12)
    parts = [campaign(p, KR270, position=read_positions(truth, p, rng)) for p in np.split(q, 2)]
    whole = joined(KR270, [parts[0].keeping([3]), parts[1]])
    assert [i for i in range(12) if whole.kept(i)] == [3]


def test_rotation_vectors_by_their_word() -> None:
    truth, q, _ = made(1, 5)
    turns = Rotation.from_matrix(truth.orientation(q))
    given = Campaign(
        q=q, orientation=turns.as_rotvec(degrees=True), orientation_form="rotation_vector", length="m", angle="deg"
    )
    np.testing.assert_allclose(given.orientation, turns.as_matrix(), atol=1e-12)
    with refused("shape", (5, 3), parameter="orientation_form"):
        Campaign(q=q, orientation=turns.as_rotvec(), length="m", angle="rad")


@pytest.mark.parametrize(
    ("missing", "word"),
    [("length", {"code": "unit", "parameter": "length"}), ("angle", {"code": "unit", "parameter": "angle"})],
)
def test_units_that_are_not_stated(missing: str, word: dict[str, Any]) -> None:
    units = {"length": "m", "angle": "rad"}
    del units[missing]
    with refused(**word) as caught:
        Campaign(q=np.zeros((3, 6)), position=np.zeros((3, 3)), **units)
    assert caught.value.parameter == missing
