"""One campaign of a KR 270 as other programs would have written it down, digit for digit.

Every export holds the same texts of numbers as Elastocal's own table, so that what is read must be the same to the bit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from elastocal.files.robot.read import read_robot
from elastocal.measure.markers import Position
from elastocal.measure.setup import Setup
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.observation import Marker

HEAD = "format: elastocal-campaign/1\nname: same\nrobot: kuka-kr270\n"
ERRORS = "errors: [{kind: reading, sd_um: 10}]\n"
DEFLECTION = f'{HEAD}measurement: deflection\nload: {{frame: tool}}\nseek: ["A?.k"]\n{ERRORS}'
POSITION = f'{HEAD}measurement: position\nseek: ["A?.offset"]\n{ERRORS}'
MARKERS = {"M1": "marker1", "M2": "marker2"}
ON_FLANGE = {"marker1": ("0", "180", "220"), "marker2": ("-70", "70", "160")}
"""mm, by hand from the robot file: tool (0, 100, 200) and the place of the marker on it, whose x is z of the flange."""
AXES = tuple(f"A{i}" for i in range(1, 7))


@dataclass(frozen=True)
class Seen:
    """A marker in one pose: texts of joints in deg, of the force in N, of places in mm with and without it."""

    name: str
    marker: str
    joints: tuple[str, ...]
    force: str
    loaded: tuple[str, ...]
    free: tuple[str, ...]


@dataclass(frozen=True)
class Export:
    """A campaign file, the entry of its table, and the files that are read; ``native`` is Elastocal's own table.

    ``spoiled`` is a number in a file, and where a complaint about it must point; ``unit`` is what states the unit of
    lengths in the file or its entry, and the question if it is taken away; ``said`` must be among the notes.
    """

    campaign: str
    table: str
    files: dict[str, str | bytes]
    native: str
    spoiled: tuple[str, str, str]
    unit: tuple[str, str, str] | None
    said: tuple[str, ...] = field(default=())

    def write(self, folder: Path) -> Path:
        """The campaign with this export."""
        for name, text in self.files.items():
            (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        path = folder / "campaign.yaml"
        path.write_text(f"{self.campaign}table: {self.table}\n")
        return path

    def write_native(self, folder: Path) -> Path:
        (folder / "native.csv").write_text(self.native)
        path = folder / "native.yaml"
        path.write_text(f"{self.campaign}table: native.csv\n")
        return path


@cache
def readings(count: int = 9) -> tuple[Seen, ...]:
    """Places of two markers, to 0.1 um, of a robot whose zeros are off by some mrad."""
    robot = read_robot("kuka-kr270")
    rng = np.random.default_rng(8)
    low, high = np.array([-60, -120, 40, -80, 20, -90]), np.array([60, -60, 110, 80, 80, 90])
    shown = np.round(low + (high - low) * rng.random((count, 6)), 2)
    force = np.round(-2500 + 300 * rng.random(count), 1)
    q = robot.controller.to_joints(np.radians(shown)) + np.array([0, 1e-3, -2e-3, 1e-3, 2e-3, 0])
    wrench = np.zeros((count, 6))
    places = []
    for load in (force, 0 * force):
        wrench[:, 2] = load
        at = Setup(q, AppliedWrenches("tool", wrench.copy()), tuple(Marker(m) for m in MARKERS.values()))
        places.append(
            1e3 * Position(at).predict(robot).reshape(count, 2, 3) + 5e-3 * rng.standard_normal((count, 2, 3))
        )
    return tuple(
        Seen(
            f"P{i + 1:02d}",
            marker,
            tuple(f"{v:.2f}" for v in shown[i]),
            f"{force[i]:.1f}",
            *(tuple(f"{v:.4f}" for v in p[i, m]) for p in places),
        )
        for i in range(count)
        for m, marker in enumerate(MARKERS)
    )


def lines(*rows: tuple[str, ...], between: str = ",") -> str:
    return "".join(between.join(row) + "\n" for row in rows)


def by_difference() -> str:
    """Elastocal's own long table of positions with and without load."""
    titles = ("name", "marker", *(f"{a}_deg" for a in AXES), "fz_N", "x_mm", "y_mm", "z_mm", "x0_mm", "y0_mm", "z0_mm")
    return lines(titles, *((r.name, MARKERS[r.marker], *r.joints, r.force, *r.loaded, *r.free) for r in readings()))


def of_positions() -> str:
    titles = ("marker", *(f"{a}_deg" for a in AXES), "x_mm", "y_mm", "z_mm")
    return lines(titles, *((MARKERS[r.marker], *r.joints, *r.free) for r in readings()))


def spatial_analyzer() -> Export:
    """Groups by state, points by pose and marker; joint values and forces are in a table of poses."""
    points = [
        f"Cell, {state}, {r.name}_{r.marker}, {', '.join(place)}"
        for state in ("Free", "Loaded")
        for r in readings()
        for place in [r.free if state == "Free" else r.loaded]
    ]
    remarks = [
        "// SpatialAnalyzer 2024.1", "// Working Frame: Cell::KR270 base", "// Units: Millimeters",
        "// Collection,  Group,  Point,  X,  Y,  Z", "",
    ]  # fmt: skip
    nests = [f"Cell, Nests, N{i}, {i}.0, 2.0, 3.0" for i in (1, 2)]
    poses = {r.name: (r.name, *r.joints, r.force) for r in readings()}
    return Export(
        DEFLECTION,
        '{file: export.txt, format: spatial-analyzer, points: "{state}::{name}_{marker}", unloaded: Free, '
        "markers: {M1: marker1, M2: marker2}, join: poses.csv}",
        {
            "export.txt": "\n".join([*remarks, *points, *nests, ""]),
            "poses.csv": lines(("name", *(f"{a}_deg" for a in AXES), "fz_N"), *poses.values()),
        },
        by_difference(),
        ("export.txt", readings()[3].loaded[1], "export.txt, line 27, column Y"),
        ("export.txt", "// Units: Millimeters\n", "add length: mm"),
        (
            "export.txt: coordinates are of the working frame (its line 2 says 'Working Frame: Cell::KR270 base'); "
            "tracker_frame leads from it to base axes.",
            "export.txt: coordinates are in mm, as its line 3 says.",
            "export.txt: left out, since 'points' does not fit: Cell::Nests::N1 (line 42), Cell::Nests::N2 (line 43).",
        ),
    )


def robodk() -> Export:
    """Free positions; the tool of a line is the marker."""
    titles = tuple(f"{c}{i}" for c in "JMT" for i in range(1, 7))
    rows = [(*r.joints, *r.free, "0.0", "0.1", "0.0", *ON_FLANGE[MARKERS[r.marker]], "0", "0", "0") for r in readings()]
    missed = (*readings()[0].joints, *("0",) * 6, *ON_FLANGE["marker1"], "0", "0", "0")
    return Export(
        POSITION,
        "{file: calibration.csv, format: robodk, flange: flange}",
        {"calibration.csv": lines(titles, *rows[:4], missed, *rows[4:], between=", ")},
        of_positions(),
        ("calibration.csv", readings()[3].free[1], "calibration.csv, line 5, column Y"),
        None,
        (
            "calibration.csv: axes are in deg and lengths in mm, as RoboDK has them; positions are of its measurement "
            "reference, from which tracker_frame leads to base axes.",
            "calibration.csv: left out, since they have not been made (0, 0, 0): measurements in lines 6.",
            "calibration.csv: tools are marker2 (0 mm off), marker1 (0 mm off).",
            "calibration.csv: measured orientations are not used; orientation and angle would say how.",
        ),
    )


def excel() -> Export:
    """Saved by a German Excel as Unicode text: UTF-16, tabs, decimal commas, a title above the columns."""
    titles = ("Zeit", "Punkt", "Ziel", *(f"Achse {i} [°]" for i in range(1, 7)), "X", "Y", "Z")
    rows = [("10:15", r.name, r.marker, *r.joints, *r.free) for r in readings()]
    text = "\ufeffMessreihe April\t\t\n" + lines(titles, *rows, between="\t").replace(".", ",")
    axes = ", ".join(f'A{i}: "Achse {i} [°]"' for i in range(1, 7))
    return Export(
        POSITION,
        "{file: messung.txt, header_line: 2, markers: {M1: marker1, M2: marker2}, "
        f"columns: {{name: Punkt, marker: Ziel, {axes}, x_mm: X, y_mm: Y, z_mm: Z}}}}",
        {"messung.txt": text.encode("utf-16-le")},
        of_positions(),
        ("messung.txt", readings()[3].free[1].replace(".", ","), "messung.txt, line 6, column Y"),
        ("table", "x_mm: X", "column 'x' has no unit; write x_m or x_mm or x_um or x_in"),
        ("messung.txt: not used: Zeit.",),
    )


EXPORTS = {"spatial-analyzer": spatial_analyzer, "robodk": robodk, "csv": excel}
