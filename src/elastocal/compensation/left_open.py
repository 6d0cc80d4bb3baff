"""What a program leaves open: poses of frames, the turn of the tool, the way of the arm; and what one could state.

Suggested numbers make the program run on the robot as it stands: the controller's own frame where the language counts
from it, else the robot's base; its tool; z of the tool into the part (against a tool axis from tip to spindle, or
downwards); and axis values that reach the first target, nearest to the middle of their ranges.  Whoever states them
says what holds in the cell.
"""

from __future__ import annotations

import numpy as np

from elastocal.compensation.placed import own_base
from elastocal.compensation.posts.orientation import aligned, kuka_angles
from elastocal.compensation.posts.post import listed, pendant_values, post_kinds
from elastocal.compensation.program import Program
from elastocal.errors import InputError
from elastocal.model.inverse_kinematics import inverse_kinematics
from elastocal.model.limits import joint_bounds, middle, starts
from elastocal.model.robot import Robot
from elastocal.model.task import task
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose

STARTS = 60
UP = np.array([0.0, 0.0, 1.0])
"""From tip to spindle."""


def check_frames(program: Program, model: Robot, anywhere: bool) -> None:
    """Refuse a program with frames that nobody stated, and say all that it leaves open at once.

    ``anywhere``: the axis values before it starts are not stated.
    """
    missing = program.missing_frames()
    if not missing:
        return
    name = next(iter(program.files), "the program")
    world = (own_base(model) if post_kinds()[program.language].own_base else None) or Pose()
    text = ",".join(f"{v + 0.0:.6g}" for v in (*(1e3 * world.translation), *kuka_angles(world.rotation)))
    suggested = {
        "base": [f"{f.name}={text}" for f in program.bases.values() if f.pose is None],
        "tool": [f"{f.name}={model.tool}" for f in program.tools.values() if f.pose is None],
    }
    wanted = []
    posed = np.array([t.kind != "joints" for t in program.targets], dtype=bool)
    turn = _into_part(program)
    if posed.any() and np.isnan(program.rotations[posed]).any():
        wanted.append("the orientation of the tool (orientation)")
    elif along_axes(program):
        wanted.append("which way z of the tool looks, from tip to spindle unless you say it (orientation)")
    if wanted:
        suggested["orientation"] = [listed(kuka_angles(turn))]
    if anywhere and len(posed) and posed.all() and not any(t.configuration for t in program.targets):
        wanted.append("axis values before it starts (near)")
        rotation = program.rotations[0] if np.isfinite(program.rotations[0]).all() and len(wanted) == 1 else turn
        first = world @ Pose(rotation, program.positions[0])
        suggested["near"] = [values_reaching(model, model.tool, first.translation, first.rotation)]
    own = "zeros are the robot's own base and flange"
    own += f", the controller's own frame lies there at {text}" if np.any(world.translation) else ""
    also = f"; the program also leaves open {' and '.join(wanted)}" if wanted else ""
    raise InputError(
        f"{name}: {_unknown(program)}; state NAME=X,Y,Z,A,B,C (mm, deg; {own}), or NAME=FRAME for a tool of the "
        f"robot file{also}",
        code="frame-unknown", file=name, value=missing[0], parameter=missing[0].split(" ", 1)[0], allowed=missing,
        suggested={key: tuple(values) for key, values in suggested.items() if values},
    )  # fmt: skip


def _unknown(program: Program) -> str:
    """Which poses are stated nowhere, and which the program itself changes."""
    frames = [(w, f) for w, some in (("base", program.bases), ("tool", program.tools)) for f in some.values()]
    changed = [
        f"{w} {f.name} ({f.where}) is stated and then changed in {f.changed}: give the pose that holds for its moves"
        for w, f in frames if f.pose is None and f.changed
    ]  # fmt: skip
    nowhere = [f"{w} {f.name} ({f.where})" for w, f in frames if f.pose is None and not f.changed]
    if nowhere:
        what = f"pose of {nowhere[0]} is" if len(nowhere) == 1 else f"poses of {' and '.join(nowhere)} are"
        changed.insert(0, f"the {what} stated nowhere")
    return "; ".join(changed)


def along_axes(program: Program) -> bool:
    """Whether tool axes alone say how the tool is turned."""
    free = program.given.orientation is None and not program.given.rotary
    return free and any(t.kind == "axis" for t in program.targets)


def values_reaching(model: Robot, frame: str, position: Array, rotation: Array) -> str:
    """Controller values that reach a pose, nearest to the middle of the ranges; the middle itself where none does."""
    wanted, start = task(model, frame), starts(model, STARTS).T
    n = start.shape[1]
    poses = np.repeat(position[:, None], n, axis=1), np.repeat(rotation[:, :, None], n, axis=2)
    solution = inverse_kinematics(model.nominal, frame, wanted, *poses, start)
    low, high = joint_bounds(model)
    good = solution.reached & (solution.q >= low[:, None]).all(axis=0) & (solution.q <= high[:, None]).all(axis=0)
    off = np.abs(solution.q - middle(model)[:, None]).sum(axis=0)
    best = int(np.argmin(np.where(good, off, np.inf)))
    return listed(pendant_values(model, solution.q[:, best] if good.any() else middle(model)))


def _into_part(program: Program) -> Array:
    """A rotation whose z looks against the first tool axis, or down."""
    axis = next((program.rotations[i, :, 2] for i, t in enumerate(program.targets) if t.kind == "axis"), UP)
    return np.asarray(aligned(-axis[None])[0])
