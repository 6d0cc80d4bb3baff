"""What the residuals of a fit say: influence, faults of the model, outliers, priors contradicted, parameters missed.

Influence     with the hat matrix H = A (A^T A)^-1 A^T of the whitened problem, the residuals of a pose g that is left
              out are (I - H_gg)^-1 r_g, without fitting again: exact where readings are affine, first order elsewhere.
Discrepancy   what the residuals show beyond noise.  With repeats the noise is known without any model, and the excess
              of the lack of fit over it is the model's.  Without repeats the stated noise stands in.  With neither,
              noise and model cannot be told apart.
Outliers      numbers, markers and whole readings that the others contradict, by deletion residuals
              (``solve.outliers``); every number left out is named with what the rest predicts.

Prior conflict.  An unknown with the prior u ~ N(0, s^2) is estimated together with the parameters.  With C the
covariance of the fit, P the diagonal of 1 / s^2 of all priors and noise of size g in units of the stated one, its
estimate scatters by

    var(u) = s^2 - 2 C_uu + sum_j C_uj^2 / s_j^2 + g^2 (C_uu - sum_j C_uj^2 / s_j^2),

which is s^2 - C_uu for g = 1: what the readings add to the prior.  An estimate far beyond it says that something that
the model takes as exact is wrong, and that the unknown had to take its place.

g is estimated from what the residuals would be without the prior of u, at least 1 where the noise is stated: with f
degrees of freedom, g^2 = (r^T r - u^2 / (s^2 - C_uu)) / (f - 1).  Only its share of the variance is uncertain then; the
tail is Student's t with

    (f - 1) (var(u) / (g^2 (C_uu - sum_j C_uj^2 / s_j^2)))^2

degrees of freedom (Satterthwaite 1946): the normal one where the prior alone decides.

Omitted parameters.  With r the whitened residuals of the fit, a the column of a parameter that was fixed and a' what of
it the fitted columns do not explain,

    step = a'^T r / a'^T a',    sd = g / |a'|,    g^2 = (r^T r - |a'|^2 step^2) / (f - 1).

What the parameter itself would take away is no noise: left in, no step could exceed sqrt(f) of its sd.  Where the value
is right, step / sd is Student's t of f - 1 degrees of freedom, and a normal number where g is the stated 1.  The step
is what a fit that sought it too would move it by, to first order.  Several that act alike are called for together: one
of them may be wrong, and which one only better knowledge tells.  A step of many times the value itself (or the size
that matters, where that is zero) is no likely cause: the model lacks something else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elastocal.distributions import stdtr
from elastocal.reduction.fit import Fit
from elastocal.reduction.problem import ABSURD, linearise
from elastocal.solve.deletion import deletion_of_rows
from elastocal.solve.linear import unit_qr
from elastocal.solve.nested import EXACT, score_of_rows
from elastocal.solve.outliers import LinearJudge, screen_units
from elastocal.solve.summary import rms
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.reduction.identify import Identification


@dataclass(frozen=True, eq=False)
class Influence:
    """``leverage`` (N, R): share of a reading in its own prediction, nan where nothing was read.

    ``left_out`` (N, R): residuals, in m or rad, with the whole pose left out of the fit; inf where the fit cannot do
    without it.
    """

    leverage: Array
    left_out: Array

    def rms(self, rows: list[int]) -> float:
        """Root mean square of the prediction errors in some of the R numbers."""
        return rms(self.left_out[:, rows])


def influence(fit: Fit, pose: Ints) -> Influence:
    """Leave-one-pose-out; ``pose`` (N,) says which readings belong together."""
    n, r = fit.problem.shape
    basis = unit_qr(fit.problem.matrix).q[: n * r].reshape(n, r, -1)
    used = fit.problem.used
    leverage = np.where(used, np.sum(basis**2, axis=2), np.nan)
    deleted = np.full((n, r), np.nan)
    squares = float(fit.problem.misfit @ fit.problem.misfit)
    for members in _by_size(pose):
        shape = (len(members), members.shape[1] * r)
        one = np.broadcast_to(np.eye(shape[1]), (len(members), shape[1], shape[1]))
        deletions = deletion_of_rows(
            one, basis[members].reshape(*shape, -1), fit.whitened[members].reshape(shape), used[members].reshape(shape),
            squares, fit.freedom, parts=np.zeros(shape[1], dtype=np.int64), floor=0.0,
        )  # fmt: skip
        deleted[members] = np.nan_to_num(deletions.blocks, nan=0.0, posinf=np.inf).reshape(len(members), -1, r)
    finite = fit.problem.weights.unwhiten(np.where(np.isinf(deleted), 0.0, deleted))
    left_out = np.where(np.isinf(deleted).any(axis=1)[:, None], np.inf, finite)
    return Influence(leverage, np.where(used, left_out, np.nan))


def _by_size(pose: Ints) -> list[Ints]:
    """Readings of every pose, poses of equal size together: a list of (poses, readings) index arrays."""
    order = np.argsort(pose, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(pose[order])) + 1)
    sizes = sorted({len(p) for p in parts})
    return [np.stack([p for p in parts if len(p) == size]) for size in sizes]


@dataclass(frozen=True)
class Correlation:
    """Two estimates that move together."""

    first: str
    second: str
    coefficient: float


def correlations(fit: Fit, above: float) -> tuple[Correlation, ...]:
    """Pairs whose correlation exceeds a threshold, the strongest first."""
    size = np.sqrt(np.diag(fit.unit_covariance))
    matrix = fit.unit_covariance / np.outer(size, size)
    pairs = [
        Correlation(fit.names[i], fit.names[j], float(matrix[i, j]))
        for i in range(len(size))
        for j in range(i + 1, len(size))
        if abs(matrix[i, j]) > above
    ]
    return tuple(sorted(pairs, key=lambda c: (-abs(c.coefficient), c.first, c.second)))


@dataclass(frozen=True)
class Discrepancy:
    """Standard deviation in m per axis (nan where unknown), and how it is known."""

    sd: float
    reason: str


def discrepancy(fit: Fit) -> Discrepancy:
    """Excess variance of the residuals, in units of the mean variance of a length reading."""
    lack = fit.repeats
    lengths = [i for i, row in enumerate(fit.campaign.measurement.rows) if row.unit == "m"]
    if not lengths:
        return Discrepancy(float("nan"), "no length was read: what the model lacks is not known in m")
    variance = fit.problem.weights.variance[:, lengths]
    one = float(np.mean(variance[fit.problem.used[:, lengths]]))
    if np.isfinite(lack.ratio):
        excess = (lack.lack_of_fit**2 - lack.pure_error**2) / lack.each  # all repeats of a state share the fault
        return Discrepancy(float(np.sqrt(max(excess, 0.0) * one)), "lack of fit beyond the scatter of repeats")
    if fit.stated and np.isfinite(fit.scatter):
        return Discrepancy(float(np.sqrt(max(fit.scatter**2 - 1, 0.0) * one)), "residuals beyond the stated noise")
    return Discrepancy(float("nan"), "neither repeats nor a stated noise: the model's part cannot be told from noise")


@dataclass(frozen=True)
class Outlier:
    """One number that lies ``sigmas`` of the others' scatter away from what they predict."""

    reading: int
    row: int
    place: str
    value: float
    predicted: float
    sigmas: float


def find_outliers(fit: Fit) -> tuple[Outlier, ...]:
    """Numbers, markers and whole readings that the others contradict, the worst number first.

    A loss that lets go of what is far off starts the search, so that several outliers do not hide each other.
    """
    if fit.freedom < 2:
        return ()
    judge = _linear(fit)
    dropped, _, judge = screen_units(judge, judge.used, judge.far())
    if not dropped.any():
        return ()
    left = judge.residuals(dropped)
    rest = judge.without(dropped)
    away = np.abs(left) / (np.sqrt(fit.problem.weights.variance * max(rest.total / rest.freedom, rest.floor)))
    readings = fit.campaign.readings
    out = [
        Outlier(i, j, fit.campaign.place(i, j), float(readings[i, j]), float(readings[i, j] - left[i, j]),
                float(away[i, j]))
        for i, j in np.argwhere(dropped).tolist()
    ]  # fmt: skip
    return tuple(sorted(out, key=lambda s: (-s.sigmas, s.reading, s.row)))


def _linear(fit: Fit) -> LinearJudge:
    """The problem of a fit in m and rad, with unit columns."""
    problem, kind = fit.problem, fit.campaign.measurement
    n, r = problem.shape
    live, inverse = problem.weights.live, problem.weights.inverse
    lower = np.asarray(np.linalg.inv(inverse + np.eye(r) * ~live[:, :, None]), dtype=np.float64)
    lengths = np.linalg.norm(problem.matrix, axis=0)
    columns = problem.matrix / np.where(lengths > 0, lengths, 1.0)
    matrix, misfit = columns[: n * r].reshape(n, r, -1), problem.misfit[: n * r].reshape(n, r, 1)
    parts = np.array([kind.groups.index(row.group) for row in kind.rows])
    return LinearJudge(
        (lower @ misfit)[:, :, 0], lower @ matrix, problem.used, parts, 1.0 if fit.stated else 0.0, lower,
        columns[problem.priors()], problem.misfit[problem.priors()],
    )  # fmt: skip


CHANCE = 0.0027
"""That of three standard deviations, for all priors together."""
SEEN = 1e-6
"""Share of the stated variance that readings must have decided."""
ROUNDING = 1e-14
"""Share of a column's square that is rounding where the fitted columns explain it."""
LIKELY = 5.0
"""Times the value: robot files are wrong by factors, hardly by orders of magnitude."""


@dataclass(frozen=True)
class PriorCheck:
    """``value`` is how far the estimate is from its prior with ``sd``; ``sigmas`` counts what it could scatter.

    ``chance`` is that of any of the unknowns with a prior that readings decide lying so far off (Bonferroni).
    """

    name: str
    unit: str
    value: float
    sd: float
    sigmas: float
    chance: float

    @property
    def conflict(self) -> bool:
        return self.chance < CHANCE


def prior_checks(fit: Fit) -> tuple[PriorCheck, ...]:
    """Every unknown with a prior, with the chance of its estimate."""
    problem = fit.problem
    rows = problem.matrix[problem.priors()]
    at = [int(np.argmax(np.abs(row))) for row in rows]
    if not at:
        return ()
    sd = np.array([1 / row[i] for row, i in zip(rows, at, strict=True)])
    off = -problem.misfit[problem.priors()] * sd
    c = fit.unit_covariance[np.ix_(at, at)]
    own = np.diag(c)
    known = np.sum((c / sd) ** 2, axis=1)
    alone = sd**2 - own
    decided = alone > SEEN * sd**2
    squares = problem.misfit @ problem.misfit - off**2 / np.where(decided, alone, np.inf)
    noise, spare = remaining_noise(squares, fit.freedom - 1, fit.stated)
    by_noise = noise**2 * (own - known)
    variance = sd**2 - 2 * own + known + by_noise
    decided &= variance > 0  # not where readings without spare ones tell the noise: nan
    sigmas = np.where(decided, np.abs(off) / np.sqrt(np.where(decided, variance, 1.0)), 0.0)
    share = np.where(decided, by_noise / np.where(decided, variance, 1.0), 1.0)
    tail = stdtr(spare / np.maximum(share, SEEN) ** 2, -sigmas)
    chance = np.where(decided, np.minimum(1.0, int(decided.sum()) * 2 * tail), 1.0)
    return tuple(
        PriorCheck(problem.names[i], problem.units[i], float(off[k]), float(sd[k]), float(sigmas[k]), float(chance[k]))
        for k, i in enumerate(at)
    )


def remaining_noise(squares: Array, freedom: int, stated: bool) -> tuple[Array, Array]:
    """Size of the noise from the squares that remain, and its degrees of freedom: inf where what is stated holds.

    nan where nothing remains to tell it by and nothing is stated.
    """
    left = np.maximum(squares / freedom, EXACT) if freedom > 0 else np.full(squares.shape, np.nan)
    estimated = left > 1 if stated else np.ones(left.shape, dtype=bool)
    return np.sqrt(np.where(estimated, left, 1.0)), np.where(estimated, float(freedom), np.inf)


@dataclass(frozen=True)
class OmittedParameter:
    """A parameter fixed at ``value``; the residuals call for ``step`` more of it, known to ``sd``.

    ``chance`` is that of any omitted parameter being called for so strongly (Bonferroni), ``size`` the
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
    def significant(self) -> bool:
        return self.chance < CHANCE and abs(self.step) <= self.size


def omitted_parameters(identification: Identification) -> tuple[OmittedParameter, ...]:
    """Every parameter that was not sought and that the readings see, the most significant first.

    None where fewer than two degrees of freedom are left: one for the parameter, one for the noise.
    """
    fit = identification.fit
    sought, kind = set(identification.groups.names), fit.campaign.measurement
    names = [n for n in kind.names(fit.model, None) if n not in sought]
    if not names:
        return ()
    p = fit.problem.parameters
    u = dict(zip(fit.problem.nuisance, (float(v) for v in fit.values[p:]), strict=True))
    problem = linearise(
        fit.campaign, fit.model, [*fit.names[:p], *names, *fit.problem.nuisance], fit.problem.weights, u
    )
    freedom = problem.equations - len(fit.names)  # with the priors of parameters that were not sought
    if freedom < 2:
        return ()
    basis = unit_qr(problem.matrix[:, problem.index(fit.names)]).q
    left = problem.misfit - basis @ (basis.T @ problem.misfit)
    table, floor = fit.model.parameters, 1.0 if fit.stated else 0.0
    seen = []
    for name, i in zip(names, problem.index(names), strict=True):
        tested = score_of_rows(basis, left, problem.matrix[:, [i]], freedom, floor=floor, independent=ROUNDING)
        if tested.size and ABSURD * problem.scales[i] * tested.noise > tested.sd[0]:
            seen.append((table[name], tested))
    out = [
        OmittedParameter(
            row.name, row.unit, row.value, float(tested.step[0]), float(tested.sd[0]),
            min(1.0, len(seen) * tested.probability), LIKELY * (abs(row.value) or row.scale),
        )
        for row, tested in seen
    ]  # fmt: skip
    return tuple(sorted(out, key=lambda s: -s.sigmas))
