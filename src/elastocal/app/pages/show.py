"""A robot file as a report."""

from __future__ import annotations

from dataclasses import replace
from math import degrees
from typing import TYPE_CHECKING

from elastocal.app.commands.show import ShowResult
from elastocal.app.pages.result_columns import axis_columns, configuration_cells, parameter_cells, parameter_columns
from elastocal.report.blocks import Cell, Column, Paragraphs, Report, Section, Table, Unknown

if TYPE_CHECKING:
    from elastocal.model.frames import JointMotion
    from elastocal.model.robot import Robot


def page(result: ShowResult) -> Report:
    model = result.model
    parameters = Table(
        "parameters", "", parameter_columns(), tuple(parameter_cells(p) for p in result.parameters), _left_out(result)
    )
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
    table = Table("controller_parameters", "", parameter_columns(), tuple(parameter_cells(p) for p in own))
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
    columns = (
        Column("kind", "effect"),
        Column("place", "at"),
        Column("parameters", "parameters"),
        Column("source", "source", footnote=True),
    )
    rows = tuple((e.kind, e.place, len(e.parameters(model.tree)), " ".join(e.source.split())) for e in model.elements)
    notes = () if rows else ("This robot has no effects: it neither bends nor weighs anything.",)
    return Table("effects", "", columns, rows, notes)
