"""Dropped elements of beams whose length and modulus are not the nominal ones, and beams that break the assumptions."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.model.compliant.beam import Beam, Circle, HollowRectangle, Rectangle, Tube
from elastocal.model.compliant.link_compliance import patterns
from elastocal.model.descriptions import SYMBOLS, derive

SECTIONS = {
    "box": HollowRectangle(width=0.2, height=0.3, wall=0.01),
    "rectangle": Rectangle(width=0.05, height=0.12),
    "circle": Circle(diameter=0.1),
    "tube": Tube(diameter=0.15, wall=0.01),
}


def compliance(section, length=0.8, e=2.1e11, nu=0.3):
    return Beam(section=section, length=length, E=e, nu=nu).compliance()


def elements(k):
    return np.array([k[pairs[0]] for _, pairs in patterns("beam")])


def without(values, *dropped, error=0.01):
    """Values and standard deviations with nan for the dropped ones."""
    keep = np.array([s not in dropped for s in SYMBOLS])
    return np.where(keep, values, np.nan), np.where(keep, error * np.abs(values), np.nan)


def only(values, *kept, error=0.01):
    return without(values, *(s for s in SYMBOLS if s not in kept), error=error)


@pytest.mark.parametrize("section", SECTIONS.values(), ids=SECTIONS)
@pytest.mark.parametrize("dropped", SYMBOLS)
def test_one_element_comes_back_exactly(section, dropped):
    """Another length, another modulus, the same section: no relation knows any of them."""
    truth = elements(compliance(section, length=1.9, e=7e10))
    found = derive(compliance(section), *without(truth, dropped))
    (back,) = found.derived
    assert back.symbol == dropped
    assert back.value == pytest.approx(truth[SYMBOLS.index(dropped)], rel=1e-12)
    assert dropped in back.relation
    assert not back.conflict > 1e-6
    assert all(abs(c.deviation) < 1e-6 for c in found.checks)


@pytest.mark.parametrize("kept", [("k26", "k66"), ("k22", "k66"), ("k22", "k26"), ("k33", "k35"), ("k33", "k44")])
@pytest.mark.parametrize("length", [1.5, 0.1], ids=["slender", "stubby"])
def test_two_elements_give_all_eight(kept, length):
    """Also where shear is most of k22: the quadratic then has its other root."""
    truth = elements(compliance(SECTIONS["box"], length=1.1 * length, e=7e10))
    found = derive(compliance(SECTIONS["box"], length=length), *only(truth, *kept))
    assert len(found.derived) == 6
    for back in found.derived:
        assert back.value == pytest.approx(truth[SYMBOLS.index(back.symbol)], rel=1e-10), back


def test_the_published_link_is_a_beam():
    """Klimchik et al. 2013, eq. 15: k22 and k33 of the printed matrix follow from the others, as of a slender beam."""
    k = np.zeros(8)
    k[[SYMBOLS.index(s) for s in ("k26", "k35", "k55", "k66")]] = 3.98e-4, -1.71e-4, 1.09e-3, 2.65e-3
    found = derive(compliance(Circle(diameter=0.002)), *only(k, "k26", "k35", "k55", "k66"))
    back = {r.symbol: r.value for r in found.derived}
    assert back["k22"] == pytest.approx(8.01e-5, rel=0.02)
    assert back["k33"] == pytest.approx(3.64e-5, rel=0.02)


@pytest.mark.parametrize("kept", [("k26", "k66"), ("k22", "k66"), ("k22", "k26"), ("k35", "k33")])
def test_the_standard_deviation_is_that_of_repeated_rebuilding(kept):
    nominal = compliance(SECTIONS["box"], length=0.4)
    values, sd = only(elements(compliance(SECTIONS["box"], length=0.6)), *kept, error=1e-4)
    sd *= np.linspace(1, 3, 8)
    rng = np.random.default_rng(4)
    draws = [[r.value for r in derive(nominal, values + sd * rng.normal(size=8), sd).derived] for _ in range(1500)]
    stated = [r.sd for r in derive(nominal, values, sd).derived]
    np.testing.assert_allclose(np.std(draws, axis=0), stated, rtol=0.08)


def test_the_surest_way_is_taken_but_torsion_last():
    truth = elements(compliance(SECTIONS["box"]))
    values, sd = only(truth, "k44", "k55", "k66")
    sd[SYMBOLS.index("k44")] /= 10
    sd[SYMBOLS.index("k66")] /= 2
    k11 = derive(compliance(SECTIONS["box"]), values, sd).derived[0]
    assert "k66: ratio of the nominal spring, the radius of gyration squared" in k11.relation
    assert k11.sd == pytest.approx(0.005 * truth[0])
    values, sd = only(truth, "k44")
    assert "k44: ratio" in derive(compliance(SECTIONS["box"]), values, sd).derived[0].relation


def test_a_section_of_another_shape_shows():
    """A box that is 20 % higher than the nominal one bends less about y than about z."""
    taller = compliance(HollowRectangle(width=0.2, height=0.36, wall=0.01))
    found = derive(compliance(SECTIONS["box"]), *without(elements(taller), "k11"))
    assert found.derived[0].conflict > 10
    broken = {c.relation.split(":")[0]: abs(c.deviation) for c in found.checks}
    (bending,) = [v for text, v in broken.items() if text.startswith("k55 =")]
    assert bending > 10


def test_a_section_larger_both_ways_shows_only_in_the_shear():
    """k11 = r^2 k66 is then wrong by the square of the factor, and nothing but k22 and k33 can tell."""
    larger = elements(compliance(HollowRectangle(width=0.24, height=0.36, wall=0.012)))
    found = derive(compliance(SECTIONS["box"]), *without(larger, "k11", error=1e-3))
    assert found.derived[0].value == pytest.approx(larger[0] / 1.44, rel=1e-9)
    assert found.derived[0].conflict == pytest.approx(0, abs=1e-6)
    seen = {c.symbol for c in found.checks if abs(c.deviation) > 3}
    assert seen == {"k22", "k33"}


def test_deviations_are_in_standard_deviations():
    """k55 off by 5 %, with 1 % on both sides of the ratio."""
    values, sd = only(elements(compliance(SECTIONS["circle"])), "k55", "k66")
    values[SYMBOLS.index("k55")] *= 1.05
    (check,) = derive(compliance(SECTIONS["circle"]), values, sd).checks
    assert check.measured == pytest.approx(1.05 * check.expected)
    assert check.deviation == pytest.approx(5 / np.sqrt(2), rel=1e-9)


def test_what_nothing_leads_to_is_nan_with_a_reason():
    nominal = compliance(SECTIONS["box"])
    found = {r.symbol: r for r in derive(nominal, *only(elements(nominal), "k44")).derived}
    assert np.isfinite(found["k66"].value)
    for symbol in ("k22", "k26", "k33", "k35"):
        assert np.isnan(found[symbol].value)
        assert np.isnan(found[symbol].sd)
    assert "nothing leads to k26: it needs k35 or k22 with k66" in found["k26"].relation
    rigid = nominal.copy()
    rigid[0, 0] = 0.0
    k11 = derive(rigid, *without(elements(nominal), "k11")).derived[0]
    assert np.isnan(k11.value)
    assert "the nominal spring gives no ratio" in k11.relation


def test_impossible_values_lead_nowhere():
    """Noise made k66 negative: k11 is not made negative by it, nor k26 imaginary."""
    nominal = compliance(SECTIONS["box"])
    values, sd = only(elements(nominal), "k22", "k66")
    values[SYMBOLS.index("k66")] *= -1
    found = {r.symbol: r for r in derive(nominal, values, sd).derived}
    assert np.isnan(found["k11"].value)
    assert np.isnan(found["k26"].value)
    values, sd = only(elements(nominal), "k22", "k66")
    values[SYMBOLS.index("k22")] *= 1e-3
    found = {r.symbol: r for r in derive(nominal, values, sd).derived}
    assert np.isnan(found["k26"].value)
    assert found["k11"].value > 0


def test_wrong_tables_are_refused():
    nominal = compliance(SECTIONS["box"])
    with refused("shape", ((6, 6), (6,))):
        derive(nominal, np.ones(6), np.ones(6))
    with refused("missing", "k26"):
        derive(nominal, np.ones(8), np.where(np.arange(8) == 2, np.nan, 1.0))
