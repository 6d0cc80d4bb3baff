"""Tables of what the masses found give: terms of the torque, the way from joint to joint, holding torques, payload."""

from __future__ import annotations

from math import degrees
from typing import TYPE_CHECKING

from elastocal.app.pages.columns import axis_columns, configuration_cells, or_reason
from elastocal.report.blocks import Cell, Column, Table
from elastocal.report.display import concise

if TYPE_CHECKING:
    from elastocal.app.commands.gravity import GravityResult
    from elastocal.gravity.fit import GravityFit
    from elastocal.gravity.recursion import Recursion
    from elastocal.gravity.terms import Term

_TERM_COLUMNS = (
    Column("joint", "joint"), Column("cosine", "cos", "N m", 3), Column("cosine_sd", "sd", "N m", digits=2),
    Column("sine", "sin", "N m", 3), Column("sine_sd", "sd", "N m", digits=2),
    Column("amplitude", "amplitude", "N m", 3), Column("amplitude_sd", "sd", "N m", digits=2),
    Column("phase_deg", "phase", "deg", 3), Column("phase_sd_deg", "sd", "deg", digits=2),
    Column("text", "torque", part=1), Column("phase_text", "or", part=1),
)  # fmt: skip


def _term(term: Term) -> tuple[Cell, ...]:
    why = "not determined"
    return (
        term.joint, term.cosine, or_reason(term.cosine_sd, why), term.sine, or_reason(term.sine_sd, why),
        term.amplitude, or_reason(term.amplitude_sd, why), degrees(term.phase), or_reason(degrees(term.phase_sd), why),
        term.text, term.phase_text,
    )  # fmt: skip


def term_table(terms: tuple[Term, ...]) -> Table:
    notes = (
        "Torques of the drives of joints with parallel level axes, the others held still; with tau of the next joint "
        "outwards, as 001 eq. (15)-(17).",
    )
    return Table("expressions", "", _TERM_COLUMNS, tuple(_term(t) for t in terms), notes)


def recursion_table(recursion: Recursion) -> Table:
    columns = (
        *_TERM_COLUMNS, Column("samples", "samples", part=2), Column("coulomb", "Coulomb", "N m", 3, part=2),
        Column("viscous", "viscous", "N m s/rad", 3, part=2), Column("constant", "constant", "N m", 3, part=2),
        Column("scatter", "scatter", "N m", 3, part=2),
    )  # fmt: skip
    why = "this motion does not show it"
    rows = tuple(
        (*_term(t), s.count, or_reason(s.coulomb, why), or_reason(s.viscous, why), s.constant, s.scatter)
        for t, s in zip(recursion.terms, recursion.series, strict=True)
    )
    notes = ["From the wrist inwards, each sweep less what hangs further out (001 section III.C)."]
    notes += [f"{', '.join(recursion.unswept)} was not swept alone."] if recursion.unswept else []
    return Table("recursion", "", columns, rows, tuple(notes))


def holding_table(result: GravityResult) -> Table:
    poses, holding = result.poses, result.holding
    assert poses is not None
    assert holding is not None
    samples = result.found.samples
    columns = (
        *axis_columns(poses.axes), Column("joint", "joint"), Column("torque", "torque", digits=5),
        Column("sd", "sd", digits=2), Column("unit", "unit"), Column("extrapolated", "extrapolated"),
    )  # fmt: skip
    rows = tuple(
        (*configuration_cells(poses, i), joint, float(holding.torque[i, j]), float(holding.sd[i, j]),
         samples.units[j], bool(holding.extrapolated[i, j]))
        for i in range(len(poses))
        for j, joint in enumerate(samples.log.joints)
    )  # fmt: skip
    notes = ("Torques that the drives must give along +q of the joints to hold the arm still, without friction.",)
    return Table("holding", "", columns, rows, notes)


def payload_table(payload: GravityFit) -> Table:
    """Mass, mass moment and centre, with the arm's own uncertainty in their accuracy."""
    import numpy as np

    names, covariance = payload.wide.names, payload.wide.covariance
    mass, *moment = (payload.model.parameters.rows[payload.model.parameters.index(n)].value for n in names)
    sd = np.sqrt(np.diag(covariance))
    rows: list[tuple[Cell, ...]] = [("mass", concise(mass, sd[0]), "kg", mass, float(sd[0]))]
    for i, (axis, u) in enumerate(zip("xyz", moment, strict=True), 1):
        rows.append((f"mass moment {axis}", concise(u, sd[i]), "kg m", u, float(sd[i])))
    for i, (axis, u) in enumerate(zip("xyz", moment, strict=True), 1):
        slope = np.array([-u / mass, 1.0]) / mass if mass else np.full(2, np.nan)
        part = covariance[np.ix_([0, i], [0, i])]
        spread = float(np.sqrt(max(float(slope @ part @ slope), 0.0))) if mass else np.nan
        why = "the mass is not known"
        centre = 1e3 * u / mass if mass else np.nan
        rows.append((f"centre {axis}", concise(centre, 1e3 * spread), "mm", or_reason(centre, why),
                     or_reason(1e3 * spread, why)))  # fmt: skip
    columns = (
        Column("what", "payload"), Column("concise", "value (sd)"), Column("unit", "unit"),
        Column("value", "value", shown=False), Column("sd", "sd", shown=False),
    )  # fmt: skip
    frame = names[0].rsplit(".", 1)[0]
    notes = (f"In the axes of {frame}; the arm's own uncertainty is in these accuracies.",)
    return Table("payload", "", columns, tuple(rows), notes)
