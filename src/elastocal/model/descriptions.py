"""One robot described with fewer and fewer parameters on physical grounds (003 section 4.2).

M1  each 6x6 spring symmetric: 36 -> 21 (an elastic body is, Maxwell).
M2  the zeros of a template: 21 -> 8, where the spring's own matrix has them.
M3  elements that could not be identified, derived from those that could (003 section 4.3).

Of a beam of the nominal section and Poisson's ratio, but of any length and modulus (see ``beam``), these hold:

    k11 : k44 : k55 : k66  as in the nominal spring        (1/A : E/(G J) : 1/Iy : 1/Iz, each times l/E)
    k26 : k35              as in the nominal spring        (1/Iz : -1/Iy, times l^2/(2 E))
    k22 = 4/3 k26^2/k66 + c k66,   k33 = 4/3 k35^2/k55 + c k55,   each c that of the nominal spring (shear)

so k11 = r^2 k66 with the radius of gyration r of the section.  No length and no modulus is needed.
Of several ways to an element, the one of the smallest standard deviation is taken (one by torsion only where there is
no other: its J is the least sure); ``conflict`` says by how many standard deviations the others disagree.
Relations between identified elements only are ``checks``: a section that is not the nominal one shows there.
One that is larger in both directions alike shows only in the shear share of k22 and k33.
Errors of the identified elements count as independent; the nominal ratios count as exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import permutations
from math import copysign, inf, sqrt
from typing import Literal

import numpy as np

from elastocal.errors import MissingError, ShapeError
from elastocal.model.compliant.link_compliance import LinkCompliance, fits, patterns
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

Form = Literal["full", "symmetric", "beam"]
FORMS: tuple[Form, ...] = ("full", "symmetric", "beam")


@dataclass(frozen=True, eq=False)
class Description:
    """A model, the step that led to it, and in one clause what that step does to a parameter it takes away."""

    title: str
    action: str
    model: Robot
    form: Form = "full"

    def reason(self, name: str) -> str:
        if self.form == "symmetric":
            place, symbol = name.rsplit(".", 1)
            return f"equal to {place}.k{symbol[2]}{symbol[1]} by symmetry"
        return "zero in the template of a beam along x"


_WORDS: dict[Form, tuple[str, str]] = {
    "full": ("complete", "every element of every spring on its own"),
    "symmetric": ("symmetry M1", "elastic bodies are symmetric (Maxwell): k_ij = k_ji"),
    "beam": ("template M2", "zeros of a beam along x (003 eq. 24)"),
}


def descriptions(model: Robot, form: Form | None = None) -> tuple[Description, ...]:
    """The complete model, then M1 and M2 as far as ``form`` (default: as far as the springs' own matrices allow)."""
    return tuple(Description(*_WORDS[f], in_form(model, f), f) for f in FORMS[: FORMS.index(form or "beam") + 1])


def beyond_form(model: Robot, form: Form) -> tuple[str, ...]:
    """Places of springs that ``in_form`` leaves as they are, because their own matrix has no place in the form."""
    return tuple(
        e.place
        for e in model.elements
        if isinstance(e, LinkCompliance) and e.form in FORMS and not fits(e.matrix, form)
    )


def in_form(model: Robot, form: Form) -> Robot:
    """6x6 springs described by this form, each where its own matrix allows it; isotropic ones stay."""
    elements = tuple(
        e.in_form(form) if isinstance(e, LinkCompliance) and e.form in FORMS and fits(e.matrix, form) else e
        for e in model.elements
    )
    return replace(model, elements=elements)


_ELEMENTS = patterns("beam")
SYMBOLS: tuple[str, ...] = tuple(symbol for symbol, _ in _ELEMENTS)
_CROSS = ("k26", "k35")
_ALIKE = (("k11", "k44", "k55", "k66"), _CROSS)
_BENDING = (("k22", "k26", "k66"), ("k33", "k35", "k55"))


@dataclass(frozen=True)
class DerivedElement:
    """An element that was dropped; nan with the reason in ``relation`` where nothing leads to it.

    ``conflict`` is the largest difference to the other ways, in standard deviations of the difference (nan: one way).
    """

    symbol: str
    value: float
    sd: float
    relation: str
    conflict: float


@dataclass(frozen=True)
class Check:
    """A relation between identified elements: measured minus expected, in standard deviations of the difference."""

    symbol: str
    measured: float
    expected: float
    deviation: float
    relation: str


@dataclass(frozen=True)
class Derivation:
    derived: tuple[DerivedElement, ...]
    checks: tuple[Check, ...]


@dataclass(frozen=True, eq=False)
class _Known:
    """A value with its derivatives by the eight identified elements."""

    value: float
    slope: Array

    def sd(self, errors: Array) -> float:
        return float(np.linalg.norm(self.slope * errors))

    def apart(self, other: _Known, errors: Array) -> float:
        """Difference in its standard deviations; rounding is no difference."""
        difference = self.value - other.value
        if abs(difference) <= 1e-12 * abs(self.value):
            return 0.0
        size = float(np.linalg.norm((self.slope - other.slope) * errors))
        return difference / size if size > 0 else copysign(inf, difference)


Formula = Callable[..., tuple[float, tuple[float, ...]]]


@dataclass(frozen=True, eq=False)
class _Relation:
    """``formula`` gives the target and its derivatives by the sources."""

    target: str
    sources: tuple[str, ...]
    text: str
    formula: Formula


def derive(nominal: Array, values: Array, sd: Array) -> Derivation:
    """``nominal`` (6, 6); ``values`` and ``sd`` (8,) of ``SYMBOLS`` in that order, nan where dropped."""
    k0, estimates, errors = (np.asarray(v, dtype=np.float64) for v in (nominal, values, sd))
    if k0.shape != (6, 6) or estimates.shape != (8,) or errors.shape != (8,):
        raise ShapeError(
            f"a beam has 6x6 nominal and 8 identified elements; {k0.shape}, {estimates.shape} were given",
            value=(k0.shape, estimates.shape),
        )
    here = np.isfinite(estimates)
    if lost := [s for s, value, e in zip(SYMBOLS, here, errors, strict=True) if value and not e >= 0]:
        raise MissingError(
            f"{lost[0]} has a value but no standard deviation; give one, or nan for both if it was dropped",
            value=lost[0],
        )
    relations = list(_relations({symbol: float(k0[pairs[0]]) for symbol, pairs in _ELEMENTS}))
    known = {s: _Known(float(estimates[i]), np.eye(8)[i]) for i, s in enumerate(SYMBOLS) if here[i]}
    errors = np.where(here, errors, 0.0)
    derived = sorted(_derived(relations, known, errors), key=lambda r: r.symbol)
    return Derivation(tuple(derived), tuple(_checks(relations, known, errors)))


def _derived(relations: list[_Relation], identified: dict[str, _Known], errors: Array) -> Iterator[DerivedElement]:
    known, nan = dict(identified), float("nan")
    while True:
        made = [(r, k) for r in relations if r.target not in known and (k := _applied(r, known)) is not None]
        if not made:
            break  # what one pass derives may lead to more in the next, until nothing does
        for symbol in dict.fromkeys(r.target for r, _ in made):
            ways = [(r, k) for r, k in made if r.target == symbol]
            ways.sort(key=lambda way: ("k44" in way[0].sources, way[1].sd(errors)))
            (relation, best), *others = ways
            conflict = max((abs(best.apart(other, errors)) for _, other in others), default=nan)
            yield DerivedElement(symbol, best.value, best.sd(errors), relation.text, conflict)
            known[symbol] = best
    for symbol in (s for s in SYMBOLS if s not in known):
        needs = " or ".join(" with ".join(r.sources) for r in relations if r.target == symbol)
        reason = f"it needs {needs}, with values that a beam can have" if needs else "the nominal spring gives no ratio"
        yield DerivedElement(symbol, nan, nan, f"nothing leads to {symbol}: {reason}", nan)


def _applied(relation: _Relation, known: dict[str, _Known]) -> _Known | None:
    """The target from its sources; None where one is unknown or no beam has such values."""
    sources = relation.sources
    if any(s not in known or (s not in _CROSS and known[s].value <= 0) for s in sources):
        return None
    try:
        value, partial = relation.formula(*(known[s].value for s in sources))
    except (ValueError, ZeroDivisionError):  # root of a negative number, no bending
        return None
    return _Known(value, sum((d * known[s].slope for d, s in zip(partial, sources, strict=True)), np.zeros(8)))


def _checks(relations: list[_Relation], known: dict[str, _Known], errors: Array) -> Iterator[Check]:
    for relation in relations:
        first = relation.target < min(relation.sources)  # of the forms of one relation
        made = _applied(relation, known) if first and relation.target in known else None
        if made is not None:
            measured = known[relation.target]
            yield Check(relation.target, measured.value, made.value, measured.apart(made, errors), relation.text)


def _relations(k0: dict[str, float]) -> Iterator[_Relation]:
    """All relations that the nominal values allow."""
    for family in _ALIKE:
        for target, source in permutations(family, 2):
            if k0[target] != 0 and k0[source] != 0:
                ratio = k0[target] / k0[source]
                why = ", the radius of gyration squared" if target == "k11" and source != "k44" else ""
                text = f"{target} = {ratio:.4g} {source}: ratio of the nominal spring{why}"
                yield _Relation(target, (source,), text, lambda v, ratio=ratio: (ratio * v, (ratio,)))
    for end, cross, turn in _BENDING:
        if k0[cross] != 0 and k0[turn] > 0:
            bending = 4 / 3 * k0[cross] ** 2 / k0[turn]
            c = (k0[end] - bending) / k0[turn]
            text = f"{end} = 4/3 {cross}^2/{turn} + {c:.4g} {turn}: bending, and shear as in the nominal spring"
            yield _Relation(end, (cross, turn), text, _end(c))
            yield _Relation(cross, (end, turn), text, _cross(c, k0[cross]))
            yield _Relation(turn, (end, cross), text, _turn(c, -1.0 if c * k0[turn] > bending else 1.0))


def _end(c: float) -> Formula:
    """4/3 x^2/t + c t"""
    return lambda x, t: (4 / 3 * x**2 / t + c * t, (8 / 3 * x / t, -4 / 3 * (x / t) ** 2 + c))


def _cross(c: float, sign: float) -> Formula:
    """x = +- sqrt(3/4 t (e - c t))"""

    def formula(e: float, t: float) -> tuple[float, tuple[float, float]]:
        x = copysign(sqrt(0.75 * t * (e - c * t)), sign)
        return x, (0.375 * t / x, 0.375 * (e - 2 * c * t) / x)

    return formula


def _turn(c: float, branch: float) -> Formula:
    """t with c t^2 - e t + 4/3 x^2 = 0: of the two roots the one on the nominal side (more bending or more shear)."""

    def formula(e: float, x: float) -> tuple[float, tuple[float, float]]:
        t = 8 / 3 * x**2 / (e + branch * sqrt(e**2 - 16 / 3 * c * x**2))
        rise = 2 * c * t - e
        return t, (t / rise, -8 / 3 * x / rise)

    return formula
