"""The robot of a cell: its numbers, itself under a load, and a changed number that is checked before it is written."""

from __future__ import annotations

from collections.abc import Sequence
from math import degrees
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.desk.files import within
from elastocal.errors import InputError, UnitError
from elastocal.quantities import READ_IN, read_in, typeset
from elastocal.report.blocks import Column, Section, Table
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.files.cell import CellFolder
    from elastocal.model.robot import Robot
    from elastocal.report.loaded_robot import Posed
    from elastocal.report.parts import Part


@dataclass(frozen=True)
class Slider:
    """One axis of the controller: limits and start as the pendant shows them."""

    name: str
    unit: str
    low: float
    high: float
    start: float


@dataclass(frozen=True)
class Editable:
    """A parameter as people read it: its value in ``unit``, which a page prints as ``shown``."""

    name: str
    value: str
    unit: str
    shown: str
    source: str


def stated_numbers(file: Path) -> tuple[Section, ...]:
    """All that a robot file says; parameters last, with their status."""
    from elastocal.app.commands.show import page, show

    result = show(str(file))
    parameters = Table.of("parameters", result.parameters, {
        Column("name", "parameter"): lambda p: p.name,
        Column("value", "value", digits=6, si=True): lambda p: p.value,
        Column("unit", "unit"): lambda p: p.unit,
        Column("status", "status"): lambda p: p.status or "not said",
        Column("kind", "effect"): lambda p: p.kind,
        Column("source", "source", footnote=True): lambda p: p.source,
    })  # fmt: skip
    sections = [s for s in page(result).sections if s.title != "Parameters"]
    return (*sections, Section("Parameters", (parameters,)))


def checked_robot(text: str, name: str) -> str:
    """The text of a robot file called ``name``, if it is one that stands and bends; else an error."""
    from elastocal.files.robot.read import robot_from_text
    from elastocal.model.statics.loaded_arm import pictured_force

    pictured_force(robot_from_text(text, name))
    return text


def editable(model: Robot) -> tuple[Editable, ...]:
    """Every parameter in the unit in which tables show it."""
    out = []
    for p in model.parameters.rows:
        factor, unit = read_in(p.unit, abs(p.value))
        out.append(Editable(p.name, f"{factor * p.value:.6g}", unit, typeset(unit), p.source))
    return tuple(out)


def with_number(text: str, parameter: str, value: float, unit: str, source: str, status: str, name: str) -> str:
    """The text of a robot file with one number, its source and its status changed, and nothing else.

    ``value`` is in ``unit``; without one in that in which the parameter is shown.
    """
    from elastocal.files.robot.read import robot_from_text
    from elastocal.files.robot.write import with_parameter

    old = robot_from_text(text, name).parameters[parameter]
    shown = read_in(old.unit, abs(old.value))[1]
    factors = {old.unit: 1.0} | {u: f for f, u in READ_IN.get(old.unit, ())}
    if (unit or shown) not in factors:
        raise UnitError(f"{parameter}: {unit!r} is no unit of it; give one of {', '.join(factors)}", value=unit)
    si = value / factors[unit or shown]
    return checked_robot(with_parameter(text, parameter, si, source, status, name), name)


def sliders(model: Robot) -> tuple[Slider, ...]:
    """From limit to limit, from where an arm is looked at; an axis without limits by half a turn to either side."""
    import numpy as np

    from elastocal.model.limits import joint_bounds, ready

    low, high = (np.nan_to_num(v, posinf=np.pi, neginf=-np.pi) for v in joint_bounds(model))
    shown = model.controller.to_controller(np.stack([low, high, ready(model)]))
    out = []
    for axis, motion, ends in zip(model.controller.axes, model.motions, shown.T, strict=True):
        unit, factor = _UNITS[motion.kind]
        a, b, start = (round(float(factor * v), 1) for v in ends)
        out.append(Slider(axis, unit, min(a, b), max(a, b), start))
    return tuple(out)


_UNITS = {"revolute": ("deg", degrees(1.0)), "prismatic": ("mm", 1e3)}
"""In which the pendant shows an axis, and how many of it are 1 rad or 1 m."""


def around(cell: CellFolder) -> tuple[Part, ...]:
    """Obstacles and tracker of the plan file, where it has some."""
    from elastocal.app.pages.plan.figures import cell_parts
    from elastocal.files.plan.read import read_plan_file

    try:
        return cell_parts(read_plan_file(within(cell, cell.place("plan"))).task.cell)
    except InputError:
        return ()


def posed(model: Robot, typed: Sequence[float], wrench: Sequence[float], near: tuple[Part, ...] = ()) -> Posed:
    """At controller values (deg, mm), under a load (N, N m) on the tool; ``near`` are parts that stand around."""
    import numpy as np

    from elastocal.model.statics.loaded_arm import loaded_pose, pictured_force
    from elastocal.report.loaded_robot import shown_pose

    values = np.array([v / _UNITS[m.kind][1] for v, m in zip(typed, model.motions, strict=True)])
    pose = loaded_pose(model, model.controller.to_joints(values[None])[0], np.array(wrench, dtype=np.float64))
    return shown_pose(pose, pictured_force(model), near)
