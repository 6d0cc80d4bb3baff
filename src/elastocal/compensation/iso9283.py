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

from collections.abc import Iterator, Sequence

import numpy as np

from elastocal.arguments import checked
from elastocal.errors import ImplausibleError, MissingError, NumberError, ShapeError, TooFewError
from elastocal.measure.slips import coordinate_slips, length_slips
from elastocal.results import as_frame
from elastocal.solve.dependent import division_of
from elastocal.solve.outliers import LinearJudge, screen_units
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

COARSEST = 1e-4
"""Of the divisions of instruments, in m: positions that agree at round numbers show a coarser one than theirs."""

SUSPECT = 0.01
"""Metres (RMS) between commanded and mean reached positions from which a slip of the table is looked for."""
NEARER = 0.1
"""Part of that which one must leave at most."""


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


@dataclass(frozen=True, eq=False)
class VisitOutlier:
    """A position that the other visits of its pose contradict, in m: in ``axes`` (0 to 2), from where they are."""

    pose: int
    cycle: int
    axes: tuple[int, ...]
    read: Array
    predicted: Array
    probability: float


@dataclass(frozen=True, eq=False, repr=False)
class Iso9283:
    """Of all poses, of distances between neighbours (where both were reached equally often), and of the path.

    Figures are of all readings, as the standard has them; ``without`` are those of the poses without the ``outliers``.
    """

    poses: tuple[PoseFigures, ...]
    distances: tuple[tuple[int, int, DistanceFigures], ...]
    path: PathFigures | None
    outliers: tuple[VisitOutlier, ...]
    without: tuple[PoseFigures, ...]

    def __repr__(self) -> str:
        ap, rp = (max(getattr(p, k) for p in self.poses) for k in ("accuracy", "repeatability"))
        line = f"AT {1e3 * self.path.accuracy:.4g}, RT {1e3 * self.path.repeatability:.4g} mm; " if self.path else ""
        return f"<{len(self.poses)} poses: AP {1e3 * ap:.4g}, RP {1e3 * rp:.4g} mm at worst; {line}style of ISO 9283>"

    def to_frame(self) -> object:
        """One row for every pose, m."""
        keys = ("cycles", "accuracy", "repeatability")
        return as_frame([{"pose": i, **{k: getattr(p, k) for k in keys}} for i, p in enumerate(self.poses)])


@checked()
def iso9283(
    command: Sequence[Array], reached: Sequence[Array], *, desired: Sequence[Array | None] | None = None,
    turned: Sequence[Array | None] | None = None, path: bool = False,
) -> Iso9283:  # fmt: skip
    """Accuracy and repeatability of commanded positions (P, 3) reached (P, cycles, 3) in m, in the style of ISO 9283.

    ``desired`` and ``turned`` are rotations where they were measured; with ``path`` the poses are points of one path,
    all measured in every cycle.  Poses may have been reached in different numbers of cycles otherwise.
    """
    aims = [_points("command", c, i, (3,)) for i, c in enumerate(command)]
    sets = [_points("reached", r, i, (-1, 3)) for i, r in enumerate(reached)]
    if not aims or len(aims) != len(sets):
        raise ShapeError(
            f"{len(aims)} poses were commanded and {len(sets)} reached; give the readings of each",
            value=(len(aims), len(sets)),
        )
    for name, turns in (("desired", desired), ("turned", turned)):
        if turns is not None and len(turns) != len(aims):
            raise ShapeError(
                f"{name} has {len(turns)} poses, command {len(aims)}; give one for each, None where none was measured",
                parameter=name, value=len(turns),
            )  # fmt: skip
    _check_axes(np.stack(aims), np.stack([r.mean(axis=0) for r in sets]))
    none: Sequence[Array | None] = [None] * len(aims)
    rows = list(zip(aims, sets, desired or none, turned or none, strict=True))
    poses, outliers = (
        tuple(pose_figures(*row) for row in rows),
        tuple(o for i, r in enumerate(sets) for o in _far(i, r)),
    )
    pairs = [(i, i + 1) for i in range(len(aims) - 1) if len(sets[i]) == len(sets[i + 1])]
    distances = tuple((a, b, distance_figures(np.stack([aims[a], aims[b]]), sets[a], sets[b])) for a, b in pairs)
    if path and len({len(r) for r in sets}) > 1:
        raise MissingError("the points of a path must all be measured in every cycle; complete the readings")
    line = path_figures(np.stack(aims), np.stack(sets, axis=1)) if path else None
    left = tuple(_without(p, row, [o.cycle for o in outliers if o.pose == i])
                 for i, (p, row) in enumerate(zip(poses, rows, strict=True)))  # fmt: skip
    return Iso9283(poses, distances, line, outliers, left)


def _check_axes(command: Array, mean: Array) -> None:
    """Refuse positions (P, 3) that another unit, exchanged or reversed coordinates bring ten times nearer."""
    left = _apart(command, mean)
    if left < SUSPECT:
        return
    slips = {s: _apart(command, s.undone(mean)) for s in (*length_slips(), *coordinate_slips())}
    best = min(slips, key=lambda s: slips[s])
    if slips[best] < NEARER * left:
        raise ImplausibleError(
            f"the positions reached are {1e3 * left:.4g} mm from those commanded (RMS), and would be "
            f"{1e3 * slips[best]:.3g} mm: {best.text}",
            value=best.word,
        )


def _apart(command: Array, mean: Array) -> float:
    return float(np.sqrt(np.mean(np.sum((mean - command) ** 2, axis=1))))


def _far(pose: int, reached: Array) -> Iterator[VisitOutlier]:
    """Positions (n, 3) that the others of the pose contradict; a step of the instrument's last digit is none.

    Of two nobody can say which is wrong.
    """
    if len(reached) < 3:
        return
    used, mean = np.ones(reached.shape, dtype=bool), np.tile(np.eye(3), (len(reached), 1, 1))
    centred = reached - np.median(reached, axis=0)
    floor = max(
        min(division_of(reached), COARSEST) / 2, np.finfo(float).eps * float(np.max(np.abs(reached), initial=1.0))
    )
    judge = LinearJudge(centred, mean, used, np.zeros(3, dtype=np.int64), floor)
    dropped, units, _ = screen_units(judge, used, np.zeros_like(used))
    predicted = reached - judge.residuals(dropped)
    for unit in units:
        yield VisitOutlier(pose, unit.block, unit.rows, reached[unit.block], predicted[unit.block], unit.probability)


def _without(figures: PoseFigures, row: tuple[Array, Array, Array | None, Array | None], out: list[int]) -> PoseFigures:
    """Figures of a pose without some cycles, where enough are left."""
    if not 0 < len(set(out)) < len(row[1]) - 1:
        return figures
    command, reached, desired, turned = row
    kept = np.delete(np.arange(len(reached)), out)
    return pose_figures(command, reached[kept], desired, None if turned is None else np.asarray(turned)[kept])


def _points(name: str, values: object, pose: int, shape: tuple[int, ...]) -> Array:
    """Finite numbers of a pose; -1 stands for any number of cycles."""
    where = f"{name}[{pose}]"
    points = np.asarray(values, dtype=np.float64)
    if points.ndim != len(shape) or points.shape[-1] != 3:
        wanted = "(3,)" if len(shape) == 1 else "(cycles, 3)"
        raise ShapeError(f"{where} has shape {points.shape}; {wanted} is needed", parameter=name, value=points.shape)
    if not np.isfinite(points).all():
        cycle = [int(i) for i in np.argwhere(~np.isfinite(points))[0][:-1]]
        at = f"{where}, cycle {cycle[0]}" if cycle else where
        raise NumberError(
            f"{at} is not a number: the figures of this pose would be unknown; leave that cycle out, at a path in all "
            "points",
            parameter=name, value=(pose, *cycle),
        )  # fmt: skip
    return points


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

        if np.shape(desired) != (3, 3) or np.shape(turned) != (len(reached), 3, 3):
            raise ShapeError(
                f"rotations have shapes {np.shape(desired)} and {np.shape(turned)}; (3, 3) desired and (cycles, 3, 3) "
                "turned are needed",
                value=(np.shape(desired), np.shape(turned)),
            )
        turns = Rotation.from_matrix(turned)
        middle = turns.mean()
        accuracy = (middle * Rotation.from_matrix(desired).inv()).as_rotvec()
        repeatability = 3 * np.std((turns * middle.inv()).as_rotvec(), axis=0, ddof=1)
    return PoseFigures(
        len(reached), float(np.linalg.norm(mean - command)), _spread(reached[:, None])[0], mean - command,
        accuracy, repeatability,
    )  # fmt: skip


def distance_figures(commands: Array, first: Array, second: Array) -> DistanceFigures:
    """From two commanded positions (2, 3) and the reached ones of both, (n, 3) each."""
    _enough(len(first), "a distance")
    if first.shape != second.shape:
        raise ShapeError(
            f"{len(first)} readings of one end and {len(second)} of the other; give both in every cycle",
            value=(len(first), len(second)),
        )
    reached = np.linalg.norm(second - first, axis=1)
    wanted = np.linalg.norm(commands[1] - commands[0])
    return DistanceFigures(len(first), float(reached.mean() - wanted), float(3 * np.std(reached, ddof=1)))


def path_figures(command: Array, reached: Array) -> PathFigures:
    """From commanded points (m, 3) and the reached ones (n, m, 3) in planes across the commanded path."""
    _enough(len(reached), "a path")
    if reached.shape[1:] != command.shape:
        raise ShapeError(
            f"{reached.shape[1]} points were measured on a path of {len(command)}; give one for each",
            value=(reached.shape[1], len(command)),
        )
    off = np.linalg.norm(reached.mean(axis=0) - command, axis=1)
    spread = _spread(reached)
    return PathFigures(len(reached), float(off.max()), float(spread.max()), off, spread)


def direction_variation(reached: Array) -> float:
    """vAP in m from positions (h, n, 3) reached from h directions."""
    if len(reached) < 2:
        raise TooFewError(
            "variation between directions of approach needs at least two directions", code="few-directions"
        )
    means = reached.mean(axis=1)
    return float(np.linalg.norm(means[:, None] - means[None], axis=2).max())


def _spread(reached: Array) -> Array:
    """mean l + 3 S_l (m,) of points (n, m, 3)."""
    away = np.linalg.norm(reached - reached.mean(axis=0), axis=2)
    return np.asarray(away.mean(axis=0) + 3 * away.std(axis=0, ddof=1))


def _enough(cycles: int, what: str) -> None:
    if cycles < 2:
        raise TooFewError(
            f"{cycles} cycle(s) of {what} tell no repeatability; measure at least two (the standard: 30, 10)",
            value=cycles,
        )
