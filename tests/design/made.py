"""Requirements, and knowledge from an information matrix, made for tests."""

from __future__ import annotations

import numpy as np

from elastocal.design.how_many import Requirement
from elastocal.design.knowledge import Coordinates, Knowledge, inverse_triangle


def every_sd(limits):
    """Standard deviations (p,) that parameters must stay below; inf where nothing is asked."""
    asked = np.flatnonzero(np.isfinite(limits))
    return Requirement(np.eye(len(limits))[asked][:, None], np.asarray(limits, dtype=np.float64)[asked])


def error_below(derivatives, limit, over="largest"):
    """Expected error at test poses (T, d, p): the largest, or the root of the mean square, below one limit."""
    t, d, p = derivatives.shape
    if over == "mean":
        return Requirement(derivatives.reshape(1, t * d, p) / np.sqrt(t), np.array([limit]))
    return Requirement(derivatives, np.full(t, float(limit)))


def known_of_information(information, nuisance=()):
    """From an information matrix (p, p) in units of the parameters, by Cholesky with unit diagonal."""
    p = len(information)
    order = np.array([*sorted(nuisance), *(i for i in range(p) if i not in nuisance)], dtype=np.int64)
    size = np.sqrt(np.diag(information))
    transform = np.zeros((p, p))
    transform[order, np.arange(p)] = 1 / size[order]
    even = (information / np.outer(size, size))[np.ix_(order, order)]
    return Knowledge(inverse_triangle(np.linalg.cholesky(even).T), Coordinates(transform, order, len(nuisance)))
