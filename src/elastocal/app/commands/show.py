"""A robot as its file says: frames, joints, controller, effects; poses of frames at configurations."""

from __future__ import annotations

from dataclasses import replace
from math import degrees
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cells.roles import Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.app.pages.result_columns import axis_columns, configuration_cells, parameter_table
from elastocal.report.blocks import Cell, Column, Paragraphs, Report, Section, Table, Unknown
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.app.configurations import Configurations
    from elastocal.model.frames import JointMotion
    from elastocal.model.parameters import Parameter
    from elastocal.model.robot import Robot
    from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class FramePose:
    """Where a frame stands in base axes, in configuration ``row``: ``xyz`` in m, ``rpy`` in rad."""

    row: int
    frame: str
    xyz: tuple[float, ...]
    rpy: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class ShowResult:
    """``parameters`` are those asked for; ``filtered`` tells whether some were left out on request.

    ``poses`` belong to the configurations ``at``, where some were given.
    """

    model: Robot
    parameters: tuple[Parameter, ...]
    filtered: bool
    notes: tuple[str, ...]
    at: Configurations | None = None
    poses: tuple[FramePose, ...] = ()


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


def frame_poses(model: Robot, q: Array) -> tuple[FramePose, ...]:
    """Of the tool and then every frame, of the rigid robot with its geometric errors."""
    from elastocal.model.kinematics import rigid_state
    from elastocal.spatial.rotation import matrix_rpy

    state = rigid_state(model.posture(q.T))
    names = dict.fromkeys((model.tool, *(f.name for f in model.tree.frames)))
    where = {name: (state.origin(name), state.rotation(name)) for name in names}
    return tuple(
        FramePose(i, name, tuple(float(v) for v in p[:, i]), tuple(float(v) for v in matrix_rpy(r[:, :, i])))
        for i in range(len(q))
        for name, (p, r) in where.items()
    )


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

    columns = (
        Column("name", "frame"),
        Column("parent", "in"),
        *(Column(f"{c}_mm", c, "mm", group="xyz") for c in "xyz"),
        *(Column(f"{c}_deg", c, "deg", group="rpy") for c in ("roll", "pitch", "yaw")),
        Column("joint", "joint"),
        Column("source", "source", footnote=True),
    )
    rows: list[tuple[Cell, ...]] = []
    for f in model.tree.frames:
        xyz = [_tidy(1e3 * float(v)) for v in f.pose.translation]
        rpy = [_tidy(degrees(v)) for v in matrix_rpy(f.pose.rotation)]
        kind = "fixed" if f.joint is None else f.joint.kind
        rows.append((f.name, f.parent, *xyz, *rpy, kind, " ".join(f.source.split())))
    return Table("frames", "", columns, tuple(rows))


def _poses(result: ShowResult) -> tuple[Section, ...]:
    at = result.at
    if at is None:
        return ()
    several = len(at) > 1
    columns = (
        *(replace(c, shown=several) for c in axis_columns(at.axes)),
        Column("name", "frame"),
        *(Column(f"{c}_mm", c, "mm", 4) for c in "xyz"),
        *(Column(f"{c}_deg", c, "deg", 5) for c in ("roll", "pitch", "yaw")),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            *configuration_cells(at, p.row), p.frame,
            *(_tidy(1e3 * v) for v in p.xyz), *(_tidy(degrees(v)) for v in p.rpy),
        )
        for p in result.poses
    ]  # fmt: skip
    notes = (
        f"In base axes, at the controller values given, tool ({result.model.tool}) first; rigid robot with its "
        "geometric errors. Rotation = Rz(yaw) Ry(pitch) Rx(roll).",
    )
    return (Section("Poses", (Table("poses", "", columns, tuple(rows), notes),)),)


def _tidy(value: float) -> float:
    return round(value, 9) + 0.0


def _joints(model: Robot) -> Table:
    columns = (
        Column("name", "joint"),
        Column("type", "type"),
        Column("axis", "axis"),
        Column("lower", "from"),
        Column("upper", "to"),
        Column("unit", "unit"),
        Column("follows", "follows"),
    )
    frames = [f for f in model.tree.frames if f.joint is not None]
    return Table("joints", "", columns, tuple(_joint(f.name, f.joint) for f in frames if f.joint is not None))


def _joint(name: str, motion: JointMotion) -> tuple[Cell, ...]:
    unit, scale = ("deg", degrees(1.0)) if motion.kind == "revolute" else ("mm", 1e3)
    axis = " ".join(f"{v:g}" for v in motion.axis)
    open_ended = Unknown("the file gives no limits for this joint")
    low, high = (open_ended, open_ended) if motion.limits is None else (_tidy(scale * v) for v in motion.limits)
    follows = "" if motion.follows is None else f"{motion.ratio:g} {motion.follows} + {scale * motion.offset:g} {unit}"
    return (name, motion.kind, axis, low, high, unit, follows)


def _controller(model: Robot) -> tuple[Table, ...]:
    """q = M (c - z), one row per joint."""
    axes = model.controller.axes
    kinds = [m.kind for m in model.motions]
    zero = [degrees(z) if k == "revolute" else 1e3 * z for z, k in zip(model.controller.zero, kinds, strict=True)]
    columns = (
        Column("joint", "joint"),
        *(Column(f"by_{a}", f"x {a}") for a in axes),
        Column("axis", "axis"),
        Column("zero", "zero"),
        Column("unit", "unit"),
    )
    rows: list[tuple[Cell, ...]] = []
    for i, joint in enumerate(model.joints):
        factors = tuple(_tidy(float(v)) for v in model.controller.matrix[i])
        unit = "deg" if kinds[i] == "revolute" else "mm"
        rows.append((joint, *factors, axes[i], _tidy(float(zero[i])), unit))
    notes = ("joint value = sum over axes of factor x (controller value - zero of that axis)",)
    units = [m.unit for m in model.motions]
    own = model.controller.parameters(model.joints, units, "robot file, controller")
    table = parameter_table("controller_parameters", own)
    return (Table("controller", "", columns, tuple(rows), notes), table, *_drives(model))


def _drives(model: Robot) -> tuple[Table, ...]:
    """phi = S c, one row per motor, where the file tells of motors."""
    drives, axes = model.controller.drives, model.controller.axes
    if drives is None:
        return ()
    columns = (
        Column("motor", "motor"),
        *(Column(f"by_{a}", f"x {a}") for a in axes),
        Column("counts_per_turn", "counts per turn"),
        Column("counts_at_zero", "counts at zero"),
    )
    unknown = Unknown("the file gives no counts per turn")
    rows: list[tuple[Cell, ...]] = [
        (axis, *(float(v) for v in s), unknown if n != n else float(n), float(z))
        for axis, s, n, z in zip(axes, drives.structure, drives.counts_per_turn, drives.counts_at_zero, strict=True)
    ]
    notes = (
        "motor angle = sum over axes of factor x controller value; tables may hold counts or motor angles of them",
    )
    return (Table("drives", "", columns, tuple(rows), notes),)


def _elements(model: Robot) -> Table:
    notes = () if model.elements else ("This robot has no effects: it neither bends nor weighs anything.",)
    return Table.of("effects", model.elements, {
        Column("kind", "effect"): lambda e: e.kind,
        Column("place", "at"): lambda e: e.place,
        Column("parameters", "parameters"): lambda e: len(e.parameters(model.tree)),
        Column("source", "source", footnote=True): lambda e: " ".join(e.source.split()),
    }, *notes)  # fmt: skip
