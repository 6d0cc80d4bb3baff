"""Measured and predicted torques over a log, joint by joint, with the band that should hold 95 % of the readings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elastocal.report.blocks import Lines, Series

if TYPE_CHECKING:
    from elastocal.app.commands.gravity import GravityResult
    from elastocal.gravity.hold_out import Judged

MOST = 500
"""Samples that a curve is drawn with."""


def torque_lines(result: GravityResult) -> tuple[Lines, ...]:
    """By the fit of the first part where there is one: what lies beyond the mark it has not seen."""
    from elastocal.gravity.hold_out import judge_masses

    fit = result.trained or result.found
    whole = judge_masses(fit, result.found.samples, result.file)
    seen = result.found.samples.log.count if result.trained is None else result.trained.samples.log.count
    return tuple(
        lines
        for j in range(result.found.model.n)
        if (lines := _joint(whole, j, seen, fit is not result.found)) is not None
    )


def _joint(whole: Judged, j: int, seen: int, split: bool) -> Lines | None:
    import numpy as np

    from elastocal.gravity.hold_out import COVERED

    log = whole.samples.log
    rows = np.flatnonzero(np.isfinite(whole.samples.torque[:, j]))
    if not len(rows):
        return None
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MOST)).astype(int))]
    x = np.arange(log.count, dtype=np.float64) if log.time is None else log.time
    joint, force = log.joints[j], whole.samples.units[j]

    def series(name: str, values: object, at: Any = slice(None), points: bool = False) -> Series:
        chosen = rows[at]
        y = np.asarray(values)[chosen, j]
        return Series(name, tuple(float(v) for v in x[chosen]), tuple(float(v) for v in y), points=points)

    curves = [series("read", whole.samples.torque, points=True)]
    if split and np.any(rows >= seen):
        curves.append(series("read, not seen by the fit", whole.samples.torque, rows >= seen, points=True))
    curves += [
        series("predicted", whole.prediction.reading),
        series("95 % from", whole.prediction.reading - COVERED * whole.sd),
        series("to", whole.prediction.reading + COVERED * whole.sd),
    ]
    strange = whole.extrapolated()[rows, j]
    if np.any(strange):
        curves.append(series("extrapolated", whole.prediction.reading, strange, points=True))
    unit = "" if log.time is None else "s"
    return Lines(f"torque_{joint}", f"Torque of {joint}", "sample" if log.time is None else "time", unit,
                 "torque" if force == "N m" else "force", force, tuple(curves))  # fmt: skip
