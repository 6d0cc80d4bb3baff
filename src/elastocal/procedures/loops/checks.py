"""What a reader of loops must be told: readings left out, loops that the model does not describe, gaps in doubt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from elastocal.findings import Finding
from elastocal.procedures.loops.departures import Departure
from elastocal.procedures.loops.directions import Directions
from elastocal.procedures.loops.fit import LoopFit
from elastocal.procedures.loops.joints import JointResult
from elastocal.procedures.loops.loop import NamedLoop


def warnings(
    loops: Sequence[NamedLoop], fits: Sequence[LoopFit], directions: Directions | None, joints: Sequence[JointResult]
) -> Iterator[Finding]:
    yield from _undetermined(fits)
    for loop, fit in zip(loops, fits, strict=True):
        for code, said in (*_departed(fit), *_gap(fit), *_alone(fit)):
            yield Finding(code, "note", f"Loop {loop.name}: {said}", {"loop": loop.name})
    yield from _assumed(loops, directions)
    for joint in joints:
        for test, what in zip(joint.agree, ("compliance", "half gap"), strict=True):
            if test.rejected:
                said = f"The loops of joint {joint.joint} disagree on its {what} (probability {test.chance})."
                yield Finding("disagree", "note", said, {"joint": joint.joint, "probability": test.probability})


def _undetermined(fits: Sequence[LoopFit]) -> Iterator[Finding]:
    if count := sum(f.undetermined for f in fits):
        number = "One reading" if count == 1 else f"{count} readings"
        said = f"{number} at zero force {'is' if count == 1 else 'are'} left out: the backlash may lie anywhere there."
        yield Finding("zero-force", "note", said, {"count": count})


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


def _gap(fit: LoopFit) -> Iterator[tuple[str, str]]:
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
        said = f"scatters more than the others; its own scatter of {1e6 * fit.sigma:.3g} um is its noise."
        yield "scatters-more", said


def _assumed(loops: Sequence[NamedLoop], directions: Directions | None) -> Iterator[Finding]:
    if directions is None:
        if any(r.joint is None for r in loops):
            yield Finding(
                "no-directions", "note", "Without directions no values for the gripper are given; add direction_deg."
            )
        return
    if directions.apart:
        named = ", ".join(directions.apart)
        yield Finding(
            "apart", "note", f"Not straight, so left out of what describes all directions: {named}.", {"loops": named}
        )
    for fit, what in ((directions.compliance, "compliance"), (directions.half_gap, "backlash")):
        if not fit.one.decided and fit.isotropic.known:
            said = f"That the {what} is the same in all directions is an assumption: {fit.one.reason}."
            yield Finding("assumed-equal", "note", said, {"quantity": what})
