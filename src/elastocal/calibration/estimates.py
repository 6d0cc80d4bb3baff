"""What was estimated, which readings took no part, and what is left of the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np

from elastocal.errors import UnknownNameError
from elastocal.results import as_frame
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

MAINLY = 0.5
"""Share of its prior variance that readings must remove for a parameter to be known by them."""


@dataclass(frozen=True)
class Estimate:
    """A parameter: value and sd in SI ``unit``; ``informed``: share of its prior variance that readings removed.

    The sd counts that scales of priors and noise are estimates too: the root of the covariance's diagonal times
    ``Calibration.inflation``, as intervals of predictions have it, and no more than the prior's.
    """

    name: str
    value: float
    sd: float
    unit: str
    file_value: float
    prior_sd: float
    group: str
    informed: float

    @property
    def code(self) -> str:
        """Empty, or ``not-separately-identifiable``: readings tell it together with others only, priors settle the
        rest, and its sd rests on their scales.  Predictions do not suffer, single values may be off by many sd."""
        return "" if self.informed >= MAINLY else "not-separately-identifiable"

    @property
    def stated(self) -> bool:
        """Whether its prior is one that the campaign states."""
        return self.group.startswith("prior of ")

    @property
    def significant(self) -> bool:
        """abs(value - file value) / sd >= 5, of what readings tell."""
        return not self.code and abs(self.value - self.file_value) >= 5 * self.sd


@dataclass(frozen=True, repr=False)
class Estimates(Mapping[str, Estimate]):
    """Parameters that were estimated, by name; all others are fixed at the file's value."""

    rows: tuple[Estimate, ...]

    @cached_property
    def _index(self) -> dict[str, Estimate]:
        return {e.name: e for e in self.rows}

    def __getitem__(self, name: str) -> Estimate:
        if not isinstance(name, str) or name not in self._index:
            raise UnknownNameError("parameter", name, tuple(self._index))
        return self._index[name]

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self.rows)

    def to_frame(self) -> object:
        return as_frame([{**vars(e), "code": e.code} for e in self.rows])

    def __repr__(self) -> str:
        if not self.rows:
            return "<no parameter is estimated: all are fixed at the file's values>"
        seen = sum(not e.code for e in self.rows)
        return f"<{len(self.rows)} parameters, {seen} of them known mainly by the readings>"


@dataclass(frozen=True)
class Outlier:
    """A reading that was left out; ``marker`` and ``axis`` are None where all of them are meant."""

    row: int
    place: str
    marker: str | None
    axis: str | None
    deviations: float
    """Distance from what the others predict, in standard deviations of that prediction; nan of a point beyond reach."""
    probability: float
    cause: str = ""
    """What likely made it wrong, where one cause is clear (``causes``)."""


@dataclass(frozen=True, eq=False)
class Residuals:
    """As figures and files need them, no fit behind them.

    Of M states with the same rows: joint values ``q`` (M, n), ``wrench`` (M, 6), number of the ``pose`` (M,).
    """

    q: Array
    wrench: Array
    pose: Ints
    order: Ints
    """First row of the campaign that a state was read in."""
    lengths: Bools
    """Which rows are lengths; the others are angles."""
    nominal: Array
    """Read minus predicted by the nominal robot without the pose (M, rows), in m and rad; nan where not read."""
    calibrated: Array
    """The same by the calibrated robot."""
    deviations: Array
    """Every number predicted from all others, in standard deviations of that prediction (M, rows)."""

    time: Array | None = None
    """When a state was read, s from the first; None where no column tells it."""

    def by_number(self) -> tuple[Array, Array]:
        """Pose and deviation of every number read."""
        state, row = np.nonzero(np.isfinite(self.deviations))
        return self.pose[state].astype(np.float64), self.deviations[state, row]
