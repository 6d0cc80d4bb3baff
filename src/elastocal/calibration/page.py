"""A calibration as a report: verdict, models tried, errors by pose, parameters, noise, outliers, placing."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elastocal.quantities import concise
from elastocal.report.blocks import Block, Column, Fact, Lines, Report, Section, Series, Table

if TYPE_CHECKING:
    from elastocal.calibration.accuracy import Validation
    from elastocal.calibration.calibration import Calibration
    from elastocal.calibration.estimates import Estimate

UNITS: Mapping[str, tuple[float, str]] = {
    "m": (1e3, "mm"),
    "rad": (1e3, "mrad"),
    "rad/(N m)": (1e6, "urad/(N m)"),
    "m/N": (1e6, "um/N"),
    "kg m": (1.0, "kg m"),
}
SHOWN = 60
"""Parameters in the report, the best known first; all are in the file."""


def calibration_page(
    c: Calibration, validation: Validation | None = None, facts: tuple[Fact, ...] = (), *, most: int = SHOWN
) -> Report:
    """``most`` parameters are shown."""
    sections = [
        Section("Accuracy", (errors_table(c, validation), *_by_pose(c))),
        Section("Models tried", _ladder(c)),
        Section("Parameters", (parameters_table(c, most),)),
        Section("Outliers", (_outliers(c),)),
        Section("Noise", (_noise(c),)),
        Section("Stations and markers", (_placing(c),)),
    ]
    return Report(
        f"Calibration of {c.robot.name}",
        (*(f"WARNING {w.code.upper()}: {w.text}." for w in c.warnings), c.verdict.text, *_validated(validation)),
        tuple(s for s in sections if s.blocks),
        tuple(c.robot.notes),
        facts,
        data={"findings": [vars(f) | {"data": dict(f.data)} for f in (c.verdict, *c.warnings)]},
    )


def _validated(v: Validation | None) -> tuple[str, ...]:
    if v is None:
        return ()
    gain = f"{1e3 * v.gain:.3f} +- {1e3 * v.gain_half_width:.3f} mm"
    return (
        f"On readings that took no part: {v.after.text()}, nominal {v.before.text()}; gain {gain} (95 %); intervals of "
        f"95 % hold {v.coverage:.0%} of the coordinates.",
    )


def errors_table(c: Calibration, validation: Validation | None) -> Table:
    rows = [("nominal robot, leave-one-out", c.before), ("calibrated robot, leave-one-out", c.leave_one_out)]
    if c.outliers:
        rows.append(("the same with outliers", c.leave_one_out_all))
    if validation is not None:
        rows += [("nominal robot, validation", validation.before), ("calibrated robot, validation", validation.after)]
    columns = (
        Column("what", "error of predicted points"),
        *(Column(f"{k}_mm", k, "mm", 3) for k in ("mean", "rms", "p95", "max")),
        Column("points", "points"),
    )
    cells = tuple((w, 1e3 * e.mean, 1e3 * e.rms, 1e3 * e.p95, 1e3 * e.max, e.count) for w, e in rows)
    note = "Leave-one-out: every pose is predicted without its own readings, scales of priors and noise as fitted."
    return Table("errors", "Accuracy", columns, cells, (note,))


def error_lines(c: Calibration) -> Lines:
    """Leave-one-out error of every pose, nominal and calibrated."""
    assert c.ladder is not None
    series = []
    for name, rung in (("nominal", c.ladder.nominal), ("calibrated", c.ladder.chosen)):
        pose = rung.fit.task.sight.states.pose
        worst = np.nanmax(np.where(np.isfinite(rung.errors), rung.errors, -1.0), axis=1)
        y = tuple(
            1e3 * float(worst[pose == p].max()) if worst[pose == p].max() >= 0 else np.nan for p in np.unique(pose)
        )
        series.append(Series(name, tuple(float(i + 1) for i in range(len(y))), y, points=True))
    note = "The farthest point of every pose; poses in order of their joint values."
    return Lines("loo", "Leave-one-out error by pose", "pose", "", "error", "mm", tuple(series), (note,))


def _by_pose(c: Calibration) -> tuple[Block, ...]:
    return () if c.ladder is None else (error_lines(c),)


def ladder_table(c: Calibration) -> Table:
    assert c.ladder is not None
    columns = (
        Column("model", "model"),
        Column("noise", "noise of a pose"),
        Column("loo_mm", "leave-one-out mean", "mm", 4),
        Column("rms_mm", "RMS", "mm", 4),
        Column("evidence", "log evidence", "", 1),
        Column("effective", "effective parameters", "", 1),
        Column("chosen", "chosen"),
    )
    rows = tuple(
        (r.label, r.family, 1e3 * r.loo, 1e3 * r.rms, r.evidence, r.effective, "yes" if r is c.ladder.chosen else "")
        for r in c.ladder.rungs
    )
    gain = f"{1e3 * c.ladder.gain:.3f} mm, standard error {1e3 * c.ladder.gain_se:.3f} mm over poses"
    notes = (
        "Words are added in this order and kept where the leave-one-out error falls; the evidence of the two noises is "
        "not comparable.",
        f"Gain of the best model over the nominal robot: {gain}; at least 2.5 standard errors are asked for.",
    )
    return Table("models", "Models tried", columns, rows, notes)


def _ladder(c: Calibration) -> tuple[Block, ...]:
    return () if c.ladder is None else (ladder_table(c),)


def parameters_table(c: Calibration, most: int | None = None) -> Table:
    columns = (
        Column("name", "parameter"),
        Column("group", "group"),
        Column("estimate", "estimate"),
        Column("unit", "unit"),
        Column("value_si", "value", shown=False),
        Column("sd_si", "sd", shown=False),
        Column("file", "file value", "", digits=4),
        Column("informed_percent", "known by the readings", "%", 0),
        Column("significant", "significant change"),
    )
    order = sorted(c.parameters.rows, key=lambda e: -e.informed)
    rows = tuple(_parameter(e) for e in order[:most])
    more = len(c.parameters) - len(rows)
    notes = [
        "Known by the readings: share of the prior variance that they removed; the rest is prior. Directions that "
        "cannot be told apart are settled by the priors, so single parameters may be unknown where predictions are not."
    ]
    if more > 0:
        notes.append(f"{more} parameters that the readings tell less of are in the calibration file.")
    return Table("parameters", "Parameters", columns, rows, tuple(notes))


def _parameter(e: Estimate) -> tuple[Any, ...]:
    factor, unit = UNITS.get(e.unit, (1.0, e.unit))
    shown = concise(factor * e.value, factor * e.sd)
    change = "yes" if e.significant else ""
    return (e.name, e.group, shown, unit, e.value, e.sd, factor * e.file_value, 100 * e.informed, change)


def _outliers(c: Calibration) -> Table:
    columns = (
        Column("place", "reading"),
        Column("marker", "marker"),
        Column("axis", "coordinate"),
        Column("deviations", "deletion residual", "sd", 1),
        Column("probability", "probability", digits=2),
    )
    rows = tuple((o.place, o.marker or "all", o.axis or "all", o.deviations, o.probability) for o in c.outliers)
    note = "Left out by their deletion residual: the distance from what all other readings predict."
    return Table("outliers", "Outliers", columns, rows, (note,) if rows else ("No reading was left out.",))


def _noise(c: Calibration) -> Table:
    columns = (Column("part", "part"), Column("sd", "standard deviation", digits=3), Column("unit", "unit"))
    rows = []
    for name, value in c.noise.items():
        if name == "points" and c.instrument.tracker is not None:
            rows.append(("points, times the tracker's", value, ""))
        elif name in ("points", "translation"):
            rows.append((name, 1e3 * value, "mm"))
        else:
            rows.append((name.removeprefix("noise "), 1e3 * value, "mrad or mm"))
    if c.discrepancy:
        rows.append(("model discrepancy", 1e3 * c.discrepancy, "mm"))
    return Table("noise", "Noise by evidence", columns, tuple(rows))


def _placing(c: Calibration) -> Table:
    columns = (Column("what", "what"), *(Column(f"{a}_mm", a, "mm", 3) for a in "xyz"), Column("frame", "in axes of"))
    rows = [
        (f"robot base, station {s}", *(1e3 * c.placing.shift[i]).tolist(), "the station")
        for i, s in enumerate(c.stations)
    ]
    rows += [(m, *(1e3 * c.placing.markers[i]).tolist(), f"the tool {c.robot.tool}") for i, m in enumerate(c.markers)]
    return Table("placing", "Stations and markers", columns, tuple(rows))


def write_report(
    c: Calibration, path: str | PathLike[str], validation: Validation | None = None, *, standalone: bool = False
) -> Path:
    """One HTML file that opens offline; ``standalone`` puts the script of turnable pictures into it."""
    from elastocal.files.shared_script import write_script
    from elastocal.files.write import write_files
    from elastocal.report.html import as_html, bundle_name, has_scene, plotly_script

    target, page = Path(path), calibration_page(c, validation)
    if has_scene(page) and not standalone:
        write_script(target.parent / bundle_name(), plotly_script)
    write_files({target: as_html(page, standalone=standalone)})
    return target


class Plots:
    """Figures of a calibration as ``plotly.graph_objects.Figure``."""

    def __init__(self, calibration: Calibration) -> None:
        self._calibration = calibration

    def errors(self) -> Any:
        """Leave-one-out error of every pose."""
        return _figure(error_lines(self._calibration))

    def residuals(self) -> Any:
        """Residuals of the coordinates in sd of the noise, by pose."""
        return _figure(residual_lines(self._calibration))


def residual_lines(c: Calibration) -> Lines:
    """Deletion residuals of single numbers in standard deviations; beyond about 4 they are outliers."""
    assert c.ladder is not None
    fit = c.ladder.chosen.fit
    chi2 = np.sqrt(fit.deletion.number_chi2())
    sign = np.sign(np.nan_to_num(fit.deletion.number_residuals()))
    pose, row = np.nonzero(np.isfinite(chi2))
    y = (chi2 * sign)[pose, row]
    mark = Series("deletion residual", tuple((pose + 1.0).tolist()), tuple(y.tolist()), points=True)
    ends = (1.0, float(chi2.shape[0]))
    band = [Series(f"{k:+d} sd", ends, (float(k), float(k))) for k in (2, -2)]
    return Lines("residuals", "Residuals", "pose", "", "deletion residual", "sd", (mark, *band))


def _figure(block: Lines) -> Any:
    import plotly.graph_objects as go

    from elastocal.report.figures import lines

    return go.Figure(**lines(block))
