"""States that were found and wait to be judged: where everything is and what pushes there, worked out once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elastocal.model.chain import ChainState
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.posture import Posture
from elastocal.model.statics.flexibility import Flexibility
from elastocal.model.statics.forces import Forces, Placed, evaluate, force_noise, placed_loads, placed_wrenches
from elastocal.model.statics.state import state_at
from elastocal.spatial.entries import Array, Entry


@dataclass(frozen=True, eq=False)
class FoundStates:
    """Configurations, theta (m, N) of the flexible coordinates, nan where none was found, and what is applied."""

    flex: Flexibility
    posture: Posture
    theta: Array
    applied: tuple[AppliedWrenches, ...]

    @property
    def size(self) -> int:
        return int(self.theta.shape[1])

    @cached_property
    def _at(self) -> tuple[ChainState, list[Entry]]:
        return state_at(self.flex, self.posture, np.where(np.isfinite(self.theta), self.theta, 0.0))

    @cached_property
    def _placed(self) -> list[Placed]:
        state = self._at[0]
        model = self.posture.model
        return placed_loads(model, state) + placed_wrenches(model, state, self.applied)

    @cached_property
    def forces(self) -> Forces:
        """All forces and their tangent; of no meaning where no state was found."""
        state, values = self._at
        return evaluate(self.flex, self.posture, state, self._placed, values)

    @cached_property
    def noise(self) -> Array:
        """How large rounding may make forces that should vanish (m, N)."""
        return force_noise(self.posture.model, self.flex, self.forces, self._placed)

    @cached_property
    def played(self) -> tuple[Array, Array]:
        """What the plays add to the bends (m, N) and to the compliance (m, m, N)."""
        return self.flex.play(self.forces.q)
