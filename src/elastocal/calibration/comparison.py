"""What has changed between calibrations of one robot: parameters, the tool, conditions; campaigns are the affair of
``drift``, behind the same door.

Both estimates have the same prior, so that they differ by less than their posteriors say: all parameters together are
judged by d^T V^-1 d against chi2 of its rank, d = b - a and V the covariance of ``estimates`` along the combinations
that readings decide.  Campaigns of one robot count as independent.  Named are the parameters each of which, changed
alone, explains the difference best: others that readings cannot tell from it have taken a part of its change.

A single estimate counts as changed where abs(d) / sd >= 5 with sd^2 = sd_a^2 + sd_b^2: whatever the others did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import inf, nan, sqrt
from typing import overload

import numpy as np

from elastocal.arguments import checked
from elastocal.calibration.calibration import Calibration
from elastocal.calibration.campaign import Campaign
from elastocal.calibration.drift import Drift, ToolChange, drift, tool_change, workpiece
from elastocal.calibration.estimates import Difference, difference
from elastocal.errors import InputError
from elastocal.model.places import Plane, Reached
from elastocal.quantities import concise, probability, read_in
from elastocal.results import Finding
from elastocal.solve.nested import f_test
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

SIGNIFICANT = 5.0
CHANCE = 1e-3
"""Probability below which all parameters together count as changed."""
ALIKE = 4.0
"""Difference of chi2 within which two causes explain as much."""
NOTHING = "no parameter is estimated in both, so that nothing in common can be tested"
UNDECIDED = "readings decide no combination of parameters in both, so that nothing can be tested"


@dataclass(frozen=True)
class Change:
    """Of one parameter from the first item to another, SI; nan sd where it was fixed in both."""

    name: str
    unit: str
    before: float
    after: float
    before_sd: float
    after_sd: float

    @property
    def value(self) -> float:
        return self.after - self.before

    @property
    def sd(self) -> float:
        return sqrt(self.before_sd**2 + self.after_sd**2)

    @cached_property
    def ratio(self) -> float:
        if self.sd > 0:
            return self.value / self.sd
        return 0.0 if self.value == 0 else inf

    @property
    def significant(self) -> bool:
        return abs(self.ratio) >= SIGNIFICANT


@dataclass(frozen=True)
class Cause:
    """A change of one parameter alone, SI, and the share of chi2 that it explains."""

    name: str
    unit: str
    value: float
    sd: float
    share: float


@dataclass(frozen=True, eq=False)
class Step:
    """From the first calibration to another one; nan probability where nothing is tested, for the ``reason``."""

    name: str
    changes: tuple[Change, ...]
    chi2: float
    rank: int
    probability: float
    tool: ToolChange | None
    causes: tuple[Cause, ...] = ()
    """Parameters that explain most, each alone; those that explain as much within chance."""
    reason: str = ""

    @property
    def tested(self) -> bool:
        return self.rank > 0

    @property
    def changed(self) -> bool:
        """By chi2 of all, or by one cause: among 100 parameters one of five sds is as improbable as ``CHANCE``."""
        return self.probability < CHANCE or any(abs(c.value) >= SIGNIFICANT * c.sd for c in self.causes)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Of calibrations: ``conditions`` by name, one value for each of ``names``."""

    names: tuple[str, ...]
    steps: tuple[Step, ...]
    conditions: Mapping[str, tuple[str, ...]]

    @property
    def verdict(self) -> tuple[Finding, ...]:
        return tuple(_verdict(self.names[0], s) for s in self.steps)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.names)}: {' '.join(f.text for f in self.verdict)}>"


def comparison(
    every: Sequence[Calibration], names: tuple[str, ...], places: Plane | None, near: Array | None
) -> Comparison:
    """Every other calibration against the first."""
    first = every[0]
    for c, name in zip(every[1:], names[1:], strict=True):
        if c.robot.joints != first.robot.joints:
            raise InputError(
                f"{name}: joints {', '.join(c.robot.joints)}, {names[0]}: {', '.join(first.robot.joints)}; only "
                "calibrations of one robot compare", code="other-robot", value=name,
            )  # fmt: skip
    at = workpiece(first, places, near)
    steps = tuple(_step(first, c, name, at) for c, name in zip(every[1:], names[1:], strict=True))
    return Comparison(names, steps, _conditions(every))


def _step(a: Calibration, b: Calibration, name: str, at: tuple[Reached, Array] | None) -> Step:
    changes = tuple(sorted(_changes(a, b), key=lambda c: -abs(c.ratio)))
    tool = None if at is None else tool_change(a, b, *at)
    common = [n for n in a.names if n in b.names]
    if not common:
        return Step(name, changes, 0.0, 0, nan, tool, (), NOTHING)
    d = np.array([b.parameters[n].value - a.parameters[n].value for n in common])
    along = difference(a.shrinkage, b.shrinkage, common, d, (a.inflation, b.inflation))
    if not along.rank:
        return Step(name, changes, 0.0, 0, nan, tool, (), UNDECIDED)
    chance = f_test(along.chi2, along.rank, inf).probability
    return Step(name, changes, along.chi2, along.rank, chance, tool, _causes(b, common, along))


def _causes(c: Calibration, names: list[str], along: Difference) -> tuple[Cause, ...]:
    """The best ones, largest share first."""
    value, sd = along.alone()
    gain = (value / sd) ** 2
    order = [int(i) for i in np.argsort(-gain) if gain[i] > gain.max() - ALIKE and gain[i] > 0]
    return tuple(
        Cause(names[i], c.parameters[names[i]].unit, float(value[i]), float(sd[i]), float(gain[i] / along.chi2))
        for i in order
    )


def _changes(a: Calibration, b: Calibration) -> list[Change]:
    """Of what is estimated in one of them; fixed values have no sd."""
    out = []
    of_robot = [{p.name: p.value for p in c.robot.parameters.rows} for c in (a, b)]
    for n in dict.fromkeys((*a.names, *b.names)):
        known = [c.parameters[n] if n in c.names else None for c in (a, b)]
        before, after = (fixed.get(n, 0.0) if e is None else e.value for e, fixed in zip(known, of_robot, strict=True))
        before_sd, after_sd = (0.0 if e is None else e.sd for e in known)
        unit = next(e.unit for e in known if e is not None)
        out.append(Change(n, unit, before, after, before_sd, after_sd))
    return out


def _conditions(every: Sequence[Calibration]) -> dict[str, tuple[str, ...]]:
    return {
        "model": tuple(" + ".join(c.words) or "nominal" for c in every),
        "leave-one-out RMS [mm]": tuple(f"{1e3 * c.leave_one_out.rms:.3f}" for c in every),
        "nominal RMS [mm]": tuple(f"{1e3 * c.before.rms:.3f}" for c in every),
        "points": tuple(str(c.leave_one_out.count) for c in every),
        "outliers": tuple(str(len(c.outliers)) for c in every),
        "temperature [\N{DEGREE SIGN}C]": tuple(
            f"{c.reference_temperature:.1f}" if np.isfinite(c.reference_temperature) else "not read" for c in every
        ),
        "tool frame": tuple(c.robot.tool for c in every),
        "markers": tuple(str(len(c.markers)) for c in every),
        "stations": tuple(str(len(c.stations)) for c in every),
        "model discrepancy [mm]": tuple(f"{1e3 * c.discrepancy:.3f}" for c in every),
    }


def _verdict(first: str, s: Step) -> Finding:
    moved = [c for c in s.changes if c.significant]
    data = {"chi2": s.chi2, "rank": s.rank, "probability": s.probability, "significant": [c.name for c in moved]}
    tool = ""
    if s.tool is not None:
        size = s.tool.summary()
        data |= {"tool_rms": size.rms, "tool_max": size.max}
        tool = (
            f" Over the workpiece the tool changes its place by {1e3 * size.rms:.3f} mm RMS, at most "
            f"{1e3 * size.max:.3f} mm, once shifts and turns of the whole are taken out."
        )
    if not s.tested:
        text = f"{s.name} against {first}: {s.reason}.{tool}"
        return Finding("not-tested", "warning", text, data | {"reason": s.reason})
    tested = f"(chi2 {s.chi2:.4g} for {s.rank} combinations, probability {probability(s.probability)})"
    if not s.changed:
        return Finding("same", "note", f"{s.name} agrees with {first} {tested}.{tool}", data)
    named = ", ".join(c.name for c in moved[:6]) + (f" and {len(moved) - 6} more" if len(moved) > 6 else "")
    which = f"; significant changes: {named}" if moved else ""
    data |= {"causes": [vars(c) for c in s.causes]}
    text = f"{s.name} DIFFERS from {first} {tested}{_explained(s.causes)}{which}.{tool}"
    return Finding("changed", "warning", text, data)


def _explained(causes: tuple[Cause, ...]) -> str:
    if not causes:
        return ""
    best, *others = causes
    factor, unit = read_in(best.unit, abs(best.value))
    size = concise(factor * best.value, factor * best.sd)
    rest = f", as well as one of {', '.join(c.name for c in others[:3])}" if others else ""
    return f"; a change of {best.name} alone by {size} {unit} explains {100 * best.share:.0f} % of it{rest}"


@overload
def compare(first: Calibration, *others: Calibration, names: Sequence[str] = ..., places: Plane | None = ...,
            near: Array | None = ...) -> Comparison: ...  # fmt: skip
@overload
def compare(first: Campaign, *others: Campaign, names: Sequence[str] = ...) -> tuple[Drift, ...]: ...
@checked("first")
def compare(
    first: Calibration | Campaign,
    *others: Calibration | Campaign,
    names: Sequence[str] = (),
    places: Plane | None = None,
    near: Array | None = None,
) -> Comparison | tuple[Drift, ...]:
    """Calibrations of one robot, or campaigns; every other one against the first.

    ``places`` is the plane of the workpiece, ``near`` (n,) joint values with the tool held as there.
    """
    if not others:
        raise InputError("one item is nothing to compare; give at least two", code="few")
    every = (first, *others)
    words = tuple(names) or tuple(f"{'ABCDEFGHIJ'[i % 10]}" for i in range(len(every)))
    if len(words) != len(every) or len(set(words)) < len(words):
        raise InputError(f"names: {len(words)} for {len(every)} items; give every one its own", code="names")
    calibrations = [c for c in every if isinstance(c, Calibration)]
    campaigns = [c for c in every if isinstance(c, Campaign)]
    if len(calibrations) == len(every):
        return comparison(calibrations, words, places, near)
    if len(campaigns) == len(every):
        return tuple(drift(campaigns[0], c, (words[0], w)) for c, w in zip(campaigns[1:], words[1:], strict=True))
    raise InputError("calibrations and campaigns are not compared with each other; give one kind", code="kinds")
