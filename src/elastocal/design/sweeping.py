"""Sweeps of one joint as a method: which joint, from where to where, how fast, and where the others are locked.

The joint goes slowly there and back while its torque is read, evenly spaced (``samples`` on each way, taken as
independent).  The others stand still: the sign of their friction is not known, and what they read does not count.
Friction is sought like the masses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from elastocal.design.candidates import CandidateSet, Choice, Poses, drawn, joint_ranges, programmable
from elastocal.design.feasibility.filter import Removed
from elastocal.design.method import Method, Stop
from elastocal.design.route import STEP_ANGLE
from elastocal.errors import MissingError, UnobservableError
from elastocal.measure.joints import MASSES, JointTorque
from elastocal.measure.kind import Measurement
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.holding import holding_observation
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.design.task import PlanTask

UNRATED = 5.0
"""Per cent of an axis' speed where that is not known."""
ACTS = 1e-9
"""Of the largest: a joint whose torque depends less on the masses is not moved by them."""


@dataclass(frozen=True)
class Stroke(Choice):
    """Joint number ``joint`` by ``span`` (rad) and back at ``speed`` (rad/s)."""

    joint: int
    span: float
    speed: float
    point: str
    name: str


@dataclass(frozen=True)
class Sweeping(Method):
    """``joints`` to sweep (none: those that the weight acts on) by one of ``spans`` at one of ``speeds``."""

    kind: str = field(default="joint_torque", init=False)
    counted: ClassVar[str] = "N m"
    noun: ClassVar[str] = "sweeps"
    errors_sought: ClassVar[bool] = True
    spans: tuple[float, ...]
    speeds: tuple[float, ...]
    joints: tuple[str, ...] = ()
    samples: int = 12
    sources: tuple[ErrorSource, ...] = ()

    def choices(self, task: PlanTask, rng: np.random.Generator) -> tuple[CandidateSet, tuple[Removed, ...]]:
        """Every configuration drawn, every joint, span and speed; the start is moved so that the sweep fits."""
        model = task.model
        poses, missed = drawn(model, task.draw, rng)
        options = self._strokes(model, poses.q)
        each = len(options)
        low, high = joint_ranges(model, task.draw.turn)
        q = np.repeat(poses.q, each, axis=0)
        option = np.tile(np.arange(each), len(poses))
        for i, stroke in enumerate(options):
            j, mine = stroke.joint, option == i
            part = (q[mine, j] - low[j]) / (high[j] - low[j])
            q[mine, j] = low[j] + part * max(0.0, high[j] - low[j] - stroke.span)
        candidates = CandidateSet(Poses(model, programmable(model, q)), options, model.tool, np.arange(len(q)), option)
        reach = (Removed("reach of the task", missed * each, len(candidates)),) if task.draw.around else ()
        return candidates, reach

    def _strokes(self, model: Robot, q: Array) -> tuple[Stroke, ...]:
        turning = [m.kind == "revolute" for m in model.motions]
        names = [p.name for p in model.parameters if p.kind in MASSES]
        if not names:
            raise MissingError(
                f"robot {model.name} has no link masses to seek; give some in the robot file", value=model.name
            )
        felt = np.abs(holding_observation(model, q[:64], names)).max(axis=(0, 2))
        acting = [j for j, turns in enumerate(turning) if turns and felt[j] > ACTS * felt.max()]
        chosen = [model.joints.index(j) for j in self.joints] or acting
        if not chosen:
            raise UnobservableError(
                f"robot {model.name}: the weight acts on no joint that turns; is its gravity right?"
            )
        return tuple(
            Stroke(j, span, speed, model.tool, f"{model.joints[j]} by {np.degrees(span):g} deg, "
                   f"{np.degrees(speed):g} deg/s")
            for j in chosen for span in self.spans for speed in self.speeds
        )  # fmt: skip

    def along(self, candidates: CandidateSet, count: int) -> Array:
        """Joint values (N, count, n) evenly along the sweeps, one way."""
        out = np.repeat(candidates.q[:, None], count, axis=1)
        joint, span = self._each(candidates, "joint"), self._each(candidates, "span")
        out[np.arange(len(out)), :, joint] += np.linspace(0, 1, count) * span[:, None]
        return out

    @staticmethod
    def _each(candidates: CandidateSet, what: str) -> Array:
        """A number (N,) of the sweep of every candidate."""
        return np.array([getattr(stroke, what) for stroke in candidates.options])[candidates.option]

    def ends(self, candidates: CandidateSet) -> Array:
        """Joint values (N, n) where the sweeps turn back."""
        return self.along(candidates, 2)[:, 1]

    def stations(self, candidates: CandidateSet) -> tuple[CandidateSet, Ints]:
        count = int(np.ceil(max(self.spans) / STEP_ANGLE)) + 1
        where = Poses(candidates.model, self.along(candidates, count).reshape(-1, candidates.model.n))
        owner = np.repeat(np.arange(len(candidates)), count)
        return CandidateSet(
            where, candidates.options, candidates.frame, np.arange(len(where)), candidates.option[owner]
        ), owner

    def readings(self, candidates: CandidateSet) -> JointTorque:
        """There, then back, sweep by sweep."""
        there = self.along(candidates, self.samples)
        q = np.concatenate([there, there[:, ::-1]], axis=1).reshape(-1, candidates.model.n)
        way = np.tile(np.repeat([1.0, -1.0], self.samples), len(candidates))
        owner = self.owner(candidates)
        joint, speed = self._each(candidates, "joint"), self._each(candidates, "speed")
        velocity = np.zeros_like(q)
        velocity[np.arange(len(q)), joint[owner]] = way * speed[owner]
        return JointTorque.of(candidates.model, q, velocity, block=owner)

    def measured(self, candidates: CandidateSet) -> Bools:
        velocity = self.readings(candidates).velocity
        assert velocity is not None
        return np.asarray(velocity != 0)

    def stroke(self, candidates: CandidateSet, i: int) -> Stroke:
        """The sweep of candidate i."""
        option = candidates.options[int(candidates.option[i])]
        assert isinstance(option, Stroke)
        return option

    def program(self, chosen: CandidateSet, repeats: int, rated: Array) -> tuple[Stop, ...]:
        """There and back at the speed of the sweep."""
        out: list[Stop] = []
        for i, (start, turn) in enumerate(zip(chosen.q, self.ends(chosen), strict=True)):
            stroke = self.stroke(chosen, i)
            most = rated[stroke.joint]
            share = UNRATED if np.isnan(most) else float(np.clip(100 * stroke.speed / most, 1, 100))
            out.append(Stop(start, (f"S{i + 1}: log while {chosen.label(i)} and back",), label=f"S{i + 1}"))
            for _ in range(repeats):
                out += [Stop(turn, (), share, f"S{i + 1} there", label=f"S{i + 1}")]
                out += [Stop(start, (), share, f"S{i + 1} back", label=f"S{i + 1}")]
        return tuple(out)

    def owner(self, candidates: CandidateSet) -> Ints:
        return np.repeat(np.arange(len(candidates)), 2 * self.samples)

    def determined(self, readings: Measurement, candidates: CandidateSet) -> Bools:
        return np.ones(len(candidates), dtype=bool)

    def at_tests(self, q: Array, load: AppliedWrenches, frame: str, model: Robot, names: Sequence[str]) -> Array:
        """The torques that hold the arm."""
        return JointTorque.of(model, q).derivative(model, names)
