"""The cylindrical robot: recovery, compensation, and the noise table against what linear least squares must give."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import halfnorm

from elastocal.published.case import SEED, Kind
from elastocal.published.cylindrical import (
    EXAGGERATED,
    NOISE,
    READINGS,
    STANDARD,
    TABLE,
    VARIANCE,
    VARIANCE_M,
    Level,
    likelihood,
    vertical_force,
)


def wrenches(seed=SEED):
    """The 30 random wrenches of a run: configurations are drawn first."""
    rng = np.random.default_rng(seed)
    rng.uniform(size=(30, 3))
    return rng.uniform(-1000, 1000, (30, 6))


def test_the_robot_is_recovered_and_its_path_met(outcome, figure) -> None:
    of = outcome("cylindrical")
    assert figure(of, "recovery_relative") < 1e-10
    assert figure(of, "compensated_residual_m") < 1e-9
    assert figure(of, "largest_residual_m") < 1e-9
    assert figure(of, "uncalibrated_z_mm") == pytest.approx(1.0, rel=1e-9)  # 1000 N on 1e6 N/m


def test_the_error_in_z_is_what_the_vertical_forces_leave(outcome, figure) -> None:
    """k1 is fitted from dz = k1 Fz alone: sd(k1) = sd / |Fz|, and the error of 1000 N is normal."""
    of = outcome("cylindrical")
    force = np.linalg.norm(wrenches()[:, 2])
    for v in NOISE:
        for reading, ending in ((STANDARD, "mm"), (VARIANCE, "mm2")):
            expected = 1e3 * np.sqrt(2 / np.pi) * 1000.0 * reading.sd(v) / force
            assert figure(of, f"error_z_mm_at_{1e3 * v:g}{ending}") == pytest.approx(expected, rel=0.25)


def test_a_variance_is_read_in_square_millimetres() -> None:
    assert [r.sd(1e-5) for r in READINGS] == pytest.approx([1e-5, 1e-4, np.sqrt(1e-5)])
    assert [VARIANCE.sd(v) ** 2 * 1e6 for v in NOISE] == pytest.approx([0.01, 0.05, 0.1, 0.5])
    assert VARIANCE_M.sd(5e-4) == pytest.approx(22.36e-3, rel=1e-3)


def test_both_readings_use_the_same_draws(outcome, figure) -> None:
    """Errors are linear in the noise, so the same draws differ by the ratio of the standard deviations."""
    of = outcome("cylindrical")
    for axis in "xyz":
        for v in NOISE:
            one, other = (figure(of, f"error_{axis}_mm_at_{1e3 * v:g}{u}") for u in ("mm", "mm2"))
            assert other / one == pytest.approx(VARIANCE.sd(v) / v, rel=1e-2)


def test_errors_grow_with_the_noise(outcome, figure) -> None:
    of = outcome("cylindrical")
    for unit, factor in (("mm", 50), ("mm2", np.sqrt(50))):
        small, large = (figure(of, f"error_x_mm_at_{s}{unit}") for s in ("0.01", "0.5"))
        assert large / small == pytest.approx(factor, rel=0.3)


def test_ranges_and_notes_of_a_level() -> None:
    first = np.array(TABLE[1e-5])
    spread = np.linspace(0, 1, 101)[:, None]
    around = Level(1e-5, STANDARD, 2 * first * spread)
    assert around.range == pytest.approx(np.stack([0.1 * first, 1.9 * first]))
    notes = [f.note for f in around.figures()]
    assert "stiffnesses and path not printed" in notes[0]
    assert "the calibration's wrenches not printed" in notes[2]


def test_nothing_of_the_report_is_recomputed_from_print(outcome) -> None:
    printed = [f for f in outcome("cylindrical").figures if f.published is not None]
    assert len(printed) == 30
    assert all(f.kind is Kind.SIZE for f in printed)


def test_errors_in_z_depend_on_nothing_but_noise_and_vertical_forces(outcome, figure) -> None:
    """By hand: z over sigma of the four rows, read as a standard deviation and as a variance."""
    of = outcome("cylindrical")
    by_hand = {
        "mm": (77 / 10, 193 / 50, 308 / 100, 266 / 500),
        "mm2": (0.077 / 0.1, 0.193 / np.sqrt(0.05), 0.308 / np.sqrt(0.1), 0.266 / np.sqrt(0.5)),
    }
    for unit, values in by_hand.items():
        assert [figure(of, f"z_over_sd_at_{1e3 * v:g}{unit}") for v in NOISE] == pytest.approx(values)


@pytest.mark.parametrize("reading", READINGS)
def test_the_likelihood_in_z_is_the_best_over_all_sizes_of_wrenches(reading) -> None:
    """scipy's half-normal distribution, its width times sigma minimised numerically."""
    z = np.array([1e-3 * TABLE[v][2] for v in NOISE])

    def cost(log_size, sd):
        return -halfnorm.logpdf(z, scale=np.exp(log_size) * sd).sum()

    best, other = (
        minimize_scalar(cost, bracket=(-4, 2), args=(np.array([r.sd(v) for v in NOISE]),)) for r in (reading, STANDARD)
    )
    assert likelihood(reading) / likelihood(STANDARD) == pytest.approx(np.exp(other.fun - best.fun), rel=1e-6)
    assert vertical_force(reading) == pytest.approx(1000 / np.exp(best.x) / np.sqrt(30), rel=1e-4)


def test_the_verdict_tells_which_reading_fits(outcome, figure) -> None:
    of = outcome("cylindrical")
    odds = figure(of, "likelihood_ratio_z")
    assert 5 < odds < 7
    assert f"so the variance fits better, {odds:.2g} times as likely" in of.verdict
    assert "7.7, 3.9, 3.1, 0.53 if" in of.verdict
    assert "no proof" in of.verdict
    paths = {"path", *(f"path_{1e3 * v:g}mm2" for v in NOISE)}
    assert {c.key for c in of.curves} == {*paths, "noise_x", "noise_y", "noise_z"}
    drawn = next(c for c in of.curves if c.key == "noise_z")
    assert drawn.series[0].y == tuple(TABLE[v][2] for v in NOISE)
    assert drawn.series[2].y[-1] == figure(of, "error_z_mm_at_0.5mm2")


def test_paths_are_drawn_as_loaded(outcome, figure) -> None:
    """Means of the drawn paths are the figures; the noisier the readings, the farther the compensated path."""
    of = outcome("cylindrical")
    curves = {c.key: c for c in of.curves}
    desired, bare, clean = curves["path"].series
    off = [np.mean(np.abs(np.subtract(a, b))) / EXAGGERATED for a, b in ((bare.x, desired.x), (bare.y, desired.y))]
    assert off == pytest.approx([figure(of, f"uncalibrated_{axis}_mm") for axis in "xy"], rel=1e-9)
    assert np.abs(np.subtract(clean.x, desired.x)).max() < 1e-6
    rest = []
    for v in NOISE:
        wanted, raw, left = curves[f"path_{1e3 * v:g}mm2"].series
        assert raw == bare
        assert wanted == desired
        rest.append(np.hypot(np.subtract(left.x, wanted.x), np.subtract(left.y, wanted.y)).mean() / EXAGGERATED)
        assert 0.05 < rest[-1] / figure(of, f"error_x_mm_at_{1e3 * v:g}mm2") < 10
    assert rest[-1] > rest[0]


def test_the_general_correction_is_the_closed_form() -> None:
    """q = IK(x) - k Q with Q at IK(x), for a robot whose joints alone bend."""
    from elastocal.files.robot.read import read_robot
    from elastocal.published.cylindrical import Paths

    truth = read_robot("cylindrical")
    place = np.array([[0.6, 0.2, 0.5], [0.4, -0.3, 0.7]])
    off = Paths(truth, place, 1000.0).compensated(np.array([0.9e-6, 0.4e-6, 2.2e-6])).after.position
    meant = np.column_stack([place[:, 2], np.arctan2(place[:, 1], place[:, 0]), np.hypot(place[:, 0], place[:, 1])])

    def pushed(v: np.ndarray) -> np.ndarray:
        c, s = np.cos(v[:, 1]), np.sin(v[:, 1])
        return 1000 * np.column_stack([np.ones(len(v)), 1 + v[:, 2] * (c - s), c + s])

    command, v = meant - np.array([0.9e-6, 0.4e-6, 2.2e-6]) * pushed(meant), meant
    for _ in range(30):
        v = command + np.array([1e-6, 0.5e-6, 2e-6]) * pushed(v)
    there = np.column_stack([v[:, 2] * np.cos(v[:, 1]), v[:, 2] * np.sin(v[:, 1]), v[:, 0]])
    np.testing.assert_allclose(off, there - place, rtol=1e-8)
    assert np.abs(off).min() > 1e-6
