"""The weight of an arm as a report."""

from __future__ import annotations

from math import degrees, isfinite
from typing import TYPE_CHECKING

from elastocal.app.pages.gravity import tables as tables
from elastocal.app.pages.gravity.curves import torque_lines
from elastocal.identifiability.groups import Group
from elastocal.measure.sources.friction import TERMS
from elastocal.report.blocks import Fact, Paragraphs, Report, Section

if TYPE_CHECKING:
    from elastocal.app.commands.gravity import GravityResult
    from elastocal.gravity.fit import GravityFit
    from elastocal.gravity.hold_out import Judged

HEAVY = 0.1
"""Joints whose torque varies by this share of the most variable one are named in the verdict."""
STRANGE = 5.0
"""Times more or less than expected: a torque that is hardly in the unit that its column names."""
WORSE = 1.25
"""Times the error of the robot file's masses: a fit that has been led astray."""
MISSED = 10.0
"""Times the scatter of the readings fitted: unseen readings that the fit knows nothing of."""
MOST_FAST = 0.3
NARROW = 0.35


def page(result: GravityResult) -> Report:
    """Everything; curves only here, not on the screen."""
    curves = Section("Torques over the log", torque_lines(result))
    return _report(result, (curves,))


def screen(result: GravityResult) -> Report:
    return _report(result, ())


def _report(result: GravityResult, more: tuple[Section, ...]) -> Report:
    found, judged = result.found, result.judged
    sections = [Section("Predicted without being seen", (tables.judged_table(judged),) if judged else ())]
    sections += [
        Section("Masses and mass moments", (tables.mass_table(result),)),
        Section("Gross errors", (tables.gross_table(result.cleaned),) if result.cleaned.gross else ()),
        Section("Base parameters", (tables.base_table(found),) if found.base.subgroups else (Paragraphs((_ALONE,)),)),
        Section("Friction", (tables.friction_table(found),) if found.friction else ()),
        Section("Readings", (tables.noise_table(found),)),
        Section("Torques written out", (tables.term_table(result.terms),) if result.terms else ()),
        Section("Sweep by sweep", (tables.recursion_table(result.recursion),) if result.recursion else ()),
        Section("Holding torques", (tables.holding_table(result),) if result.poses is not None else ()),
        Section("Payload", (tables.payload_table(result.payload),) if result.payload else ()),
        *more,
    ]
    title = f"Weight of {found.model.name}"
    return Report(title, verdict(result), tuple(s for s in sections if s.blocks), result.notes, facts(result))


_ALONE = "Every mass and mass moment acts on its own in this log."


def facts(result: GravityResult) -> tuple[Fact, ...]:
    from elastocal import __version__

    asked, found = result.request, result.found
    prior = "none" if found.prior is None else (
        f"masses to {100 * found.prior.share:g} %, centres to {1e3 * found.prior.centre:g} mm")  # fmt: skip
    terms = (
        "left in the scatter" if found.friction is None else ", ".join(t for t in TERMS if getattr(found.friction, t))
    )
    down = ", ".join(f"{g:.4g}" for g in result.file.gravity)
    return (
        Fact("elastocal", "Elastocal", __version__, __version__),
        Fact("log", "log", asked.log.as_posix(), asked.log.as_posix()),
        Fact("robot", "robot", asked.robot, asked.robot),
        Fact("sense", "torques read", found.sense.reason, found.sense.reason),
        Fact("sense_sign", "", float(found.sense.sign)),
        Fact("prior", "known beforehand", prior, prior),
        Fact("friction_terms", "friction", terms, terms),
        Fact("hold_out", "held out", asked.hold_out, f"the last {100 * asked.hold_out:g} %"),
        Fact("gravity_m_s2", "gravity", down, f"({down}) m/s2"),
        Fact("logged", "samples", found.samples.logged, str(found.samples.logged)),
        Fact("fast", "left out for inertia", found.samples.fast, str(found.samples.fast)),
    )


def verdict(result: GravityResult) -> tuple[str, ...]:
    found = result.found
    out = [f"The log holds {found.sense.reason}."]
    if result.judged is not None:
        out.append(_judged(result.judged))
    out += [_known(result), *_doubts(result)]
    if result.mounting is not None:
        m = result.mounting
        down = ", ".join(f"{g:.3f}" for g in m.gravity)
        out.append(
            f"Down is ({down}) m/s2 in base axes, {degrees(m.away):.2f} +- {degrees(m.direction_sd):.2g} deg off the "
            "robot file's direction, by the masses of the robot file."
        )
    if result.payload is not None:
        rows = {row[0]: row for row in tables.payload_table(result.payload).rows}
        out.append(
            f"The payload of the second log weighs {rows['mass'][1]} kg, its centre is at ("
            + ", ".join(str(rows[f"centre {a}"][1]) for a in "xyz")
            + ") mm."
        )
    return tuple(out)


def _judged(judged: Judged) -> str:
    import numpy as np

    read = judged.samples.torque
    spread = np.array([np.ptp(c[np.isfinite(c)]) if np.isfinite(c).any() else 0.0 for c in read.T])
    heavy = np.flatnonzero(spread >= HEAVY * max(float(spread.max()), 1e-12))
    rms, file = judged.rms(judged.error), judged.rms(judged.file_error)
    said = ", ".join(
        f"{judged.samples.log.joints[j]} to {rms[j]:.3g} {judged.samples.units[j]} (by the robot file's masses "
        f"{file[j]:.3g})"
        for j in heavy
        if isfinite(rms[j])
    )
    strange = int(np.any(judged.extrapolated(), axis=1).sum())
    outside = int(np.any(judged.outside(), axis=1).sum())
    return (
        f"Fitted on the first part of the log, the last {judged.samples.log.count} samples are predicted, rms: {said}; "
        f"{strange} of them are extrapolated in one joint or more, {outside} lie outside the poses seen."
    )


def _known(result: GravityResult) -> str:
    """How much of the masses the log knows."""
    found = result.found
    names = found.wide.names
    groups = [found.base.group[found.base.names.index(n)] for n in names]
    alone, silent = groups.count(Group.IDENTIFIABLE), groups.count(Group.SILENT)
    base = sum(found.base.names[i] in names for i in found.base.kept)
    return (
        f"Of {len(names)} masses and mass moments the poses tell {base} base parameters apart: {alone} stand alone, "
        f"{len(names) - alone - silent} act only in combinations, {silent} not at all."
    )


def _doubts(result: GravityResult) -> list[str]:
    import numpy as np

    found = result.found
    samples, ratio = found.samples, found.sense.ratio
    out = [*_gross(result), *_columns(found), *([] if result.judged is None else _missed(result.judged))]
    if samples.fast > MOST_FAST * samples.logged:
        out.append(
            f"INERTIA: {samples.fast} of {samples.logged} samples are left out, because the arm may accelerate too "
            "much in them; move more slowly."
        )
    if isfinite(ratio) and not 1 / STRANGE < ratio < STRANGE:
        out.append(f"THE TORQUES ARE {ratio:.3g} TIMES those expected: check their unit, or the masses in the file.")
    if samples.unmoved():
        out.append(f"Never moved: {', '.join(samples.unmoved())}; nothing is learned of their friction.")
    if np.max(np.ptp(samples.log.q, axis=0)) < NARROW:
        out.append("NO JOINT MOVES BY MORE THAN 20 deg: the log is shorter than one sweep, so most rests on the prior.")
    return out


def _gross(result: GravityResult) -> list[str]:
    cleaned = result.cleaned
    if not cleaned.gross:
        return []
    joints = sorted({j for _, j in cleaned.gross})
    log, units = cleaned.found.samples.log, cleaned.found.samples.units
    scatter = ", ".join(
        f"{log.joints[j]} {cleaned.found.noise[j]:.3g} {units[j]} (with them {cleaned.everything.noise[j]:.3g})"
        for j in joints
    )
    return [
        f"GROSS ERRORS: {len(cleaned.gross)} reading(s) left out ({cleaned.said()}); scatter without them: {scatter}."
    ]


def _columns(found: GravityFit) -> list[str]:
    """Joints whose torques are of another size or sign than the masses of the file let expect."""
    out = []
    for joint, factor in zip(found.model.joints, found.sense.factors, strict=True):
        if factor < 0:
            out.append(f"THE TORQUE OF {joint} HAS THE OTHER SIGN than the rest of the log: check its column.")
        if isfinite(factor) and not 1 / STRANGE < abs(factor) < STRANGE:
            out.append(
                f"THE TORQUE OF {joint} IS {abs(factor):.3g} TIMES what is expected: check its unit, or the file's "
                "masses."
            )
    return out


def _missed(judged: Judged) -> list[str]:
    """Joints that the fit predicts worse than the robot file does, or far worse than it was fitted."""
    rms, file = judged.rms(judged.error), judged.rms(judged.file_error)
    out = []
    for j, (joint, unit) in enumerate(zip(judged.samples.log.joints, judged.samples.units, strict=True)):
        why = []
        if rms[j] > WORSE * file[j]:
            why.append(f"the robot file's own masses to {file[j]:.3g}")
        if rms[j] > MISSED * judged.scatter[j]:
            why.append(f"the readings fitted to {judged.scatter[j]:.3g}")
        if why:
            out.append(
                f"DO NOT TRUST {joint}: unseen torques are predicted to {rms[j]:.3g} {unit} only, {' and '.join(why)}; "
                "check units and signs of the joint values and torques, or log more poses."
            )
    return out
