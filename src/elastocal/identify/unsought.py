"""What the residuals ask for among the parameters that nobody sought: a score test of each.

With r the whitened residuals of the fit, a the column of a parameter that was taken as exact and a' what of it the
fitted columns do not explain,

    step = a'^T r / a'^T a',    sd = g / |a'|,    step / sd ~ N(0, 1) where its value is right

(g the size of the noise in units of the stated one).  The step is what a fit that sought it too would move it by, to
first order.  Several that act alike are asked for together: one of them may be wrong, and which one only better
knowledge tells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.identify.problem import linearise
from elastocal.identify.reduction import Identification
from elastocal.identify.strayed import CHANCE
from elastocal.identify.trial import ABSURD


@dataclass(frozen=True)
class Unsought:
    """A parameter taken as exact at ``value``; the residuals ask for ``step`` more of it, known to ``sd``.

    ``chance`` is that of any parameter that nobody sought being asked for so strongly (Bonferroni).
    """

    name: str
    unit: str
    value: float
    step: float
    sd: float
    chance: float

    @property
    def sigmas(self) -> float:
        return abs(self.step) / self.sd

    @property
    def asked(self) -> bool:
        return self.chance < CHANCE


def unsought(found: Identification) -> tuple[Unsought, ...]:
    """Every parameter that was not sought and that the readings see, the one that is asked for most first."""
    from scipy.special import ndtr

    fit = found.fit
    sought, kind = set(found.groups.names), fit.campaign.measurement
    names = [n for n in kind.names(fit.model, None) if n not in sought]
    if not names or not np.isfinite(fit.inflation):
        return ()
    p = fit.problem.parameters
    u = dict(zip(fit.problem.nuisance, (float(v) for v in fit.values[p:]), strict=True))
    problem = linearise(
        fit.campaign, fit.model, [*fit.names[:p], *names, *fit.problem.nuisance], fit.problem.weights, u
    )
    own = problem.matrix[:, problem.index(fit.names)]
    basis = np.linalg.qr(own / np.linalg.norm(own, axis=0))[0]
    at = problem.index(names)
    columns = problem.matrix[:, at]
    beyond = columns - basis @ (basis.T @ columns)
    size = np.linalg.norm(beyond, axis=0)
    seen = ABSURD * problem.scales[at] * size > 1
    step = np.where(seen, beyond.T @ problem.misfit / np.where(seen, size, 1.0) ** 2, 0.0)
    sd = fit.inflation / np.where(seen, size, 1.0)
    chance = np.minimum(1.0, int(seen.sum()) * 2 * ndtr(-np.abs(step) / sd))
    rows = [fit.model.parameters.rows[fit.model.parameters.index(n)] for n in names]
    out = [
        Unsought(row.name, row.unit, row.value, float(step[i]), float(sd[i]), float(chance[i]))
        for i, row in enumerate(rows)
        if seen[i]
    ]
    return tuple(sorted(out, key=lambda s: -s.sigmas))
