"""Wrenches: force and moment applied to the robot at a named frame's origin, fixed in base axes or following the frame.

``Resultant`` is the sum of wrenches on everything beyond a place, with what its tangent needs.  Forces and moments
fixed in base axes ("dead") and those that turn with the body ("following") change differently when the body moves by
a twist (v, w):

    dead       dm = v x F + (S - tr S) w       S = sum r f^T, so that sum r x f is S's axial vector
    following  df = w x f,  dm = v x f + w x m
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from elastocal.errors import NumberError, ShapeError
from elastocal.model.chain import ChainState
from elastocal.model.elements import Load
from elastocal.model.frames import FrameTree
from elastocal.model.parameters import Parameter, quantity
from elastocal.spatial import entries as en
from elastocal.spatial.entries import ORIGIN, Array, Bools, Entry, Ints, Matrix3, Row3
from elastocal.values import dataclass

Row6 = tuple[Entry, Entry, Entry, Entry, Entry, Entry]
NOTHING: Matrix3 = (ORIGIN, ORIGIN, ORIGIN)


@dataclass(frozen=True)
class Resultant:
    """All about the base origin, in base axes, as entries (floats where all configurations agree)."""

    force: Row3 = ORIGIN
    tensor: Matrix3 = NOTHING
    moment: Row3 = ORIGIN
    follow_force: Row3 = ORIGIN
    follow_moment: Row3 = ORIGIN
    follows: bool = False

    @classmethod
    def dead(cls, point: Row3, force: Row3, moment: Row3 = ORIGIN) -> Resultant:
        """Force and moment fixed in base axes, acting at a point."""
        return cls(force, en.outer(point, force), moment)

    @classmethod
    def following(cls, point: Row3, force: Row3, moment: Row3) -> Resultant:
        """Force and moment that turn with the body; given in base axes as they are now."""
        return cls(follow_force=force, follow_moment=en.plus(en.cross(point, force), moment), follows=True)

    def __add__(self, other: Resultant) -> Resultant:
        s, t = self.tensor, other.tensor
        return Resultant(
            en.plus(self.force, other.force),
            (en.plus(s[0], t[0]), en.plus(s[1], t[1]), en.plus(s[2], t[2])),
            en.plus(self.moment, other.moment),
            en.plus(self.follow_force, other.follow_force),
            en.plus(self.follow_moment, other.follow_moment),
            self.follows or other.follows,
        )

    def wrench(self) -> tuple[Row3, Row3]:
        """Spatial force and moment at the base origin."""
        s = self.tensor
        axial = en.sub(s[1][2], s[2][1]), en.sub(s[2][0], s[0][2]), en.sub(s[0][1], s[1][0])
        moment = en.plus(en.plus(axial, self.moment), self.follow_moment)
        return en.plus(self.force, self.follow_force), moment

    def power(self, screws: Array) -> Array:
        """Work of the wrench on screws (6, n, N), per unit motion: (n, N)."""
        force, moment = self.wrench()
        out: Entry = 0.0
        for screw, entry in zip(screws, (*force, *moment), strict=True):
            out = en.add(out, en.mul(screw, entry))
        return np.asarray(out) if isinstance(out, np.ndarray) else np.zeros(screws.shape[1:])

    @property
    def potential(self) -> bool:
        """Whether the loads have one: no following load and no moment fixed in base axes."""
        return not self.follows and all(isinstance(m, float) and m == 0.0 for m in self.moment)

    def tangents(self, screw: Sequence[Entry] | Array) -> tuple[Row6, Row6]:
        """G and H for a screw [v; w] (its entries may stand for several screws)."""
        v: Row3 = (screw[0], screw[1], screw[2])
        w: Row3 = (screw[3], screw[4], screw[5])
        s = self.tensor
        trace = en.add(en.add(s[0][0], s[1][1]), s[2][2])
        turn = en.plus(en.times_vector(s, w), en.scaled(w, en.mul(-1.0, trace)))
        common = en.plus(en.cross(v, self.force), turn)
        h = (*ORIGIN, *en.plus(common, en.cross(w, self.moment)))
        if self.follows:
            common = en.plus(common, en.plus(en.cross(v, self.follow_force), en.cross(w, self.follow_moment)))
        return (*en.cross(w, self.follow_force), *common), h

    def tangents_into(self, screws: Array, g: Array, h: Array) -> None:
        """Write G and H for screws (6, n, N): moments (3, n, N), or (6, n, N) with following loads.

        ``h`` may be ``g`` itself where there is a potential: they are equal then.
        """
        columns = self.tangents(screws)
        for column, rows in zip((g, h), columns, strict=True) if h is not g else ((g, columns[0]),):
            for i, entry in enumerate(rows[6 - len(column) :]):
                column[i] = entry


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
