"""A compensated program as a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.commands.compensate import CompensateResult
from elastocal.app.pages.compensate.figures import confidence_lines, error_lines
from elastocal.app.pages.compensate.scene import scenes
from elastocal.app.pages.compensate.tables import left_table, problem_table, summary_table, target_table
from elastocal.report.blocks import Block, Fact, Report, Section
from elastocal.report.display import length

if TYPE_CHECKING:
    from elastocal.compensate.verification import Residual

MOST_ROWS = 2000
ON_SCREEN = 40


def page(result: CompensateResult) -> Report:
    sections = [Section("How far the tool is off", (summary_table(result), error_lines(result), *_trust(result)))]
    sections.append(Section("Robot and program", scenes(result)))
    problems, left = problem_table(result), left_table(result)
    if problems.rows:
        sections.append(Section("Targets that are not corrected", (problems,)))
    if left.rows:
        sections.append(Section("Lines that are left as they are", (left,)))
    sections.append(Section("Targets", (target_table(result, MOST_ROWS),)))
    name = result.robot.model.title or result.robot.model.name
    title = f"Compensation of {result.request.program.name} for {name}"
    return Report(title, verdict(result), tuple(sections), result.notes, facts(result))


def screen(result: CompensateResult) -> Report:
    """For a terminal: no long table of targets that are in order."""
    whole = page(result)
    short = len(result.job.at.stations) <= ON_SCREEN
    sections = whole.sections if short else whole.sections[:-1]
    return Report(whole.title, whole.verdict, sections, whole.notes, whole.inputs)


def _trust(result: CompensateResult) -> tuple[Block, ...]:
    return () if result.covariance is None else (confidence_lines(result),)


def verdict(result: CompensateResult) -> tuple[str, ...]:
    total, good = len(result.correction.status), int(result.corrected.sum())
    model = "calibrated model" if result.covariance is not None else "model"
    before, after = result.before.distances(), result.after.distances()
    record = result.robot.record
    out = [
        *(() if record is None else record.warned),
        f"{good} of {total} targets are corrected. By the {model} the tool was off by {1e3 * before.rms:.4g} mm rms, "
        f"{1e3 * before.largest:.4g} mm at most; with the new program, as its digits are written, by "
        f"{length(after.rms)} rms, {length(after.largest)} at most.",
        _confidence(result),
    ]
    if result.on_truth is not None:
        out.append(_truth(*result.on_truth))
    if result.request.first_order:
        out.append("First order only, for comparison: the full correction leaves less.")
    out.append(_mixed(result, total - good))
    return tuple(out)


def _confidence(result: CompensateResult) -> str:
    from math import isfinite

    import numpy as np

    from elastocal.app.pages.compensate.tables import half_width

    if result.covariance is None:
        return "How far the real robot will be off is not known: there is no calibration."
    if not result.corrected.any():
        return "No target is corrected."
    good = result.corrected
    rest = float(np.sqrt(np.nanmean(np.einsum("nii->n", result.covariance[good, :3, :3]))))
    worst = float(np.nanmax(half_width(result)[good]))
    known = result.robot.known is not None and isfinite(result.robot.known.discrepancy)
    model = (
        "the model's own discrepancy included" if known else "the model's own discrepancy not known and not included"
    )
    return (
        f"At corrected targets the real tool is expected to be off by {length(rest)} rms, and by less than "
        f"{length(worst)} at 95 % confidence along the worst direction of the worst target ({model})."
    )


def _truth(before: Residual, after: Residual) -> str:
    from elastocal.compensate.verification import Verification

    first, last = before.distances(), after.distances()
    return (
        f"On the robot taken for true: {1e3 * first.rms:.4g} mm rms before, {1e3 * last.rms:.4g} mm after, "
        f"{Verification(before, after).compensated_percent:.2f} % compensated; at most {1e3 * last.largest:.4g} mm."
    )


def _mixed(result: CompensateResult, bad: int) -> str:
    if not result.left and not bad:
        return "Every motion of the program is corrected."
    return (
        f"THE PROGRAM MIXES CORRECTED AND UNCORRECTED MOTIONS: {bad} target(s) cannot be corrected, and "
        f"{len(result.left)} motion line(s) in all stay as they are; the report lists them with their reasons."
    )


def facts(result: CompensateResult) -> tuple[Fact, ...]:
    from elastocal.app.version import VERSION

    asked, program = result.request, result.program
    frames = {"bases": program.bases, "tools": program.tools}
    record = result.robot.record
    aim = "position" if asked.position_only else "pose, position where the program gives points"
    calibration = None if asked.calibration is None else asked.calibration.as_posix()
    written = tuple(p.as_posix() for p in result.written)
    return (
        VERSION,
        Fact("program", "program", asked.program.as_posix(), f"{asked.program.as_posix()} ({program.language})"),
        Fact("robot", "robot", result.robot.model.name, f"{result.robot.model.name} ({result.robot.word})"),
        Fact("calibration", "calibration", calibration,
             "none" if record is None else f"{calibration}, mark {record.mark[:19]}"),
        Fact("serial", "serial number", *_serial(result)),
        *(Fact(k, k, tuple(f), "; ".join(f"{n}: {_pose(x.pose)}" for n, x in f.items()) or "none")
          for k, f in frames.items()),
        Fact("load", "load", result.load.text, result.load.text),
        Fact("aim", "corrected", aim, aim),
        Fact("method", "method", "first order" if asked.first_order else "loaded equilibrium",
             "first order" if asked.first_order else "loaded equilibrium"),
        Fact("reference", "targets are", "taught" if asked.taught else "nominal",
             "where the unloaded arm stands" if asked.taught else "where the nominal geometry puts them"),
        Fact("truth", "taken for true", asked.truth, asked.truth or "none"),
        Fact("inserted", "points put in", result.inserted, str(result.inserted)),
        Fact("written", "written", written, ", ".join(written) or "nothing (give --out)"),
    )  # fmt: skip


def _pose(pose: object) -> str:
    from elastocal.compensate.posts.collect import spoken
    from elastocal.spatial.pose import Pose

    return spoken(pose) if isinstance(pose, Pose) else "unknown"


def _serial(result: CompensateResult) -> tuple[str | None, str]:
    record = result.robot.record
    known = result.robot.model.serial if record is None else record.serial
    return known or None, known or "not stated in the robot file"
