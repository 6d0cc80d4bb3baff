"""A force and moment applied to the robot at a named frame's origin, fixed in base axes or following the frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from elastocal.errors import NumberError, ShapeError
from elastocal.model.chain import ChainState
from elastocal.model.elements import Load, quantity
from elastocal.model.frames import FrameTree
from elastocal.model.loads.resultant import Resultant
from elastocal.model.parameters import Parameter
from elastocal.spatial import entries as en
from elastocal.spatial.entries import Array, Bools, Entry, Ints, Row3
from elastocal.values import dataclass

Vector = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class Wrench(Load):
    """Force in N and moment in N m, the same for all configurations.

    In base axes; with ``follows`` in the frame's axes, turning with it.
    """

    kind: ClassVar[str] = "wrench"
    frame: str
    force: Vector = quantity("force", default=(0.0, 0.0, 0.0))
    moment: Vector = quantity("moment", default=(0.0, 0.0, 0.0))
    follows: bool = False

    @property
    def place(self) -> str:
        return self.frame

    def check(self, tree: FrameTree) -> None:
        tree.frame(self.frame)
        if not np.all(np.isfinite([*self.force, *self.moment])):
            raise NumberError(f"wrench at {self.frame}: every component must be a finite number")

    def parameters(self, tree: FrameTree) -> tuple[Parameter, ...]:
        names = [("fx", "N"), ("fy", "N"), ("fz", "N"), ("tx", "N m"), ("ty", "N m"), ("tz", "N m")]
        rows = zip(names, (*self.force, *self.moment), strict=True)
        return tuple(self.parameter(n, unit, v, 10.0) for (n, unit), v in rows)

    def with_values(self, values: Sequence[float]) -> Self:
        a, b, c, d, e, f = values
        return replace(self, force=(a, b, c), moment=(d, e, f))

    def resultants(self, state: ChainState, gravity: Array) -> tuple[tuple[str, Resultant], ...]:
        if not any((*self.force, *self.moment)):
            return ()
        return ((self.frame, at_frame(state, self.frame, (*self.force, *self.moment), self.follows)),)

    def sizes(self, gravity: Array) -> tuple[tuple[str, float, float], ...]:
        return ((self.frame, float(np.linalg.norm(self.force)), float(np.linalg.norm(self.moment))),)

    def resultant_sensitivity(self, state: ChainState, gravity: Array) -> tuple[tuple[int, str, Resultant], ...]:
        units = [tuple(float(i == j) for j in range(6)) for i in range(6)]
        return tuple((i, self.frame, at_frame(state, self.frame, unit, self.follows)) for i, unit in enumerate(units))


@dataclass(frozen=True, eq=False)
class AppliedWrenches:
    """One wrench per configuration at one frame: ``wrench`` is (N, 6), force first."""

    frame: str
    wrench: Array
    follows: bool = False

    def __post_init__(self) -> None:
        wrench = np.atleast_2d(np.asarray(self.wrench, dtype=np.float64))
        if wrench.ndim != 2 or wrench.shape[1] != 6:
            raise ShapeError(
                f"wrenches at {self.frame}: (N, 6) force and moment are needed, got {wrench.shape}",
                value=(self.frame, wrench.shape),
            )
        bad = np.argwhere(~np.isfinite(wrench))
        if len(bad):
            row, col = (int(v) for v in bad[0])
            raise NumberError(
                f"wrenches at {self.frame}: row {row + 1}, {('fx', 'fy', 'fz', 'mx', 'my', 'mz')[col]} "
                f"is {wrench[row, col]}; give a finite number",
                value=(self.frame, row + 1, wrench[row, col]),
            )
        object.__setattr__(self, "wrench", wrench)

    def rows(self, chunk: slice, size: int) -> AppliedWrenches:
        if len(self.wrench) == size:
            return self
        if len(self.wrench) == 1:
            return self._with(np.broadcast_to(self.wrench, (size, 6)))
        return self._with(self.wrench[chunk])

    def picked(self, rows: Ints | Bools) -> AppliedWrenches:
        if self.common:
            count = int(np.count_nonzero(rows)) if rows.dtype == bool else len(rows)
            return self._with(np.broadcast_to(self.wrench[:1], (count, 6)))
        return self._with(self.wrench[rows])

    @property
    def common(self) -> bool:
        """Whether all configurations have the one wrench that was given."""
        return len(self.wrench) > 0 and self.wrench.strides[0] == 0

    def _with(self, wrench: Array) -> AppliedWrenches:
        """Wrenches of its own, which are finite numbers."""
        out = object.__new__(AppliedWrenches)
        vars(out).update(frame=self.frame, wrench=wrench, follows=self.follows)
        return out

    def in_base(self, state: ChainState) -> Array:
        """The wrenches (6, N) in base axes at the frame's origin."""
        if not self.follows:
            return np.ascontiguousarray(self.wrench.T)
        rotation = state.rotation(self.frame)
        halves = [np.einsum("ijn,nj->in", rotation, half) for half in (self.wrench[:, :3], self.wrench[:, 3:])]
        return np.concatenate(halves)

    @cached_property
    def entries(self) -> list[Entry]:
        """The six components, 0 where no configuration has one."""
        return [np.ascontiguousarray(c) if c.any() else 0.0 for c in self.wrench.T]

    def sizes(self) -> tuple[str, Array, Array]:
        """Frame, and the sizes of force and moment, (N,) or (1,) where all have one wrench."""
        wrench = self.wrench[:1] if self.common else self.wrench
        return self.frame, np.linalg.norm(wrench[:, :3], axis=1), np.linalg.norm(wrench[:, 3:], axis=1)

    def resultant(self, state: ChainState) -> Resultant:
        return at_frame(state, self.frame, self.entries, self.follows)


def at_frame(state: ChainState, frame: str, six: Sequence[Entry], follows: bool) -> Resultant:
    """Resultant of a wrench (six entries, force first) at a frame's origin."""
    rotation, point = state.pose(frame)
    force: Row3 = (six[0], six[1], six[2])
    moment: Row3 = (six[3], six[4], six[5])
    if not follows:
        return Resultant.dead(point, force, moment)
    return Resultant.following(point, en.times_vector(rotation, force), en.times_vector(rotation, moment))
