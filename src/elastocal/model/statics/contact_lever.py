"""The four equations of a contact's tangent: how the tip moves and the force changes when something else does.

    dx = u + C df,   df = lambda H dx + n dlambda + g,   n . dx = t

u is what moves the tip at a given force, C its compliance, g what turns the force at a given tip, t what moves the
surface.  With M = I - lambda C H:

    dx = M^-1 (u + C g) + M^-1 C n dlambda,    dlambda = (t - n . M^-1 (u + C g)) / (n . M^-1 C n)

The contact is stable where the energy of the tip on the surface is least, which needs det(M) n . M^-1 C n > 0:
else the tip slides off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.model.surfaces.surface import Near
from elastocal.spatial import batch
from elastocal.spatial.entries import Array, Bools


@dataclass(frozen=True, eq=False)
class Lever:
    """Normal n (3, N), lambda H and C (3, 3, N), M^-1 (3, 3, N), M^-1 C n (3, N) and its part along n (N,)."""

    normal: Array
    turn: Array
    give: Array
    inverse: Array
    along: Array
    yields: Array

    @classmethod
    def of(cls, near: Near, size: Array, give: Array) -> Lever:
        turn = size * near.hessian
        unit = np.eye(3)[:, :, None]
        inverse = batch.eliminate_unpivoted(unit - batch.matmul(give, turn), np.broadcast_to(unit, give.shape))
        along = np.einsum("ijn,jkn,kn->in", inverse, give, near.normal)
        return cls(near.normal, turn, give, inverse, along, np.einsum("in,in->n", near.normal, along))

    def slips(self) -> Bools:
        return np.asarray(~(self.yields * np.linalg.det(np.moveaxis(self.inverse, -1, 0)) > 0))

    def size(self, free: Array, target: Array) -> Array:
        """dlambda (..., N) for u + C g (3, ..., N) and t (..., N); not finite where the tip cannot yield along n."""
        with np.errstate(all="ignore"):
            return np.asarray((target - self._through(free)) / self.yields)

    def force(self, free: Array, size: Array, turned: Array | float = 0.0) -> Array:
        """df (3, ..., N) for u + C g, dlambda and g."""
        dx = self.point(free, size)
        return np.asarray(np.einsum("ijn,j...n->i...n", self.turn, dx) + self._spread(self.normal, size) + turned)

    def point(self, free: Array, size: Array) -> Array:
        """dx (3, ..., N)."""
        return np.asarray(np.einsum("ijn,j...n->i...n", self.inverse, free) + self._spread(self.along, size))

    def _through(self, free: Array) -> Array:
        return np.asarray(np.einsum("in,ijn,j...n->...n", self.normal, self.inverse, free))

    @staticmethod
    def _spread(vector: Array, size: Array) -> Array:
        return vector[:, None] * size if size.ndim == 2 else vector * size
