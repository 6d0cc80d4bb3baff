"""Tables of a calibration: errors, models tried, parameters, outliers, noise, places."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from elastocal.calibration.certificate import STATED
from elastocal.calibration.comparison import Change
from elastocal.calibration.estimates import Estimate
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
    columns = (
        Column("name", "parameter"),
        *(Column(k, k, si=True, sd=f"{k}_sd", digits=4) for k in ("before", "after", "change")), Column("unit", "unit"),
        *(Column(f"{k}_sd", "", shown=False, si=True) for k in ("before", "after", "change")),
        Column("ratio", "change / sd", "", 1), Column("significant", "significant"),
    )  # fmt: skip
    rows = tuple(
        (c.name, c.before, c.after, c.value, c.unit, c.before_sd, c.after_sd, c.sd, c.ratio,
         "yes" if c.significant else "")
        for c in changes
    )  # fmt: skip
    notes = (
        "Campaigns count as independent; what both know from one prior never counts as changed.",
        "A value without digits in brackets is fixed.",
    )
    return Table(key, title, columns, rows, notes)


def ladder_table(c: Calibration) -> Table:
    columns = (
        Column("model", "model"),
        Column("noise", "noise of a pose"),
        Column(f"loo_{c.before.shown}", "leave-one-out mean", c.before.shown, 4),
        Column(f"rms_{c.before.shown}", "RMS", c.before.shown, 4),
        Column("evidence", "log evidence", "", 1),
        Column("effective", "effective parameters", "", 1),
        Column("chosen", "chosen"),
    )
    ladder, fails = c.ladder.choice, c.ladder.kept_fails
    chosen = None if fails else ladder.chosen
    rows = tuple(
        (r.label, r.family, 1e3 * r.loo, 1e3 * r.rms, r.evidence, r.effective, "yes" if r is chosen else "")
        for r in ladder.rungs
    )
    unit = c.before.shown
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
    return Table("models", "", columns, rows, notes)


def parameters_table(c: Calibration, most: int | None = None) -> Table:
    status = start_statuses(c)
    columns = (
        Column("name", "parameter"),
        Column("group", "group"),
        Column("value", "estimate", si=True, sd="sd"),
        Column("unit", "unit"),
        Column("sd", "sd", shown=False, si=True),
        Column("file", "file value", digits=4, si=True),
        Column("status", "its status", shown=any(status.values())),
        Column("informed_percent", "known by the readings", "%", 0),
        Column("significant", "significant change"),
        Column("code", "note"),
    )
    order = sorted(c.parameters.rows, key=lambda e: -e.informed)
    rows = tuple(_parameter(e, status[e.name]) for e in order[:most])
    more = len(c.parameters) - len(rows)
    notes = [
        "Known by the readings: share of the prior variance that they removed; the rest is prior. Directions that "
        "cannot be told apart are settled by the priors: below 50 % a parameter is not separately identifiable, its sd "
        "rests on the priors, and predictions are known all the same."
    ]
    notes += [NOT_OF_FILE] if BY_SIZE in status.values() else []
    if more > 0:
        notes.append(f"{more} parameters that the readings tell less of are in the calibration file.")
    return Table("parameters", "", columns, rows, tuple(notes))


def _parameter(e: Estimate, status: str) -> tuple[Any, ...]:
    change = "yes" if e.significant else ""
    return (
        e.name,
        STATED if e.stated else e.group,
        e.value,
        e.unit,
        e.sd,
        e.file_value,
        status,
        100 * e.informed,
        change,
        e.code,
    )


def outliers_table(c: Calibration) -> Table:
    columns = (
        Column("place", "reading"),
        Column("marker", "marker"),
        Column("axis", "coordinate"),
        Column("deviations", "deletion residual", "sd", 1),
        Column("probability", "probability", probability=True),
        Column("cause", "likely cause"),
    )
    far = Unknown("farther away than the arm reaches: left out before any fit")
    rows = tuple(
        (
            o.place,
            o.marker or "all",
            o.axis or "all",
            far if isnan(o.deviations) else o.deviations,
            o.probability,
            o.cause,
        )
        for o in c.outliers
    )
    note = "Left out by their deletion residual: the distance from what all other readings predict."
    return Table("outliers", "", columns, rows, (note,) if rows else ("No reading was left out.",))


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
