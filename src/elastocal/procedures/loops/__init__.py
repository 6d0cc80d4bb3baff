"""Force-deflection loops: compliance, backlash and hysteresis of each direction, of all directions together, of joints.

Order of the procedure: each loop by itself (``loop``), its outliers and whether it is straight and parallel (``fit``),
all directions at the gripper as one number or a matrix (``directions``), joints by their lever arms (``joints``) with
the elements that a robot file takes, and what to say of it all (here).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite

import numpy as np

from elastocal.arguments import checked
from elastocal.errors import InputError, MissingError, RangeError, UnitError, UnknownNameError
from elastocal.procedures.loops.directions import Directions, fit_directions
from elastocal.procedures.loops.fit import Departure, LoopFit, fit_loops
from elastocal.procedures.loops.joints import (
    Gripper,
    JointResult,
    LoopElement,
    gripper_elements,
    joint_elements,
    joint_result,
)
from elastocal.procedures.loops.loop import Estimate, NamedLoop, loop_of, unknown
from elastocal.results import Finding, as_frame, note
from elastocal.spatial.threads import one_thread
from elastocal.values import dataclass

__all__ = ["Loops", "NamedLoop", "identify", "loop_of"]

FARTHEST, STEEPEST = 0.1, 0.1
"""Metres, and metres for one of the lever, that a loop may run over."""
SURE = 0.999
"""Level of the interval that must lie below zero where a number is called negative."""


@dataclass(frozen=True, eq=False, repr=False)
class Loops:
    """``fits`` of the ``loops``, in their order; ``directions`` are those at the gripper, None where there are none.

    ``noise`` is the standard deviation of a displacement in m where it was stated.
    """

    loops: tuple[NamedLoop, ...]
    noise: float | None
    at_gripper: bool
    fits: tuple[LoopFit, ...]
    directions: Directions | None
    joints: tuple[JointResult, ...]
    warnings: tuple[Finding, ...]

    def __repr__(self) -> str:
        parts = [f"{len(self.loops)} loops, {sum(len(f.outliers) for f in self.fits)} outliers"]
        if self.directions is not None:
            p, g = self.directions.compliance.isotropic, self.directions.half_gap.isotropic
            parts.append(f"gripper {1e6 * p.value:.4g} um/N, backlash {_gap(g, 'um')}")
        for j in self.joints:
            k, g = j.values.compliance, j.values.half_gap
            parts.append(f"{j.joint} {1e6 * k.value:.4g} urad/(N m), backlash {_gap(g, 'urad')}")
        return f"Loops({'; '.join(parts)})"

    def to_frame(self) -> object:
        """One row for every loop: compliance in m/N, backlash (both sides) in m, with their standard deviations."""
        return as_frame(
            [
                {
                    "loop": loop.name, "joint": loop.joint, "compliance": fit.compliance.value,
                    "compliance_sd": fit.compliance.sd, "backlash": 2 * fit.half_gap.value,
                    "backlash_sd": 2 * fit.half_gap.sd, "outliers": len(fit.outliers),
                }
                for loop, fit in zip(self.loops, self.fits, strict=True)
            ]
        )  # fmt: skip

    @property
    def not_straight(self) -> int:
        """Loops that four straight parallel lines do not describe."""
        return sum(not f.departures.straight for f in self.fits)

    def elements(self, frame: str) -> tuple[LoopElement, ...]:
        """For a robot file, those of the gripper at ``frame``."""
        gripper = () if self.directions is None else gripper_elements(frame, self.directions)
        return (*gripper, *joint_elements(self.joints))


@checked()
@one_thread
def identify(
    loops: Sequence[NamedLoop],
    *,
    levers: Mapping[str, float] | None = None,
    at_gripper: bool = False,
    noise: float | None = None,
) -> Loops:
    """``levers`` in m by joint, beside those that the loops bring; loops without joints are of the one with a lever.

    ``at_gripper``: joints were read at the gripper, whose own values are taken off theirs.  ``noise`` is the stated
    standard deviation of a displacement in m, by default from the residuals.
    """
    if not loops:
        raise MissingError("no loop is given; give at least one", parameter="loops", value=0)
    given = _with_joint(loops, levers or {})
    lengths = {j: _lever(given, j, levers or {}) for j in dict.fromkeys(r.joint for r in given if r.joint)}
    _check_size(given, lengths)
    fits = fit_loops([r.loop for r in given], noise)
    _check_sense(given, fits)
    directions = _directions(given, fits)
    joints = tuple(_joint(given, fits, directions, j, lever, at_gripper) for j, lever in lengths.items())
    _check_joints(joints, at_gripper)
    findings = tuple(_warnings(given, fits, directions, joints))
    return Loops(given, noise, at_gripper, fits, directions, joints, findings)


def _with_joint(loops: Sequence[NamedLoop], levers: Mapping[str, float]) -> tuple[NamedLoop, ...]:
    """Loops without joints are those of the one joint whose lever is given."""
    source = loops[0].source
    named = [r.joint for r in loops if r.joint]
    if named or not levers:
        for joint in levers:
            if joint not in named:
                raise UnknownNameError("joint", joint, dict.fromkeys(named), f"lever: {source}", parameter="lever")
        return tuple(loops)
    if len(levers) > 1:
        raise MissingError(f"lever: {source} names no joints, so it is of one joint at most; add the column joint")
    (joint,) = levers
    return tuple(replace(r, joint=joint, name=f"{joint}, {r.name}") for r in loops)


def _lever(loops: Sequence[NamedLoop], joint: str, stated: Mapping[str, float]) -> float:
    given = {r.lever for r in loops if r.joint == joint and r.lever is not None}
    given |= {stated[joint]} if joint in stated else set()
    if not given:
        raise InputError(
            f"{loops[0].source}: joint {joint} has no lever; add a column lever_mm, or give it",
            code="no-lever",
            value=joint,
            parameter="lever",
        )
    if len(given) > 1:
        message = " and ".join(f"{1e3 * v:g}" for v in sorted(given))
        raise MissingError(
            f"{loops[0].source}: joint {joint} has levers of {message} mm; give one, or name the loops apart"
        )
    if not (isfinite(lever := given.pop()) and lever > 0):
        raise RangeError(f"lever of {joint}: {1e3 * lever:g} mm is no positive length; correct it")
    return lever


def _check_size(loops: Sequence[NamedLoop], levers: Mapping[str, float]) -> None:
    """No gear and no gripper gives way so far: lengths are in another unit."""
    for record in loops:
        way = float(np.ptp(record.loop.displacement))
        lever = None if record.joint is None else levers[record.joint]
        most = FARTHEST if lever is None else STEEPEST * lever
        if way > most:
            place = "at the gripper" if lever is None else f"at a lever of {1e3 * lever:.4g} mm"
            raise UnitError(
                f"{record.source}: in loop {record.name} the displacement runs over {1e3 * way:.4g} mm {place}, which "
                f"nothing gives way by; with um in place of mm it is {way:.4g} mm; check the unit in the header",
                code="unit",
                value=way,
                allowed=(0.0, most),
            )


def _check_sense(loops: Sequence[NamedLoop], fits: Sequence[LoopFit]) -> None:
    """Nothing that is pushed moves against the push: there the gauge, or the sign of the force, is reversed."""
    for record, fit in zip(loops, fits, strict=True):
        p = fit.compliance
        if p.known and p.value + p.half_width(SURE) < 0:
            raise InputError(
                f"{record.source}: in loop {record.name} the displacement runs against the force ({1e6 * p.value:.4g} "
                f"+- {1e6 * p.sd:.2g} um/N); turn the sign of one of the two columns there",
                code="against-force",
                value=p.value,
            )


def _check_joints(joints: Sequence[JointResult], at_gripper: bool) -> None:
    for j in joints:
        k = j.values.compliance
        if at_gripper and k.known and k.value + k.half_width(SURE) < 0:
            raise InputError(
                f"joint {j.joint} would have a negative compliance ({1e6 * k.value:.4g} urad/(N m)) without the "
                "gripper's; do not take it off if the gauge was at the link",
                code="negative-compliance",
                value=k.value,
                parameter="at_gripper",
            )


def _directions(loops: Sequence[NamedLoop], fits: Sequence[LoopFit]) -> Directions | None:
    """Loops at the gripper; those that are not straight take no part, unless most are like that."""
    at = tuple(i for i, r in enumerate(loops) if r.joint is None and r.direction is not None)
    if not at:
        return None
    units = np.array([loops[i].direction for i in at])
    straight = [fits[i].departures.straight for i in at]
    kept = straight if 2 * sum(straight) > len(at) else [True] * len(at)
    biased = unknown("its loop is not of straight parallel lines")
    p = [fits[i].compliance if keep else biased for i, keep in zip(at, kept, strict=True)]
    g = [fits[i].half_gap if keep else biased for i, keep in zip(at, kept, strict=True)]
    apart = tuple(loops[i].name for i, keep in zip(at, kept, strict=True) if not keep)
    return Directions(at, units, fit_directions(units, p, root=False), fit_directions(units, g, root=True), apart)


def _joint(
    loops: Sequence[NamedLoop], fits: Sequence[LoopFit], directions: Directions | None, joint: str, lever: float,
    at_gripper: bool,
) -> JointResult:  # fmt: skip
    at = [i for i, r in enumerate(loops) if r.joint == joint]
    return joint_result(joint, lever, at, fits, [_gripper(loops[i], directions) if at_gripper else None for i in at])


def _gripper(loop: NamedLoop, directions: Directions | None) -> Gripper:
    """The gripper's compliance and half gap along a loop."""
    if directions is None:
        raise MissingError(
            f"{loop.source} has no loops at the gripper itself to take off; add rows without a joint",
            parameter="at_gripper",
        )
    if loop.direction is None:
        raise MissingError(
            f"the loop of joint {loop.joint} has no direction along which to take the gripper off; add it",
            parameter="at_gripper",
        )
    return directions.compliance.along(loop.direction), directions.half_gap.along(loop.direction)


def _gap(half: Estimate, unit: str) -> str:
    """A backlash (both sides) in words; one that is not told from zero is no finding."""
    if half.absent:
        return f"none seen, below {2e6 * (half.value + half.half_width()):.2g} {unit}"
    return f"{2e6 * half.value:.4g} {unit}"


def _warnings(
    loops: Sequence[NamedLoop], fits: Sequence[LoopFit], directions: Directions | None, joints: Sequence[JointResult]
) -> Iterator[Finding]:
    yield from _undetermined(fits)
    for loop, fit in zip(loops, fits, strict=True):
        for code, message in (*_by_division(fit), *_departed(fit), *_gap_notes(fit), *_alone(fit)):
            yield note(code, f"Loop {loop.name}: {message}", loop=loop.name)
    yield from _assumed(loops, directions)
    for joint in joints:
        for test, what in zip(joint.agree, ("compliance", "half gap"), strict=True):
            if test.rejected:
                message = f"The loops of joint {joint.joint} disagree on its {what} (probability {test.chance})."
                yield note("disagree", message, joint=joint.joint, probability=test.probability)


def _undetermined(fits: Sequence[LoopFit]) -> Iterator[Finding]:
    if count := sum(f.undetermined for f in fits):
        number = "One reading" if count == 1 else f"{count} readings"
        message = (
            f"{number} at zero force {'is' if count == 1 else 'are'} left out: the backlash may lie anywhere there."
        )
        yield note("zero-force", message, count=count)


def _departed(fit: LoopFit) -> Iterator[tuple[str, str]]:
    rejected = fit.departures.rejected
    yield from ((d.name.replace(" ", "-"), _words(fit, d)) for d in rejected)
    if not rejected and not fit.departures.straight:
        chance = fit.departures.repeats.chance
        yield "not-straight", f"repeated forces reject straight parallel lines (probability {chance})."


def _words(fit: LoopFit, departure: Departure) -> str:
    chance = f"(probability {departure.test.chance})"
    largest = float(np.max(np.abs(fit.loop.force[fit.used])))
    b = departure.coefficient.value
    if departure.name == "curved":
        change = 100 * 2 * b * largest / fit.compliance.value
        word = "stiffening" if b * fit.compliance.value < 0 else "softening"
        return (
            f"curved, {word}: the slope changes by {change:+.0f} % from zero to {largest:g} N {chance}; its compliance "
            "is a mean and its gap, extended from straight lines, is biased."
        )
    if departure.name == "different slopes":
        push, pull = (1e6 * e.value for e in fit.departures.slopes)
        return f"the senses differ: {push:.4g} um/N for F > 0, {pull:.4g} um/N for F < 0 {chance}."
    if departure.name == "growing hysteresis":
        return f"the hysteresis grows with the force, by {2e6 * b:.3g} um/N {chance}; its value is a mean."
    return f"the hysteresis differs between the senses, by {4e6 * b:.3g} um {chance}; its value is a mean."


def _by_division(fit: LoopFit) -> Iterator[tuple[str, str]]:
    if fit.by_division:
        yield (
            "division",
            f"the readings go in steps of {1e6 * fit.division:g} um and scatter by less, so that the division of the "
            "gauge, not the scatter, decides how well its numbers are known; read a finer gauge, or forces in uneven "
            "steps.",
        )


def _gap_notes(fit: LoopFit) -> Iterator[tuple[str, str]]:
    gap, hysteresis = fit.half_gap, fit.half_hysteresis
    if gap.known and gap.value < 0:
        sure = gap.value + gap.half_width() < 0
        advice = "check the sense of the gauge and the order of the rows" if sure else "no backlash is seen"
        yield "negative-gap", f"the gap is negative ({2e6 * gap.value:.3g} um), which no backlash is; {advice}."
    if hysteresis.known and hysteresis.value + hysteresis.half_width() < 0:
        yield (
            "negative-hysteresis",
            "the hysteresis is negative: loading leads unloading, the loop gives work; check the order of the rows.",
        )
    elif gap.known and hysteresis.known and gap.value > 0 and hysteresis.value > gap.value:
        yield (
            "mostly-friction",
            f"the hysteresis ({2e6 * hysteresis.value:.3g} um) is larger than the gap ({2e6 * gap.value:.3g} um): "
            "most of the displacement at zero force is friction; the gap rests on the branches being parallel.",
        )


def _alone(fit: LoopFit) -> Iterator[tuple[str, str]]:
    if fit.alone:
        message = f"scatters more than the others; its own scatter of {1e6 * fit.sigma:.3g} um is its noise."
        yield "scatters-more", message


def _assumed(loops: Sequence[NamedLoop], directions: Directions | None) -> Iterator[Finding]:
    if directions is None:
        if any(r.joint is None for r in loops):
            yield note("no-directions", "Without directions no values for the gripper are given; add direction_deg.")
        return
    if directions.apart:
        named = ", ".join(directions.apart)
        yield note("apart", f"Not straight, so left out of what describes all directions: {named}.", loops=named)
    for fit, what in ((directions.compliance, "compliance"), (directions.half_gap, "backlash")):
        if not fit.one.decided and fit.isotropic.known:
            message = f"That the {what} is the same in all directions is an assumption: {fit.one.reason}."
            yield note("assumed-equal", message, quantity=what)
