"""Every kind of report, made as a user would: the words of each command and the files that they need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from app.cell_desk import FAST, well
from app.test_circle_points import ROBOT as SWEPT
from app.test_circle_points import lay_sweeps
from app.test_compensator_command import WORDS as COMPENSATOR
from app.test_gravity import csv_text as log_text
from app.test_gravity import moving
from app.test_iso9283_command import ROWS as VISITS
from app.test_iso9283_command import written as lay_visits
from app.test_loops import everything
from app.test_plan_kinds import ARCS
from app.virtual_desk import lay
from oracle.contact_desk import lay_plan
from oracle.dial_gauge import csv_text as loop_text
from oracle.encoders import SINGLE, WRIST
from oracle.once import once
from oracle.table_one import points_csv

import elastocal as ec
from elastocal.app.cli.progress import told_to
from elastocal.model.compliant.frame_error import FrameError
from elastocal.model.compliant.joint_offset import JointOffset

KR270 = "kuka-kr270"
TRACKED = "abb-irb4600-60"
LOW, HIGH = (-60, -30, -40, -100, -80, -100), (60, 50, 40, 100, 80, 100)
SPOTS = np.array([[0.1, 0, 0.15], [-0.08, 0.05, 0.12], [0.0, -0.1, 0.2]])
EXAMPLES = Path(__file__).parents[2] / "examples" / "programs"
AT = ("--at", "0,-70,90,0,70,0")
Words = Sequence[object]


@dataclass(frozen=True)
class Made:
    """A report, and the stages that its command told: done, of how many, what."""

    path: Path
    told: tuple[tuple[int, int, str], ...]


@dataclass
class Desk:
    """A folder of this process, and one of all in which what several reports need is made once."""

    folder: Path
    shared: Path

    def once(self, name: str, lay: Callable[[Path], None]) -> Path:
        place = self.shared / f"desk-{name}"

        def make() -> None:
            place.mkdir()
            lay(place)

        once(self.shared / f"{name}-made", make)
        return place

    def report(self, kind: str) -> Made:
        path, told = self.folder / f"{kind}.html", list[tuple[int, int, str]]()
        words = KINDS[kind](self)  # made before: it runs commands of its own
        with told_to(lambda done, total, stage="": told.append((done, total, stage))):
            well(*words, "--report", path)
        return Made(path, tuple(told))

    def file(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    @property
    def loaded(self) -> Path:
        """An arm measured under loads: plan, campaign, calibration by reduction, poses."""
        return self.once("loaded", _loaded)

    @property
    def tracked(self) -> Path:
        """An arm measured without loads, twice, and another half year later."""
        return self.once("tracked", _tracked)

    @property
    def touched(self) -> Path:
        return self.once("touched", _touched)


def _loaded(folder: Path) -> None:
    plan = lay(folder)
    well("simulate", plan, "--truth", folder / "truth.yaml", "--out", folder / "virtual", "--outliers", 1, "--seed", 3)
    well("calibrate", folder / "virtual" / "campaign.yaml", "--out", folder / "calibration.json")


def _tracked(folder: Path) -> None:
    """Tables of joint values and points of a robot that is not quite what its file says, and campaigns of them."""
    robot = ec.read_robot(TRACKED).nominal
    rng = np.random.default_rng(5)
    every = rng.uniform(np.radians(LOW), np.radians(HIGH), (42, 6)).round(5)
    first, check = every[:30], every[30:]
    for name, q, offset in (("first", first, 8e-4), ("check", check, 8e-4), ("later", first, 1.1e-3)):
        off = (JointOffset(joint="axis2", offset=offset), FrameError(frame="axis3", x=6e-4, ry=3e-4))
        at = robot.with_elements(*off).kinematics(q)
        points = at.position[:, None] + np.einsum("nij,mj->nmi", at.rotation, SPOTS)
        points = points[:, :, [1, 2, 0]] + [3.0, -0.5, 1.2] + rng.normal(scale=3e-5, size=points.shape)
        rows = np.column_stack([np.degrees(q), 1e3 * points.reshape(len(q), 9)])
        head = [*(f"{a}_deg" for a in robot.controller.axes), *(f"{a}{m}_mm" for m in (1, 2, 3) for a in "xyz")]
        np.savetxt(folder / f"{name}.csv", rows, "%.5f", delimiter=",", header=",".join(head), comments="")
        (folder / f"{name}.yaml").write_text(
            f"format: elastocal-campaign/1\nname: {name}\nrobot: {TRACKED}\ntable: {name}.csv\n"
        )
    for name in ("first", "later"):
        well("calibrate", TRACKED, folder / f"{name}.csv", "--model", "geometry", "--out", folder / f"{name}.json")


def _touched(folder: Path) -> None:
    lay_plan(folder)
    well("simulate", folder / "plan.yaml", "--out", folder / "virtual", "--truth", folder / "truth.yaml")


def _tables(desk: Desk) -> Words:
    return desk.file("single.csv", SINGLE), desk.file("wrist.csv", WRIST)


def _poses(desk: Desk) -> Words:
    return "--configurations", desk.file(
        "poses.csv", "name,J1_deg,J2_deg,J3_deg,fz_N\nlow,10,-20,50,-300\nhigh,-40,-90,80,-300\n"
    )


def _history(desk: Desk) -> Words:
    """Two calibrations of a robot, half a year apart."""

    def lay_history(folder: Path) -> None:
        for name, day in (("first", "2026-03-01"), ("later", "2026-09-01")):
            file, store = desk.tracked / f"{name}.json", folder / "history.db"
            well("history", "import", file, "--store", store, "--robot", "cell-7", "--date", day)

    return ("history", "show", "cell-7", "--store", desk.once("recorded", lay_history) / "history.db")


KINDS: dict[str, Callable[[Desk], Words]] = {
    "deflect": lambda d: ("deflect", KR270, *AT, "--force", "0,0,-1000"),
    "stiffness": lambda d: ("stiffness", KR270, *AT),
    "stiffness-axes": lambda d: ("stiffness", KR270, "--map", "A2:-130:-20:12,A3:-90:120:12"),
    "stiffness-workpiece": lambda d: ("stiffness", KR270, "--map", "x:1400:2300:11,z:400:1600:9,y:0", *AT),
    "kinetostatics": lambda d: ("kinetostatics", "scara-ruggeri", "--position", "200,350,0", "--force", "-30,10,0"),
    "plan": lambda d: (
        "plan",
        d.loaded / "arm.yaml",
        "--hang",
        20,
        "--marker",
        "m1",
        *FAST,
        "--out",
        d.folder / "planned",
    ),
    "plan-arcs": lambda d: ("plan", d.file("arcs.yaml", ARCS), "--out", d.folder / "arcs"),
    "assess": lambda d: ("assess", d.loaded / "arm.yaml", d.loaded / "plan.csv", "--noise-mm", 0.01),
    "assess-campaign": lambda d: ("assess", d.loaded / "plan.yaml"),
    "assess-contacts": lambda d: ("assess", d.touched / "plan.yaml"),
    "simulate": lambda d: (
        "simulate",
        d.loaded / "plan.yaml",
        "--truth",
        d.loaded / "truth.yaml",
        "--out",
        d.folder / "v",
    ),
    "calibrate": lambda d: (
        "calibrate",
        TRACKED,
        d.tracked / "first.csv",
        "--model",
        "geometry",
        "--validate",
        d.tracked / "check.csv",
    ),
    "calibrate-reduce": lambda d: ("calibrate", d.loaded / "virtual" / "campaign.yaml"),
    "calibrate-contacts": lambda d: ("calibrate", d.touched / "virtual" / "campaign.yaml"),
    "history": _history,
    "validate": lambda d: ("validate", d.tracked / "first.json", d.tracked / "check.csv"),
    "predict": lambda d: ("predict", d.loaded / "calibration.json", *_poses(d)),
    "predict-readings": lambda d: ("predict", d.tracked / "first.json", "--at", "0,10,10,0,30,0"),
    "compare": lambda d: ("compare", d.tracked / "first.json", d.tracked / "later.json"),
    "compare-campaigns": lambda d: ("compare", d.tracked / "first.yaml", d.tracked / "later.yaml"),
    "compensate": lambda d: ("compensate", EXAMPLES / "contour.src", "--robot", KR270, "--force", "0,0,-500"),
    "grid": lambda d: (
        "grid",
        KR270,
        "--box",
        "1500,-300,600,1800,300,900",
        "--step-mm",
        300,
        "--near",
        "0,-70,100,0,60,0",
    ),
    "iso9283": lambda d: ("iso9283", lay_visits(d.folder, *VISITS), "--path"),
    "gravity": lambda d: (
        "gravity",
        d.file("log.csv", log_text(moving())),
        "kuka-kr5",
        "--at",
        "0,-60,90,0,30,0",
    ),
    "transmission": lambda d: ("transmission", *_tables(d)),
    "loops": lambda d: ("loops", d.file("loops.csv", loop_text(everything()))),
    "arcs": lambda d: ("arcs", d.file("points.csv", points_csv()), "--known", "P1"),
    "circle-points": lambda d: ("arcs", d.once("sweeps", lay_sweeps) / "sweeps.csv", "--robot", SWEPT),
    "compensator": lambda d: (
        "compensator",
        d.file("points.csv", points_csv()),
        *COMPENSATOR,
        "--robot",
        KR270,
        "--plan",
        6,
    ),
    "published": lambda d: ("reproduce", "kr5-transmission"),
}
"""By name; the demonstration and the gallery take long and are opened by tests of their own."""
