"""Readings that do not belong: found by a loss that lets go of them, named with what the rest predicts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.identify.fit import Fit
from elastocal.solve.loss import TUNING, robust_scale

LIMIT = 5.0


@dataclass(frozen=True)
class Suspect:
    """One number that lies ``sigmas`` of the bulk's scatter away from what the others predict."""

    reading: int
    row: int
    place: str
    value: float
    predicted: float
    sigmas: float


def suspects(fit: Fit, limit: float = LIMIT) -> tuple[Suspect, ...]:
    """The numbers beyond ``limit``, the worst first; Cauchy's loss on the problem linearised at the fit."""
    from scipy.optimize import least_squares

    problem = fit.problem
    p = len(problem.names)
    if fit.freedom < 2:
        return ()
    basis = np.linalg.qr(problem.matrix)[0]
    floor = 1.0 if fit.stated else 0.0  # no number is doubtful within the noise that was stated
    z, scale = np.zeros(p), max(robust_scale(problem.misfit, p), floor)
    for _ in range(4):
        found = least_squares(
            lambda v: problem.misfit - basis @ v, z, lambda v: -basis, loss="cauchy", f_scale=TUNING["cauchy"] * scale
        )
        z = found.x
        scale = max(robust_scale(problem.misfit - basis @ z, p), floor)
    rest = problem.misfit - basis @ z
    n, r = problem.shape
    raw = np.where(problem.used, problem.weights.unwhiten(rest[: n * r].reshape(n, r)), np.nan)
    away = raw / (np.sqrt(problem.weights.variance) * scale)
    hits = [(int(i), int(j)) for i, j in np.argwhere(np.abs(np.nan_to_num(away)) > limit)]
    readings = fit.campaign.readings
    out = [
        Suspect(i, j, fit.campaign.place(i, j), float(readings[i, j]), float(readings[i, j] - raw[i, j]),
                float(abs(away[i, j])))
        for i, j in hits
    ]  # fmt: skip
    return tuple(sorted(out, key=lambda s: (-s.sigmas, s.reading, s.row)))
