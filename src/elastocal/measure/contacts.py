"""Contacts with known objects: the force that is felt, or how far the tip is from the object with that force on it.

The force on the robot at the touching frame (002 eq. 9, 10) has no slope where the model misses the object.  Read as
lengths, with the measured force f on the arm,

    gap = phi(x(q, f)),     turn_i = |f| s_i . n(x)      (s_i at right angles to the measured force)

vanish where model, joint values and force agree.  The gap is smooth and has a slope wherever the model puts the tip;
and it stays well behaved for a stiff arm, of which a micrometre is many newtons.  What is read is zero by definition;
errors of the force sensor move it through the arm's own compliance.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np

from elastocal.errors import RangeError, ShapeError, UnsupportedError
from elastocal.measure.kind import Measurement, Row
from elastocal.measure.markers import Position
from elastocal.measure.setup import Setup, remembered
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.contact import ContactState, contact
from elastocal.model.statics.contact_observation import ContactObservation, contact_observation
from elastocal.model.statics.observation import Marker
from elastocal.model.surfaces.surface import Near, Touches
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

AXES = ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class ContactMeasurement(Measurement):
    """Joint values (N, n) and who touches what."""

    q: Array
    touches: Touches

    @property
    def count(self) -> int:
        return len(self.q)

    @property
    def affine(self) -> bool:
        return False

    @property
    def load_frame(self) -> str:
        return self.touches.frame

    @property
    def objects(self) -> Touches:
        return self.touches


@dataclass(frozen=True, eq=False)
class ContactForce(ContactMeasurement):
    """``axes`` are the components of the force on the robot that are read ("xy" for a planar robot), in base axes.

    A contact whose state is not determined (backlash without force) reads nan; one that the model loses reads zero.
    """

    kind: ClassVar[str] = "contact_force"
    touching: ClassVar[bool] = True
    axes: str = "xyz"

    def __post_init__(self) -> None:
        if not self.axes or any(a not in AXES for a in self.axes) or len(set(self.axes)) != len(self.axes):
            raise RangeError(
                f"axes {self.axes!r}: name components such as xyz, or xy for a planar robot", value=self.axes
            )
        if len(self.q) != len(self.touches):
            raise ShapeError(
                f"{len(self.touches)} contacts are named for {len(self.q)} configurations; give one each",
                value=(len(self.touches), len(self.q)),
            )

    @property
    def rows(self) -> tuple[Row, ...]:
        frame = self.touches.frame
        return tuple(Row(f"{frame}.f{a}", "N", frame) for a in self.axes)

    @cached_property
    def pose(self) -> Ints:
        both = np.concatenate([np.round(self.q, 12), self.touches.which[:, None]], axis=1)
        return np.unique(both, axis=0, return_inverse=True)[1].reshape(-1)

    @property
    def state(self) -> Ints:
        return self.pose

    def picked(self, rows: Ints) -> ContactForce:
        return ContactForce(self.q[rows], self.touches.rows(rows), self.axes)

    @cached_property
    def _columns(self) -> list[int]:
        return [AXES.index(a) for a in self.axes]

    @cached_property
    def _solved(self) -> dict[str, tuple[Robot, ContactState]]:
        return {}

    def touched(self, model: Robot) -> ContactState:
        """The contacts of a model, started from those of the model before it and remembered for the last one."""
        last = self._solved.get("last")
        if last is not None and last[0] is model:
            return last[1]
        state = contact(model, self.q, self.touches, None if last is None else last[1])
        self._solved["last"] = (model, state)
        return state

    def predict(self, model: Robot) -> Array:
        return self.touched(model).force[:, self._columns]

    def slopes(self, model: Robot, names: Sequence[str]) -> ContactObservation:
        return contact_observation(model, self.q, self.touches, names, self.touched(model))

    def derivative(self, model: Robot, names: Sequence[str]) -> Array:
        slopes = self.slopes(model, names).by_parameters
        order = [slopes.names.index(n) for n in names]
        return slopes.force[:, self._columns][:, :, order]

    def by_joints(self, model: Robot) -> Array:
        return self.slopes(model, ()).by_joints.force[:, self._columns]

    def by_objects(self, model: Robot) -> Array:
        return self.slopes(model, ()).by_objects.force[:, self._columns]

    def by_force(self, model: Robot) -> Array:
        return np.broadcast_to(np.eye(3)[self._columns], (self.count, len(self.axes), 3))


def contacts_of(kind: Measurement) -> ContactForce:
    """A measurement that must be one of contacts."""
    if not isinstance(kind, ContactForce):
        raise UnsupportedError(f"a measurement of {kind.kind} has no contacts", value=kind.kind)
    return kind


@dataclass(frozen=True, eq=False)
class ContactGap(ContactMeasurement):
    """Contacts with measured forces (N, 3) on the robot; ``planar`` has one turn, else two."""

    kind: ClassVar[str] = "contact_gap"
    force: Array
    planar: bool = False

    def __post_init__(self) -> None:
        if self.force.shape != (len(self.q), 3) or len(self.q) != len(self.touches):
            raise ShapeError(f"forces are {self.force.shape} for {len(self.q)} contacts; give three numbers each")
        lost = np.flatnonzero(~(np.linalg.norm(self.force, axis=1) > 0))
        if len(lost):
            raise RangeError(
                f"contact {lost[0] + 1}: a force of zero tells nothing of the object; leave it out", value=lost[0] + 1
            )

    @classmethod
    def of(cls, kind: ContactForce, readings: Array) -> ContactGap:
        """The contacts of a force campaign (N, R); components that are not read are zero, as without friction."""
        force = np.zeros((kind.count, 3))
        force[:, ["xyz".index(a) for a in kind.axes]] = readings
        return cls(kind.q, kind.touches, force, planar="z" not in kind.axes)

    @property
    def rows(self) -> tuple[Row, ...]:
        frame = self.touches.frame
        turns = ("turn",) if self.planar else ("turn_u", "turn_v")
        return (Row(f"{frame}.gap", "m", frame), *(Row(f"{frame}.{t}", "N", frame) for t in turns))

    @property
    def pose(self) -> Ints:
        return self.pushed.pose

    @property
    def state(self) -> Ints:
        return np.arange(self.count)

    @cached_property
    def pushed(self) -> Setup:
        """The arm under the measured forces, its tip watched."""
        wrench = np.concatenate([self.force, np.zeros_like(self.force)], axis=1)
        return Setup(self.q, AppliedWrenches(self.touches.frame, wrench), (Marker(self.touches.frame),))

    @cached_property
    def sides(self) -> Array:
        """Unit vectors s_i (N, turns, 3) at right angles to the measured force."""
        e = self.force / np.linalg.norm(self.force, axis=1)[:, None]
        if self.planar:
            return np.stack([-e[:, 1], e[:, 0], np.zeros(self.count)], axis=1)[:, None]
        away = np.eye(3)[np.argmin(np.abs(e), axis=1)]
        first = np.cross(e, away)
        first /= np.linalg.norm(first, axis=1)[:, None]
        return np.stack([first, np.cross(e, first)], axis=1)

    @remembered
    def _near(self, model: Robot) -> tuple[Array, Near]:
        """Tip and object."""
        x = Position(self.pushed).predict(model)
        return x, self.touches.near(np.ascontiguousarray(x.T))

    def predict(self, model: Robot) -> Array:
        near = self._near(model)[1]
        return np.concatenate([near.distance[:, None], self._turned(near.normal.T[:, None])], axis=1)

    def pressed(self, model: Robot) -> Bools:
        """Where the measured force points away from the object, as every object's does (N,)."""
        return np.asarray(np.einsum("ni,in->n", self.force, self._near(model)[1].normal) > 0)

    def _turned(self, vectors: Array) -> Array:
        """|f| s_i . v for vectors (N, 1 or turns, 3): (N, turns)."""
        size = np.linalg.norm(self.force, axis=1)[:, None]
        return np.asarray(size * np.sum(self.sides * vectors, axis=2))

    def _moved(self, model: Robot, steps: Array) -> Array:
        """Readings moved by steps of the tip (N, 3, p)."""
        near = self._near(model)[1]
        size = np.linalg.norm(self.force, axis=1)[:, None, None]
        gap = np.einsum("in,nip->np", near.normal, steps)
        turn = size * np.einsum("nsi,ijn,njp->nsp", self.sides, near.hessian, steps)
        return np.concatenate([gap[:, None], turn], axis=1)

    def derivative(self, model: Robot, names: Sequence[str]) -> Array:
        return self._moved(model, self.pushed.observation(model, names))

    def by_joints(self, model: Robot) -> Array:
        return self._moved(model, self.pushed.by_joints(model))

    def by_objects(self, model: Robot) -> Array:
        x = self._near(model)[0]
        distance, normal = self.touches.by_parameters(np.ascontiguousarray(x.T))
        size = np.linalg.norm(self.force, axis=1)[:, None, None]
        turn = size * np.einsum("nsi,ipn->nsp", self.sides, normal)
        return np.concatenate([distance.T[:, None], turn], axis=1)

    def by_force(self, model: Robot) -> Array:
        """By an error of the force sensor, (N, R, 3): the tip yields, the measured direction turns."""
        near = self._near(model)[1]
        out = self._moved(model, self.pushed.by_load(model)[:, :, :3])
        e = self.force / np.linalg.norm(self.force, axis=1)[:, None]
        out[:, 1:] -= np.einsum("ni,in->n", e, near.normal)[:, None, None] * self.sides
        out[:, 1:] += np.einsum("nsi,in->ns", self.sides, near.normal)[:, :, None] * e[:, None]
        return out
