"""A robot as its file says: frames, joints, controller, effects; poses of frames at configurations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from math import degrees
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cells.roles import Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.app.pages.result_columns import axis_columns, configuration_cells, or_reason, parameter_table
from elastocal.report.blocks import Cell, Column, Paragraphs, Report, Section, Table, Unknown
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.app.configurations import Configurations
    from elastocal.model.frames import JointMotion
    from elastocal.model.parameters import Parameter
    from elastocal.model.robot import Robot
    from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class ShowResult:
    """``parameters`` are those asked for; ``filtered`` tells whether some were left out on request.

    ``poses`` are places (3, N) in m and rotations (3, 3, N) of frames in base axes at the configurations ``at``, where
    some were given.
    """

    model: Robot
    parameters: tuple[Parameter, ...]
    filtered: bool
    notes: tuple[str, ...]
    at: Configurations | None = None
    poses: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)


@command("robots", 2, Uses({"robot": "robot"}), report=False)
def show(
    robot: o.Robot,
    parameters: Annotated[list[str] | None, o.option("PATTERN", 'Only these parameters, such as "A*.k".')] = None,
    at: o.At = None,
    tool: o.Tool = None,
) -> ShowResult:
    """Everything a robot file says: frames, joints, effects.

    Frames, joints, controller map, effects and parameters; with --at also where the frames stand.

    \b
    Example:
      elastocal show kuka-kr270 --parameters "A*.k"
    """
    from elastocal.app.configurations import typed
    from elastocal.files.robot.read import read_robot, selected

    model = read_robot(robot, tool)
    rows = tuple(model.parameters.rows[i] for i in selected(model, tuple(parameters or ())))
    if not at:
        return ShowResult(model, rows, bool(parameters), model.notes)
    where = typed(model, tuple(at))
    notes = (*model.notes, *_beyond(model, where))
    return ShowResult(model, rows, bool(parameters), notes, where, frame_poses(model, where.q))


def frame_poses(model: Robot, q: Array) -> dict[str, tuple[Array, Array]]:
    """Of the tool and then every frame, of the rigid robot with its geometric errors."""
    from elastocal.model.kinematics import rigid_state

    state = rigid_state(model.posture(q.T))
    names = dict.fromkeys((model.tool, *(f.name for f in model.tree.frames)))
    return {name: (state.origin(name), state.rotation(name)) for name in names}


def _beyond(model: Robot, configurations: Configurations) -> tuple[str, ...]:
    """Poses are shown beyond the limits too, but not silently."""
    from elastocal.model.limits import limit_text

    return tuple(
        f"{configurations.places[row]}: {limit_text(model, joint, value)}."
        for row, joint, value in model.beyond_limits(configurations.q)
    )


def page(result: ShowResult) -> Report:
    model = result.model
    parameters = parameter_table("parameters", result.parameters, *_left_out(result))
    title = model.name if model.title in ("", model.name) else f"{model.title} ({model.name})"
    if result.filtered:
        return Report(title, (), (Section("Parameters", (parameters,)), *_poses(result)), result.notes)
    g = ", ".join(f"{v:g}" for v in model.gravity)
    words = (
        f"Source: {' '.join(model.source.split())}",
        f"Serial number: {model.serial or 'not stated'}.",
        f"Gravity ({g}) m/s2 in base axes. Tool frame: {model.tool}.",
    )
    sections = (
        Section("", (Paragraphs(words),)),
        Section("Frames", (_frames(model),)),
        Section("Joints", (_joints(model),)),
        Section("Controller", _controller(model)),
        Section("Effects", (_elements(model),)),
        Section("Parameters", (parameters,)),
        *_poses(result),
    )
    return Report(title, (), sections, result.notes)


def _left_out(result: ShowResult) -> tuple[str, ...]:
    if not result.filtered:
        return ()
    return (f"{len(result.parameters)} of {len(result.model.parameters)} parameters.",)


def _frames(model: Robot) -> Table:
    from elastocal.spatial.rotation import matrix_rpy

    return Table.of("frames", model.tree.frames, {
        Column("name", "frame"): lambda f: f.name,
        Column("parent", "in"): lambda f: f.parent,
        tuple(Column(f"{c}_mm", c, "mm", group="xyz") for c in "xyz"):
            lambda f: (_tidy(1e3 * float(v)) for v in f.pose.translation),
        tuple(Column(f"{c}_deg", c, "deg", group="rpy") for c in ANGLES):
            lambda f: (_tidy(degrees(v)) for v in matrix_rpy(f.pose.rotation)),
        Column("joint", "joint"): lambda f: "fixed" if f.joint is None else f.joint.kind,
        Column("source", "source", footnote=True): lambda f: " ".join(f.source.split()),
    })  # fmt: skip


def _poses(result: ShowResult) -> tuple[Section, ...]:
    from elastocal.spatial.rotation import matrix_rpy

    at, poses = result.at, result.poses
    if at is None:
        return ()
    note = (
        f"In base axes, at the controller values given, tool ({result.model.tool}) first; rigid robot with its "
        "geometric errors. Rotation = Rz(yaw) Ry(pitch) Rx(roll)."
    )
    table = Table.of("poses", [(i, name) for i in range(len(at)) for name in poses], {
        tuple(replace(c, shown=len(at) > 1) for c in axis_columns(at.axes)): lambda p: configuration_cells(at, p[0]),
        Column("name", "frame"): lambda p: p[1],
        tuple(Column(f"{c}_mm", c, "mm", 4) for c in "xyz"):
            lambda p: (_tidy(1e3 * float(v)) for v in poses[p[1]][0][:, p[0]]),
        tuple(Column(f"{c}_deg", c, "deg", 5) for c in ANGLES):
            lambda p: (_tidy(degrees(v)) for v in matrix_rpy(poses[p[1]][1][:, :, p[0]])),
    }, note)  # fmt: skip
    return (Section("Poses", (table,)),)


def _tidy(value: float) -> float:
    return round(value, 9) + 0.0


ANGLES = ("roll", "pitch", "yaw")


def _joints(model: Robot) -> Table:
    return Table.of("joints", [(f.name, f.joint) for f in model.tree.frames if f.joint is not None], {
        Column("name", "joint"): lambda j: j[0],
        Column("type", "type"): lambda j: j[1].kind,
        Column("axis", "axis"): lambda j: " ".join(f"{v:g}" for v in j[1].axis),
        (Column("lower", "from"), Column("upper", "to"), Column("unit", "unit"), Column("follows", "follows")):
            lambda j: _range(j[1]),
    })  # fmt: skip


def _range(motion: JointMotion) -> tuple[Cell, ...]:
    unit, scale = ("deg", degrees(1.0)) if motion.kind == "revolute" else ("mm", 1e3)
    open_ended = Unknown("the file gives no limits for this joint")
    low, high = (open_ended, open_ended) if motion.limits is None else (_tidy(scale * v) for v in motion.limits)
    follows = "" if motion.follows is None else f"{motion.ratio:g} {motion.follows} + {scale * motion.offset:g} {unit}"
    return low, high, unit, follows


def _controller(model: Robot) -> tuple[Table, ...]:
    """q = M (c - z), one row per joint."""
    c, turns = model.controller, [m.kind == "revolute" for m in model.motions]
    note = "joint value = sum over axes of factor x (controller value - zero of that axis)"
    table = Table.of("controller", range(model.n), {
        Column("joint", "joint"): lambda i: model.joints[i],
        tuple(Column(f"by_{a}", f"x {a}") for a in c.axes): lambda i: (_tidy(float(v)) for v in c.matrix[i]),
        Column("axis", "axis"): lambda i: c.axes[i],
        Column("zero", "zero"): lambda i: _tidy(degrees(c.zero[i]) if turns[i] else 1e3 * float(c.zero[i])),
        Column("unit", "unit"): lambda i: "deg" if turns[i] else "mm",
    }, note)  # fmt: skip
    own = c.parameters(model.joints, [m.unit for m in model.motions], "robot file, controller")
    return (table, parameter_table("controller_parameters", own), *_drives(model))


def _drives(model: Robot) -> tuple[Table, ...]:
    """phi = S c, one row per motor, where the file tells of motors."""
    drives, axes = model.controller.drives, model.controller.axes
    if drives is None:
        return ()
    note = "motor angle = sum over axes of factor x controller value; tables may hold counts or motor angles of them"
    return (Table.of("drives", range(len(axes)), {
        Column("motor", "motor"): lambda i: axes[i],
        tuple(Column(f"by_{a}", f"x {a}") for a in axes): lambda i: drives.structure[i],
        Column("counts_per_turn", "counts per turn"):
            lambda i: or_reason(drives.counts_per_turn[i], "the file gives no counts per turn"),
        Column("counts_at_zero", "counts at zero"): lambda i: drives.counts_at_zero[i],
    }, note),)  # fmt: skip


def _elements(model: Robot) -> Table:
    notes = () if model.elements else ("This robot has no effects: it neither bends nor weighs anything.",)
    return Table.of("effects", model.elements, {
        Column("kind", "effect"): lambda e: e.kind,
        Column("place", "at"): lambda e: e.place,
        Column("parameters", "parameters"): lambda e: len(e.parameters(model.tree)),
        Column("source", "source", footnote=True): lambda e: " ".join(e.source.split()),
    }, *notes)  # fmt: skip
