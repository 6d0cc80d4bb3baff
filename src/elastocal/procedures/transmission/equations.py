"""What was logged, and the two linear relations of every row as one system of equations (001 eq. 3 and 5).

    motor    eps_i = (c_i / 2 pi) phi_i + a_i          c_i counts per turn
    joint    eps_i = sum_j t_ij theta_j + o_i          t_ij counts per rad (or m)

A series is a set of rows with the same zero of the counters: joint values that it does not record stood still.  Joint
values are in rad or m, motor angles in rad, counts in counts.  One block = one relation of one motor: its unknowns
appear nowhere else.  Each series has offsets a_i, o_i of its own (o_i = 0 with ``from_zero``).  Errors of theta and
phi act on the counts by t_ij and c_i; each table and relation has one noise level
(``elastocal.procedures.transmission.fit``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from elastocal.arguments import vector
from elastocal.errors import NumberError, ShapeError, UnobservableError
from elastocal.solve.linear import solve_linear
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

What = Literal["counts", "motor", "joint"]
TURN = 2 * np.pi
DISPLAYED = 100
"""Last places in the largest value of a display, at least: coarser ones were set to round values."""


@dataclass(frozen=True, eq=False)
class AxisColumn:
    """Numbers of one heading in SI; ``factor`` leads from what is printed (``texts``) to them.

    ``added`` are the counts by which ``values`` are ahead of what a counter that ran over shows.  Numbers that are not
    ``printed`` come from an array, which has no last place.
    """

    heading: str
    values: Array
    factor: float
    texts: tuple[str, ...]
    added: Array | float = 0.0
    printed: bool = True

    @classmethod
    def of(cls, heading: str, numbers: ArrayLike, factor: float = 1.0) -> AxisColumn:
        values = np.asarray(numbers, dtype=np.float64)
        return cls(heading, values * factor, factor, tuple(f"{v:.12g}" for v in values), printed=False)

    @property
    def last_place(self) -> float:
        """What the last digit that is printed stands for, in SI; 0.0 of values that were set and not read: most have
        fewer decimals than one of them, or all have fewer than three digits."""
        decimals = [len(t.strip().partition(".")[2]) for t in self.texts] if self.printed else []
        most = max(decimals, default=0)
        place = abs(self.factor) * 10.0**-most
        fine = DISPLAYED * place <= float(np.max(np.abs(self.values), initial=0.0))
        return place if most and fine and 2 * decimals.count(most) > len(decimals) else 0.0

    def as_printed(self, values: Array) -> Array:
        """Numbers of this column (n,) in the unit and with the zero that they are printed in."""
        return np.asarray((values - self.added) / self.factor)


@dataclass(frozen=True, eq=False)
class EncoderSeries:
    """Rows of one ``table`` by axis; ``rows`` are their numbers there, ``row_word`` what these count."""

    table: str
    rows: tuple[int, ...]
    counts: Mapping[str, AxisColumn]
    joints: Mapping[str, AxisColumn] = field(default_factory=dict)
    motors: Mapping[str, AxisColumn] = field(default_factory=dict)
    row_word: str = "row"

    def __post_init__(self) -> None:
        for what, axis, column in self.columns():
            if len(column.values) != len(self.rows):
                raise ShapeError(f"{self.table}: {what} of {axis} has {len(column.values)} of {len(self.rows)} rows")
            if not np.all(np.isfinite(column.values)):
                raise NumberError(f"{self.table}, column {column.heading}: holds a number that is not finite")

    @classmethod
    def of(
        cls, counts: Mapping[str, ArrayLike], joints: Mapping[str, ArrayLike] | None = None,
        motors: Mapping[str, ArrayLike] | None = None, *, table: str = "series",
    ) -> EncoderSeries:  # fmt: skip
        """Arrays by axis: counts, joint values in rad or m, motor angles in rad; rows are counted from 1."""

        def columns(word: str, values: Mapping[str, ArrayLike] | None) -> dict[str, AxisColumn]:
            return {a: AxisColumn.of(f"{word} {a}", vector(f"{word} {a}", v)) for a, v in (values or {}).items()}

        logged = columns("counts", counts)
        rows = max((len(c.values) for c in logged.values()), default=0)
        return cls(table, tuple(range(1, rows + 1)), logged, columns("joint", joints), columns("motor", motors))

    def columns(self) -> Iterator[tuple[What, str, AxisColumn]]:
        yield from (("counts", a, c) for a, c in self.counts.items())
        yield from (("motor", a, c) for a, c in self.motors.items())
        yield from (("joint", a, c) for a, c in self.joints.items())

    def column(self, what: What, axis: str) -> AxisColumn:
        return {"counts": self.counts, "motor": self.motors, "joint": self.joints}[what][axis]

    def place(self, row: int, column: AxisColumn) -> str:
        return f"{self.table}, {self.row_word} {self.rows[row]}, column {column.heading}"

    def with_added(self, axis: str, counts: Array | float) -> EncoderSeries:
        """The same with these counts added to what the encoder of an axis shows."""
        old = self.counts[axis]
        column = replace(old, values=old.values + counts, added=old.added + counts)
        return replace(self, counts={**self.counts, axis: column})


def named_axes(series: Sequence[EncoderSeries]) -> tuple[str, ...]:
    """Every axis that is named, in the order of its first mention."""
    return tuple(dict.fromkeys(axis for s in series for _, axis, _ in s.columns()))


Relation = Literal["motor", "joint"]


@dataclass(frozen=True, eq=False)
class MotorEquations:
    """Equations ``y = x beta`` of one motor; ``inputs`` name the first columns of x, offsets stand behind them.

    ``series`` and ``rows`` (n,) say where each equation comes from, ``noise`` (n,) which level it has.
    """

    relation: Relation
    axis: str
    inputs: tuple[str, ...]
    x: Array
    y: Array
    series: Ints
    rows: Ints
    noise: Ints


@dataclass(frozen=True, eq=False)
class System:
    """All blocks; ``levels`` names the noise levels by table and relation, ``rounding`` are the variances of their
    angles by the digits that are printed."""

    series: tuple[EncoderSeries, ...]
    axes: tuple[str, ...]
    from_zero: bool
    blocks: tuple[MotorEquations, ...]
    levels: tuple[tuple[str, Relation], ...]
    rounding: tuple[float, ...]

    def block(self, relation: Relation, axis: str) -> MotorEquations | None:
        return next((b for b in self.blocks if (b.relation, b.axis) == (relation, axis)), None)


def system(series: Sequence[EncoderSeries], from_zero: bool = False) -> System:
    """The equations of some series; refuses motions that cannot be told apart."""
    every, axes = tuple(series), named_axes(series)
    tables = tuple(dict.fromkeys(s.table for s in every))
    levels: tuple[tuple[str, Relation], ...] = tuple((t, r) for t in tables for r in ("motor", "joint"))
    blocks = [b for axis in axes for b in (_motor(every, axis, levels), _joint(every, axis, from_zero, levels)) if b]
    rounding = tuple(_rounding([s for s in every if s.table == t], r) for t, r in levels)
    return System(every, axes, from_zero, tuple(blocks), levels, rounding)


def _rounding(series: Sequence[EncoderSeries], relation: Relation) -> float:
    """Of the column with the finest digits, of those that were read."""
    columns = [c for s in series for c in (s.joints if relation == "joint" else s.motors).values()]
    return min((place for c in columns if (place := c.last_place)), default=0.0) ** 2 / 12


def _motor(series: Sequence[EncoderSeries], axis: str, levels: Sequence[tuple[str, Relation]]) -> MotorEquations | None:
    used = [(k, s) for k, s in enumerate(series) if axis in s.counts and axis in s.motors]
    if not used:
        return None
    angles = [s.motors[axis].values[:, None] for _, s in used]
    block = _block("motor", axis, (axis,), used, angles, False, levels)
    if all(np.ptp(a) == 0 for a in angles):
        raise UnobservableError(f"{used[0][1].table}: motor {axis} never turns; turn it, or leave its angles out")
    return block


def _joint(
    series: Sequence[EncoderSeries], axis: str, from_zero: bool, levels: Sequence[tuple[str, Relation]]
) -> MotorEquations | None:
    used = [(k, s) for k, s in enumerate(series) if axis in s.counts and s.joints]
    named = dict.fromkeys(j for _, s in used for j in s.joints)
    inputs = tuple(j for j in named if any(_moves(s, j, from_zero) for _, s in used))
    if not inputs:
        return None
    angles = [
        np.column_stack([s.joints[j].values if j in s.joints else np.zeros(len(s.rows)) for j in inputs])
        for _, s in used
    ]
    block = _block("joint", axis, inputs, used, angles, from_zero, levels)
    _check_apart(block, series)
    return block


def _moves(series: EncoderSeries, joint: str, from_zero: bool) -> bool:
    if joint not in series.joints:
        return False
    values = series.joints[joint].values
    return bool(np.any(values != 0)) if from_zero else bool(np.ptp(values) > 0)


def _block(
    relation: Relation, axis: str, inputs: tuple[str, ...], used: Sequence[tuple[int, EncoderSeries]],
    angles: Sequence[Array], from_zero: bool, levels: Sequence[tuple[str, Relation]],
) -> MotorEquations:  # fmt: skip
    counts = [len(s.rows) for _, s in used]
    offsets = np.repeat(np.eye(len(used)), counts, axis=0)
    x = np.vstack(angles) if from_zero else np.hstack([np.vstack(angles), offsets])
    return MotorEquations(
        relation,
        axis,
        inputs,
        x,
        np.concatenate([s.counts[axis].values for _, s in used]),
        np.repeat([k for k, _ in used], counts),
        np.concatenate([np.arange(n) for n in counts]),
        np.repeat([levels.index((s.table, relation)) for _, s in used], counts),
    )


def _check_apart(block: MotorEquations, series: Sequence[EncoderSeries]) -> None:
    """Joints that move in proportion cannot be told apart, nor one that moves no more often than it has unknowns."""
    known = solve_linear(block.x, block.y).known
    if known.all():
        return
    names = " and ".join(j for j, sure in zip(block.inputs, known, strict=False) if not sure)
    tables = ", ".join(dict.fromkeys(series[k].table for k in block.series))
    raise UnobservableError(
        f"{tables}: {len(block.y)} rows do not tell apart what {names} do to motor {block.axis}; add rows in which "
        "they move differently, or write a table in which each joint moved alone with a column axis",
        value=(len(block.y), names, block.axis),
    )
