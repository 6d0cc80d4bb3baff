"""What a reader of loops must be told: readings left out, loops that the model does not describe, gaps in doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastocal.app.commands.loops import Directions, JointResult
    from elastocal.files.tables.loops import LoopTable
    from elastocal.loops.departures import Departure
    from elastocal.loops.fit import LoopFit


def notes_of(
    table: LoopTable, fits: tuple[LoopFit, ...], directions: Directions | None, joints: tuple[JointResult, ...]
) -> tuple[str, ...]:
    out = list(_left_out(fits))
    for record, fit in zip(table.records, fits, strict=True):
        out += [f"Loop {record.name}: {said}" for said in (*_departed(fit), *_gap(fit), *_alone(fit))]
    out += _assumed(table, directions)
    for joint in joints:
        for test, what in zip(joint.agree, ("compliance", "half gap"), strict=True):
            if test.rejected:
                out.append(f"The loops of joint {joint.joint} disagree on its {what} (probability {test.chance}).")
    return tuple(out)


def _left_out(fits: tuple[LoopFit, ...]) -> list[str]:
    count = sum(f.undetermined for f in fits)
    if not count:
        return []
    number = "One reading" if count == 1 else f"{count} readings"
    return [
        f"{number} at zero force {'is' if count == 1 else 'are'} left out: the play may lie anywhere in its gap there."
    ]


def _departed(fit: LoopFit) -> list[str]:
    out = [_words(fit, d) for d in fit.departures.rejected]
    if not out and not fit.departures.straight:
        chance = fit.departures.repeats.chance
        out.append(f"repeated forces reject straight parallel lines (probability {chance}).")
    return out


def _words(fit: LoopFit, departure: Departure) -> str:
    import numpy as np

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


def _gap(fit: LoopFit) -> list[str]:
    gap, hysteresis = fit.half_gap, fit.half_hysteresis
    out = []
    if gap.known and gap.value < 0:
        sure = gap.value + gap.half_width() < 0
        advice = "check the sense of the gauge and the order of the rows" if sure else "no backlash is seen"
        out.append(f"the gap is negative ({2e6 * gap.value:.3g} um), which no play is; {advice}.")
    if hysteresis.known and hysteresis.value + hysteresis.half_width() < 0:
        out.append(
            "the hysteresis is negative: loading leads unloading, and the loop gives work; check the order of the rows."
        )
    elif gap.known and hysteresis.known and gap.value > 0 and hysteresis.value > gap.value:
        out.append(
            f"the hysteresis ({2e6 * hysteresis.value:.3g} um) is larger than the gap ({2e6 * gap.value:.3g} um): "
            "most of what is left at zero force is friction; the gap rests on the branches being parallel."
        )
    return out


def _alone(fit: LoopFit) -> list[str]:
    said = f"scatters more than the others; its own scatter of {1e6 * fit.sigma:.3g} um is its noise."
    return [said] if fit.alone else []


def _assumed(table: LoopTable, directions: Directions | None) -> list[str]:
    if directions is None:
        loose = any(r.joint is None for r in table.records)
        return ["Without directions no values for the gripper are given; add direction_deg."] if loose else []
    out = []
    if directions.apart:
        out.append(f"Not straight, so left out of what describes all directions: {', '.join(directions.apart)}.")
    for fit, what in ((directions.compliance, "compliance"), (directions.half_gap, "backlash")):
        if not fit.one.decided and fit.isotropic.known:
            out.append(f"That the {what} is the same in all directions is an assumption: {fit.one.reason}.")
    return out
