"""Several files as strangers type them: SMRs and stations in files of their own, exports with groups, odd titles."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from openpyxl import Workbook
from oracle.refusals import refused
from scipy.spatial.transform import Rotation

from elastocal.calibration.readings import campaign_of
from elastocal.calibration.slips import EACH, accepted, check_slips
from elastocal.files.campaign.observed import Observed, observed_tables
from elastocal.files.robot.read import read_robot
from elastocal.model.kinematics import rigid_pose

ROBOT, COUNT = "abb-irb4600-60", 20
SMRS = {"SMR1": [0.1, 0.0, 0.05], "SMR2": [0.0, 0.12, 0.02], "SMR3": [-0.1, -0.05, 0.1]}


def readings() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Axes in deg, and points in mm of three SMRs seen by an instrument of other axes."""
    robot, rng = read_robot(ROBOT), np.random.default_rng(4)
    low, high = np.array([m.limits for m in robot.motions]).T
    q = rng.uniform(0.5 * low, 0.5 * high, (COUNT, 6))
    at, turn = rigid_pose(robot.nominal, "tool", q.T)
    place, shift = Rotation.from_rotvec([0.1, 0.2, 1.9]), [3, 1, 0.4]
    seen = {k: 1e3 * (place.apply(at.T + np.einsum("ijn,j->ni", turn, v)) + shift) for k, v in SMRS.items()}
    return np.degrees(robot.controller.to_controller(q)), seen


DEG, SEEN = readings()
MOVED = Rotation.from_rotvec([0, 0, 0.8]), np.array([500.0, -200, 30])


def row(*parts: object) -> str:
    return ",".join(p if isinstance(p, str) else ",".join(f"{v:.5f}" for v in p) for p in parts) + "\n"


def read(files: list[Path]) -> Observed:
    return observed_tables(files, ROBOT, {"units": {"length": "mm", "angle": "deg"}})


def exports(folder: Path) -> list[Path]:
    """Two exports of SpatialAnalyzer, of two stations, the SMRs as groups; a table of poses."""
    out = []
    for name, rows in (("st1", range(12)), ("st2", range(12, COUNT))):
        lines = ["// SpatialAnalyzer\n// Units: mm\n// Collection, Group, Point, X, Y, Z\n"]
        for smr, points in SEEN.items():
            at = points if name == "st1" else MOVED[0].apply(points) + MOVED[1]
            lines += [row("A", smr, f"P{i:02d}", at[i]) for i in rows]
        (folder / f"{name}.txt").write_text("".join(lines), encoding="utf-8")
        out.append(folder / f"{name}.txt")
    poses = folder / "poses.csv"
    lines = [row(f"P{i:02d}", DEG[i]) for i in range(COUNT)]
    poses.write_text("".join(["Point,J1,J2,J3,J4,J5,J6\n", *lines]), encoding="utf-8")
    return [*out, poses]


def test_groups_of_an_export_are_markers_and_stations_are_proposed(tmp_path: Path) -> None:
    found = read(exports(tmp_path))
    assert found.readings.markers == tuple(SMRS)
    assert found.readings.read["position"].shape == (COUNT, 3, 3)
    assert any("names are read as {marker}::{name}" in n.text for n in found.notes)
    robot, data = campaign_of(found)
    with refused("slip", EACH["station"], parameter="accept"):
        check_slips(robot, data)
    _, apart = accepted(robot, data, EACH["station"])
    assert apart.stations == ("st1.txt", "st2.txt")
    assert [f.code for f in check_slips(robot, data, (EACH["station"],)).findings] == ["accepted"]


def test_one_file_for_each_marker_is_proposed(tmp_path: Path) -> None:
    files = []
    for smr, points in SEEN.items():
        lines = [row(DEG[i], points[i]) for i in range(COUNT)]
        name = {"SMR1": "left", "SMR2": "right", "SMR3": "top"}[smr]  # names that say nothing of targets
        (tmp_path / f"{name}.csv").write_text("".join(["J1,J2,J3,J4,J5,J6,x,y,z\n", *lines]), encoding="utf-8")
        files.append(tmp_path / f"{name}.csv")
    robot, data = campaign_of(read(files))
    with refused("slip", EACH["marker"], parameter="accept"):
        check_slips(robot, data)
    checked = check_slips(robot, data, (EACH["marker"],))
    assert checked.campaign.markers == ("left.csv", "right.csv", "top.csv")
    assert checked.campaign.points == 3


def test_tables_of_one_place_and_marker_are_left_together(tmp_path: Path) -> None:
    files = []
    for name, rows in (("a", range(10)), ("b", range(10, COUNT))):
        lines = [row(DEG[i], SEEN["SMR1"][i]) for i in rows]
        (tmp_path / f"{name}.csv").write_text("".join(["J1,J2,J3,J4,J5,J6,x,y,z\n", *lines]), encoding="utf-8")
        files.append(tmp_path / f"{name}.csv")
    robot, data = campaign_of(read(files))
    assert check_slips(robot, data).findings == ()
    assert len(data.stations) == 1


def test_a_workbook_with_awkward_titles(tmp_path: Path) -> None:
    book = Workbook()
    book.active.append(["Messprotokoll", "17.11."])
    page = book.create_sheet("Messung")
    page.append(["Messung vom 17.11."])
    page.append([])
    page.append(["Pkt-Nr.", *(f"Achse {i} [Grad]" for i in range(1, 7)), "X-Wert [mm]", "Y-Wert [mm]", "Z-Wert [mm]"])
    for i in range(COUNT):
        page.append([f"P{i}", *map(float, DEG[i]), *map(float, SEEN["SMR1"][i])])
    page.append(["Mittelwert", *[None] * 6, *map(float, SEEN["SMR1"].mean(axis=0))])
    book.save(tmp_path / "a.xlsx")
    found = observed_tables([tmp_path / "a.xlsx"], ROBOT, {})
    np.testing.assert_allclose(found.readings.read["position"][:, 0], 1e-3 * SEEN["SMR1"], atol=1e-9)


def test_the_folder_of_a_bag_stands_for_its_file(tmp_path: Path) -> None:
    from elastocal.files.campaign.bare import with_bags

    folder = tmp_path / "bag"
    folder.mkdir()
    (folder / "metadata.yaml").write_text("", encoding="utf-8")
    (folder / "bag_0.db3").write_bytes(b"")
    (tmp_path / "a.csv").write_bytes(b"")
    assert with_bags([folder, tmp_path / "a.csv"]) == [folder / "bag_0.db3", tmp_path / "a.csv"]
    (folder / "bag_1.db3").write_bytes(b"")
    with refused("bag-folder", file="bag"):
        with_bags([folder])
