"""Estimates that stand for more than themselves: what M3 holds goes over into what it keeps.

With one force F everywhere a gripper shows only F * p + g.  The scatter of the forces tells p and g apart on paper, not
in practice: M3 holds g, and p takes it over.  With the columns A of what is estimated and a of what is held,

    p + B g  is what the readings give,    B = A^+ a ,

and an estimate stands for the combination where a held parameter of its size would shift it by many standard
deviations.
"""

from __future__ import annotations

import numpy as np

from elastocal.identifiability.groups import Combination
from elastocal.identify.problem import linearise
from elastocal.identify.reduction import Identification
from elastocal.measure.campaign import Campaign
from elastocal.spatial.entries import Array

SAME = 1.2
"""Forces within this ratio are one level."""


def standing(found: Identification) -> tuple[Combination, ...]:
    """Every estimate that a parameter sought but held, off by its size, would shift by the upper threshold times sd."""
    fit = found.fit
    table = {p.name: p for p in found.sought.parameters}
    held = [n for n in found.groups.names if n in table and n not in fit.names]
    if not held:
        return ()
    a = linearise(fit.campaign, fit.model, held, fit.problem.weights).matrix[: int(np.prod(fit.problem.shape))]
    priors = np.zeros((len(fit.problem.matrix) - len(a), len(held)))
    factors = _solved(fit.problem.matrix, np.concatenate([a, priors]))
    size = np.array([max(abs(table[n].value), table[n].scale) for n in held])
    shifts = np.abs(factors) * size / fit.sd[:, None]
    return tuple(
        Combination(
            name, tuple((held[j], float(factors[i, j])) for j in np.flatnonzero(shifts[i] > found.thresholds[0]))
        )
        for i, name in enumerate(fit.names[: fit.problem.parameters])
        if np.any(shifts[i] > found.thresholds[0])
    )


def force_level(campaign: Campaign) -> float:
    """The one force in N that all contacts press with; nan where there are several."""
    sizes = np.linalg.norm(np.nan_to_num(campaign.readings), axis=1)
    sizes = sizes[sizes > 0]
    return float(np.median(sizes)) if len(sizes) and sizes.max() < SAME * sizes.min() else float("nan")


def _solved(matrix: Array, right: Array) -> Array:
    """A^+ a, columns of A at unit length."""
    lengths = np.linalg.norm(matrix, axis=0)
    return np.asarray(np.linalg.lstsq(matrix / lengths, right, rcond=None)[0] / lengths[:, None])
