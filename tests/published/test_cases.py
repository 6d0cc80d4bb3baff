"""Published cases: the registry, and the figures of the compensator against independent arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.published.case import case_named, registry


def test_every_case_states_itself() -> None:
    found = registry()
    assert {"cylindrical", "kr270-compensator", "kr270-elastostatic", "orthoglide-link"} <= set(found)
    for name, case in found.items():
        assert case.name == name
        assert case.title
        assert case.source


def test_an_unknown_case_names_the_nearest() -> None:
    with refused("unknown-case", "kr270-compensater", nearest="kr270-compensator"):
        case_named("kr270-compensater")


@pytest.mark.parametrize("name", ["cylindrical", "kr270-compensator", "kr270-elastostatic", "orthoglide-link"])
def test_every_figure_has_its_own_name_and_a_finite_value_or_none(name, outcome) -> None:
    of = outcome(name)
    names = [f.name for f in of.figures]
    assert len(set(names)) == len(names)
    assert all(f.recomputed is None or np.isfinite(f.recomputed) for f in of.figures)
    assert "nan" not in of.verdict


def test_compensator_figures_follow_from_the_spring_energy(outcome, figure) -> None:
    """eta and the force by differentiating U = (s - s0)^2 / 2 k_c numerically, not by the printed formulas."""
    of = outcome("kr270-compensator")
    a, length, k_c, s_0 = np.hypot(0.68593, 0.12030), 0.18472, 0.144e-6, 0.458
    phi0 = np.radians(figure(of, "phi0_deg"))
    q = np.radians(np.linspace(-145, 0, 1451))
    h = 1e-4

    def energy(q: np.ndarray) -> np.ndarray:
        return (np.sqrt(a**2 + length**2 + 2 * a * length * np.cos(phi0 - q)) - s_0) ** 2 / (2 * k_c)

    stiffness = (energy(q + h) - 2 * energy(q) + energy(q - h)) / h**2
    eta = stiffness * k_c / (a * length)
    k2 = 1e6 / (1 / 0.302e-6 + stiffness)
    force = np.sqrt(2 * energy(q) / k_c)
    for name, values in (("eta", eta), ("k2eq", k2), ("spring_force", 1e-6 * force)):
        assert figure(of, f"{name}_min") == pytest.approx(values.min(), rel=1e-5)
        assert figure(of, f"{name}_max") == pytest.approx(values.max(), rel=1e-5)
    assert figure(of, "eta_min") == pytest.approx(0.105, abs=5e-4)
    assert figure(of, "eta_max") == pytest.approx(0.317, abs=5e-4)


def test_curves_hold_the_figures(outcome, figure) -> None:
    of = outcome("kr270-compensator")
    eta, k2, _ = of.curves
    published, compliance = (next(s for s in c.series if "458" in s.name) for c in (eta, k2))
    assert max(published.y) == pytest.approx(figure(of, "eta_max_fitted"), rel=1e-4)
    assert min(compliance.y) == pytest.approx(figure(of, "k2eq_min_fitted"), rel=1e-4)
