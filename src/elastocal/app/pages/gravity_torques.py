"""Torques of an arm in its report: written out, sweep by sweep, to hold it, over the log; and the payload."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import degrees
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from elastocal.app.pages.result_columns import axis_columns, configuration_cells, or_reason
from elastocal.procedures.gravity.fit import payload_numbers
from elastocal.quantities import concise
from elastocal.report.blocks import Column, Columns, Lines, Series, Table, floats
from elastocal.report.colours import Role

if TYPE_CHECKING:
    from elastocal.app.commands.gravity import GravityResult
    from elastocal.procedures.gravity import Gravity
    from elastocal.procedures.gravity.fit import GravityFit
    from elastocal.procedures.gravity.prediction import Validation
    from elastocal.procedures.gravity.sweeps import Recursion
    from elastocal.procedures.gravity.terms import Term

T = TypeVar("T")
REFUSED = "too few readings of this joint"
MOST = 500
"""Samples that a curve is drawn with."""


def _term_columns(term: Callable[[T], Term]) -> Columns[T]:
    """Of what has a ``term``."""
    why = "not determined"
    return {
        Column("joint", "joint"): lambda r: term(r).joint,
        Column("cosine", "cos", "N m", 3): lambda r: term(r).cosine,
        Column("cosine_sd", "sd", "N m", digits=2): lambda r: or_reason(term(r).cosine_sd, why),
        Column("sine", "sin", "N m", 3): lambda r: term(r).sine,
        Column("sine_sd", "sd", "N m", digits=2): lambda r: or_reason(term(r).sine_sd, why),
        Column("amplitude", "amplitude", "N m", 3): lambda r: term(r).amplitude,
        Column("amplitude_sd", "sd", "N m", digits=2): lambda r: or_reason(term(r).amplitude_sd, why),
        Column("phase_deg", "phase", "deg", 3): lambda r: degrees(term(r).phase),
        Column("phase_sd_deg", "sd", "deg", digits=2): lambda r: or_reason(degrees(term(r).phase_sd), why),
        Column("text", "torque", part=1): lambda r: term(r).text,
        Column("phase_text", "or", part=1): lambda r: term(r).phase_text,
    }


def term_table(terms: tuple[Term, ...]) -> Table:
    note = (
        "Torques of the drives of joints with parallel level axes, the others held still; with tau of the next joint "
        "outwards, as 001 eq. (15)-(17)."
    )
    return Table.of("expressions", terms, _term_columns(lambda t: t), note)


def recursion_table(recursion: Recursion) -> Table:
    why = "this motion does not show it"
    notes = ["From the wrist inwards, each sweep less what hangs further out (001 section III.C)."]
    notes += [f"{', '.join(recursion.unswept)} was not swept alone."] if recursion.unswept else []
    return Table.of("recursion", list(zip(recursion.terms, recursion.series, strict=True)), {
        **_term_columns(lambda r: r[0]),
        Column("samples", "samples", part=2): lambda r: r[1].count,
        Column("coulomb", "Coulomb", "N m", 3, part=2): lambda r: or_reason(r[1].coulomb, why),
        Column("viscous", "viscous", "N m s/rad", 3, part=2): lambda r: or_reason(r[1].viscous, why),
        Column("constant", "constant", "N m", 3, part=2): lambda r: r[1].constant,
        Column("scatter", "scatter", "N m", 3, part=2): lambda r: r[1].scatter,
    }, *notes)  # fmt: skip


def holding_table(result: GravityResult) -> Table:
    poses, holding, samples = result.poses, result.holding, result.gravity.arm.samples
    assert poses is not None
    assert holding is not None
    joints = samples.log.joints
    note = (
        "Torques that the drives must give along +q of the joints to hold the arm still, without friction. Leverage: "
        "how little the readings tell of a torque, over the largest one among them; above one it is extrapolated."
    )
    return Table.of("holding", [(i, j) for i in range(len(poses)) for j in range(len(joints))], {
        axis_columns(poses.axes): lambda at: configuration_cells(poses, at[0]),
        Column("joint", "joint"): lambda at: joints[at[1]],
        Column("torque", "torque", digits=5): lambda at: or_reason(holding.torque[at], REFUSED),
        Column("sd", "sd", digits=2): lambda at: or_reason(holding.sd[at], REFUSED),
        Column("unit", "unit"): lambda at: samples.units[at[1]],
        Column("extrapolated", "extrapolated"): lambda at: bool(holding.extrapolated[at]),
        Column("leverage", "leverage", digits=3): lambda at: or_reason(holding.leverage[at], "no reading tells of it"),
        Column("reason", "why it is unknown", reason=True): lambda at: holding.refused.get(joints[at[1]]),
    }, note)  # fmt: skip


def payload_table(payload: GravityFit) -> Table:
    """Mass, mass moment and centre, with the arm's own uncertainty in their accuracy."""
    why = "the mass is not known"
    rows = [(w, 1e3 * v, 1e3 * s, "mm") if u == "m" else (w, v, s, u) for w, v, s, u in payload_numbers(payload)]
    frame = next(n for n in reversed(payload.unknowns.masses) if ".payload_" in n).rsplit(".", 1)[0]
    return Table.of("payload", rows, {
        Column("what", "payload"): lambda r: r[0],
        Column("concise", "value (sd)"): lambda r: concise(r[1], r[2]),
        Column("unit", "unit"): lambda r: r[3],
        Column("value", "value", shown=False): lambda r: or_reason(r[1], why),
        Column("sd", "sd", shown=False): lambda r: or_reason(r[2], why),
    }, f"In the axes of {frame}; the arm's own uncertainty is in these accuracies.")  # fmt: skip


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
