"""Loops: four lines by hand, least squares by scipy, what the readings leave open, what they contradict."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.dial_gauge import LINES, plan, readings
from oracle.refusals import refused
from scipy.linalg import lstsq
from scipy.stats import linregress
from scipy.stats import t as student

from elastocal.procedures.loops.fit import fit_loops
from elastocal.procedures.loops.loop import loop_of

P, G, H, NOISE = 3.76e-5, 1.0e-4, 8e-6, 2e-6


def fitted(*args, noise=None, threshold=0.0):
    return fit_loops([loop_of(*args, threshold=threshold)], noise)[0]


def numbers(fit):
    return np.array([e.value for e in (fit.compliance, fit.half_gap, fit.half_hysteresis)])


def test_exact_readings_give_the_values_back():
    fit = fitted(*readings(P, G, H))
    assert numbers(fit) == pytest.approx([P, G, H], rel=1e-10)
    assert fit.offsets[[0, -1]] == pytest.approx([5e-5, 1.5e-4], rel=1e-9)
    assert fit.departures.straight


def test_gap_and_hysteresis_are_those_of_the_four_intercepts():
    """Four regressions with one slope, their intercepts combined by hand."""
    force, way, cycle = readings(P, G, H, cycles=1, noise=NOISE, rng=np.random.default_rng(1))
    line = np.array([name for _, name in plan()])
    centred = {n: (force[line == n] - force[line == n].mean(), way[line == n]) for n in LINES}
    slope = sum(f @ s for f, s in centred.values()) / sum(f @ f for f, _ in centred.values())
    a = {n: (way - slope * force)[line == n].mean() for n in LINES}
    # as many weights as readings: loading has 4, unloading 3, so the one condition that closes the loop is shared out
    fit = fitted(force, way, cycle)
    free = lstsq(np.column_stack([force, *(line == n for n in LINES)]).astype(float), way)[0]
    assert slope == pytest.approx(free[0], rel=1e-10)
    assert fit.half_gap.value == pytest.approx(
        (a["push"] + a["let go"] - a["pull"] - a["let go of pull"]) / 4, rel=0.02
    )
    assert fit.half_hysteresis.value == pytest.approx(
        (a["let go"] - a["push"] - a["let go of pull"] + a["pull"]) / 4, rel=0.1
    )


def test_values_and_covariance_against_scipy():
    force, way, cycle = readings(P, G, H, noise=NOISE, rng=np.random.default_rng(2))
    fit = fitted(force, way, cycle)
    signs = np.array([LINES[name] for _, name in plan()] * 3, dtype=float)
    x = np.column_stack([force, signs, cycle == 1, cycle == 2, cycle == 3])
    beta, rss, rank, _ = lstsq(x, way)
    assert rank == 6
    covariance = rss / (len(way) - 6) * np.linalg.inv(x.T @ x)
    assert numbers(fit) == pytest.approx(beta[:3], rel=1e-9)
    sd = [e.sd for e in (fit.compliance, fit.half_gap, fit.half_hysteresis)]
    assert sd == pytest.approx(np.sqrt(np.diag(covariance))[:3], rel=1e-7)
    assert fit.freedom == len(way) - 6
    assert fit.correlation == pytest.approx(covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]), rel=1e-7)


def test_one_line_alone_is_an_ordinary_regression():
    """One sense, loading only: the slope and its sd are those of scipy's linregress; gap and hysteresis are open."""
    rng = np.random.default_rng(3)
    force = np.arange(5.0, 50.0, 5.0)
    way = P * force + 1e-4 + NOISE * rng.normal(size=len(force))
    other = linregress(force, way)
    fit = fitted(force, way)
    assert fit.compliance.value == pytest.approx(other.slope, rel=1e-10)
    assert fit.compliance.sd == pytest.approx(other.stderr, rel=1e-9)
    assert np.isnan(fit.half_gap.value)
    assert "push in both senses" in fit.half_gap.reason
    push, pull = fit.departures.slopes
    assert push.value == pytest.approx(other.slope, rel=1e-10)
    assert pull.reason == "no reading in this sense"


@pytest.mark.parametrize(
    ("lines", "open_", "advice"),
    [
        (("push", "let go"), {"gap"}, "push in both senses"),
        (("push", "pull"), {"gap", "hysteresis"}, "while loading and while unloading"),
        (("push",), {"gap", "hysteresis"}, "push in both senses"),
    ],
)
def test_what_a_part_of_a_loop_leaves_open(lines, open_, advice):
    keep = np.array([line in lines for _, line in plan()] * 3)
    fit = fitted(*(v[keep] for v in readings(P, G, H)))
    values = {"compliance": fit.compliance, "gap": fit.half_gap, "hysteresis": fit.half_hysteresis}
    assert {n for n, e in values.items() if not e.known} == open_
    assert fit.compliance.value == pytest.approx(P, rel=1e-9)
    for name in open_:
        assert advice in values[name].reason


def test_the_hysteresis_of_a_sweep_hangs_on_its_first_reading():
    """From +40 down to -40 N in one go: the first reading, loaded from zero, is the only one on its branch."""
    force = np.array([40.0, 30.0, 20.0, 10.0, -10.0, -20.0, -30.0, -40.0])
    way = P * force + G * np.sign(force) + H * np.array([-1.0, *[1.0] * 7])
    assert list(loop_of(force, way).branch) == [1.0, *[-1.0] * 7]
    fit = fitted(force, way)
    assert fit.half_hysteresis.value == pytest.approx(H, rel=1e-9)
    assert fit.solution.leverage[0] == pytest.approx(1.0)


def test_forces_of_one_size_leave_compliance_and_gap_open():
    force, way, cycle = readings(P, G, H, steps=(40.0, 20.0, 40.0))
    one = np.abs(force) == 40
    fit = fitted(force[one], way[one], cycle[one])
    assert not fit.compliance.known
    assert not fit.half_gap.known
    assert "several sizes of force" in fit.compliance.reason
    assert "several sizes of force" in fit.half_gap.reason


def test_each_cycle_in_its_own_sense_leaves_the_gap_open():
    force, way, _ = readings(P, G, H, cycles=1)
    fit = fitted(force, way, (force < 0).astype(int))
    assert fit.compliance.value == pytest.approx(P, rel=1e-9)
    assert not fit.half_gap.known
    assert "within each cycle" in fit.half_gap.reason


def test_too_few_readings_have_no_accuracy_unless_the_noise_is_stated():
    force, way = [10.0, 40.0, 10.0, -10.0], [P * 10 + G - H, P * 40 + G - H, P * 10 + G + H, -P * 10 - G + H]
    fit = fitted(force, way)
    assert numbers(fit) == pytest.approx([P, G, H], rel=1e-9)
    assert np.isnan(fit.compliance.sd)
    assert "no reading to spare" in fit.compliance.reason
    stated = fitted(force, way, noise=NOISE)
    inverse = np.linalg.inv(np.array([[10, 1, -1, 1], [40, 1, -1, 1], [10, 1, 1, 1], [-10, -1, 1, 1.0]]))
    assert stated.compliance.sd == pytest.approx(NOISE * np.linalg.norm(inverse[0]), rel=1e-9)
    assert stated.half_gap.half_width() == pytest.approx(1.959964 * NOISE * np.linalg.norm(inverse[1]), rel=1e-6)
    two = fitted([10.0, 20.0], [1e-4, 2e-4])
    assert two.compliance.value == pytest.approx(1e-5)
    assert not two.half_gap.known


def test_readings_at_zero_force_take_no_part():
    with_zeros = fitted(*readings(P, G, H, zeros=True))
    assert numbers(with_zeros) == pytest.approx([P, G, H], rel=1e-10)
    assert with_zeros.undetermined == 6
    small = fitted(*readings(P, G, H, steps=(5.0, 20.0, 30.0, 40.0)), threshold=5.0)
    assert small.undetermined == 12
    assert numbers(small) == pytest.approx([P, G, H], rel=1e-10)


def test_the_branch_is_that_of_the_last_change_of_force():
    held = loop_of([10, 20, 20, 10, 10, -10, -20, -10], np.zeros(8))
    assert list(held.branch) == [1, 1, 1, -1, -1, -1, -1, 1]
    trembling = loop_of([10, 20, 20.4, 19.8, 10], np.zeros(5), threshold=0.5)
    assert list(trembling.branch) == [1, 1, 1, 1, -1]
    anew = loop_of([-10, -20, -10, -10, -20], np.zeros(5), [1, 1, 1, 2, 2])
    assert list(anew.branch) == [-1, -1, 1, -1, -1]


def test_hysteresis_larger_than_the_gap_is_separated_all_the_same():
    fit = fitted(*readings(P, 1e-5, 4e-5))
    assert numbers(fit) == pytest.approx([P, 1e-5, 4e-5], rel=1e-9)


@pytest.mark.parametrize("rows", [[5], [5, 17]])
def test_gross_errors_are_named_and_leave_no_trace(rows):
    rng = np.random.default_rng(4)
    force, way, cycle = readings(P, G, H, noise=NOISE, rng=rng)
    clean = fitted(force, way, cycle)
    assert not clean.outliers
    spoilt = way.copy()
    spoilt[rows] += 1e-4
    fit = fitted(force, spoilt, cycle)
    assert sorted(o.row for o in fit.outliers) == rows
    keep = np.ones(len(way), dtype=bool)
    keep[rows] = False
    without = fit_loops([loop_of(force, spoilt, cycle)])[0]
    assert list(np.flatnonzero(~without.used)) == rows
    assert abs(fit.half_gap.value - clean.half_gap.value) < clean.half_gap.sd
    for o in fit.outliers:
        assert o.value - o.predicted == pytest.approx(1e-4, abs=4 * NOISE + 1e-5 * (len(rows) > 1))


def test_an_outlier_is_judged_by_a_prediction_from_the_others():
    """Fitted by scipy without the reading: its deviation over the standard deviation of a new reading there."""
    force, way, cycle = readings(P, G, H, noise=NOISE, rng=np.random.default_rng(4))
    way[5] += 3e-5
    signs = np.array([LINES[name] for _, name in plan()] * 3, dtype=float)
    x = np.column_stack([force, signs, cycle == 1, cycle == 2, cycle == 3])
    rest = np.arange(len(way)) != 5
    beta, rss, _, _ = lstsq(x[rest], way[rest])
    spread = np.sqrt(rss / (rest.sum() - 6) * (1 + x[5] @ np.linalg.inv(x[rest].T @ x[rest]) @ x[5]))
    (found,) = fitted(force, way, cycle).outliers
    t = (way[5] - x[5] @ beta) / spread
    assert found.predicted == pytest.approx(x[5] @ beta, rel=1e-9)
    assert found.sigmas == pytest.approx(t, rel=1e-7)
    assert found.probability == pytest.approx(2 * 42 * student.sf(t, rest.sum() - 6), rel=1e-5)


def test_a_stated_noise_protects_readings_within_it():
    force, way, cycle = readings(P, G, H, noise=NOISE, rng=np.random.default_rng(4))
    way[5] += 3e-5
    assert fitted(force, way, cycle).outliers[0].row == 5
    assert not fitted(force, way, cycle, noise=2e-5).outliers
    assert fitted(force, way, cycle, noise=2e-5).sigma == 2e-5
    hopeful = fitted(force, way, cycle, noise=1e-8)
    assert hopeful.sigma == pytest.approx(NOISE, rel=0.3)
    assert hopeful.freedom == 35


def test_the_noise_is_common_and_a_loop_that_scatters_more_keeps_its_own():
    rng = np.random.default_rng(5)
    sizes = (1.0, 1.0, 1.0, 8.0)
    loops = [loop_of(*readings(P, G, H, noise=s * NOISE, rng=rng)) for s in sizes]
    fits = fit_loops(loops)
    assert [f.alone for f in fits] == [False, False, False, True]
    spare = sum(f.solution.freedom for f in fits[:3])
    rss = sum(float(f.solution.residuals @ f.solution.residuals) for f in fits[:3])
    assert fits[0].sigma == pytest.approx(np.sqrt(rss / spare), rel=1e-10)
    assert fits[0].freedom == spare == 3 * 36
    assert fits[3].sigma == pytest.approx(8 * NOISE, rel=0.35)
    assert fits[3].freedom == 36


def test_bad_arrays_are_refused():
    with refused("loop-lengths"):
        loop_of([1.0, 2.0], [1.0])
    with refused("number", [1.0, np.nan], parameter="displacement"):
        loop_of([1.0, 2.0], [1.0, np.nan])
