"""A physically possible estimate: least squares in which every compliance matrix stays positive semidefinite.

    min  |A x - y|^2 + |(x - x0) / sd|^2    with every block K_b(x) >= 0

A block is a square array of indices into x (-1: a zero by construction); one index alone is a number that must not be
negative.  Noise makes the plain estimate indefinite where an element is smaller than its error (003 eq. 16, 25).

Solved along the central path: with half the objective, the barrier -mu sum log det K_b and K_b = L L^T, a Newton
step d is the least-squares solution of

    [ T ; sqrt(mu) J_b ] d = [ t - T x ; sqrt(mu) vec I ],    J_b d = vec(L^-1 K_b(d) L^-T)

(T x = t the data and the prior as a triangle), so that nothing is squared.  The matrices mu K_b^-1 are multipliers
and bound how far the objective is above its minimum: ``gap``.  All inside this module is in K_b scaled by the nominal
diagonal, K_ij / sqrt(K0_ii K0_jj), which makes translations and rotations comparable.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastocal.errors import ConflictError, NumberError, RangeError, ShapeError
from elastocal.solve.linear import unit_qr
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

TOLERANCE = 1e-8
"""The gap that ends the search, in units of noise^2 (or as a part of the cost if that is above 1): 1e-4 of a standard
deviation."""
SHRINK = 0.03
STEPS = 400


@dataclass(frozen=True, eq=False)
class DefiniteFit:
    """``values`` are possible, ``free`` is the minimum without constraints.

    ``before`` and ``after`` are the smallest scaled eigenvalues of each block of ``free`` and ``values``, ``active``
    the blocks that are held at the edge.  ``cost`` is what the constraints add to the objective; the objective is
    above its minimum by at most ``gap`` (zero where nothing is active).
    """

    values: Array
    free: Array
    before: Array
    after: Array
    active: tuple[bool, ...]
    cost: float
    gap: float
    converged: bool


def fit_definite(
    matrix: Array, readings: Array, nominal: Array, sd: Array, blocks: Sequence[Ints], tolerance: float = TOLERANCE
) -> DefiniteFit:
    """Whitened ``matrix`` (m, p) and ``readings`` (m,); prior ``nominal`` (p,) with standard deviations ``sd`` (p,)."""
    x0, spread = np.asarray(nominal, dtype=np.float64), np.asarray(sd, dtype=np.float64)
    if not (np.all(np.isfinite(spread)) and np.all(spread > 0)):
        raise RangeError(
            "every parameter needs a finite positive prior standard deviation; it makes the estimate unique",
            code="prior-sd",
        )
    rows = np.vstack([np.column_stack([matrix, readings]), np.column_stack([np.diag(1 / spread), x0 / spread])])
    if not np.all(np.isfinite(rows)):
        raise NumberError(
            "readings, derivatives and nominal values must be finite numbers; leave the others out", code="not-finite"
        )
    whole = np.asarray(np.linalg.qr(rows, mode="r"), dtype=np.float64)[: len(x0)]
    maps = [_Block.build(np.asarray(b, dtype=np.int64), number, x0, spread) for number, b in enumerate(blocks, 1)]
    path = _Path(whole[:, :-1], whole[:, -1], maps)
    free = np.asarray(np.linalg.solve(path.triangle, path.target), dtype=np.float64)
    before = np.array([b.smallest(free) for b in maps])
    if np.all(before >= 0):
        return DefiniteFit(free, free, before, before, (False,) * len(maps), 0.0, 0.0, True)
    start = x0 if all(b.smallest(x0) > 1e-3 for b in maps) else _diagonal(maps, x0)
    x, mu, gap = path.follow(start, tolerance)
    after = np.array([b.smallest(x) for b in maps])
    cost = path.above(x)
    active = tuple(bool(v < np.sqrt(mu)) for v in after)
    return DefiniteFit(x, free, before, after, active, cost, gap, gap <= tolerance * max(1.0, cost))


@dataclass(frozen=True, eq=False)
class _Block:
    """K(x) = reshape(select x): scaled, without rows that are zero by construction."""

    n: int
    select: Array
    diagonal: Ints
    size: Array

    @classmethod
    def build(cls, index: Ints, number: int, nominal: Array, sd: Array) -> _Block:
        where = f"block {number}"
        if index.ndim != 2 or index.shape[0] != index.shape[1] or np.any(index != index.T):
            raise ShapeError(
                f"{where}: a block is a square symmetric array of indices, but has shape {index.shape}",
                value=index.shape,
            )
        if index.size and not (index.min() >= -1 and index.max() < len(nominal)):
            raise RangeError(
                f"{where}: indices must be from -1 to {len(nominal) - 1}, as there are {len(nominal)} values",
                value=(len(nominal) - 1, len(nominal)),
            )
        used = np.flatnonzero(np.any(index >= 0, axis=1))
        index = index[np.ix_(used, used)]
        diagonal = np.diag(index)
        if np.any(diagonal < 0) or np.intersect1d(diagonal, index[~np.eye(len(index), dtype=bool)]).size:
            raise ConflictError(
                f"{where}: every diagonal element must be a parameter that is not off the diagonal too", code="diagonal"
            )
        size = np.where(nominal[diagonal] > 0, nominal[diagonal], sd[diagonal])
        root = np.sqrt(size)
        select = np.zeros((index.size, len(nominal)))
        entries = np.flatnonzero(index.ravel() >= 0)
        select[entries, index.ravel()[entries]] = (1 / np.outer(root, root)).ravel()[entries]
        return cls(len(index), select, diagonal, size)

    def at(self, x: Array) -> Array:
        return np.asarray((self.select @ x).reshape(self.n, self.n))

    def smallest(self, x: Array) -> float:
        return float(np.linalg.eigvalsh(self.at(x))[0]) if self.n else 0.0


def _diagonal(maps: Sequence[_Block], nominal: Array) -> Array:
    """A definite start for any nominal values: every block scaled is the identity."""
    x = nominal.copy()
    for b in maps:
        x[np.any(b.select != 0, axis=0)] = 0.0
    for b in maps:
        x[b.diagonal] = np.maximum(x[b.diagonal], b.size)
    return x


@dataclass(frozen=True, eq=False)
class _Path:
    """Half the objective is |triangle x - target|^2 / 2 above its free minimum."""

    triangle: Array
    target: Array
    maps: list[_Block]

    def above(self, x: Array) -> float:
        return float(np.sum((self.triangle @ x - self.target) ** 2))

    def follow(self, x: Array, tolerance: float) -> tuple[Array, float, float]:
        """Down the central path: the last centred point, its mu and its gap (for the whole objective)."""
        order = sum(b.n for b in self.maps)
        mu = max(self.above(x), tolerance) / (2 * order)
        best = (x, mu, np.inf)
        for _ in range(STEPS):
            try:
                inverses = [np.linalg.inv(np.linalg.cholesky(b.at(x))) for b in self.maps]
            except np.linalg.LinAlgError:
                break  # the edge is reached to rounding: the last centred point stands
            step, stretch, decrement = self._newton(x, inverses, mu)
            x = x + self._length(x, step, stretch, mu) * step
            if decrement < 1e-6 * mu:
                best = (x, mu, self._gap(x, mu))
                if 2 * order * mu <= 0.5 * tolerance * max(1.0, self.above(x)):
                    break
                mu *= SHRINK
        return best

    def _newton(self, x: Array, inverses: list[Array], mu: float) -> tuple[Array, Array, float]:
        """The step, the eigenvalues of L^-1 K(step) L^-T of all blocks, and the squared Newton decrement."""
        push = [np.kron(i, i) @ b.select for i, b in zip(inverses, self.maps, strict=True)]
        ones = [np.eye(b.n).ravel() for b in self.maps]
        rows = np.vstack([self.triangle, *(np.sqrt(mu) * j for j in push)])
        right = np.concatenate([self.target - self.triangle @ x, *(np.sqrt(mu) * o for o in ones)])
        step = unit_qr(rows).solve(right)
        bends = [(j @ step).reshape(b.n, b.n) for j, b in zip(push, self.maps, strict=True)]
        stretch = np.concatenate([np.linalg.eigvalsh((s + s.T) / 2) for s in bends])
        along = self.triangle @ step
        return step, stretch, float(along @ along + mu * (stretch @ stretch))

    def _length(self, x: Array, step: Array, stretch: Array, mu: float) -> float:
        """Where the objective with barrier is least along the step: its slope halved in between 0 and the edge."""
        along = self.triangle @ step
        slope0, bend = float(along @ (self.triangle @ x - self.target)), float(along @ along)
        low, high = 0.0, min(2.0, 0.999 / max(-float(stretch.min()), 1e-300))
        for _ in range(50):
            a = (low + high) / 2
            rising = slope0 + a * bend - mu * float(np.sum(stretch / (1 + a * stretch))) > 0
            low, high = (low, a) if rising else (a, high)
        return (low + high) / 2

    def _gap(self, x: Array, mu: float) -> float:
        """2 (sum <S_b, K_b> + r^T (T^T T)^-1 r / 2) with S_b = mu K_b^-1 and r what is left of the stationarity."""
        from scipy.linalg import solve_triangular

        gradient = self.triangle.T @ (self.triangle @ x - self.target)
        for b in self.maps:
            gradient = gradient - mu * b.select.T @ np.linalg.inv(b.at(x)).ravel()
        left = solve_triangular(self.triangle, gradient, trans="T")
        return float(2 * mu * sum(b.n for b in self.maps) + left @ left)
