"""Pictures of a calibration: errors before and after, residuals, the campaign as a scene, maps of the workspace."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from elastocal.app.grid import section, workspace
from elastocal.app.pages.stiffness import workspace_blocks
from elastocal.errors import InputError
from elastocal.measure.kind import reading_unit
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.loaded_arm import loaded_skeletons, skeleton
from elastocal.quantities import read_in
from elastocal.reduction.study import MarkerMoves, flagged_readings, marker_moves
from elastocal.reduction.warnings import nominal_errors
from elastocal.report.blocks import Bars, Forest, Interval, Lines, Paragraphs, Scene, Section, Series, Tile, floats
from elastocal.report.colours import Role
from elastocal.report.parts import Look, Part
from elastocal.report.robot_scene import (
    MOST_ARMS,
    MOST_MARKS,
    UNIT,
    arm_parts,
    arrows,
    dots,
    drawn_words,
    enlargement,
    floor_part,
    force_arrows,
    force_scale,
    load_forces,
    spread_out,
    thinned,
    times,
)
from elastocal.solve.summary import rms, rms_of_rows
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.app.commands.calibrate import CalibrateResult
    from elastocal.model.statics.loaded_arm import Skeleton
    from elastocal.reduction.study import Study
    from elastocal.spatial.entries import Array, Bools, Ints


EDGE = 2.0
"""Times the largest residual of the fit: a doubtful reading that is farther off is drawn there."""
COUNTED = "Readings are counted from 1; each mark names its line in the file where one points at it."


def residual_lines(study: Study) -> Lines:
    """Residuals of every reading, per axis of each marker; readings left out or doubtful are marked."""
    fit = study.fit
    campaign, count = fit.campaign, len(fit.residuals)
    shown = reading_unit(campaign.measurement)
    series = [
        Series(
            row.name,
            _numbers(count),
            floats(shown.factor * fit.residuals[:, j]),
            points=True,
            words=tuple(campaign.place(i, j) for i in range(count)),
        )
        for j, row in enumerate(campaign.measurement.rows)
        if j in shown.rows
    ]
    sd = shown.factor * rms(fit.residuals[:, list(shown.rows)])
    band = Series("+-2 sd of the residuals", (1.0, float(count)), (2 * sd,) * 2, role="noise", low=(-2 * sd,) * 2)
    odd = [s for s in (*study.identification.excluded, *study.outliers) if s.row in shown.rows]
    off = shown.factor * np.array([s.value - s.predicted for s in odd])
    edge = EDGE * shown.factor * float(np.nanmax(np.abs(fit.residuals[:, list(shown.rows)]), initial=0.0))
    notes = ["Read minus calibrated model.", COUNTED]
    if odd:
        drawn = np.clip(off, -edge, edge) if edge else off
        series.append(
            Series(
                "outliers",
                tuple(s.reading + 1.0 for s in odd),
                floats(drawn),
                points=True,
                role="outlier",
                words=tuple(s.place for s in odd),
            )
        )
        beyond = int(np.sum(np.abs(off) > np.abs(drawn)))
        if beyond:
            lie = "marked number lies" if beyond == 1 else "marked numbers lie"
            notes.append(f"{beyond} {lie} farther off, by up to {shown.text(float(np.abs(off).max()) / shown.factor)}.")
    every = (band, *series)
    return Lines("residuals", "Residuals", "reading", "", "read minus model", shown.unit, every, tuple(notes))


def held_out_lines(result: CalibrateResult) -> Lines:
    """Every reading as the robot file predicts it, and as the model does that was fitted without its pose."""
    study, fit = result.study, result.study.fit
    shown = reading_unit(fit.campaign.measurement)
    judged = list(shown.rows)
    errors: tuple[tuple[str, Array, Role], ...] = (
        ("before, robot file", nominal_errors(result.study, result.model)[:, judged], "before"),
        ("after, residual of the fit", fit.residuals[:, judged], "file"),
        ("after, leave-one-out", study.influence.left_out[:, judged], "after"),
    )
    words = tuple(fit.campaign.line(i) for i in range(len(fit.residuals)))
    series = tuple(
        Series(name, _numbers(len(values)), floats(size), points=True, words=words, role=role)
        for name, values, role in errors
        for size in (shown.factor * rms_of_rows(values),)
    )
    notes = ("RMS of the axes of a reading; leave-one-out: its pose took no part in the fit.", COUNTED)
    title = "Before and after"
    return Lines("left_out", title, "reading", "", "RMS error per axis", shown.unit, series, notes, log=True)


def tiles(result: CalibrateResult) -> tuple[Tile, ...]:
    """Errors per axis before and after, leave-one-out, and what was estimated."""
    study, fit = result.study, result.study.fit
    shown = reading_unit(fit.campaign.measurement)
    judged = list(shown.rows)
    before, after = (
        shown.text(rms(values[:, judged])).rpartition(" ")
        for values in (nominal_errors(study, result.model), study.influence.left_out)
    )
    sought = len(study.identification.groups.names)
    left = len(study.identification.excluded)
    return (
        Tile("error before", before[0], before[2], "RMS per axis, robot file", "before"),
        Tile("error after", after[0], after[2], "RMS per axis, leave-one-out", "after"),
        Tile("parameters", str(len(fit.names)), "", f"estimated of {sought} sought"),
        Tile("readings", str(fit.problem.readings), "numbers"),
        Tile("outliers", str(left), "", "numbers left out", "outlier"),
    )


def budget_bars(study: Study) -> Bars:
    """Shares of the sources of error in the variance of the estimates."""
    budget = study.budget
    kept = budget.names[:MOST_BARS]
    values = tuple(tuple(100 * float(v) for v in column) for column in budget.share.T[:MOST_BARS])
    more = len(budget.names) - len(kept)
    notes = (f"{more} more parameters are in the table.",) if more else ()
    return Bars("budget_bars", "Uncertainty budget", kept, budget.sources, values, "share of the variance", "%", notes)


MOST_BARS = 14
"""Parameters in the picture of the budget."""


def forests(result: CalibrateResult) -> tuple[Forest, ...]:
    """Estimates of the robot's parameters beside the values of its file, one plot for every unit."""
    study, table = result.study, result.model.parameters
    by_unit: dict[str, list[tuple[str, float, float, float]]] = {}
    for name, value in zip(study.fit.names, study.fit.values, strict=True):
        if name in table.names:
            row = name, float(value), 2 * study.wide.sd(name), float(table[name].value)
            by_unit.setdefault(table[name].unit, []).append(row)
    out = []
    for i, (si, rows) in enumerate(by_unit.items(), 1):
        factor, unit = read_in(si, max(abs(v) for row in rows for v in row[1:] if isfinite(v)))
        kept = tuple(Interval(n, factor * v, factor * half, factor * file) for n, v, half, file in rows[:MOST_BARS])
        out.append(Forest(f"forest_{i}", f"Parameters in {unit}", unit, kept))
    return tuple(out)


def _numbers(count: int) -> tuple[float, ...]:
    return tuple(float(i + 1) for i in range(count))


ALL = "all poses"


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Everything of a campaign that is drawn; ``bent`` are the arms of ``rows`` under load, enlarged by ``factor``."""

    moves: MarkerMoves
    arms: Skeleton
    rows: Ints
    bent: Skeleton
    starts: Array
    forces: Array
    scale: float
    factor: float


def scenes(result: CalibrateResult) -> tuple[Scene, ...]:
    """All poses at once, then some of them one by one, doubtful ones before others; nothing without markers."""
    moves = marker_moves(result.study, result.file.campaign, result.model)
    if moves is None:
        return ()
    where, model = result.file.campaign.measurement.setup, result.study.fit.model
    arms = skeleton(model, where.q)
    factor = enlargement(arms.extent, moves.longest)
    rows = spread_out(arms.tip, MOST_ARMS, flagged_readings(moves).tolist())
    starts, forces = load_forces(model, where.q, where.load)
    scale, scale_note = force_scale(forces, arms.extent)
    drawn = _Drawn(moves, arms, rows, _bent(result, rows, factor), starts, forces, scale, factor)
    marks = thinned(where.count, MOST_MARKS)
    parts = [
        *floor_part(model, arms.line),
        *_all(drawn, marks),
        *(p for n in range(len(rows)) for p in _single(drawn, n)),
    ]
    notes = [f"The vectors {moves.words[0]} and {moves.words[1]} are drawn {times(factor)}.", scale_note]
    if moves.cut:
        notes.append(f"{moves.cut} doubtful vectors are far longer and are cut.")
    if len(marks) < where.count:
        notes.append(f"{len(marks)} of {where.count} readings are drawn.")
    notes += drawn_words(len(rows), len(set(where.pose.tolist())), "arms")
    return (Scene("scene", "Poses, loads and what moved", UNIT, tuple(parts), tuple(notes)),)


def _bent(result: CalibrateResult, rows: Ints, factor: float) -> Skeleton:
    """The calibrated arms under their loads, enlarged from where they are without."""
    model, where = result.study.fit.model, result.file.campaign.measurement.setup.picked(rows)
    rest, bent = loaded_skeletons(model, where.q, [where.load])
    return rest.enlarged(bent, factor)


def _all(drawn: _Drawn, marks: Ints) -> list[Part]:
    names = [_name(int(i)) for i in marks]
    return [
        *arm_parts(drawn.arms.picked(drawn.rows[1:]), "some of the arms", ALL, "faint"),
        *arm_parts(drawn.arms.picked(drawn.rows[:1]), "one of the arms", ALL),
        dots("tool", drawn.arms.tip[marks], names, ALL, "cell"),
        force_arrows(drawn.starts[marks], drawn.forces[marks], drawn.scale, ALL),
        *_vectors(drawn, marks, ALL),
    ]


def _single(drawn: _Drawn, n: int) -> list[Part]:
    row = drawn.rows[[n]]
    view = _name(int(row[0]))
    return [
        *arm_parts(drawn.arms.picked(row), "at rest", view, "faint"),
        *arm_parts(drawn.bent.picked(np.array([n])), f"calibrated arm, {times(drawn.factor)}", view),
        force_arrows(drawn.starts[row], drawn.forces[row], drawn.scale, view),
        *_vectors(drawn, row, view),
    ]


def _vectors(drawn: _Drawn, rows: Ints, view: str) -> list[Part]:
    """Both vectors of every marker; those first ones that are doubtful stand out."""
    moves, enlarged = drawn.moves, times(drawn.factor)
    flagged = moves.flagged[rows].reshape(-1)
    at, first, second = (v[rows].reshape(-1, 3) for v in (moves.at, moves.first, moves.second))
    kinds: tuple[tuple[str, Array, Bools, Look], ...] = (
        (f"{moves.words[0]}, {enlarged}", first, ~flagged, "read"),
        (f"{moves.words[1]}, {enlarged}", second, np.ones_like(flagged), "after"),
        ("outliers", first, flagged, "warning"),
    )
    return [
        arrows(name, at, np.where(kept[:, None], vectors, np.nan), drawn.factor, _sizes(vectors), view, look)
        for name, vectors, kept, look in kinds
    ]


def _sizes(vectors: Array) -> list[str]:
    return [f"{1e3 * size:.4g} mm" for size in np.linalg.norm(vectors, axis=1)]


def _name(row: int) -> str:
    return f"reading {row + 1}"


TITLE = "The calibrated robot over a section of its workspace"


def workspace_section(result: CalibrateResult) -> Section:
    """Under the largest force of the campaign; empty for kinds without loads and for robots with one axis."""
    kind, model = result.file.campaign.measurement, result.study.fit.model
    where = kind.watched
    if model.n < 2 or where is None or not where.wrenches[:, :3].any():
        return Section("", ())
    row = int(np.argmax(np.linalg.norm(where.wrenches[:, :3], axis=1)))
    load = AppliedWrenches(where.load.frame, where.wrenches[[row]], where.load.follows)
    force = ", ".join(f"{v:.4g}" for v in where.wrenches[row, :3])
    try:
        maps = workspace(model, section(model, where.q), load)
    except InputError as error:  # estimates may violate physics
        return Section(TITLE, (Paragraphs((f"There are no maps: {error}.",)),))
    return Section(TITLE, workspace_blocks(maps, f"Force ({force}) N, as in reading {row + 1},"))
