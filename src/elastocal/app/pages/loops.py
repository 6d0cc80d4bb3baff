"""Force-deflection loops as a report: each loop, all directions, joints, outliers, drawings."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from elastocal.app.pages.result_columns import filled, or_reason
from elastocal.report.blocks import Block, Cell, Code, Column, Fact, Lines, Report, Section, Table, Unknown
from elastocal.report.plane_figures import direction_map, loop_graphs

if TYPE_CHECKING:
    from elastocal.app.commands.loops import LoopsResult
    from elastocal.procedures.loops import Loops
    from elastocal.procedures.loops.directions import DirectionFit, Directions
    from elastocal.procedures.loops.loop import Estimate
    from elastocal.solve.nested import NestedTest

MOST = 6
"""Loops that are drawn."""
MODEL = (
    "Model: s = p F + g sign(F) - h sign(dF) + offset of the cycle. Backlash is the whole gap 2 g, hysteresis the "
    "whole width 2 h; the elements of a robot file take g. Accuracies are standard deviations."
)


def page(result: LoopsResult) -> Report:
    loops = result.loops
    sections = (
        Section("Loops", (loop_table(loops),)),
        Section("All directions together", directions(loops)),
        Section("Joints", filled(joint_table(loops))),
        Section("Outliers", filled(outlier_table(loops))),
        Section("Tests of straight parallel lines", (departure_table(loops), *graphs(loops))),
        Section("For the robot file", (Code("yaml", result.yaml),) if result.yaml else ()),
    )
    return Report("Force-deflection loops", verdict(loops), sections, result.notes, facts(result))


def screen(result: LoopsResult, whole: Report) -> Report:
    """The page without drawings, of which a terminal shows only ends and extremes."""
    kept = [replace(s, blocks=tuple(b for b in s.blocks if not isinstance(b, Lines))) for s in whole.sections]
    return replace(whole, sections=tuple(kept))


def facts(result: LoopsResult) -> tuple[Fact, ...]:
    loops = result.loops
    noise, file = None if loops.noise is None else 1e6 * loops.noise, loops.loops[0].source
    axes = f"directions in the axes of {result.frame}"
    return (
        Fact("data", "data", file, f"{file}, {len(loops.fits)} loops"),
        Fact("frame", "frame", result.frame, axes),
        Fact("levers", "levers", result.levers, ", ".join(result.levers) or "from the file, if any"),
        Fact("noise_um", "noise", noise, "from the residuals" if noise is None else f"{noise:g} um per reading"),
        Fact("threshold_N", "zero force", result.threshold, f"up to {result.threshold:g} N"),
        Fact(
            "at_gripper", "joints read at", *(("gripper", "the gripper") if loops.at_gripper else ("joint", "the link"))
        ),
    )


def verdict(loops: Loops) -> tuple[str, ...]:
    out = []
    if loops.directions is not None:
        out.append(_sentence("Gripper compliance", "um/N", 1e6, loops.directions.compliance))
        out.append(_sentence("Gripper backlash", "um", 2e6, loops.directions.half_gap))
    for j in loops.joints:
        k, gap = _number(j.values.compliance, 1e6, "urad/(N m)"), _gap(j.values.half_gap, "urad")
        out.append(f"Joint {j.joint}: compliance {k}, backlash {gap}.")
    outliers = sum(len(f.outliers) for f in loops.fits)
    if loops.not_straight:
        out.append(
            f"Loops that are not straight parallel lines: {loops.not_straight} of {len(loops.fits)}; the notes say how."
        )
    if outliers:
        out.append(
            f"{'One outlier is' if outliers == 1 else f'{outliers} outliers are'} named under Outliers and left out."
        )
    return tuple(out)


def _sentence(name: str, unit: str, factor: float, fit: DirectionFit) -> str:
    mean = _gap(fit.isotropic, unit) if name.endswith("backlash") else _number(fit.isotropic, factor, unit)
    if fit.suffices == "one number" or fit.principal is None:
        message = "the same in all directions" if not fit.one.rejected else "on average; the directions differ"
        if not fit.isotropic.known:
            message = "in every direction"
        return f"{name}: {mean} {message}."
    v, sd = factor * fit.principal.values, factor * fit.principal.sd
    span = f"{v[-1]:.4g} +- {sd[-1]:.2g} to {v[0]:.4g} +- {sd[0]:.2g} {unit}"
    if fit.suffices == "matrix":
        return f"{name}: {span} by direction; one number for all is rejected (probability {fit.one.chance})."
    return f"{name}: about {span} by direction, but that description is rejected as well; use the table of loops."


def _gap(half: Estimate, unit: str) -> str:
    """A backlash that is not told from zero is no finding."""
    text = _number(half, 2e6, unit)
    if not half.absent:
        return text
    return f"none seen ({text}; below {2e6 * (half.value + half.half_width()):.2g} {unit} with 95 %)"


def _number(e: Estimate, factor: float, unit: str) -> str:
    if not e.known:
        return f"not known ({e.reason})"
    sd = f" +- {factor * e.sd:.2g}" if isfinite(e.sd) else ""
    return f"{factor * e.value:.4g}{sd} {unit}"


def cells(number: Estimate, factor: float) -> tuple[Cell, Cell]:
    """Value and standard deviation, or why there is none."""
    reason = number.reason or "not determined"
    return or_reason(factor * number.value, reason), or_reason(factor * number.sd, reason)


def table(result: LoopsResult) -> Table:
    """What --csv writes."""
    return loop_table(result.loops)


def loop_table(loops: Loops) -> Table:
    """One row for each loop."""
    unread, either = "no reading to spare and no noise stated", "either is not determined"
    return Table.of("loops", list(zip(loops.loops, loops.fits, strict=True)), {
        Column("loop", "loop"): lambda p: p[0].name,
        Column("joint", "joint", shown=False): lambda p: p[0].joint,
        Column("direction_deg", "", shown=False): lambda p: _angle(p[0].direction),
        _pair("compliance", "compliance", "um_per_N", "um/N"): lambda p: cells(p[1].compliance, 1e6),
        _pair("backlash", "backlash", "um", "um"): lambda p: cells(p[1].half_gap, 2e6),
        _pair("hysteresis", "hysteresis", "um", "um"): lambda p: cells(p[1].half_hysteresis, 2e6),
        _pair("slope_push", "slope, F > 0", "um_per_N", "um/N", 1): lambda p: cells(p[1].departures.slopes[0], 1e6),
        _pair("slope_pull", "slope, F < 0", "um_per_N", "um/N", 1): lambda p: cells(p[1].departures.slopes[1], 1e6),
        Column("noise_um", "noise", "um", digits=3, part=1): lambda p: or_reason(1e6 * p[1].sigma, unread),
        Column("readings", "readings", part=1): lambda p: len(p[1].loop.force),
        Column("used", "used", part=1): lambda p: int(p[1].used.sum()),
        Column("correlation", "correlation of p and g", digits=2, part=1):
            lambda p: or_reason(p[1].correlation, either),
    }, MODEL)  # fmt: skip


def _pair(key: str, name: str, unit: str, shown: str, part: int = 0) -> tuple[Column, Column]:
    return (
        Column(f"{key}_{unit}", name, shown, digits=5, part=part),
        Column(f"{key}_sd_{unit}", "sd", shown, digits=2, part=part),
    )


def _angle(direction: object) -> Cell:
    if direction is None or len(np.asarray(direction)) != 2:
        return None
    x, y = np.asarray(direction)
    return float(np.round(np.degrees(np.arctan2(y, x)) % 360.0, 9))


def departure_table(loops: Loops) -> Table:
    """Probabilities of the loops if they were straight and parallel."""
    first = loops.fits[0].departures
    note = (
        "Probability of a departure at least this large in a loop of four straight parallel lines. It is named below "
        f"{first.level:.1g}, 0.01 shared by all tests."
    )
    return Table.of("tests", list(zip(loops.loops, (f.departures for f in loops.fits), strict=True)), {
        Column("loop", "loop"): lambda p: p[0].name,
        tuple(Column(d.name.replace(" ", "_"), d.name, digits=2) for d in first.each):
            lambda p: (_probability(d.test) for d in p[1].each),
        Column("repeats", "by repeated forces", digits=2): lambda p: _probability(p[1].repeats),
        Column("verdict", "straight and parallel?"):
            lambda p: ", ".join(d.name for d in p[1].rejected) or ("yes" if p[1].straight else "no"),
    }, note)  # fmt: skip


def _probability(test: NestedTest) -> Cell:
    return or_reason(test.probability, test.reason)


def direction_table(directions: Directions) -> Table:
    """Compliance and backlash of all directions together."""
    note = (
        "The first probability is that of the directions if one number held for all, the second if the matrix (of the "
        "backlash: its ellipse) did; below 0.01 it does not, and its sd is raised to the scatter of the directions."
    )
    return Table.of("directions", _quantities(directions), {
        Column("quantity", "quantity"): lambda q: q[0],
        Column("unit", "unit"): lambda q: q[1],
        (Column("mean", "one number", digits=5), Column("mean_sd", "sd", digits=2)):
            lambda q: cells(q[3].isotropic, q[2]),
        Column("one_probability", "one number: probability", probability=True): lambda q: _probability(q[3].one),
        Column("matrix_probability", "matrix: probability", probability=True): lambda q: _probability(q[3].matrix),
        Column("suffices", "what describes it"):
            lambda q: "ellipse" if q[3].suffices == "matrix" and q[3].root else q[3].suffices,
    }, note)  # fmt: skip


def principal_table(directions: Directions) -> Table:
    """Largest and smallest values with their axes."""
    axis = ("x", "y", "z")[: directions.units.shape[1]]
    columns = (
        Column("quantity", "quantity"), Column("unit", "unit"), Column("value", "principal value", digits=5),
        Column("sd", "sd", digits=2), *(Column(f"axis_{a}", f"axis {a}", decimals=4) for a in axis),
        Column("angle_deg", "angle", "deg", digits=4), Column("angle_sd_deg", "sd", "deg", digits=2),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for name, unit, factor, fit in _quantities(directions):
        rows += _principal_rows(name, unit, factor, fit)
    return Table("principal", "", columns, tuple(rows))


def _principal_rows(name: str, unit: str, factor: float, fit: DirectionFit) -> list[tuple[Cell, ...]]:
    axes = fit.principal
    if axes is None:
        why = Unknown(fit.reason)
        return [(name, unit, why, why, *(why for _ in range(fit.dimension)), why, why)]
    plain = "one number describes all directions, so the axes mean nothing" if fit.suffices == "one number" else ""
    out: list[tuple[Cell, ...]] = []
    for i, (value, sd) in enumerate(zip(axes.values, axes.sd, strict=True)):
        turn = axes.angle + i * np.pi / 2
        angle = Unknown(plain) if plain else or_reason(float(np.degrees(turn)), "in space: see the axis")
        spread = Unknown(plain) if plain else or_reason(float(np.degrees(axes.angle_sd)), "in space: see the axis")
        along = (float(v) for v in axes.axes[:, i])
        out.append((name, unit, float(factor * value), float(factor * sd), *along, angle, spread))
    return out


def _quantities(directions: Directions) -> tuple[tuple[str, str, float, DirectionFit], ...]:
    return (("compliance", "um/N", 1e6, directions.compliance), ("backlash", "um", 2e6, directions.half_gap))


def joint_table(loops: Loops) -> Table:
    taken = "the gripper's own compliance and gap are taken off" if loops.at_gripper else "as read"
    return Table.of("joints", loops.joints, {
        Column("joint", "joint"): lambda j: j.joint,
        Column("lever_mm", "lever", "mm"): lambda j: 1e3 * j.lever,
        Column("loops", "loops"): lambda j: len(j.loops),
        _pair("compliance", "compliance", "urad_per_Nm", "urad/(N m)"): lambda j: cells(j.values.compliance, 1e6),
        _pair("backlash", "backlash", "urad", "urad"): lambda j: cells(j.values.half_gap, 2e6),
        _pair("hysteresis", "hysteresis", "urad", "urad"): lambda j: cells(j.values.half_hysteresis, 2e6),
    }, f"Torque F l, angle s / l; the lever is fixed; {taken}.")  # fmt: skip


def outlier_table(loops: Loops) -> Table:
    """Readings that the rest of their loop contradicts."""
    off = [(r, o) for r, fit in zip(loops.loops, loops.fits, strict=True) for o in fit.outliers]
    return Table.of("outliers", off, {
        Column("place", "reading"): lambda p: p[0].place(p[1].row),
        Column("loop", "loop"): lambda p: p[0].name,
        Column("force_N", "force", "N"): lambda p: float(p[0].loop.force[p[1].row]),
        Column("read_um", "read", "um", 2): lambda p: 1e6 * p[1].value,
        Column("predicted_um", "the rest predicts", "um", 2): lambda p: 1e6 * p[1].predicted,
        Column("sigmas", "sigmas", digits=3): lambda p: p[1].sigmas,
        Column("probability", "probability", probability=True): lambda p: p[1].probability,
    }, "Left out of all figures.")  # fmt: skip


def graphs(loops: Loops) -> tuple[Lines, ...]:
    """The first loop at the gripper, those of joints, and those that the model does not describe."""
    pairs = list(enumerate(zip(loops.loops, loops.fits, strict=True)))
    first = next((i for i, (r, _) in pairs if r.joint is None), -1)
    chosen = [i for i, (r, f) in pairs if i == first or r.joint is not None or not f.departures.straight]
    left = f"{len(chosen) - MOST} more loops are not drawn." if len(chosen) > MOST else ""
    return tuple(
        graph
        for last, i in ((n == MOST - 1, i) for n, i in enumerate(chosen[:MOST]))
        for graph in loop_graphs(
            f"loop_{i + 1}", f"Loop {loops.loops[i].name}", loops.fits[i], (left,) if left and last else ()
        )
    )


def directions(loops: Loops) -> tuple[Block, ...]:
    """All directions together, with polar maps of loops in a plane."""
    d = loops.directions
    if d is None:
        return ()
    tables = direction_table(d), principal_table(d)
    if d.units.shape[1] != 2:
        return tables
    fits = [loops.fits[i] for i in d.at]
    p, g = [f.compliance for f in fits], [f.half_gap for f in fits]
    return (
        *tables,
        direction_map("compliance_map", "Compliance by direction", d.units, p, d.compliance),
        direction_map("backlash_map", "Backlash by direction", d.units, g, d.half_gap),
    )
