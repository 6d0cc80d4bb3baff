"""Plan files with ``measurement: arcs``: the angles of a joint and the places of markers that show a compensator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import Literal

import numpy as np

from elastocal.errors import MissingError, RangeError, TooFewError, UnsupportedError
from elastocal.files import schema
from elastocal.files.campaign.file import named_robot
from elastocal.files.located import Located, read_formatted
from elastocal.files.plan.read import FORMAT
from elastocal.files.plan.task import check_axes
from elastocal.files.robot.read import robot_file
from elastocal.files.text import csv_text
from elastocal.files.units import declared_units
from elastocal.model.loads.gravity_compensator import GravityCompensator
from elastocal.model.parameters import quantity
from elastocal.model.robot import Robot
from elastocal.procedures.compensator.marker_design import Model
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class ArcPlanEntry:
    """``radii`` are the distances of the markers from P0; ``at`` are values of the axes that stand still.

    ``sense``: P1 runs with the joint's angle or against it, in the plane that a_x and a_y are stated in.  ``model`` of
    the markers is what the places are best for; places for a common rotation may leave concentric arcs badly known.
    """

    format: str
    name: str
    robot: str
    tool: str | None = None
    units: dict[str, str] = field(default_factory=dict)
    measurement: Literal["arcs"]
    joint: str | None = None
    poses: int = 7
    radii: tuple[float, ...] = quantity("length")
    limits: tuple[float, float] | None = quantity("angle", default=None)
    at: dict[str, float] = quantity("joint value", default_factory=dict)
    noise: float = quantity("length", default=3e-5)
    sense: Literal["with", "against"] = "with"
    model: Model = "concentric"


@dataclass(frozen=True, eq=False)
class ArcPlanFile:
    """``limits`` of the joint in rad; ``axes`` (n,) are the controller's values that stand still."""

    name: str
    robot: str
    model: Robot
    compensator: GravityCompensator
    poses: int
    radii: Array
    limits: tuple[float, float]
    axes: Array
    noise: float
    sense: int
    markers: Model
    notes: tuple[str, ...]
    files: tuple[Path, ...]


def read_arc_plan(path: Path) -> ArcPlanFile:
    located = read_formatted(path, FORMAT, "a plan file")
    e = schema.construct(ArcPlanEntry, located, (), located.data, declared_units(located))
    model = named_robot(located, e.robot, e.tool, (), path.parent)
    spring = _compensator(located, e, model)
    if e.poses < 3:
        raise located.error(("poses",), f"{e.poses} angles fit either sense of rotation; plan at least 3", TooFewError)
    if not e.radii or not min(e.radii) > 0:
        raise located.error(
            ("radii",), "give the distance of every marker from the spring's fixed end, above zero", RangeError
        )
    if e.model == "common rotation" and len(e.radii) < 2:
        raise located.error(("model",), "a common rotation needs two markers or more; add radii", TooFewError)
    if not e.noise > 0:
        raise located.error(("noise",), "must be positive; a reading without noise does not exist", RangeError)
    own = robot_file(e.robot)
    files = (path, *(() if own is None else (path.parent / own,)))
    limits = _limits(located, e, model, spring.joint)
    return ArcPlanFile(
        e.name, e.robot, model, spring, e.poses, np.array(e.radii), limits, _axes(located, e, model), e.noise,
        1 if e.sense == "with" else -1, e.model, model.notes, files,
    )  # fmt: skip


def _compensator(located: Located, e: ArcPlanEntry, model: Robot) -> GravityCompensator:
    springs = {s.joint: s for s in model.elements if isinstance(s, GravityCompensator)}
    if not springs:
        raise located.error(
            ("robot",), f"{model.name} has no gravity_compensator; arcs are planned from its geometry", UnsupportedError
        )
    if e.joint is not None and e.joint not in springs:
        raise located.unknown(("joint",), "joint with a compensator", e.joint, springs)
    if e.joint is None and len(springs) > 1:
        raise located.error(
            (), f"compensators are on {', '.join(springs)}; add 'joint:' with one of them", MissingError
        )
    return springs[e.joint or next(iter(springs))]


def _limits(located: Located, e: ArcPlanEntry, model: Robot, joint: str) -> tuple[float, float]:
    """The stated ones within the joint's own."""
    own = model.motions[model.joints.index(joint)].limits or (-np.pi, np.pi)
    low, high = e.limits or own
    if not own[0] - 1e-9 <= low < high <= own[1] + 1e-9:
        text = f"{np.degrees(own[0]):.4g} to {np.degrees(own[1]):.4g} deg"
        raise located.error(("limits",), f"must lie within those of {joint} ({text}), the lower one first", RangeError)
    return float(low), float(high)


def _axes(located: Located, e: ArcPlanEntry, model: Robot) -> Array:
    check_axes(located, (), "at", model)
    for axis in e.at:
        if axis not in model.controller.axes:
            raise located.unknown(("at",), "axis", axis, model.controller.axes)
    return np.array([e.at.get(a, 0.0) for a in model.controller.axes])


def arc_table_text(axis: str, angles: Array, markers: Sequence[str]) -> str:
    """A table of points that are still to be read: ``angles`` (m,) are values of the axis in degrees."""
    rows = [(m, str(i + 1), f"{a:.4f}") for i, a in enumerate(angles) for m in markers]
    columns = list(zip(*rows, strict=True))
    empty = [""] * len(rows)
    return csv_text([
        ("marker", columns[0]), ("pose", columns[1]), (f"{axis}_deg", columns[2]), ("x_mm", empty), ("y_mm", empty),
        ("z_mm", empty),
    ])  # fmt: skip
