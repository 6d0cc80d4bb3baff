"""Where the tool is, loaded or not, and how that depends on the parameters that are sought.

Two routes to the same answer.  Where nothing that is sought or present gives way to a load, theta of every degree of
freedom is linear in the parameters with coefficients that the nominal robot decides: they are computed once, and a
step of the search is one run along the chain.  Otherwise the loaded equilibrium is solved.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from elastocal.model.elements import CompliantCoordinate
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.posture import Configurations
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import frame_pose, joint_looseness
from elastocal.model.statics.equilibrium import Equilibrium, equilibrium
from elastocal.model.statics.observation import Marker, loaded_observation
from elastocal.spatial import entries as en
from elastocal.spatial.entries import Array, Entry
from elastocal.values import dataclass

KEPT = 2
"""Sets of states that are remembered: where searches begin, and the newest."""


@dataclass(frozen=True, eq=False)
class ToolStates:
    """Pose of the tool (M, 3), (M, 3, 3) in base axes and its twist by parameters (M, 6, p); nan where undetermined.

    ``loose`` (M, n) is the sd of every joint within its backlash where its side is not certain; None where none has.
    """

    origin: Array
    turn: Array
    slope: Array
    loose: Array | None = None

    def __getitem__(self, rows: slice) -> ToolStates:
        loose = None if self.loose is None else self.loose[rows]
        return ToolStates(self.origin[rows], self.turn[rows], self.slope[rows], loose)


class Tool(Protocol):
    """The tool's states for values of the parameters sought."""

    def states(self, values: Array) -> ToolStates: ...

    def unloaded(self, values: Array) -> ToolStates: ...

    def both(self, values: Array) -> tuple[ToolStates, ToolStates]: ...


def tool_of(
    robot: Robot,
    names: Sequence[str],
    q: Array,
    wrench: Array | None = None,
    frame: str | None = None,
    temperature: Array | None = None,
    *,
    follows: bool = False,
) -> Tool:
    """For joint values (M, n) under wrenches (M, 6) at ``frame`` (None: no external load).

    They are in base axes, or turn with the frame where they follow it.
    """
    configurations = Configurations(q, temperature)
    if _rigid(robot, names):
        return RigidTool(robot, tuple(names), configurations)
    return BentTool(robot, tuple(names), configurations, wrench, frame or robot.tool, follows)


def _rigid(robot: Robot, names: Sequence[str]) -> bool:
    """Nothing bends, and nothing that is sought would."""
    if any(c.active or c.has_backlash for c in robot.compliant):
        return False
    owners = {p.name: e for e, rows in zip(robot.elements, robot.parameter_rows, strict=True) for p in rows}
    return all(isinstance(e := owners[n], CompliantCoordinate) and e.constant_in_load for n in names)


@dataclass(frozen=True, eq=False)
class RigidTool:
    """theta_d = offset_d + sum over (parameter, d, c) of c (value - file value)."""

    robot: Robot
    names: tuple[str, ...]
    at: Configurations

    @cached_property
    def _terms(self) -> tuple[tuple[int, int, Array | float], ...]:
        """Parameter, degree of freedom and coefficient (M,) of everything that is not zero."""
        posture = self.robot.posture(self.at)
        column = {n: i for i, n in enumerate(self.names)}
        out = []
        none = np.zeros((6, posture.size))
        for element, places, rows in zip(
            self.robot.elements, self.robot.places, self.robot.parameter_rows, strict=True
        ):
            picked = [(i, column[p.name]) for i, p in enumerate(rows) if p.name in column]
            if picked and isinstance(element, CompliantCoordinate):
                terms = element.sensitivity(none[: len(places)], posture)
                out += [(c, places[d], value) for i, c in picked for d, value in terms[i]]
        return tuple(out)

    @cached_property
    def _file(self) -> tuple[tuple[Entry, ...], Array]:
        index = self.robot.parameters.index
        return self.robot.posture(self.at).offsets, np.array(
            [self.robot.parameters.values[index(n)] for n in self.names]
        )

    def states(self, values: Array) -> ToolStates:
        chain, size = self.robot.chain, len(self.at)
        offsets, start = self._file
        theta: list[Entry] = list(offsets)
        change = values - start
        for p, dof, value in self._terms:
            if change[p]:
                theta[dof] = en.add(theta[dof], change[p] * value)
        theta = [t if isinstance(t, np.ndarray) else float(t) for t in theta]
        dofs = tuple(sorted({dof for _, dof, _ in self._terms}))
        state = chain.evaluate(chain.values(self.at.q.T, theta), size, screws=dofs)
        twists = state.jacobian(self.robot.tool, dofs)
        place = {dof: i for i, dof in enumerate(dofs)}
        slope = np.zeros((6, len(self.names), size))
        for p, dof, value in self._terms:
            slope[:, p] += twists[:, place[dof]] * value
        turn, origin = state.rotation(self.robot.tool), state.origin(self.robot.tool)
        return ToolStates(origin.T, np.moveaxis(turn, -1, 0), np.moveaxis(slope, -1, 0))

    def unloaded(self, values: Array) -> ToolStates:
        return self.states(values)

    def both(self, values: Array) -> tuple[ToolStates, ToolStates]:
        still = self.states(values)
        return still, still


@dataclass(frozen=True, eq=False)
class BentTool:
    """At the loaded equilibrium.

    Loaded and unloaded states are solved together, a search starting from the states of the values before: a batch of
    twice the size costs little more, and two Newton steps do where three were needed.
    """

    robot: Robot
    names: tuple[str, ...]
    at: Configurations
    wrench: Array | None
    frame: str
    follows: bool = False

    @cached_property
    def _last(self) -> dict[str, Equilibrium]:
        """Where the last search ended: the next begins there, which moves its result by less than Newton's 1e-12."""
        return {}

    @cached_property
    def _known(self) -> dict[tuple[str, bytes], ToolStates]:
        """The states that were asked for last, by their values: searches begin where others ended."""
        return {}

    @cached_property
    def _twice(self) -> Configurations:
        return self.at[np.concatenate([np.arange(len(self.at))] * 2)]

    def states(self, values: Array) -> ToolStates:
        if self.wrench is None or not np.any(self.wrench):
            return self.unloaded(values)
        return self._solved(values, self.at, self.wrench)

    def unloaded(self, values: Array) -> ToolStates:
        return self._solved(values, self.at, None)

    def both(self, values: Array) -> tuple[ToolStates, ToolStates]:
        if self.wrench is None or not np.any(self.wrench):
            still = self.unloaded(values)
            return still, still
        wrench = np.concatenate([self.wrench, np.zeros_like(self.wrench)])
        out = self._solved(values, self._twice, wrench)
        return out[: len(self.at)], out[len(self.at) :]

    def _solved(self, values: Array, configurations: Configurations, wrench: Array | None) -> ToolStates:
        which = f"{len(configurations)} {wrench is None}"
        key = which, values.tobytes()
        if key in self._known:
            self._known[key] = known = self._known.pop(key)
            return known
        robot = (
            self.robot.with_parameters(dict(zip(self.names, values.tolist(), strict=True)))
            if self.names
            else self.robot
        )
        applied = () if wrench is None else (AppliedWrenches(self.frame, wrench, self.follows),)
        bent = self._last[which] = equilibrium(
            robot, configurations, applied, start=self._last.get(which), judged=False
        )
        origin, turn = frame_pose(robot, configurations, bent, robot.tool)
        slope = np.zeros((len(configurations), 6, 0))
        if self.names:
            order, slope, _ = loaded_observation(
                robot, configurations, applied, [Marker(robot.tool, "pose")], self.names, bent
            )
            slope = slope[:, :, [order.index(n) for n in self.names]]
        out = ToolStates(origin.T, np.moveaxis(turn, -1, 0), slope, joint_looseness(robot, bent))
        self._known[key] = out
        for old in list(self._known)[:-KEPT]:
            del self._known[old]
        return out
