"""Stated scatter of joints and returns is a prior: it helps where it is right, and a conflict is named."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from oracle.refusals import refused
from virtual import campaign, joint_values, read_positions, shipped, true_robot

import elastocal as ec
from elastocal.calibration.calibration import Calibration
from elastocal.calibration.noise import Instrument
from elastocal.calibration.run import calibrate
from elastocal.calibration.store import document_text, from_document
from elastocal.measure.sources.arm import Encoder, Repeatability
from elastocal.measure.sources.instrument import Reading, Tracker

KR270 = shipped("kuka-kr270")


def calibrated(noise: object, joint_noise: float = 4e-5) -> Calibration:
    rng = np.random.default_rng(4)
    truth = true_robot(KR270, rng, ("geometry",), markers=2)
    q = joint_values(KR270, 40, rng)
    x = read_positions(truth, q, rng, 3e-5, joint_noise)
    return calibrate(KR270, campaign(q, KR270, position=x, noise=noise), ["geometry"])


def test_sources_are_told_apart() -> None:
    found = Instrument.of([Reading(sd=2e-5), Encoder(sd=1e-5), Repeatability(sd=3e-5)])
    assert (found.sd, found.joint_sd, found.slide_sd, found.return_sd) == (2e-5, 1e-5, None, 3e-5)
    both = Instrument.of([Reading(sd=2e-5), Tracker()])
    assert both.tracker is not None
    assert both.sd is None


def test_scatter_of_joints_that_is_right_brings_no_conflict() -> None:
    cal = calibrated([Reading(sd=3e-5), Encoder(sd=4e-5)])
    assert "prior-conflict" not in [w.code for w in cal.warnings]
    scales = [v for k, v in cal.noise.items() if k.startswith("noise ")]
    assert cal.ladder.chosen.family == "joints"
    assert np.exp(np.mean(np.log(scales))) == pytest.approx(4e-5, rel=0.5)


def test_scatter_of_joints_that_is_wrong_is_named() -> None:
    """Stated twenty times too large: the readings are believed, and some joint says so."""
    cal = calibrated([Reading(sd=3e-5), Encoder(sd=1e-3)])
    conflicts = [w for w in cal.warnings if w.code == "prior-conflict"]
    assert conflicts
    assert all(w.data["what"] in KR270.joints and w.data["ratio"] < 1 / 3 for w in conflicts)
    assert cal.leave_one_out.mean < 2e-4


def test_noise_that_is_stated_far_too_small_is_named_beside_a_lack_of_fit() -> None:
    cal = calibrated(1e-6, joint_noise=0.0)
    said = {w.code: w.data for w in cal.warnings}
    noise, model = said["lack-of-fit"]["hypotheses"]
    assert noise["stated"] == pytest.approx(1e-6)
    assert noise["shown"] == pytest.approx(3e-5, rel=0.2)
    assert model == {"code": "omitted-effect", "best": None}
    assert said["prior-conflict"]["what"] == "points"
    assert said["prior-conflict"]["ratio"] == pytest.approx(30, rel=0.2)


def test_repeats_show_that_a_stated_noise_is_too_small() -> None:
    rng = np.random.default_rng(4)
    truth = true_robot(KR270, rng, ("geometry",), markers=1)
    q = np.repeat(joint_values(KR270, 20, rng), 2, axis=0)
    x = read_positions(truth, q, rng, 3e-5, 0.0)
    cal = calibrate(KR270, campaign(q, KR270, position=x, noise=1e-6), ["geometry"])
    (conflict,) = (w for w in cal.warnings if w.code == "prior-conflict")
    assert conflict.data["repeats"] == pytest.approx(3e-5, rel=0.4)
    assert conflict.data["freedom"] == 60
    assert "lack-of-fit" not in [w.code for w in cal.warnings]


def test_a_noise_stated_by_axes_is_used_by_axes() -> None:
    """Readings that scatter 30 times as much along x as along y and z."""
    robot, rng = ec.read_robot("cylindrical"), np.random.default_rng(3)
    q = rng.uniform([0.2, -1.0, 0.4], [0.8, 1.0, 0.9], (40, 3))
    sd = np.array([3e-4, 1e-5, 1e-5])
    read = ec.simulate(robot, q, noise=None).position + rng.normal(size=(40, 1, 3)) * sd

    def found(noise: Any) -> Any:
        return ec.calibrate(robot, ec.Campaign(q=q, position=read, length="m", angle="rad", noise=noise), "geometry")

    by_axes = found(ec.sources.Reading(sd=tuple(sd)))
    assert by_axes.noise["points"] == pytest.approx(np.sqrt(np.mean(sd**2)), rel=0.3)  # all of it is the instrument's
    assert found(ec.sources.Reading(sd=1e-4)).noise["points"] < 5e-5  # one number leaves x to the joints
    three = by_axes.predict(q[:5]).half_width_reading[:, 0]
    assert np.all(three[:, 0] / three[:, 2] > 15)
    again = from_document(json.loads(document_text(by_axes)), "c.json")
    np.testing.assert_allclose(again.predict(q[:5]).half_width_reading[:, 0], three, rtol=1e-9)


def test_two_numbers_are_not_three_axes() -> None:
    with refused("shape", (1e-5, 3e-4), parameter="noise"):
        Instrument.of([Reading(sd=(1e-5, 3e-4))])
    found = Instrument.of([Reading(sd=(1e-5, 2e-5, 3e-5))], readings=2)
    assert found.sd is not None
    assert found.axes is not None
    np.testing.assert_allclose(found.sd * np.array(found.axes), np.sqrt(2) * np.array([1e-5, 2e-5, 3e-5]))


def wavy(wave: float, scatter: float, noise: object) -> tuple[ec.Calibration, float]:
    """An arm whose joints are off by a third wave, which no model word has; how often intervals of the mean hold."""
    rng = np.random.default_rng(4)
    robot = ec.read_robot("fanuc-m710ic50").nominal
    low, high = 0.6 * np.array([m.limits for m in robot.motions]).T
    q = low + (high - low) * rng.random((90, robot.n))
    markers = np.array([[0.1, 0.0, 0.05], [-0.05, 0.1, 0.0], [0.0, -0.1, 0.1]])
    phase = 2 * np.pi * rng.random(robot.n)

    def points(joints: np.ndarray) -> np.ndarray:
        at = robot.kinematics(joints)
        return np.asarray(at.position[:, None] + np.einsum("nij,mj->nmi", at.rotation, markers))

    real = q + 1e-3 * rng.normal(size=robot.n) + wave * np.sin(3 * q + phase)
    true, read = points(real), points(real + scatter * rng.normal(size=q.shape))
    read = read + 2e-5 * rng.normal(size=read.shape)
    shown = robot.controller.to_controller(q)
    data = ec.Campaign(q=shown[:50], position=read[:50], length="m", angle="rad", noise=noise)
    cal = ec.calibrate(robot, data, model="geometry", outliers=False)
    seen = cal.predict(shown[50:])
    return cal, float(np.mean(np.abs(seen.position - true[50:]) <= seen.half_width))


RETURNS = (Reading(sd=2e-5), Repeatability(sd=1e-5))
ENCODERS = (Reading(sd=2e-5), Encoder(sd=1e-5))


@pytest.mark.parametrize(("noise", "code"), [(2e-5, "scatter-not-stated"), (RETURNS, "lack-of-fit")])
def test_what_scatters_beyond_a_stated_noise_is_counted_in_the_mean(noise: object, code: str) -> None:
    """It is the same at every reading of a pose: scatter that is found instead would shrink with their number."""
    cal, inside = wavy(3e-4, 0.0, noise)
    assert code in [w.code for w in cal.warnings]
    assert 1.5e-4 < cal.discrepancy < 6e-4
    assert inside > 0.85  # 0.6 without it


@pytest.mark.parametrize(("scatter", "noise"), [(0.0, 2e-5), (1e-5, ENCODERS)])
def test_a_noise_that_is_stated_and_true_adds_nothing(scatter: float, noise: object) -> None:
    cal, inside = wavy(0.0, scatter, noise)
    assert not {w.code for w in cal.warnings} & {"scatter-not-stated", "lack-of-fit"}
    assert cal.discrepancy == 0
    assert inside > 0.9
