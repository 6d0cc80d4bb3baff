"""What tables can be wrong in as a whole: a joint that never moves, units that differ, columns that are swapped."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastocal.encoders.equations import System
from elastocal.encoders.fit import Fit, Pattern
from elastocal.encoders.matrices import Matrices
from elastocal.encoders.series import Series
from elastocal.errors import InputError

UNUSUAL = 1000.0
"""A gear ratio above this is more often a unit that is wrong."""
DEGREES = 180 / np.pi


def check_moved(system: System, axes: Sequence[str]) -> None:
    tables = ", ".join(dict.fromkeys(s.table for s in system.series))
    for axis in axes:
        if not any(axis in s.counts for s in system.series):
            raise InputError(f"{tables}: there are no counts of axis {axis}; add its column {axis}_counts")
        if not any(axis in s.joints for s in system.series):
            raise InputError(f"{tables}: there are no joint values of axis {axis}; add its column, such as {axis}_deg")
        block = system.block("joint", axis)
        if block is None or axis not in block.inputs:
            raise InputError(f"{tables}: joint {axis} never moves while its counts are read; add rows in which it does")


def check_units(series: Sequence[Series]) -> None:
    """Two tables whose own entries differ by 57.3 do not have the same unit."""
    found: dict[str, tuple[Series, float]] = {}
    for one in series:
        for axis in one.joints:
            slope = _slope(one, axis) if axis in one.counts else np.nan
            if not np.isfinite(slope):
                continue
            if axis in found:
                ratio = abs(slope / found[axis][1])
                for factor, smaller, larger in ((1 / DEGREES, one, found[axis][0]), (DEGREES, found[axis][0], one)):
                    if abs(ratio / factor - 1) < 0.05:
                        raise InputError(
                            f"{smaller.table}, column {smaller.joints[axis].heading}: is 57.3 times as large as in "
                            f"{larger.table} for the same counts, as degrees are to radians; correct the unit of one"
                        )
            found.setdefault(axis, (one, slope))


def _slope(series: Series, axis: str) -> float:
    """Counts per unit of the own joint, all joints of the series fitted; nan where that cannot be had."""
    moving = [a for a, c in series.joints.items() if np.ptp(c.values) > 0]
    if axis not in moving:
        return float("nan")
    x = np.column_stack([*(series.joints[a].values for a in moving), np.ones(len(series.rows))])
    if np.linalg.matrix_rank(x / np.max(np.abs(x), axis=0)) < x.shape[1]:
        return float("nan")
    return float(np.linalg.lstsq(x, series.counts[axis].values, rcond=None)[0][moving.index(axis)])


def doubts(found: Matrices, pattern: Pattern, fit: Fit, unseen: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """What is to be said of a result that may be right."""
    out = []
    s = found.structure if np.isfinite(found.per_turn).all() else found.joint
    for i, axis in enumerate(found.axes):
        row = np.abs(np.nan_to_num(s[i]))
        if (k := int(np.argmax(row))) != i:
            out.append(
                f"Motor {axis} follows joint {found.axes[k]} more than joint {axis}; check whether columns are swapped."
            )
    out += _large(found)
    if unseen:
        named = ", ".join(f"{i} by {j}" for i, j in unseen[:6])
        more = f" and {len(unseen) - 6} others" if len(unseen) > 6 else ""
        out.append(
            f"{len(unseen)} entries are not measured and count as zero, because no table reads the motor's counts "
            f"while the joint moves: motor {named}{more}."
        )
    out += [
        f"{table}: there are no rows to spare for the {relation}s, so its accuracy is unknown."
        for (table, relation), spare in zip(fit.system.levels, fit.spare, strict=True)
        if spare == 0 and any(np.any(b.block.noise == fit.system.levels.index((table, relation))) for b in fit.blocks)
    ]
    return tuple(out)


def _large(found: Matrices) -> list[str]:
    own = np.abs(np.diag(found.structure))
    return [
        f"The gear ratio of {axis} would be {ratio:.4g}; check the units of its joint values and motor angles."
        for axis, ratio in zip(found.axes, own, strict=True)
        if ratio > UNUSUAL
    ]
