"""Posterior of the unknowns at given scales, and the log marginal likelihood of the readings with its gradient.

With r = y - J m (m the prior mean), S the noise, P the prior precision, H = J^T S^-1 J + P, b = J^T S^-1 r,

    theta = m + H^-1 b
    ev    = -1/2 [ r^T S^-1 r - b^T H^-1 b + log|S| + log|H| - log|P| ]                              (evidence)
    d ev/d log s_g     = ((theta_g - m_g)^T K_g (theta_g - m_g) + tr K_g H^-1_gg) / s_g^2 - n_g          (scale)
    d ev/d log sigma_c = sum_i z_i^T D_i z_i - tr S_i^-1 D_i + tr D_i S_i^-1 J_i H^-1 J_i^T S_i^-1        (noise)

with z = S^-1 (y - J theta) and D = sigma_c^2 B B^T.  A ``power`` w multiplies the log likelihood: S^-1 becomes w S^-1
and log|S| becomes w log|S|.  (MacKay, Neural Computation 4, 1992, 415-447.)
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from elastocal.solve.blocks import Blocks, Cells
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

SMALL = 32
"""Size of a triangle that LAPACK inverts as it would any matrix."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """The unknowns at given scales: ``mean`` (p,), and the lower Cholesky ``factor`` L (p, p) of H."""

    blocks: Blocks
    log_scales: Array
    whitened: Whitened
    mean: Array
    factor: Array
    half: Array
    """L^-1 (p, p), so that half^T half is the covariance."""
    evidence: float
    left: Array
    """Residuals of the rows of ``whitened`` at the mean, in units of noise."""

    @cached_property
    def white(self) -> Array:
        """The same of the blocks (N, R)."""
        return self.whitened.cells.whole(self.left)

    @cached_property
    def inverse(self) -> Array:
        """Inverse Cholesky factors (N, R, R) of the blocks' noise; rows of what was not read are zero."""
        return self.whitened.cells.tied(self.whitened.inverse)

    @cached_property
    def covariance(self) -> Array:
        """H^-1 (p, p)."""
        return np.asarray(self.half.T @ self.half)

    @cached_property
    def effective(self) -> float:
        """Effective number of parameters, p - tr H^-1 P."""
        return float(len(self.mean) - sum(self.shares))

    @cached_property
    def shares(self) -> Array:
        """Of every group how many of its unknowns the prior decides, tr(K H^-1) / s^2; the rest the readings do."""
        return _shares(self.blocks, self.log_scales, self.half)


def posterior(blocks: Blocks, log_scales: Array, near: Posterior | None = None) -> Posterior:
    """Solve at given scales; ``near`` may be of the same rows with the same noise and other priors."""
    same = near is not None and near.whitened.serves(blocks, log_scales)
    white = near.whitened if near is not None and same else whitened(blocks, log_scales)
    return _solved_whitened(blocks, log_scales, white)


def objective(post: Posterior, there: Blocks, theta: Array) -> float:
    """-2 log posterior at given unknowns of a problem linearised ``there``, with noise and scales of one ``post``.

    Of this Gauss-Newton steps are steps downhill, also where the noise depends on where it is linearised."""
    off = np.where(there.used, there.readings - there.jacobian @ theta, 0.0)
    change = theta - there.mean
    prior = float(change @ prior_precision(there, post.log_scales)[0] @ change)
    return there.power * float(np.sum((post.inverse @ off[:, :, None]) ** 2)) + prior


@dataclass(frozen=True, eq=False)
class Evidence:
    """Log marginal likelihood plus hyperprior at given scales, and its gradient by their logarithms."""

    blocks: Blocks
    log_scales: Array
    value: float
    gradient: Array
    half: Array
    """L^-1 (p, p) of H = L L^T."""
    solved: Posterior | None
    """None where it was not needed: the noise has one scale, by which alone it differs."""

    @cached_property
    def posterior(self) -> Posterior:
        return self.solved or posterior(self.blocks, self.log_scales)

    @cached_property
    def information(self) -> Array:
        """Expected curvature (k, k) of the evidence by the logarithms of the scales, where these are right.

        With X = P H^-1, groups have 2 (n_g - 2 tr X_gg) [g = h] + 2 tr X_gh X_hg; parts of the noise
        2 tr S^-1 D_c S^-1 D_d less the share of the readings that the unknowns take.  Between groups and noise it is
        left out.
        """
        blocks, first = self.blocks, len(self.blocks.groups)
        x = _times_prior(blocks, self.log_scales, self.half.T @ self.half)
        of_group = np.zeros((first, len(x)))
        for i, g in enumerate(blocks.groups):
            of_group[i, g.columns] = 1.0
        out = np.zeros((len(self.log_scales), len(self.log_scales)))
        out[:first, :first] = 2 * of_group @ (x * x.T) @ of_group.T
        shares = of_group @ np.diag(x)
        out[np.arange(first), np.arange(first)] += 2 * (blocks.widths - 2 * shares)
        left = max(0.1, 1 - (len(x) - float(shares.sum())) / max(blocks.power * blocks.count, 1.0))
        out[first:, first:] = 2 * blocks.power * left * self._noise_squares()
        return out

    def _noise_squares(self) -> Array:
        """tr S^-1 D_c S^-1 D_d (c, c): the sum of squares of Z_c^T Z_d, Z = L^-1 B, which have few columns."""
        if len(self.blocks.noise) == 1:
            return np.array([[float(self.blocks.count)]])
        white = self.posterior.whitened
        cells = white.cells.blocks
        z, begins = white.inverse @ cells.sized_factors(self.log_scales), cells.begins
        squares = ((z.transpose(0, 2, 1) @ z) ** 2).sum(axis=0)
        return np.asarray(np.add.reduceat(np.add.reduceat(squares, begins, axis=0), begins, axis=1))


def evidence(blocks: Blocks, log_scales: Array) -> Evidence:
    """At given scales."""
    if len(blocks.noise) > 1:
        return evidence_at(posterior(blocks, log_scales))
    value, gradient, half = _one_noise(blocks, log_scales)
    return _with_hyperprior(blocks, log_scales, value, gradient, half, None)


def evidence_at(post: Posterior) -> Evidence:
    """At the scales of what is solved already."""
    return _with_hyperprior(post.blocks, post.log_scales, post.evidence, _slopes(post), post.half, post)


def _with_hyperprior(
    blocks: Blocks, log_scales: Array, value: float, gradient: Array, half: Array, solved: Posterior | None
) -> Evidence:
    penalty, slope = blocks.log_penalty(log_scales)
    return Evidence(blocks, log_scales, value + penalty, np.where(blocks.free, gradient + slope, 0.0), half, solved)


def evidence_of_group(post: Posterior, group: int, log_s: Array) -> Array:
    """Evidence (m,) at m other scales of one group, all else as ``post``; the hyperprior is not in it.

    With c the eigenvalues of what readings tell of the group beside all other unknowns, in units of its prior at scale
    one, and z the pull of the readings along their vectors where the group is at its prior mean, the evidence exceeds
    that without the group by 1/2 sum [s^2 z^2 / (1 + s^2 c) - log(1 + s^2 c)].  Nothing of what the prior says is
    subtracted again, so that a group that was nothing can be judged too.
    """
    blocks, own = post.blocks, post.blocks.groups[group].columns
    read = post.whitened.cells.blocks.read
    rows = post.whitened.rows[read]
    tied = np.linalg.solve(post.covariance[np.ix_(own, own)], post.covariance[own])
    beside = post.covariance - post.covariance[:, own] @ tied  # of the others, without the group
    left = post.left[read] + rows @ (tied.T @ (post.mean - blocks.mean)[own])
    cross = blocks.power * (rows.T @ rows[:, own])
    k = blocks.groups[group].precision
    root = np.eye(len(own)) if k is None else np.linalg.inv(np.linalg.cholesky(k)).T
    c, v = np.linalg.eigh(root.T @ (cross[own] - cross.T @ beside @ cross) @ root)
    z = blocks.power * (v.T @ (root.T @ (rows[:, own].T @ left)))
    square = np.exp(2 * np.append(log_s, post.log_scales[group]))[:, None]
    grown = square * np.maximum(c, 0.0)
    gain = 0.5 * np.sum(square * z**2 / (1 + grown) - np.log1p(grown), axis=1)
    return np.asarray(post.evidence + gain[:-1] - gain[-1])


def noise_covariance(blocks: Blocks, log_scales: Array) -> Array:
    """S (N, R, R), the identity in places of what was not read."""
    sized = blocks.sized_factors(log_scales)
    s = sized @ sized.transpose(0, 2, 1)
    np.einsum("nrr->nr", s)[~blocks.used] = 1.0
    return s


def noise_factors(blocks: Blocks, log_scales: Array) -> tuple[Array, float]:
    """Inverse Cholesky factors (N, R, R) of S, zero in rows not read, and the sum of log|S|."""
    if blocks.variances is not None:
        n, r, _ = blocks.shape
        variance = np.where(
            blocks.used, (np.exp(2 * log_scales[len(blocks.groups) :]) @ blocks.variances).reshape(n, r), 1.0
        )
        inverse = np.zeros((n, r, r))
        np.einsum("nrr->nr", inverse)[:] = blocks.used / np.sqrt(variance)
        return inverse, float(np.log(variance).sum())
    s = noise_covariance(blocks, log_scales)
    lower = np.linalg.cholesky(s)
    log_det = 2 * float(np.log(np.einsum("nrr->nr", lower)).sum())
    return np.linalg.inv(lower) * blocks.used[:, :, None], log_det


def prior_precision(blocks: Blocks, log_scales: Array) -> tuple[Array, float]:
    """P (p, p) and log|P| of the groups."""
    p = blocks.shape[2]
    out, own = np.zeros((p, p)), log_scales[: len(blocks.groups)]
    size = np.exp(-2 * own)
    for i, tied, k in blocks.tied:
        out[tied[:, None], tied] = k * size[i]
    columns, owner, precision = blocks.untied
    out[columns, columns] = precision * size[owner]
    return out, blocks.log_det - 2 * float(blocks.widths @ own)


def _times_prior(blocks: Blocks, log_scales: Array, matrix: Array) -> Array:
    """P times a matrix (p, p): most rows of P are a number on the diagonal."""
    out, size = np.zeros_like(matrix), np.exp(-2 * log_scales[: len(blocks.groups)])
    for i, tied, k in blocks.tied:
        out[tied] = size[i] * (k @ matrix[tied])
    columns, owner, precision = blocks.untied
    out[columns] = (precision * size[owner])[:, None] * matrix[columns]
    return out


def _factored(h: Array) -> Array:
    """Lower Cholesky factor of H, its columns brought to unit size first.

    Readings without noise beside flat priors leave directions that rounding makes negative; these get the least
    precision that can be told from it.
    """
    unit = 1 / np.sqrt(np.diag(h))
    scaled = h * unit * unit[:, None]
    for least in (0.0, 1e-14, 1e-12, 1e-10):
        scaled.flat[:: len(h) + 1] = 1.0 + least
        try:
            return np.asarray(np.linalg.cholesky(scaled) / unit[:, None])
        except np.linalg.LinAlgError:
            continue
    raise np.linalg.LinAlgError("the problem is not positive definite")


def inverse_triangle(factor: Array) -> Array:
    """Inverse of a lower triangle, [A 0; B C]^-1 = [A^-1 0; -C^-1 B A^-1 C^-1]: importing SciPy's would take longer
    than a calibration has use for it."""
    if len(factor) <= SMALL:
        return np.asarray(np.linalg.inv(factor))
    m = len(factor) // 2
    upper, lower = inverse_triangle(factor[:m, :m]), inverse_triangle(factor[m:, m:])
    out = np.zeros_like(factor)
    out[:m, :m], out[m:, m:], out[m:, :m] = upper, lower, -lower @ (factor[m:, :m] @ upper)
    return out


@dataclass(frozen=True, eq=False)
class Whitened:
    """Rows of ``blocks`` in units of their noise: ``rows`` (m, p) and ``readings`` (m,), L^-1 J and L^-1 y, and
    ``inverse`` (C, r, r), L^-1, all of its ``cells``."""

    blocks: Blocks
    cells: Cells
    sizes: Array
    """Logarithms of the scales of the noise."""
    rows: Array
    readings: Array
    inverse: Array
    log_det: float

    @cached_property
    def gram(self) -> Array:
        """J^T S^-1 J (p, p)."""
        read = self.rows[self.cells.blocks.read]
        return np.asarray(read.T @ read)

    def misfit(self, mean: Array) -> Array:
        """L^-1 (y - J m) (m,)."""
        return np.asarray(self.readings - self.rows @ mean)

    def serves(self, blocks: Blocks, log_scales: Array) -> bool:
        """Whether other blocks have the same rows, and the same noise at these scales."""
        own = self.blocks
        same = own.readings is blocks.readings and own.jacobian is blocks.jacobian and own.noise is blocks.noise
        sizes = log_scales[len(blocks.groups) :]
        return same and np.array_equal(own.used, blocks.used) and np.array_equal(self.sizes, sizes)


def whitened(blocks: Blocks, log_scales: Array) -> Whitened:
    split = blocks.cells
    cells = split.blocks
    n, r, p = cells.shape
    inverse, log_s = noise_factors(cells, log_scales)
    rows = _times(cells, inverse, cells.jacobian).reshape(n * r, p)
    readings = np.where(cells.used, cells.readings, 0.0)[:, :, None]
    white = _times(cells, inverse, readings).reshape(n * r)
    return Whitened(blocks, split, log_scales[len(blocks.groups) :], rows, white, inverse, log_s)


def _times(blocks: Blocks, inverse: Array, rows: Array) -> Array:
    """Inverse factors times rows (N, R, k): of most problems they are numbers on the diagonal."""
    if blocks.variances is None:
        return inverse @ rows
    return np.asarray(np.einsum("nrr->nr", inverse)[:, :, None] * rows)


def posterior_of_sums(blocks: Blocks, log_scales: Array, gram: Array, pull: Array) -> Posterior:
    """From the sums J^T S^-1 J and J^T S^-1 r of any number of ``Whitened`` problems; ``blocks`` has their priors."""
    prior, _ = prior_precision(blocks, log_scales)
    factor = _factored(blocks.power * gram + prior)
    half = inverse_triangle(factor)
    mean = blocks.mean + half.T @ (half @ (blocks.power * pull))
    _, r, p = blocks.shape
    none = Whitened(blocks, blocks.cells, log_scales[:0], np.zeros((0, p)), np.zeros(0), np.zeros((0, r, r)), 0.0)
    return Posterior(blocks, log_scales, none, mean, factor, half, float("nan"), np.zeros(0))


def _solved_whitened(blocks: Blocks, log_scales: Array, white: Whitened) -> Posterior:
    w = blocks.power
    prior, log_p = prior_precision(blocks, log_scales)
    factor, misfit = _factored(w * white.gram + prior), white.misfit(blocks.mean)
    b = w * (white.rows.T @ misfit)
    half = inverse_triangle(factor)
    change = half.T @ (half @ b)
    left = misfit - white.rows @ change
    value = _log_evidence(w * (float(misfit @ misfit) + white.log_det), float(b @ change), factor, log_p)
    return Posterior(blocks, log_scales, white, blocks.mean + change, factor, half, value, left)


def _log_evidence(misfit: float, explained: float, factor: Array, log_p: float) -> float:
    return -0.5 * (misfit - explained + 2 * float(np.log(np.diag(factor)).sum()) - log_p)


def _group_slopes(blocks: Blocks, log_scales: Array, change: Array, half: Array) -> tuple[Array, float]:
    """Derivatives by the scales of the groups, and the effective number of parameters."""
    share, count = _shares(blocks, log_scales, half), len(blocks.groups)
    columns, owner, precision = blocks.untied
    square = np.bincount(owner, precision * change[columns] ** 2, count)
    for i, tied, k in blocks.tied:
        off = change[tied]
        square[i] = float(off @ k @ off)
    return square * np.exp(-2 * log_scales[:count]) + share - blocks.widths, float(len(change) - share.sum())


def _shares(blocks: Blocks, log_scales: Array, half: Array) -> Array:
    """tr(K H^-1) / s^2 of every group."""
    variance, count = np.einsum("ij,ij->j", half, half), len(blocks.groups)
    columns, owner, precision = blocks.untied
    out = np.bincount(owner, precision * variance[columns], count)
    for i, tied, k in blocks.tied:
        own = half[:, tied]
        out[i] = float(np.sum((own @ k) * own))
    return np.asarray(out * np.exp(-2 * log_scales[:count]))


def _slopes(post: Posterior) -> Array:
    """Derivatives of the evidence by all scales."""
    blocks, first = post.blocks, len(post.blocks.groups)
    gradient = np.zeros(len(post.log_scales))
    gradient[:first], effective = _group_slopes(blocks, post.log_scales, post.mean - blocks.mean, post.half)
    if len(blocks.noise) == 1:
        gradient[first] = blocks.power * (float(post.left @ post.left) - blocks.count) + effective
        return gradient
    inverse, cells = post.whitened.inverse, post.whitened.cells.blocks
    n, r, p = cells.shape
    spread, left = np.zeros((n, r, p)), post.left.reshape(n, r)
    spread.reshape(n * r, p)[cells.read] = post.whitened.rows[cells.read] @ post.half.T
    # z z^T - 1 + L^-1 J H^-1 J^T L^-T of every block, of which each part of the noise takes its own trace
    pull = left[:, :, None] * left[:, None, :] + spread @ spread.transpose(0, 2, 1) - np.eye(r)
    felt = inverse.transpose(0, 2, 1) @ pull @ inverse
    sized = cells.sized_factors(post.log_scales)
    gradient[first:] = blocks.power * np.add.reduceat(((felt @ sized) * sized).sum(axis=(0, 1)), cells.begins)
    return gradient


def _one_noise(blocks: Blocks, log_scales: Array) -> tuple[float, Array, Array]:
    """Evidence, its derivatives and L^-1 where S has one scale: the rows enter by their Gram matrix, computed once."""
    gram, pull, square, log_s, count = blocks.unit_gram
    first, log_sigma = len(blocks.groups), log_scales[-1]
    w = blocks.power * np.exp(-2 * log_sigma)
    prior, log_p = prior_precision(blocks, log_scales)
    factor = _factored(w * gram + prior)
    half = inverse_triangle(factor)
    b = w * pull
    change = half.T @ (half @ b)
    left = square - 2 * float(change @ pull) + float(change @ gram @ change)
    value = _log_evidence(w * square + blocks.power * (log_s + 2 * count * log_sigma), float(b @ change), factor, log_p)
    gradient = np.zeros(len(log_scales))
    gradient[:first], effective = _group_slopes(blocks, log_scales, change, half)
    gradient[first] = w * left - blocks.power * count + effective
    return value, gradient, half
