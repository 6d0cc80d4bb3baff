"""A robot at a desk: its numbers, itself under a load, and a changed number that is checked before it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import elastocal as ec
from elastocal.app.commands.show import show
from elastocal.app.pages.plan.figures import cell_parts
from elastocal.app.pages.show import page as shown_robot
from elastocal.errors import UnitError, UnknownNameError
from elastocal.files.plan.read import read_plan_file
from elastocal.files.robot.edit import with_parameter
from elastocal.files.robot.read import robot_from_text
from elastocal.model.limits import joint_bounds
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.skeleton import skeleton
from elastocal.model.statics.equilibrium import Status, equilibrium
from elastocal.model.statics.holding import holding_torque
from elastocal.quantities import READ_IN, read_in, typeset
from elastocal.report.blocks import Block, Cell, Column, Scene, Section, Table, Unknown
from elastocal.report.parts import Ellipsoids, Part
from elastocal.report.robot_scene import (
    LONGEST,
    UNIT,
    arm_parts,
    enlargement,
    floor_part,
    force_arrows,
    load_forces,
    points,
    robot_parts,
    times,
)
from elastocal.spatial.entries import Array

LONGER = 2.0
"""Longest arrow of a load over that of the usual force."""


@dataclass(frozen=True)
class Slider:
    """One axis of the controller: limits, start and step as the pendant shows them."""

    name: str
    unit: str
    low: float
    high: float
    start: float


def stated_numbers(file: Path) -> tuple[Section, ...]:
    """All that a robot file says; parameters last, with their status."""
    result = show(str(file))
    columns = (
        Column("name", "parameter"), Column("value", "value", digits=6, si=True), Column("unit", "unit"),
        Column("status", "status"), Column("kind", "effect"), Column("source", "source", footnote=True),
    )  # fmt: skip
    rows = tuple((p.name, p.value, p.unit, p.status or "not said", p.kind, p.source) for p in result.parameters)
    sections = [s for s in shown_robot(result).sections if s.title != "Parameters"]
    return (*sections, Section("Parameters", (Table("parameters", "", columns, rows),)))


def checked_robot(text: str, name: str) -> str:
    """The text of a robot file called ``name``, if it is one that stands and bends; else an error."""
    usual_force(robot_from_text(text, name))
    return text


@dataclass(frozen=True)
class Editable:
    """A parameter as people read it: its value in ``unit``, which a page prints as ``shown``."""

    name: str
    value: str
    unit: str
    shown: str
    source: str


def editable(model: Robot) -> tuple[Editable, ...]:
    """Every parameter in the unit in which tables show it."""
    out = []
    for p in model.parameters.rows:
        factor, unit = read_in(p.unit, abs(p.value))
        out.append(Editable(p.name, f"{factor * p.value:.6g}", unit, typeset(unit), p.source))
    return tuple(out)


def with_number(text: str, parameter: str, value: float, unit: str, source: str, status: str, name: str) -> str:
    """The same with one number, its source and its status changed, and nothing else.

    ``value`` is in ``unit``; without one in that in which the parameter is shown.
    """
    known = {p.name: p for p in robot_from_text(text, name).parameters}
    if parameter not in known:
        raise UnknownNameError("parameter", parameter, tuple(known))
    old = known[parameter]
    shown = read_in(old.unit, abs(old.value))[1]
    factors = {old.unit: 1.0} | {u: f for f, u in READ_IN.get(old.unit, ())}
    if (unit or shown) not in factors:
        raise UnitError(f"{parameter}: {unit!r} is no unit of it; give one of {', '.join(factors)}", value=unit)
    si = value / factors[unit or shown]
    return checked_robot(with_parameter(text, parameter, si, source, status, name), name)


def usual_force(model: Robot) -> float:
    """A force in N that bends the robot visibly: 1 mm in its softest direction at the middle of its ranges."""
    found = ec.stiffness(model, middle_pose(model)[None])
    softest = float(np.linalg.eigvalsh(np.nan_to_num(found.compliance[0, :3, :3]))[-1])
    return float(f"{min(1e-3 / softest, 1e5):.1g}") if softest > 0 else 1000.0


def middle_pose(model: Robot) -> Array:
    """Zero, or the middle of a range that does not hold it; a little bent, so that no axis is singular."""
    low, high = joint_bounds(model)
    at = np.where((low <= 0) & (high >= 0), 0.0, (np.nan_to_num(low) + np.nan_to_num(high)) / 2)
    turns = np.array([m.kind == "revolute" for m in model.motions])
    bent = np.where(turns, np.deg2rad(20.0), 0.0)
    return np.asarray(np.clip(at + bent, low, high))


def sliders_of(model: Robot) -> tuple[Slider, ...]:
    low, high = joint_bounds(model)
    start = model.controller.to_controller(middle_pose(model)[None])[0]
    ends = np.stack(
        [model.controller.to_controller(np.nan_to_num(v, posinf=np.pi, neginf=-np.pi)[None])[0] for v in (low, high)]
    )
    out = []
    for i, (axis, motion) in enumerate(zip(model.controller.axes, model.motions, strict=True)):
        factor, unit = (180 / np.pi, "deg") if motion.kind == "revolute" else (1e3, "mm")
        a, b = sorted(factor * ends[:, i])
        out.append(Slider(axis, unit, round(a, 1), round(b, 1), round(float(factor * start[i]), 1)))
    return tuple(out)


def around(plan: Path) -> tuple[Part, ...]:
    """Obstacles and tracker of a plan file."""
    return cell_parts(read_plan_file(plan).task.cell)


@dataclass(frozen=True)
class Posed:
    """A robot under a load; the force is drawn, and pulled, at ``tool`` (m) with ``scale`` m of picture per N."""

    scene: Scene
    tables: tuple[Block, ...]
    tool: tuple[float, ...]
    scale: float


def posed(model: Robot, typed: Sequence[float], wrench: Sequence[float], parts: tuple[Part, ...] = ()) -> Posed:
    """At controller values (deg, mm), under a load (N, N m) on the tool; ``parts`` stand around."""
    factors = [np.pi / 180 if m.kind == "revolute" else 1e-3 for m in model.motions]
    q = model.controller.to_joints((np.asarray(typed) * np.array(factors))[None])[0]
    force = np.asarray(wrench, dtype=np.float64)
    load = AppliedWrenches(model.tool, force[None])
    rest = equilibrium(model, q[None])
    bent = equilibrium(model, q[None], (load,))
    stands = bool(bent.status[0] == Status.CONVERGED and rest.status[0] == Status.CONVERGED)
    still = skeleton(model, q[None])
    usual = max(usual_force(model), float(np.linalg.norm(force[:3])) / LONGER)
    scale = LONGEST * still.extent / usual
    scene = _scene(parts, model, q, load, rest, bent, stands, still, scale)
    tool = tuple(map(float, load_forces(model, q[None], load)[0][0]))
    return Posed(scene, _tables(model, q, force, load, stands, bent), tool, scale)


def _scene(
    around: tuple[Part, ...], model: Robot, q: Array, load: AppliedWrenches, rest: Any, bent: Any, stands: bool,
    still: Any, scale: float,
) -> Scene:  # fmt: skip
    parts: list[Part] = [*floor_part(model, still.line), *robot_parts(model, q), *around]
    notes: list[str] = []
    if stands and load.wrench.any():
        a, b = skeleton(model, q[None], rest), skeleton(model, q[None], bent)
        factor = enlargement(a.extent, float(np.nanmax(np.linalg.norm(b.line - a.line, axis=2), initial=0.0)))
        parts += arm_parts(a.enlarged(b, factor), f"bent, {times(factor)}", "", "after")
        starts, forces = load_forces(model, q[None], load)
        parts += [force_arrows(starts, forces, scale)] if forces.any() else []
        notes += [f"The deflection by the load is drawn {times(factor)}, 100 mm of arrow are {0.1 / scale:.3g} N."]
    ellipsoid = _ellipsoid(model, q, still.tip, still.extent)
    if ellipsoid is not None:
        parts.append(ellipsoid)
        notes.append("The ellipsoid shows how far a force of one size moves the tool in every direction.")
    return Scene("robot", "", UNIT, tuple(parts), tuple(notes))


def _ellipsoid(model: Robot, q: Array, tip: Array, extent: float) -> Ellipsoids | None:
    compliance = ec.stiffness(model, q[None]).compliance[0, :3, :3]
    if not np.isfinite(compliance).all():
        return None
    sizes, directions = np.linalg.eigh(compliance)
    if not sizes[-1] > 0:
        return None
    (centre,) = points(tip.reshape(-1, 3)[:1])
    a, b, c = points((0.15 * extent / sizes[-1]) * (directions * sizes).T)
    words = (f"{1e6 * sizes[-1]:.3g} um/N along the softest direction, {1e6 * sizes[0]:.3g} along the stiffest",)
    return Ellipsoids("compliance of the tool", (centre,), ((a, b, c),), words)


def _tables(model: Robot, q: Array, wrench: Array, load: AppliedWrenches, stands: bool, bent: Any) -> tuple[Block, ...]:
    why = Status(int(bent.status[0])).text
    moved = ec.deflection(model, q[None], wrench[None]) if stands else None
    shift = 1e3 * moved.translation[0] if moved is not None else np.full(3, np.nan)
    turn = 1e3 * moved.rotation[0] if moved is not None else np.full(3, np.nan)

    def known(value: float) -> Cell:
        return float(value) if np.isfinite(value) else Unknown(why)

    deflection = Table(
        "deflection", "Deflection of the tool by the load",
        (Column("what", ""), *(Column(c, c, "", 4) for c in ("x", "y", "z", "size")), Column("unit", "unit")),
        (
            ("shift", *map(known, shift), known(float(np.linalg.norm(shift))), "mm"),
            ("turn", *map(known, turn), known(float(np.linalg.norm(turn))), "mrad"),
        ),
    )  # fmt: skip
    hold = model.controller.torques_to_controller(holding_torque(model, q[None], (load,)))[0]
    units = ["N m" if m.kind == "revolute" else "N" for m in model.motions]
    notes: tuple[str, ...] = ("Against weights, springs and the load.",)
    if not holding_torque(model, q[None]).any():
        notes += ("The robot file states no masses: its own weight is not in them.",)
    torque = Table(
        "holding", "Holding torques",
        (Column("axis", "axis"), Column("torque", "torque", "", 2), Column("unit", "unit")),
        tuple((a, float(v), u) for a, v, u in zip(model.controller.axes, hold, units, strict=True)),
        notes,
    )  # fmt: skip
    return deflection, torque
