"""Single parameters from a robot that the model does not describe: alarm, coverage, and one bad loading of sixteen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from oracle.draws import draws
from oracle.wrong_models import MARKERS, NOISE, deflections, shifts
from scipy.stats import chi2

import elastocal as ec
from elastocal.measure.markers import Deflection
from elastocal.measure.measured import Measured
from elastocal.measure.setup import Setup
from elastocal.measure.sources.instrument import Reading
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.observation import Marker
from elastocal.reduction.prediction import predict
from elastocal.reduction.study import Study, study
from elastocal.reduction.warnings import calibration_warnings

NAMES = tuple(f"A{i}.k" for i in range(2, 7))


@dataclass(frozen=True)
class Case:
    """``off`` and ``half`` (unseen poses, markers, 3): error of predictions and what they state at 95 %."""

    found: Study
    robot: ec.Robot
    truth: np.ndarray
    q: np.ndarray
    wrench: np.ndarray
    off: np.ndarray
    half: np.ndarray
    bad: int

    @property
    def covered(self) -> float:
        return float(np.mean(np.abs(self.off) <= self.half))

    @property
    def poses(self) -> int:
        return len(self.q) - len(self.off)


def case(wrong: str, seed: int, poses: int = 18, spoiled: float = 1.0, noise: float = NOISE) -> Case:
    """Joint compliances of a KR 270 off by 30 %, and what is ``wrong``; one loading has ``spoiled`` of its load."""
    rng = np.random.default_rng([seed, poses])
    file = ec.read_robot("kuka-kr270")
    table = file.parameters
    values = {n: table.values[table.index(n)] * np.exp(0.3 * rng.normal()) for n in NAMES}
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
    data = Measured(Deflection(setup), seen.reshape(poses, -1), (Reading(sd=NOISE / np.sqrt(2)),))
    found = study(file, data, ["A[2-6].k"], rng=np.random.default_rng(1))
    there = [predict(found.identified, q[poses:], AppliedWrenches("tool", wrench[poses:]), m) for m in MARKERS]
    off = np.stack([p.twist[:, :3] for p in there], axis=1) - moved[poses:]
    half = np.stack([p.half_width[:, :3] for p in there], axis=1)
    return Case(found, file, np.array(list(values.values())), q, wrench, off, half, bad)


def by_differences(c: Case) -> np.ndarray:
    """Derivative (poses, markers, 3, 5) of the deflections by the estimates, from robots solved anew."""
    columns = []
    for name, value in zip(NAMES, c.found.fit.values, strict=True):
        more, less = (c.found.fit.model.with_parameters({name: value * (1 + h)}) for h in (1e-3, -1e-3))
        columns.append((shifts(more, c.q, c.wrench) - shifts(less, c.q, c.wrench)) / (2e-3 * value))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("wrong", ["gear", "hysteresis"])
def test_a_wrong_model_is_an_alarm_no_reading_is_lost_and_predictions_hold(wrong: str) -> None:
    done = [case(wrong, seed) for seed in range(draws(1, 10))]
    assert all(c.found.fit.misfit[0] < 1e-6 for c in done)
    assert all(not c.found.identification.excluded for c in done)
    assert np.mean([c.covered for c in done]) > 0.9
    alarms = [w for w in calibration_warnings(done[0].found, done[0].robot, None) if w.code == "noise-exceeded"]
    assert "explains it" in alarms[0].text
    assert alarms[0].data["share"] > 0.01


def test_a_right_model_gives_no_alarm_and_states_the_error_that_it_has() -> None:
    """Intervals are those of the noise, by derivatives of robots solved anew; errors in units of it are chi2."""
    done = [case("none", seed) for seed in range(draws(2, 10))]
    assert all(c.found.fit.misfit[0] > 0.01 and c.found.fit.share == 0 for c in done)
    squares = 0.0
    for c in done:
        assert c.found.fit.names == NAMES
        slope = by_differences(c)
        seen = slope[: c.poses].reshape(-1, len(NAMES)) / NOISE
        covariance = np.linalg.inv(seen.T @ seen)
        sd = np.sqrt(np.einsum("nmij,jk,nmik->nmi", slope[c.poses :], covariance, slope[c.poses :]))
        np.testing.assert_allclose(c.half, 1.959964 * sd, rtol=2e-3)
        error = c.found.fit.values - c.truth
        squares += float(error @ np.linalg.solve(covariance, error))
    assert chi2.cdf(squares, len(NAMES) * len(done)) == pytest.approx(0.5, abs=0.4995)


def test_a_slight_misfit_of_many_numbers_is_an_alarm() -> None:
    """1.3 times the stated noise over 157 spare numbers has a probability of 1e-7; a ratio of 1.5 would be silent."""
    found = case("none", 1, noise=1.3 * NOISE).found
    assert 1.15 < found.fit.scatter < 1.45
    assert found.fit.misfit[0] < 1e-3
    assert found.fit.share == 0  # noise, not a compliance that differs


@pytest.mark.parametrize("seed", range(draws(2, 10)))
def test_one_bad_loading_of_16_is_left_out_and_the_rest_is_used(seed: int) -> None:
    c = case("none", seed, poses=16, spoiled=0.5)
    assert {o.reading for o in c.found.identification.excluded} == {c.bad}
    assert c.found.fit.misfit[0] > 0.01
    assert c.covered > 0.8
