"""Stated errors of the load: part of the noise of a reading, by the size of the deflection that it causes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from calibration.test_loaded import MARKERS, moved, softened

import elastocal as ec
from elastocal.calibration.certificate import variance_at_poses
from elastocal.calibration.noise import Instrument, noise_parts
from elastocal.calibration.sight import Sight
from elastocal.calibration.starts import start_placing
from elastocal.calibration.states import gather
from elastocal.calibration.task import assemble
from elastocal.measure.sources.arm import Encoder, Repeatability
from elastocal.measure.sources.instrument import Reading
from elastocal.measure.sources.load import LoadDirection, LoadSize
from elastocal.quantities import quantile_95
from elastocal.solve.evidence import posterior

SIZE, TILT = 0.03, 0.02
POSES = 30


@pytest.fixture(scope="module")
def calibration() -> ec.Calibration:
    """Every load is a few per cent and a few hundredths of a radian off what is written down."""
    rng = np.random.default_rng(8)
    robot = ec.read_robot("kuka-kr270")
    low, high = 0.7 * np.array([m.limits for m in robot.motions]).T
    q = low + (high - low) * rng.random((POSES, robot.n))
    stated = np.zeros((POSES, 6))
    stated[:, :3] = 2000 * rng.normal(size=(POSES, 3))
    acted = (1 + SIZE * rng.normal(size=(POSES, 1))) * stated
    acted[:, :3] += np.cross(TILT * rng.normal(size=(POSES, 3)), stated[:, :3])
    seen = moved(softened(robot, rng, 1.0), q, acted) + 1e-5 * rng.normal(size=(POSES, 3, 3))
    return ec.calibrate(robot, ec.Campaign(
        q=robot.controller.to_controller(q), deflection=seen, wrench=stated, length="m", angle="rad", markers=MARKERS,
        noise=[Reading(sd=1e-5), LoadSize(sd=SIZE), LoadDirection(sd=TILT)],
    ))  # fmt: skip


def test_errors_that_all_readings_share_are_no_noise() -> None:
    found = Instrument.of([LoadSize(sd=0.01), LoadSize(sd=0.02, every="campaign")])
    assert found.loads == (LoadSize(sd=0.01),)


def test_errors_of_the_load_are_averaged_over_repeats() -> None:
    """One pose and load, seen once from one station and four times from another: half the error of the mean."""
    robot = ec.read_robot("kuka-kr270")
    q, wrench = np.tile([0.1, -1.2, 1.4, 0.2, 0.6, 0.3], (5, 1)), np.tile([0, 0, -2000.0, 0, 0, 0], (5, 1))
    data = ec.Campaign(
        q=q, position=np.arange(15.0).reshape(5, 3), wrench=wrench, length="m", angle="rad",
        station=["a", "b", "b", "b", "b"],
    )  # fmt: skip
    sight = Sight(gather(robot, data))
    once, mean = Instrument(loads=(LoadSize(sd=SIZE),)).load_moves(sight, robot)["load size"]
    assert sight.states.members.counts.tolist() == [1, 4]
    assert mean == pytest.approx(0.5 * once)
    moved_by = robot.deflection(data.joint_values(robot)[:1], wrench[:1]).translation[0]
    assert once[:3, 0] == pytest.approx(moved_by, rel=0.05)  # an error of one, as if all of it were linear


def test_a_deflection_has_the_returns_of_both_of_its_readings() -> None:
    robot = ec.read_robot("kuka-kr270")
    data = ec.Campaign(
        q=np.outer([0.1, 0.2], np.ones(6)), deflection=np.ones((2, 2, 3)), wrench=np.ones((2, 6)), length="m",
        angle="rad", markers=MARKERS[:2],
    )  # fmt: skip
    sight = Sight(gather(robot, data))
    parts, _ = noise_parts(sight, robot, start_placing(robot, sight), Instrument(return_sd=1e-5), "joints", {})
    (returns,) = [p.factor for p in parts if p.scale.name == "translation"]
    covariance = returns[0] @ returns[0].T
    shift = np.random.default_rng(1).normal(size=(2, 4000, 3))
    read = np.tile(shift[0] - shift[1], 2)  # both markers move together, loaded and not
    assert covariance == pytest.approx(read.T @ read / 4000, abs=0.2)


def test_they_are_found_in_the_residuals(calibration: ec.Calibration) -> None:
    assert calibration.noise["load size"] == pytest.approx(SIZE, rel=0.5)
    assert calibration.noise["load direction"] == pytest.approx(TILT, rel=0.5)
    assert not [w for w in calibration.warnings if w.code in ("misfit", "prior-conflict")]


def test_a_reading_under_load_is_wider_by_them(calibration: ec.Calibration) -> None:
    """Twice the share of the load, twice the sd that it adds; nothing without a load."""
    q = calibration.residuals.q[:6]
    wrench = np.tile([0.0, 0.0, -3000.0, 0.0, 0.0, 0.0], (6, 1))
    base = dict(calibration.noise) | {"load direction": 0.0}
    k = calibration.inflation * quantile_95(calibration.freedom)

    def widths(share: float, load: np.ndarray | None) -> np.ndarray:
        said = replace(calibration, noise=base | {"load size": share}).predict_joints(q, load)
        return said.half_width_reading if load is None else said.deflection_half_width_reading

    shift = calibration.predict_joints(q, wrench).deflection
    added = widths(0.04, wrench) ** 2 - widths(0.0, wrench) ** 2
    assert added == pytest.approx((k * 0.04 * shift) ** 2, rel=1e-6, abs=1e-14)
    assert widths(0.04, None) == pytest.approx(widths(0.0, None))


def test_the_budget_of_a_reading_has_them(calibration: ec.Calibration) -> None:
    states = calibration.residuals
    alone = replace(calibration, noise=dict(calibration.noise) | {"load size": 0.0, "load direction": 0.0})
    size, tilt = calibration.noise["load size"], calibration.noise["load direction"]
    shift = np.sum(calibration.predict_joints(states.q, states.wrench).deflection ** 2, axis=2).mean()
    more = variance_at_poses(calibration)[2] - variance_at_poses(alone)[2]
    assert more == pytest.approx((size**2 + 2 * tilt**2) * shift, rel=1e-6)


def test_states_of_a_pose_that_are_solved_apart_share_no_noise() -> None:
    """Whatever is stated or sought: the evidence of deflections is that of whole poses."""
    rng, robot = np.random.default_rng(3), ec.read_robot("kuka-kr270")
    low, high = 0.7 * np.array([m.limits for m in robot.motions]).T
    q, wrench = np.repeat(low + (high - low) * rng.random((10, robot.n)), 3, axis=0), np.zeros((30, 6))
    wrench[:, :3] = 1500 * rng.normal(size=(30, 3))
    seen = moved(softened(robot, rng, 1.0), q, wrench) + 1e-5 * rng.normal(size=(30, 3, 3))
    seen[4] = np.nan
    cal = ec.calibrate(robot, ec.Campaign(
        q=robot.controller.to_controller(q), deflection=seen, wrench=wrench, length="m", angle="rad", markers=MARKERS,
        noise=[Reading(sd=1e-5), LoadSize(sd=SIZE), LoadDirection(sd=TILT), Repeatability(sd=1e-5), Encoder(sd=1e-6)],
    ), "compliance")  # fmt: skip
    post = cal.ladder.chosen.fit.posterior
    assert post.blocks.split == 3
    assert {"load size", "load direction", "translation"} < {c.scale.name for c in post.blocks.noise}
    whole = posterior(replace(post.blocks, split=1), post.log_scales)
    assert posterior(post.blocks, post.log_scales).evidence == pytest.approx(whole.evidence, rel=1e-10)
    np.testing.assert_allclose(post.mean, whole.mean, rtol=1e-6, atol=1e-9)
    placed = ec.Campaign(q=q, position=seen[:, 0], wrench=wrench, length="m", angle="rad")
    task = replace(
        cal.ladder.chosen.fit.task, sight=Sight(gather(robot, placed)), dropped=np.zeros((30, 3), dtype=bool)
    )
    there = assemble(task, cal.ladder.chosen.fit.x, start_placing(robot, task.sight))
    assert there.split == 1  # what joints do is in all states of a pose
