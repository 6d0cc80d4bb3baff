"""Single parameters from a robot that the model does not describe: alarm, coverage, and one bad loading of sixteen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from oracle.draws import draws
from oracle.wrong_models import MARKERS, NOISE, deflections

import elastocal as ec
from elastocal.measure.campaign import Campaign
from elastocal.measure.deflection import Deflection
from elastocal.measure.setup import Setup
from elastocal.measure.sources.reading import Reading
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.observation import Marker
from elastocal.reduction.prediction import predict
from elastocal.reduction.study import Study, study
from elastocal.reduction.warnings import calibration_warnings


@dataclass(frozen=True)
class Case:
    found: Study
    robot: ec.Robot
    covered: float
    bad: int


def case(wrong: str, seed: int, poses: int = 18, spoiled: float = 1.0, noise: float = NOISE) -> Case:
    """Joint compliances of a KR 270 off by 30 %, and what is ``wrong``; one loading has ``spoiled`` of its load."""
    rng = np.random.default_rng([seed, poses])
    file = ec.read_robot("kuka-kr270")
    table = file.parameters
    names = [f"A{i}.k" for i in range(2, 7)]
    values = {n: table.values[table.index(n)] * np.exp(0.3 * rng.normal()) for n in names}
    low, high = 0.7 * np.array([m.limits for m in file.motions]).T
    q = low + (high - low) * rng.random((poses + 15, file.n))
    push = rng.normal(size=(len(q), 3))
    wrench = np.zeros((len(q), 6))
    wrench[:, :3] = rng.uniform(1000, 3000, size=(len(q), 1)) * push / np.linalg.norm(push, axis=1, keepdims=True)
    bad, applied = int(rng.integers(poses)), wrench.copy()
    applied[bad] *= spoiled
    moved = deflections(wrong, file.with_parameters(values), q, applied, rng)
    seen = moved[:poses] + noise * rng.normal(size=(poses, len(MARKERS), 3))
    setup = Setup(q[:poses], AppliedWrenches("tool", wrench[:poses]), tuple(Marker(m) for m in MARKERS))
    data = Campaign(Deflection(setup), seen.reshape(poses, -1), (Reading(sd=NOISE / np.sqrt(2)),))
    found = study(file, data, ["A[2-6].k"], rng=np.random.default_rng(1))
    inside = []
    for k, marker in enumerate(MARKERS):
        there = predict(found.identified, q[poses:], AppliedWrenches("tool", wrench[poses:]), marker)
        inside.append(np.abs(there.twist[:, :3] - moved[poses:, k]) <= there.half_width[:, :3])
    return Case(found, file, float(np.mean(inside)), bad)


@pytest.mark.parametrize("wrong", ["gear", "hysteresis"])
def test_a_wrong_model_is_an_alarm_no_reading_is_lost_and_predictions_hold(wrong: str) -> None:
    done = [case(wrong, seed) for seed in range(draws(1, 10))]
    assert all(c.found.fit.misfit.probability < 1e-6 for c in done)
    assert all(not c.found.identification.excluded for c in done)
    assert np.mean([c.covered for c in done]) > 0.9
    alarms = [w for w in calibration_warnings(done[0].found, done[0].robot, None) if w.code == "noise-exceeded"]
    assert "explains it" in alarms[0].text
    assert alarms[0].data["share"] > 0.01


def test_a_right_model_gives_no_alarm() -> None:
    done = [case("none", seed) for seed in range(draws(2, 10))]
    assert all(c.found.fit.misfit.probability > 0.01 and c.found.fit.share == 0 for c in done)
    assert np.mean([c.covered for c in done]) > 0.95 - 0.3 / np.sqrt(len(done))  # intervals of one robot go together


def test_a_slight_misfit_of_many_numbers_is_an_alarm() -> None:
    """1.3 times the stated noise over 157 spare numbers has a probability of 1e-7; a ratio of 1.5 would be silent."""
    found = case("none", 1, noise=1.3 * NOISE).found
    assert 1.15 < found.fit.scatter < 1.45
    assert found.fit.misfit.probability < 1e-3
    assert found.fit.share == 0  # noise, not a compliance that differs


@pytest.mark.parametrize("seed", range(draws(2, 10)))
def test_one_bad_loading_of_16_is_left_out_and_the_rest_is_used(seed: int) -> None:
    c = case("none", seed, poses=16, spoiled=0.5)
    assert {o.reading for o in c.found.identification.excluded} == {c.bad}
    assert c.found.fit.misfit.probability > 0.01
    assert c.covered > 0.8
