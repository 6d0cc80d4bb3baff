"""A calibration as a report: verdict, models tried, errors by pose, parameters, noise, outliers, placing."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elastocal.calibration.certificate import ANGLES, certificate_of, expected_accuracy
from elastocal.calibration.figures import (
    NOT_OF_FILE,
    NOT_STATED,
    agreement_lines,
    budget_bars,
    campaign_scene,
    correlation_map,
    error_lines,
    figures_of,
    forests,
    residual_figures,
    residual_lines,
    start_statuses,
)
from elastocal.calibration.noise import REPEATS, SHARE
from elastocal.errors import InputError
from elastocal.findings import as_sentence
from elastocal.quantities import DASH
from elastocal.report.blocks import Column, Fact, Figure, Lines, Report, Section, Table, Tile, Unknown
from elastocal.report.certificate import STATES, Certificate

if TYPE_CHECKING:
    from elastocal.calibration.accuracy import Validation
    from elastocal.calibration.calibration import Calibration
    from elastocal.calibration.comparison import Change
    from elastocal.calibration.estimates import Estimate
    from elastocal.files.certificate import Stated

HOW_TO_CERTIFY = (
    "A certificate with PASS or FAIL as page one: state its tolerance, here or under certificate in cell.yaml."
)
UNPROVED = (
    "Not validated: leave-one-out errors are of the poses measured here. Validate it on "
    "poses that take no part in the fit."
)
SHOWN = 60
"""Parameters in the report, the best known first; all are in the file."""


def calibration_page(
    c: Calibration,
    validation: Validation | None = None,
    facts: tuple[Fact, ...] = (),
    *,
    stated: Stated | None = None,
) -> Report:
    """``stated`` is what people state for the certificate, which is the first page where anything is stated."""
    wanted = stated is not None and stated.asked_for
    certificate = certificate_of(c, validation, stated) if wanted and c.before.unit == "m" else None
    tolerance = None if stated is None else stated.tolerance
    notes = [w for w in c.warnings if w.severity == "note"]
    sections = [
        Section("Accuracy", (*figures_of(c, validation, tolerance), errors_table(c, validation))),
        Section("Parameters", (*forests(c)[:1], parameters_table(c, SHOWN)) if len(c.parameters) else ()),
        Section("Residuals", (residual_lines(c), *((agreement_lines(c),) if c.words else ()))),
        Section("Uncertainty budget", _kept(budget_bars(c))),
        Section("Robot and campaign", (campaign_scene(c),)),
        Section("Outliers", (_outliers(c),), folded=not c.outliers),
        Section("More on parameters", (*forests(c)[1:], *_kept(correlation_map(c))), folded=True),
        Section("More on residuals", residual_figures(c), folded=True),
        Section("Leave-one-out", (error_lines(c, tolerance),) if validation else (), folded=True),
        Section("Models tried", (ladder_table(c),), folded=True),
        Section("Noise", (_noise(c),), folded=True),
        Section("Stations and markers", (_placing(c),), folded=True),
    ]
    return Report(
        f"Calibration of {c.robot.name}",
        (c.verdict.text, *_validated(validation, c), *(f"WARNING {w.code.upper()}: {w.text}." for w in c.doubts)),
        tuple(s for s in sections if s.blocks),
        (
            *(as_sentence(w.text) for w in notes),
            *map(as_sentence, c.robot.notes),
            *((as_sentence(ANGLES),) if wanted and certificate is None else ()),
        ),
        facts,
        data={"findings": [vars(f) | {"data": dict(f.data)} for f in (c.verdict, *c.warnings)]},
        tiles=_tiles(c, validation, certificate),
        certificate=certificate,
        hint="" if wanted else HOW_TO_CERTIFY,
    )


def _kept(block: Figure | None) -> tuple[Figure, ...]:
    return () if block is None else (block,)


def _tiles(c: Calibration, v: Validation | None, certificate: Certificate | None) -> tuple[Tile, ...]:
    before, after = (c.before, c.claim) if v is None else (v.before, v.after)
    basis = "RMS, leave-one-out" if v is None else "RMS, validation"
    now = "RMS, fitted again without a fifth of the poses in turn" if v is None and c.optimistic else basis
    known = sum(not e.code for e in c.parameters.rows)
    expected, what = expected_accuracy(c, v), "" if c.placed else "deflections, "
    where = f"{what}k = 2, at {'measured' if v is None else 'validation'} poses, without noise of a reading"
    decided = () if certificate is None else (_decision_tile(certificate),)
    unit = before.shown
    checked = "no validation poses" if v is None else f"{v.after.count} points, worst {1e3 * v.after.max:.3f} {unit}"
    fails, keep = "the kept model is not better: choose again", "no model is better: keep the nominal robot"
    none = fails if c.ladder.kept_fails else keep
    gained = Tile("error after", f"{1e3 * after.rms:.3f}", unit, now, "after")
    return (
        *decided,
        Tile("error before", f"{1e3 * before.rms:.3f}", unit, basis, "before"),
        gained if c.words else Tile("error after", DASH, "", none, "after"),
        Tile("expected", DASH, "", "deflections: by validation poses only", "expected")
        if expected is None
        else Tile("expected", f"{1e3 * expected:.3f}", unit, where, "expected"),
        Tile(
            "validation",
            DASH if v is None else f"{100 * v.coverage:.0f} %",
            "",
            f"in 95 % intervals; {checked}" if v else checked,
        ),
        Tile(
            "parameters",
            str(len(c.parameters)),
            "",
            f"{' + '.join(c.words) or 'nominal'}; {known} determined by the readings",
        ),
        Tile("outliers", str(len({o.row for o in c.outliers})), "", "rows with readings left out", "outlier"),
    )


def _decision_tile(certificate: Certificate) -> Tile:
    size = certificate.numbers["tolerance"]
    against = f"tolerance {1e3 * size:g} mm" if size == size else "no tolerance"
    return Tile("decision", certificate.outcome, "", against, "", STATES[certificate.outcome])  # type: ignore[arg-type]


def _validated(v: Validation | None, c: Calibration) -> tuple[str, ...]:
    if v is None:
        return (*_gain(c), UNPROVED) if c.words else ()
    gain = f"{1e3 * v.gain:.3f} +- {1e3 * v.gain_half_width:.3f} mm"
    return (
        f"Validation: {v.after.text()}, nominal {v.before.text()}; gain {gain} (95 %); 95 % intervals hold "
        f"{100 * v.coverage:.0f} % of the coordinates.",
    )


def _gain(c: Calibration) -> tuple[str, ...]:
    """By how much the mean leave-one-out error falls, and how sure that is."""
    if c.optimistic or not isfinite(c.ladder.gain + c.ladder.gain_se):
        return ()
    gain = f"{1e3 * c.ladder.gain:.3f} +- {2e3 * c.ladder.gain_se:.3f} {c.before.shown}"
    return (f"Gain over the nominal robot: {gain} (95 %, over poses, leave-one-out).",)


def errors_table(c: Calibration, validation: Validation | None) -> Table:
    rows = [("nominal robot, leave-one-out", c.before), ("calibrated robot, leave-one-out", c.leave_one_out)]
    if not c.words:
        rows.pop()
    if c.outliers and c.words:
        rows.append(("the same with outliers", c.leave_one_out_all))
    if c.optimistic and c.words:
        rows.append(("calibrated robot, fitted again without a fifth of the poses in turn", c.claim))
    if validation is not None:
        rows += [("nominal robot, validation", validation.before), ("calibrated robot, validation", validation.after)]
    columns = (
        Column("what", "error of predicted points" if c.placed else "error of predicted deflections"),
        *(
            Column(f"{k}_{c.before.shown}", name, c.before.shown, 3)
            for k, name in (("mean", "mean"), ("rms", "RMS"), ("p95", "95 %"), ("max", "max"))
        ),
        Column("points", "points"),
    )
    cells = tuple((w, 1e3 * e.mean, 1e3 * e.rms, 1e3 * e.p95, 1e3 * e.max, e.count) for w, e in rows)
    note = "Leave-one-out: every pose is predicted without its own readings, scales of priors and noise as fitted."
    return Table("errors", "", columns, cells, (note,))


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
        "Words are added in this order and kept where the leave-one-out error falls; the evidence of the two noises is "
        "not comparable.",
        f"Gain of the {which} over the nominal robot: {gain}; at least 2.5 standard errors are asked for.",
    )
    return Table("models", "", columns, rows, notes)


def parameters_table(c: Calibration, most: int | None = None) -> Table:
    columns = (
        Column("name", "parameter"),
        Column("group", "group"),
        Column("value", "estimate", si=True, sd="sd"),
        Column("unit", "unit"),
        Column("sd", "sd", shown=False, si=True),
        Column("file", "file value", digits=4, si=True),
        Column("status", "its status"),
        Column("informed_percent", "known by the readings", "%", 0),
        Column("significant", "significant change"),
        Column("code", "note"),
    )
    order = sorted(c.parameters.rows, key=lambda e: -e.informed)
    status = start_statuses(c)
    rows = tuple(_parameter(e, status[e.name]) for e in order[:most])
    more = len(c.parameters) - len(rows)
    notes = [
        "Known by the readings: share of the prior variance that they removed; the rest is prior. Directions that "
        "cannot be told apart are settled by the priors: below 50 % a parameter is not separately identifiable, its sd "
        "rests on the priors, and predictions are known all the same."
    ]
    notes += [NOT_OF_FILE] if NOT_STATED in status.values() else []
    if more > 0:
        notes.append(f"{more} parameters that the readings tell less of are in the calibration file.")
    return Table("parameters", "", columns, rows, tuple(notes))


def _parameter(e: Estimate, status: str) -> tuple[Any, ...]:
    change = "yes" if e.significant else ""
    return (e.name, e.group, e.value, e.unit, e.sd, e.file_value, status, 100 * e.informed, change, e.code)


def _outliers(c: Calibration) -> Table:
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


def _noise(c: Calibration) -> Table:
    columns = (Column("part", "part"), Column("sd", "standard deviation", digits=3), Column("unit", "unit"))
    rows = []
    for name, value in c.noise.items():
        if name == "points" and c.instrument.tracker is not None:
            rows.append(("points, times the tracker's", value, ""))
        elif name in ("points", "translation", REPEATS):
            rows.append((name, 1e3 * value, "mm"))
        elif name == "load size":
            rows.append((name, 100 * value, "%"))
        elif name.startswith(SHARE):
            rows.append((f"varying {name}", 100 * value, "%"))
        else:
            rows.append((name.removeprefix("noise "), 1e3 * value, _unit_of(c, name)))
    if c.discrepancy:
        rows.append(("model discrepancy", 1e3 * c.discrepancy, "mm"))
    return Table("noise", "", columns, tuple(rows))


def _unit_of(c: Calibration, name: str) -> str:
    """Of the scatter of a joint; orientations are angles."""
    joints = dict(zip(c.robot.joints, c.robot.motions, strict=True))
    motion = joints.get(name.removeprefix("noise "))
    return "mm" if motion is not None and motion.kind == "prismatic" else "mrad"


def _placing(c: Calibration) -> Table:
    columns = (Column("what", "what"), *(Column(f"{a}_mm", a, "mm", 3) for a in "xyz"), Column("frame", "in axes of"))
    rows = [
        (f"robot base, station {s}", *(1e3 * c.placing.shift[i]).tolist(), "the station")
        for i, s in enumerate(c.stations)
    ]
    rows += [(m, *(1e3 * c.placing.markers[i]).tolist(), f"the tool {c.robot.tool}") for i, m in enumerate(c.markers)]
    return Table("placing", "", columns, tuple(rows))


def write_report(
    c: Calibration,
    path: str | PathLike[str],
    validation: Validation | None = None,
    stated: Stated | None = None,
    *,
    standalone: bool = False,
) -> Path:
    """One HTML file that opens offline; ``standalone`` puts the script of turnable pictures into it."""
    from elastocal.files.write import write_files, write_script
    from elastocal.report.html import as_html, bundle_name, has_scene, plotly_script

    target, page = Path(path), calibration_page(c, validation, stated=stated)
    if has_scene(page) and not standalone:
        write_script(target.parent / bundle_name(), plotly_script)
    write_files({target: as_html(page, standalone=standalone)})
    return target


def certificate_contents(
    c: Calibration, certificate: Certificate, suffix: str, validation: Validation | None, tolerance: float | None
) -> str | bytes:
    """The certificate alone as .pdf, .html or .json."""
    from elastocal.calibration.store import to_document
    from elastocal.report.data import as_json

    figure = next((f for f in figures_of(c, validation, tolerance) if isinstance(f, Lines)), None)
    result = {"certificate": certificate.data(), "calibration": to_document(c)}
    if suffix == ".pdf":
        from elastocal.report.certificate import as_pdf

        return as_pdf(certificate, result, figure)
    if suffix == ".json":
        return as_json(result) + "\n"
    if suffix not in (".html", ".htm"):
        raise InputError(f"a certificate ends in .pdf, .html or .json, not {suffix!r}", code="suffix", value=suffix)
    from elastocal.report.html import as_html

    sections = (Section("", (figure,)),) if figure is not None else ()
    return as_html(Report("Calibration certificate", (), sections, certificate=certificate))


def write_certificate(
    c: Calibration, path: str | PathLike[str], validation: Validation | None = None, stated: Stated | None = None
) -> Path:
    from elastocal.files.write import write_files

    target, made = Path(path), certificate_of(c, validation, stated)
    tolerance = None if stated is None else stated.tolerance
    write_files({target: certificate_contents(c, made, target.suffix.lower(), validation, tolerance)})
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

    def agreement(self) -> Any:
        """Measured against predicted deviation from the nominal robot."""
        return _figure(agreement_lines(self._calibration))


def _figure(block: Lines) -> Any:
    import plotly.graph_objects as go

    from elastocal.report.figures import lines

    return go.Figure(**lines(block))
