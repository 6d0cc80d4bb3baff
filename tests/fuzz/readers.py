"""Every reader of files, with a whole file to damage: one line of ``READERS`` for each.

A new reader is added here by its name, its files (the first is damaged) and how it is called with the path of that
file.  ``unknown`` readers give nan for what a file leaves out; no reader gives an infinite number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from app.cell_desk import LOOPS, POINTS, VISITS
from files.campaign_desk import DEFLECTION, ERRORS, ROBOT, TABLE
from files.import_desk import EXPORTS
from files.test_logs import COUPLED, rob, rtde
from files.test_plan_yaml import PATH, PLAN
from files.test_plausible import URDF
from files.test_robot_imports import MACRO
from files.test_run_record import RECORD
from files.test_spatial_analyzer import POSES
from oracle.contact_desk import plan_table, plan_text
from oracle.encoders import SINGLE
from oracle.programs import EXAMPLES, PROGRAMS

from elastocal.compensation.posts.post import post_for
from elastocal.compensation.program import Changes
from elastocal.files.calibration import read_calibration
from elastocal.files.campaign.read import read_campaign, read_plan
from elastocal.files.campaign.recognise import recognise
from elastocal.files.cell import read_cell
from elastocal.files.formats.ros_bag import read_bag
from elastocal.files.log.given import Given
from elastocal.files.log.read import read_log
from elastocal.files.plan.arcs import read_arc_plan
from elastocal.files.plan.read import read_plan_file
from elastocal.files.plan.task import read_path, read_stl
from elastocal.files.programs import read_line_loads, read_program
from elastocal.files.robot.read import read_robot, shipped_text
from elastocal.files.run_record import read_record, record_text
from elastocal.files.tables.configurations import read_configurations
from elastocal.files.tables.csv_file import read_csv
from elastocal.files.tables.drives import read_drives_or_targets
from elastocal.files.tables.encoders import read_encoder_tables
from elastocal.files.tables.excel import excel_bytes
from elastocal.files.tables.loops import read_loops
from elastocal.files.tables.points import read_points, read_sweeps
from elastocal.files.tables.validation import read_visits

Files = Mapping[str, str | bytes]


@dataclass(frozen=True)
class Reader:
    """``files`` gives contents by name; ``read`` gets the path of the first of them."""

    files: Callable[[], Files]
    read: Callable[[Path], Any]
    unknown: bool = False

    def lay(self, folder: Path) -> Path:
        """All files in a folder; the path of the one to damage."""
        made = self.files()
        for name, content in made.items():
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder / next(iter(made))


SWEEPS = "sweep,marker,J1_deg,J2_deg,x_mm,y_mm,z_mm\n" + "".join(
    f"J{1 + k},m{m},{10 * i if k == 0 else 5},{10 * i if k else 5},{100 + i},{200 - i * m},{3 * k}\n"
    for k in (0, 1)
    for i in range(4)
    for m in (1, 2)
)
ARM, AXES = {"arm.yaml": ROBOT}, {"A1": "revolute", "A2": "revolute"}
POSITIONS = "format: elastocal-campaign/1\nname: t\nmeasurement: position\n"
TRACKER = POSITIONS + (
    'robot: arm.yaml\ntable: {file: e.txt, format: spatial-analyzer, points: "Arm::{name}-{marker}", join: poses.csv}\n'
)
TRACKED, POSED = ((EXPORTS / name).read_bytes() for name in ("tracker.txt", "robodk_poses.csv"))
JOINED = {"poses.csv": POSES}
ROBODK = POSITIONS + "robot: kuka-kr270\ntable: {file: r.csv, format: robodk, orientation: robodk, angle: rad}\n"
CONTACTS = {"c.yaml": plan_text(), "plan.csv": plan_table((5.0, 10.0))}
ARCS = "format: elastocal-plan/1\nname: s\nrobot: kuka-kr270\nmeasurement: arcs\nradii_mm: [180, 200]\nposes: 9\n"
CELL = "format: elastocal-cell/1\nname: c\nreports: out\noptions:\n  plan: {seed: 3}\n  arcs: {csv: a.csv}\n"
CONFIGURATIONS = "name,A1_deg,A2_deg,fx_N,fy_N,fz_N\np,10,20,0,0,-5\nq,-10,5,1,2,3\n"
XACRO = MACRO.replace("</robot>", '<xacro:arm prefix=""/></robot>')
DH = (
    "joint,a_mm,alpha_deg,d_mm,theta_deg,min_deg,max_deg,sign,convention\n"
    "J1,150,-90,495,0,-180,180,1,standard\nJ2,900,0,0,-90,-90,90,-1,standard\n"
)
DRIVES = "A1_deg,A2_deg,torque_A1_Nm,torque_A2_Nm\n1,2,3,4\n5,6,7,8\n"
LOG = "time_s,A1_deg,A2_deg,E1_mm,A1_torque_Nm,A2_torque_Nm\n" + "".join(f"{k},{k},2,3,{k},\n" for k in range(5))
LOADS = "line,fx_N,fy_N,fz_N,payload_kg\n1,0,0,0,20\n40,-400,0,-150,20\n"
STL = "solid x\n" + "facet\nouter loop\nvertex 0 0 0\nvertex 100 0 0\nvertex 0 1e2 0\nendloop\nendfacet\n" * 2


@cache
def coupled() -> Any:
    with TemporaryDirectory() as folder:
        (Path(folder) / "coupled.yaml").write_text(COUPLED)
        return read_robot(Path(folder) / "coupled.yaml")


@cache
def calibration() -> Files:
    from app.program_desk import calibration as made

    with TemporaryDirectory() as folder:
        return {"c.json": made(Path(folder), "kuka-kr270", ("A2.k", "A3.k"), 0.05).read_bytes()}


COLUMNS = """format: elastocal-columns/1
tables:
  - {columns: {A1_deg: Achse 1, x_mm: "X Ist [mm]"}, header_line: 2}
  - {files: "*.txt", format: spatial-analyzer, points: "{name}", length: mm}
"""
EXPORT = "Export 1\nPunkt;Achse 1;Achse 2;X Ist [mm];RMS\nP1;10,0;-60,5;2214,742;0,010\nP2;-20,0;70,5;2241,385;0,012\n"

GROUPED = """Messprotokoll;;;;
;Winkel;;Position;
Punkt;Achse 1;Achse 2;X Ist;Z Ist
;°;°;mm;mm
P1;10,0;-60,5°;2.214,742;1'184,952
P2;-20,0;\u221270,5;2 241,385;1.322
Mittelwert;-5,0;-65,5;2.228,064;1.253
"""


def table_beside(path: Path) -> Any:
    return read_csv(path.with_name("e.csv"))


def sweeps(path: Path) -> Any:
    return read_sweeps([path], read_robot("scara-ruggeri"))


def campaign(table: str | bytes, text: str = DEFLECTION + ERRORS, name: str = "readings.csv", **more: Any) -> Files:
    return {name: table, **ARM, **more, "campaign.yaml": text}


def campaign_beside(path: Path) -> Any:
    return read_campaign(path.with_name("campaign.yaml"))


def program(path: Path) -> Any:
    """Read, and written again without changes: no line lost or changed."""
    read = read_program(path)
    written = post_for(path.name).write(read, Changes.none(read))
    assert written == dict(read.files), f"a line of {path.name} was lost or changed"
    return read


def example(*names: str) -> Callable[[], Files]:
    return lambda: {name: (EXAMPLES / name).read_bytes() for name in names}


def excel() -> Files:
    header, *rows = (line.split(",") for line in CONFIGURATIONS.splitlines())
    return {"c.xlsx": excel_bytes(header, [[r[0], *map(float, r[1:])] for r in rows])}


@cache
def bag() -> Files:
    """Some joint states of ROS 1."""
    from rosbags.rosbag1 import Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC)
    kind = "sensor_msgs/msg/JointState"
    with TemporaryDirectory() as folder:
        with Writer(Path(folder) / "b.bag") as out:
            connection = out.add_connection("/joints", kind, typestore=store)
            for k in range(10):
                stamp = store.types["builtin_interfaces/msg/Time"](k, 0)
                head = store.types["std_msgs/msg/Header"](k, stamp, "")
                state = store.types[kind](head, ["a", "b"], np.array([0.1, k]), np.zeros(2), np.zeros(2))
                out.write(connection, 10**9 * k, store.serialize_ros1(state, kind))
        return {"b.bag": (Path(folder) / "b.bag").read_bytes()}


def rsi() -> Files:
    lines = [rob(100 + 4 * k, (10 + k, 20 - k, 100), (5, -3, 7)) for k in range(6)]
    return {"log.xml": "\n".join(x if isinstance(x, str) else x.decode() for x in lines)}


READERS: dict[str, Reader] = {
    "robot yaml": Reader(lambda: {"r.yaml": ROBOT}, read_robot),
    "shipped robot yaml": Reader(lambda: {"r.yaml": shipped_text("kuka-kr270")}, read_robot),
    "robot urdf": Reader(lambda: {"r.urdf": URDF}, read_robot),
    "robot xacro": Reader(lambda: {"r.urdf.xacro": XACRO}, read_robot),
    "robot dh csv": Reader(lambda: {"dh.csv": DH}, read_robot),
    "excel": Reader(excel, lambda p: read_configurations(p, AXES), True),
    "ros bag": Reader(bag, read_bag, True),
    "campaign yaml": Reader(lambda: dict(reversed(campaign(TABLE).items())), read_campaign, True),
    "readings csv": Reader(lambda: campaign(TABLE), campaign_beside, True),
    "tracker export": Reader(lambda: campaign(TRACKED, TRACKER, "e.txt", **JOINED), campaign_beside, True),
    "robodk csv": Reader(lambda: campaign(POSED, ROBODK, "r.csv"), campaign_beside, True),
    "contacts yaml": Reader(lambda: CONTACTS, read_plan, True),
    "contacts csv": Reader(lambda: dict(reversed(CONTACTS.items())), lambda p: read_plan(p.with_name("c.yaml")), True),
    "plan yaml": Reader(lambda: {"plan.yaml": PLAN, "path.csv": PATH}, read_plan_file, True),
    "plan of arcs": Reader(lambda: {"plan.yaml": ARCS}, read_arc_plan, True),
    "path csv": Reader(lambda: {"path.csv": PATH}, lambda p: read_path(p, read_robot("kuka-kr270"))),
    "obstacle stl": Reader(lambda: {"o.stl": STL}, read_stl),
    **{f"program {kind}": Reader(partial(dict, files[0]), program, True) for kind, files in PROGRAMS.items()},
    "program krl data": Reader(example("contour.dat", "contour.src"), lambda p: program(p.with_suffix(".src")), True),
    "loads by line": Reader(lambda: {"l.csv": LOADS}, read_line_loads, True),
    "log csv": Reader(lambda: {"log.csv": LOG}, lambda p: read_log(p, coupled()), True),
    "log of two tables": Reader(
        lambda: {"torques.csv": "A1,A2,E1\n1,2,3\n4,5,6\n7,8,9\n", "values.csv": "a1,a2,e1\n1,2,3\n4,5,6\n7,8,9\n"},
        lambda p: read_log(p.with_name("values.csv"), coupled(), Given(p, "deg,mm,Nm,N", 100.0)),
        True,
    ),
    "log rtde": Reader(lambda: {"log.csv": rtde("target_moment")}, lambda p: read_log(p, read_robot("kuka-kr5")), True),
    "log rsi": Reader(rsi, lambda p: read_log(p, coupled()), True),
    "encoder table": Reader(lambda: {"t.csv": SINGLE}, lambda p: read_encoder_tables([p]), True),
    "points of arcs": Reader(lambda: {"p.csv": POINTS}, read_points, True),
    "sweeps of joints": Reader(lambda: {"s.csv": SWEEPS}, sweeps, True),
    "columns yaml": Reader(lambda: {"columns.yaml": COLUMNS, "e.csv": EXPORT}, table_beside, True),
    "columns of a table": Reader(lambda: {"e.csv": EXPORT}, lambda p: recognise(p, read_robot("kuka-kr5")), True),
    "table of people": Reader(lambda: {"e.csv": GROUPED}, lambda p: recognise(p, read_robot("kuka-kr5")), True),
    "loops": Reader(lambda: {"l.csv": LOOPS}, read_loops, True),
    "visits": Reader(lambda: {"v.csv": VISITS}, read_visits, True),
    "configurations": Reader(lambda: {"c.csv": CONFIGURATIONS}, lambda p: read_configurations(p, AXES), True),
    "drives": Reader(lambda: {"d.csv": DRIVES}, lambda p: read_drives_or_targets(p, AXES), True),
    "calibration json": Reader(calibration, read_calibration, True),
    "cell yaml": Reader(lambda: {"cell.yaml": CELL}, lambda p: read_cell(p.parent)),
    "record json": Reader(lambda: {"r.json": record_text(RECORD)}, read_record),
}  # fmt: skip
