"""Torques of an arm in its report: written out, sweep by sweep, to hold it, over the log; and the payload."""

from __future__ import annotations

from dataclasses import replace
from math import degrees
from typing import TYPE_CHECKING, Any

import numpy as np

from elastocal.app.pages.result_columns import axis_columns, configuration_cells, or_reason
from elastocal.procedures.gravity.fit import payload_numbers
from elastocal.quantities import concise
from elastocal.report.blocks import Cell, Column, Lines, Series, Table, floats
from elastocal.report.colours import Role

if TYPE_CHECKING:
    from elastocal.app.commands.gravity import GravityResult
    from elastocal.procedures.gravity import Gravity
    from elastocal.procedures.gravity.fit import GravityFit
    from elastocal.procedures.gravity.prediction import Validation
    from elastocal.procedures.gravity.sweeps import Recursion
    from elastocal.procedures.gravity.terms import Term

REFUSED = "too few readings of this joint"
MOST = 500
"""Samples that a curve is drawn with."""
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
    samples = result.gravity.arm.samples
    columns = (
        *axis_columns(poses.axes), Column("joint", "joint"), Column("torque", "torque", digits=5),
        Column("sd", "sd", digits=2), Column("unit", "unit"), Column("extrapolated", "extrapolated"),
        Column("leverage", "leverage", digits=3), Column("reason", "why it is unknown", reason=True),
    )  # fmt: skip
    rows = tuple(
        (*configuration_cells(poses, i), joint, or_reason(float(holding.torque[i, j]), REFUSED),
         or_reason(float(holding.sd[i, j]), REFUSED), samples.units[j], bool(holding.extrapolated[i, j]),
         or_reason(float(holding.leverage[i, j]), "no reading tells of it"), holding.refused.get(joint))
        for i in range(len(poses))
        for j, joint in enumerate(samples.log.joints)
    )  # fmt: skip
    notes = (
        "Torques that the drives must give along +q of the joints to hold the arm still, without friction. Leverage: "
        "how little the readings tell of a torque, over the largest one among them; above one it is extrapolated.",
    )
    return Table("holding", "", columns, rows, notes)


def payload_table(payload: GravityFit) -> Table:
    """Mass, mass moment and centre, with the arm's own uncertainty in their accuracy."""
    why = "the mass is not known"
    rows: list[tuple[Cell, ...]] = []
    for what, value, sd, unit in payload_numbers(payload):
        factor, shown = (1e3, "mm") if unit == "m" else (1.0, unit)
        v, s = factor * value, factor * sd
        rows.append((what, concise(v, s), shown, or_reason(v, why), or_reason(s, why)))
    columns = (
        Column("what", "payload"), Column("concise", "value (sd)"), Column("unit", "unit"),
        Column("value", "value", shown=False), Column("sd", "sd", shown=False),
    )  # fmt: skip
    frame = next(n for n in reversed(payload.unknowns.masses) if ".payload_" in n).rsplit(".", 1)[0]
    notes = (f"In the axes of {frame}; the arm's own uncertainty is in these accuracies.",)
    return Table("payload", "", columns, tuple(rows), notes)


def torque_lines(gravity: Gravity) -> tuple[Lines, ...]:
    """By the fit of the first part where there is one: what lies beyond the mark it has not seen."""
    whole, seen = gravity.over_log()
    split = gravity.trained is not None
    every = (_joint(whole, j, seen, split) for j in range(gravity.model.n))
    return tuple(lines for lines in every if lines is not None)


def _joint(whole: Validation, j: int, seen: int, split: bool) -> Lines | None:
    log = whole.samples.log
    rows = np.flatnonzero(np.isfinite(whole.samples.torque[:, j]))
    if not len(rows):
        return None
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MOST)).astype(int))]
    x = np.arange(log.count, dtype=np.float64) if log.time is None else log.time
    joint, force = log.joints[j], whole.samples.units[j]

    def series(name: str, values: object, at: Any = slice(None), points: bool = False, role: Role = "") -> Series:
        chosen = rows[at]
        y = np.asarray(values)[chosen, j]
        return Series(name, floats(x[chosen]), floats(y), points=points, role=role)

    low, high = whole.band()
    band = series("95 % interval", high, role="expected")
    curves = [replace(band, low=floats(low[rows, j])), series("read", whole.samples.torque, points=True, role="read")]
    if split and np.any(rows >= seen):
        curves.append(series("read, validation set", whole.samples.torque, rows >= seen, points=True))
    curves.append(series("predicted", whole.prediction.reading, role="after"))
    strange = whole.extrapolated()[rows, j]
    if np.any(strange):
        curves.append(series("extrapolated", whole.prediction.reading, strange, points=True))
    unit = "" if log.time is None else "s"
    return Lines(f"torque_{joint}", f"Torque of {joint}", "sample" if log.time is None else "time", unit,
                 "torque" if force == "N m" else "force", force, tuple(curves))  # fmt: skip
