"""What a controller says of its joints: a log of values and torques, row by row, torques of slow motion as readings.

One row of a log is one instant.  Joint values and torques are those of the model's joints, in its order; what the
controller shows has gone through the transmission already (q = M (c - z), and M^T tau is what its axes feel).

The reading of a joint is the torque of its drive along +q (``sense`` +1), or the torque of the load that the drive
resists (-1): weight, springs, and what sources of error add.  Friction is one of these, since no statics depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastocal.errors import NumberError, RangeError, ShapeError
from elastocal.measure.kind import Measurement, Row
from elastocal.model.robot import Robot
from elastocal.model.statics.holding import holding_names, holding_observation, holding_torque
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class JointLog:
    """``q`` (N, n) in rad or m; ``torque`` (N, n) in N m or N, nan where none was logged; ``time`` (N,) in s.

    Without ``time`` the rows are in order and the arm is taken to move slowly enough.  ``velocity`` (N, n) is the
    controller's own, in rad/s or m/s.  ``current`` (N, n) is in A, of the motors of the controller's axes.
    ``lines`` (N,) are the lines of ``source`` that the rows come from.
    """

    source: str
    joints: tuple[str, ...]
    q: Array
    torque: Array
    lines: NDArray[np.int64]
    time: Array | None = None
    velocity: Array | None = None
    current: Array | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        rows, n = len(self.q), len(self.joints)
        for name in ("q", "torque", "velocity", "current"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, _frozen(given, (rows, n), f"{self.source}: {name}"))
        if self.time is not None:
            object.__setattr__(self, "time", _frozen(self.time, (rows,), f"{self.source}: time"))
        lines = np.array(self.lines, dtype=np.int64).reshape(rows)
        lines.setflags(write=False)
        object.__setattr__(self, "lines", lines)
        self._check()

    @classmethod
    def of(
        cls, robot: Robot, q: ArrayLike, torque: ArrayLike | None = None, *, time: ArrayLike | None = None,
        velocity: ArrayLike | None = None, current: ArrayLike | None = None, source: str = "log",
        lines: NDArray[np.int64] | None = None, notes: tuple[str, ...] = (),
    ) -> Self:  # fmt: skip
        """Values, torques and velocities (N, n) of the controller's axes in SI; time from its first value.

        Rows of arrays are counted from 1 where they have no ``lines``.
        """

        def table(name: str, values: ArrayLike) -> Array:
            return _shaped(values, (len(np.atleast_1d(q)), robot.n), f"{source}: {name}")

        values, clock = table("q", q), None if time is None else np.asarray(time, dtype=np.float64)
        return cls(
            source,
            robot.joints,
            _own(robot.controller.to_joints(values), values),
            np.full(values.shape, np.nan) if torque is None else _own(joint_torques(robot, table("torque", torque))),
            np.arange(1, len(values) + 1) if lines is None else lines,
            None if clock is None else clock - clock[:1],
            None if velocity is None else table("velocity", velocity) @ robot.controller.matrix.T,
            None if current is None else table("current", current),
            notes,
        )

    def _check(self) -> None:
        for row, joint in np.argwhere(~np.isfinite(self.q))[:1]:
            raise NumberError(
                f"{self.place(row)}: the value of {self.joints[joint]} is not finite; leave the row out",
                value=self.joints[joint],
            )
        if self.time is None:
            return
        for row in np.flatnonzero(~np.isfinite(self.time))[:1]:
            raise NumberError(f"{self.place(row)}: the time is not finite; leave the row out")
        for row in np.flatnonzero(np.diff(self.time) <= 0)[:1] + 1:
            raise RangeError(
                f"{self.place(row)}: the time is {self.time[row]:g} s after {self.time[row - 1]:g} s; "
                "it must grow from row to row, sort the rows and keep one of each",
                value=(self.time[row], self.time[row - 1]),
            )

    @property
    def count(self) -> int:
        return len(self.q)

    def place(self, row: int) -> str:
        """``log.xml, line 12``"""
        return f"{self.source}, line {self.lines[row]}"

    def rows(self, chosen: NDArray[np.bool_] | NDArray[np.int64]) -> Self:
        """The log with these rows only (a mask, or indices in order)."""
        tables = {name: getattr(self, name) for name in ("q", "torque", "lines", "time", "velocity", "current")}
        return replace(self, **{name: values[chosen] for name, values in tables.items() if values is not None})


def joint_torques(model: Robot, axes: Array) -> Array:
    """(N, n) torques of the controller's axes as torques of the joints: tau = M^-T tau_c.

    A torque that is nan spoils those joints only that its axis is coupled to.
    """
    inverse = np.linalg.inv(model.controller.matrix.T)
    out = np.zeros(axes.shape)
    for joint, row in enumerate(inverse):
        for axis in np.flatnonzero(row):
            out[:, joint] += row[axis] * axes[:, axis]
    return out


def _own(array: Array, given: Array | None = None) -> Array:
    """An array that nobody else holds, as it shall stay."""
    if array is not given:
        array.setflags(write=False)
    return array


def _frozen(values: object, shape: tuple[int, ...], what: str) -> Array:
    """A copy that stays as it is, of what could still be changed."""
    array = _shaped(values, shape, what)
    if array.flags.writeable or not array.flags.owndata:
        array = array.copy()
        array.setflags(write=False)
    return array


def _shaped(values: object, shape: tuple[int, ...], what: str) -> Array:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise ShapeError(
            f"{what}: has the shape {array.shape}, but {shape} is needed; give one row per instant",
            value=(array.shape, shape),
        )
    return array


MASSES = ("link_mass", "payload")


@dataclass(frozen=True, eq=False)
class JointTorque(Measurement):
    """Joint values (N, n) of the joints named; ``velocity`` (N, n) in rad/s or m/s, None where it is not known.

    With ``masses_alone`` only masses and mass moments may be sought, in which torques are affine; else joint offsets,
    frame errors and springs too.  ``block`` (N,) numbers the samples that belong together (a sweep, a stretch of a
    path); without it every sample stands alone.
    """

    kind: ClassVar[str] = "joint_torque"
    joints: tuple[str, ...]
    revolute: tuple[bool, ...]
    q: Array
    velocity: Array | None = None
    sense: int = 1
    block: Ints | None = None
    masses_alone: bool = True

    def __post_init__(self) -> None:
        if self.q.shape[1:] != (len(self.joints),) or len(self.revolute) != len(self.joints):
            raise ShapeError(
                f"joint values are {self.q.shape}; give one column for each of {len(self.joints)} joints",
                value=(self.q.shape, len(self.joints)),
            )
        if self.velocity is not None and self.velocity.shape != self.q.shape:
            raise ShapeError(
                f"velocities are {self.velocity.shape}, joint values {self.q.shape}; give one each",
                value=(self.velocity.shape, self.q.shape),
            )
        if self.sense not in (1, -1):
            raise RangeError(f"sense {self.sense}: 1 is the torque of the drive, -1 that of the load", value=self.sense)

    @classmethod
    def of(cls, model: Robot, q: Array, velocity: Array | None = None, **rest: object) -> JointTorque:
        """For all joints of a model."""
        turning = tuple(m.kind == "revolute" for m in model.motions)
        return cls(model.joints, turning, q, velocity, **rest)  # type: ignore[arg-type]

    @property
    def count(self) -> int:
        return len(self.q)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        both = zip(self.joints, self.revolute, strict=True)
        return tuple(Row(f"{j}.torque" if turns else f"{j}.force", "N m" if turns else "N", j) for j, turns in both)

    @cached_property
    def pose(self) -> Ints:
        return np.arange(self.count) if self.block is None else self.block

    @cached_property
    def state(self) -> Ints:
        moving = np.zeros_like(self.q) if self.velocity is None else self.velocity
        both = np.concatenate([np.round(self.q, 12), np.round(moving, 12)], axis=1)
        return np.unique(both, axis=0, return_inverse=True)[1].reshape(-1)

    @property
    def affine(self) -> bool:
        return self.masses_alone

    def names(self, model: Robot, wanted: Sequence[str] | None) -> tuple[str, ...]:
        masses = {p.name for p in model.parameters if p.kind in MASSES}
        known = masses if self.masses_alone else set(holding_names(model))
        picked = [model.parameters.names[i] for i in model.parameters.select(wanted)]
        return tuple(n for n in picked if n in known)

    def predict(self, model: Robot) -> Array:
        return self.sense * holding_torque(model, self.q)

    def derivative(self, model: Robot, names: Sequence[str]) -> Array:
        return self.sense * holding_observation(model, self.q, names)

    def by_joints(self, model: Robot) -> Array:
        """By the arm's own tangent, (N, n, n): a joint that stops off its reading is a joint offset."""
        offset = {j: f"{j}.offset" for j in self.joints}
        missing = [n for n in offset.values() if n not in model.parameters.names]
        if missing:
            from elastocal.model.compliant.joint_offset import JointOffset

            model = model.with_elements(*(JointOffset(joint=n.removesuffix(".offset")) for n in missing))
        return self.sense * holding_observation(model, self.q, list(offset.values()))
