"""Tables of an arm's weight: masses, combinations, friction, noise, torques judged and torques asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.pages.calibrate.dropped import combination_table
from elastocal.app.pages.columns import or_reason
from elastocal.report.blocks import Cell, Column, Table, Unknown
from elastocal.report.display import concise

if TYPE_CHECKING:
    from elastocal.app.commands.gravity import GravityResult
    from elastocal.gravity.fit import GravityFit
    from elastocal.gravity.gross import Cleaned
    from elastocal.gravity.hold_out import Judged

NO_READING = "no reading of this joint counts"
FEW = "too few readings"
_HELD = "held at the robot file's value"


def judged_table(judged: Judged) -> Table:
    """Joint by joint: errors at samples that the fit has not seen, and those of the robot file's masses there."""
    import numpy as np

    columns = (
        Column("joint", "joint"), Column("unit", "unit"), Column("readings", "readings"),
        Column("rms", "rms error", decimals=3), Column("max", "largest", decimals=3),
        Column("file_rms", "rms by the file's masses", decimals=3), Column("file_max", "largest", decimals=3),
        Column("extrapolated", "extrapolated"), Column("outside", "outside the poses seen"),
        Column("inside_percent", "inside 95 %", "%", 0),
    )  # fmt: skip
    extra, outside, inside = judged.extrapolated().sum(axis=0), judged.outside().sum(axis=0), judged.inside()
    count = np.isfinite(judged.error).sum(axis=0)
    own, file = judged.error, judged.file_error
    numbers = zip(judged.rms(own), judged.largest(own), judged.rms(file), judged.largest(file), strict=True)
    rows = tuple(
        (joint, judged.samples.units[j], int(count[j]), *(or_reason(float(v), NO_READING) for v in four), int(extra[j]),
         int(outside[j]), or_reason(100 * float(inside[j]), NO_READING))
        for j, (joint, four) in enumerate(zip(judged.samples.log.joints, numbers, strict=True))
    )  # fmt: skip
    notes = (
        "Friction as fitted is taken off both. Extrapolated: known less well than that joint's torque was anywhere in "
        "the part that was fitted, or moving in a direction not seen there; do not trust these. "
        "Outside the poses seen: a joint that this torque depends on is beyond "
        "where it was in the part that was fitted, so nothing has shown that the model and its accuracy hold there.",
    )
    return Table("held_out", "", columns, rows, notes)


def mass_table(result: GravityResult) -> Table:
    found = result.found
    columns = (
        Column("parameter", "parameter"), Column("concise", "value (sd)"), Column("unit", "unit"),
        Column("file", "in the robot file", digits=5), Column("group", "group"),
        Column("told_percent", "told by the log", "%", 0), Column("value", "value", shown=False),
        Column("sd", "sd", shown=False), Column("sd_wide", "sd, others unknown", digits=3),
        Column("reason", "why it is not estimated", footnote=True),
    )  # fmt: skip
    return Table("masses", "", columns, tuple(_mass(result, n) for n in found.wide.names), _mass_notes(found))


def _mass(result: GravityResult, name: str) -> tuple[Cell, ...]:
    found = result.found
    fit, base = found.fit, found.base
    p = found.model.parameters.rows[found.model.parameters.index(name)]
    file = result.file.parameters.rows[result.file.parameters.index(name)].value
    group, wide = str(base.group[base.names.index(name)]), found.wide.sd(name)
    if name not in fit.names:
        why = next((d.reason for d in found.identification.dropped if d.name == name), _HELD)
        return (name, "held", p.unit, file, group, 0.0, p.value, Unknown(_HELD), wide, why)
    sd = float(fit.sd[fit.names.index(name)])
    before = {b.name: b.sd for b in fit.campaign.beliefs}.get(name)
    told = 100.0 if before is None else 100 * max(0.0, 1 - (sd / before) ** 2)
    return (name, concise(p.value, sd), p.unit, file, group, told, p.value, sd, wide, None)


def _mass_notes(found: GravityFit) -> tuple[str, ...]:
    said = (
        "Groups by the poses alone: G1 acts on its own, G2 on nothing that was read, G3 only together with others "
        "(combinations below)."
    )
    if found.prior is None:
        return (f"{said} A value of G3 stands for its combination, with what it absorbs at the robot file's value.",)
    return (
        f"{said} Beforehand every mass was taken to be known to {100 * found.prior.share:g} % and its centre to "
        f"{1e3 * found.prior.centre:g} mm; told by the log is the share of that variance which the log has removed.",
    )


def gross_table(cleaned: Cleaned) -> Table:
    """Masses and mass moments without the gross errors, and with them."""
    columns = (
        Column("parameter", "parameter"), Column("unit", "unit"), Column("without", "without them", digits=5),
        Column("with", "with them", digits=5), Column("sd", "sd without", digits=2),
    )  # fmt: skip
    without, every = cleaned.found.model.parameters, cleaned.everything.model.parameters
    rows = tuple(
        (n, without.rows[without.index(n)].unit, without.rows[without.index(n)].value, every.rows[every.index(n)].value,
         float(cleaned.found.fit.sd[cleaned.found.fit.names.index(n)]))
        for n in cleaned.found.wide.names
        if n in cleaned.found.fit.names
    )  # fmt: skip
    return Table("gross_errors", "", columns, rows, (f"Left out: {cleaned.said()}.",))


def base_table(found: GravityFit) -> Table:
    table = combination_table(found.base)
    notes = ("Torques depend on these combinations only; the others are absorbed with the factor shown (SI units).",)
    return Table("combinations", "", table.columns, table.rows, notes)


def friction_table(found: GravityFit) -> Table:
    from elastocal.gravity.friction_found import friction_found

    columns = (
        Column("joint", "joint"), Column("term", "term"), Column("concise", "value (sd)"), Column("unit", "unit"),
        Column("value", "value", shown=False), Column("sd", "sd", shown=False),
        Column("reason", "why it is unknown", footnote=True),
    )  # fmt: skip
    rows = tuple(
        (t.joint, t.term, concise(t.value, t.sd), t.unit, or_reason(t.value, t.reason), or_reason(t.sd, t.reason),
         t.reason or None)
        for t in friction_found(found)
    )  # fmt: skip
    return Table("friction", "", columns, rows)


def noise_table(found: GravityFit) -> Table:
    import numpy as np

    columns = (
        Column("joint", "joint"), Column("unit", "unit"), Column("from", "from", digits=4),
        Column("to", "to", digits=4), Column("value_unit", "joint unit"), Column("readings", "readings"),
        Column("noise", "scatter", digits=3), Column("effective", "worth", digits=3),
        Column("agreement", "correlation", digits=3),
    )  # fmt: skip
    q, count = found.samples.log.q, np.isfinite(found.samples.torque).sum(axis=0)
    rows = []
    for j, (joint, force) in enumerate(zip(found.samples.log.joints, found.samples.units, strict=True)):
        factor, unit = (180 / np.pi, "deg") if force == "N m" else (1e3, "mm")
        rows.append((
            joint, force, float(factor * q[:, j].min()), float(factor * q[:, j].max()), unit, int(count[j]),
            or_reason(float(found.noise[j]), NO_READING), or_reason(float(found.worth[j]), FEW),
            or_reason(float(found.sense.agreement[j]), "no torque is expected, or none was read"),
        ))  # fmt: skip
    notes = (
        "Worth: how many independent readings these are, by the autocorrelation of what the fit leaves; accuracies "
        "count so many. Correlation: of the torque read with the one that the robot file's masses let expect.",
    )
    return Table("noise", "", columns, tuple(rows), notes)
