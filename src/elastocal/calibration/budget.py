"""Where the uncertainty of a predicted point comes from, at the poses that were measured.

The variance of the predicted markers is the trace of J C J^T.  The share of a group of parameters is the sum over its
members of J_p (C J^T)_p, which counts correlations half to each side, so that the shares add up exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from elastocal.calibration.prediction import slopes_and_noise

if TYPE_CHECKING:
    from elastocal.calibration.calibration import Calibration

STATED = "stated priors"


def variance_at_poses(c: Calibration) -> tuple[float, Mapping[str, float], float]:
    """Mean variance of a predicted point over the campaign's poses, its shares by group, and the variance that one
    reading has besides, all in m2."""
    slope, noise = slopes_and_noise(c, c.residuals.q, c.residuals.wrench)
    weighted = np.einsum("nrp,pq->nrq", slope, c.covariance)
    shares = np.mean(np.sum(slope * weighted, axis=1), axis=0)
    groups: dict[str, float] = {}
    for name, share in zip(_column_groups(c), shares, strict=True):
        groups[name] = groups.get(name, 0.0) + float(share) / len(c.markers)
    groups["model discrepancy"] = noise.shape[2] * c.discrepancy**2
    return sum(groups.values()), groups, float(np.mean(np.sum(noise, axis=2)))


def _column_groups(c: Calibration) -> list[str]:
    group = {e.name: STATED if e.stated else e.group for e in c.parameters.rows}
    rest = c.covariance.shape[0] - len(c.names)
    return [group.get(n, "other parameters") for n in c.names] + ["stations and markers"] * rest
