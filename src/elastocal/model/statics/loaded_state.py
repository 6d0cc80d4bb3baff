r"""The robot with its joints at given ACTUAL values: what bends then, and which command it takes.

Forces depend on where everything is, not on what was commanded.  So with the joints at v = q + theta,

    theta_J = c + k Q(v, theta_V) + backlash(Q)        needs no solving: q = v - theta_J,
    theta_V = c + k Q(v, theta_V) + backlash(Q)        is left for links, tools and foundations alone.

The sides of all backlash follow from the sign of the total force there.  One kind of load also depends on the value
at rest r = v - (theta - c), the stiffness-only compensator; its few joints take Newton steps in theta - c with slope
dQ/dr.  An offset c that moves with the command is taken where the caller says.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from elastocal.model.chain import JOINT, ChainState
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.posture import Posture
from elastocal.model.robot import Robot
from elastocal.model.statics.flexibility import Flexibility, flexible
from elastocal.model.statics.forces import generalised, loaded_joints, placed_loads, placed_wrenches
from elastocal.spatial import batch
from elastocal.spatial.entries import Array, Entry
from elastocal.values import dataclass

REST_STEPS = 2
"""Newton steps for loads that depend on the value at rest: a bend of 1e-3 rad is known to 1e-7, then to 1e-12."""


@dataclass(frozen=True, eq=False)
class Bent:
    """Chain state; of the flexible coordinates the spatial screws (6, m, N), the forces of all wrenches and theta (m,
    N); ``unloaded`` is their theta without load, (m, N) or (m, 1).

    Axis forces are not in them.  No virtual coordinate feels these, so theta is complete but for the joints.
    """

    state: ChainState
    values: list[Entry]
    screws: Array
    force: Array
    theta: Array
    unloaded: Array


@dataclass(frozen=True, eq=False)
class LoadedRobot:
    """A model sorted into joints and what bends between them."""

    model: Robot

    @cached_property
    def flex(self) -> Flexibility:
        """Everything that bends, and all joints."""
        return flexible(self.model)

    @cached_property
    def joints(self) -> list[int]:
        """Places of the joints among the flexible coordinates, in order of the joint values."""
        return [self.flex.dofs.index(self.model.chain.joint_dof(j)) for j in self.model.joints]

    @cached_property
    def virtual(self) -> list[int]:
        """Places of all other flexible coordinates."""
        chain = self.model.chain.dofs
        return [i for i, dof in enumerate(self.flex.dofs) if chain[dof].axis != JOINT]

    @cached_property
    def rigid_geometry(self) -> bool:
        """Whether nothing but joints bends or is displaced: then the tool's pose follows from v alone."""
        virtual = [i for i, d in enumerate(self.model.chain.dofs) if d.axis != JOINT]
        return not self.virtual and not np.any(self.model.constants[virtual])

    @property
    def followers(self) -> bool:
        """Whether joints follow others: these have no command of their own."""
        return any(f.joint is not None and f.joint.follows is not None for f in self.model.tree.frames)

    def state(
        self, v: Array, virtual: Array | None, applied: Sequence[AppliedWrenches], at: Posture | None = None
    ) -> Bent:
        """The state at joint values v (n, N) and virtual bends (None: unloaded), and the bends that its forces cause.

        Offsets that move with the command are those ``at`` it, or those at v.
        """
        at = at or self.model.posture(v)
        values, unloaded = list(at.offsets), at.unloaded(self.flex.dofs)
        for row, i in zip(v, self.joints, strict=True):
            values[self.flex.dofs[i]] = row
        if virtual is not None:
            for row, i in zip(virtual, self.virtual, strict=True):
                values[self.flex.dofs[i]] = row
        size = v.shape[1]
        state = self.model.chain.evaluate(values, size)
        screws = state.columns(self.flex.dofs)
        placed = placed_loads(self.model, state) + placed_wrenches(self.model, state, applied)
        force = generalised(self.flex, screws, placed)
        theta = self.flex.linear(force)
        if self.flex.backlashes:
            theta += self.flex.backlash_shift(force)
        return Bent(state, values, screws, force, theta + unloaded, unloaded)

    def joint_bends(self, bent: Bent) -> Array:
        """theta (n, N) of the joints, axis forces included."""
        force = bent.force[self.joints]
        loaded = loaded_joints(self.model, bent.values, bent.state.size)
        rest, elastic = dict(loaded), np.zeros_like(force)
        order = {joint: i for i, joint in enumerate(self.model.joints)}
        for _ in range(REST_STEPS):
            total = force.copy()
            slopes: dict[int, Array] = {}
            for load in self.model.loads:
                for axis in load.axis_forces(loaded, rest):
                    i = order[axis.joint]
                    total[i] += axis.force
                    if axis.rest_tangent is not None:
                        slopes[i] = slopes.get(i, np.zeros(1)) + axis.rest_tangent
            gap = self._joint_give(total) - elastic
            if slopes:
                at = sorted(slopes)
                slope = np.array([slopes[i] for i in at])
                tangent = self.joint_compliance[np.ix_(at, at)][:, :, None] * slope + np.eye(len(at))[:, :, None]
                gap[at] = batch.eliminate_unpivoted(tangent, gap[at][:, None])[:, 0]
                for i in at:
                    rest[self.model.joints[i]] = loaded[self.model.joints[i]] - elastic[i] - gap[i]
            elastic += gap
            if not slopes:
                break
        return np.asarray(bent.unloaded[self.joints] + elastic)

    @cached_property
    def joint_compliance(self) -> Array:
        return self.flex.compliance[np.ix_(self.joints, self.joints)]

    def _joint_give(self, force: Array) -> Array:
        """k Q + backlash(Q) of the joints for their forces (n, N)."""
        out = np.zeros_like(force)
        for i, j in np.argwhere(self.joint_compliance):
            out[i] += self.joint_compliance[i, j] * force[j]
        for coordinate, at in self.flex.backlashes:
            if all(i in self.joints for i in at):
                mine = [self.joints.index(i) for i in at]
                shift = coordinate.backlash(force[mine])
                assert shift is not None
                out[mine] += shift[0]
        return out
