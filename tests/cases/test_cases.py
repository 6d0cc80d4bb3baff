"""Published cases: the registry, and the figures against independent arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from elastocal.cases.case import Outcome, case_named, registry
from elastocal.errors import UnknownNameError


def outcome(name: str, seed: int = 1) -> Outcome:
    return case_named(name).run(np.random.default_rng(seed))


def figure(of: Outcome, name: str) -> float:
    value = next(f.recomputed for f in of.figures if f.name == name)
    assert value is not None
    return value


def test_every_case_states_itself() -> None:
    found = registry()
    assert {"kr270-compensator", "kr270-elastostatic"} <= set(found)
    for name, case in found.items():
        assert case.name == name
        assert case.title
        assert case.source


def test_an_unknown_case_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="kr270-compensator"):
        case_named("kr270-compensater")


def test_compensator_figures_follow_from_the_spring_energy() -> None:
    """eta and the force by differentiating U = (s - s0)^2 / 2 k_c numerically, not by the printed formulas."""
    a, length, phi0, k_c, s_0 = np.hypot(0.68593, 0.12030), 0.18472, np.radians(90.07), 0.144e-6, 0.458
    q = np.radians(np.linspace(-145, 0, 1451))
    h = 1e-4

    def energy(q: np.ndarray) -> np.ndarray:
        return (np.sqrt(a**2 + length**2 + 2 * a * length * np.cos(phi0 - q)) - s_0) ** 2 / (2 * k_c)

    stiffness = (energy(q + h) - 2 * energy(q) + energy(q - h)) / h**2
    eta = stiffness * k_c / (a * length)
    k2 = 1e6 / (1 / 0.302e-6 + stiffness)
    force = np.sqrt(2 * energy(q) / k_c)
    of = outcome("kr270-compensator")
    for name, values in (("eta", eta), ("k2eq", k2), ("spring_force", 1e-6 * force)):
        assert figure(of, f"{name}_min") == pytest.approx(values.min(), rel=1e-5)
        assert figure(of, f"{name}_max") == pytest.approx(values.max(), rel=1e-5)
    assert figure(of, "eta_min") == pytest.approx(0.105, abs=5e-4)
    assert figure(of, "eta_max") == pytest.approx(0.317, abs=5e-4)


def test_elastostatic_model_sizes_and_ranks() -> None:
    of = outcome("kr270-elastostatic")
    published = {f.name: f.published for f in of.figures}
    sizes = {"params_complete": 260, "params_links_joints": 258, "params_symmetric": 153, "params_template": 62}
    for name, count in sizes.items():
        assert figure(of, name) == published[name] == count
    assert figure(of, "rank_links_joints") == 180
    assert figure(of, "rank_symmetric") == 105
    assert figure(of, "rank_template") == 33


def test_ranks_do_not_depend_on_the_draw() -> None:
    ranks = [[f.recomputed for f in outcome("kr270-elastostatic", seed).figures if "rank" in f.name] for seed in (2, 3)]
    assert ranks[0] == ranks[1]


def test_curves_hold_the_figures() -> None:
    of = outcome("kr270-compensator")
    eta, k2 = of.curves
    published = next(s for s in eta.series if "458" in s.name)
    assert max(published.y) == pytest.approx(figure(of, "eta_max"), rel=1e-4)
    assert min(k2.series[0].y) == pytest.approx(figure(of, "k2eq_min"), rel=1e-4)


def test_the_orthoglide_ratios_are_the_printed_ones() -> None:
    of = outcome("orthoglide-link")
    assert figure(of, "identifiable_count") == 9
    for f in of.figures:
        if f.name.startswith("nu_"):
            assert f.published is not None
            assert f.recomputed == pytest.approx(f.published, rel=4e-3)


def test_the_cylindrical_robot_is_recovered_and_its_path_met() -> None:
    of = outcome("cylindrical")
    assert figure(of, "recovery_relative") < 1e-10
    assert figure(of, "compensated_residual_m") < 1e-9
    assert figure(of, "uncalibrated_z_mm") == pytest.approx(1.0, rel=1e-9)  # 1000 N on 1e6 N/m
    small, large = (figure(of, f"error_x_mm_at_{s}mm") for s in ("0.01", "0.5"))
    assert large / small == pytest.approx(50, rel=0.3)  # errors grow with the noise
