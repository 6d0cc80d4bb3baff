"""What the residuals ask for among the parameters that nobody sought: a score test of each.

With r the whitened residuals of the fit, a the column of a parameter that was taken as exact and a' what of it the
fitted columns do not explain,

    step = a'^T r / a'^T a',    sd = g / |a'|,    g^2 = (r^T r - |a'|^2 step^2) / (f - 1)

with f the degrees of freedom of the fit and g the size of the noise in units of the stated one, at least 1 where it is
stated.  What the parameter itself would take away is no noise: left in, no step could exceed sqrt(f) of its sd.  Where
the value is right, step / sd is Student's t of f - 1 degrees of freedom, and a normal number where g is the stated 1.
The step is what a fit that sought it too would move it by, to first order.  Several that act alike are asked for
together: one of them may be wrong, and which one only better knowledge tells.  A step of many times
the value itself (or the size that matters, where that is zero) is no likely cause: the model lacks something else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.identify.problem import linearise
from elastocal.identify.reduction import Identification
from elastocal.identify.strayed import CHANCE, remaining_noise
from elastocal.identify.trial import ABSURD

LIKELY = 5.0
"""Times the value: robot files are wrong by factors, hardly by orders of magnitude."""


@dataclass(frozen=True)
class Unsought:
    """A parameter taken as exact at ``value``; the residuals ask for ``step`` more of it, known to ``sd``.

    ``chance`` is that of any parameter that nobody sought being asked for so strongly (Bonferroni), ``size`` the
    largest likely change.
    """

    name: str
    unit: str
    value: float
    step: float
    sd: float
    chance: float
    size: float

    @property
    def sigmas(self) -> float:
        return abs(self.step) / self.sd

    @property
    def asked(self) -> bool:
        return self.chance < CHANCE and abs(self.step) <= self.size


def unsought(found: Identification) -> tuple[Unsought, ...]:
    """Every parameter that was not sought and that the readings see, the one that is asked for most first.

    None where fewer than two degrees of freedom are left: one for the parameter, one for the noise.
    """
    from scipy.special import stdtr

    fit = found.fit
    sought, kind = set(found.groups.names), fit.campaign.measurement
    names = [n for n in kind.names(fit.model, None) if n not in sought]
    if not names:
        return ()
    p = fit.problem.parameters
    u = dict(zip(fit.problem.nuisance, (float(v) for v in fit.values[p:]), strict=True))
    problem = linearise(
        fit.campaign, fit.model, [*fit.names[:p], *names, *fit.problem.nuisance], fit.problem.weights, u
    )
    freedom = problem.equations - len(fit.names)  # with what is believed of parameters that were not sought
    if freedom < 2:
        return ()
    own = problem.matrix[:, problem.index(fit.names)]
    basis = np.linalg.qr(own / np.linalg.norm(own, axis=0))[0]
    at = problem.index(names)
    columns = problem.matrix[:, at]
    beyond = columns - basis @ (basis.T @ columns)
    size = np.linalg.norm(beyond, axis=0)
    seen = ABSURD * problem.scales[at] * size > 1
    step = np.where(seen, beyond.T @ problem.misfit / np.where(seen, size, 1.0) ** 2, 0.0)
    noise, spare = remaining_noise(problem.misfit @ problem.misfit - (size * step) ** 2, freedom - 1, fit.stated)
    sd = noise / np.where(seen, size, 1.0)
    chance = np.minimum(1.0, int(seen.sum()) * 2 * stdtr(spare, -np.abs(step) / sd))
    rows = [fit.model.parameters.rows[fit.model.parameters.index(n)] for n in names]
    out = [
        Unsought(
            row.name,
            row.unit,
            row.value,
            float(step[i]),
            float(sd[i]),
            float(chance[i]),
            LIKELY * (abs(row.value) or row.scale),
        )
        for i, row in enumerate(rows)
        if seen[i]
    ]
    return tuple(sorted(out, key=lambda s: -s.sigmas))
