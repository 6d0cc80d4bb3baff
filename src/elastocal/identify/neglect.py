"""M3, one at a time: the parameter with the smallest ratio of value to standard deviation is held, all others fitted
again, until every one stands out (003 section 4.3).  Dropping all at once loses good ones.

A parameter falls only where the readings tell it neither from zero nor from what it would be held at: the ratio is
max(|x|, |x - held|) / sd, the paper's where it is held at zero.
"""

from __future__ import annotations

import numpy as np

from elastocal.errors import InputError
from elastocal.identify.dropped import Dropped, by_ratio
from elastocal.identify.estimate import estimate
from elastocal.identify.fit import Fit
from elastocal.identify.loss import Loss
from elastocal.measure.campaign import Campaign
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array


def neglected(
    model: RobotModel, campaign: Campaign, whole: Fit, threshold: float, loss: Loss
) -> tuple[Fit, tuple[Dropped, ...]]:
    """The final fit and what fell: first on the linear problem, then, where that is not exact, fit by fit."""
    kept, fallen = _conditioned(model, whole, threshold)
    fit = estimate(model, campaign, kept, loss)
    while (weakest := _weakest(model, fit, threshold)) is not None:
        i = fit.names.index(weakest)
        held = float(model.parameters.values[model.parameters.index(weakest)])
        fallen.append(by_ratio(weakest, float(fit.values[i]), float(fit.sd[i]), threshold, held))
        fit = estimate(model, campaign, [n for n in fit.names if n != weakest], loss)
    return fit, tuple(fallen)


def _conditioned(model: RobotModel, whole: Fit, threshold: float) -> tuple[list[str], list[Dropped]]:
    """On the linear problem, conditioning on a parameter is the refit, x - C_j (x_j - held) / C_jj."""
    p = whole.problem.parameters
    names, x, c = list(whole.names), whole.values.copy(), whole.covariance.copy()
    held = {n: float(v) for n, v in zip(model.parameters.names, model.parameters.values, strict=True)}
    out = []
    while p:
        ratio = _ratios(x[:p], np.sqrt(np.diag(c)[:p]), np.array([held[n] for n in names[:p]]))
        j = int(np.argmin(ratio))
        if not ratio[j] < threshold:
            break
        out.append(by_ratio(names[j], float(x[j]), float(np.sqrt(c[j, j])), threshold, held[names[j]]))
        x = x - c[:, j] * (x[j] - held[names[j]]) / c[j, j]
        c = c - np.outer(c[:, j], c[j]) / c[j, j]
        rest = [i for i in range(len(names)) if i != j]
        x, c, names, p = x[rest], c[np.ix_(rest, rest)], [names[i] for i in rest], p - 1
    if not p and not out:
        raise InputError(
            "the readings tell nothing of what is sought beside the nuisances; load the arm, or seek others"
        )
    if not p:
        raise InputError(_NOTHING.format(threshold=threshold, name=out[-1].name, ratio=out[-1].ratio))
    return names, out


_NOTHING = (
    "no parameter stands out of the noise by a factor of {threshold:g} (the last was {name} with {ratio:.2g}); "
    "raise the load, measure more poses, or lower the threshold"
)


def _ratios(values: Array, sd: Array, held: Array) -> Array:
    return np.asarray(np.maximum(np.abs(values), np.abs(values - held)) / sd)


def _weakest(model: RobotModel, fit: Fit, threshold: float) -> str | None:
    p = fit.problem.parameters
    held = model.parameters.values[[model.parameters.index(n) for n in fit.names[:p]]]
    ratios = _ratios(fit.values[:p], fit.sd[:p], held)
    if not len(ratios) or not ratios.min() < threshold:
        return None
    if len(ratios) == 1:
        raise InputError(_NOTHING.format(threshold=threshold, name=fit.names[0], ratio=float(ratios[0])))
    return fit.names[int(np.argmin(ratios))]
