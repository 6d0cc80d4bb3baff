"""What a controller logs of a moving arm: joint values and torques, row by row.

One row is one instant.  Joint values and torques are those of the model's joints, in its order; what the controller
shows has gone through the transmission already (q = M (c - z), and M^T tau is what the controller's axes feel).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastocal.errors import NumberError, RangeError, ShapeError
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
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
