"""Cartesian compliance and stiffness in chosen configurations or over a grid of two axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.carried import with_payload
from elastocal.app.configurations import Configurations, chosen_configurations
from elastocal.app.grid import Grid, grid_configurations
from elastocal.app.inputs import Inputs, configurations_text, inputs_of
from elastocal.app.pushing import LoadRequest, Pushing, pushing
from elastocal.app.threads import one_thread
from elastocal.errors import InputError
from elastocal.files.robot.read import read_robot, without_kinds

if TYPE_CHECKING:
    from elastocal.model.loads.wrench import AppliedWrenches
    from elastocal.model.robot import RobotModel
    from elastocal.model.statics.stiffness import CartesianStiffness
    from elastocal.spatial.entries import Array


@dataclass(frozen=True)
class StiffnessRequest:
    """``loaded`` asks for the equilibrium under weights and springs even without an external load."""

    robot: str
    at: tuple[str, ...] = ()
    configurations: Path | None = None
    map: str | None = None
    load: LoadRequest = field(default_factory=LoadRequest)
    loaded: bool = False
    frame: str | None = None
    payload: float | None = None
    payload_frame: str | None = None
    without: tuple[str, ...] = ()
    ignore_limits: bool = False
    tool: str | None = None


@dataclass(frozen=True, eq=False)
class StiffnessResult:
    """``smallest`` (N,) is the translational stiffness in the softest direction, N/m; ``grid`` for a map."""

    inputs: Inputs
    model: RobotModel
    at: Configurations
    load: Pushing
    loaded: bool
    found: CartesianStiffness
    smallest: Array
    grid: Grid | None
    notes: tuple[str, ...]


def run(request: StiffnessRequest, progress: Callable[[int, int], None] | None = None) -> StiffnessResult:
    robot = read_robot(request.robot, request.tool)
    model = with_payload(without_kinds(robot, request.without), request.payload, request.payload_frame)
    at, grid = _where(model, request)
    load = pushing(model, request.load, at)
    loaded = request.loaded or load.applied is not None
    if request.payload is not None and not loaded:
        raise InputError("a payload changes the stiffness only at the loaded equilibrium; add --loaded or --force")
    frame = request.frame or model.tool
    model.tree.frame(frame)
    with one_thread():
        found = _solve(model, at.q, load.applied, loaded, frame, progress)
        smallest = softest(found)
    notes = (*robot.notes, *at.notes, *load.notes)
    where = configurations_text(request.at, request.configurations, request.map)
    state = "loaded equilibrium" if loaded else "unloaded, at the commanded configuration"
    inputs = inputs_of(request.robot, model, load, frame, state, request.without, where)
    return StiffnessResult(inputs, model, at, load, loaded, found, smallest, grid, notes)


def softest(found: CartesianStiffness) -> Array:
    """Translational stiffness in the softest direction, free to turn: 1 / largest displacement per newton."""
    import numpy as np

    block = found.compliance[:, :3, :3]
    known = np.asarray(np.all(np.isfinite(block), axis=(1, 2)))
    give = np.linalg.norm(np.where(known[:, None, None], block, 0.0), ord=2, axis=(1, 2))
    return np.where(known & (give > 0), 1.0 / np.where(give > 0, give, 1.0), np.nan)


def _where(model: RobotModel, request: StiffnessRequest) -> tuple[Configurations, Grid | None]:
    if request.map is None:
        return chosen_configurations(model, request.at, request.configurations, request.ignore_limits), None
    if request.configurations is not None:
        raise InputError("--map and --configurations both give configurations; keep one")
    if len(request.at) > 1:
        raise InputError(f"--map takes one --at for the other axes, {len(request.at)} were given")
    grid = grid_configurations(model, request.map, request.at, request.ignore_limits)
    return grid.at, grid


def _solve(
    model: RobotModel,
    q: Array,
    applied: AppliedWrenches | None,
    loaded: bool,
    frame: str,
    progress: Callable[[int, int], None] | None,
) -> CartesianStiffness:
    from elastocal.model.statics.stiffness import loaded_stiffness, stiffness

    if loaded:
        return loaded_stiffness(model, q, [] if applied is None else [applied], frame, progress)
    return stiffness(model, q, frame, progress)
