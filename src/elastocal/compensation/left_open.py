"""Frames, turn of the tool, way of the arm: what a program states of them and leaves open, and what one could say.

Suggested numbers make the program run on the robot as it stands: the controller's own frame where the language counts
from it, else the robot's base; its tool; z of the tool into the part (against a tool axis from tip to spindle, or
downwards); and axis values that reach the first target, nearest to the middle of their ranges.  Whoever states them
says what holds in the cell.

The way of the arm: where the program gives axes, these; at a target with configuration data (S and T of KRL, confdata
of RAPID, CONFIG of FANUC, RCONF of Yaskawa, qnear of URScript) that is gone to axis by axis, or that is the first, the
way that these say; everywhere else the branch that the arm is on, next to the values before.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elastocal.compensation.branches import selected
from elastocal.compensation.posts.poses import aligned, kuka_angles
from elastocal.compensation.posts.post import listed, pendant_values, post_in
from elastocal.compensation.program import Program
from elastocal.compensation.spherical_wrist import branch_of
from elastocal.compensation.stations import Placed, own_base
from elastocal.compensation.targets import Nominal, Targets, references_on
from elastocal.errors import InputError
from elastocal.model.inverse_kinematics import Task, inverse_kinematics, task
from elastocal.model.limits import joint_bounds, middle, starts
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Bools, Ints
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
    controller = post_in(program.language).own_base
    world = (own_base(model) if controller else None) or Pose()
    text = ",".join(f"{v + 0.0:.6g}" for v in (*(1e3 * world.translation), *kuka_angles(world.rotation)))
    suggested = {
        "base": [
            f"{f.name}={text if f.name == controller else '0,0,0,0,0,0'}"
            for f in program.bases.values()
            if f.pose is None
        ],
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
    if controller:
        own = f"poses of bases count from the controller's own frame, as its pendant shows them; it lies at {text}"
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


SEEDS = 256
ONE_WAY = 1e-3
"""m, and halves of rad, within which two configurations are one."""


def ways_to(robot: Robot, frame: str, position: Array, rotation: Array) -> Array:
    """Controller values (k, n) that reach a pose within the limits, those farthest from them first.

    The joint that is nearest to a limit counts, then all of them; a whole turn of a joint is no other way.
    """
    from scipy.stats import qmc

    low, high = np.array([m.limits or (-np.pi, np.pi) for m in robot.motions]).T
    seeds = low + qmc.Halton(robot.n, scramble=False).random(SEEDS + 1)[1:] * (high - low)
    targets = Targets(frame, np.repeat(position[None], SEEDS, axis=0), np.repeat(rotation[None], SEEDS, axis=0), seeds)
    solved = next(f for *_, f in Nominal(robot, frame, task(robot, frame)).chunks(targets, SEEDS))
    q = solved.q[:, solved.reached].T
    share = np.minimum(q - low, high - q) / (high - low)
    room = share.min(axis=1) if len(q) else np.empty(0)
    turning = np.array([m.kind == "revolute" for m in robot.motions])
    out: list[Array] = []
    for i in np.lexsort((-share.mean(axis=1), -np.round(room, 3)))[: int((room >= 0).sum())]:
        off = [np.where(turning, np.abs(np.sin((q[i] - other) / 2)), np.abs(q[i] - other)) for other in out]
        if all(one.max() > ONE_WAY for one in off):
            out.append(q[i])
    return np.asarray(robot.controller.to_controller(np.array(out).reshape(len(out), robot.n)))


_CHUNK = 4000


def references(placed: Placed, task: Task, near: Array | None) -> Array:
    """Joint values (S, n), all finite; ``near`` (n,) are those before the first station, where they are known."""
    inverse = {frame: Nominal(placed.model, frame, task) for frame in dict.fromkeys(placed.frames)}
    out = placed.reference.copy()
    _by_configuration(placed, inverse, out, near is None)
    known = np.isfinite(out[:, 0])
    if near is None:
        first = int(np.argmax(known)) if known.any() else 0
        if not known.any() or first > 0:
            raise InputError(
                f"{placed.stations.name(0)}: nothing before it says which way the arm reaches it; give the values of "
                f"{', '.join(placed.model.controller.axes)} before the program starts",
                code="no-reference",
                parameter="near",
                suggested={
                    "near": (values_reaching(placed.model, placed.frames[0], placed.position[0], placed.rotation[0]),)
                },
            )
        near = out[0]
    before = near
    for rows in _runs(placed, known):
        if known[rows[0]]:
            before = out[rows[-1]]
            continue
        some = Targets(placed.frames[rows[0]], placed.position[rows], placed.rotation[rows], before)
        some = replace(some, reference=_begun(inverse[some.frame], some, before))
        for part, _, _, solved in inverse[some.frame].chunks(some, _CHUNK):
            out[rows[part]] = np.where(solved.reached, solved.q, np.nan).T
        before = _filled(out, rows, before)
    return out


def _begun(inverse: Nominal, some: Targets, before: Array) -> Array:
    """Joint values at the first of some targets on the branch where the arm is: in a line it cannot leave it."""
    if inverse.arm is None:
        return before
    q = references_on(inverse.arm, some.picked(slice(0, 1)), branch_of(inverse.arm, before[:, None]), before)[0]
    return q if np.isfinite(q).all() else before


def _runs(placed: Placed, known: Bools) -> list[Ints]:
    """Neighbours that are alike: with values or without, and of one tool."""
    if not len(known):
        return []
    frames = np.array(placed.frames, dtype=object)
    cuts = np.flatnonzero((np.diff(known.astype(int)) != 0) | (frames[1:] != frames[:-1])) + 1
    return np.split(np.arange(len(known)), cuts)


def _filled(out: Array, rows: Ints, before: Array) -> Array:
    """Stations out of reach take the values before them; the last ones of the run."""
    for row in rows[~np.isfinite(out[rows, 0])]:
        out[row] = out[row - 1] if row > rows[0] else before
    return np.asarray(out[rows[-1]])


def _by_configuration(placed: Placed, inverse: dict[str, Nominal], out: Array, from_first: bool) -> None:
    """Fill in where configuration data say the way: where the robot goes axis by axis, and at the first station."""
    program, stations = placed.stations.program, placed.stations
    post = post_in(program.language)
    used = np.array([m.motion == "joint" for m in program.moves])[stations.move]
    used[:1] |= from_first
    for row in np.flatnonzero(used & ~stations.by_axes):
        arm = inverse[placed.frames[row]].arm
        branch = post.branch(program.targets[int(stations.target[row])])
        if branch is None:
            continue
        if arm is not None:
            q = selected(placed.model, arm, placed.position[row], placed.rotation[row], branch)
            out[row] = np.nan if q is None else q
        elif branch.near is not None:
            out[row] = _next_to(placed, inverse[placed.frames[row]], int(row), branch.near)


def _next_to(placed: Placed, inverse: Nominal, row: int, near: Array) -> Array:
    """Joint values (n,) of one station next to controller values; nan out of reach."""
    start = placed.model.controller.to_joints(near[None])
    one = Targets(placed.frames[row], placed.position[[row]], placed.rotation[[row]], start)
    (*_, solved), *_ = inverse.chunks(one, 1)
    return np.asarray(np.where(solved.reached, solved.q, np.nan)[:, 0])
