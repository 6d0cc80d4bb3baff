"""How well a linear model is known, by drawing: Gibbs sampler with unknown noise, and bootstrap over poses.

Both are in the coordinates z of ``draws.basis`` of the whitened problem y = A beta + e, e_i ~ N(0, s_c(i)^2).

Gibbs.  The rows are whitened to the stated noise, so s_c = 1 where the statement is right. Each row belongs to a class
c of noise, or to class -1, whose scale is 1 for sure: rows of a Gaussian prior. The prior is flat in beta and 1/s_c^2
in every s_c^2. The two blocks are conjugate:

    z | s       ~ N(P^-1 sum_c Q_c^T r_c / s_c^2,  P^-1),    P = sum_c Q_c^T Q_c / s_c^2
    s_c^2 | z   ~ |r_c - Q_c z|^2 / chi^2(m_c)               (an inverse gamma)

Bootstrap.  Readings of one pose share its errors, so poses are resampled, not readings: pose i counts w_i times, w
multinomial.  Each resample solves

    (sum_i w_i Q_i^T Q_i) z = sum_i w_i Q_i^T r_i,

whose matrix is the identity where all w_i = 1; so it is well conditioned unless the resample itself is poor.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastocal.errors import ImplausibleError, RangeError, ShapeError, TooFewError
from elastocal.solve.draws import ENOUGH, FEWEST, MIXED, SMALLEST, Basis, Draws, basis, effective_number, split_rhat
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

APART, ROUNDING = 1e6, 1e-12


@dataclass(frozen=True, eq=False)
class GibbsPosterior(Draws):
    """``draws`` (chains, draws, p) of beta, ``scales`` (chains, draws, classes) of s in units of the stated noise."""

    scales: Array
    rhat: Array
    effective: Array
    scale_rhat: Array
    scale_effective: Array

    @property
    def converged(self) -> bool:
        """Every R-hat below 1.01 and every effective number above 400 (Vehtari et al. 2021)."""
        mixed = np.all(np.concatenate([self.rhat, self.scale_rhat]) < MIXED)
        return bool(mixed and np.all(np.concatenate([self.effective, self.scale_effective]) > ENOUGH))


def gibbs(
    names: Sequence[str],
    matrix: Array,
    readings: Array,
    classes: Ints | None = None,
    *,
    rng: np.random.Generator,
    chains: int = 4,
    draws: int = 2000,
    warm_up: int = 500,
) -> GibbsPosterior:
    """Sample beta and the scales; ``classes`` (m,) are 0, 1, ... or -1, one class for all if not given."""
    if chains < 1 or draws < FEWEST or warm_up < 0:
        raise RangeError(
            f"gibbs: needs a chain, {FEWEST} draws and no negative warm-up; more of each is usual", value=FEWEST
        )
    at = basis(names, matrix, readings)
    labels = _labels(classes, len(at.residuals))
    _check_noise(at, labels, float(np.linalg.norm(readings)))
    rows = _Rows.of(at, labels)
    # Only the scales need a start, because beta is drawn first: a decade around the residuals' mean square.
    start = rows.squares(np.zeros((chains, len(names)))) / rows.counts * 10 ** rng.uniform(-1, 1, (chains, rows.kinds))
    run = _one_scale if rows.kinds == 1 and not np.any(labels < 0) else _several_scales
    z, squared = run(rows, start, warm_up + draws, rng)
    beta, scales = at.parameters(z[:, warm_up:]), np.sqrt(squared[:, warm_up:])
    return GibbsPosterior(
        tuple(names),
        beta,
        scales,
        split_rhat(beta),
        effective_number(beta),
        split_rhat(scales),
        effective_number(scales),
    )


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows [Q_c, r_c] of every class, reduced to their triangle: the same squares |r_c - Q_c z|^2, fewer rows.

    ``member`` (rows, classes) is 1 where a row belongs to a class; ``grams`` (classes + 1, p + 1, p + 1) are
    [Q_c, r_c]^T [Q_c, r_c], that of class -1 last.
    """

    system: Array
    member: Array
    grams: Array
    counts: Ints

    @property
    def kinds(self) -> int:
        return len(self.counts)

    @classmethod
    def of(cls, at: Basis, labels: Ints) -> _Rows:
        counts = np.bincount(labels[labels >= 0])
        joined = np.column_stack([at.q, at.residuals])
        every = [*range(len(counts)), -1]
        parts = [np.asarray(np.linalg.qr(joined[labels == c], mode="r")) for c in every]
        member = np.repeat(np.eye(len(every)), [len(part) for part in parts], axis=0)[:, :-1]
        return cls(np.concatenate(parts), member, np.array([part.T @ part for part in parts]), counts)

    def squares(self, z: Array) -> Array:
        """|r_c - Q_c z|^2 (chains, classes) of coordinates (chains, p)."""
        left = self.system[:, -1] - z @ self.system[:, :-1].T
        return np.asarray(left**2 @ self.member)


def _labels(classes: Ints | None, count: int) -> Ints:
    labels = np.zeros(count, dtype=np.int64) if classes is None else np.asarray(classes)
    if labels.shape != (count,) or labels.dtype.kind not in "iu" or labels.min() < -1:
        raise ShapeError(f"classes: give one whole number from -1 for each of the {count} readings", value=count)
    if labels.max() < 0:
        raise RangeError(
            "classes: no reading has a noise of unknown size; the covariance of least squares is exact",
            code="no-unknown-noise",
        )
    return labels.astype(np.int64)


def _check_noise(basis: Basis, labels: Ints, size: float) -> None:
    """Refuse scales that the readings do not bound, or so far apart that P is lost in rounding."""
    scales = [_own_scale(c, basis.q[labels == c], basis.residuals[labels == c], size) for c in range(labels.max() + 1)]
    if np.any(labels < 0):
        scales.append(1.0)
    if max(scales) > APART * min(scales):
        raise ImplausibleError(
            f"the noise of the classes differs {max(scales) / min(scales):.0e} times; divide every reading and its row "
            "by its noise first",
            value=max(scales) / min(scales),
        )


def _own_scale(c: int, q: Array, residuals: Array, size: float) -> float:
    """s_c of the class fitted alone; if it could be met exactly, the density of s_c is not integrable at zero."""
    if len(q) < 2:
        raise TooFewError(
            f"noise class {c} has {len(q)} readings, its size needs 2 or more; join it to another class",
            value=(c, len(q)),
        )
    z, _, rank, _ = np.linalg.lstsq(q, residuals, rcond=SMALLEST)
    if len(q) <= rank:
        raise TooFewError(
            f"the {len(q)} readings of noise class {c} fix {rank} combinations of parameters and leave none to show "
            "their noise; join the class to another",
            value=(len(q), c, rank),
        )
    left = float(np.linalg.norm(residuals - q @ z))
    if left <= ROUNDING * size:
        raise RangeError(
            f"the readings of noise class {c} have no noise at all; give it class -1 or real readings", value=c
        )
    return left / float(np.sqrt(len(q) - rank))


def _one_scale(rows: _Rows, squared: Array, total: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """All draws (chains, total, p) and s^2: z | s is s times a normal vector n, so only s^2 needs a loop,

    s_t^2 = (|r|^2 + s_t-1^2 |n_t|^2) / chi^2.
    """
    chains, p = len(squared), rows.system.shape[1] - 1
    z = rng.standard_normal((chains, total, p))
    chi = rng.chisquare(rows.counts[0], (total, chains))
    rest, lengths = float(np.sum(rows.system[:, -1] ** 2)), np.einsum("ctp,ctp->tc", z, z)
    scales = np.empty((total + 1, chains))
    scales[0] = squared[:, 0]
    for t in range(total):
        scales[t + 1] = (rest + scales[t] * lengths[t]) / chi[t]
    z *= np.sqrt(scales[:-1]).T[:, :, None]
    return z, np.ascontiguousarray(scales[1:].T)[:, :, None]


def _several_scales(rows: _Rows, squared: Array, total: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """All draws (chains, total, p) and s^2 (chains, total, classes), block by block."""
    z = np.empty((len(squared), total, rows.system.shape[1] - 1))
    scales = np.empty((len(squared), total, rows.kinds))
    for t in range(total):
        z[:, t] = _draw_coordinates(rows, squared, rng)
        scales[:, t] = squared = _draw_scales(rows, z[:, t], rng)
    return z, scales


def _draw_coordinates(rows: _Rows, squared: Array, rng: np.random.Generator) -> Array:
    """z | s (chains, p): z = P^-1 (sum_c Q_c^T r_c / s_c^2 + L n) with P = L L^T and n a normal vector."""
    chains, p = len(squared), rows.system.shape[1] - 1
    weights = 1 / np.concatenate([squared, np.ones((chains, 1))], axis=1)
    joined = (weights @ rows.grams.reshape(len(rows.grams), -1)).reshape(chains, p + 1, p + 1)
    precision = joined[:, :p, :p]
    noise = np.linalg.cholesky(precision) @ rng.standard_normal((chains, p, 1))
    return np.asarray(np.linalg.solve(precision, joined[:, :p, p:] + noise)[:, :, 0])


def _draw_scales(rows: _Rows, z: Array, rng: np.random.Generator) -> Array:
    """s_c^2 | z (chains, classes)."""
    return np.asarray(rows.squares(z) / rng.chisquare(rows.counts, (len(z), rows.kinds)))


SINGULAR = 1e10
CHUNK = 4_000_000  # numbers in the matrices that are solved at once: 32 MB


@dataclass(frozen=True, eq=False)
class Bootstrap(Draws):
    """``draws`` (B, p), one per resample; ``dropped`` more could not tell the parameters apart and are left out.

    Where many are dropped, the intervals are too short: the poor resamples are the widest.
    """

    dropped: int


def bootstrap(
    names: Sequence[str],
    matrix: Array,
    readings: Array,
    poses: Ints,
    *,
    always: Bools | None = None,
    rng: np.random.Generator,
    resamples: int = 2000,
) -> Bootstrap:
    """Refit ``resamples`` times; ``poses`` (m,) says which pose a reading belongs to.

    Rows in ``always`` (m,), such as priors, belong to no pose and count once in every resample.
    """
    at = basis(names, matrix, readings)
    labels = np.asarray(poses)
    if labels.shape != at.residuals.shape or labels.dtype.kind not in "iu":
        raise ShapeError(
            f"poses: give one whole number for each of the {len(at.residuals)} readings", value=len(at.residuals)
        )
    if resamples < 2:
        raise TooFewError("bootstrap: needs 2 resamples or more; 2000 is usual", code="few-resamples")
    rows = np.column_stack([at.q, at.residuals])
    fixed = np.zeros(len(labels), dtype=bool) if always is None else np.asarray(always, dtype=bool)
    grams = _grams(rows[~fixed], labels[~fixed])
    if len(grams) < 2:
        raise TooFewError("poses: all readings belong to one pose; a bootstrap over poses needs more", code="one-pose")
    counts = rng.multinomial(len(grams), np.full(len(grams), 1 / len(grams)), resamples)
    grams = np.concatenate([grams, (rows[fixed].T @ rows[fixed])[None]])
    counts = np.column_stack([counts, np.ones(resamples, dtype=counts.dtype)])
    step = max(1, CHUNK // grams[0].size)
    parts = [_solve(counts[i : i + step], grams) for i in range(0, resamples, step)]
    z = np.concatenate(parts)
    if len(z) < 2:
        raise TooFewError("no resample of the poses tells the parameters apart; measure more poses", code="no-resample")
    return Bootstrap(tuple(names), at.parameters(z), resamples - len(z))


def _grams(joined: Array, labels: Ints) -> Array:
    """[Q_i, r_i]^T [Q_i, r_i] (poses, p + 1, p + 1) of every pose."""
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order])) + 1
    return np.array([rows.T @ rows for rows in np.split(joined[order], starts)])


def _solve(counts: Ints, grams: Array) -> Array:
    """z of the resamples whose matrix has a condition up to 1e10."""
    p = grams.shape[1] - 1
    summed = (counts.astype(np.float64) @ grams.reshape(len(grams), -1)).reshape(-1, p + 1, p + 1)
    sizes = np.linalg.eigvalsh(summed[:, :p, :p])
    good = summed[sizes[:, 0] * SINGULAR > sizes[:, -1]]
    return np.asarray(np.linalg.solve(good[:, :p, :p], good[:, :p, p:])[:, :, 0])
