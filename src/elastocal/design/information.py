"""What each candidate tells: a block of whitened rows A_c (k, p), and what is known before.

    information of a plan = P + sum over the members c of A_c^T A_c

with P the information of an earlier campaign or of priors.  Some of the p parameters may be nuisances: they are
estimated with the others, and no criterion asks how well.

Searches work in coordinates in which the mean information is the identity.  With R the triangle of all rows,
R^T R = sum_c A_c^T A_c / M + P, the parameters are x = T y, T = R^-1 (by QR, never from the information itself).  In y
any reasonable plan is well conditioned, whatever the units, so that searches may work with informations, and a part of
the identity is a fair ridge.  Rows that say nothing new are dropped: nine readings of a rigid tool are six
combinations.

Leading combinations are those that readings can tell from their prior, in place of all parameters.

With a prior on every parameter, theta = L z with z ~ N(0, I), most of z moves no reading by a share of its noise worth
speaking of, and moves no prediction either.  Nuisances nu (where instrument and markers are) take what they can,

    A_c L z + B_c nu = (A_c L - B_c G) z + B_c (nu + G z),    G the least squares of all candidates,

and the singular vectors of what is left are kept down to where all others together move a reading by less than
``NOISE`` of its standard deviation.  The search is then one for some 60 unknowns; the plan that it ends with is judged
by all of them (``whole``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Self

import numpy as np

from elastocal.design.knowledge import Coordinates, Knowledge, inverse_triangle, known
from elastocal.errors import NumberError, RangeError, ShapeError, TooFewError, UnobservableError
from elastocal.solve.identifiability import decide_rank, stacked_triangle
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

CHUNK = 4096
"""Candidates that are worked on together."""
NEGLIGIBLE = 1e-9
"""Rows shorter than this part of the longest are dropped: their information is 1e-18 of it."""
TOUCH = 1e-7

ROUNDING = 1e-10
"""Negative eigenvalues of a prior up to this part of the largest (unit diagonal) are rounding."""


@dataclass(frozen=True, eq=False)
class CandidateRows:
    """``blocks`` (M, k, p) and ``prior`` (p, p); ``nuisance`` are places among the parameters, ``names`` for errors.

    The last ``common`` columns are unknowns of the campaign, the others parameters of the robot.
    """

    blocks: Array
    prior: Array | None = None
    nuisance: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    common: int = 0

    def __post_init__(self) -> None:
        if self.blocks.ndim != 3 or 0 in self.blocks.shape:
            raise ShapeError(
                f"candidates: give blocks of rows (M, k, p), not an array of shape {self.blocks.shape}",
                value=self.blocks.shape,
            )
        if not np.all(np.isfinite(self.blocks)):
            bad = int(np.argwhere(~np.isfinite(self.blocks))[0, 0])
            raise NumberError(f"candidate {bad}: its rows must be finite numbers; leave it out", value=bad)
        p = self.parameters
        if self.names and len(self.names) != p:
            raise ShapeError(
                f"candidates: {len(self.names)} names for {p} parameters; give one for each", value=(len(self.names), p)
            )
        if any(not 0 <= i < p for i in self.nuisance) or len(set(self.nuisance)) != len(self.nuisance):
            raise RangeError(
                f"nuisances {self.nuisance}: give different places from 0 to {p - 1}", value=(self.nuisance, p - 1)
            )
        if len(self.nuisance) == p:
            raise TooFewError(
                "every parameter is called a nuisance; leave at least one to be sought", code="all-nuisances"
            )
        _ = self.prior_rows

    @property
    def parameters(self) -> int:
        return int(self.blocks.shape[2])

    @property
    def own(self) -> tuple[str, ...]:
        """Names of the robot's parameters."""
        return self.names[: self.parameters - self.common]

    def widened(self, columns: Array) -> Array:
        """Columns (..., parameters of the robot) with zeros for the unknowns of the campaign."""
        return np.concatenate([columns, np.zeros((*columns.shape[:-1], self.common))], axis=-1)

    def name(self, i: int) -> str:
        return self.names[i] if self.names else f"parameter {i}"

    @cached_property
    def order(self) -> Ints:
        """Places of the parameters with the nuisances first."""
        rest = [i for i in range(self.parameters) if i not in self.nuisance]
        return np.array([*sorted(self.nuisance), *rest], dtype=np.int64)

    @cached_property
    def prior_rows(self) -> Array:
        """Rows whose squares are the prior, P = rows^T rows, (r, p) with r its rank."""
        p = self.parameters
        if self.prior is None:
            return np.zeros((0, p))
        if self.prior.shape != (p, p) or not np.all(np.isfinite(self.prior)):
            raise ShapeError(
                f"prior information: give a matrix of {p} x {p} finite numbers, one row per parameter", value=p
            )
        size = np.sqrt(np.abs(np.diag(self.prior)))
        unit = np.where(size > 0, size, 1.0)
        even = self.prior / np.outer(unit, unit)
        values, vectors = np.linalg.eigh((even + even.T) / 2)
        if not np.allclose(even, even.T, rtol=0, atol=ROUNDING) or values[0] < -ROUNDING * max(values[-1], 1.0):
            raise RangeError(
                "prior information: the matrix must be symmetric without negative eigenvalues", code="prior-information"
            )
        kept = values > p * np.finfo(float).eps * max(values[-1], 0.0)
        return np.asarray(np.sqrt(values[kept])[:, None] * vectors[:, kept].T * unit)

    def information(self, chosen: Sequence[int]) -> Array:
        """P + sum of A_c^T A_c, (p, p); a candidate named twice counts twice."""
        rows = self.rows(chosen)
        return np.asarray(rows.T @ rows)

    def rows(self, chosen: Sequence[int]) -> Array:
        """Rows of the prior, then those of the candidates chosen."""
        taken = self.blocks[np.asarray(chosen, dtype=np.int64)].reshape(-1, self.parameters)
        return np.concatenate([self.prior_rows, taken])

    def knowing(self, information: Array) -> Self:
        """The same candidates after an earlier campaign whose information (p, p) adds to the prior."""
        return replace(self, prior=information if self.prior is None else self.prior + information)


class OpenPlanError(UnobservableError):
    """A plan leaves a combination of parameters open."""


@dataclass(frozen=True, eq=False)
class Space:
    """``chunks`` of rows (p, k, n), candidates last; ``prior`` (p, p); both in y."""

    chunks: tuple[Array, ...]
    prior: Array
    coordinates: Coordinates

    @property
    def k(self) -> int:
        return int(self.chunks[0].shape[1])

    @cached_property
    def count(self) -> int:
        return sum(c.shape[2] for c in self.chunks)

    @cached_property
    def starts(self) -> Ints:
        """Number of the first candidate of every chunk."""
        return np.cumsum([0, *(c.shape[2] for c in self.chunks[:-1])])

    @cached_property
    def _blocks(self) -> dict[int, Array]:
        return {}

    def block(self, c: int) -> Array:
        """A_c (k, p); kept, since members are asked for again and again."""
        block = self._blocks.get(c)
        if block is None:
            i = int(np.searchsorted(self.starts, c, side="right")) - 1
            block = self._blocks[c] = np.array(self.chunks[i][:, :, c - self.starts[i]].T)
        return block

    def rows(self, at: Ints) -> Array:
        """Rows (p, k, n) of some candidates, numbers ascending."""
        parts = np.split(at, np.searchsorted(at, self.starts[1:]))
        chunks = zip(self.chunks, parts, self.starts, strict=True)
        return np.concatenate([chunk[:, :, part - start] for chunk, part, start in chunks], axis=2)

    def information(self, members: Sequence[int]) -> Array:
        """M (p, p) of some members and the prior."""
        if not len(members):
            return self.prior
        rows = np.concatenate([self.block(c) for c in members])
        return np.asarray(self.prior + rows.T @ rows)

    def known(self, members: Sequence[int]) -> Knowledge:
        return known(self.information(members), self.coordinates)


def space_of(candidates: CandidateRows) -> Space:
    """Refuses parameters that all candidates together do not tell apart, and names them."""
    coordinates = _coordinates(candidates)
    turned = _compressed(candidates.blocks @ coordinates.transform)
    pieces = np.split(turned, range(CHUNK, len(turned), CHUNK))
    chunks = tuple(np.ascontiguousarray(piece.transpose(2, 1, 0)) for piece in pieces)
    prior = candidates.prior_rows @ coordinates.transform
    return Space(chunks, prior.T @ prior, coordinates)


def known_by_rows(candidates: CandidateRows, chosen: Sequence[int], coordinates: Coordinates) -> Knowledge:
    """By QR of the rows of a plan; refuses a plan that leaves a combination open."""
    rows = candidates.rows(chosen) @ coordinates.transform
    triangle = stacked_triangle([rows, np.zeros(coordinates.transform.shape)], coordinates.transform.shape[1])
    rank = decide_rank(triangle, np.ones(len(triangle)))
    if rank.rank < len(triangle):
        null = coordinates.transform @ (rank.null / rank.lengths[:, None])
        lost = _touched(candidates, null / _sizes(coordinates)[:, None])
        raise OpenPlanError(
            f"the plan found does not tell {lost} apart; measure more or seek fewer parameters", value=lost
        )
    return Knowledge(inverse_triangle(triangle), coordinates)


def _sizes(coordinates: Coordinates) -> Array:
    """Size (p,) of a change of each parameter that one candidate of mean information would just show."""
    return np.asarray(np.linalg.norm(coordinates.transform, axis=1))


def _coordinates(candidates: CandidateRows) -> Coordinates:
    blocks, order = candidates.blocks, candidates.order
    p, step = candidates.parameters, max(1, 20_000 // blocks.shape[1])
    pieces = (blocks[i : i + step].reshape(-1, p) for i in range(0, len(blocks), step))
    stacked = stacked_triangle(pieces, p) / np.sqrt(len(blocks))
    triangle = stacked_triangle([np.concatenate([stacked, candidates.prior_rows])[:, order], np.zeros((p, p))], p)
    lengths = np.linalg.norm(triangle, axis=0)
    rank = decide_rank(triangle, 1 / np.where(lengths > 0, lengths, 1.0))
    hidden = [candidates.name(int(order[i])) for i in np.flatnonzero(lengths == 0)]
    if hidden:
        raise UnobservableError(
            f"no candidate depends on {', '.join(hidden)}; leave it out or allow other candidates", value=tuple(hidden)
        )
    if rank.rank < p:
        back = np.argsort(order)
        lost = _touched(candidates, rank.null[back])
        raise UnobservableError(
            f"all candidates together do not tell {lost} apart; keep fewer or allow other candidates", value=lost
        )
    transform = np.zeros((p, p))
    transform[order] = inverse_triangle(triangle / lengths) / lengths[:, None]
    return Coordinates(transform, order, len(candidates.nuisance))


def _touched(candidates: CandidateRows, null: Array) -> str:
    """Names of the parameters that directions (p, n), in sizes that matter, touch."""
    part = np.linalg.norm(null, axis=1)
    return ", ".join(candidates.name(int(i)) for i in np.flatnonzero(part > TOUCH * part.max()))


def _compressed(blocks: Array) -> Array:
    """Rows turned so that those without information can go; a sample tells whether any can."""
    k = blocks.shape[1]
    sample = blocks[:: max(1, len(blocks) // 50)]
    sizes = np.linalg.svd(sample, compute_uv=False)
    most = int(np.max(np.sum(sizes > NEGLIGIBLE * sizes.max(), axis=1)))
    if most == k:
        return blocks
    vectors = np.linalg.eigh(blocks @ blocks.swapaxes(1, 2))[1]
    turned = vectors[:, :, ::-1].swapaxes(1, 2) @ blocks
    lengths = np.linalg.norm(turned, axis=2).max(axis=0)
    return np.asarray(turned[:, : 1 + int(np.flatnonzero(lengths > NEGLIGIBLE * lengths.max())[-1])])


NOISE = 0.1
"""Share of the noise of a reading by which all that is left out may move it together (root mean square)."""


def prior_root(candidates: CandidateRows) -> Array:
    """L (p, p) with L L^T the prior covariance of the parameters that are no nuisances; all must have a prior."""
    own = candidates.order[len(candidates.nuisance) :]
    assert candidates.prior is not None
    information = candidates.prior[np.ix_(own, own)]
    size = 1 / np.sqrt(np.diag(information))
    return np.asarray(size[:, None] * inverse_triangle(np.linalg.cholesky(information * np.outer(size, size)).T))


def leading_space(candidates: CandidateRows) -> Space:
    """The candidates in coordinates of those combinations, nuisances first."""
    q, p, order = len(candidates.nuisance), candidates.parameters, candidates.order
    rows, root = candidates.blocks.reshape(-1, p)[:, order], prior_root(candidates)
    common, effects = rows[:, :q], rows[:, q:] @ root
    taken = np.linalg.lstsq(common, effects, rcond=None)[0]
    _, sizes, ways = np.linalg.svd(np.linalg.qr(effects - common @ taken, mode="r"))
    left = np.cumsum(sizes[::-1] ** 2)[::-1] / len(rows)
    kept = ways[: max(1, int(np.sum(left > NOISE**2)))].T
    combined = np.zeros((p, q + kept.shape[1]))
    combined[order[:q], :q] = np.eye(q)
    combined[order[q:], q:] = root @ kept
    prior = candidates.prior_rows @ combined
    inner = space_of(CandidateRows(candidates.blocks @ combined, prior.T @ prior, tuple(range(q))))
    return replace(inner, coordinates=Coordinates(combined @ inner.coordinates.transform, order, q))


def whole(candidates: CandidateRows, chosen: Sequence[int]) -> Knowledge:
    """What a plan tells of all parameters, in units of their priors."""
    p = candidates.parameters
    assert candidates.prior is not None
    size = 1 / np.sqrt(np.diag(candidates.prior))
    triangle = stacked_triangle([candidates.rows(chosen) * size, np.zeros((p, p))], p)
    return Knowledge(inverse_triangle(triangle), Coordinates(np.diag(size), np.arange(p), 0))
