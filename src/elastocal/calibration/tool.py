"""Where the tool is, loaded or not, and how that depends on the parameters that are sought.

Two routes to the same answer.  Where nothing that is sought or present gives way to a load, theta of every degree of
freedom is linear in the parameters with coefficients that the nominal robot decides: they are computed once, and a
step of the search is one run along the chain.  Otherwise the loaded equilibrium is solved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Literal, Protocol

import numpy as np

from elastocal.model.elements import CompliantCoordinate
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.posture import Configurations
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import frame_pose, joint_looseness
from elastocal.model.statics.equilibrium import Equilibrium, equilibrium
from elastocal.model.statics.observation import Marker, loaded_observation
from elastocal.spatial import entries as en
from elastocal.spatial.entries import Array, Entry, Ints
from elastocal.spatial.rotation import rotations
from elastocal.values import dataclass

KEPT = 2
"""Sets of states that are remembered: where searches begin, and the newest."""
REACH = 2e-4
"""How far the tool may be moved along the slopes of states that were solved, in m and rad: arms bend by some mrad, so
that what the slopes do not know of is less than a hundredth of that."""
Which = Literal["loaded", "unloaded", "both"]


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
    """The tool's states for values of the parameters sought; ``exact`` where none that are nearby will do.

    ``solved``: whether those that were given last are exact for these values."""

    def states(self, values: Array, exact: bool = True) -> ToolStates: ...

    def unloaded(self, values: Array, exact: bool = True) -> ToolStates: ...

    def both(self, values: Array, exact: bool = True) -> tuple[ToolStates, ToolStates]: ...

    def solved(self, values: Array) -> bool: ...


def tool_of(
    robot: Robot,
    names: Sequence[str],
    q: Array,
    wrench: Array | None = None,
    frame: str | None = None,
    temperature: Array | None = None,
    *,
    follows: bool = False,
    near: Iterable[Tool] = (),
) -> Tool:
    """For joint values (M, n) under wrenches (M, 6) at ``frame`` (None: no external load).

    They are in base axes, or turn with the frame where they follow it.  ``near`` are tools of similar robots at the
    same, from whose states searches begin.
    """
    configurations = Configurations(q, temperature)
    if _rigid(robot, names):
        return RigidTool(robot, tuple(names), configurations)
    similar = [t for t in near if isinstance(t, BentTool) and t.robot.chain.dofs == robot.chain.dofs]
    starts = {which: known[-1].bent for tool in similar for which, known in tool._known.items() if known}
    return BentTool(robot, tuple(names), configurations, wrench, frame or robot.tool, follows, starts)


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
    def _columns(self) -> tuple[tuple[Ints, Ints, Array], ...]:
        """The same, parameters (k,), degrees of freedom (k,) and coefficients (k, M): no parameter twice in one."""
        parts: list[list[tuple[int, int, Array | float]]] = []
        count = Counter[int]()
        for term in self._terms:
            count[term[0]] += 1
            if count[term[0]] > len(parts):
                parts.append([])
            parts[count[term[0]] - 1].append(term)
        ends = [list(map(list, zip(*part, strict=True))) for part in parts]
        return tuple((np.array(p), np.array(d), en.dense(c, len(self.at))) for p, d, c in ends)

    @cached_property
    def _file(self) -> tuple[tuple[Entry, ...], Array]:
        index = self.robot.parameters.index
        return self.robot.posture(self.at).offsets, np.array(
            [self.robot.parameters.values[index(n)] for n in self.names]
        )

    def states(self, values: Array, exact: bool = True) -> ToolStates:
        chain, size = self.robot.chain, len(self.at)
        offsets, start = self._file
        theta: list[Entry] = list(offsets)
        change = values - start
        for p, dof, value in self._terms:
            if change[p]:
                theta[dof] = en.add(theta[dof], change[p] * value)
        theta = [t if isinstance(t, np.ndarray) else float(t) for t in theta]
        dofs = tuple(sorted({dof for _, dof, _ in self._terms}))
        state = chain.evaluate(chain.values(self.at.q.T, theta), size)
        twists = state.jacobian(self.robot.tool, dofs)
        slope = np.zeros((6, len(self.names), size))
        for columns, terms, coefficients in self._columns:
            slope[:, columns] += twists[:, np.searchsorted(dofs, terms)] * coefficients
        turn, origin = state.rotation(self.robot.tool), state.origin(self.robot.tool)
        return ToolStates(origin.T, np.moveaxis(turn, -1, 0), np.moveaxis(slope, -1, 0))

    def unloaded(self, values: Array, exact: bool = True) -> ToolStates:
        return self.states(values)

    def both(self, values: Array, exact: bool = True) -> tuple[ToolStates, ToolStates]:
        still = self.states(values)
        return still, still

    def solved(self, values: Array) -> bool:
        return True


@dataclass(frozen=True, eq=False)
class Solved:
    """States that were solved, for these values of the parameters."""

    values: Array
    bent: Equilibrium
    states: ToolStates

    def twist(self, values: Array) -> Array:
        """How far the tool moves to other values (M, 6) along the slopes."""
        return np.asarray(self.states.slope @ (values - self.values))

    def serves(self, robot: Robot) -> bool:
        """Whether the forces on all that has backlash in a robot are known."""
        index = robot.chain.index
        return all(index[d] in self.bent.dofs for y in robot.compliant if y.has_backlash for d in y.dofs)

    def moved(self, robot: Robot, twist: Array) -> ToolStates:
        """The states that a twist leads to; how loose joints are depends on the values that ``robot`` has."""
        s = self.states
        turn = np.moveaxis(rotations(twist[:, 3:].T), -1, 0) @ s.turn
        return ToolStates(s.origin + twist[:, :3], turn, s.slope, joint_looseness(robot, self.bent))


@dataclass(frozen=True, eq=False)
class BentTool:
    """At the loaded equilibrium.

    Loaded and unloaded states are solved together, a search starting from the states of the values before: a batch of
    twice the size costs little more, and two Newton steps do where three were needed.  Near states that were solved,
    others are had by moving along their slopes: searches take many short steps, of which the last is solved again.
    """

    robot: Robot
    names: tuple[str, ...]
    at: Configurations
    wrench: Array | None
    frame: str
    follows: bool = False
    starts: Mapping[Which, Equilibrium] = field(default_factory=dict)
    """States of a similar robot."""

    @cached_property
    def _known(self) -> dict[Which, list[Solved]]:
        """The newest states that were solved: searches begin where others ended, which moves their result by less than
        Newton's 1e-12."""
        return {}

    @cached_property
    def _moved(self) -> dict[Which, tuple[Array, ToolStates]]:
        """The last states that were had by moving others: readings and the sides of backlash ask for the same."""
        return {}

    def _case(self, which: Which) -> tuple[Configurations, Array | None]:
        """Configurations and wrenches."""
        if which == "unloaded" or self.wrench is None:
            return self.at, None
        if which == "loaded":
            return self.at, self.wrench
        twice = self.at[np.concatenate([np.arange(len(self.at))] * 2)]
        return twice, np.concatenate([self.wrench, np.zeros_like(self.wrench)])

    @cached_property
    def _loaded(self) -> bool:
        return self.wrench is not None and bool(np.any(self.wrench))

    def states(self, values: Array, exact: bool = True) -> ToolStates:
        return self._near("loaded" if self._loaded else "unloaded", values, exact)

    def unloaded(self, values: Array, exact: bool = True) -> ToolStates:
        return self._near("unloaded", values, exact)

    def both(self, values: Array, exact: bool = True) -> tuple[ToolStates, ToolStates]:
        if not self._loaded:
            still = self.unloaded(values, exact)
            return still, still
        states = self._near("both", values, exact)
        return states[: len(self.at)], states[len(self.at) :]

    def solved(self, values: Array) -> bool:
        last = (known[-1] for known in self._known.values() if known)
        return any(np.array_equal(found.values, values) for found in last)

    def _near(self, which: Which, values: Array, exact: bool) -> ToolStates:
        """Solved, or moved there from states that are."""
        known = self._known.get(which, [])
        for solved in reversed(known):
            if np.array_equal(solved.values, values):
                return solved.states
        last = self._moved.get(which)
        if last is not None and not exact and np.array_equal(last[0], values):
            return last[1]
        if known and not exact and _distance(twist := known[-1].twist(values)) < REACH:
            robot = self._with_backlash(values)
            if known[-1].serves(robot):
                moved = known[-1].moved(robot, twist)
                self._moved[which] = values, moved
                return moved
        return self._solve(which, values)

    def _with_backlash(self, values: Array) -> Robot:
        """The robot with these values of what backlash has, and others as they are."""
        given = {n: float(values[self.names.index(n)]) for n in self._of_backlash}
        return self.robot.with_estimates(given) if given else self.robot

    @cached_property
    def _of_backlash(self) -> tuple[str, ...]:
        rows = zip(self.robot.elements, self.robot.parameter_rows, strict=True)
        able = [own for e, own in rows if isinstance(e, CompliantCoordinate) and e.may_have_backlash]
        return tuple(p.name for own in able for p in own if p.name in self.names)

    def _robot(self, values: Array) -> Robot:
        given, table = dict(zip(self.names, values.tolist(), strict=True)), self.robot.parameters
        if all(table.rows[table.index(name)].value == value for name, value in given.items()):
            return self.robot
        return self.robot.with_estimates(given)

    def _solve(self, which: Which, values: Array) -> ToolStates:
        """From the states that were solved last, and remembered with them."""
        known, robot = self._known.setdefault(which, []), self._robot(values) if self.names else self.robot
        robot.chain.searched()
        configurations, wrench = self._case(which)
        applied = () if wrench is None else (AppliedWrenches(self.frame, wrench, self.follows),)
        start = known[-1].bent if known else self.starts.get(which)
        bent = equilibrium(robot, configurations, applied, start=start, judged=False)
        origin, turn = frame_pose(robot, configurations, bent, robot.tool)
        slope = np.zeros((len(configurations), 6, 0))
        if self.names:
            order, slope, _ = loaded_observation(
                robot, configurations, applied, [Marker(robot.tool, "pose")], self.names, bent
            )
            slope = slope[:, :, [order.index(n) for n in self.names]]
        states = ToolStates(origin.T, np.moveaxis(turn, -1, 0), slope, joint_looseness(robot, bent))
        known.append(Solved(values, bent, states))
        del known[:-KEPT]
        return states


def _distance(twist: Array) -> float:
    """The longest of twists (M, 6) in m and rad; nan where one is not known."""
    return float(np.max(np.abs(twist), initial=0.0))
