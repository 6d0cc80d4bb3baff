"""How well the robot file predicted the readings, before anything was fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.pages.reading_units import reading_unit

if TYPE_CHECKING:
    from elastocal.app.commands.calibrate import CalibrateResult
    from elastocal.spatial.entries import Array


def before_errors(result: CalibrateResult) -> Array:
    """Read minus what the robot file lets expect, (N, R) in SI, of the numbers that were used."""
    campaign = result.study.fit.campaign
    return campaign.readings - campaign.measurement.predict(result.model)


def before_rms(result: CalibrateResult) -> float:
    """Root mean square per axis of the numbers that predictions are judged by; nan where there are none."""
    import numpy as np

    errors = before_errors(result)[:, list(reading_unit(result.study.fit.campaign.measurement).rows)]
    known = errors[np.isfinite(errors)]
    return float(np.sqrt(np.mean(known**2))) if known.size else float("nan")
