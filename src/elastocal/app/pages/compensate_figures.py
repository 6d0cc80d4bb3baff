"""Pictures of a compensated program: the robot at work, errors along the path, and the predicted residual error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.report.blocks import Lines, Scene, Series
from elastocal.report.parts import Part, Strokes
from elastocal.report.robot_scene import (
    MOST_ARMS,
    UNIT,
    arrows,
    drawn_words,
    ellipsoids,
    enlargement,
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
    from elastocal.reduction.prediction import Prediction
    from elastocal.spatial.entries import Array, Ints

MOST_POINTS, MOST_ERRORS, MOST_ELLIPSOIDS = 2000, 150, 30
"""Of the path, drawn along one program."""


def scenes(result: Correction) -> tuple[Scene, ...]:
    return robot_scene(result), error_scene(result)


def robot_scene(result: Correction) -> Scene:
    """One view per drawn target, those under load first: the arm, the path of the tool and the load there."""
    import numpy as np

    from elastocal.model.loads.wrench import AppliedWrenches
    from elastocal.model.skeleton import skeleton

    at, loads = result.job.at, result.job.loads
    usable = np.asarray(np.isfinite(result.commands.command).all(axis=1))
    loaded = usable & loads.wrench.any(axis=1)
    rows = spread_out(np.where(usable[:, None], at.position, np.nan), MOST_ARMS, np.flatnonzero(loaded)[:1].tolist())
    rows = rows[np.argsort(~loaded[rows], kind="stable")]
    arms = [skeleton(at.model, result.commands.command[[i]], tip=at.frames[i]) for i in rows]
    extent = max((a.extent for a in arms), default=1.0)
    scale, said = force_scale(loads.wrench[:, :3], extent)
    parts: list[Part] = [_path(result)]
    for i, arm in zip(rows, arms, strict=True):
        name = at.stations.name(int(i))
        load = AppliedWrenches(loads.frame or at.frames[i], loads.wrench[[i]], loads.follows)
        start, force = load_forces(at.model, result.commands.command[[i]], load)
        parts += loaded_arm(arm, start, force, scale, name)
    notes = (said, *drawn_words(len(rows), len(at.position), "targets"))
    return Scene("scene_robot", "The robot at work", UNIT, tuple(parts), notes)


def error_scene(result: Correction) -> Scene:
    """Where the loaded tool goes instead, before and after, and the ellipsoids of where it is expected to be."""
    import numpy as np

    path = result.job.at.position
    before, after = result.on_truth or (result.before, result.after)
    extent = float(np.max(np.ptp(path, axis=0))) or 1.0
    rows, shown = thinned(len(path), MOST_ERRORS), thinned(len(path), MOST_ELLIPSOIDS)
    expected = _expected(result, shown)
    factor = enlargement(extent, before.distances().largest)
    left = rows[result.corrected[rows]]
    fine = factor
    if expected is not None:
        errors = np.linalg.norm(after.position[left], axis=1)
        fine = enlargement(extent, float(np.nanmax([*errors, *3 * expected.ellipsoid()[0][:, 0]], initial=0.0)))
    whose = ", simulated true robot" if result.on_truth is not None else ", by the model"
    parts: list[Part] = [_path(result), _errors(f"before{whose}", path, before, rows, factor)]
    parts += [_errors(f"after{whose}", path, after, left, fine)]
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
    import numpy as np

    from elastocal.reduction.prediction import Prediction

    if result.covariance is None:
        return None
    return Prediction("", np.zeros((len(rows), 6)), result.covariance[rows])


def _errors(name: str, path: Array, found: Residual, rows: Ints, factor: float) -> Part:
    import numpy as np

    words = [f"{1e6 * v:.4g} um" for v in np.linalg.norm(found.position[rows], axis=1)]
    return arrows(f"{name}, {times(factor)}", path[rows], found.position[rows], factor, words)


def _path(result: Correction) -> Strokes:
    path = result.job.at.position
    return Strokes("program", (points(path[thinned(len(path), MOST_POINTS)]),))


def error_lines(result: Correction) -> Lines:
    import numpy as np

    ways = [("before", result.before), ("after", result.after)]
    if result.on_truth is not None:
        ways = [
            ("before, simulated true robot", result.on_truth[0]),
            ("after, simulated true robot", result.on_truth[1]),
        ]
    series = [_series(name, 1e3 * np.linalg.norm(r.position, axis=1)) for name, r in ways]
    bad = np.flatnonzero(~result.corrected)
    if len(bad):
        off = 1e3 * np.nan_to_num(np.linalg.norm(ways[-1][1].position[bad], axis=1))
        series.append(Series("not corrected", tuple(1.0 + bad), tuple(float(v) for v in off), points=True))
    return Lines(
        "errors", "Distance between loaded and desired tool", "target, in order of the program", "", "distance", "mm",
        tuple(series),
    )  # fmt: skip


def prediction_lines(result: Correction) -> Lines:
    """The predicted residual error, beside that of a truth where one is given."""
    import numpy as np

    series = [
        _series("predicted, rms", 1e6 * result.predicted),
        _series("95 %, worst direction", 1e6 * result.half_width),
    ]
    if result.on_truth is not None:
        series.append(_series("on the simulated true robot", 1e6 * np.linalg.norm(result.on_truth[1].position, axis=1)))
    return Lines(
        "confidence", "Predicted residual error after correction", "target, in order of the program", "", "distance",
        "um", tuple(series), ("From the covariance of the calibration and the model's own discrepancy.",),
    )  # fmt: skip


def _series(name: str, values: Array) -> Series:
    return Series(name, tuple(float(i) for i in range(1, len(values) + 1)), tuple(float(v) for v in values))
