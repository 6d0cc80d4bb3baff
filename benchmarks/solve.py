"""Least squares over 10 000 configurations x 6 rows x 153 parameters, streamed, against one numpy.linalg.lstsq.

The peer gets the same matrix from the same builder, stored the way LAPACK likes best, with columns of unit length.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.harness import Contender, Outcome, race
from benchmarks.memory import growth
from benchmarks.robots import configurations, robot
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.observation import Marker, linear_names, linear_observation
from elastocal.solve.identifiability import stacked_triangle
from elastocal.solve.streamed import Reduced, Rows, reduce_rows

COUNT, CHUNK = 10_000, 2500
MARKERS = (Marker("tool", "pose"),)
NOISE = np.repeat([30e-6, 20e-6], 3)
"""m and rad"""
SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Data:
    """Poses of the tool under generic wrenches, readings in units of their noise."""

    model: Robot
    q: np.ndarray
    wrenches: np.ndarray
    readings: np.ndarray
    names: tuple[str, ...]
    scales: np.ndarray

    @classmethod
    def of(cls, count: int) -> Data:
        model = robot().with_link_form("symmetric")
        rng = np.random.default_rng(3)
        q, wrenches = configurations(count), rng.uniform(-1, 1, (count, 6)) * 1000.0
        readings = np.empty((count, 6))
        names = linear_names(model)
        rows = [model.parameters.rows[model.parameters.index(n)] for n in names]
        truth = np.array([p.value for p in rows])
        for at, a in _rows(model, q, wrenches):
            readings[at] = np.einsum("p,prm->mr", truth, a) / NOISE + rng.normal(size=(a.shape[2], 6))
        return cls(model, q, wrenches, readings, names, np.array([p.scale for p in rows]))

    def chunks(self, rows: Rows) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        readings = self.readings[rows]
        for at, a in _rows(self.model, self.q[rows], self.wrenches[rows]):
            a /= NOISE[:, None]
            yield a, readings[at].T

    def reduce(self) -> Reduced:
        return reduce_rows(self.scales, len(self.q), self.chunks)

    def stacked(self) -> tuple[np.ndarray, np.ndarray]:
        """The whole whitened matrix (6 N, p), columns contiguous, and its readings."""
        load = [AppliedWrenches("tool", self.wrenches)]
        a = np.transpose(linear_observation(self.model, self.q, load, MARKERS)[1], (2, 1, 0))
        a /= NOISE[:, None]
        return a.reshape(len(a), -1).T, self.readings.T.ravel()


def _rows(model: Robot, q: np.ndarray, wrenches: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """The matrix (p, 6, m) of some configurations after the other."""
    for start in range(0, len(q), CHUNK):
        at = slice(start, start + CHUNK)
        _, a = linear_observation(model, q[at], [AppliedWrenches("tool", wrenches[at])], MARKERS)
        yield at, np.transpose(a, (2, 1, 0))


def lstsq(matrix: np.ndarray, readings: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(matrix, axis=0)
    return np.asarray(np.linalg.lstsq(matrix / lengths, readings, rcond=1e-9)[0]) / lengths


def measure() -> list[Outcome]:
    data = Data.of(COUNT)
    matrix, readings = data.stacked()
    whole = matrix.T.reshape(len(data.names), 6, COUNT)
    ours, theirs = data.reduce(), lstsq(matrix, readings)

    def ready(rows: Rows) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        if not isinstance(rows, slice):
            yield whole[:, :, rows], data.readings[rows].T
            return
        for start in range(0, COUNT, CHUNK):
            yield whole[:, :, start : start + CHUNK], data.readings[start : start + CHUNK].T

    def orthogonal() -> None:
        stacked_triangle(np.array_split(np.column_stack([matrix, readings]), 12), len(data.names) + 1)

    built = [
        Contender("elastocal, built and solved in one stream", COUNT, data.reduce),
        Contender(
            "elastocal's matrix built, one numpy.linalg.lstsq", COUNT, lambda: lstsq(*data.stacked()), needed=5.0
        ),
    ]
    given = [
        Contender("elastocal, streamed", COUNT, lambda: reduce_rows(data.scales, COUNT, ready)),
        Contender("one numpy.linalg.lstsq, unit columns", COUNT, lambda: lstsq(matrix, readings), needed=5.0),
        Contender("Householder QR in 12 blocks, triangle only", COUNT, orthogonal),
    ]
    small, large = growth("solve", 10_000), growth("solve", 100_000)
    facts = (
        f"{len(data.names)} parameters, {len(ours.triangle)} identifiable combinations; {agreement(ours, theirs)}",
        f"memory above start: {small:.0f} MB for 10 000, {large:.0f} MB for 100 000 configurations, of which the "
        f"configurations, wrenches and readings take {10_000 * 144 / 1e6:.0f} and {100_000 * 144 / 1e6:.0f} MB",
    )
    size = "10 000 configurations x 6 rows x 153 parameters"
    return [
        race(f"least squares with building, {size}", built, rounds=5, facts=facts),
        race(f"least squares without building, {size}", given, rounds=5),
    ]


def agreement(ours: Reduced, theirs: np.ndarray) -> str:
    """T times the peer's solution next to T times ours; a difference above 1e-9 stops the run."""
    triangle = ours.triangle
    lengths = np.linalg.norm(triangle, axis=0)
    mine = np.linalg.lstsq(triangle / lengths, ours.readings, rcond=1e-9)[0] / lengths
    expected = triangle @ theirs
    worst = float(np.max(np.abs(triangle @ mine - expected) / np.maximum(np.abs(expected), 1.0)))
    if worst > SAME:
        raise SystemExit(f"the streamed solution differs from lstsq by {worst:.1e}; it must be below {SAME:g}")
    return f"largest difference of a combination to lstsq, relative or in sd: {worst:.1e}"
