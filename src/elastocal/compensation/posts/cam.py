"""Languages of CAM systems: points with tool axes, from tip to spindle, in frames that a setup sheet states.

They state the place of the tool and its axis.  The turn about that axis and the way that the arm reaches the pose are
taken by whoever makes motions of axes of them, so a measuring program says at every stop which axis values it means,
and how far the planned pose is turned about the tool axis against the one that ``orientation.aligned`` takes:

    R_planned = R_rule Rot(z, turn),      R_rule = aligned(tool axes, like that of the first stop)
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from elastocal.compensation.posts.poses import along_axes, kuka_angles
from elastocal.compensation.posts.post import START, Post, ToolPath, listed, pendant_values, program_name
from elastocal.model.inverse_kinematics import task
from elastocal.model.kinematics import rigid_pose
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array

if TYPE_CHECKING:
    from elastocal.design.method import Stop

SPEED, SLOW = 12000.0, 3000.0
"""mm/min of the moves of a measuring program, and of the first ones."""
PATH = 3000.0
"""mm/min of an example."""


class CamPost(Post):
    frames: ClassVar[tuple[str, str]]
    """Names of the base and the tool of an example."""
    stop: ClassVar[str]
    """The machine stops until somebody goes on."""
    end: ClassVar[str]
    taken: ClassVar[tuple[str, ...]] = ()
    """Lines of an example that take the tool; a measuring program changes none, a reflector is mounted."""

    @abstractmethod
    def opening(self, name: str) -> list[str]:
        """Lines before the first move: mm, tool axes."""

    @abstractmethod
    def remark(self, text: str) -> list[str]:
        """Comments that post-processors hand on."""

    @abstractmethod
    def speed(self, feed: float) -> list[str]:
        """The feed of the moves from here on in mm/min."""

    @abstractmethod
    def go(self, point: Array) -> list[str]:
        """A linear move to x, y, z in mm with the tool axis i, j, k."""

    @abstractmethod
    def dwell(self, seconds: float) -> list[str]: ...

    def hindrance(self, model: Robot, stops: Sequence[Stop] = ()) -> str:
        if any(stop.speed is not None for stop in stops):
            return f"{self.kind} states no speeds of axes, which sweeps need; plan.csv has them"
        if not stops and task(model, model.tool).aim != "pose":
            return f"{self.kind} states tool axes, and this arm turns its tool as it moves it"
        return ""

    def cautions(self, model: Robot, stops: Sequence[Stop]) -> tuple[str, ...]:
        first = listed(kuka_angles(_poses(model, stops)[1][0])) if stops else ""
        return (
            f"{self.kind} states place and axis of the tool only ({model.tool}, in the base of the robot, mm, axis "
            f"from tip to spindle): {self.frames[0]} must be that base. The turn about that axis and the configuration "
            "of the arm are taken by the post-processor or the controller: log the axis values with the readings, or "
            "check them at every stop against those in the comments.",
            "The comments count the turn about the tool axis from the orientation with the least turn from that at "
            f"stop 1, to be stated (A, B, C {first}) where this file is read.",
            "Ways between poses are looked at as motions of axes: have the post-processor write such (PTP, MoveJ). "
            "Straight ways of the tool are NOT CHECKED.",
        )

    def measuring_program(
        self, name: str, model: Robot, stops: Sequence[Stop], notes: Sequence[str] = (), wait: float = 2.0
    ) -> dict[str, str]:
        """One move per stop, a halt where somebody reads or changes the load."""
        self.check(name, model, stops)
        module = program_name(name)
        head = [line for note in (*notes, *self.cautions(model, stops)) for line in self.remark(note)]
        lines = [*self.opening(module), *head, *self.remark(START), self.stop]
        places, turns = _poses(model, stops)
        points = with_axis(places, turns)
        for number, (stop, point, turn) in enumerate(zip(stops, points, _turns(turns, points), strict=True), 1):
            axes = zip(model.controller.axes, pendant_values(model, stop.q), model.motions, strict=True)
            meant = ", ".join(f"{a} {v:.4f} {'deg' if m.kind == 'revolute' else 'mm'}" for a, v, m in axes)
            lines += self.remark(f"stop {number} of {len(stops)}{': ' if stop.note else ''}{stop.note}")
            lines += self.remark(f"axes {meant}; turn {turn + 0.0:.4f} deg about the tool axis")
            lines += [*self.speed(SLOW if stop.slow or number == 1 else SPEED), *self.go(point), *self.dwell(wait)]
            lines += [line for sentence in stop.sentences for line in (*self.remark(sentence), self.stop)]
        return {f"{module}{self.suffixes[0]}": "\n".join([*lines, self.end]) + "\n"}

    def example(self, model: Robot, path: ToolPath) -> dict[str, str]:
        self.check(path.name, model)
        points = with_axis(path.positions, np.array([pose.rotation for pose in path.poses]))
        lines = [*self.opening(path.name), *self.taken, *self.remark(path.comment), *self.speed(PATH)]
        lines += [line for point in points for line in self.go(point)]
        return {f"{path.name}{self.suffixes[0]}": "\n".join([*lines, self.end]) + "\n"}

    def left_open(self, model: Robot, path: ToolPath) -> dict[str, str | list[str]]:
        base, tool = self.frames
        return {
            "base": [f"{base}=0,0,0,0,0,0"],
            "tool": [f"{tool}={model.tool}"],
            "orientation": listed(kuka_angles(path.rotation)),
            "near": listed(pendant_values(model, path.q)),
        }


def with_axis(places: Array, turns: Array) -> Array:
    """x, y, z in mm and i, j, k, from tip to spindle, of poses (N, 3), (N, 3, 3) of the tool: (N, 6)."""
    return np.hstack([1e3 * places, 0.0 - turns[:, :, 2]]) + 0.0


def _poses(model: Robot, stops: Sequence[Stop]) -> tuple[Array, Array]:
    """Places (N, 3) and rotations (N, 3, 3) of the tool in the robot's base, without load."""
    q = np.array([stop.q for stop in stops]).reshape(-1, model.n)
    place, turn = rigid_pose(model.nominal, model.tool, q.T)
    return place.T, np.moveaxis(turn, -1, 0)


def _turns(turns: Array, points: Array) -> Array:
    """Degrees (N,) about z of the tool from the rule's rotation to the planned one."""
    if not len(turns):
        return np.empty(0)
    rest = np.einsum("nji,njk->nik", along_axes(points[:, 3:], turns[0]), turns)
    return np.asarray(np.degrees(np.arctan2(rest[:, 1, 0], rest[:, 0, 0])))
