"""What the markers of a campaign did, beside what the model says, as vectors for a picture."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elastocal.measure.measured import Measured
from elastocal.model.robot import Robot
from elastocal.reduction.study import Study
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

LONGER = 3.0
"""Times the longest trusted vector: a doubtful one is cut there."""


@dataclass(frozen=True, eq=False)
class MarkerMoves:
    """Markers ``at`` (N, m, 3) in m, and two vectors at each (N, m, 3), ``words`` saying which.

    Of a deflection: as measured, and as the calibrated model says.  Of a position: read minus the robot file, and read
    minus the calibrated model.  Components that were not read are zero in both; nan where a marker was not read at all.
    ``flagged`` (N, m) are markers with a number that was left out or is doubtful.
    """

    at: Array
    first: Array
    second: Array
    words: tuple[str, str]
    flagged: Bools
    cut: int = 0

    @property
    def longest(self) -> float:
        """Of the first vectors that are not flagged, m."""
        sizes = np.linalg.norm(self.first, axis=2)
        return float(np.nanmax(np.where(self.flagged, np.nan, sizes), initial=0.0))


def marker_moves(study: Study, campaign: Measured, nominal: Robot) -> MarkerMoves | None:
    """None for kinds that read no vectors of markers; ``nominal`` is the robot of the file."""
    kind = campaign.measurement
    where = kind.watched
    if where is None or len(kind.rows) != where.height:
        return None
    after = kind.predict(study.fit.model)
    rows = np.array([range(start, start + 3) for start in where.starts])
    flagged = np.zeros((where.count, len(where.markers)), dtype=bool)
    for s in (*study.identification.excluded, *study.outliers):
        hit = np.flatnonzero(np.any(rows == s.row, axis=1))
        flagged[s.reading, hit] = True
    if kind.states == 2:
        first, second, words = campaign.readings, after, ("measured", "calibrated model")
    else:
        first, second = campaign.readings - kind.predict(nominal), campaign.readings - after
        words = ("read minus robot file", "read minus calibrated model")
    read = campaign.measured[:, rows]
    vectors = [_of_read(v[:, rows], read) for v in (first, second)]
    return _shortened(MarkerMoves(where.positions(study.fit.model), vectors[0], vectors[1], words, flagged))


def _of_read(vectors: Array, read: Bools) -> Array:
    """Zero where a component was not read; nan where none was."""
    return np.where(read.any(axis=2, keepdims=True), np.where(read, vectors, 0.0), np.nan)


def _shortened(moves: MarkerMoves) -> MarkerMoves:
    """Flagged vectors cut to a length that leaves the others visible."""
    size = np.linalg.norm(moves.first, axis=2)
    most = LONGER * moves.longest
    over = moves.flagged & (size > most) & (most > 0)
    if not over.any():
        return moves
    share = np.where(over, most / np.where(over, size, 1.0), 1.0)[..., None]
    return replace(moves, first=share * moves.first, cut=int(over.sum()))


def flagged_readings(moves: MarkerMoves) -> Ints:
    return np.flatnonzero(moves.flagged.any(axis=1))
