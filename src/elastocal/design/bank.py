"""The small matrices D_c = A_c C A_c^T of all candidates, kept while members come and go.

A member leaves or joins, and C changes by a product of k rows:

    C_without - C = R^T R,   C - C_with = R^T R,    R = L^-1 A_j C_0,  L L^T = I + A_j C_0 A_j^T

with C_0 the covariance without the member.  So D_c changes by the gram of R A_c^T, k x p numbers per candidate
instead of p x p.  C itself is never updated but factored anew from the members; rounding that gathers in D_c is
measured on a sample after every change, and D_c is computed anew where it exceeds 1e-10.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from elastocal.design.knowledge import Knowledge
from elastocal.design.small import gram, pushed
from elastocal.design.space import Space
from elastocal.design.trials import Trials
from elastocal.spatial.entries import Array

DRIFT = 1e-10
SAMPLE = 4
"""Candidates of every chunk that the drift is measured on."""


def step(without: Knowledge, block: Array) -> Array:
    """R (k, p) of a member with rows ``block`` (k, p)."""
    seen = block @ without.root
    lower = np.linalg.cholesky(np.eye(len(block)) + seen @ seen.T)
    return np.asarray(np.linalg.solve(lower, seen @ without.root.T))


@dataclass(eq=False)
class Bank:
    """``forms`` of every chunk at one state of knowledge; ``drift`` is the largest error met, ``renewed`` how often."""

    space: Space
    forms: list[Array]
    drift: float = 0.0
    renewed: int = 0

    @classmethod
    def at(cls, space: Space, known: Knowledge) -> Bank:
        return cls(space, _forms(space, known))

    def trials(self, base: Knowledge, left: Array | None = None) -> Iterator[Trials]:
        """Every candidate added, chunk by chunk; ``left`` is R of a member that has left the plan of the forms."""
        for rows, forms in zip(self.space.chunks, self.forms, strict=True):
            yield Trials(base, rows, forms if left is None else gram(pushed(left, rows), forms))

    def move(self, known: Knowledge, joined: Array, left: Array | None = None) -> None:
        """To the state ``known`` after a member left (its R) and another joined."""
        for rows, forms in zip(self.space.chunks, self.forms, strict=True):
            if left is not None:
                _add(forms, gram(pushed(left, rows)), 1)
            _add(forms, gram(pushed(joined, rows)), -1)
        error = self._error(known)
        if error > DRIFT:
            self.forms = _forms(self.space, known)
            self.renewed += 1
        else:
            self.drift = max(self.drift, error)

    def _error(self, known: Knowledge) -> float:
        """Largest difference to D_c computed directly, beside the size of I + D_c."""
        worst, lower = 0.0, np.tril_indices(self.space.k)
        for rows, forms in zip(self.space.chunks, self.forms, strict=True):
            every = max(1, rows.shape[2] // SAMPLE)
            direct = gram(pushed(known.root.T, np.ascontiguousarray(rows[:, :, ::every])))
            size = 1 + np.einsum("aan->an", direct).max(axis=0)
            worst = max(worst, float(np.max(np.abs(forms[:, :, ::every][lower] - direct[lower]) / size)))
        return worst


def _add(forms: Array, change: Array, sign: int) -> None:
    """In place, the lower triangle."""
    for a in range(len(forms)):
        forms[a, : a + 1] += sign * change[a, : a + 1]


def _forms(space: Space, known: Knowledge) -> list[Array]:
    return [gram(pushed(known.root.T, rows)) for rows in space.chunks]
