"""Draws of parameters, whatever made them, and their summaries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.errors import InputError
from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class Draws:
    """``draws`` has the parameters along its last axis; all other axes count as one sample."""

    names: tuple[str, ...]
    draws: Array

    @property
    def flat(self) -> Array:
        """(n, p)"""
        return self.draws.reshape(-1, self.draws.shape[-1])

    @property
    def mean(self) -> Array:
        return np.asarray(self.flat.mean(axis=0))

    @property
    def sd(self) -> Array:
        return np.asarray(self.flat.std(axis=0, ddof=1))

    def interval(self, level: float = 0.95) -> Array:
        """(2, p): the quantiles (1 - level) / 2 and (1 + level) / 2 of the draws."""
        if not 0 < level < 1:
            raise InputError(f"interval: the level {level:g} must be between 0 and 1, such as 0.95")
        return np.asarray(np.quantile(self.flat, [(1 - level) / 2, (1 + level) / 2], axis=0))
