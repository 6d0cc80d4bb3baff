"""Accuracy and repeatability figures in the style of ISO 9283:1998, from measured validation data.

Formulas as used in public sources, each with its evidence: [C] a public source states it, [M] commonly
quoted, not checked against its text.  The standard itself was not at hand: these are figures of the same style, not a
statement of conformity (which also asks for the test cube, 30 cycles, rated load and warm-up).

    AP_P = |mean p - p_c|                                             pose accuracy, position                       [M]
    AP_a = mean a - a_c                                               pose accuracy, each orientation component     [M]
    RP_l = mean l + 3 S_l,  l_j = |p_j - mean p|                      pose repeatability, position                  [C]
    RP_a = 3 S_a                                                      pose repeatability, orientation (+-)          [M]
    AD   = mean D - D_c                                               distance accuracy                             [M]
    RD   = 3 S_D                                                      distance repeatability (+-)                   [C]
    AT   = max_i |mean p_i - p_ci|                                    path accuracy, position                       [M]
    RT   = max_i (mean l_i + 3 S_li)                                  path repeatability, position                  [M]
    vAP  = max_hk |mean p_h - mean p_k|                               multi-directional pose accuracy variation     [M]

S has n - 1 in its denominator [C].  [C]: the open ISO 9283 test analyser of MIT for RP, GOST R 60.3.3.1-2016 (7.3.3)
for RD. Orientation: the standard's a, b, c are angles that may be averaged only where they are small; here a mean
rotation and rotation vectors from it are used, which agree with them for small deviations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.errors import InputError
from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class PoseFigures:
    """One pose visited ``cycles`` times: metres and radians; orientation figures nan where none was measured."""

    cycles: int
    accuracy: float
    repeatability: float
    offset: Array
    orientation_accuracy: Array
    orientation_repeatability: Array


@dataclass(frozen=True)
class DistanceFigures:
    """Distance between two poses, repeated ``cycles`` times, in m; the repeatability is a +- figure."""

    cycles: int
    accuracy: float
    repeatability: float


@dataclass(frozen=True, eq=False)
class PathFigures:
    """A path of m points run ``cycles`` times: the worst point's figures in m, and those of every point (m,)."""

    cycles: int
    accuracy: float
    repeatability: float
    accuracies: Array
    repeatabilities: Array


def pose_figures(
    command: Array, reached: Array, desired: Array | None = None, turned: Array | None = None
) -> PoseFigures:
    """From a commanded position (3,), reached ones (n, 3), and rotations (3, 3), (n, 3, 3) where they were measured."""
    _enough(len(reached), "a pose")
    mean = reached.mean(axis=0)
    unknown = np.full(3, np.nan)
    accuracy, repeatability = unknown, unknown
    if desired is not None and turned is not None:
        from scipy.spatial.transform import Rotation

        found = Rotation.from_matrix(turned)
        middle = found.mean()
        accuracy = (middle * Rotation.from_matrix(desired).inv()).as_rotvec()
        repeatability = 3 * np.std((found * middle.inv()).as_rotvec(), axis=0, ddof=1)
    return PoseFigures(
        len(reached), float(np.linalg.norm(mean - command)), _spread(reached[:, None])[0], mean - command,
        accuracy, repeatability,
    )  # fmt: skip


def distance_figures(commands: Array, first: Array, second: Array) -> DistanceFigures:
    """From two commanded positions (2, 3) and the reached ones of both, (n, 3) each."""
    _enough(len(first), "a distance")
    if first.shape != second.shape:
        raise InputError(f"{len(first)} readings of one end and {len(second)} of the other; give both in every cycle")
    reached = np.linalg.norm(second - first, axis=1)
    wanted = np.linalg.norm(commands[1] - commands[0])
    return DistanceFigures(len(first), float(reached.mean() - wanted), float(3 * np.std(reached, ddof=1)))


def path_figures(command: Array, reached: Array) -> PathFigures:
    """From commanded points (m, 3) and the reached ones (n, m, 3) in planes across the commanded path."""
    _enough(len(reached), "a path")
    if reached.shape[1:] != command.shape:
        raise InputError(f"{reached.shape[1]} points were measured on a path of {len(command)}; give one for each")
    off = np.linalg.norm(reached.mean(axis=0) - command, axis=1)
    spread = _spread(reached)
    return PathFigures(len(reached), float(off.max()), float(spread.max()), off, spread)


def direction_variation(reached: Array) -> float:
    """vAP in m from positions (h, n, 3) reached from h directions."""
    if len(reached) < 2:
        raise InputError("variation between directions of approach needs at least two directions")
    means = reached.mean(axis=1)
    return float(np.linalg.norm(means[:, None] - means[None], axis=2).max())


def _spread(reached: Array) -> Array:
    """mean l + 3 S_l (m,) of points (n, m, 3)."""
    away = np.linalg.norm(reached - reached.mean(axis=0), axis=2)
    return np.asarray(away.mean(axis=0) + 3 * away.std(axis=0, ddof=1))


def _enough(cycles: int, what: str) -> None:
    if cycles < 2:
        raise InputError(
            f"{cycles} cycle(s) of {what} tell no repeatability; measure at least two (the standard: 30, 10)"
        )
