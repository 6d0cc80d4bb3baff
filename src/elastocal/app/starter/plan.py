"""A plan request for any robot that can be planned, simulated and identified as it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elastocal.app.starter.force import soft_directions, softness, visible_force
from elastocal.app.starter.markers import starter_markers, starter_noise, starter_seek

if TYPE_CHECKING:
    from elastocal.model.robot import RobotModel

_G = 9.81


def plan_text(model: RobotModel, name: str, robot: str) -> str:
    """plan.yaml for a robot whose file stands at ``robot``, as seen from it."""
    markers = starter_markers(model)
    noise = f"{1e6 * starter_noise(model):g}"
    seek, hidden = starter_seek(model, markers)
    lines = [
        "# What can be measured in this cell, and what is wanted.  All keys: docs/planning.md.",
        "format: elastocal-plan/1",
        f"name: {name}",
        f"robot: {robot}",
        f"markers: [{', '.join(markers)}]",
        *(f"seek: [{', '.join(seek)}]" for _ in seek[:1]),
        *_hidden(model, hidden),
        *("turns: true                   # orientations are read as well" for _ in range(not seek)),
        "errors:                       # assumptions: replace them by those of your instruments",
        f"  - {{kind: reading, sd_um: {noise}{'' if seek else ', turn_sd_urad: 20'}}}",
        f"  - {{kind: repeatability, sd_um: {noise}}}",
        "  - {kind: load_size, sd_percent: 0.5}",
        f"loads:                        # {_known(model)}; mind the rated payload",
        *_loads(model),
        *(_room(model) if model.n else ()),
        f"candidates: {400 if model.n else 1}",
        "poses: 15" if model.n else "poses: 12",
        *("may_repeat: true" for _ in range(not model.n)),
        "repeats: 2",
        "# obstacles, a tracker's place and its line of sight, speeds and test poses: docs/planning.md",
    ]
    return "\n".join(lines) + "\n"


def _hidden(model: RobotModel, names: list[str]) -> list[str]:
    """Why some compliances are not sought."""
    if not names:
        return []
    return [
        f"# Not sought: {', '.join(names)}.  A load at {model.tool} does not turn such a joint, or no marker moves",
        "# with it: load beside its axis (points: [FRAME] of a load) and watch markers beside it to seek it too.",
    ]


def _known(model: RobotModel) -> str:
    """What is known of the loads."""
    if max(softness(model)) > 0:
        return "they move the tool by about a millimetre"
    return "a guess: by its file the robot is rigid"


def _loads(model: RobotModel) -> list[str]:
    """A weight where there is gravity; a rope or jack for the directions that it does not pull in."""
    force, directions = visible_force(model), soft_directions(model)
    down = np.asarray(model.gravity)
    if np.allclose(down[:2], 0) and down[2] < 0 and (0, 0, -1) in directions:
        side = [d for d in directions if d != (0, 0, -1)]
        hung = float(f"{force / _G:.1e}")
        weight = f"  - {{kind: hanging, name: weight, masses_kg: [{hung / 2:g}, {hung:g}]}}"
        return [weight, *(_actuator(force, side) for _ in side[:1])]
    return [_actuator(force, list(directions))]


def _actuator(force: float, directions: list[tuple[int, int, int]]) -> str:
    ways = ", ".join(f"[{x}, {y}, {z}]" for x, y, z in directions)
    return f"  - {{kind: actuator, name: rope, sizes_N: [{force / 2:g}, {force:g}], directions: [{ways}]}}"


def _room(model: RobotModel) -> list[str]:
    return ["feasible:", "  - {kind: joint_limits, margin_percent: 5}"]
