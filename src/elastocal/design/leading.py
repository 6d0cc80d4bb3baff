"""The combinations of parameters that readings can tell from their prior, in place of all parameters.

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

import numpy as np

from elastocal.design.information import CandidateRows, Space, space_of
from elastocal.design.knowledge import Coordinates, Knowledge, inverse_triangle
from elastocal.solve.rank import stacked_triangle
from elastocal.spatial.entries import Array

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
