"""What may be measured: a block of whitened rows A_c (k, p) per candidate, and what is known before.

    information of a plan = P + sum over the members c of A_c^T A_c

with P the information of an earlier campaign or of priors.  Some of the p parameters may be nuisances: they are
estimated with the others, and no criterion asks how well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from elastocal.errors import InputError
from elastocal.spatial.entries import Array, Ints

ROUNDING = 1e-10
"""Negative eigenvalues of a prior up to this part of the largest (unit diagonal) are rounding."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """``blocks`` (M, k, p) and ``prior`` (p, p); ``nuisance`` are places among the parameters, ``names`` for errors."""

    blocks: Array
    prior: Array | None = None
    nuisance: tuple[int, ...] = ()
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.blocks.ndim != 3 or 0 in self.blocks.shape:
            raise InputError(f"candidates: give blocks of rows (M, k, p), not an array of shape {self.blocks.shape}")
        if not np.all(np.isfinite(self.blocks)):
            bad = int(np.argwhere(~np.isfinite(self.blocks))[0, 0])
            raise InputError(f"candidate {bad}: its rows must be finite numbers; leave it out")
        p = self.parameters
        if self.names and len(self.names) != p:
            raise InputError(f"candidates: {len(self.names)} names for {p} parameters; give one for each")
        if any(not 0 <= i < p for i in self.nuisance) or len(set(self.nuisance)) != len(self.nuisance):
            raise InputError(f"nuisances {self.nuisance}: give different places from 0 to {p - 1}")
        if len(self.nuisance) == p:
            raise InputError("every parameter is called a nuisance; leave at least one to be sought")
        _ = self.prior_rows

    @property
    def parameters(self) -> int:
        return int(self.blocks.shape[2])

    def name(self, i: int) -> str:
        return self.names[i] if self.names else f"parameter {i}"

    @cached_property
    def order(self) -> Ints:
        """Places of the parameters with the nuisances first."""
        rest = [i for i in range(self.parameters) if i not in self.nuisance]
        return np.array([*sorted(self.nuisance), *rest], dtype=np.int64)

    @cached_property
    def prior_rows(self) -> Array:
        """Rows whose squares are the prior, P = rows^T rows, (r, p) with r its rank."""
        p = self.parameters
        if self.prior is None:
            return np.zeros((0, p))
        if self.prior.shape != (p, p) or not np.all(np.isfinite(self.prior)):
            raise InputError(f"prior information: give a matrix of {p} x {p} finite numbers, one row per parameter")
        size = np.sqrt(np.abs(np.diag(self.prior)))
        unit = np.where(size > 0, size, 1.0)
        even = self.prior / np.outer(unit, unit)
        values, vectors = np.linalg.eigh((even + even.T) / 2)
        if not np.allclose(even, even.T, rtol=0, atol=ROUNDING) or values[0] < -ROUNDING * max(values[-1], 1.0):
            raise InputError("prior information: the matrix must be symmetric without negative eigenvalues")
        kept = values > p * np.finfo(float).eps * max(values[-1], 0.0)
        return np.asarray(np.sqrt(values[kept])[:, None] * vectors[:, kept].T * unit)

    def information(self, chosen: Sequence[int]) -> Array:
        """P + sum of A_c^T A_c, (p, p); a candidate named twice counts twice."""
        rows = self.rows(chosen)
        return np.asarray(rows.T @ rows)

    def rows(self, chosen: Sequence[int]) -> Array:
        """Rows of the prior, then those of the candidates chosen."""
        taken = self.blocks[np.asarray(chosen, dtype=np.int64)].reshape(-1, self.parameters)
        return np.concatenate([self.prior_rows, taken])

    def knowing(self, information: Array) -> Self:
        """The same candidates after an earlier campaign whose information (p, p) adds to the prior."""
        return replace(self, prior=information if self.prior is None else self.prior + information)
