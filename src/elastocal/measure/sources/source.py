"""A source of error: how strongly each of its few unknowns moves a reading, and how large they are.

    reading = f(model) + B u,    u ~ N(0, diag(sd^2))

``u`` is drawn anew for every reading, or is one for the whole campaign (``common``).  The first kind adds
B diag(sd^2) B^T to the covariance of the reading; the second is a nuisance parameter of the fit with that prior,
or with none where the sd is unknown (inf).  So every source enters the weights, the accuracy and the error budget
in the same way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import Field, fields
from functools import cache
from typing import Any, ClassVar

import numpy as np

from elastocal.arguments import check_fields
from elastocal.errors import RangeError
from elastocal.kinds import kinds_in
from elastocal.measure.kind import Measurement
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True)
class SourceUnknown:
    """One component of u: its name, SI unit and standard deviation (inf: nothing is known beforehand)."""

    name: str
    unit: str
    sd: float


class ErrorSource(ABC):
    """One source of error; frozen dataclasses with a ``kind`` word."""

    kind: ClassVar[str]
    bends: ClassVar[bool] = True
    """Whether its effect on a reading depends on how the arm bends, so that weights change with the parameters."""

    def __post_init__(self) -> None:
        """Fields are of their types, and standard deviations (``sd`` and ``..._sd``) positive and finite numbers.

        Zero may be said where it is the default, for none; infinite where nothing is known of a ``common`` error.
        """
        check_fields(self)
        for field in fields(self):  # type: ignore[arg-type]  # every source is a dataclass
            if field.name.rpartition("_")[2] == "sd" and getattr(self, field.name) is not None:
                self._check_sd(field)

    def _check_sd(self, field: Field[Any]) -> None:
        given = getattr(self, field.name)
        sizes = np.asarray(given, dtype=np.float64)
        none = field.default == 0 and not np.any(sizes)
        if not none and not (sizes.size and np.all(sizes > 0) and (self.common or np.all(np.isfinite(sizes)))):
            why = f"a standard deviation of error source {self.kind} must be positive and finite"
            raise RangeError.of(field.name, given, why)
        if sizes.ndim:
            object.__setattr__(self, field.name, tuple(sizes.reshape(-1).tolist()))

    @property
    def common(self) -> bool:
        """True where one value holds for the whole campaign."""
        return False

    @property
    def label(self) -> str:
        """Its name in the error budget."""
        return self.kind.replace("_", " ") + (", common" if self.common else "")

    @abstractmethod
    def unknowns(self, measurement: Measurement, model: Robot) -> tuple[SourceUnknown, ...]:
        """The components of u."""

    @abstractmethod
    def columns(self, measurement: Measurement, model: Robot) -> Array:
        """B of every reading, (N, R, components)."""

    def covariance(self, measurement: Measurement, model: Robot) -> Array:
        """B diag(sd^2) B^T of every reading, (N, R, R)."""
        sd = np.array([u.sd for u in self.unknowns(measurement, model)])
        b = self.columns(measurement, model) * sd
        return np.asarray(np.einsum("nri,nsi->nrs", b, b))


@cache
def source_kinds() -> dict[str, type[ErrorSource]]:
    """Every source by its kind."""
    from elastocal.measure import sources

    return kinds_in(sources, ErrorSource, group="elastocal.sources")
