"""Tables of a calibration: errors, models tried, parameters, outliers, noise, places."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from elastocal.calibration.certificate import STATED
from elastocal.calibration.comparison import Change
from elastocal.calibration.figures import BY_SIZE, NOT_OF_FILE, start_statuses
from elastocal.calibration.ladder import RARE, SURE, WORTH
from elastocal.calibration.noise import REPEATS, SHARE
from elastocal.report.blocks import Column, Table, Unknown

if TYPE_CHECKING:
    from elastocal.calibration.accuracy import Validation
    from elastocal.calibration.calibration import Calibration
    from elastocal.solve.summary import ErrorSummary

SIZES = (("mean", "mean"), ("rms", "RMS"), ("p95", "95th percentile"), ("max", "max"))
LEFT_OUT = "nominal robot, leave-one-out", "calibrated robot, leave-one-out"
VALIDATED = "nominal robot, validation", "calibrated robot, validation"
TOGETHER = "markers of a pose together"


def errors_table(c: Calibration, validation: Validation | None) -> Table:
    rows = list(zip(LEFT_OUT, (c.before, c.leave_one_out), strict=True))
    if not c.words:
        rows.pop()
    if c.outliers and c.words:
        rows.append(("the same with outliers", c.leave_one_out_all))
    if c.optimistic and c.words:
        rows.append(("calibrated robot, fitted again without a fifth of the poses in turn", c.claim))
    if validation is not None:
        rows += zip(VALIDATED, (validation.before, validation.after), strict=True)
    what = "error of predicted points" if c.placed else "error of predicted deflections"
    note = "Leave-one-out: every pose is predicted without its own readings, scales of priors and noise as fitted."
    return _sizes("errors", what, rows, Column("points", "points"), note)


def _sizes(key: str, what: str, rows: Sequence[tuple[str, ErrorSummary]], count: Column, *notes: str) -> Table:
    """Errors of one unit, each in a row."""
    unit = rows[0][1].shown
    columns = (Column("what", what), *(Column(f"{k}_{unit}", name, unit, 3) for k, name in SIZES), count)
    cells = tuple((w, *(1e3 * getattr(e, k) for k, _ in SIZES), e.count) for w, e in rows)
    return Table(key, "", columns, cells, notes)


def orientation_tables(c: Calibration | None, validation: Validation | None) -> tuple[Table, ...]:
    """Angles by which predicted orientations are off, where they were read beside points; of a validation alone where
    no calibration is given."""
    rows: list[tuple[str, ErrorSummary]] = []
    if c is not None and c.orientation_errors is not None:
        rows += list(zip(LEFT_OUT, c.orientation_errors, strict=True))[: 1 + bool(c.words)]
    seen = None if validation is None else validation.orientation
    if seen is not None:
        rows += zip(VALIDATED, seen, strict=True)
    what, count = "error of predicted orientations", Column("poses", "readings")
    return (_sizes("orientation_errors", what, rows, count),) if rows else ()


def change_table(changes: Sequence[Change], key: str, title: str) -> Table:
    """Of parameters, as they are given."""
    notes = (
        "Campaigns count as independent; what both know from one prior never counts as changed.",
        "A value without digits in brackets is fixed.",
    )
    names = "before", "after", "change"
    return Table.of(key, changes, {
        Column("name", "parameter"): lambda c: c.name,
        tuple(Column(k, k, si=True, sd=f"{k}_sd", digits=4) for k in names): lambda c: (c.before, c.after, c.value),
        Column("unit", "unit"): lambda c: c.unit,
        tuple(Column(f"{k}_sd", "", shown=False, si=True) for k in names): lambda c: (c.before_sd, c.after_sd, c.sd),
        Column("ratio", "change / sd", "", 1): lambda c: c.ratio,
        Column("significant", "significant"): lambda c: "yes" if c.significant else "",
    }, *notes, title=title)  # fmt: skip


def ladder_table(c: Calibration) -> Table:
    ladder, fails, unit = c.ladder.choice, c.ladder.kept_fails, c.before.shown
    chosen = None if fails else ladder.chosen
    gained, which = (c.ladder, "kept model on these readings") if fails else (ladder, "best model")
    gain = f"{1e3 * gained.gain:.3f} {unit}, standard error {1e3 * gained.gain_se:.3f} {unit} over poses"
    kept = "The model was kept: these errors are of the readings that it was chosen by, before some were changed."
    notes = (
        *((kept,) if c.ladder.before is not None else ()),
        f"Words are added in this order and kept unless the leave-one-out error rises by more than "
        f"{100 * (WORTH - 1):.1g} % (what few robots need, as coupling: where it falls by {100 * (1 - RARE):.0f} %); "
        "the evidence of the two noises is not comparable.",
        f"Gain of the {which} over the nominal robot: {gain}; more than {1e3 * gained.gain_half_width:.3f} {unit} is "
        f"asked for ({SURE:g} standard errors, more where poses are few), of compliances alone any.",
    )
    return Table.of("models", ladder.rungs, {
        Column("model", "model"): lambda r: r.label,
        Column("noise", "noise of a pose"): lambda r: r.family,
        Column(f"loo_{unit}", "leave-one-out mean", unit, 4): lambda r: 1e3 * r.loo,
        Column(f"rms_{unit}", "RMS", unit, 4): lambda r: 1e3 * r.rms,
        Column("evidence", "log evidence", "", 1): lambda r: r.evidence,
        Column("effective", "effective parameters", "", 1): lambda r: r.effective,
        Column("chosen", "chosen"): lambda r: "yes" if r is chosen else "",
    }, *notes)  # fmt: skip


def parameters_table(c: Calibration, most: int | None = None) -> Table:
    status, more = start_statuses(c), 0 if most is None else len(c.parameters) - most
    notes = [
        "Known by the readings: share of the prior variance that they removed; the rest is prior. Directions that "
        "cannot be told apart are settled by the priors: below 50 % a parameter is not separately identifiable, its sd "
        "rests on the priors, and predictions are known all the same."
    ]
    notes += [NOT_OF_FILE] if BY_SIZE in status.values() else []
    if more > 0:
        notes.append(f"{more} parameters that the readings tell less of are in the calibration file.")
    return Table.of("parameters", sorted(c.parameters.rows, key=lambda e: -e.informed)[:most], {
        Column("name", "parameter"): lambda e: e.name,
        Column("group", "group"): lambda e: STATED if e.stated else e.group,
        Column("value", "estimate", si=True, sd="sd"): lambda e: e.value,
        Column("unit", "unit"): lambda e: e.unit,
        Column("sd", "sd", shown=False, si=True): lambda e: e.sd,
        Column("file", "file value", digits=4, si=True): lambda e: e.file_value,
        Column("status", "its status", shown=any(status.values())): lambda e: status[e.name],
        Column("informed_percent", "known by the readings", "%", 0): lambda e: 100 * e.informed,
        Column("significant", "significant change"): lambda e: "yes" if e.significant else "",
        Column("code", "note"): lambda e: e.code,
    }, *notes)  # fmt: skip


def outliers_table(c: Calibration) -> Table:
    far = Unknown("farther away than the arm reaches: left out before any fit")
    note = "Left out by their deletion residual: the distance from what all other readings predict."
    return Table.of("outliers", c.outliers, {
        Column("place", "reading"): lambda o: o.place,
        Column("marker", "marker"): lambda o: o.marker or "all",
        Column("axis", "coordinate"): lambda o: o.axis or "all",
        Column("deviations", "deletion residual", "sd", 1): lambda o: far if isnan(o.deviations) else o.deviations,
        Column("probability", "probability", probability=True): lambda o: o.probability,
        Column("cause", "likely cause"): lambda o: o.cause,
    }, note if c.outliers else "No reading was left out.")  # fmt: skip


def noise_table(c: Calibration) -> Table:
    columns = (Column("part", "part"), Column("sd", "standard deviation", digits=3), Column("unit", "unit"))
    rows: list[tuple[str, float, str]] = []
    shares: dict[str, list[str]] = {}
    for name, value in c.noise.items():
        if name == "points" and c.instrument.tracker is not None:
            rows.append(("points, times the tracker's", value, ""))
        elif name in ("points", "translation", REPEATS):
            rows.append((TOGETHER if name == "translation" else name, 1e3 * value, "mm"))
        elif name == "load size":
            rows.append((name, 100 * value, "%"))
        elif name.startswith(SHARE):
            shares.setdefault(f"{100 * value:.3g}", []).append(name.removeprefix(SHARE).strip())
        else:
            rows.append((name.removeprefix("noise "), 1e3 * value, _unit_of(c, name)))
    rows += [(f"compliance that varies from pose to pose: {', '.join(w)}", float(v), "%") for v, w in shares.items()]
    if c.discrepancy:
        rows.append(("model discrepancy", 1e3 * c.discrepancy, "mm"))
    return Table("noise", "", columns, tuple(rows))


def _unit_of(c: Calibration, name: str) -> str:
    """Of the scatter of a joint; orientations are angles."""
    joints = dict(zip(c.robot.joints, c.robot.motions, strict=True))
    motion = joints.get(name.removeprefix("noise "))
    return "mm" if motion is not None and motion.kind == "prismatic" else "mrad"


def placing_table(c: Calibration) -> Table:
    columns = (Column("what", "what"), *(Column(f"{a}_mm", a, "mm", 3) for a in "xyz"), Column("frame", "in axes of"))
    rows = [
        (f"robot base, station {s}", *(1e3 * c.placing.shift[i]).tolist(), "the station")
        for i, s in enumerate(c.stations)
    ]
    rows += [(m, *(1e3 * c.placing.markers[i]).tolist(), f"frame {c.robot.tool}") for i, m in enumerate(c.markers)]
    return Table("placing", "", columns, tuple(rows))
