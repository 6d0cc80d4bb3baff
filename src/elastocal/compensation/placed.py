"""A program's stations seen from the robot: its bases and tools as frames of the model, poses in the robot's base.

    T_robot_tool = T_robot_base T_base_tool         (base of the program)

Axis values become the pose that the controller takes them for.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from elastocal.compensation.program import Program
from elastocal.compensation.stations import Stations
from elastocal.errors import MissingError, ShapeError
from elastocal.model.frames import BASE, Frame
from elastocal.model.kinematics import rigid_pose
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class Placed:
    """``model`` has the program's tools as frames; ``position`` (S, 3), ``rotation`` (S, 3, 3) are in robot axes.

    ``reference`` (S, n) are the axes where the program gives them, as joint values, else nan.
    """

    model: Robot
    stations: Stations
    position: Array
    rotation: Array
    reference: Array

    @cached_property
    def frames(self) -> tuple[str, ...]:
        """Tool frame of every station."""
        names = {name: tool_frame(name) for name in self.stations.program.tools}
        tools = [names[t.tool] for t in self.stations.program.targets]
        return tuple(map(tools.__getitem__, self.stations.target.tolist()))

    def base(self, row: int) -> Pose:
        target = self.stations.program.targets[int(self.stations.target[row])]
        return _pose(self.stations.program, "base", target.base)

    def in_robot(self, position: Array, rotation: Array) -> tuple[Array, Array]:
        """Poses (S, 3), (S, 3, 3) in the base of each station, seen from the robot."""
        place, turn = _bases(self.stations)
        return (
            place + np.einsum("nij,nj->ni", turn, position),
            np.einsum("nij,njk->nik", turn, rotation),
        )

    def in_program(self, position: Array, rotation: Array) -> tuple[Array, Array]:
        """Poses (S, 3), (S, 3, 3) in robot axes, seen from the base of each station."""
        place, turn = _bases(self.stations)
        return (
            np.einsum("nji,nj->ni", turn, position - place),
            np.einsum("nji,njk->nik", turn, rotation),
        )


WORLD = ("world", "base_frame")
"""Frames of a robot that are the controller's own base: by name, and what becomes of link ``base`` of a URDF."""


def own_base(model: Robot) -> Pose | None:
    """The controller's own base in the robot's root; None where the robot does not say."""
    for name in WORLD:
        frame = next((f for f in model.tree.frames if f.name == name), None)
        if frame is not None and frame.joint is None and frame.parent == BASE:
            at, turn = rigid_pose(model.nominal, name, np.zeros((model.n, 1)))
            return Pose(turn[..., 0], at[..., 0])
    return None


def with_own_base(program: Program, model: Robot, name: str, at_root: bool) -> Program:
    """The program with its controller's own base, where neither the files nor the user state it."""
    frame = program.bases.get(name)
    pose = own_base(model) or (Pose() if at_root else None)
    if frame is None or frame.pose is not None or pose is None:
        return program
    return replace(program, bases={**program.bases, name: frame._replace(pose=pose)})


def tool_frame(name: str) -> str:
    return f"tool {name} of the program"


def with_tools(model: Robot, program: Program, flange: str) -> Robot:
    """The robot with a frame for every tool of the program."""
    model.tree.frame(flange)
    tools = [Frame(tool_frame(name), flange, _pose(program, "tool", name)) for name in program.tools]
    tree = replace(model.tree, frames=(*model.tree.frames, *tools))
    return replace(model, tree=tree)


def placed(model: Robot, stations: Stations) -> Placed:
    """``model`` is one ``with_tools``."""
    by_axes = stations.by_axes
    if by_axes.any() and stations.joints.shape[1] != model.n:
        first = stations.program.targets[int(stations.target[int(np.argmax(by_axes))])]
        raise ShapeError(
            f"{first.where}: has {stations.joints.shape[1]} axes, robot {model.name} has {model.n} "
            f"({', '.join(model.controller.axes)}); use the robot of this program"
        )
    reference = np.full((len(stations), model.n), np.nan)
    bare = Placed(model, stations, stations.position, stations.rotation, reference)
    position, rotation = bare.in_robot(stations.position, stations.rotation)
    out = replace(bare, position=position, rotation=rotation)
    if by_axes.any():
        reference[by_axes] = model.controller.to_joints(stations.joints[by_axes])
        for frame in set(out.frames):
            rows = np.flatnonzero(by_axes & np.array([f == frame for f in out.frames]))
            at, turned = rigid_pose(model.nominal, frame, np.ascontiguousarray(reference[rows].T))
            position[rows], rotation[rows] = at.T, np.moveaxis(turned, -1, 0)
    return out


def _bases(stations: Stations) -> tuple[Array, Array]:
    """Origin (S, 3) and rotation (S, 3, 3) of the base of every station; the robot's own where it gives axes."""
    names, rows = stations.bases
    known = [_pose(stations.program, "base", name) if name else Pose() for name in names]
    return np.array([p.translation for p in known])[rows], np.array([p.rotation for p in known])[rows]


def _pose(program: Program, word: str, name: str) -> Pose:
    frame = (program.bases if word == "base" else program.tools)[name]
    if frame.pose is None:
        raise MissingError(
            f"{frame.where}: the pose of {word} {name} is stated nowhere; state it, or use the data file of the program"
        )
    return frame.pose
