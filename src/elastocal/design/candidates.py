"""Everything that could be measured: configurations, each under everything that can be done there.

Configurations of a robot: where its frames are in each, unloaded, and configurations to choose from.

They are drawn as Sobol points of the joint space, or of a box that the tool is put into; there only the place is asked
for, and the orientation stays near that of the start, so that different starts bring different ones.

Sobol points, plain or scrambled: the points of ``scipy.stats.qmc``, whose import would take longer than most plans.

Coordinate j of point k is the exclusive or of the direction numbers that the Gray code of k picks.  Direction numbers
of a coordinate follow from a primitive polynomial over the field of two elements and its first numbers, both as
tabulated by Joe and Kuo (SIAM J. Sci. Comput. 30, 2008).  Scrambled points (Matousek) have every direction number
multiplied by a random lower triangular matrix of bits, and all points shifted by a random number.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from elastocal.errors import InfeasibleError, MissingError, RangeError
from elastocal.model.chain import ChainState
from elastocal.model.inverse_kinematics import Task, inverse_kinematics, moved_rows
from elastocal.model.kinematics import kinematics, rigid_state
from elastocal.model.limits import joint_bounds, middle
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

BITS = 30
_START = (
    (1, ()), (3, (1,)), (7, (1, 3)), (11, (1, 3, 1)), (13, (1, 1, 1)), (19, (1, 1, 3, 3)), (25, (1, 3, 5, 13)),
    (37, (1, 1, 5, 5, 17)), (41, (1, 1, 5, 5, 5)), (47, (1, 1, 7, 11, 19)), (55, (1, 1, 5, 1, 1)),
    (59, (1, 1, 1, 3, 11)), (61, (1, 3, 5, 5, 31)), (67, (1, 3, 3, 9, 7, 49)), (91, (1, 1, 1, 15, 21, 21)),
    (97, (1, 3, 1, 13, 27, 49)),
)  # fmt: skip
"""Polynomial, its bits from the highest power on, and first numbers of every coordinate."""


def sobol(d: int, log2: int, rng: np.random.Generator | None = None) -> Array:
    """The first 2^log2 points (2^log2, d) of the unit box; scrambled with a generator."""
    if d > len(_START):
        from scipy.stats import qmc

        return np.asarray(qmc.Sobol(d, scramble=rng is not None, seed=rng).random_base2(log2))
    directions, shift = (
        np.array([_directions(*_START[j]) for j in range(d)], np.int64).reshape(d, BITS),
        np.zeros(d, np.int64),
    )
    if rng is not None:
        weights, own = 2 ** np.arange(BITS), rng.spawn(1)[0]
        shift = own.integers(2, size=(d, BITS), dtype=np.uint32).astype(np.int64) @ weights
        matrices = np.tril(own.integers(2, size=(d, BITS, BITS), dtype=np.uint32)).astype(np.int64)
        matrices[:, np.arange(BITS), np.arange(BITS)] = 1
        bits = directions[:, :, None] >> np.arange(BITS)[::-1] & 1  # of every number, the highest first
        directions = (np.einsum("dpk,djk->djp", matrices, bits) & 1) @ weights[::-1]
    point = np.arange(2**log2)
    gray = point ^ (point >> 1)
    out = np.broadcast_to(shift, (len(point), d)).copy()
    for j in range(log2):
        out ^= (gray[:, None] >> j & 1) * directions[:, j]
    return np.asarray(out / 2.0**BITS)


def _directions(polynomial: int, first: tuple[int, ...]) -> Ints:
    """Numbers v_1, v_2, ... of one coordinate, each with its leading bit in place."""
    degree = len(first)
    m = list(first)
    for k in range(degree, BITS):
        if degree == 0:
            m.append(1)
            continue
        new = m[k - degree] ^ (m[k - degree] << degree)
        for i in range(1, degree):
            if polynomial >> (degree - i) & 1:
                new ^= m[k - i] << i
        m.append(new)
    return np.array([v << (BITS - 1 - k) for k, v in enumerate(m)], dtype=np.int64)


DECIMALS = 2
"""Of the degrees and millimetres that a program says."""
_PLACE = Task("position", (0, 1, 2))
Vector = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Poses:
    """Joint values ``q`` (C, n)."""

    model: Robot
    q: Array

    def __len__(self) -> int:
        return len(self.q)

    @cached_property
    def _state(self) -> ChainState:
        return rigid_state(self.model.posture(np.ascontiguousarray(self.q.T)))

    @cached_property
    def _origins(self) -> dict[str, Array]:
        return {}

    def origin(self, frame: str) -> Array:
        """(C, 3); kept, since every link and obstacle asks again."""
        if frame not in self._origins:
            self._origins[frame] = self._state.origin(frame).T
        return self._origins[frame]

    def rotation(self, frame: str) -> Array:
        """(C, 3, 3)"""
        return np.moveaxis(self._state.rotation(frame), 2, 0)

    def place(self, frame: str, point: Vector) -> Array:
        """(C, 3) of a point given in axes of a frame."""
        turn = self._state.rotation(frame)
        return np.asarray(self.origin(frame) + np.einsum("ikn,k->in", turn, point).T)

    def picked(self, rows: Ints) -> Poses:
        return Poses(self.model, self.q[rows])


def spread_points(low: Array, high: Array, count: int, rng: np.random.Generator) -> Array:
    """Scrambled Sobol points (count, d) in a box."""
    if count < 1:
        raise RangeError(f"{count} candidates: draw at least 1", value=count)
    unit = sobol(len(low), max(0, int(np.ceil(np.log2(count)))), rng)
    return np.asarray(low + unit[:count] * (high - low))


def spread_poses(model: Robot, count: int, rng: np.random.Generator, turn: float | None = None) -> Array:
    """Joint values (count, n) over the whole range of every joint; a full turn where one has no limits."""
    return spread_points(*joint_ranges(model, turn), count, rng)


def joint_ranges(model: Robot, turn: float | None = None) -> tuple[Array, Array]:
    """Limits of the joints, (n,) and (n,); those of free axes no further than ``turn`` (rad) from the axis' zero."""
    low, high = _joint_limits(model)
    free = free_axes(model) if turn is not None else ()
    for axis in free:
        i = model.controller.axes.index(axis)
        ends = np.zeros((2, model.n))
        ends[:, i] = -turn, turn  # type: ignore[operator]
        if np.count_nonzero(model.controller.matrix[i]) == 1:
            at = np.sort(model.controller.to_joints(ends)[:, i])
            low[i], high[i] = max(low[i], at[0]), min(high[i], at[1])
    return low, high


def free_axes(model: Robot) -> tuple[str, ...]:
    """Axes of the controller that turn by more than once: what hangs on them (hoses, cables) seldom does."""
    wide = (m.kind == "revolute" and (m.limits is None or np.ptp(m.limits) > 2 * np.pi + 1e-9) for m in model.motions)
    return tuple(axis for axis, free in zip(model.controller.axes, wide, strict=True) if free)


def _joint_limits(model: Robot) -> tuple[Array, Array]:
    ranges = []
    for name, motion in zip(model.joints, model.motions, strict=True):
        if motion.limits is None and motion.kind == "prismatic":
            raise MissingError(f"joint {name} slides without limits; give it limits in the robot file")
        ranges.append(motion.limits or (-np.pi, np.pi))
    return np.array([r[0] for r in ranges]), np.array([r[1] for r in ranges])


def programmable(model: Robot, q: Array) -> Array:
    """Joint values (N, n) of the nearest controller values with few decimals of degrees or millimetres."""
    unit = np.array([np.pi / 180 if m.kind == "revolute" else 1e-3 for m in model.motions])
    shown = np.round(model.controller.to_controller(q) / unit, DECIMALS)
    return model.controller.to_joints((shown + 0.0) * unit)


def across(model: Robot, targets: Array, lows: Array, highs: Array, frame: str | None = None) -> Array:
    """Targets (N, 3) with the coordinates that an arm cannot change (the height of a planar one) at their only value.

    ``lows`` and ``highs`` (N, 3) are the boxes that the targets lie in: what they leave out stays out of reach.
    """
    fixed = ~np.isin(np.arange(3), moved_rows(model, frame or model.tool))
    only = kinematics(model, middle(model), frame).position[0]
    return np.where(fixed & (lows <= only) & (only <= highs), only, targets)


def reached(model: Robot, start: Array, targets: Array, frame: str | None = None) -> tuple[Array, Bools]:
    """Joint values (N, n) from ``start`` (N, n) for points (N, 3) of the frame (default tool), and where they hold."""
    solution = inverse_kinematics(
        model, frame or model.tool, _PLACE, targets.T, None, np.ascontiguousarray(start.T), joint_bounds(model)
    )
    return solution.q.T, solution.reached


@dataclass(frozen=True)
class Region:
    """A box of the workspace in base axes, m."""

    low: Vector
    high: Vector

    def __post_init__(self) -> None:
        if not all(a < b for a, b in zip(self.low, self.high, strict=True)):
            raise RangeError(
                f"box from {self.low} to {self.high} m: every lower bound must be below the upper one",
                value=(self.low, self.high),
            )


@dataclass(frozen=True)
class Draw:
    """``count`` configurations, all over the joints' ranges or with the tool in one of the boxes ``around`` a task.

    Axes that turn more than once are drawn within ``turn`` (rad) to either side of zero.
    """

    count: int = 4000
    around: tuple[Region, ...] = ()
    turn: float | None = None


def drawn(model: Robot, draw: Draw, rng: np.random.Generator) -> tuple[Poses, int]:
    """The configurations and how many points of the boxes were not reached."""
    if not draw.around:
        return Poses(model, programmable(model, spread_poses(model, draw.count, rng, draw.turn))), 0
    low, high = joint_ranges(model, draw.turn)
    unit = spread_points(np.array([0.0] * 3 + [*low]), np.array([1.0] * 3 + [*high]), draw.count, rng)
    boxes = np.array([[b.low, b.high] for b in draw.around])[np.arange(draw.count) % len(draw.around)]
    targets = boxes[:, 0] + unit[:, :3] * (boxes[:, 1] - boxes[:, 0])
    targets = across(model, targets, boxes[:, 0], boxes[:, 1])
    q, held = reached(model, unit[:, 3:], targets)
    if not np.any(held):
        raise InfeasibleError(
            "no feasible candidate: the tool reaches none of the points round the task; move the box",
            code="out-of-reach",
        )
    return Poses(model, programmable(model, q[held])), int(np.sum(~held))


class Choice(ABC):
    """``name`` in words; ``point`` is the frame that its force acts at."""

    name: str
    point: str

    def forces(self, poses: Poses) -> Array:
        """On the robot in base axes, (C, 3)."""
        return np.zeros((len(poses), 3))

    @property
    def carried(self) -> bool:
        """True where the arm can move with it on."""
        return True

    def possible(self, poses: Poses) -> Bools:
        """(C,)"""
        return np.ones(len(poses), dtype=bool)


@dataclass(frozen=True, eq=False)
class CandidateSet:
    """Candidate i is configuration ``at[i]`` of ``poses`` under ``options[option[i]]``; no options: no load.

    Every load is stated as its wrench at ``frame``, at the unloaded pose.
    """

    poses: Poses
    options: tuple[Choice, ...]
    frame: str
    at: Ints
    option: Ints

    @classmethod
    def of(cls, poses: Poses, options: Sequence[Choice], frame: str) -> CandidateSet:
        """Every configuration under every load."""
        each = max(1, len(options))
        at = np.repeat(np.arange(len(poses)), each)
        return cls(poses, tuple(options), frame, at, np.tile(np.arange(each), len(poses)))

    def __len__(self) -> int:
        return len(self.at)

    @property
    def model(self) -> Robot:
        return self.poses.model

    @property
    def q(self) -> Array:
        """(N, n)"""
        return self.poses.q[self.at]

    @cached_property
    def wrenches(self) -> Array:
        """(N, 6) at the origin of ``frame``, base axes: a force f at a point r away turns by r x f."""
        out = np.zeros((len(self), 6))
        for option, mine, poses in self._by_option():
            force = option.forces(poses)
            out[mine, :3] = force
            if option.point != self.frame:
                out[mine, 3:] = np.cross(poses.origin(option.point) - poses.origin(self.frame), force)
        return np.round(out, 2) + 0.0

    @property
    def load(self) -> AppliedWrenches:
        return AppliedWrenches(self.frame, self.wrenches)

    @cached_property
    def possible(self) -> Bools:
        """(N,) where the load of the candidate can be put on."""
        out = np.ones(len(self), dtype=bool)
        for option, mine, poses in self._by_option():
            out[mine] = option.possible(poses)
        return out

    def _by_option(self) -> Iterator[tuple[Choice, Bools, Poses]]:
        """Every option that is there, whose it is (N,) and their configurations."""
        for i, option in enumerate(self.options):
            mine = self.option == i
            if mine.any():
                yield option, mine, self.poses.picked(self.at[mine])

    def picked(self, rows: Ints | Bools) -> CandidateSet:
        """Some candidates, with the configurations that they need."""
        used, at = np.unique(self.at[rows], return_inverse=True)
        return CandidateSet(self.poses.picked(used), self.options, self.frame, at.reshape(-1), self.option[rows])

    def carried(self, i: int) -> bool:
        return self.options[int(self.option[i])].carried

    def label(self, i: int) -> str:
        return self.options[int(self.option[i])].name if self.options else "no load"
