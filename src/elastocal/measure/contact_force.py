"""Forces felt while touching known objects: joint values in, contact force out (002 eq. 9, 10).

What is read is the force on the robot at the touching frame, in base axes.  A contact whose state is not determined
(backlash without force) reads nan; one that the model loses reads zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np

from elastocal.errors import RangeError, ShapeError, UnsupportedError
from elastocal.measure.kind import Measurement, Row
from elastocal.model.robot import Robot
from elastocal.model.statics.contact import ContactState, contact
from elastocal.model.statics.contact_observation import ContactObservation, contact_observation
from elastocal.model.surfaces.surface import Touches
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

AXES = ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class ContactForce(Measurement):
    """Joint values (N, n), who touches what, and which components of the force are read ("xy" for a planar robot)."""

    kind: ClassVar[str] = "contact_force"
    touching: ClassVar[bool] = True
    q: Array
    touches: Touches
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
    def count(self) -> int:
        return len(self.q)

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

    @property
    def affine(self) -> bool:
        return False

    @property
    def load_frame(self) -> str:
        return self.touches.frame

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
        """How the readings move with the place and size of the objects, (N, R, p) by ``touches.parameters``."""
        return self.slopes(model, ()).by_objects.force[:, self._columns]

    def by_force(self, model: Robot) -> Array:
        """How they move with an error of the force sensor along x, y, z: (N, R, 3)."""
        return np.broadcast_to(np.eye(3)[self._columns], (self.count, len(self.axes), 3))


def contacts_of(kind: Measurement) -> ContactForce:
    """A measurement that must be one of contacts."""
    if not isinstance(kind, ContactForce):
        raise UnsupportedError(f"a measurement of {kind.kind} has no contacts", value=kind.kind)
    return kind
