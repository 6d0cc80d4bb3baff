"""A compensated program as a report."""

from __future__ import annotations

from elastocal.app.commands.compensate import CompensateResult
from elastocal.app.pages.compensate.figures import confidence_lines, error_lines
from elastocal.app.pages.compensate.promise import promise
from elastocal.app.pages.compensate.scene import scenes
from elastocal.app.pages.compensate.tables import (
    left_table,
    problem_table,
    share_table,
    summary_table,
    target_table,
)
from elastocal.quantities import length
from elastocal.report.blocks import Block, Fact, Report, Section

MOST_ROWS = 2000
ON_SCREEN = 40


def page(result: CompensateResult) -> Report:
    sections = [Section("How far the tool is off", _off(result))]
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


def _off(result: CompensateResult) -> tuple[Block, ...]:
    trust = () if result.covariance is None else (confidence_lines(result),)
    return summary_table(result), share_table(result), error_lines(result), *trust


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
        *promise(result),
    ]
    if result.request.first_order:
        out.append("First order only, for comparison: the full correction leaves less.")
    out.append(_mixed(result, total - good))
    return tuple(out)


def _mixed(result: CompensateResult, bad: int) -> str:
    if not result.left and not bad:
        return "Every motion of the program is corrected."
    targets = "" if not bad else f"{bad} target{'s' * (bad > 1)} cannot be corrected, and "
    lines = len(result.left)
    stay = "1 motion line stays as it is" if lines == 1 else f"{lines} motion lines stay as they are"
    return (
        f"THE PROGRAM MIXES CORRECTED AND UNCORRECTED MOTIONS: {targets}{stay} in all; the report lists them with "
        "their reasons."
    )


def facts(result: CompensateResult) -> tuple[Fact, ...]:
    from elastocal.app.inputs import VERSION

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
