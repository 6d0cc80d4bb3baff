"""What was estimated and how far priors decide it, which readings took no part, and what is left of the others.

A posterior mean is a linear function of readings y = J theta + e, the noise e with covariance S.  With the prior mean
m and covariance Q, C = (J^T S^-1 J + Q^-1)^-1 and the share K = C Q^-1 that the prior decides,

    estimate  =  K m  +  (1 - K) theta  +  C J^T S^-1 e,    covariance of the last term  (1 - K) C = C - C Q^-1 C

What the prior alone decides (K = 1) is the same whatever is read.  Two estimates a, b of one theta that is drawn from
the prior, by independent readings, differ by d = b - a with mean zero (K_b m_b - K_a m_a - (K_b - K_a) m, where priors
differ) and

    V  =  (1 - K_a) C_a  +  (1 - K_b) C_b  +  (K_b - K_a) Q (K_b - K_a)^T                              (difference)

which for K = 0 is the sum of both posteriors, and zero for K = 1.  The last term is small for what readings decide; the
test d^T V^-1 d is made along these directions alone: less than ``OPEN`` of their prior variance is left by both
campaigns on the average.  There it hardly depends on how large the prior is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from elastocal.errors import UnknownNameError
from elastocal.results import as_frame
from elastocal.solve.evidence import prior_precision
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.calibration.fit import Fit


MAINLY = 0.5
"""Share of its prior variance that readings must remove for a parameter to be known by them."""


@dataclass(frozen=True)
class Estimate:
    """A parameter: value and sd in SI ``unit``; ``informed``: share of its prior variance that readings removed.

    The sd counts that scales of priors and noise are estimates too: the root of the covariance's diagonal times
    ``Calibration.inflation``, as intervals of predictions have it, and no more than the prior's.
    """

    name: str
    value: float
    sd: float
    unit: str
    file_value: float
    prior_sd: float
    group: str
    informed: float

    @property
    def code(self) -> str:
        """Empty, or ``not-separately-identifiable``: readings tell it together with others only, priors settle the
        rest, and its sd rests on their scales.  Predictions do not suffer, single values may be off by many sd."""
        return "" if self.informed >= MAINLY else "not-separately-identifiable"

    @property
    def stated(self) -> bool:
        """Whether its prior is one that the campaign states."""
        return self.group.startswith("prior of ")

    @property
    def significant(self) -> bool:
        """abs(value - file value) / sd >= 5, of what readings tell."""
        return not self.code and abs(self.value - self.file_value) >= 5 * self.sd


@dataclass(frozen=True, repr=False)
class Estimates(Mapping[str, Estimate]):
    """Parameters that were estimated, by name; all others are fixed at the file's value."""

    rows: tuple[Estimate, ...]

    @cached_property
    def _index(self) -> dict[str, Estimate]:
        return {e.name: e for e in self.rows}

    def __getitem__(self, name: str) -> Estimate:
        if not isinstance(name, str) or name not in self._index:
            raise UnknownNameError("parameter", name, tuple(self._index))
        return self._index[name]

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self.rows)

    def to_frame(self) -> object:
        return as_frame([{**vars(e), "code": e.code} for e in self.rows])

    def __repr__(self) -> str:
        if not self.rows:
            return "<no parameter is estimated: all are fixed at the file's values>"
        seen = sum(not e.code for e in self.rows)
        return f"<{len(self.rows)} parameters, {seen} of them known mainly by the readings>"


@dataclass(frozen=True)
class Outlier:
    """A reading that was left out; ``marker`` and ``axis`` are None where all of them are meant."""

    row: int
    place: str
    marker: str | None
    axis: str | None
    deviations: float
    """Distance from what the others predict, in standard deviations of that prediction; nan of a point beyond reach."""
    probability: float
    cause: str = ""
    """What likely made it wrong, where one cause is clear (``causes``); of a point beyond reach how far it is."""


@dataclass(frozen=True, eq=False)
class Residuals:
    """As figures and files need them, no fit behind them.

    Of M states with the same rows: joint values ``q`` (M, n), ``wrench`` (M, 6), number of the ``pose`` (M,).
    """

    q: Array
    wrench: Array
    pose: Ints
    order: Ints
    """First row of the campaign that a state was read in."""
    lengths: Bools
    """Which rows are lengths; the others are angles."""
    nominal: Array
    """Read minus predicted by the nominal robot without the pose (M, rows), in m and rad; nan where not read."""
    calibrated: Array
    """The same by the calibrated robot."""
    deviations: Array
    """Every number predicted from all others, in standard deviations of that prediction (M, rows)."""

    time: Array | None = None
    """When a state was read, s from the first; None where no column tells it."""

    def by_number(self) -> tuple[Array, Array]:
        """Pose and deviation of every number read."""
        state, row = np.nonzero(np.isfinite(self.deviations))
        return self.pose[state].astype(np.float64), self.deviations[state, row]


OPEN = 0.2
"""Share of the prior variance that readings may leave of a combination that is tested."""


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """Of parameters ``names``: ``mean`` (p,) and covariance ``prior`` (p, p) of their prior, ``share`` K (p, p) of it
    in the estimates, all in SI."""

    names: tuple[str, ...]
    mean: Array
    prior: Array
    share: Array

    @property
    def covariance(self) -> Array:
        """C (p, p)."""
        c = self.share @ self.prior
        return np.asarray((c + c.T) / 2)

    @property
    def sampling(self) -> Array:
        """(1 - K) C (p, p): of the estimates, were all read again."""
        s = self.covariance - self.share @ self.covariance
        return np.asarray((s + s.T) / 2)


def shrinkage_of(fit: Fit) -> Shrinkage:
    """Compliances are estimated by their logarithms: linear about their values."""
    post, task, p = fit.unbounded, fit.task, len(fit.x)
    precision = prior_precision(post.blocks, post.log_scales)[0][:p, :p]
    size = np.where(task.logs, fit.values, 1.0)
    prior = np.asarray(np.linalg.inv(precision) * size * size[:, None])
    share = (post.covariance[:p, :p] @ precision) * size[:, None] / size
    return Shrinkage(task.names, task.values(post.blocks.mean[:p]), prior, share)


@dataclass(frozen=True, eq=False)
class Difference:
    """Of two estimates along directions that readings decide: ``change`` (k,), its ``covariance`` (k, k), and how a
    change of the robot by one in every common parameter moves it, ``response`` (k, p); ``prior_sd`` (p,) of these."""

    change: Array
    covariance: Array
    response: Array
    prior_sd: Array

    @property
    def rank(self) -> int:
        return len(self.change)

    @property
    def chi2(self) -> float:
        return float(self.change @ np.linalg.solve(self.covariance, self.change)) if self.rank else 0.0

    def alone(self) -> tuple[Array, Array]:
        """Change (p,) of every parameter that explains most if no other has changed, and its sd.

        Zero, with sd inf, of those that readings tell less of than the prior.
        """
        weighed = np.linalg.solve(self.covariance, self.response)
        information = np.einsum("kp,kp->p", weighed, self.response)
        felt = information * self.prior_sd**2 > 1
        pull = weighed.T @ self.change
        value = np.divide(pull, information, out=np.zeros_like(pull), where=felt)
        return value, np.where(felt, 1 / np.sqrt(np.where(felt, information, 1.0)), np.inf)


def difference(
    a: Shrinkage, b: Shrinkage, names: Sequence[str], change: Array, widths: tuple[float, float]
) -> Difference:
    """Of estimates of ``names`` that differ by ``change`` (p,) from a to b, their sds widened by factors."""
    at, bt = ([s.names.index(n) for n in names] for s in (a, b))
    mean_a, mean_b = a.mean[at], b.mean[bt]
    share_a, share_b = a.share[np.ix_(at, at)], b.share[np.ix_(bt, bt)]
    prior = (a.prior[np.ix_(at, at)] + b.prior[np.ix_(bt, bt)]) / 2
    apart = (mean_b - mean_a) / 2
    shift = share_b @ apart + share_a @ apart
    moved = share_b - share_a
    wide_a, wide_b = widths
    total = wide_a**2 * a.sampling[np.ix_(at, at)] + wide_b**2 * b.sampling[np.ix_(bt, bt)]
    total = total + wide_a * wide_b * moved @ prior @ moved.T
    left = (a.covariance[np.ix_(at, at)] + b.covariance[np.ix_(bt, bt)]) / 2
    sd = np.sqrt(np.diag(prior))
    values, vectors = np.linalg.eigh(prior / np.outer(sd, sd))
    known = values > 1e-12
    white = vectors[:, known] / np.sqrt(values[known]) / sd[:, None]  # to units of the prior
    share, along = np.linalg.eigh(white.T @ left @ white)
    rows = (white @ along[:, share < OPEN]).T
    response = rows @ (np.eye(len(names)) - share_b)
    return Difference(rows @ (change - shift), rows @ total @ rows.T, response, sd)
