"""The sum of wrenches on everything beyond a place, with what its tangent needs.

Forces and moments fixed in base axes ("dead") and those that turn with the body ("following") change
differently when the body moves by a twist (v, w):

    dead       dm = v x F + (S - tr S) w       S = sum r f^T, so that sum r x f is S's axial vector
    following  df = w x f,  dm = v x f + w x m
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastocal.spatial import entries as en
from elastocal.spatial.entries import ORIGIN, Array, Entry, Matrix3, Row3
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
