"""What a plan of configurations and loads would tell about the compliances, before anything is measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.configurations import chosen_configurations
from elastocal.app.inputs import Inputs, inputs_of
from elastocal.app.pushing import LoadRequest, pushing
from elastocal.app.robot_choice import load_robot, selected, without_kinds
from elastocal.app.threads import one_thread
from elastocal.errors import InputError

if TYPE_CHECKING:
    from elastocal.identifiability.groups import Groups
    from elastocal.identifiability.practical import Expectation
    from elastocal.model.compliant.link_compliance import Form
    from elastocal.model.parameters import Parameter
    from elastocal.model.robot import RobotModel
    from elastocal.model.statics.observation import Marker
    from elastocal.spatial.entries import Array


@dataclass(frozen=True)
class AssessRequest:
    """``noise`` in mm and ``turn_noise`` in mrad are standard deviations of one reading, per axis."""

    robot: str
    plan: Path
    markers: tuple[str, ...] = ()
    pose: bool = False
    noise: float = 0.03
    turn_noise: float | None = None
    repeats: int = 1
    load: LoadRequest = field(default_factory=LoadRequest)
    parameters: tuple[str, ...] = ()
    form: str | None = None
    thresholds: tuple[float, float] = (5.0, 2.0)
    without: tuple[str, ...] = ()
    ignore_limits: bool = False
    tool: str | None = None


@dataclass(frozen=True, eq=False)
class AssessResult:
    inputs: Inputs
    model: RobotModel
    markers: tuple[Marker, ...]
    configurations: int
    equations: int
    load_text: str
    parameters: tuple[Parameter, ...]
    groups: Groups
    expectations: tuple[Expectation, ...]
    noise: tuple[float, float]
    notes: tuple[str, ...]


def run(request: AssessRequest) -> AssessResult:
    from elastocal.identifiability.groups import classify
    from elastocal.identifiability.practical import expectations
    from elastocal.identifiability.triangle import stacked_triangle
    from elastocal.model.statics.linear_observation import linear_observation_chunks

    robot = load_robot(request.robot, request.tool)
    model = _in_form(without_kinds(robot.model, request.without), request.form)
    at = chosen_configurations(model, (), request.plan, request.ignore_limits)
    load = pushing(model, request.load, at)
    if load.applied is None or not load.applied.wrench.any():
        raise InputError(f"{request.plan}: no load, so nothing bends; add columns fx_N..mz_Nm or give --force")
    selected(model, request.parameters)
    markers = _markers(model, request)
    noise = _noise(request)
    weights = _weights(markers, noise)
    with one_thread():
        wanted = request.parameters or None
        names, chunks = linear_observation_chunks(model, at.q, [load.applied], markers, wanted)
        triangle = stacked_triangle(_whitened(chunks, weights), len(names))
        rows = [model.parameters.rows[model.parameters.index(n)] for n in names]
        import numpy as np

        joints = [p.name for p in rows if p.kind in ("joint_compliance", "motor_compliance")]
        groups = classify(names, triangle, np.array([p.scale for p in rows]), joints)
        expected = expectations(groups, triangle, np.array([p.value for p in rows]), *request.thresholds)
    equations = len(at) * sum(m.rows for m in markers)
    notes = (*robot.notes, *at.notes, *load.notes)
    watched = ", ".join(m.frame for m in markers)
    inputs = inputs_of(request.robot, model, load, watched, _STATE, request.without, str(request.plan))
    return AssessResult(
        inputs, model, markers, len(at), equations, load.text, tuple(rows), groups, expected, noise, notes
    )  # fmt: skip


_STATE = "linear model of the unloaded arm, weights not counted"


def _in_form(model: RobotModel, form: str | None) -> RobotModel:
    from elastocal.errors import UnknownNameError
    from elastocal.model.compliant.link_compliance import FORMS

    if form is None:
        return model
    chosen: Form | None = next((f for f in FORMS if f == form), None)
    if chosen is None:
        raise UnknownNameError("link form", form, FORMS)
    return model.with_link_form(chosen)


def _markers(model: RobotModel, request: AssessRequest) -> tuple[Marker, ...]:
    from elastocal.model.statics.observation import Marker

    frames = request.markers or (model.tool,)
    for frame in frames:
        model.tree.frame(frame)
    if len(set(frames)) != len(frames):
        raise InputError(f"--marker: {', '.join(frames)} names a frame twice; more readings of one are --repeats")
    return tuple(Marker(frame, "pose" if request.pose else "position") for frame in frames)


def _noise(request: AssessRequest) -> tuple[float, float]:
    """Standard deviation of one deflection, m and rad: two readings, each the mean of the repeats."""
    if request.repeats < 1:
        raise InputError(f"--repeats {request.repeats}: at least one reading is needed")
    turn = request.turn_noise
    if request.pose and turn is None:
        raise InputError("--pose measures orientations too; say how well with --noise-mrad")
    if not request.noise > 0 or (turn is not None and not turn > 0):
        raise InputError("--noise-mm and --noise-mrad must be positive; a reading without noise does not exist")
    factor = sqrt(2 / request.repeats)
    return 1e-3 * request.noise * factor, 1e-3 * (turn or float("nan")) * factor


def _weights(markers: tuple[Marker, ...], noise: tuple[float, float]) -> Array:
    import numpy as np

    return np.concatenate([1 / np.repeat(noise, 3)[: m.rows] for m in markers])


def _whitened(chunks: Iterator[tuple[slice, Array]], weights: Array) -> Iterator[Array]:
    """Rows in units of their noise: (p, rows, m) as (m rows, p)."""
    for _, part in chunks:
        yield (part * weights[:, None]).reshape(part.shape[0], -1).T
