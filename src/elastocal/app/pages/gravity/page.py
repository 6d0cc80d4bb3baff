"""The weight of an arm as a report."""

from __future__ import annotations

from math import degrees, isfinite
from typing import TYPE_CHECKING

from elastocal.app.pages.gravity import tables, torque_tables
from elastocal.app.pages.gravity.curves import torque_lines
from elastocal.app.pages.gravity.doubts import doubts
from elastocal.identifiability.groups import Group
from elastocal.measure.sources.friction import TERMS
from elastocal.report.blocks import Fact, Paragraphs, Report, Section

if TYPE_CHECKING:
    from elastocal.app.commands.gravity import GravityResult
    from elastocal.gravity.hold_out import Judged

HEAVY = 0.1
"""Joints whose torque varies by this share of the most variable one are named in the verdict."""


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
        Section("Torques written out", (torque_tables.term_table(result.terms),) if result.terms else ()),
        Section("Sweep by sweep", (torque_tables.recursion_table(result.recursion),) if result.recursion else ()),
        Section("Holding torques", (torque_tables.holding_table(result),) if result.poses is not None else ()),
        Section("Payload", (torque_tables.payload_table(result.payload),) if result.payload else ()),
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
    out += [_known(result), *doubts(result)]
    if result.mounting is not None:
        m = result.mounting
        down = ", ".join(f"{g:.3f}" for g in m.gravity)
        out.append(
            f"Down is ({down}) m/s2 in base axes, {degrees(m.away):.2f} +- {degrees(m.direction_sd):.2g} deg off the "
            "robot file's direction, by the masses of the robot file."
        )
    if result.payload is not None:
        rows = {row[0]: row for row in torque_tables.payload_table(result.payload).rows}
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
