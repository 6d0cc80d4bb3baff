"""What a reduction costs: how far the predictions of the reduced model lie from those of the model before it.

The difference is weighed against how well the larger model itself knows its predictions: where that is worse, what was
dropped was noise (003 section 4.3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.identify.fit import Fit
from elastocal.measure.kind import MarkerMeasurement
from elastocal.model.limits import spread_configurations
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.linear_observation import linear_names
from elastocal.spatial.entries import Array
from elastocal.uncertainty.prediction import IdentifiedModel, Prediction, predict, same_size_loads


@dataclass(frozen=True)
class Cost:
    """Root mean squares over workspace and load, in m: of the deflection, of the difference between the two models, of
    either model's own standard deviation; ``worst`` is the largest difference."""

    loads: str
    deflection: float
    difference: float
    worst: float
    sd_before: float
    sd_after: float


def reduction_cost(before: Fit, after: Fit, count: int = 200) -> tuple[Cost, ...]:
    """Under the campaign's own loads, and under forces of that size along every base axis; nothing where no markers are
    watched or no load is applied."""
    if not isinstance(before.campaign.measurement, MarkerMeasurement):
        return ()
    at = before.campaign.measurement.where
    if not np.any(at.wrenches):
        return ()
    q = spread_configurations(before.model, count)
    loads = {
        "loads of the campaign": np.unique(at.wrenches[np.any(at.wrenches != 0, axis=1)], axis=0),
        "forces of that size along every base axis": same_size_loads(at.wrenches),
    }
    return tuple(_cost(name, before, after, q, wrenches) for name, wrenches in loads.items())


def _cost(name: str, before: Fit, after: Fit, q: Array, wrenches: Array) -> Cost:
    frame = before.campaign.measurement.setup.load
    each = AppliedWrenches(frame.frame, wrenches[np.arange(len(q)) % len(wrenches)], frame.follows)
    old, new = (_predicted(fit, q, each) for fit in (before, after))
    known = np.isfinite(old.twist).all(axis=1) & np.isfinite(new.twist).all(axis=1)
    gap = np.linalg.norm((old.twist - new.twist)[known, :3], axis=1)
    size = np.linalg.norm(new.twist[known, :3], axis=1)
    spreads = [np.sqrt(np.einsum("nii->n", p.covariance[known, :3, :3])) for p in (old, new)]
    rms = [float(np.sqrt(np.mean(v**2))) if len(v) else float("nan") for v in (size, gap, *spreads)]
    return Cost(name, rms[0], rms[1], float(gap.max(initial=0.0)), rms[2], rms[3])


def _predicted(fit: Fit, q: Array, load: AppliedWrenches) -> Prediction:
    """With the linear model: the difference does not need more, and it has a state everywhere."""
    p = fit.problem.parameters
    linear = set(linear_names(fit.model))
    mine = [i for i, n in enumerate(fit.names[:p]) if n in linear]
    names = tuple(fit.names[i] for i in mine)
    return predict(IdentifiedModel(fit.model, names, fit.covariance[np.ix_(mine, mine)], 0.0, "linear"), q, load)
