"""Pictures of a compensated program: the robot at work, errors along the path, and the predicted residual error."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from elastocal.compensation.contributions import GAPS
from elastocal.compensation.directions import way
from elastocal.compensation.verification import workpiece
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.loaded_arm import skeleton
from elastocal.report.blocks import Block, Lines, Scene, Series, floats
from elastocal.report.parts import Look, Part, Strokes
from elastocal.report.plane_figures import drawn_path, drawn_robot, place_map
from elastocal.report.robot_scene import (
    MOST_ARMS,
    UNIT,
    arrows,
    drawn_words,
    ellipsoids,
    enlargement,
    floor_part,
    force_scale,
    load_forces,
    loaded_arm,
    points,
    spread_out,
    thinned,
    times,
)

if TYPE_CHECKING:
    from elastocal.compensation.correction import Correction
    from elastocal.compensation.verification import Residual
    from elastocal.files.cell import WorkArea
    from elastocal.model.places import Plane
    from elastocal.reduction.prediction import Prediction
    from elastocal.spatial.entries import Array, Ints

MOST_POINTS, MOST_ERRORS, MOST_ELLIPSOIDS = 2000, 150, 30
"""Of the path, drawn along one program."""


def scenes(result: Correction) -> tuple[Scene, ...]:
    return robot_scene(result), error_scene(result)


def robot_scene(result: Correction) -> Scene:
    """One view per drawn target, those under load first: the arm, the path of the tool and the load there."""
    placed, loads = result.job.placed, result.job.loads
    usable = np.asarray(np.isfinite(result.commands.command).all(axis=1))
    loaded = usable & loads.wrench.any(axis=1)
    rows = spread_out(
        np.where(usable[:, None], placed.position, np.nan), MOST_ARMS, np.flatnonzero(loaded)[:1].tolist()
    )
    rows = rows[np.argsort(~loaded[rows], kind="stable")]
    command, tips = result.commands.command[rows], [placed.frames[i] for i in rows]
    tools = {tip: skeleton(placed.model, command, tip=tip) for tip in dict.fromkeys(tips)}
    arms = [tools[tip].picked(np.array([n])) for n, tip in enumerate(tips)]
    extent = max((a.extent for a in arms), default=1.0)
    scale, scale_note = force_scale(loads.wrench[:, :3], extent)
    parts: list[Part] = [*floor_part(placed.model, placed.position, *(a.line for a in arms)), _path(result)]
    forces = {
        tip: load_forces(placed.model, command, AppliedWrenches(loads.frame or tip, loads.wrench[rows], loads.follows))
        for tip in tools
    }
    for n, (i, tip) in enumerate(zip(rows, tips, strict=True)):
        start, force = (part[[n]] for part in forces[tip])
        name = placed.stations.name(int(i))
        parts += loaded_arm(placed.model, command[n], tip, start, force, scale, name, arms[n])
    notes = (scale_note, *drawn_words(len(rows), len(placed.position), "targets"))
    return Scene("scene_robot", "The robot at work", UNIT, tuple(parts), notes)


def error_scene(result: Correction) -> Scene:
    """Where the loaded tool goes instead, before and after, and the ellipsoids of where it is expected to be."""
    path = result.job.placed.position
    before, after = result.on_truth or (result.before, result.after)
    extent = float(np.max(np.ptp(path, axis=0))) or 1.0
    rows, shown = thinned(len(path), MOST_ERRORS), thinned(len(path), MOST_ELLIPSOIDS)
    expected = _expected(result, shown)
    factor = enlargement(extent, before.distances().max)
    left = rows[result.corrected[rows]]
    fine = factor
    if expected is not None:
        errors = after.distance[left]
        fine = enlargement(extent, float(np.nanmax([*errors, *3 * expected.ellipsoid()[0][:, 0]], initial=0.0)))
    whose = ", simulated true robot" if result.on_truth is not None else ", by the model"
    parts: list[Part] = [_path(result), _errors(f"before{whose}", path, before, rows, factor, "before")]
    parts += [_errors(f"after{whose}", path, after, left, fine, "after")]
    drawn = times(factor) if fine == factor else f"{times(factor)} before and {times(fine)} after"
    notes = [f"Errors are drawn {drawn}, from the desired place to where the loaded tool is."]
    if len(rows) < len(path):
        notes.append(f"Errors of {len(rows)} of {len(path)} targets are drawn.")
    if len(left) < len(rows):
        notes.append("Targets that are not corrected stay as before: they have no error after.")
    if expected is not None:
        parts += [ellipsoids(f"expected after correction, {times(fine)}", path[shown], expected, fine)]
        some = f", at {len(shown)} of {len(path)} targets" if len(shown) < len(path) else ""
        notes += [
            f"Ellipsoids of where the corrected tool is expected (one standard deviation) are drawn {times(fine)}, "
            f"as the errors after are, so that they can be compared{some}."
        ]
    return Scene("scene_errors", "Errors along the program", UNIT, tuple(parts), tuple(notes))


def _expected(result: Correction, rows: Ints) -> Prediction | None:

    from elastocal.reduction.prediction import Prediction

    if result.covariance is None:
        return None
    return Prediction("", np.zeros((len(rows), 6)), result.covariance[rows])


def _errors(name: str, path: Array, residual: Residual, rows: Ints, factor: float, look: Look) -> Part:

    words = [f"{1e6 * v:.4g} um" for v in residual.distance[rows]]
    return arrows(f"{name}, {times(factor)}", path[rows], residual.position[rows], factor, words, look=look)


def _path(result: Correction) -> Strokes:
    path = result.job.placed.position
    return Strokes("program", (points(path[thinned(len(path), MOST_POINTS)]),), look="program")


def error_lines(result: Correction, tolerance: float | None = None) -> Lines:
    """Before, after, what is predicted (k = 2) and the tolerance, on one log axis.

    After correction the model is left with the rounding of digits, which is no error of a robot: it is drawn where
    targets stay uncorrected, or where a simulated true robot tells.
    """
    whose = "" if result.on_truth is None else ", simulated true robot"
    before, after = result.on_truth or (result.before, result.after)
    sizes = [1e3 * r.distance for r in (before, after)]
    x = tuple(float(i) for i in range(1, len(sizes[0]) + 1))
    series = [Series(f"before{whose}", x, floats(sizes[0]), role="before")]
    if result.on_truth is not None or not result.exact:
        name = f"after{whose}" if whose else "after, by the model"
        series.append(Series(name, x, floats(np.maximum(sizes[1], LEAST_MM)), role="after"))
    if result.covariance is not None:
        top = 2e3 * result.predicted
        low = max(float(np.nanmin(top, initial=1.0)) / 30, LEAST_MM)
        series.append(Series("predicted residual error (k = 2)", x, floats(top), role="expected", low=(low,) * len(x)))
    if tolerance is not None:
        series.append(Series("tolerance", (x[0], x[-1]), (1e3 * tolerance,) * 2, role="tolerance"))
    bad = np.flatnonzero(~result.corrected)
    if len(bad):
        off = np.maximum(np.nan_to_num(sizes[1][bad]), LEAST_MM)
        series.append(Series("not corrected", tuple(1.0 + bad), floats(off), points=True, role="outlier"))
    drawn = sizes[1] if any(s.role == "after" for s in series) else sizes[1][bad]
    notes = (f"Errors below {1e3 * LEAST_MM:g} um are drawn there.",) if (drawn < LEAST_MM).any() else ()
    return Lines(
        "errors", "Error along the program", "target, in order of the program", "", "distance of the loaded tool", "mm",
        tuple(series), notes, log=len(series) > 1,
    )  # fmt: skip


LEAST_MM = 1e-4
"""A log axis has no zero."""


def workpiece_maps(result: Correction, area: WorkArea | None = None) -> tuple[Block, ...]:
    """Stiffness and predicted residual error over the ``area`` of the cell, else over the plane of the program."""
    planes: tuple[Plane | None, ...] = (None,) if area is None else area.planes()
    return tuple(m for n, plane in enumerate(planes) for m in _maps(result, plane, f"_{n + 1}" if n else ""))


def _maps(result: Correction, plane: Plane | None, number: str) -> tuple[Block, ...]:
    """With robot and program."""
    piece = workpiece(result, plane)
    if piece is None:
        return ()
    path = way(result.job.placed, 300)
    drawn = (
        *drawn_robot(result.model, piece.near, piece.at, piece.frame),
        drawn_path(path[thinned(len(path), 300)], piece.at),
    )
    maps = []
    if np.isfinite(piece.stiffness).any():  # nowhere where nothing of the model bends
        title, what = "Stiffness over the workpiece", "softest direction"
        maps.append(
            place_map(f"workpiece_stiffness{number}", title, what, "N/um", piece.at, 1e-6 * piece.stiffness, drawn)
        )
    if piece.predicted is not None:
        title, what = "Predicted residual error over the workpiece", "after correction, k = 2"
        maps.append(place_map(f"workpiece_error{number}", title, what, "um", piece.at, 1e6 * piece.predicted, drawn))
    notes = ["Each place under the load of the nearest target of the program."]
    if any(p.kind in GAPS for p in result.model.parameters.rows):
        notes.append("Where next to no torque presses on a joint with backlash, the arm is soft and its side unknown.")
    return tuple(replace(m, notes=(*m.notes, *notes)) for m in maps)
