"""Do the stated intervals of loops hold the truth as often as they say?  Small loops, so that Student's t matters."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.dial_gauge import readings
from oracle.draws import draws, spread_of_share

from elastocal.procedures.loops.directions import fit_directions
from elastocal.procedures.loops.fit import fit_loops
from elastocal.procedures.loops.loop import loop_of

P, G, H, NOISE = 3.76e-5, 1.0e-4, 8e-6, 2e-6
ANGLES = np.radians([0.0, 30.0, 75.0, 120.0, 160.0])
UNITS = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
DRAWS = draws(150, 2000)
FAMILIES = draws(50, 600)


def share_within(share, hits, count):
    assert abs(hits / count - share) < spread_of_share(share, count)


@pytest.mark.parametrize("level", [0.68, 0.95])
def test_single_loops_of_few_readings(level):
    """Three forces, one cycle: ten readings, four unknowns, six to spare."""
    rng = np.random.default_rng(1)
    hits = np.zeros(3)
    for _ in range(DRAWS):
        loop = loop_of(*readings(P, G, H, cycles=1, steps=(10.0, 25.0, 40.0), noise=NOISE, rng=rng))
        fit = fit_loops([loop])[0]
        assert fit.freedom in (6, 5)
        found = (fit.compliance, fit.half_gap, fit.half_hysteresis)
        hits += [abs(e.value - t) <= e.half_width(level) for e, t in zip(found, (P, G, H), strict=True)]
    for count in hits:
        share_within(level, count, DRAWS)


def test_directions_matrices_and_the_tests_of_them():
    rng = np.random.default_rng(2)
    p = np.array([[4e-5, 2e-6], [2e-6, 3.5e-5]])
    compliances = np.einsum("ni,ij,nj->n", UNITS, p, UNITS)
    gaps = np.hypot(1e-4 * UNITS[:, 0], 5e-5 * UNITS[:, 1])
    truth_p, truth_g = np.linalg.eigvalsh(p)[::-1], np.array([1e-4, 5e-5])
    hits, rejected = np.zeros(4), np.zeros(2)
    for _ in range(FAMILIES):
        loops = [
            loop_of(*readings(c, g, H, cycles=1, steps=(10.0, 25.0, 40.0), noise=NOISE, rng=rng))
            for c, g in zip(compliances, gaps, strict=True)
        ]
        fits = fit_loops(loops)
        tensor = fit_directions(UNITS, [f.compliance for f in fits], root=False)
        ellipse = fit_directions(UNITS, [f.half_gap for f in fits], root=True)
        width = fits[0].compliance.half_width() / fits[0].compliance.sd
        hits[:2] += np.abs(tensor.principal.values - truth_p) <= width * tensor.principal.sd
        hits[2:] += np.abs(ellipse.principal.values - truth_g) <= width * ellipse.principal.sd
        rejected += [tensor.matrix.probability < 0.1, ellipse.matrix.probability < 0.1]
    for count in hits:
        share_within(0.95, count, FAMILIES)
    for count in rejected:
        share_within(0.1, count, FAMILIES)


def test_one_number_is_rejected_as_seldom_as_stated():
    rng = np.random.default_rng(3)
    false = np.zeros(2)
    for _ in range(FAMILIES):
        fits = fit_loops([loop_of(*readings(P, G, H, cycles=1, noise=NOISE, rng=rng)) for _ in UNITS])
        pair = (([f.compliance for f in fits], False), ([f.half_gap for f in fits], True))
        false += [fit_directions(UNITS, e, root).one.probability < 0.1 for e, root in pair]
    for count in false:
        share_within(0.1, count, FAMILIES)


@pytest.mark.parametrize("compliance", [2e-6, None])
def test_a_division_coarser_than_the_noise_is_in_the_intervals(compliance):
    """Steps of 15 N: 30 um at 2 um/N, which the division of 10 um divides; and any other compliance."""
    rng, hits = np.random.default_rng(4), np.zeros(3)
    for _ in range(FAMILIES):
        truth = compliance or rng.uniform(1.8e-6, 2.2e-6), rng.uniform(3e-5, 5e-5), rng.uniform(3e-6, 8e-6)
        force, way, cycle = readings(
            *truth, cycles=1, steps=np.arange(10, 101, 15.0), offset=rng.uniform(-5e-6, 5e-6), noise=5e-7, rng=rng
        )
        fit = fit_loops([loop_of(force, 1e-5 * np.round(way / 1e-5), cycle)])[0]
        found = (fit.compliance, fit.half_gap, fit.half_hysteresis)
        hits += [abs(e.value - t) <= e.half_width() for e, t in zip(found, truth, strict=True)]
    for count in hits:
        assert count / FAMILIES > 0.95 - spread_of_share(0.95, FAMILIES)
