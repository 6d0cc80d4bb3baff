"""The least-squares problem of a campaign at a model, every row in units of its noise (003 eq. 11-14).

    L^-1 (y - f(pi_0)) = L^-1 [F B] [dpi; u] + e,    L L^T = covariance of the reading,  e ~ N(0, 1)

with the nuisance unknowns u of the campaign beside the parameters, and one more row (pi_i - value_i) / sd_i for each
unknown and each parameter that is known beforehand.  Nothing here knows what the parameters mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from elastocal.errors import InputError
from elastocal.measure.measured import Measured, ParameterPrior
from elastocal.measure.sources.source import SourceUnknown
from elastocal.model.robot import Robot
from elastocal.solve.streamed import Reduced, Rows, reduce_rows
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

ABSURD = 1e3
"""Times the size that matters: a change of a parameter that no robot survives."""
UNSTATED = 1e-5
"""Weight of a reading whose noise is not stated, in m or rad; only ratios matter then."""


@dataclass(frozen=True, eq=False)
class Weights:
    """Inverse Cholesky factors (N, R, R) of the readings' covariances; ``stated`` is False where none was given."""

    inverse: Array
    variance: Array
    stated: bool

    @cached_property
    def live(self) -> Bools:
        """(N, R) False where a number has no weight: it was not read, or its scatter is not determined."""
        return np.asarray(np.einsum("nrr->nr", self.inverse) != 0)

    def whiten(self, rows: Array) -> Array:
        """L^-1 times (N, R, ...)."""
        flat = rows.reshape(*rows.shape[:2], -1)
        return np.asarray((self.inverse @ flat).reshape(rows.shape))

    def unwhiten(self, rows: Array) -> Array:
        """L times (N, R): from units of noise back to m and rad; zero where nothing was read."""
        square = self.inverse + np.eye(rows.shape[1]) * ~self.live[:, :, None]
        return np.asarray(np.linalg.solve(square, rows[:, :, None])[:, :, 0])


def weigh(campaign: Measured, model: Robot) -> Weights:
    """Sum of all scattering sources; what was not read gets no weight."""
    n, r = campaign.readings.shape
    if campaign.scattering:
        total = np.zeros((n, r, r))
        for source in campaign.scattering:
            total += source.covariance(campaign.measurement, model)
    else:
        if len({row.unit for row in campaign.measurement.rows}) > 1:
            raise InputError(
                "positions and orientations are read together: state the noise of both (source reading)", code="noise"
            )
        total = np.broadcast_to(UNSTATED**2 * np.eye(r), (n, r, r)).copy()
    variance = np.einsum("nrr->nr", total).copy()
    known = campaign.measured & np.all(np.isfinite(total), axis=2)
    both = known[:, :, None] & known[:, None, :]
    total = np.where(both, total, np.eye(r))
    if not np.all(variance[known] > 0):
        i, j = (int(v) for v in np.argwhere(known & ~(variance > 0))[0])
        raise InputError(
            f"{campaign.place(i, j)}: no source of error reaches this reading; add a source 'reading'",
            code="noise",
            value=(i, j),
        )
    try:
        lower = np.linalg.cholesky(total)
    except np.linalg.LinAlgError:
        raise InputError(
            "the errors stated leave some readings without scatter of their own; add 'reading'", code="noise"
        ) from None
    inverse = np.linalg.solve(lower, np.broadcast_to(np.eye(r), (n, r, r))) * known[:, :, None]
    return Weights(inverse, variance, bool(campaign.scattering))


@dataclass(frozen=True, eq=False)
class Problem:
    """``matrix`` (m, p) and ``misfit`` (m,) at ``start`` (p,): parameters first, then nuisance unknowns.

    Row n R + r is number r of reading n (zero where nothing was read); prior rows follow.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    scales: Array
    parameters: int
    start: Array
    matrix: Array
    misfit: Array
    used: Bools
    shape: tuple[int, int]
    weights: Weights

    @cached_property
    def reduced(self) -> Reduced:
        """The small problem with the same squares, which groups and steps are computed from."""
        matrix, misfit = self.matrix, self.misfit

        def chunks(rows: Rows) -> Iterator[tuple[Array, Array]]:
            yield np.ascontiguousarray(matrix[rows].T)[:, None], misfit[rows][None]

        return reduce_rows(self.scales, len(misfit), chunks)

    @cached_property
    def counted(self) -> Bools:
        """(rows,): those that hold a reading that is used, or a prior."""
        return np.concatenate([self.used.reshape(-1), np.ones(len(self.misfit) - self.used.size, dtype=bool)])

    @cached_property
    def readings(self) -> int:
        """How many numbers were read and are used."""
        return int(self.used.sum())

    @cached_property
    def equations(self) -> int:
        """Readings and priors."""
        return self.readings + len(self.misfit) - self.shape[0] * self.shape[1]

    @property
    def nuisance(self) -> tuple[str, ...]:
        return self.names[self.parameters :]

    def index(self, names: Sequence[str]) -> list[int]:
        at = {name: i for i, name in enumerate(self.names)}
        return [at[name] for name in names]

    def priors(self) -> slice:
        return slice(self.shape[0] * self.shape[1], len(self.misfit))


def unknowns(campaign: Measured, model: Robot) -> tuple[SourceUnknown, ...]:
    """Nuisance unknowns of the campaign."""
    return tuple(u for s in campaign.common for u in s.unknowns(campaign.measurement, model))


def linearise(
    campaign: Measured, model: Robot, names: Sequence[str], weights: Weights, u: Mapping[str, float] | None = None
) -> Problem:
    """The problem at a model for ``names``: parameters, then nuisance unknowns; ``u`` holds values of the latter."""
    known = {e.name: e for e in unknowns(campaign, model)}
    parameters = [n for n in names if n not in known]
    extra = [known[n] for n in names if n in known]
    given = u or {}
    n, r = campaign.readings.shape
    moved = [name for name, value in given.items() if value]
    nuisance = _columns(campaign, model, [*(e.name for e in extra), *moved])
    raw = _residuals(campaign, model, given, nuisance)
    columns = campaign.measurement.derivative(model, parameters)
    if extra:
        columns = np.concatenate([columns, np.stack([nuisance[e.name] for e in extra], axis=2)], axis=2)
    used = np.isfinite(raw) & np.all(np.isfinite(columns), axis=2) & weights.live
    matrix = weights.whiten(np.where(used[:, :, None], columns, 0.0)).reshape(n * r, -1)
    misfit = weights.whiten(np.where(used, raw, 0.0)).reshape(-1)
    rows = [model.parameters[name] for name in parameters]
    known_before = [*(ParameterPrior(e.name, 0.0, e.sd) for e in extra if np.isfinite(e.sd)), *campaign.priors]
    start = np.array([*(p.value for p in rows), *(given.get(e.name, 0.0) for e in extra)])
    prior, aim = _priors([*parameters, *(e.name for e in extra)], start, known_before)
    return Problem(
        (*parameters, *(e.name for e in extra)),
        (*(p.unit for p in rows), *(e.unit for e in extra)),
        np.array([*(p.scale for p in rows), *(1e-3 for _ in extra)]),
        len(rows),
        start,
        np.concatenate([matrix, prior]),
        np.concatenate([misfit, aim]),
        used,
        (n, r),
        weights,
    )


def with_nuisances(campaign: Measured, model: Robot, names: Sequence[str], weights: Weights | None = None) -> Problem:
    """For ``names`` and all nuisance unknowns of the campaign; ``weights`` by default those at the model."""
    extra = (u.name for u in unknowns(campaign, model))
    return linearise(campaign, model, [*names, *extra], weights or weigh(campaign, model))


def residuals(campaign: Measured, model: Robot, u: Mapping[str, float]) -> Array:
    """Readings minus prediction, (N, R), nan where nothing was read or the state is not determined."""
    return _residuals(campaign, model, u, _columns(campaign, model, [name for name, value in u.items() if value]))


def _residuals(campaign: Measured, model: Robot, u: Mapping[str, float], columns: Mapping[str, Array]) -> Array:
    raw = campaign.readings - campaign.measurement.predict(model)
    for name, value in u.items():
        if value:
            raw = raw - value * columns[name]
    return np.asarray(raw)


def _columns(campaign: Measured, model: Robot, wanted: Sequence[str]) -> dict[str, Array]:
    """Columns (N, R) of the sources that hold the nuisance unknowns named."""
    by_name: dict[str, Array] = {}
    for source in campaign.common:
        names = [u.name for u in source.unknowns(campaign.measurement, model)]
        if set(names) & set(wanted):
            columns = source.columns(campaign.measurement, model)
            by_name |= {name: columns[:, :, i] for i, name in enumerate(names)}
    return by_name


def _priors(names: Sequence[str], start: Array, known: Sequence[ParameterPrior]) -> tuple[Array, Array]:
    """Rows (pi_i - value_i) / sd_i of what is known beforehand of the columns."""
    at = {name: i for i, name in enumerate(names)}
    mine = [(at[b.name], b) for b in known if b.name in at]
    matrix = np.zeros((len(mine), len(names)))
    aim = np.zeros(len(mine))
    for row, (i, prior) in enumerate(mine):
        matrix[row, i] = 1 / prior.sd
        aim[row] = (prior.value - start[i]) / prior.sd
    return matrix, aim
