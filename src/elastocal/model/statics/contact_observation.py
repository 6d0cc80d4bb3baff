"""How contact force and contact point depend on parameters, on the objects and on the joint values.

At the contact a parameter that changes bends or loads moves the tip by u = Lambda (dtheta/dp + k dQ/dp) at a given
contact force: the column of ``observation`` with that force as an external load.  An object's parameter turns the
force by g = lambda dn/ds and moves the surface by t = -dphi/ds.  ``contact_newton.Lever`` does the rest:

    dx = u + C df,   df = lambda H dx + n dlambda + g,   n . dx = t.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

import numpy as np

from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.posture import Configurations
from elastocal.model.robot import Robot
from elastocal.model.statics.contact import ContactState, ContactStatus, checked, contact
from elastocal.model.statics.contact_newton import Lever
from elastocal.model.statics.flexibility import Flexibility, assemble
from elastocal.model.statics.forces import chunk_size
from elastocal.model.statics.observation import Marker, Response, joint_columns, parameter_derivatives, response
from elastocal.model.surfaces.surface import Touches
from elastocal.spatial import batch
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class Slopes:
    """Derivatives (N, 3, p) of the force on the robot and of the tip; nan where the contact is not known.

    Without contact the force's are zero, the point's are nan: the tip may float within the backlash.
    """

    names: tuple[str, ...]
    force: Array
    point: Array


@dataclass(frozen=True, eq=False)
class _Held:
    """One chunk of contacts with what all derivatives share."""

    flex: Flexibility
    touches: Touches
    at: Response
    lever: Lever
    size: Array


@dataclass(frozen=True, eq=False)
class ContactObservation:
    """By parameters of the model, of the objects, and by the joint values; each is computed when asked for."""

    model: Robot
    touches: Touches
    picked: tuple[int, ...]
    state: ContactState
    held: tuple[_Held, ...]

    @cached_property
    def by_parameters(self) -> Slopes:
        names = tuple(self.model.parameters.names[i] for i in self.picked)
        return self._slopes(names, lambda h: parameter_derivatives(h.flex, h.at, self.picked))

    @cached_property
    def by_joints(self) -> Slopes:
        return self._slopes(self.model.joints, lambda h: joint_columns(h.flex, h.at))

    @cached_property
    def by_objects(self) -> Slopes:
        parts = []
        for h in self.held:
            by_distance, by_normal = h.touches.by_parameters(h.at.state.origin(h.touches.frame))
            turned = h.size * by_normal
            parts.append(_answer(h.lever, batch.matmul(h.lever.give, turned), -by_distance, turned))
        return self._joined(tuple(p.name for p in self.touches.parameters), parts)

    def _slopes(self, names: tuple[str, ...], columns: Callable[[_Held], Array]) -> Slopes:
        """Of what moves the tip at a given contact force and leaves the object alone."""
        parts = []
        for h in self.held:
            free = columns(h)
            parts.append(_answer(h.lever, free, np.zeros(free.shape[1:]), 0.0))
        return self._joined(names, parts)

    def _joined(self, names: tuple[str, ...], parts: Sequence[tuple[Array, Array]]) -> Slopes:
        force, point = (np.concatenate([part[i] for part in parts], axis=2) for i in range(2))
        clear = self.state.status == ContactStatus.NO_CONTACT
        force[:, :, clear], point[:, :, clear] = 0.0, np.nan
        unknown = ~self.state.known
        force[:, :, unknown] = point[:, :, unknown] = np.nan
        return Slopes(names, np.moveaxis(force, -1, 0), np.moveaxis(point, -1, 0))


def _answer(lever: Lever, free: Array, target: Array, turned: Array | float) -> tuple[Array, Array]:
    """Derivatives (3, p, N) of force and point."""
    with np.errstate(all="ignore"):  # rows without a contact are overwritten
        change = lever.size(free, target)
        return lever.force(free, change, turned), lever.point(free, change)


def contact_observation(
    model: Robot,
    q: object,
    touches: Touches,
    parameters: Iterable[str] | None = None,
    state: ContactState | None = None,
) -> ContactObservation:
    """Derivatives of N contacts; ``parameters`` None means all, ``state`` is their solution where it is known."""
    configurations = checked(model, q, touches)
    touched = contact(model, configurations, touches) if state is None else state
    flex = assemble(model, sorted({*model.joint_dofs, *(i for at in model.places for i in at)}))
    size = chunk_size(flex.n)
    slices = [slice(a, min(a + size, len(configurations))) for a in range(0, len(configurations), size)]
    held = tuple(_held(model, flex, configurations[rows], touches.rows(rows), touched, rows) for rows in slices)
    return ContactObservation(model, touches, model.parameters.select(parameters), touched, held)


def _held(
    model: Robot, flex: Flexibility, q: Configurations, touches: Touches, state: ContactState, rows: slice
) -> _Held:
    theta = np.nan_to_num(state.theta[rows].T[list(flex.dofs)])
    wrench = np.zeros((len(q), 6))
    wrench[:, :3] = np.nan_to_num(state.force[rows])
    applied = [AppliedWrenches(touches.frame, wrench)]
    at = response(flex, model.posture(q), theta, applied, [Marker(touches.frame)])
    give = batch.matmul(at.bent.swapaxes(0, 1), at.direct.swapaxes(0, 1))
    size = np.nan_to_num(state.size[rows])
    lever = Lever.of(touches.near(at.state.origin(touches.frame)), size, give)
    return _Held(flex, touches, at, lever, size)
