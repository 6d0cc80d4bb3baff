"""The compensator case: Table 1 against scipy's least squares, curves against the energy, the virtual Table 3."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.table_one import ROWS
from scipy.optimize import least_squares

from elastocal.published.case import SEED, Why, case_named
from elastocal.published.kr270_table3 import TableThree, designed, experiment, spring_words

NAME = "kr270-compensator"
Q = np.radians([r[0] for r in ROWS])
P1, P01, P02 = (np.array([r[1 + 2 * k : 3 + 2 * k] for r in ROWS]) for k in range(3))
PAIR = ("k_c", "s_0")
SOUGHT = (*PAIR, "k_2", "k_3", "k_4", "k_5", "k_6")


@pytest.fixture(scope="module")
def found(outcome):
    return outcome(NAME)


@pytest.fixture(scope="module")
def of(found, figure):
    return lambda name: figure(found, name)


def covariance(fit):
    return np.linalg.inv(fit.jac.T @ fit.jac) * 2 * fit.cost / (len(fit.fun) - fit.jac.shape[1])


@pytest.fixture(scope="module")
def arc():
    def off(x):
        angle = x[3] - Q
        return (P1 - x[:2] - x[2] * np.column_stack([np.cos(angle), np.sin(angle)])).reshape(-1)

    return least_squares(off, [0.0, 0.0, 180.0, 1.7], xtol=1e-15, ftol=1e-15, gtol=1e-15)


def centre_of_markers():
    """Eq. (22)-(26) by hand, both markers together."""
    rows, right = [], []
    for p in (P01, P02):
        s = np.sum(p**2, axis=1)
        rows.append(2 * (p - p.mean(axis=0)))
        right.append(s - s.mean())
    return np.linalg.lstsq(np.concatenate(rows), np.concatenate(right), rcond=None)[0]


def test_the_arc_of_p1_is_that_of_least_squares(of, arc):
    assert of("L_mm") == pytest.approx(arc.x[2], abs=1e-6)
    assert of("L_mm") == pytest.approx(184.72, abs=0.01)
    assert of("L_sd_mm") == pytest.approx(np.sqrt(covariance(arc)[2, 2]), rel=1e-6)
    assert (of("P2_x_mm"), of("P2_y_mm")) == pytest.approx(tuple(arc.x[:2]), abs=1e-6)
    assert of("arc1_rms_mm") == pytest.approx(np.sqrt(np.mean(arc.fun**2)), rel=1e-6)


def test_the_ground_point_is_that_of_the_printed_algorithm(of, arc):
    p0 = centre_of_markers()
    assert (of("P0_x_mm"), of("P0_y_mm")) == pytest.approx(tuple(p0), abs=1e-6)
    assert (of("a_x_mm"), of("a_y_mm")) == pytest.approx(tuple(arc.x[:2] - p0), abs=1e-6)
    assert of("a_x_mm") == pytest.approx(685.93, abs=0.1)
    assert of("a_y_mm") == pytest.approx(119.41, abs=0.01)
    assert (of("a_x_sd_mm"), of("a_y_sd_mm")) == pytest.approx((0.70, 0.32), abs=0.01)


def test_phi0_is_the_angle_that_the_lengths_ask_for(of):
    a, length = np.hypot(of("a_x_mm"), of("a_y_mm")), of("L_mm")
    s = np.linalg.norm(P1 - [of("P0_x_mm"), of("P0_y_mm")], axis=1)

    def off(x):
        return np.sqrt(a**2 + length**2 + 2 * a * length * np.cos(x[0] - Q)) - s

    best = least_squares(off, [1.5], xtol=1e-15)
    assert of("phi0_deg") == pytest.approx(np.degrees(best.x[0]), abs=1e-5)
    assert of("phi0_deg") == pytest.approx(90.07, abs=0.005)
    assert of("s_rms_mm") == pytest.approx(np.sqrt(np.mean(off(best.x) ** 2)), rel=1e-4)
    assert of("s_printed_error_mm") == pytest.approx(np.abs(off([np.radians(of("alpha_deg"))])).max(), rel=1e-6)


def test_one_rotation_for_both_markers_is_that_of_least_squares(of, arc):
    def off(x):
        theta = np.concatenate([[0.0], x[6:]])
        turned = np.exp(1j * theta)
        out = []
        for p, b in ((P01, x[2:4]), (P02, x[4:6])):
            z = turned * (b[0] + 1j * b[1]) + x[0] + 1j * x[1]
            out += [p[:, 0] - z.real, p[:, 1] - z.imag]
        return np.concatenate(out)

    start = [-686.0, -117.5, -186.0, -8.0, -127.0, -138.0, *np.linspace(0, -0.5, 6)[1:]]
    best = least_squares(off, start, xtol=1e-15, ftol=1e-15, gtol=1e-15, x_scale="jac")
    assert of("a_x_rigid_mm") == pytest.approx(arc.x[0] - best.x[0], abs=1e-4)
    spread = np.sqrt(covariance(best)[0, 0] + covariance(arc)[0, 0])
    assert of("a_x_rigid_sd_mm") == pytest.approx(spread, rel=1e-4)
    assert of("a_x_rigid_sd_mm") == pytest.approx(0.59, abs=0.005)
    assert of("pointing_probability") < 1e-3


def test_curves_with_the_fitted_geometry_follow_from_the_energy(of):
    a, length = 1e-3 * np.hypot(of("a_x_mm"), of("a_y_mm")), 1e-3 * of("L_mm")
    q, h = np.radians(np.linspace(-145, 0, 1451)), 1e-4

    def energy(q):
        x = np.radians(of("phi0_deg")) - q
        return (np.sqrt(a**2 + length**2 + 2 * a * length * np.cos(x)) - 0.458) ** 2 / (2 * 0.144e-6)

    bend = (energy(q + h) - 2 * energy(q) + energy(q - h)) / h**2
    assert of("eta_max_fitted") == pytest.approx((bend * 0.144e-6 / (a * length)).max(), rel=1e-5)
    assert of("k2eq_min_fitted") == pytest.approx(1e6 / (1 / 0.302e-6 + bend.max()), rel=1e-5)
    assert of("k2eq_max") < 0.302


def test_the_virtual_table_three(of):
    """Estimates within their accuracy of the truth, accuracies in the bands that the experiment's size allows."""
    truth = dict(zip(SOUGHT, (0.144, 458.0, 0.302, 0.406, 3.002, 3.303, 2.365), strict=True))
    assert of("equations") == 405
    for name in SOUGHT:
        assert abs(of(name) / truth[name] - 1) < 0.04 * of(f"{name}_percent")
        assert of(f"{name}_percent_sampled") == pytest.approx(of(f"{name}_percent"), rel=0.15)
    assert 1.5 < of("k_c_percent") < 3.5
    assert 0.3 < of("s_0_percent") < 0.8
    assert 4 < of("k_c_percent_random") < 8
    assert 0.9 < of("s_0_percent_random") < 2.0
    assert of("k_c_percent_both") < of("k_c_percent_random")
    assert abs(of("k_c_start") / 0.144 - 1) < 0.3
    assert abs(of("s_0_start") / 458 - 1) < 0.1


def test_designed_poses_beat_random_ones_and_no_exchange_improves_them():
    rng = np.random.default_rng(2)
    information = experiment(rng).information()
    chosen = designed(information)
    assert len(set(chosen.tolist())) == 15

    def gain(rows):
        return np.linalg.slogdet(information[rows].sum(axis=0))[1]

    top = gain(chosen)
    assert top > max(gain(rng.choice(len(information), 15, replace=False)) for _ in range(200))
    for i in range(15):
        trials = [[*np.delete(chosen, i).tolist(), c] for c in range(len(information)) if c not in chosen]
        assert max(gain(t) for t in trials) < top + 1e-6


def test_information_is_that_of_central_differences():
    from elastocal.measure.markers import Deflection

    at = experiment(np.random.default_rng(4))
    rows = np.array([3, 40])
    kind = Deflection(at.setup(rows, 1))
    columns = []
    for name, value in zip(at.names, at.values, strict=True):
        up, down = (kind.predict(at.truth.with_parameters({name: value * (1 + s)})) for s in (1e-4, -1e-4))
        columns.append((up - down) / 2e-4)
    slopes = np.stack(columns, axis=2) / (1e-5 * np.sqrt(2 / 3))
    expected = np.einsum("nrp,nrs->nps", slopes, slopes)
    np.testing.assert_allclose(at.information()[rows], expected, rtol=2e-4, atol=1e-4 * np.abs(expected).max())


def test_published_figures_and_the_verdict(found):
    printed = {f.name: f.published for f in found.figures if f.published is not None}
    assert (printed["L_mm"], printed["a_x_mm"], printed["a_y_mm"]) == (184.72, 685.93, 120.30)
    assert (printed["L_sd_mm"], printed["a_x_sd_mm"], printed["a_y_sd_mm"]) == (0.06, 0.70, 0.69)
    assert (printed["k_c_percent"], printed["s_0_percent_random"], printed["k_6_percent"]) == (21.5, 5.9, 4.0)
    assert "encoders" not in found.verdict
    for words in (
        "a_x = 685.99 mm (printed 685.93, 0.06 mm or 0.1 standard deviations away)",
        "119.41 instead of 120.30 mm, 0.89 mm or 2.7 standard deviations away",
        "runs against q2",
        "phi0 = 90.07",
        "235 mm",
        "0.37 to 1.82 MN",
        "405",
    ):
        assert words in found.verdict
    assert [c.key for c in found.curves] == ["eta", "k2eq", "points"]
    put_in = {f.name: f.put_in for f in found.figures if f.put_in is not None}
    assert put_in == {name: printed[name] for s in SOUGHT for name in (s, f"{s}_random")}
    assert {f.why for f in found.figures if "percent" in f.name} == {Why.VIRTUAL}


def test_the_verdict_on_accuracies_names_the_farthest_ones(found, of):
    """Printed per cent over those of random poses, for all seven."""
    times = {s: p / of(f"{s}_percent_random") for s, p in zip(SOUGHT, (21.5, 5.9, 1.3, 2, 3.8, 4.9, 4), strict=True)}
    assert f"{times['k_6']:.1f} (k_6) to {times['k_5']:.0f} (k_5) times" in found.verdict
    assert times["k_6"] == min(times.values()) < 1.5
    assert times["k_5"] == max(times.values()) > 25
    assert "explain k_c, s_0, k_2, k_6 in size, but not k_3, k_4, k_5 (case design)" in found.verdict


def test_the_verdict_on_sampling_is_computed(found, of):
    off = {s: 100 * (of(f"{s}_percent_sampled") / of(f"{s}_percent") - 1) for s in SOUGHT}
    worst = max(off, key=lambda s: abs(off[s]))
    assert f"sampling agrees (most for {worst}, by {off[worst]:+.0f} %)" in found.verdict
    same = dict.fromkeys(SOUGHT, 2.0)
    plain = TableThree(405, same, same, same, same, True, same, same, same, 0)
    assert "sampling agrees (most" in spring_words(plain)
    assert "sampling differs (most for k_c, by +30 %)" in spring_words(replace(plain, sampled={**same, "k_c": 2.6}))
    unmixed = spring_words(replace(plain, converged=False))
    assert "have not mixed" in unmixed
    assert "agrees" not in unmixed


def test_the_same_seed_gives_the_same_figures(found):
    again = case_named(NAME).run(np.random.default_rng(SEED))
    assert [f.recomputed for f in again.figures] == [f.recomputed for f in found.figures]
    assert again.verdict == found.verdict


def test_the_measured_points_are_drawn_on_their_arcs(found, of):
    """Fig. 3 with Table 1: every drawn arc runs through its markers, every spring from P0 to a point P1."""
    drawn = {s.name: s for s in found.curves[2].series}
    assert found.curves[2].equal
    arcs = np.array([drawn["fitted arcs"].x, drawn["fitted arcs"].y]).T
    arcs = arcs[np.isfinite(arcs[:, 1])]
    for name in ("P1", "P01", "P02"):
        marks = np.array([drawn[f"{name} of Table 1"].x, drawn[f"{name} of Table 1"].y]).T
        nearest = np.linalg.norm(arcs[None] - marks[:, None], axis=2).min(axis=1)
        assert nearest.max() < 6  # half the distance of two drawn points, and 1 mm of noise
    nodes = drawn["P2 (axis 2) and P0"]
    assert (nodes.x[1], nodes.y[1]) == pytest.approx((of("P0_x_mm"), of("P0_y_mm")))
    assert np.hypot(nodes.x[0], nodes.y[0]) == pytest.approx(np.hypot(of("P2_x_mm"), of("P2_y_mm")))
    assert drawn["spring P0 P1"].x[:2] == pytest.approx((of("P0_x_mm"), -31.84))
