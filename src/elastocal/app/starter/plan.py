"""A plan request for any robot that can be planned, simulated and calibrated as it stands.

Loads bend the robot visibly: about a millimetre at the tool, less for a thing that is hardly larger.  Poses are chosen
for the joint compliances that such loads show at the markers.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from elastocal.model.robot import Robot


_G = 9.81


def plan_text(model: Robot, name: str, robot: str, rated: float | None = None, remark: str = "") -> str:
    """plan.yaml for a robot whose file stands at ``robot``, as seen from it; loads stay within the ``rated`` kg."""
    markers = starter_markers(model)
    noise = f"{1e6 * starter_noise(model):g}"
    seek, hidden = starter_seek(model, markers)
    lines = [
        "# What can be measured in this cell, and what is wanted.  All keys: docs/planning.md.",
        "format: elastocal-plan/1",
        f"name: {name}",
        f"robot: {robot}",
        f"markers: [{', '.join(markers)}]",
        *(f"seek: [{', '.join(seek)}]   # what the poses are chosen for" for _ in seek[:1]),
        *("model: auto                   # what is estimated: all that the readings support" for _ in model.joints[:1]),
        *_hidden(model, hidden),
        *("turns: true                   # orientations are read as well" for _ in range(not seek)),
        "errors:                       # assumptions: replace them by those of your instruments",
        f"  - {{kind: reading, sd_um: {noise}{'' if seek else ', turn_sd_urad: 20'}}}",
        f"  - {{kind: repeatability, sd_um: {noise}}}",
        "  - {kind: load_size, sd_percent: 0.5}",
        f"loads:                        # {_known(model, rated)}; mind the rated payload",
        *_loads(model, rated),
        *(_room(rated if np.any(model.gravity) else None, remark) if model.n else ()),
        f"candidates: {400 if model.n else 1}",
        "poses: 15" if model.n else "poses: 12",
        *("may_repeat: true" for _ in range(not model.n)),
        "repeats: 2",
        "# Floor at the foot, the arm itself and a cylinder round its first axis are kept clear of:",
        "# floor_mm: -500 is a lower floor, floor: none leaves it out.  Obstacles, home, a tracker's place",
        "# and its line of sight, speeds and test poses: docs/planning.md",
    ]
    return "\n".join(lines) + "\n"


def unloaded_text(model: Robot, name: str, robot: str) -> str:
    """plan.yaml of a campaign without loads, for all that ``calibrate`` would fit to it."""
    lines = [
        "# What can be measured in this cell, and what is wanted.  All keys: docs/planning.md.",
        "format: elastocal-plan/1",
        f"name: {name}",
        f"robot: {robot}",
        "measurement: position         # without loads, and with nothing sought by name:",
        "model: auto                   # for all that is estimated then, by its priors (docs/calibration.md)",
        f"markers: [{starter_markers(model)[0]}]               # one reflector; where it sits is estimated",
        "errors:                       # assumptions: replace them by those of your instruments",
        "  - {kind: reading, sd_um: 30}",
        "# tracker_mm: [3000, 0, 1000] # where the tracker stands in base axes, if known: it sees every pose then",
        "feasible:",
        "  - {kind: joint_limits, margin_percent: 5}",
        "poses: 40",
        "# Floor at the foot, the arm itself and a cylinder round its first axis are kept clear of:",
        "# floor_mm: -500 is a lower floor, floor: none leaves it out.  Obstacles, home, speeds and test poses:",
        "# docs/planning.md",
    ]
    return "\n".join(lines) + "\n"


def _hidden(model: Robot, names: list[str]) -> list[str]:
    """Why some compliances are not sought."""
    if not names:
        return []
    return [
        f"# Not chosen for: {', '.join(names)}.  A load at {model.tool} does not turn such a joint, or no marker moves",
        "# with it: load beside its axis (points: [FRAME] of a load) and watch markers beside it to seek it too.",
    ]


def _known(model: Robot, rated: float | None) -> str:
    """What is known of the loads."""
    if (soft := max(softness(model))) > 0:
        return f"they move the tool by about {1e3 * soft * starter_force(model, rated):.1g} mm"
    return "a guess: by its file the robot is rigid"


def _loads(model: Robot, rated: float | None) -> list[str]:
    """A weight where there is gravity; a rope or jack for the directions that it does not pull in."""
    force, directions = starter_force(model, rated), soft_directions(model)
    down = np.asarray(model.gravity)
    if np.allclose(down[:2], 0) and down[2] < 0 and (0, 0, -1) in directions:
        side = [d for d in directions if d != (0, 0, -1)]
        hung = min(float(f"{force / _G:.1e}"), rated or np.inf)
        weight = f"  - {{kind: hanging, name: weight, masses_kg: [{hung / 2:g}, {hung:g}]}}"
        return [weight, *(_actuator(force, side) for _ in side[:1])]
    return [_actuator(force, list(directions))]


def _actuator(force: float, directions: list[tuple[int, int, int]]) -> str:
    ways = ", ".join(f"[{x}, {y}, {z}]" for x, y, z in directions)
    return f"  - {{kind: actuator, name: rope, sizes_N: [{force / 2:g}, {force:g}], directions: [{ways}]}}"


def _room(rated: float | None, remark: str) -> list[str]:
    message = f"   # {remark}" if remark else ""
    carried = [] if rated is None else [f"  - {{kind: payload, most_kg: {rated:g}}}{message}"]
    return ["feasible:", "  - {kind: joint_limits, margin_percent: 5}", *carried]


MARKERS = 3
OFF = 1e-3
"""Part of the robot's size by which a frame must be off the last axis to show its turn."""
SPRINGS = ("joint_compliance", "motor_compliance")
_LEAST = 0.1
"""A compliance that moves a marker by less than this part of the noise is not sought."""
_PLACES = 20


def starter_noise(model: Robot) -> float:
    """Standard deviation of a reading in m: a fiftieth of what is to be seen."""
    return 0.02 * visible_bend(model)


def starter_markers(model: Robot) -> tuple[str, ...]:
    """Frames called markers, else those that turn with the last joint beside its axis, else the tool."""
    called = [f for f in model.tree.names if f.startswith("marker")]
    beside = [f for f in model.tree.names if _turns_beside(model, f)] if model.n else []
    return tuple((called or beside)[:MARKERS]) or (model.tool,)


def starter_seek(model: Robot, markers: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Names of springs in joints and motors that loads on the tool show at the markers, and those that they do not."""
    springs = [p for p in model.parameters if p.kind in SPRINGS]
    if not model.n:
        return [p.name for p in springs], []
    bends = _bends(model, markers)
    shown = {
        p.name: bends[model.joints.index(joint)] * (abs(p.value) or p.scale) > _LEAST * starter_noise(model)
        for p in springs
        if (joint := p.name.rpartition(".")[0]) in model.joints and p.kind == "joint_compliance"
    }
    names = [p.name for p in springs]
    return [n for n in names if shown.get(n, True)], [n for n in names if not shown.get(n, True)]


def _turns_beside(model: Robot, frame: str) -> bool:
    """A unit turn of the last joint moves a point by its distance from the axis."""
    from elastocal.model.kinematics import kinematics

    twist = kinematics(model, np.zeros((1, model.n)), frame).jacobian[0, :, -1]
    return bool(np.linalg.norm(twist[3:]) > 0.5 and np.linalg.norm(twist[:3]) > OFF * model.size)


def _bends(model: Robot, markers: tuple[str, ...]) -> np.ndarray:
    """(n,) movement in m of the best seen marker for a joint compliance of 1: lever of the load times lever there."""
    from elastocal.model.kinematics import kinematics
    from elastocal.model.limits import spread_configurations

    q = spread_configurations(model, _PLACES)
    pushed = starter_force(model) * np.array(soft_directions(model), dtype=float)
    torque = np.abs(np.einsum("nij,ki->nkj", kinematics(model, q).jacobian[:, :3], pushed)).max(axis=1)
    levers = [np.linalg.norm(kinematics(model, q, m).jacobian[:, :3], axis=1) for m in markers]
    return np.asarray((torque * np.max(levers, axis=0)).max(axis=0))


SMALL = 0.02
MOST = 3000.0
CAREFUL = 100.0
"""In N, for a robot that is rigid by its file: how it bends, and so how much shows, is not known."""
DIRECTIONS = ((1, 0, 0), (0, 1, 0), (0, 0, -1))
_STIFF = 1e-3
_SPREAD = 50


@lru_cache(maxsize=4)
def softness(model: Robot) -> tuple[float, float, float]:
    """Compliance of the tool along x, y and z in m/N: medians over configurations of the whole joint space."""
    from elastocal.model.limits import spread_configurations
    from elastocal.model.statics.stiffness import stiffness

    compliance = stiffness(model, spread_configurations(model, _SPREAD)).compliance
    x, y, z = (float(np.median(compliance[:, i, i])) for i in range(3))
    return x, y, z


def visible_bend(model: Robot) -> float:
    """In m; no more than a SMALL part of the robot's size."""
    from elastocal.model.statics.loaded_arm import VISIBLE

    return min(VISIBLE, SMALL * model.size)


def starter_force(model: Robot, rated: float | None = None) -> float:
    """In N: what bends the softest direction visibly, on the whole; not above MOST, nor the weight of ``rated`` kg."""
    from elastocal.model.statics.loaded_arm import visible_force

    soft, most = max(softness(model)), np.inf if rated is None else rated * _G
    force = visible_force(1 / soft, MOST, visible_bend(model)) if soft > 0 else CAREFUL
    return force if force <= most else float(f"{0.9 * most:.0f}") or most


def soft_directions(model: Robot) -> tuple[tuple[int, int, int], ...]:
    """Directions of a force, in base axes, that the robot yields to."""
    soft = softness(model)
    return tuple(d for d, k in zip(DIRECTIONS, soft, strict=True) if k > _STIFF * max(soft)) or DIRECTIONS
