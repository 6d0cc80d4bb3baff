"""Kinematics of the chain with every joint and virtual joint as an elementary one-parameter motion.

A frame may carry up to seven degrees of freedom, in this order: its joint, then translations x y z and
rotations rx ry rz in its own axes, each applied after the last (003 eq. 1, product coordinates
``Tx Ty Tz Rx Ry Rz``).  So the whole robot, bent or not, is one product of elementary motions: the
column of degree of freedom i is a plain screw, the force conjugate to it is the work of the loads on
that screw, and second derivatives are brackets of screws.  Columns are spatial twists ``[v; w]``: the
velocity of the body point at the base origin, in base axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, cast

import numpy as np

from elastocal.errors import UnknownNameError
from elastocal.model import straight_line
from elastocal.model.frames import BASE, Frame, FrameTree, JointMotion
from elastocal.model.straight_line import Input
from elastocal.spatial import entries as en
from elastocal.spatial.entries import IDENTITY, ORIGIN, Array, Entry, Matrix3, Row3
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import align_z
from elastocal.spatial.tape import CHUNK
from elastocal.values import dataclass

Poses = dict[str, tuple[Matrix3, Row3]]
JOINT = "joint"
SEARCHED = ("searched",)
SOON = 2
"""Uses after which code is made for a search."""
AXES = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True, order=True)
class Dof:
    """One elementary motion: the joint of a frame, or a virtual motion along or about one of its axes."""

    frame: str
    axis: str

    def __str__(self) -> str:
        return self.frame if self.axis == JOINT else f"{self.frame}.{self.axis}"


@dataclass(frozen=True)
class _Motion:
    rotates: bool
    axis: int
    sign: float
    dof: int


@dataclass(frozen=True)
class _Step:
    """A constant transform, then one motion (or none: a frame to remember)."""

    pose: Pose
    motion: _Motion | None
    frame: str | None


@dataclass(frozen=True, eq=False)
class Screw:
    """An axis in base axes and, for a rotation, a point on it."""

    axis: Row3
    point: Row3 | None


@dataclass(frozen=True, eq=False)
class ChainState:
    """Where everything is for a batch: screws of all degrees of freedom, poses of all spine frames."""

    chain: Chain
    size: int
    screws: tuple[Screw | None, ...]
    poses: Poses = field(default_factory=dict)

    def pose(self, frame: str) -> tuple[Matrix3, Row3]:
        """Rotation and origin of a frame, as entries."""
        known = self._attached.get(frame)
        if known is None:
            spine, offset = self.chain.attachment(frame)
            rotation, origin = self.poses[spine]
            turn, shift = offset.entries
            known = en.times_matrix(rotation, turn), en.plus(origin, en.times_vector(rotation, shift))
            self._attached[frame] = known
        return known

    @cached_property
    def _attached(self) -> Poses:
        """Poses that were asked for: several loads and markers sit on one frame."""
        return {}

    def origin(self, frame: str) -> Array:
        """(3, N); a zero has no sign, whether numbers or generated code made it."""
        return en.dense(self.pose(frame)[1], self.size) + 0.0

    def rotation(self, frame: str) -> Array:
        """(3, 3, N)"""
        rows = self.pose(frame)[0]
        return en.dense([e for row in rows for e in row], self.size).reshape(3, 3, self.size) + 0.0

    def columns(self, dofs: Sequence[int]) -> Array:
        """Spatial twists (6, len(dofs), N)."""
        out = np.empty((6, len(dofs), self.size))
        self._twists_into(ORIGIN, len(self.chain.dofs), dofs, out)
        return out

    def jacobian(self, frame: str, dofs: Sequence[int]) -> Array:
        """Twists (6, len(dofs), N) of the frame's origin, zero for motions beyond the frame."""
        out = np.empty((6, len(dofs), self.size))
        self.jacobian_into(frame, dofs, out)
        return out

    def jacobian_into(self, frame: str, dofs: Sequence[int], out: Array) -> None:
        """The same, written into (6, len(dofs), N), or (3, len(dofs), N) for the translations alone."""
        self._twists_into(self.pose(frame)[1], self.chain.level(frame), dofs, out)

    def _twists_into(self, at: Row3, level: int, dofs: Sequence[int], out: Array) -> None:
        for j, twist in enumerate(self._twists(at, level, dofs)):
            for i in range(len(out)):
                out[i, j] = twist[i]

    def twists(self, frame: str, dofs: Sequence[int]) -> Iterator[tuple[Entry, ...]]:
        """Twists of the frame's origin as entries, six for each degree of freedom."""
        return self._twists(self.pose(frame)[1], self.chain.level(frame), dofs)

    def twists_at(self, point: Row3, dofs: Sequence[int]) -> Iterator[tuple[Entry, ...]]:
        """Twists at a point of the outermost body."""
        return self._twists(point, len(self.chain.dofs), dofs)

    def _twists(self, at: Row3, level: int, dofs: Sequence[int]) -> Iterator[tuple[Entry, ...]]:
        point, arm = None, ORIGIN
        for dof in dofs:
            if dof >= level:
                yield 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
                continue
            screw = self.screws[dof]
            assert screw is not None, "a screw was asked for that was not computed"
            axis = screw.axis
            if screw.point is None:
                yield (*axis, *ORIGIN)
                continue
            if screw.point is not point:  # the three rotations of one frame share their point
                point, arm = screw.point, en.minus(at, screw.point)
            yield (*en.cross(axis, arm), *axis)


@dataclass(frozen=True, eq=False)
class Chain:
    """The spine of a frame tree with chosen degrees of freedom, ready to evaluate in batches."""

    tree: FrameTree
    dofs: tuple[Dof, ...]

    @classmethod
    def build(cls, tree: FrameTree, virtual: Sequence[Dof]) -> Chain:
        """All joints plus the virtual degrees of freedom asked for, in chain order."""
        wanted = frozenset(virtual)
        if wanted not in tree.chains:
            tree.chains[wanted] = cls._built(tree, wanted)
        return cast(Chain, tree.chains[wanted])

    @classmethod
    def _built(cls, tree: FrameTree, wanted: frozenset[Dof]) -> Chain:
        joints = [f.name for f in tree.frames if f.joint is not None]
        by_axis = {(d.frame, d.axis): d for d in wanted}
        spine = tree.spine([*joints, *sorted(d.frame for d in wanted)])
        order: list[Dof] = []
        for name in (BASE, *(f.name for f in spine)):
            if name in joints:
                order.append(Dof(name, JOINT))
            order += [by_axis[name, axis] for axis in AXES if (name, axis) in by_axis]
        return cls(tree, tuple(order))

    @cached_property
    def index(self) -> dict[Dof, int]:
        return {dof: i for i, dof in enumerate(self.dofs)}

    @cached_property
    def _spine(self) -> tuple[Frame, ...]:
        return self.tree.spine([d.frame for d in self.dofs])

    @cached_property
    def _steps(self) -> tuple[_Step, ...]:
        steps: list[_Step] = []
        pending = Pose()
        for frame in (None, *self._spine):
            name = BASE if frame is None else frame.name
            if frame is not None:
                pending = pending @ frame.pose
            for axis in (JOINT, *AXES):
                dof = self.index.get(Dof(name, axis))
                if dof is None:
                    continue
                if axis == JOINT and frame is not None and frame.joint is not None:
                    before, motion, after = _joint_motion(frame.joint, dof)
                    steps.append(_Step(pending @ before, motion, None))
                    pending = after
                else:
                    k = AXES.index(axis)
                    steps.append(_Step(pending, _Motion(k >= 3, k % 3, 1.0, dof), None))
                    pending = Pose()
            steps.append(_Step(pending, None, name))
            pending = Pose()
        return tuple(steps)

    @cached_property
    def _levels(self) -> dict[str, int]:
        order = {name: i for i, name in enumerate((BASE, *(f.name for f in self._spine)))}
        return {name: sum(order[d.frame] <= i for d in self.dofs) for name, i in order.items()}

    @cached_property
    def _lengths(self) -> dict[str, float]:
        return {}

    @cached_property
    def _attachments(self) -> dict[str, tuple[str, Pose]]:
        return {}

    def attachment(self, frame: str) -> tuple[str, Pose]:
        """The spine frame that carries ``frame`` and the constant pose in it."""
        attached = self._attachments.get(frame)
        if attached is None:
            pose, name = Pose(), frame
            while name not in self._levels:
                node = self.tree.frame(name)
                pose, name = node.pose @ pose, node.parent
            attached = self._attachments[frame] = (name, pose)
        return attached

    def level(self, frame: str) -> int:
        """How many degrees of freedom lie between the base and the frame, its own included."""
        return self._levels[self.attachment(frame)[0]]

    def length(self, frame: str) -> float:
        """Sum of the fixed offsets from the base: the frame is never farther from any joint, slides apart."""
        length = self._lengths.get(frame)
        if length is None:
            length = float(sum(np.linalg.norm(f.pose.translation) for f in self.tree.path(frame)))
            self._lengths[frame] = length
        return length

    @cached_property
    def rotates(self) -> tuple[bool, ...]:
        """Whether each degree of freedom turns (or shifts)."""
        return tuple(
            self.tree.joint(d.frame).kind == "revolute" if d.axis == JOINT else d.axis.startswith("r")
            for d in self.dofs
        )

    @cached_property
    def _led(self) -> tuple[tuple[int, JointMotion] | None, ...]:
        """Row of the joint value that drives each degree of freedom, and how; None of virtual ones."""
        row = {name: i for i, name in enumerate(self.tree.joint_names)}
        joints = [self.tree.joint(d.frame) if d.axis == JOINT else None for d in self.dofs]
        return tuple(
            None if m is None else (row[m.follows or d.frame], m) for d, m in zip(self.dofs, joints, strict=True)
        )

    def joint_dof(self, joint: str) -> int:
        try:
            return self.index[Dof(joint, JOINT)]
        except KeyError:
            valid = [d.frame for d in self.dofs if d.axis == JOINT]
            raise UnknownNameError("joint", joint, valid) from None

    def values(self, q: Array, theta: Sequence[Entry]) -> list[Entry]:
        """Joint values (n, N) in ``tree.joint_names`` order plus theta: one entry per degree of freedom."""
        out: list[Entry] = []
        for led, bend in zip(self._led, theta, strict=True):
            if led is None:
                out.append(bend)
            elif led[1].follows is None:
                out.append(en.add(q[led[0]], bend))
            else:
                out.append(en.add(en.add(en.mul(led[1].ratio, q[led[0]]), led[1].offset), bend))
        return out

    def evaluate(self, values: Sequence[Entry], size: int) -> ChainState:
        """Run along the chain: one code for all who ask, since a screw is hardly more than a pose on the way."""
        inputs = self.inputs(values)
        code = self.code(straight_line.state, self.pattern(values))
        if code is None:
            return ChainState(self, size, *self.run(inputs, range(len(self.dofs))))
        entries = straight_line.flat(inputs)
        if size == 1:
            entries = [e if isinstance(e, float) else float(e[0]) for e in entries]
        return ChainState(self, size, *code(*entries))

    def motion(self, values: Sequence[Entry] | Array, frame: str, dofs: tuple[int, ...], out: Array) -> None:
        """Origin (3), rotation (9, by rows) and twists (6 for each dof) of a frame into the rows of ``out``.

        At values of all degrees of freedom, or of the joints (n, N) where nothing else moves.
        """
        moves = self._joints_move if isinstance(values, np.ndarray) else self.pattern(values)
        code = self.code(straight_line.motion, moves, frame, dofs, soon=out.shape[1] > CHUNK)
        if code is not None:
            code(out, values if isinstance(values, np.ndarray) else straight_line.moved(values))
            return
        if isinstance(values, np.ndarray):
            values = self.values(values, [0.0] * len(self.dofs))
        for i, entry in enumerate(straight_line.motion_entries(self, self.inputs(values), frame, dofs)):
            out[i] = entry

    @cached_property
    def _joints_move(self) -> straight_line.Pattern:
        """Where the joints move and nothing else."""
        return "".join("0" if led is None else "st"[turns] for led, turns in zip(self._led, self.rotates, strict=True))

    def pattern(self, values: Sequence[Entry]) -> straight_line.Pattern:
        return straight_line.pattern(self.rotates, values)

    def inputs(self, values: Sequence[Entry]) -> list[Input]:
        """What the chain is run on: zeros, shifts, and cosine and sine of what turns (all in one call)."""
        out: list[Input] = list(values)
        turning = [i for i, v in enumerate(values) if self.rotates[i] and isinstance(v, np.ndarray)]
        if turning:
            cos, sin = (np.asarray(e) for e in en.cos_sin(np.array([values[i] for i in turning])))
            for i, c, s in zip(turning, cos, sin, strict=True):
                out[i] = (c, s)
        for i, v in enumerate(values):
            if self.rotates[i] and isinstance(v, float) and v != 0.0:
                out[i] = en.cos_sin(v)
        return out

    def code(self, make: Callable[..., Any], *key: Any, soon: bool = False, after: int = 2) -> Any:
        """Straight-line code, made ``after`` so many uses, or ``soon``; None before, and where there is none."""
        known = self._codes.get((make, key), 0)
        if isinstance(known, int):
            after = min(after, SOON) if SEARCHED in self._codes else after
            known = make(self, *key) if known >= after or soon else known + 1
            self._codes[make, key] = known
        return None if isinstance(known, int) else known

    def searched(self) -> None:
        """From now on code is made after a few uses: a search comes back often."""
        self._codes[SEARCHED] = True

    @cached_property
    def _codes(self) -> dict[tuple[Any, ...], Any]:
        return {}

    def run(self, inputs: Sequence[Any], screws: Sequence[int]) -> tuple[tuple[Screw | None, ...], Poses]:
        """The chain itself, on entries or on symbols."""
        wanted = set(screws)
        screws_by_dof: list[Screw | None] = [None] * len(self.dofs)
        poses: Poses = {}
        rotation, origin = IDENTITY, ORIGIN
        for step in self._steps:
            turn, shift = step.pose.entries
            if shift is not ORIGIN:
                origin = en.plus(origin, en.times_vector(rotation, shift))
            if turn is not IDENTITY:
                rotation = en.times_matrix(rotation, turn)
            motion = step.motion
            if motion is None:
                assert step.frame is not None
                poses[step.frame] = (rotation, origin)
                continue
            value = inputs[motion.dof]
            moves = not (isinstance(value, float) and value == 0.0)
            if motion.dof in wanted or (moves and not motion.rotates):
                axis = en.scaled(en.column(rotation, motion.axis), motion.sign)
            if motion.dof in wanted:
                screws_by_dof[motion.dof] = Screw(axis, origin if motion.rotates else None)
            if not moves:
                continue
            if motion.rotates:
                c, s = value
                rotation = en.turned(rotation, motion.axis, c, s if motion.sign > 0 else -s)
            else:
                origin = en.plus(origin, en.scaled(axis, value))
        return tuple(screws_by_dof), poses


def _joint_motion(joint: JointMotion, dof: int) -> tuple[Pose, _Motion, Pose]:
    """Constant turn before, motion about a coordinate axis, constant turn back."""
    axis = joint.unit_axis
    k = int(np.argmax(np.abs(axis)))
    rotates = joint.kind == "revolute"
    if abs(axis[k]) == 1.0:
        return Pose(), _Motion(rotates, k, float(axis[k]), dof), Pose()
    turn = align_z(axis)
    return Pose(turn), _Motion(rotates, 2, 1.0, dof), Pose(turn.T)
