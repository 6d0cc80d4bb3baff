"""Random problems in blocks, and the same laws on dense matrices: one normal distribution of all readings at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag
from scipy.stats import multivariate_normal

from elastocal.solve.blocks import Blocks, Group, Noise, Scale

POINTS, SIZE = 2, 3


def random_problem(
    seed: int,
    blocks: int = 7,
    *,
    sizes: tuple[int, ...] = (3, 2, 4),
    power: float = 1.0,
    missing: float = 0.2,
    precision: bool = True,
    mean: bool = True,
    common: int = 2,
) -> Blocks:
    """Two points of three numbers in every block, white noise, noise that a block shares, groups with all options."""
    rng = np.random.default_rng(seed)
    rows, unknowns = POINTS * SIZE, sum(sizes)
    noise = [Noise(Scale("white", 0.3), np.broadcast_to(np.eye(rows), (blocks, rows, rows)))]
    noise += [
        Noise(Scale(f"common {i}", 0.2, 0.7, "common"), rng.normal(size=(blocks, rows, 1))) for i in range(common)
    ]
    groups, first = [], 0
    for i, n in enumerate(sizes):
        root = rng.normal(size=(n, n + 3))
        groups.append(
            Group(
                Scale(f"group {i}", 0.5 + i, 0.5 * (i + 1) if i else 4.0, "pool" if i else ""),
                np.arange(first, first + n),
                rng.normal(size=n) if mean and i != 1 else None,
                root @ root.T / n if precision and i != 0 else None,
            )
        )
        first += n
    used = rng.random((blocks, rows)) >= missing
    readings = np.where(used, rng.normal(size=(blocks, rows)), np.nan)
    jacobian = rng.normal(size=(blocks, rows, unknowns))
    parts = np.repeat(np.arange(POINTS), SIZE)
    return Blocks(readings, jacobian, used, tuple(noise), tuple(groups), power, parts)


@dataclass(frozen=True)
class Dense:
    """The numbers read, in one vector."""

    y: np.ndarray
    j: np.ndarray
    noise: np.ndarray
    prior_mean: np.ndarray
    prior: np.ndarray
    blocks: np.ndarray
    parts: np.ndarray

    @property
    def covariance(self) -> np.ndarray:
        return self.noise + self.j @ self.prior @ self.j.T

    def log_density(self) -> float:
        return float(multivariate_normal(self.j @ self.prior_mean, self.covariance).logpdf(self.y))

    def posterior(self) -> tuple[np.ndarray, np.ndarray]:
        """By ordinary least squares with the prior as further rows."""
        a = np.linalg.inv(np.linalg.cholesky(self.noise))
        b = np.linalg.inv(np.linalg.cholesky(self.prior))
        stacked = np.vstack([a @ self.j, b])
        aim = np.concatenate([a @ self.y, b @ self.prior_mean])
        return np.linalg.lstsq(stacked, aim, rcond=None)[0], np.linalg.inv(stacked.T @ stacked)

    def without(self, out: np.ndarray) -> Dense:
        keep = ~out
        own = np.ix_(keep, keep)
        return Dense(
            self.y[keep], self.j[keep], self.noise[own], self.prior_mean, self.prior, self.blocks[keep],
            self.parts[keep],
        )  # fmt: skip

    def left_out(self, out: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residual of some numbers and its covariance, after a fit to all others that knows the noise they share."""
        rest = self.without(out)
        theta, spread = rest.posterior()
        across = self.noise[np.ix_(out, ~out)] @ np.linalg.inv(rest.noise)
        slope = self.j[out] - across @ rest.j
        own = self.noise[np.ix_(out, out)] - across @ self.noise[np.ix_(~out, out)]
        off = self.y[out] - self.j[out] @ theta - across @ (rest.y - rest.j @ theta)
        return off, own + slope @ spread @ slope.T


def dense(problem: Blocks, log_scales: np.ndarray) -> Dense:
    """A power of the likelihood is noise that is larger by its root."""
    sd = np.exp(log_scales)
    used = problem.used
    noise = []
    for i in range(len(used)):
        s = sum((sd[len(problem.groups) + k] ** 2) * c.factor[i] @ c.factor[i].T for k, c in enumerate(problem.noise))
        noise.append(s[np.ix_(used[i], used[i])])
    prior = np.zeros((problem.jacobian.shape[2],) * 2)
    prior_mean = np.zeros(len(prior))
    for k, g in enumerate(problem.groups):
        own = np.eye(len(g.columns)) if g.precision is None else np.linalg.inv(g.precision)
        prior[np.ix_(g.columns, g.columns)] = sd[k] ** 2 * own
        prior_mean[g.columns] = 0.0 if g.mean is None else g.mean
    return Dense(
        problem.readings[used],
        problem.jacobian[used],
        block_diag(*noise) / problem.power,
        prior_mean,
        prior,
        np.nonzero(used)[0],
        np.broadcast_to(problem.parts if len(problem.parts) else np.zeros(used.shape[1]), used.shape)[used],
    )
