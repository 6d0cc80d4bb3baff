"""A compensated program as a report: verdict, tables, pictures, inputs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from elastocal.app.cells.trace import current
from elastocal.app.commands.compensate import sentence
from elastocal.app.configurations import axes_of
from elastocal.app.pages.compensate_figures import error_lines, scenes, workpiece_maps
from elastocal.app.pages.result_columns import axis_columns, filled, or_reason
from elastocal.compensation.correction import remaining, unmeasured_geometry
from elastocal.compensation.posts.collect import spoken
from elastocal.compensation.targets import TargetStatus
from elastocal.compensation.verdict import predicted_rms
from elastocal.compensation.verdict import verdict as findings
from elastocal.quantities import DASH, length, millimetres
from elastocal.report.blocks import Cell, Column, Fact, Report, Section, Table, Tile, Unknown
from elastocal.spatial.pose import Pose

if TYPE_CHECKING:
    from elastocal.app.commands.compensate import CompensateResult
    from elastocal.compensation.correction import Correction
    from elastocal.compensation.verification import Residual
    from elastocal.solve.summary import ErrorSummary


PREDICTED = "predicted residual error"
MOST_ROWS = 2000
MOST_MOVES = 3


def page(result: CompensateResult) -> Report:
    correction = result.correction
    cell = current().cell
    tolerance = None if cell is None else cell.certificate.tolerance
    drawn = scenes(correction)
    sections = (
        Section("Error along the program", (error_lines(correction, tolerance), summary_table(correction))),
        Section(
            "Between targets", (between_table(correction),) if correction.along.moves and not correction.nothing else ()
        ),
        Section("Workpiece", workpiece_maps(correction, None if cell is None else cell.workpiece)),
        Section("Robot and program", drawn[:1]),
        Section("Targets that are not corrected", filled(problem_table(correction))),
        Section("Lines that are left as they are", filled(left_table(correction))),
        Section("Contributions", (contribution_table(correction),), folded=True),
        Section("Errors in space", drawn[1:], folded=True),
        Section("Targets", (target_table(correction, MOST_ROWS),), folded=True),
    )
    name = result.robot.model.title or result.robot.model.name
    title = f"Compensation of {result.program.name} for {name}"
    return Report(title, verdict(result), sections, result.notes, facts(result), tiles=tiles(correction, tolerance))


def tiles(result: Correction, tolerance: float | None) -> tuple[Tile, ...]:
    """The errors that matter; on the simulated true robot where one is given."""
    before, after = (r.distances() for r in result.on_truth or (result.before, result.after))
    whose = "RMS, simulated true robot" if result.on_truth is not None else "RMS, by the model"
    before_rms = 0.0 if result.nothing and result.on_truth is None else before.rms
    out = [Tile("error before", millimetres(before_rms), "mm", whose, "before")]
    if result.on_truth is not None:
        worst = f"worst target {millimetres(after.max)} mm"
        out.append(Tile("error after", millimetres(after.rms), "mm", f"{whose}; {worst}", "after"))
    out.append(_predicted(result))
    done, total = result.motions
    if result.along.worst is not None and not result.nothing:
        where = f"{result.along.worst.file}, line {result.along.worst.line}; by the model"
        where += ", load turns" * result.along.at_turn
        out.append(
            Tile(
                "between targets",
                millimetres(result.along.most),
                "mm",
                where,
                "after",
                "bad" if result.leaves_way else "",
            )
        )
    word = "motions looked at" if result.nothing else "motions corrected"
    out.append(Tile(word, f"{done} of {total}", "", f"{result.inserted} points inserted"))
    if tolerance is not None:
        out.append(Tile("tolerance", f"{1e3 * tolerance:g}", "mm", "certificate in cell.yaml", "tolerance"))
    return tuple(out)


def _predicted(result: Correction) -> Tile:
    """The residual error after correction that the calibration predicts; the model itself predicts none of it."""
    if result.covariance is None or not result.corrected.any():
        why = "no calibration" if result.covariance is None else "no target is corrected"
        return Tile(PREDICTED, DASH, "", f"not known: {why}", "expected", "open")
    rms, worst = predicted_rms(result), float(np.nanmax(result.half_width[result.corrected]))
    worst_text = f"worst target within {millimetres(worst)} mm (95 %)"
    whole, exact = remaining(result), unmeasured_geometry(result)
    without = f"; NOT IN IT: {exact}" if exact else ""
    if whole.targets:
        message = f"RMS of the whole program: {whole.text}; corrected ones {millimetres(rms)} mm RMS, {worst_text}"
        return Tile(PREDICTED, millimetres(whole.rms), "mm", f"{message}{without}", "expected", "bad")
    return Tile(PREDICTED, millimetres(rms), "mm", f"RMS; {worst_text}{without}", "expected", "open" if exact else "")


def table(result: CompensateResult) -> Table:
    return target_table(result.correction)


def verdict(result: CompensateResult) -> tuple[str, ...]:
    ordered = sorted(findings(result.correction, result.robot.fixed), key=lambda f: _ORDER.get(f.code, len(_ORDER)))
    warned = result.robot.warned
    return (
        *(w for w in warned if not w.startswith("WARNING ")),  # doubts of the calibration as a whole
        *(sentence(f) for f in ordered if f.code in _ORDER),
        *(w for w in warned if w.startswith("WARNING ")),
        *(f.text for f in ordered if f.code not in (*_ORDER, *_LAST)),
        *(f.text for f in ordered if f.code in _LAST),
    )


_ORDER = {
    "motions": 0,
    "between-targets": 0,
    "predicted": 1,
    "not-calibrated": 1,
    "not-corrected": 1,
    "taken-as-exact": 2,
    "truth": 3,
}
"""What a reader asks first: is it corrected, and how far off will the tool be?"""
_LAST = ("rounding",)


_LOST = "no determined loaded state there"
_UNSURE = "no calibration: the accuracy is not known"


def summary_table(result: Correction) -> Table:
    kinds: list[tuple[str, Residual]] = [("model, before", result.before), (_after(result), result.after)]
    if result.on_truth is not None:
        kinds += [
            ("simulated true robot, before", result.on_truth[0]),
            ("simulated true robot, after", result.on_truth[1]),
        ]
    sized = [(name, part.distances(), part.angles()) for name, part in kinds]

    def figures(size: ErrorSummary) -> list[Cell]:
        return [or_reason(1e6 * getattr(size, key), _LOST) for key, _ in _FIGURES]

    note = (
        "Distances and angles between the loaded and the desired tool, over all targets with a determined state; "
        "targets that are not corrected count as they are. The model after correction is left with the rounding of the "
        "digits that were written, which says nothing of the robot's accuracy."
    )
    return Table.of("summary", sized, {
        Column("what", "tool"): lambda row: row[0],
        Column("count", "targets"): lambda row: row[1].count,
        tuple(Column(f"{k}_um", w, "mm", decimals=4, scale=1e-3) for k, w in _FIGURES): lambda row: figures(row[1]),
        tuple(Column(f"{k}_urad", w, "mrad", decimals=4, scale=1e-3, part=1) for k, w in _FIGURES):
            lambda row: figures(row[2]),
    }, note)  # fmt: skip


def _after(result: Correction) -> str:
    return "model, after: rounding of digits" if result.exact else "model, after"


def contribution_table(result: Correction) -> Table:
    """What the program is off by, before: by load, weight and geometry."""
    parts = result.contributions
    rows = (
        ("load on the tool", parts.load),
        ("weight of the arm and what it carries, compensator", parts.weight),
        *((("harmonics, gain and temperature of joints", parts.joint_errors),) if result.model.varying else ()),
        ("geometric errors and joint zeros", parts.geometry),
        ("all together", parts.total),
        *((("of it: backlash", parts.backlash),) if parts.backlash is not None else ()),
    )
    columns = (
        Column("by", "contribution"),
        *(Column(f"{k}_um", w, "mm", decimals=3, scale=1e-3) for k, w in _SIZES),
        Column("half_width_95_um", "+- at 95 %", "mm", decimals=3, scale=1e-3),
        *(Column(f"{k}_urad", w, "mrad", decimals=3, scale=1e-3) for k, w in _SIZES),
        Column("corrected", "corrected"),
    )
    reasons = (_LOST, _LOST, _UNSURE if parts.sd is None else "in its parts", _LOST, _LOST)
    freedom = np.inf if result.known is None else result.known.freedom
    named = {**parts.named, "total": parts.total}
    widths = [parts.half_width(next((w for w, p in named.items() if p is part), ""), freedom) for _, part in rows]
    cells = []
    for i, (name, part) in enumerate(rows):
        far, turned = part.distances(), part.angles()
        figures = [0.0 if v < _ROUNDING else 1e6 * v for s in (far, turned) for v in (s.rms, s.max)]
        figures.insert(2, 1e6 * widths[i])
        corrected = i == 0 or not result.method.taught
        cells.append((name, *(or_reason(v, r) for v, r in zip(figures, reasons, strict=True)), corrected))
    if result.method.taught:
        cells = [c for c in cells if c[0] != "all together"]
    note = (
        "By the model, of the program as it was; the parts add up as vectors, not in size. Backlash counts, from its "
        "middle on, to the first force that takes it up: the weight; to the load only where that turns it over."
    )
    if parts.sd is not None:
        note += (
            " +- is the 95 % half width by the covariance of the calibration, root mean square over the targets; parts "
            "that the readings do not tell apart are uncertain each and may be certain together."
        )
    if parts.cancel:
        note += " HERE CONTRIBUTIONS CANCEL: one of them is larger than all together."
    in_them = " Targets are taken as taught: weight and geometry are in them." if result.method.taught else ""
    return Table("contributions", "Contributions", columns, tuple(cells), (note + in_them,))


def between_table(result: Correction) -> Table:
    """The moves that the tool leaves by most between corrected targets."""
    way = result.along
    order = np.argsort(-np.nan_to_num(way.off, nan=np.inf), kind="stable")[:MOST_MOVES]
    truth = np.full(len(way.off), np.nan) if way.on_truth is None else way.on_truth
    why = _NO_WAY if way.on_truth is not None else "no simulated true robot is given"
    note = "How far the loaded tool is off across the way; the worst moves first."
    if way.unseen:
        note += f" {way.unseen} shorter moves are off by less than {length(way.rest)}."
    if way.others:
        note += f" {way.others} splines, or moves from an unknown place or another tool, are not looked at."
    return Table.of("between", order.tolist(), {
        Column("file", "file"): lambda i: way.moves[i].file,
        Column("line", "line"): lambda i: way.moves[i].line,
        Column("motion", "motion"): lambda i: way.moves[i].motion,
        Column("off_um", "off the way", "mm", decimals=4, scale=1e-3):
            lambda i: or_reason(1e6 * float(way.off[i]), _NO_WAY),
        Column("truth_um", "simulated true robot", "mm", decimals=4, scale=1e-3, shown=way.on_truth is not None):
            lambda i: or_reason(1e6 * float(truth[i]), why),
    }, note)  # fmt: skip


_NO_WAY = "out of reach, or no determined loaded state on the way"
_ROUNDING = 1e-13
"""m and rad below which a part is not more than the rounding of the computation."""
_SIZES = (("rms", "RMS"), ("max", "max"))
_FIGURES = (("mean", "mean"), ("rms", "RMS"), ("p95", "95th percentile"), ("max", "max"))


def target_table(result: Correction, most: int | None = None) -> Table:
    stations, axes = result.job.placed.stations, axes_of(result.job.placed.model)
    on_truth, before, after, commands = result.on_truth, result.before, result.after, result.commands
    width, ellipsoid = result.half_width, result.semi_axes
    command = result.job.placed.model.controller.to_controller(commands.command) / axes.factors
    count = len(stations) if most is None else min(most, len(stations))
    status = [TargetStatus(int(s)) for s in commands.status]
    notes = [] if count == len(stations) else [f"The first {count} of {len(stations)} targets; --csv writes all."]
    if result.covariance is not None:
        notes.append(
            "ellipsoid: semi-axes (one standard deviation) of the residual error predicted after correction; 95 % +-: "
            "half interval along the longest."
        )

    def truth(which: int, factor: float, i: int) -> Cell:
        return Unknown("") if on_truth is None else or_reason(factor * float(on_truth[which].distance[i]), _LOST)

    return Table.of("targets", range(count), {
        Column("target", "target"): stations.name,
        Column("before_mm", "off before", "mm", 4): lambda i: or_reason(1e3 * float(before.distance[i]), _LOST),
        Column("after_um", "by model", "um", 2): lambda i: or_reason(1e6 * float(after.distance[i]), _LOST),
        Column("before_mrad", "turned before", "mrad", 4): lambda i: or_reason(1e3 * float(before.angle[i]), _LOST),
        Column("after_urad", "by model", "urad", 2): lambda i: or_reason(1e6 * float(after.angle[i]), _LOST),
        tuple(Column(f"sd_{n}_um", f"{'ellipsoid ' * (n == 1)}{n}", "um", 1, "ellipsoid") for n in (1, 2, 3)):
            lambda i: (or_reason(1e6 * float(a), _UNSURE) for a in ellipsoid[i]),
        Column("interval_95_um", "95 % +-", "um", 1): lambda i: or_reason(1e6 * float(width[i]), _UNSURE),
        Column("truth_before_mm", "true robot before", "mm", 4, shown=on_truth is not None): partial(truth, 0, 1e3),
        Column("truth_after_um", "true robot after", "um", 1, shown=on_truth is not None): partial(truth, 1, 1e6),
        Column("status", "status"): lambda i: status[i].name.lower(),
        (
            *(Column(f"shift_{c}_mm", f"{'correction ' * (c == 'x')}{c}", "mm", 4, "shift", part=1) for c in "xyz"),
            *(Column(f"turn_{c}_mrad", f"{'turned ' * (c == 'x')}{c}", "mrad", 4, "turn", part=1) for c in "xyz"),
        ): lambda i: (or_reason(1e3 * float(v), status[i].text) for v in result.shift[i]),
        axis_columns(axes, 4, "command", part=1): lambda i: (or_reason(v, status[i].text) for v in command[i]),
    }, *notes)  # fmt: skip


def problem_table(result: Correction) -> Table:
    """Targets that cannot be corrected, and why."""
    left = [(int(i), TargetStatus(int(result.commands.status[i]))) for i in np.flatnonzero(~result.corrected)]
    return Table.of("problems", left, {
        Column("target", "target"): lambda p: result.job.placed.stations.name(p[0]),
        Column("off_mm", "stays off by", "mm", 4):
            lambda p: or_reason(1e3 * float(result.after.distance[p[0]]), "it has no determined loaded state"),
        Column("status", "status"): lambda p: p[1].name.lower(),
        Column("reason", "why, and what to do", reason=True): lambda p: p[1].text,
    })  # fmt: skip


def left_table(result: Correction) -> Table:
    """Motion lines that stay as they are."""
    return Table.of("left", result.left, {
        Column("file", "file"): lambda s: s.file,
        Column("line", "line"): lambda s: s.line,
        Column("text", "motion"): lambda s: s.text,
        Column("reason", "why", reason=True): lambda s: s.reason,
    })  # fmt: skip


def facts(result: CompensateResult) -> tuple[Fact, ...]:
    correction, method = result.correction, result.correction.method
    program = correction.program
    frames = {"bases": program.bases, "tools": program.tools}
    aim = "position" if method.position_only else "pose, position where the program gives points"
    calibration = None if result.calibration is None else result.calibration.as_posix()
    written = tuple(p.as_posix() for p in result.files)
    unwritten = "nothing, since nothing could be corrected" if result.failed else "nothing (give --out)"
    return (
        Fact("program", "program", result.program.as_posix(), f"{result.program.as_posix()} ({program.language})"),
        Fact("robot", "robot", result.robot.model.name, _named(result)),
        Fact("calibration", "calibration", calibration,
             "none" if calibration is None else f"{calibration}, mark {result.robot.mark[:19]}"),
        Fact("serial", "serial number", result.robot.serial or None,
             result.robot.serial or "not stated in the robot file"),
        *(Fact(k, k, tuple(f), "; ".join(f"{n}: {_pose(x.pose)}" for n, x in f.items()) or "none")
          for k, f in frames.items()),
        Fact("load", "load", correction.load.text),
        Fact("aim", "corrected", aim),
        Fact("method", "method", "first order" if method.first_order else "loaded equilibrium"),
        Fact("reference", "targets are", "taught" if method.taught else "nominal",
             "where the unloaded arm stands" if method.taught else "where the nominal geometry puts them"),
        Fact("truth", "simulated true robot", result.truth, result.truth or "none"),
        Fact("inserted", "points inserted", correction.inserted),
        Fact("written", "written", written, ", ".join(written) or unwritten),
    )  # fmt: skip


def _pose(pose: object) -> str:
    return spoken(pose) if isinstance(pose, Pose) else "unknown"


def _named(result: CompensateResult) -> str:
    name, word = result.robot.model.name, result.robot.word
    return name if name == word else f"{name} ({word})"
