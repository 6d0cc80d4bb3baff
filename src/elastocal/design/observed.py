"""Candidates of a search from readings that could be taken: the whitened rows of any kind of measurement.

    A_c = L_c^-1 [F_c B_c],    F the derivative by the parameters, B that by the unknowns common to the campaign

which are nuisances of the plan and, where something is known of them, rows of its prior (``reduction.problem``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from elastocal.design.information import CandidateRows
from elastocal.errors import ShapeError
from elastocal.measure.kind import Measurement
from elastocal.measure.measured import Measured
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.robot import Robot
from elastocal.reduction.fit import groups_of
from elastocal.reduction.problem import with_nuisances
from elastocal.solve.identifiability import stacked_triangle
from elastocal.spatial.entries import Array, Bools, Ints

ROUNDING = 1e-13
"""Singular values below this part of the largest (columns of one size) are rounding."""


def observed(
    measurement: Measurement,
    sources: tuple[ErrorSource, ...],
    model: Robot,
    names: Sequence[str],
    repeats: int = 1,
    measured: Bools | None = None,
) -> CandidateRows:
    """One candidate per reading, each to be read ``repeats`` times with errors drawn anew.

    ``measured`` (N, R) is False where a number is not read.  Unknowns of the campaign that no reading feels (where a
    tracker stands, for differences) are left out.
    """
    problem = with_nuisances(exact(measurement, sources, model, measured), model, names)
    n, r = problem.shape
    p = problem.parameters
    felt = [i for i in range(len(problem.names)) if i < p or np.any(problem.matrix[:, i])]
    matrix = problem.matrix[:, felt]
    blocks = np.sqrt(repeats) * matrix[: n * r].reshape(n, r, -1)
    prior = matrix[problem.priors()]
    nuisance, words = tuple(range(p, len(felt))), tuple(problem.names[i] for i in felt)
    return CandidateRows(blocks, prior.T @ prior if len(prior) else None, nuisance, words, len(nuisance))


def exact(
    measurement: Measurement, sources: tuple[ErrorSource, ...], model: Robot, measured: Bools | None = None
) -> Measured:
    """The campaign whose readings are what the model expects."""
    readings = measurement.predict(model)
    return Measured(measurement, readings if measured is None else np.where(measured, readings, np.nan), sources)


def taken_together(rows: CandidateRows, owner: Ints) -> CandidateRows:
    """Readings that are taken as one (a sweep, an arc) made one candidate: ``owner`` (N,) numbers it from 0.

    The rows of a candidate become as few rows with the same squares as the largest rank needs.
    """
    blocks, p = rows.blocks, rows.parameters
    count = int(owner.max()) + 1
    if owner.shape != (len(blocks),) or set(np.unique(owner)) != set(range(count)):
        raise ShapeError(
            f"give each of the {len(blocks)} readings the number of its candidate, none left out", value=len(blocks)
        )
    size = np.max(np.abs(blocks), axis=(0, 1))
    unit = np.where(size > 0, size, 1.0)
    padding = np.zeros((p, p))
    triangles = [stacked_triangle([blocks[owner == i].reshape(-1, p) / unit, padding], p) for i in range(count)]
    _, s, v = np.linalg.svd(np.stack(triangles))
    rank = max(1, int(np.max(np.sum(s > ROUNDING * s[:, :1], axis=1))))
    return replace(rows, blocks=(s[:, :, None] * v)[:, :rank] * unit)


def earlier_information(campaign: Measured, model: Robot, names: Sequence[str]) -> Array:
    """What readings taken before say of the parameters (p, p), their own nuisances marginalised.

    With the nuisances first in a triangle R of all rows, the last block of R has that information as its square.
    """
    plain = replace(campaign, readings=np.where(campaign.measured, campaign.measurement.predict(model), np.nan))
    problem = with_nuisances(plain, model, names)
    p, every = problem.parameters, len(problem.names)
    order = [*range(p, every), *range(p)]
    triangle = stacked_triangle([problem.matrix[:, order], np.zeros((every, every))], every)
    last = triangle[every - p :, every - p :]
    return np.asarray(last.T @ last)


def information_of(known: Sequence[str], covariance: Array, names: Sequence[str]) -> Array:
    """Information (p, p) on the parameters ``names`` from the covariance of a calibration of those ``known``.

    Parameters that were calibrated but are not sought now are as uncertain as the calibration says.
    """
    out = np.zeros((len(names), len(names)))
    both = [n for n in names if n in known]
    at, to = [list(known).index(n) for n in both], [list(names).index(n) for n in both]
    spread = covariance[np.ix_(at, at)]
    size = np.sqrt(np.diag(spread))
    inverse = np.linalg.inv(spread / np.outer(size, size)) / np.outer(size, size)
    out[np.ix_(to, to)] = (inverse + inverse.T) / 2
    return out


def independent(
    measurement: Measurement,
    sources: tuple[ErrorSource, ...],
    model: Robot,
    names: Sequence[str],
    measured: Bools | None = None,
) -> tuple[str, ...]:
    """The parameters that readings can tell apart: of those that act only together, joints stand for the others."""
    kind = measurement.structure(model, names)
    problem = with_nuisances(exact(kind, sources, model, measured), model, names)
    groups = groups_of(problem, model.joint_parameters)
    kept = {groups.names[i] for i in groups.kept}
    return tuple(n for n in names if n in kept)
