"""Whether the noise leaves anything of a parameter: the parameter-to-noise ratio (003 eq. 14, 20)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from elastocal.errors import InputError
from elastocal.identifiability.groups import Groups
from elastocal.spatial.entries import Array

ABOVE, BELOW = 5.0, 2.0


class Practical(StrEnum):
    """Subgroups of G1: G1+ identifiable in practice, G1~ perhaps with more data, G1- lost in the noise."""

    IDENTIFIABLE = "G1+"
    HARDLY = "G1~"
    NOT = "G1-"


@dataclass(frozen=True)
class Expectation:
    """A kept parameter: its value (a combination's, if it absorbs others), standard deviation, ratio and subgroup."""

    name: str
    value: float
    sd: float
    ratio: float
    group: Practical


def practical(ratio: float, above: float = ABOVE, below: float = BELOW) -> Practical:
    """Subgroup of a parameter-to-noise ratio."""
    return Practical.IDENTIFIABLE if ratio > above else Practical.NOT if ratio < below else Practical.HARDLY


def covariance(r: Array, kept: Sequence[int]) -> Array:
    """(A^T A)^-1 of the kept columns of a whitened matrix, by QR with unit columns (003 eq. 14).

    All nan where a column is zero: nothing is known then.
    """
    columns = r[:, list(kept)]
    lengths = np.linalg.norm(columns, axis=0)
    if not np.all(lengths > 0):
        return np.full((len(lengths), len(lengths)), np.nan)
    triangle = np.linalg.qr(columns / lengths, mode="r")
    inverse = np.linalg.solve(triangle, np.eye(len(lengths)))
    return np.asarray(inverse @ inverse.T / np.outer(lengths, lengths))


def expectations(
    groups: Groups, r: Array, values: Array, above: float = ABOVE, below: float = BELOW
) -> tuple[Expectation, ...]:
    """Accuracy to expect for an identifiable basis, from a whitened matrix (one row = one noise unit)."""
    if not above > below > 0:
        raise InputError(f"thresholds {above:g} and {below:g}: the upper must be above the lower, both positive")
    if not groups.kept:
        return ()
    at = {name: i for i, name in enumerate(groups.names)}
    absorbed = {c.kept: [k * values[at[n]] for n, k in c.absorbed] for s in groups.subgroups for c in s.combinations}
    out = []
    for i, sd in zip(groups.kept, np.sqrt(np.diag(covariance(r, groups.kept))), strict=True):
        terms = np.array([values[i], *absorbed.get(groups.names[i], [])])
        value = float(terms.sum())
        if abs(value) < 1e-12 * np.abs(terms).sum():
            value = 0.0  # terms that cancel leave rounding, not a value
        ratio = abs(value) / float(sd)
        out.append(Expectation(groups.names[i], value, float(sd), ratio, practical(ratio, above, below)))
    return tuple(out)
