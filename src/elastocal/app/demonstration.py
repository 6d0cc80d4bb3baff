"""The cell that the demonstration starts from: that of a new cell, with a plan, a program and a true robot of its own.

The true robot is the shipped KR-270 with other springs, and with backlash in its gears.  All its numbers are made up:
joints differ from the file by -15 to 25 %, links, foundation and compensator by up to 30 %, moments of the links'
weights by about 1 kg m; backlash is that of a worn wrist.  A1 and A6 have none: without a load nothing presses their
gears to one side, so that the place they rest at before a reading would be anybody's guess.  The program is a contour
in KRL: a rectangle of 500 mm x 300 mm with rounded corners, milled by a spindle that points down.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastocal.model.robot import Robot


ROBOT = "kuka-kr270"
TRUTH = Path("truth/robot.yaml")
CHECK, MEASURED = Path("check/plan.yaml"), Path("check/measured")
SEED, CHECK_SEED, OUTLIERS = 1, 2, 1
DENSIFY_UM = 20.0

PLAN = """\
# Weights on the tool and a rope to the wall; a tracker; the contour is what matters.
format: elastocal-plan/1
name: demo
robot: ../robot/robot.yaml
markers: [marker1, marker2, marker3]
seek: ["A?.k", A2.k_c, base.k44, base.k55, "A[2-5].gap"]   # what the poses are chosen for
model: auto                                                # what is estimated: all that the readings support
priors:                                                    # links were weighed, each moment to 1 kg m
  - {parameters: ["*.mx", "*.my", "*.mz"], sd_kg_m: 1}
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
CHECK_PLAN = """\
# Poses and loads that take no part in the calibration: round the contour, and away from it.
format: elastocal-campaign/1
name: check
robot: ../robot/robot.yaml
table: plan.csv
measurement: deflection
load: {frame: tool}
markers: [marker1, marker2, marker3]
model: auto
errors:
  - {kind: tracker, at_mm: [5000, 1000, 1500], along_um: 5, across_um: 8, across_slope_um_per_m: 3}
  - {kind: repeatability, sd_um: 17}
  - {kind: load_size, sd_percent: 0.5}
"""
CHECK_POSES = """\
name,A1_deg,A2_deg,A3_deg,A4_deg,A5_deg,A6_deg,fx_N,fy_N,fz_N
V1,0,-70,90,0,70,-180,1500,1000,-700
V2,4,-66,88,0,68,-176,-1500,1000,-700
V3,-6,-74,92,0,72,-186,1000,-1500,-700
V4,8,-62,84,5,66,-170,0,1800,-600
V5,-10,-80,100,-5,70,-190,0,0,-2000
V6,25,-55,70,20,60,-150,0,0,-1500
V7,-30,-90,105,-30,60,150,2000,0,0
V8,45,-60,60,40,70,-120,0,0,-2400
V9,-50,-50,75,-60,55,100,1200,1200,500
V10,15,-100,110,15,75,-165,0,0,-1800
V11,-20,-65,95,60,-60,30,-800,1600,-900
V12,35,-75,80,-45,80,-90,1600,-1200,-400
"""
CERTIFICATE = """\
workpiece:                               # where maps are drawn: the plane of the contour, in the base of the part
  low_mm: [-60, -60, -5]
  high_mm: [560, 360, -5]
  object_mm: [1600, -150, 800]
certificate:
  tolerance_mm: 0.3
  number: DEMO-1
  customer: none, a demonstration
  operator: elastocal demo
  authorised_by: nobody, a demonstration
  place: simulated
  robot_make: KUKA
  robot_serial: virtual
  robot_controller: none
  robot_software: none
  accuracy_option: none
  instrument_type: virtual laser tracker
  instrument_serial: virtual
  instrument_certificate: none
  target: virtual, without offset
  tool: spindle, three markers
  temperature_C: 20
  warm_up: none needed
  procedure: loaded against unloaded, 18 loads in 16 poses; 12 other poses for validation
  traceability: none, all readings are simulated
"""
_README = """\
# The whole cycle on a KR-270

Made by `elastocal demo`: a robot that is not quite what its file says (`truth/`) is planned for, measured (virtually),
calibrated and compensated. In this folder,

    elastocal status .

says how every result was made; each line can be typed again. To do the same with a robot of one's own:

    elastocal new CELL --robot ROBOT
"""


def contents(name: str) -> dict[Path, str]:
    """Texts by place in the cell."""
    from elastocal.app.commands.new import cell_contents as new_cell
    from elastocal.files.robot.read import read_robot

    new = new_cell(name, ROBOT, tried=False).contents  # it has a true robot of its own
    start = {place: text for place, text in new.items() if place.parts[0] != "programs"}
    return {
        **start,
        Path("README.md"): _README,
        Path("cell.yaml"): _cell(name),
        Path("plan/plan.yaml"): PLAN,
        Path("programs") / NAME: program_text(),
        CHECK: CHECK_PLAN,
        CHECK.parent / "plan.csv": CHECK_POSES,
        TRUTH: _truth(read_robot(ROBOT)),
    }


def _cell(name: str) -> str:
    loaded, leads = load_lines()
    return "\n".join([
        "format: elastocal-cell/1",
        f"name: {name}",
        "options:",
        f"  simulate: {{outliers: {OUTLIERS}}}",
        f"  calibrate: {{validate: {(MEASURED / 'campaign.yaml').as_posix()}}}",
        "  compensate:",
        f"    milling: {MILLING}",
        f"    densify_um: {DENSIFY_UM:g}",
        f'    programs: {{{NAME}: {{load_lines: "{loaded}", lead_lines: [{", ".join(leads)}]}}}}',
        CERTIFICATE,
    ])  # fmt: skip


def _truth(stated: Robot) -> str:
    from elastocal.files.robot.write import robot_text

    return robot_text(
        true_robot(stated), ("The simulated (true) robot of the demonstration; its numbers are made up.",)
    )


FACTORS = {
    "A1": 1.12, "A2": 0.91, "A3": 1.08, "A4": 0.85, "A5": 0.93, "A6": 1.25,
    "base": 1.3, "link1_end": 0.9, "link2_end": 0.8, "link3_end": 1.25, "link4_end": 1.1, "link5_end": 0.9,
    "link6_end": 1.2,
}  # fmt: skip
"""True over stated compliance, by joint or frame."""
COMPENSATOR = 1.15
MOMENTS = {"A2.mx": 1.2, "A3.mx": -0.8, "A4.mx": 0.6}
"""True less stated mass moments in kg m."""
BACKLASH = {"A2": 20e-6, "A3": 30e-6, "A4": 120e-6, "A5": 150e-6}
"""Half of the backlash in rad."""
_SPRINGS = ("joint_compliance", "link_compliance", "foundation_compliance")


def true_robot(stated: Robot) -> Robot:
    values = {}
    for p in stated.parameters:
        place = p.name.split(".")[0]
        if p.kind in _SPRINGS:
            values[p.name] = FACTORS[place] * p.value
        elif p.kind == "joint_backlash":
            values[p.name] = BACKLASH.get(place, 0.0)
        elif p.name == "A2.k_c":
            values[p.name] = COMPENSATOR * p.value
        elif p.name in MOMENTS:
            values[p.name] = p.value + MOMENTS[p.name]
    return stated.with_parameters(values)


NAME = "contour.src"
SIZE, CORNER, LEAD, DEPTH, CLEAR = (500.0, 300.0), 60.0, 40.0, -5.0, 40.0
"""In mm, in the base of the part."""
PART = "X 1600,Y -150,Z 800,A 0,B 0,C 0"
SPINDLE = "X 0,Y 100,Z 200,A 0,B 0,C 0"
MILLING = "kc_MPa=1800,ap_mm=5,ae_mm=10,D_mm=20,teeth=4,spindle_rpm=1200,feed_mm_min=1200,radial=0.6,axial=0.3"
_START = "A1 0,A2 -70,A3 90,A4 0,A5 70,A6 -180"


def program_text() -> str:
    return "\r\n".join([*_head(), *_contour(), *_tail()]) + "\r\n"


def load_lines() -> tuple[str, tuple[str, str]]:
    """First and last line of the contour, as ``--load-lines`` takes them, and the leads before and behind it."""
    first = len(_head()) + 1
    last = first + len(_contour()) - 1
    return f"{first}-{last}", (str(first), str(last))


def _head() -> list[str]:
    x, y = SIZE[0] / 2 - LEAD, -LEAD
    return [
        "DEF CONTOUR( )",
        "; a contour of 500 mm x 300 mm, spindle down; the cutter comes to it and leaves it along quarter circles",
        f"$BASE={{{PART}}}",
        f"$TOOL={{{SPINDLE}}}",
        "$VEL.CP=0.02",
        f"PTP {{{_START}}}",
        f"LIN {_at(x, y, CLEAR)}",
        f"LIN {_at(x, y)}",
    ]


def _contour() -> list[str]:
    (x, y), r, middle = SIZE, CORNER, SIZE[0] / 2
    turn, lead = r * (1 - 0.5**0.5), LEAD * 0.5**0.5
    return [
        f"CIRC {_at(middle - lead, lead - LEAD)},{_at(middle, 0)}",
        f"LIN {_at(x - r, 0)}",
        f"CIRC {_at(x - turn, turn)},{_at(x, r)}",
        f"LIN {_at(x, y - r)}",
        f"CIRC {_at(x - turn, y - turn)},{_at(x - r, y)}",
        f"LIN {_at(r, y)}",
        f"CIRC {_at(turn, y - turn)},{_at(0, y - r)}",
        f"LIN {_at(0, r)}",
        f"CIRC {_at(turn, turn)},{_at(r, 0)}",
        f"LIN {_at(middle, 0)}",
        f"CIRC {_at(middle + lead, lead - LEAD)},{_at(middle + LEAD, -LEAD)}",
    ]


def _tail() -> list[str]:
    return [f"LIN {_at(SIZE[0] / 2 + LEAD, -LEAD, CLEAR)}", f"PTP {{{_START}}}", "END"]


def _at(x: float, y: float, z: float = DEPTH) -> str:
    return f"{{X {x:.3f},Y {y:.3f},Z {z:.3f},A 0.000,B 0.000,C 180.000}}"
