"""A validation as a report: verdict, errors before and after, and by pose."""

from __future__ import annotations

from dataclasses import replace

from elastocal.app.cells.trace import current
from elastocal.app.commands.validate import ValidateResult
from elastocal.calibration.figures import validation_lines
from elastocal.report.blocks import Block, Column, Fact, Report, Section, Table

_FIGURES = (("mean", "mean"), ("rms", "RMS"), ("p95", "95 %"), ("max", "max"))


def page(result: ValidateResult) -> Report:
    v, name = result.validation, result.calibration.robot.name
    cell = current().cell
    lines = validation_lines(v, None if cell is None else cell.certificate.tolerance)
    blocks: tuple[Block, ...] = (replace(lines, key="by_pose"), summary_table(result))
    sections = (Section("Errors", blocks), Section("Readings", (table(result),), folded=True))
    findings = [vars(f) | {"data": dict(f.data)} for f in (v.verdict, *v.warnings)]
    title = f"Validation of the calibration of {name}"
    return Report(title, verdict(result), sections, result.notes, facts(result), data={"findings": findings})


def verdict(result: ValidateResult) -> tuple[str, ...]:
    v = result.validation
    warned = tuple(f"WARNING {w.code.upper()}: {w.text}." for w in v.warnings)
    held = f"95 % intervals of readings hold {v.coverage:.1%} of the coordinates."
    return (v.verdict.text, *warned, held)


def summary_table(result: ValidateResult) -> Table:
    v = result.validation
    columns = (
        Column("robot", "robot"), Column("points", "points"),
        *(Column(f"{key}_mm", word, "mm", 4) for key, word in _FIGURES),
    )  # fmt: skip
    rows = tuple(
        (name, s.count, *(1e3 * getattr(s, key) for key, _ in _FIGURES))
        for name, s in (("nominal", v.before), ("calibrated", v.after))
    )
    gain = f"{1e3 * v.gain:.4f} +- {1e3 * v.gain_half_width:.4f} mm"
    return Table("errors", "", columns, rows, (f"Paired gain over poses: {gain} (95 %).",))


def table(result: ValidateResult) -> Table:
    """One row for every reading and marker; --csv writes it."""
    columns = (
        Column("place", "reading"), Column("marker", "marker"), Column("nominal_mm", "nominal", "mm", 4),
        Column("calibrated_mm", "calibrated", "mm", 4),
    )  # fmt: skip
    rows = tuple(
        (str(r["place"]), str(r["marker"]), 1e3 * float(str(r["before"])), 1e3 * float(str(r["after"])))
        for r in result.validation.rows()
    )
    return Table("readings", "", columns, rows)


def screen(result: ValidateResult) -> Report:
    """For a terminal: without the rows of all readings."""
    whole = page(result)
    return Report(whole.title, whole.verdict, (Section("Errors", (summary_table(result),)),), whole.notes, whole.inputs)


def facts(result: ValidateResult) -> tuple[Fact, ...]:
    from elastocal.app.inputs import VERSION

    v, calibration, measured = result.validation, result.path.as_posix(), result.measured.as_posix()
    words = " + ".join(result.calibration.words) or "nominal"
    return (
        VERSION,
        Fact("calibration", "calibration", calibration, f"{calibration} ({words})"),
        Fact("measured", "measured", measured, measured),
        Fact("stations_fitted", "stations", v.stations_fitted, "fitted" if v.stations_fitted else "as calibrated"),
        Fact("coverage", "coverage", v.coverage, f"{v.coverage:.1%}"),
        Fact("gain_m", "", v.gain),
        Fact("gain_half_width_m", "", v.gain_half_width),
    )
