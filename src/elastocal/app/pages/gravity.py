"""The weight of an arm as a report: verdict, validation, masses, friction, readings."""

from __future__ import annotations

from math import degrees, isfinite
from typing import TYPE_CHECKING

import numpy as np

from elastocal.app.pages import gravity_torques as torques
from elastocal.app.pages.calibrate.reduction import combination_table
from elastocal.app.pages.result_columns import or_reason
from elastocal.measure.sources.friction import TERMS
from elastocal.procedures.gravity.motors import friction_terms
from elastocal.quantities import concise
from elastocal.report.blocks import Cell, Column, Fact, Paragraphs, Report, Section, Table, Unknown

if TYPE_CHECKING:
    from elastocal.app.commands.gravity import GravityResult
    from elastocal.procedures.gravity import Gravity
    from elastocal.procedures.gravity.checks import Screened
    from elastocal.procedures.gravity.fit import GravityFit
    from elastocal.procedures.gravity.motors import Gains, Proposal
    from elastocal.procedures.gravity.prediction import Validation

NO_READING = "no reading of this joint counts"
FEW = "too few readings"
UNOBSERVED = "no reading fitted tells of it"
_FIXED = "fixed at the robot file's value"


def page(result: GravityResult) -> Report:
    gravity = result.gravity
    arm, validation = gravity.arm, gravity.validation
    sections = [
        Section("Validation", (validation_table(validation),) if validation else ()),
        Section("Masses and mass moments", (mass_table(gravity),)),
        Section("Outliers", (outlier_table(gravity.screened),) if gravity.screened.outliers else ()),
        Section("Base parameters", (base_table(arm),) if arm.base.subgroups else (Paragraphs((_ALONE,)),)),
        Section("Friction", (friction_table(arm),) if arm.friction or arm.samples.moving else ()),
        Section("Coupled motors", (coupling_table(gravity.proposal),) if gravity.proposal else ()),
        Section("Gains of currents", (gain_table(gravity.gains),) if gravity.gains else ()),
        Section("Readings", (noise_table(arm),)),
        Section("Torques written out", (torques.term_table(gravity.terms),) if gravity.terms else ()),
        Section("Sweep by sweep", (torques.recursion_table(gravity.recursion),) if gravity.recursion else ()),
        Section("Holding torques", (torques.holding_table(result),) if result.poses is not None else ()),
        Section("Payload", (torques.payload_table(gravity.payload),) if gravity.payload else ()),
        Section("Torques over the log", torques.torque_lines(gravity)),
    ]
    title = f"Gravity torques of {arm.model.name}"
    return Report(title, verdict(gravity), sections, result.notes, facts(result))


_ALONE = "Every mass and mass moment acts on its own in this log."


def facts(result: GravityResult) -> tuple[Fact, ...]:
    arm, log = result.gravity.arm, result.log.as_posix()
    prior = "none" if arm.prior is None else (
        f"masses to {100 * arm.prior.share:g} %, centres to {1e3 * arm.prior.centre:g} mm")  # fmt: skip
    terms = "left in the scatter" if arm.friction is None else ", ".join(t for t in TERMS if getattr(arm.friction, t))
    down = ", ".join(f"{g:.4g}" for g in result.gravity.file.gravity)
    return (
        Fact("log", "log", log),
        Fact("robot", "robot", result.robot),
        Fact("sense", "torques read", arm.sense.reason),
        Fact("sense_sign", "", float(arm.sense.sign)),
        Fact("prior", "prior", prior),
        Fact("friction_terms", "friction", terms),
        Fact("hold_out", "validation set", result.hold_out, f"the last {100 * result.hold_out:g} %"),
        Fact("gravity_m_s2", "gravity", down, f"({down}) m/s2"),
        Fact("logged", "samples", arm.samples.logged),
        Fact("inertia", "inertia", *inertia(arm)),
        Fact("coupled", "coupled motors", ", ".join(c.label for c in arm.unknowns.coupled) or "none"),
        Fact("fast", "left out for inertia", arm.samples.fast),
    )


def inertia(fit: GravityFit) -> tuple[str, str]:
    """How inertia was treated, as a word and as a sentence."""
    if fit.samples.moving:
        return "modelled", f"modelled; low-pass {fit.samples.motion.cutoff:.3g} Hz"
    return "left out", "left out: samples of slow motion only"


def verdict(gravity: Gravity) -> tuple[str, ...]:
    out = [f"The log holds {gravity.arm.sense.reason}."]
    if gravity.validation is not None:
        out.append(_validated(gravity.validation))
    out += [_identifiable(gravity), *(w.text for w in gravity.warnings)]
    if gravity.mounting is not None:
        m = gravity.mounting
        down = ", ".join(f"{g:.3f}" for g in m.gravity)
        out.append(
            f"Down is ({down}) m/s2 in base axes, {degrees(m.away):.2f} +- {degrees(m.direction_sd):.2g} deg off the "
            "robot file's direction, by the masses of the robot file."
        )
    if gravity.payload is not None:
        rows = {row[0]: row for row in torques.payload_table(gravity.payload).rows}
        out.append(
            f"The payload of the second log weighs {rows['mass'][1]} kg, its centre is at ("
            + ", ".join(str(rows[f"centre {a}"][1]) for a in "xyz")
            + ") mm."
        )
    return tuple(out)


def _validated(validation: Validation) -> str:
    rms, file = validation.rms(validation.error), validation.rms(validation.file_error)
    message = ", ".join(
        f"{validation.samples.log.joints[j]} to {rms[j]:.3g} {validation.samples.units[j]} (by the robot file's masses "
        f"{file[j]:.3g})"
        for j in validation.heavy()
        if isfinite(rms[j])
    )
    strange = int(np.any(validation.extrapolated(), axis=1).sum())
    return (
        f"Fitted on the first part of the log, the last {validation.samples.log.count} samples are predicted, RMS: "
        f"{message}; {strange} of them are extrapolated in one joint or more, beyond the leverage of the "
        "readings fitted."
    )


def _identifiable(gravity: Gravity) -> str:
    """How much of the masses the log knows."""
    n = gravity.groups()
    return (
        f"Of {n['parameters']} masses and mass moments the poses tell {n['base']} base parameters apart: {n['alone']} "
        f"stand alone, {n['parameters'] - n['alone'] - n['unobservable']} are identifiable in combinations only, "
        f"{n['unobservable']} not at all."
    )


def validation_table(validation: Validation) -> Table:
    """Joint by joint: errors at samples that the fit has not seen, and those of the robot file's masses there."""
    joints, own, file = validation.samples.log.joints, validation.error, validation.file_error
    extra, inside, count = validation.extrapolated().sum(axis=0), validation.inside(), validation.readings()
    leverage = np.where(np.isfinite(own), validation.prediction.weight.leverage, 0.0).max(axis=0)
    rms, largest = validation.rms(own), validation.largest(own)
    file_rms, file_largest = validation.rms(file), validation.largest(file)
    notes = (
        "Friction as fitted is taken off both. Leverage: how little the readings fitted tell of a torque, over the "
        "largest one among them. Extrapolated: leverage above one, or moving in a direction not seen there; nothing "
        "has shown that the model holds there, and intervals grow by the error of stretches left out.",
    )
    return Table.of("validation", range(len(joints)), {
        Column("joint", "joint"): lambda j: joints[j],
        Column("unit", "unit"): lambda j: validation.samples.units[j],
        Column("readings", "readings"): lambda j: int(count[j]),
        Column("rms", "RMS error", decimals=3): lambda j: or_reason(rms[j], NO_READING),
        Column("max", "largest", decimals=3): lambda j: or_reason(largest[j], NO_READING),
        Column("file_rms", "RMS by the file's masses", decimals=3): lambda j: or_reason(file_rms[j], NO_READING),
        Column("file_max", "largest", decimals=3): lambda j: or_reason(file_largest[j], NO_READING),
        Column("extrapolated", "extrapolated"): lambda j: int(extra[j]),
        Column("leverage", "largest leverage", digits=3): lambda j: or_reason(leverage[j], UNOBSERVED),
        Column("inside_percent", "inside 95 %", "%", 0): lambda j: or_reason(100 * inside[j], NO_READING),
    }, *notes)  # fmt: skip


def mass_table(gravity: Gravity) -> Table:
    arm = gravity.arm
    return Table.of("masses", arm.unknowns.masses, {
        Column("parameter", "parameter"): lambda n: n,
        (
            Column("concise", "value (sd)"), Column("unit", "unit"), Column("file", "in the robot file", digits=5),
            Column("group", "group"), Column("informed_percent", "known by the log", "%", 0),
            Column("value", "value", shown=False), Column("sd", "sd", shown=False),
            Column("reason", "why it is not estimated", reason=True),
        ): lambda n: _mass(gravity, n),
    }, *_mass_notes(arm))  # fmt: skip


def _mass(gravity: Gravity, name: str) -> tuple[Cell, ...]:
    arm, sd = gravity.arm, gravity.arm.sd(name)
    p = arm.model.parameters[name]
    file = gravity.file.parameters[name].value
    group = str(arm.base.group[arm.base.names.index(name)])
    if sd is None:
        why = "unobservable, no reading depends on it" if group == "G2" else f"in a combination, {_FIXED}"
        return ("fixed", p.unit, file, group, 0.0, p.value, Unknown(_FIXED), why)
    return (concise(p.value, sd), p.unit, file, group, 100 * arm.informed(name), p.value, sd, None)


def _mass_notes(fit: GravityFit) -> tuple[str, ...]:
    message = (
        "Groups by the poses alone: G1 acts on its own, G2 on nothing that was read, G3 only together with others "
        "(combinations below)."
    )
    if fit.prior is None:
        return (f"{message} A value of G3 stands for its combination, with what it absorbs at the robot file's value.",)
    return (
        f"{message} Prior: every mass to {100 * fit.prior.share:g} % and its centre to "
        f"{1e3 * fit.prior.centre:g} mm; known by the log is the share of that variance which the log has removed.",
    )


def outlier_table(screened: Screened) -> Table:
    """Masses and mass moments without the outliers, and with them."""
    fit, every = screened.fit, screened.everything.model.parameters
    rows = [fit.model.parameters[n] for n in fit.unknowns.masses if n in fit.names]
    return Table.of("outliers", rows, {
        Column("parameter", "parameter"): lambda p: p.name,
        Column("unit", "unit"): lambda p: p.unit,
        Column("without", "without them", digits=5): lambda p: p.value,
        Column("with", "with them", digits=5): lambda p: every[p.name].value,
        Column("sd", "sd without", digits=2): lambda p: fit.sd(p.name),
    }, f"Left out: {screened.text()}.")  # fmt: skip


def base_table(fit: GravityFit) -> Table:
    table = combination_table(fit.base)
    notes = ("Torques depend on these combinations only; the others are absorbed with the factor shown (SI units).",)
    return Table("combinations", "", table.columns, table.rows, notes)


def friction_table(fit: GravityFit) -> Table:
    terms = friction_terms(fit)
    shaped = fit.unknowns.shape is not None and bool(terms)
    notes = ("Coulomb friction is that away from rest at the mean load of the log.",) if shaped else ()
    return Table.of("friction", terms, {
        Column("joint", "joint"): lambda t: t.joint,
        Column("term", "term"): lambda t: t.term,
        Column("value", "value (sd)", si=True, sd="sd"): lambda t: or_reason(t.value, t.reason),
        Column("unit", "unit"): lambda t: t.unit,
        Column("sd", "sd", shown=False, si=True): lambda t: or_reason(t.sd, t.reason),
        Column("reason", "why it is unknown", reason=True): lambda t: t.reason or None,
    }, *notes)  # fmt: skip


def coupling_table(proposal: Proposal) -> Table:
    """What the fit leaves of the two joints without the coupled motor, and with it."""
    own, label = {t.joint: t.value for t in friction_terms(proposal.fit) if t.term == "coulomb"}, proposal.coupled.label
    note = (
        f"Proposed by the data (evidence {proposal.evidence:.0f}) and not used: Coulomb friction of the motor is "
        f"{own[label]:.3g}. Accept it by 'coupled: [{label}]' under controller in the robot file, or by --coupled."
    )
    return Table.of("coupled", range(len(proposal.joints)), {
        Column("coupled", "motor turns with"): lambda i: label,
        Column("joint", "joint"): lambda i: proposal.joints[i],
        Column("before", "scatter", digits=3): lambda i: proposal.before[i],
        Column("after", "scatter with it", digits=3): lambda i: proposal.after[i],
        Column("coulomb", "Coulomb of the joint with it", digits=3):
            lambda i: or_reason(own[proposal.joints[i]], FEW),
    }, note)  # fmt: skip


def gain_table(gains: Gains) -> Table:
    why = "known only as a product with masses or friction"
    notes = ["Torque of the joint for one ampere of its motor, gear included; masses known better tell it better."]
    if gains.products:
        message = ", ".join(
            f"{t.joint} {t.term} {concise(t.value, t.sd)} {t.unit}" for t in gains.products if not t.reason
        )
        notes.append(f"Products with a gain that is not identifiable: {message}.")
    return Table.of("gains", range(len(gains.joints)), {
        Column("joint", "joint"): lambda i: gains.joints[i],
        Column("value", "value (sd)", si=True, sd="sd"): lambda i: or_reason(gains.value[i], why),
        Column("sd", "sd", shown=False, si=True): lambda i: or_reason(gains.sd[i], why),
        Column("unit", "unit"): lambda i: "N m/A",
    }, *notes)  # fmt: skip


def noise_table(fit: GravityFit) -> Table:
    joints, forces, count = fit.samples.log.joints, fit.samples.units, np.isfinite(fit.samples.torque).sum(axis=0)
    factors, units = zip(*((180 / np.pi, "deg") if f == "N m" else (1e3, "mm") for f in forces), strict=True)
    q = np.array(factors) * fit.samples.log.q
    unread = "no torque is expected, or none was read"
    notes = (
        "Independent readings: by the autocorrelation of the residuals; accuracies count so many. Correlation: of the "
        "torque read with the one that the robot file's masses let expect.",
    )
    return Table.of("noise", range(len(joints)), {
        Column("joint", "joint"): lambda j: joints[j],
        Column("unit", "unit"): lambda j: forces[j],
        Column("from", "from", digits=4): lambda j: q[:, j].min(),
        Column("to", "to", digits=4): lambda j: q[:, j].max(),
        Column("value_unit", "joint unit"): lambda j: units[j],
        Column("readings", "readings"): lambda j: int(count[j]),
        Column("noise", "scatter", digits=3): lambda j: or_reason(fit.noise[j], NO_READING),
        Column("effective", "independent readings", digits=3): lambda j: or_reason(fit.worth[j], FEW),
        Column("agreement", "correlation", digits=3): lambda j: or_reason(fit.sense.agreement[j], unread),
    }, *notes)  # fmt: skip
