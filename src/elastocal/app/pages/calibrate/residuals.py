"""Pictures of how well a model agrees with readings: before and after calibration, and what is left of each reading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.pages.calibrate.before import before_errors
from elastocal.app.pages.reading_units import reading_unit
from elastocal.report.blocks import Lines, Series

if TYPE_CHECKING:
    from elastocal.app.commands.calibrate import CalibrateResult
    from elastocal.spatial.entries import Array
    from elastocal.study.whole import Study

EDGE = 2.0
"""Times the largest residual of the fit: a doubtful reading that is farther off is drawn there."""
COUNTED = "Readings are counted from 1; each mark names its line in the file where one points at it."


def residual_lines(study: Study) -> Lines:
    """Residuals of every reading, per axis of each marker; readings left out or doubtful are marked."""
    import numpy as np

    fit = study.fit
    campaign, count = fit.campaign, len(fit.residuals)
    shown = reading_unit(campaign.measurement)
    series = [
        Series(
            row.name,
            _numbers(count),
            _shown(shown.factor * fit.residuals[:, j]),
            points=True,
            words=tuple(campaign.place(i, j) for i in range(count)),
        )
        for j, row in enumerate(campaign.measurement.rows)
        if j in shown.rows
    ]
    odd = [s for s in (*study.identification.gross, *study.suspects) if s.row in shown.rows]
    off = shown.factor * np.array([s.value - s.predicted for s in odd])
    edge = EDGE * shown.factor * float(np.nanmax(np.abs(fit.residuals[:, list(shown.rows)]), initial=0.0))
    notes = ["Read minus calibrated model.", COUNTED]
    if odd:
        drawn = np.clip(off, -edge, edge) if edge else off
        series.append(
            Series(
                "left out or doubtful",
                tuple(s.reading + 1.0 for s in odd),
                _shown(drawn),
                points=True,
                warning=True,
                words=tuple(s.place for s in odd),
            )
        )
        beyond = int(np.sum(np.abs(off) > np.abs(drawn)))
        if beyond:
            lie = "marked number lies" if beyond == 1 else "marked numbers lie"
            notes.append(f"{beyond} {lie} farther off, by up to {shown.text(float(np.abs(off).max()) / shown.factor)}.")
    return Lines("residuals", "Residuals", "reading", "", "read minus model", shown.unit, tuple(series), tuple(notes))


def held_out_lines(result: CalibrateResult) -> Lines:
    """Every reading as the robot file predicts it, and as the model does that was fitted without its pose."""
    study, fit = result.study, result.study.fit
    shown = reading_unit(fit.campaign.measurement)
    judged = list(shown.rows)
    errors = {
        "before, robot file": before_errors(result)[:, judged],
        "after, this pose in the fit": fit.residuals[:, judged],
        "after, this pose left out": study.influence.left_out[:, judged],
    }
    words = tuple(fit.campaign.line(i) for i in range(len(fit.residuals)))
    series = tuple(
        Series(name, _numbers(len(values)), _shown(shown.factor * _rms(values)), points=True, words=words)
        for name, values in errors.items()
    )
    notes = (
        "Each pose is predicted by the model fitted to all other poses; root mean square of the reading's axes.",
        COUNTED,
    )
    title = "Before and after, on poses that took no part in the fit"
    return Lines("left_out", title, "reading", "", "error per axis", shown.unit, series, notes)


def _numbers(count: int) -> tuple[float, ...]:
    return tuple(float(i + 1) for i in range(count))


def _shown(values: Array) -> tuple[float, ...]:
    return tuple(float(v) for v in values)


def _rms(values: Array) -> Array:
    """Root mean square of each reading, nan where nothing was read."""
    import numpy as np

    known = np.isfinite(values)
    total = np.sum(np.where(known, values, 0.0) ** 2, axis=1)
    count = known.sum(axis=1)
    return np.asarray(np.where(count, np.sqrt(total / np.maximum(count, 1)), np.nan))
