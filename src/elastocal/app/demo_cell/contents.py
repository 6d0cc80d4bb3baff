"""The files that the demonstration starts from: those of a new cell, with a plan, a program and a truth of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.demo_cell.program import MILLING, NAME, cutting_lines, program_text

if TYPE_CHECKING:
    from elastocal.model.robot import RobotModel

ROBOT = "kuka-kr270"
TRUTH = Path("truth/robot.yaml")
SEED, GROSS = 1, 1
DENSIFY_UM = 20.0

PLAN = """\
# Weights on the tool and a rope to the wall; a tracker; the contour is what matters.
format: elastocal-plan/1
name: demo
robot: ../robot/robot.yaml
markers: [marker1, marker2, marker3]
seek: ["A?.k", A2.k_c, base.k44, base.k55, "A[2-5].gap"]
errors:
  - {kind: tracker, at_mm: [5000, 1000, 1500], along_um: 5, across_um: 8, across_slope_um_per_m: 3}
  - {kind: repeatability, sd_um: 17}
  - {kind: load_size, sd_percent: 0.5}
loads:
  - {kind: hanging, name: weight, masses_kg: [100, 255], room_mm: 500, floor_mm: 0}
  - {kind: anchored, name: rope, sizes_N: [1500, 3500], at_mm: [3800, 0, 1500], reach_mm: [400, 2800]}
candidates: 500
feasible:
  - {kind: joint_limits, margin_percent: 2, axes_deg: {A4: [-180, 180], A6: [-180, 180]}}
  - {kind: tool_box, low_mm: [-3000, -3000, 500], high_mm: [3500, 3000, 3500], radius_mm: 800}
  - {kind: line_of_sight}
  - {kind: payload, most_kg: 530}
poses: 18
repeats: 2
criterion: test_pose
test:
  low_mm: [1600, -150, 790]
  high_mm: [2100, 150, 800]
  count: 24
  force_N: [1500, 1000, -700]
  near_deg: [0, -70, 90, 0, 70, -180]
speeds_deg_s: {A1: 105, A2: 101, A3: 107, A4: 122, A5: 113, A6: 175}
change_min: 10
"""
_README = """\
# The whole cycle on a KR-270

Made by `elastocal demo`: a robot that is not quite what its file says (`truth/`) is planned for, measured (virtually),
identified and compensated. In this folder,

    elastocal status .

says how every result was made; each line can be typed again. To do the same with a robot of one's own:

    elastocal new CELL --robot ROBOT
"""


def contents(name: str) -> dict[Path, str]:
    """Texts by place in the cell."""
    from elastocal.app.commands.new import cell_contents as new_cell
    from elastocal.files.robot.read import read_robot

    start = {place: text for place, text in new_cell(name, ROBOT).contents.items() if place.parts[0] != "programs"}
    return {
        **start,
        Path("README.md"): _README,
        Path("cell.yaml"): _cell(name),
        Path("plan/plan.yaml"): PLAN,
        Path("programs") / NAME: program_text(),
        TRUTH: _truth(read_robot(ROBOT)),
    }


def _cell(name: str) -> str:
    return "\n".join([
        "format: elastocal-cell/1",
        f"name: {name}",
        "options:",
        f"  simulate: {{gross: {GROSS}}}",
        "  compensate:",
        f"    milling: {MILLING}",
        f'    load_lines: "{cutting_lines()}"',
        f"    densify_um: {DENSIFY_UM:g}",
        "",
    ])  # fmt: skip


def _truth(stated: RobotModel) -> str:
    from elastocal.app.demo_cell.truth import true_robot
    from elastocal.files.robot.write import robot_text

    return robot_text(true_robot(stated), ("Taken for true by the demonstration; its numbers are made up.",))
