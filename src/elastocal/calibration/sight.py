"""What a robot, its stations and its markers let the instruments read, and how that depends on every unknown.

Unknowns, in this order: parameters of the robot; six for every station; three for every marker; three for the turn of
the tool.  Where nothing but deflections is read, of markers that are frames of the robot, those of the robot alone.
Markers that are none turn with the tool by what the load turns it, which tells where they sit.  Rows of a state: points
(x, y, z of every marker), orientation, deflections, distances, as far as the campaign has them.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal, TypeVar
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from elastocal.calibration.placing import Placing, placed
from elastocal.calibration.states import States
from elastocal.calibration.tool import Tool, ToolStates, tool_of
from elastocal.model.kinematics import Kinematics, kinematics
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.spatial.rotation import left_jacobian_inverse, rotation_vector
from elastocal.values import dataclass

Kind = TypeVar("Kind", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Sight:
    """Rows of the states of a campaign."""

    states: States

    @cached_property
    def sections(self) -> dict[str, slice]:
        s, m = self.states, self.states.points
        out, first = {}, 0
        for key, size in (("position", 3 * m), ("orientation", 3), ("deflection", 3 * m), ("distance", m)):
            if getattr(s, key) is not None:
                out[key] = slice(first, first + size)
                first += size
        return out

    @property
    def placed(self) -> bool:
        """Whether readings tell where instrument and markers are; deflections alone do not."""
        return any(key != "deflection" for key in self.sections)

    @cached_property
    def unplaced(self) -> Bools:
        """Markers of deflections alone that sit nobody knows where; one without a name is the tool itself."""
        s = self.states
        if self.placed or s.markers == ("marker1",):
            return np.zeros(s.points, dtype=bool)
        return np.array([m != frame for m, frame in zip(s.markers, s.frames, strict=True)], dtype=bool)

    @property
    def rows(self) -> int:
        return int(max(part.stop for part in self.sections.values()))

    @cached_property
    def lengths(self) -> Bools:
        """Which rows are lengths; the others are angles."""
        out = np.ones(self.rows, dtype=bool)
        if "orientation" in self.sections:
            out[self.sections["orientation"]] = False
        return out

    @property
    def unit(self) -> Literal["m", "rad"]:
        """Of errors: lengths where any were read, else angles."""
        return "m" if self.lengths.any() else "rad"

    @cached_property
    def parts(self) -> Ints:
        """Number of the point that every row belongs to; the orientation is one more, deflections count on."""
        out = np.zeros(self.rows, dtype=np.int64)
        count = 0
        for key, part in self.sections.items():
            size = {"position": 3, "deflection": 3, "orientation": 3, "distance": 1}[key]
            own = np.arange(part.stop - part.start) // size
            out[part] = count + own
            count += int(own.max()) + 1
        return out

    @cached_property
    def used(self) -> Bools:
        out = np.zeros((self.states.count, self.rows), dtype=bool)
        for key, part in self.sections.items():
            read = getattr(self.states, key).reshape(self.states.count, -1)
            known = np.isfinite(read)
            out[:, part] = known.all(axis=1, keepdims=True) if key == "orientation" else known
        return out

    def fold(self, rows: npt.NDArray[Kind]) -> npt.NDArray[Kind]:
        """(M, rows, ...) of states to (poses, slots * rows, ...), zero where a pose has fewer states."""
        s = self.states
        out = np.zeros((s.poses, s.slots, *rows.shape[1:]), dtype=rows.dtype)
        out[s.pose, s.slot] = rows
        return out.reshape(s.poses, s.slots * rows.shape[1], *rows.shape[2:])

    def spread(self, rows: Array) -> Array:
        """(M, rows, b) of states, each with unknowns of its own, to (poses, slots * rows, slots * b)."""
        s = self.states
        out = np.zeros((s.poses, s.slots, rows.shape[1], s.slots, rows.shape[2]))
        out[s.pose, s.slot, :, s.slot] = rows
        return out.reshape(s.poses, s.slots * rows.shape[1], -1)

    def unfold(self, blocks: npt.NDArray[Kind]) -> npt.NDArray[Kind]:
        """(poses, slots * rows) back to (M, rows)."""
        s = self.states
        return np.asarray(blocks.reshape(s.poses, s.slots, -1)[s.pose, s.slot])

    @property
    def extra(self) -> int:
        """Unknowns beside those of the robot; deflections of markers whose places are known depend on none."""
        some = self.placed or bool(self.unplaced.any())
        return 6 * len(self.states.stations) + 3 * self.states.points + 3 if some else 0

    @cached_property
    def centres(self) -> Array:
        """Median of the points of every station (S, 3), about which it is turned."""
        s = self.states
        out = np.zeros((len(s.stations), 3))
        if s.position is not None:
            for i in range(len(out)):
                mine = s.position[s.station == i].reshape(-1, 3)
                mine = mine[np.all(np.isfinite(mine), axis=1)]
                out[i] = np.median(mine, axis=0) if len(mine) else 0.0
        return out

    def tool(self, robot: Robot, names: tuple[str, ...]) -> Tool:
        """Of a robot in these states; one for all that ask, so that what it remembers serves them all."""
        known = self._tools.get((id(robot), names))
        if known is None:
            s = self.states
            near = list(self._tools.values())
            known = tool_of(robot, names, s.q, s.wrench, s.load_frame, s.temperature, near=near)
            self._tools[id(robot), names] = known  # which holds the robot, so that its id is nobody else's
        return known

    def with_readings(self, states: States) -> Sight:
        """Of other readings; where the arm stood as in these states, what is known of it there is known."""
        new, s = Sight(states), self.states
        alike = ((getattr(s, key), getattr(states, key)) for key in ("q", "wrench", "temperature", "load_frame"))
        if all(a is b or np.array_equal(a, b) for a, b in alike):
            vars(new).update(_tools=self._tools, _known=self._known)
        return new

    @cached_property
    def _tools(self) -> WeakValueDictionary[tuple[int, tuple[str, ...]], Tool]:
        return WeakValueDictionary()

    def linearise(self, tool: Tool, values: Array, placing: Placing, exact: bool = True) -> tuple[Array, Array]:
        """Readings minus prediction (M, rows) and the derivative of the prediction (M, rows, p + extra)."""
        s, p = self.states, len(values)
        at, rest = (tool.states(values, exact), None) if s.deflection is None else tool.both(values, exact)
        off = np.zeros((s.count, self.rows))
        slope = np.zeros((s.count, self.rows, p + self.extra))
        frame = placing.turn[s.station]
        arms = np.einsum("nij,mj->nmi", at.turn, placing.markers)
        points = placed(placing, at.origin, at.turn, s.station)
        if s.position is not None:
            part = self.sections["position"]
            moves = point_slopes(at.slope, arms, frame)
            off[:, part] = (s.position - points).reshape(s.count, -1)
            slope[:, part, :p] = moves.reshape(s.count, 3 * s.points, p)
            slope[:, part, p:] = self._placing_slopes(placing, points, frame @ at.turn)
        if s.orientation is not None:
            self._orientation(at, placing, frame, off, slope)
        if s.deflection is not None and rest is not None:
            still = np.einsum("nij,mj->nmi", rest.turn, placing.markers)
            change = (at.origin - rest.origin)[:, None] + arms - still
            part = self.sections["deflection"]
            off[:, part] = (s.deflection - change).reshape(s.count, -1)
            by = point_slopes(at.slope, arms) - point_slopes(rest.slope, still)
            slope[:, part, :p] = by.reshape(s.count, 3 * s.points, p)
            for j in np.flatnonzero(self.unplaced).tolist():
                rows, first = slice(part.start + 3 * j, part.start + 3 * j + 3), p + 6 * len(s.stations) + 3 * j
                slope[:, rows, first : first + 3] = at.turn - rest.turn
        if s.distance is not None:
            part = self.sections["distance"]
            size = np.linalg.norm(points, axis=2)
            beam = points / size[:, :, None]
            moves = point_slopes(at.slope, arms, frame)
            off[:, part] = s.distance - size
            full = np.concatenate(
                [moves.reshape(s.count, 3 * s.points, p), self._placing_slopes(placing, points, frame @ at.turn)],
                axis=2,
            )
            slope[:, part] = np.einsum("nmi,nmip->nmp", beam, full.reshape(s.count, -1, 3, p + self.extra))
        if self.used.all():
            return off, slope
        return np.where(self.used, off, 0.0), np.where(self.used[:, :, None], slope, 0.0)

    def _placing_slopes(self, placing: Placing, points: Array, turn: Array) -> Array:
        return placing_slopes(placing, points, turn, self.states.station)

    def _orientation(self, states: ToolStates, placing: Placing, frame: Array, off: Array, slope: Array) -> None:
        """Rotation vector from the expected to the read orientation, in the station's axes, and its slopes."""
        s, p, part = self.states, states.slope.shape[2], self.sections["orientation"]
        assert s.orientation is not None
        expected = frame @ states.turn @ placing.tool_turn
        known = self.used[:, part.start]
        read = np.where(known[:, None, None], s.orientation, expected)
        vector = rotation_vector(np.moveaxis(read @ expected.transpose(0, 2, 1), 0, -1))
        off[:, part] = vector.T
        # the vector changes by minus the inverse left Jacobian (of -v) times the turn of the expectation
        back = np.moveaxis(left_jacobian_inverse(-vector), -1, 0)
        turns = np.zeros((s.count, 3, p + self.extra))
        turns[:, :, :p] = frame @ states.slope[:, 3:]
        rows = np.arange(s.count)
        for i in range(3):
            turns[rows, i, p + 6 * s.station + 3 + i] = 1.0
        turns[:, :, -3:] = expected
        slope[:, part] = back @ turns

    def loose_moves(self, robot: Robot, tool: Tool, values: Array, placing: Placing, exact: bool = True) -> Array:
        """How far the rows may be off since sides of backlash are not certain (M, rows, n), in sd by every joint.

        A deflection has two states, each with sides of its own.
        """
        s = self.states
        at, rest = (tool.states(values, exact), None) if s.deflection is None else tool.both(values, exact)
        if at.loose is None:
            return np.zeros((s.count, self.rows, robot.n))
        loose = np.repeat(at.loose[:, None], self.rows, axis=1)
        if rest is not None and rest.loose is not None:
            part = self.sections["deflection"]
            loose[:, part] = np.hypot(loose[:, part], rest.loose[:, None])
        return np.asarray(self.joint_moves(robot, placing) * np.nan_to_num(loose))

    def joint_moves(self, robot: Robot, placing: Placing) -> Array:
        """How the rows move with every joint (M, rows, n), by the rigid arm."""
        at = self._rigid(robot)
        return self._moves(at, placing, at.jacobian)

    def tool_moves(self, robot: Robot, placing: Placing, twists: Array) -> Array:
        """How the rows move with twists of the tool (M, 6, b) in base axes, of the rigid arm."""
        return self._moves(self._rigid(robot), placing, twists)

    @cached_property
    def _known(self) -> dict[str, tuple[Robot, Kinematics]]:
        return {}

    def _rigid(self, robot: Robot) -> Kinematics:
        """Of the rigid arm, remembered for the last one: a search asks for the same at every step."""
        last = self._known.get("last")
        if last is None or last[0] is not robot.nominal:
            last = self._known["last"] = robot.nominal, kinematics(robot.nominal, self.states.q)
        return last[1]

    def _moves(self, kinematics: Kinematics, placing: Placing, twists: Array) -> Array:
        """(M, rows, b)"""
        s = self.states
        frame = placing.turn[s.station]
        arms = np.einsum("nij,mj->nmi", kinematics.rotation, placing.markers)
        moves = point_slopes(twists, arms, frame).reshape(s.count, -1, twists.shape[2])
        out = np.zeros((s.count, self.rows, twists.shape[2]))
        for key, part in self.sections.items():
            if key == "position":
                out[:, part] = moves
            elif key == "deflection":
                out[:, part] = point_slopes(twists, arms).reshape(s.count, -1, twists.shape[2])
            elif key == "orientation":
                out[:, part] = frame @ twists[:, 3:]
            elif key == "distance":
                points = placed(placing, kinematics.position, kinematics.rotation, s.station)
                beam = points / np.linalg.norm(points, axis=2)[:, :, None]
                out[:, part] = np.einsum("nmi,nmij->nmj", beam, moves.reshape(s.count, -1, 3, twists.shape[2]))
        return out


def point_slopes(slope: Array, arms: Array, frame: Array | None = None) -> Array:
    """(M, m, 3, p): slopes of points at ``arms`` (M, m, 3) from the tool's origin, in axes turned by ``frame``.

    ``slope`` (M, 6, p) is that of the tool's twist in base axes: v + w x arm.
    """
    count, points, _ = arms.shape
    by_twist = np.zeros((count, points, 3, 6))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        by_twist[:, :, i, i] = 1.0
        by_twist[:, :, i, 3 + j], by_twist[:, :, i, 3 + k] = arms[:, :, k], -arms[:, :, j]
    turned = by_twist if frame is None else frame[:, None] @ by_twist
    return np.asarray((turned.reshape(count, 3 * points, 6) @ slope).reshape(count, points, 3, slope.shape[2]))


def placing_slopes(placing: Placing, points: Array, turn: Array, station: Ints) -> Array:
    """(M, 3 m, extra): slopes of points (M, m, 3), in stations' axes, by stations, markers and the tool's turn (zero).

    ``turn`` (M, 3, 3) is that of the tool in the stations' axes.
    """
    count, m = points.shape[:2]
    stations = len(placing.turn)
    out = np.zeros((count, m, 3, 6 * stations + 3 * m + 3))
    arm = points - placing.centres[station][:, None]
    rows = np.arange(count)
    for i in range(3):
        out[rows, :, i, 6 * station + i] = 1.0
        j, k = (i + 1) % 3, (i + 2) % 3  # omega x arm: row j gets +arm_i of omega_k, row k gets -arm_i of omega_j
        out[rows, :, j, 6 * station + 3 + k] = arm[:, :, i]
        out[rows, :, k, 6 * station + 3 + j] = -arm[:, :, i]
    for number in range(m):
        first = 6 * stations + 3 * number
        out[:, number, :, first : first + 3] = turn
    return out.reshape(count, 3 * m, -1)
