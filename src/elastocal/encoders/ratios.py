"""Counts per turn and entries of S as the simple numbers that the data support."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from elastocal.encoders.fit import Pattern
from elastocal.encoders.matrices import Matrices
from elastocal.encoders.rational import Simple, round_counts, simplest_fraction, supported
from elastocal.encoders.series import TURN
from elastocal.spatial.entries import Array

TURNS_PER_MM = 1 / (1000 * TURN)
"""From rad/m."""


@dataclass(frozen=True, eq=False)
class Ratios:
    """S with counts per turn that are round where the data support it, and the fractions that its entries stand for.

    ``fractions`` by motor and joint, for entries that are not zero; ``proposed`` are those that the data support.
    They stand for S times ``scale`` (n,) by joint: turns per turn, or turns per mm where the joint is prismatic.
    """

    counts: tuple[Simple | None, ...]
    counts_proposed: tuple[bool, ...]
    matrices: Matrices
    fractions: Mapping[tuple[str, str], Simple | None]
    proposed: Mapping[tuple[str, str], bool]
    scale: Array

    @property
    def per_turn(self) -> Array:
        """Counts per turn: the round number where it is proposed, else as measured."""
        return self.matrices.per_turn

    @property
    def structure(self) -> Array:
        """S: the fraction where it is proposed, else as measured with these counts per turn; unknown entries are 0."""
        out, axes = np.nan_to_num(self.matrices.structure), self.matrices.axes
        for (i, j), simple in self.fractions.items():
            if simple is not None and self.proposed[i, j]:
                out[axes.index(i), axes.index(j)] = float(simple.value) / self.scale[axes.index(j)]
        return out


def ratios_of(robust: Matrices, pattern: Pattern, known: Array, prismatic: Collection[str] = ()) -> Ratios:
    """Simple numbers for counts per turn that are not ``known`` (n,), then for the entries of the pattern."""
    axes = robust.axes
    counts = tuple(
        None
        if np.isfinite(known[i])
        else round_counts(*(float(v[i]) for v in (robust.per_turn, robust.per_turn_sd, robust.per_turn_freedom)))
        for i in range(len(axes))
    )
    kept = supported(counts)
    exact = np.array([float(c.value) if c is not None and k else np.nan for c, k in zip(counts, kept, strict=True)])
    found = robust.with_per_turn(exact)
    s, sd, freedom = found.structure, found.structure_sd, found.structure_freedom
    entries = [(i, j) for i in axes for j in axes if j in pattern.get(i, frozenset())]
    at = [(axes.index(i), axes.index(j)) for i, j in entries]
    scale = np.array([TURNS_PER_MM if a in prismatic else 1.0 for a in axes])
    simple = [simplest_fraction(*(float(v[k]) for v in (s * scale, sd * scale, freedom))) for k in at]
    proposed = supported(simple)
    return Ratios(
        counts, kept, found, dict(zip(entries, simple, strict=True)), dict(zip(entries, proposed, strict=True)), scale
    )
