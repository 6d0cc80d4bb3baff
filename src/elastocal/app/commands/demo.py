"""The main job on an embedded robot: how stiff a KR-270 is over its workspace, and how far machining loads move it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.commands.stiffness import softest
from elastocal.app.configurations import Configurations, of_shown, within_limits
from elastocal.app.contributions import Contribution, contributions
from elastocal.app.grid import Grid, grid_configurations
from elastocal.app.inputs import Inputs, inputs_of
from elastocal.app.pushing import Pushing
from elastocal.app.robot_choice import load_robot
from elastocal.app.threads import one_thread

if TYPE_CHECKING:
    from elastocal.model.robot import RobotModel
    from elastocal.model.statics.deflection import Deflection
    from elastocal.model.statics.stiffness import CartesianStiffness
    from elastocal.spatial.entries import Array

ROBOT = "kuka-kr270"
MAP = "A2:-135:-10:26,A3:-100:145:26"
BASE_RADIUS, BASE_HEIGHT = 0.6, 1.2  # m: what the robot's own foot and column take up, roughly
WRIST = "0,-90,90,0,30,0"
CONFIGURATIONS = {
    "home": (0.0, -90.0, 90.0, 0.0, 0.0, 0.0),
    "stretched forward": (0.0, -20.0, 15.0, 0.0, 30.0, 0.0),
    "working low": (0.0, -40.0, 95.0, 0.0, 35.0, 0.0),
    "working high": (0.0, -110.0, 60.0, 0.0, 45.0, 0.0),
    "folded": (0.0, -125.0, 140.0, 0.0, 60.0, 0.0),
    "to the left": (-70.0, -60.0, 75.0, 0.0, 60.0, 0.0),
    "wrist turned": (20.0, -65.0, 80.0, 90.0, 70.0, 45.0),
    "elbow up": (-30.0, -100.0, 110.0, -60.0, 80.0, 120.0),
}


@dataclass(frozen=True)
class DemoLoad:
    """A load of Klimchik et al. 2013 (IMECE), section 5."""

    name: str
    force: tuple[float, float, float]


LOADS = (DemoLoad("2.5 kN down", (0.0, 0.0, -2500.0)), DemoLoad("3.5 kN sideways", (0.0, 3500.0, 0.0)))


@dataclass(frozen=True, eq=False)
class Pushed:
    """What one load does: on the map, and in the named configurations (equilibrium and linear formula)."""

    load: DemoLoad
    map: Deflection
    map_linear: Deflection
    named: Deflection
    named_linear: Deflection
    shares: tuple[Contribution, ...]


@dataclass(frozen=True, eq=False)
class DemoResult:
    """``free`` (N,) marks the points of the map where the arm stays out of the floor and of its own base."""

    inputs: Inputs
    model: RobotModel
    grid: Grid
    free: Array
    stiffness: CartesianStiffness
    smallest: Array
    names: tuple[str, ...]
    named: Configurations
    pushed: tuple[Pushed, ...]


def robot_path() -> Path:
    """The shipped file that the demonstration reads."""
    from importlib.resources import files

    return Path(str(files("elastocal.robots").joinpath(f"{ROBOT}.yaml")))


def run(progress: Callable[[int, int], None] | None = None) -> DemoResult:
    import numpy as np

    from elastocal.model.statics.stiffness import loaded_stiffness

    model = load_robot(ROBOT).model
    grid = grid_configurations(model, MAP, (WRIST,), False)
    names = tuple(CONFIGURATIONS)
    named = within_limits(model, of_shown(model, np.array(list(CONFIGURATIONS.values())), names), False)
    step = _steps(progress, 2 + 2 * len(LOADS))
    with one_thread():
        free = _free(model, grid.at.q)
        step()
        stiff = loaded_stiffness(model, grid.at.q)
        step()
        pushed = tuple(_pushed(model, load, grid.at.q, named.q, step) for load in LOADS)
    return DemoResult(_inputs(model), model, grid, free, stiff, softest(stiff), names, named, pushed)


def _inputs(model: RobotModel) -> Inputs:
    loads = " and ".join(f"{load.name} {load.force} N" for load in LOADS)
    load = Pushing(None, f"{loads}, one at a time, at {model.tool}, in base axes")
    state = "stiffness under weights and springs alone; deflection: loaded minus unloaded equilibrium"
    where = f"map {MAP} with the other axes of {WRIST}, and {len(CONFIGURATIONS)} named configurations"
    return replace(inputs_of(ROBOT, model, load, model.tool, state, (), where), load_frame=model.tool)


def _free(model: RobotModel, q: Array) -> Array:
    """True (N,) where elbow, wrist and tool are above the floor and outside the base."""
    import numpy as np

    from elastocal.model.kinematics import kinematics

    out = np.ones(len(q), dtype=bool)
    for frame in ("link2_end", "link4_end", model.tool):
        x, y, z = kinematics(model, q, frame).position.T
        out &= (z > 0) & ((np.hypot(x, y) > BASE_RADIUS) | (z > BASE_HEIGHT))
    return out


def _pushed(model: RobotModel, load: DemoLoad, on_map: Array, named: Array, step: Callable[[], None]) -> Pushed:
    import numpy as np

    from elastocal.model.loads.wrench import AppliedWrenches
    from elastocal.model.statics.deflection import deflection, linear_deflection

    wrench = AppliedWrenches(model.tool, np.array([[*load.force, 0.0, 0.0, 0.0]]))
    map_loaded = deflection(model, on_map, [wrench])
    step()
    out = Pushed(
        load,
        map_loaded,
        linear_deflection(model, on_map, [wrench]),
        deflection(model, named, [wrench]),
        linear_deflection(model, named, [wrench]),
        contributions(model, named[:1], wrench, model.tool),
    )
    step()
    return out


def _steps(progress: Callable[[int, int], None] | None, total: int) -> Callable[[], None]:
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    return step
