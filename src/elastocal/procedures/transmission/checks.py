"""What tables can be wrong in as a whole: a joint that never moves, units that differ, columns that are swapped,
equations that scatter more than any display, counter or hand explains.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from elastocal.errors import ImplausibleError, InputError, MissingError, UnobservableError
from elastocal.procedures.transmission.equations import AxisColumn, EncoderSeries, System, system
from elastocal.procedures.transmission.fit import BlockFit, SystemFit
from elastocal.procedures.transmission.matrices import EntryByTable, Matrices, robust_pattern
from elastocal.procedures.transmission.ratios import round_numbers
from elastocal.results import Finding, note, warning
from elastocal.solve.linear import solve_linear
from elastocal.spatial.entries import Array, Bools

UNUSUAL = 1000.0
"""A gear ratio above this is more often a unit that is wrong."""
DEGREES = 180 / np.pi
APART = 10.0
"""Standard deviations by which entries of two tables differ that cannot both be right."""
ALIKE = 0.05
"""How near the slopes of two tables are to a ratio that has a cause."""
NEAR, LEAST = 0.01, 100
"""How near counts per turn are to 57.3 times a number, and the fewest counts per turn that are likely."""


def check_moved(system: System, axes: Sequence[str]) -> None:
    tables = ", ".join(dict.fromkeys(s.table for s in system.series))
    for axis in axes:
        if not any(axis in s.counts for s in system.series):
            raise MissingError(f"{tables}: there are no counts of axis {axis}; add its column {axis}_counts")
        if not any(axis in s.joints for s in system.series):
            raise MissingError(
                f"{tables}: there are no joint values of axis {axis}; add its column, such as {axis}_deg", value=axis
            )
        block = system.block("joint", axis)
        if block is None or axis not in block.inputs:
            raise UnobservableError(
                f"{tables}: joint {axis} never moves while its counts are read; add rows in which it does", value=axis
            )


def check_table_units(series: Sequence[EncoderSeries]) -> None:
    """Two tables whose own entries differ by 57.3 do not have the same unit, by -1 not the same sign."""
    slopes: dict[str, tuple[EncoderSeries, _Slope]] = {}
    for one in series:
        for axis in one.joints:
            slope = _slope(one, axis) if axis in one.counts else None
            if slope is None:
                continue
            if axis in slopes:
                _compare(axis, slopes[axis], (one, slope))
            slopes.setdefault(axis, (one, slope))


_Slope = tuple[float, bool]
"""Counts per unit of the own joint, and whether the rows of the table leave noise only."""


def _compare(axis: str, first: tuple[EncoderSeries, _Slope], second: tuple[EncoderSeries, _Slope]) -> None:
    (one, (slope, sure)), (other, (again, as_sure)) = first, second
    ratio = again / slope
    if sure and as_sure and abs(ratio + 1) < ALIKE:
        against, along = (one, other) if slope < 0 else (other, one)
        raise ImplausibleError(
            f"{against.table}, column {against.joints[axis].heading}: falls as the counts of {axis} grow, and in "
            f"{along.table}, column {along.joints[axis].heading}, it grows with them; turn the sign of one",
            value=(against.table, against.joints[axis].heading, along.table),
        )
    for factor, smaller, larger in ((1 / DEGREES, other, one), (DEGREES, one, other)):
        if abs(abs(ratio) / factor - 1) < ALIKE:
            raise ImplausibleError(
                f"{smaller.table}, column {smaller.joints[axis].heading}: is 57.3 times as large as in "
                f"{larger.table} for the same counts, as degrees are to radians; correct the unit of one",
                value=(smaller.table, smaller.joints[axis].heading, larger.table),
            )


def _slope(series: EncoderSeries, axis: str) -> _Slope | None:
    """With all joints of the series fitted; None where that cannot be had."""
    moving = [a for a, c in series.joints.items() if np.ptp(c.values) > 0]
    if axis not in moving:
        return None
    x = np.column_stack([*(series.joints[a].values for a in moving), np.ones(len(series.rows))])
    y = series.counts[axis].values
    fit = solve_linear(x, y)
    return (float(fit.values[moving.index(axis)]), fit.scatter < SHARE * float(np.ptp(y))) if fit.known.all() else None


def doubts(
    matrices: Matrices,
    fit: SystemFit,
    unseen: Sequence[tuple[str, str]],
    rounds: Sequence[bool],
    prismatic: Collection[str],
) -> tuple[Finding, ...]:
    """What is to be said of a result that may be right; ``rounds``: which counts per turn are a round number."""
    out = [*_followers(matrices, prismatic), *_large(matrices, prismatic), *_motor_units(matrices, rounds)]
    if unseen:
        named = ", ".join(f"{i} by {j}" for i, j in unseen[:6])
        more = f" and {len(unseen) - 6} others" if len(unseen) > 6 else ""
        message = (
            f"{len(unseen)} entries are not measured and count as zero, because no table reads the motor's counts "
            f"while the joint moves: motor {named}{more}."
        )
        out.append(note("not-measured", message, entries=tuple(unseen)))
    out += [
        note(
            "no-spare-rows",
            f"{table}: there are no rows to spare for the {relation}s, so its accuracy is unknown.",
            table=table,
            relation=relation,
        )
        for (table, relation), spare in zip(fit.system.levels, fit.spare, strict=True)
        if spare == 0 and any(np.any(b.block.noise == fit.system.levels.index((table, relation))) for b in fit.blocks)
    ]
    return tuple(out)


def contradicting(pairs: Sequence[tuple[EntryByTable, EntryByTable, float]]) -> tuple[Finding, ...]:
    """Tables each of which says clearly another entry, the worst pair."""
    apart = [p for p in pairs if p[2] > APART]
    if not apart:
        return ()
    a, b, sigmas = max(apart, key=lambda p: p[2])
    message = (
        f"{a.table} and {b.table} disagree on what motor {a.motor} turns with joint {a.joint}: {a.robust:.6g} and "
        f"{b.robust:.6g}, {sigmas:.2g} standard deviations apart; check units and columns of both, and do not rely on "
        "this result."
    )
    return (warning("tables-disagree", message, tables=(a.table, b.table), motor=a.motor, joint=a.joint),)


def not_determined(couplings: Sequence[tuple[str, str]]) -> tuple[Finding, ...]:
    """Couplings that the rows leave open, one sentence for all."""
    if not couplings:
        return ()
    motors = dict.fromkeys(i for i, _ in couplings)
    named = "; ".join(f"motor {i} with {' and '.join(j for k, j in couplings if k == i)}" for i in motors)
    message = (
        f"The rows do not tell which motors turn with other joints ({named}): there are as many unknowns as rows. Add "
        "rows in which these joints move."
    )
    return (warning("not-determined", message, entries=tuple(couplings)),)


def _followers(matrices: Matrices, prismatic: Collection[str]) -> list[Finding]:
    """Joints of the other kind are not compared: a metre is not a radian."""
    out = []
    for i, axis in enumerate(matrices.axes):
        alike = np.array([(j in prismatic) == (axis in prismatic) for j in matrices.axes])
        row = np.abs(np.nan_to_num(matrices.joint[i])) * alike
        if (k := int(np.argmax(row))) != i:
            other = matrices.axes[k]
            message = f"Motor {axis} follows joint {other} more than joint {axis}; check whether columns are swapped."
            out.append(warning("follows-another-joint", message, motor=axis, joint=other))
    return out


def _motor_units(matrices: Matrices, rounds: Sequence[bool]) -> list[Finding]:
    """Counts per turn that are 57.3 times a round number, or as many times more or fewer than those of most axes."""
    out = []
    for axis, counts, is_round in zip(matrices.axes, matrices.per_turn, rounds, strict=True):
        if is_round or not np.isfinite(counts):
            continue
        alike = int(np.sum(_near(matrices.per_turn, counts)))
        for factor in (DEGREES, 1 / DEGREES):
            others = [
                a for a, other in zip(matrices.axes, matrices.per_turn, strict=True) if _near(counts, factor * other)
            ]
            simple = [n for n in round_numbers(2 * counts) if n >= LEAST and _near(counts, factor * n)]
            if len(others) >= alike or (factor > 1 and simple):
                than = f"those of {', '.join(others)}" if len(others) >= alike else f"{simple[0]}"
                message = f"57.3 times {than}" if factor > 1 else f"57.3 times less than {than}"
                text = (
                    f"Counts per motor turn of {axis} would be {counts:.6g}, {message}, as degrees are to radians; "
                    "check the unit of its motor angles."
                )
                out.append(warning("motor-unit", text, axis=axis, counts_per_turn=float(counts)))
    return out


def _near(a: Array | float, b: float) -> Bools:
    return np.asarray(np.abs(np.asarray(a) / b - 1) < NEAR)


def _large(matrices: Matrices, prismatic: Collection[str]) -> list[Finding]:
    own = np.abs(np.diag(matrices.structure))
    return [
        warning(
            "large-ratio",
            f"The gear ratio of {axis} would be {ratio:.4g}; check the units of its joint values and motor angles.",
            axis=axis,
            ratio=float(ratio),
        )
        for axis, ratio in zip(matrices.axes, own, strict=True)
        if ratio > UNUSUAL and axis not in prismatic
    ]


SHARE = 0.01
"""Standard deviation in parts of the range of the counts."""
ANGLE = np.radians(0.5)
"""Standard deviation of a joint angle."""


def scattered(fit: SystemFit, prismatic: Collection[str] = ()) -> tuple[Finding, ...]:
    """One for each table and relation whose residuals are too large to be noise: by its worst motor."""
    out = []
    for n, (table, relation) in enumerate(fit.system.levels):
        scatters = [(share, angle, b) for b in fit.blocks for share, angle in _scatter(b, n, prismatic)]
        wide = [f for f in scatters if f[0] > SHARE or f[1] > ANGLE]
        if wide and fit.levels[n] is not None:
            share, angle, b = max(wide, key=lambda f: f[0])
            amount = "" if np.isnan(angle) else f"{np.degrees(angle):.2g} deg, "
            message = (
                f"{table}: counts of {b.block.axis} scatter by {amount}{100 * share:.2g} % of their range about the "
                f"{relation} values, which is no noise; counters may run over, columns be mixed up or units "
                "differ, so do not rely on this result."
            )
            out.append(warning("scatter", message, table=table, axis=b.block.axis, share=share))
    return tuple(out)


def _scatter(b: BlockFit, level: int, prismatic: Collection[str]) -> Iterator[tuple[float, float]]:
    """Standard deviation of a motor's equations over the range of its counts, and as an angle of its joint."""
    at = b.kept & (b.block.noise == level)
    if not at.any() or np.ptp(b.block.y[at]) == 0:
        return
    sd = float(np.max(b.sd[at]))
    revolute = b.block.relation == "joint" and not set(b.block.inputs) & set(prismatic)
    yield sd / float(np.ptp(b.block.y[at])), sd / b.size if revolute else float("nan")


FEW = 1 / 10
"""Share of the rows that may hold outliers once the columns are in place."""


def swapped(
    series: Sequence[EncoderSeries], from_zero: bool, level: float, prismatic: Collection[str] = ()
) -> str | None:
    """Table and headings of the exchange that leaves fewest outliers; None where none makes sense of the rows."""
    swaps = []
    for message, candidate in _exchanges(series):
        try:
            screening, _ = robust_pattern(system(candidate, from_zero), level)
        except (InputError, np.linalg.LinAlgError):
            continue
        if not scattered(screening.fit, prismatic) and len(screening.outliers) <= FEW * sum(
            len(s.rows) for s in series
        ):
            swaps.append((len(screening.outliers), message))
    return min(swaps)[1] if swaps else None


def _exchanges(series: Sequence[EncoderSeries]) -> Iterator[tuple[str, list[EncoderSeries]]]:
    for k, one in enumerate(series):
        pairs = [
            *((a, b, one.joints, "joints") for a, b in combinations(one.joints, 2)),
            *((a, b, one.counts, "counts") for a, b in combinations(one.counts, 2)),
        ]
        for a, b, columns, group in pairs:
            first, second = sorted((columns[a].heading, columns[b].heading))
            message = f"{one.table}: columns {first} and {second}"
            changed = _with(one, group, {**columns, a: columns[b], b: columns[a]})
            yield message, [*series[:k], changed, *series[k + 1 :]]


def _with(series: EncoderSeries, group: str, columns: Mapping[str, AxisColumn]) -> EncoderSeries:
    return replace(series, joints=columns) if group == "joints" else replace(series, counts=columns)
