"""Titles and separators as instruments and spreadsheets write them: the same readings from all of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from oracle.refusals import refused
from scipy.spatial.transform import Rotation

import elastocal as ec
from elastocal.errors import MissingError
from elastocal.files.campaign.observed import observed_tables
from elastocal.files.robot.read import read_robot
from elastocal.files.tables.spelling import plain_title, title_unit
from elastocal.model.kinematics import rigid_pose

ROBOT = "abb-irb4600-60"
COUNT = 8


def poses() -> tuple[np.ndarray, np.ndarray, Rotation]:
    """Axes in deg, places in mm, orientations of the tool."""
    robot = read_robot(ROBOT)
    low, high = np.array([m.limits for m in robot.motions]).T
    q = np.random.default_rng(1).uniform(0.3 * low, 0.3 * high, (COUNT, 6))
    at, turn = rigid_pose(robot.nominal, "tool", q.T)
    return np.degrees(q), 1e3 * at.T, Rotation.from_matrix(np.moveaxis(turn, -1, 0))


DEG, MM, TURN = poses()
JOINTS = [f"J{i} [deg]" for i in range(1, 7)]
PLACE = ["X [mm]", "Y [mm]", "Z [mm]"]


def table(file: Path, titles: list[str], rows: list[list[object]], separator: str = ",", comma: bool = False) -> Path:
    def word(value: object) -> str:
        text = value if isinstance(value, str) else f"{value:.9f}"
        return text.replace(".", ",") if comma and not isinstance(value, str) else text

    lines = [separator.join(titles), *(separator.join(word(v) for v in row) for row in rows)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8-sig" if comma else "utf-8")
    return file


@pytest.mark.parametrize(
    ("separator", "comma", "joints", "place"),
    [
        (",", False, JOINTS, PLACE),
        (";", True, JOINTS, PLACE),
        ("\t", True, [f"Axis {i} (°)" for i in range(1, 7)], ["x (mm)", "y (mm)", "z (mm)"]),
        (",", False, [f"joint {i}/deg" for i in range(1, 7)], ["X/mm", "Y/mm", "Z/mm"]),
        (" ", False, [f"q{i}_deg" for i in range(1, 7)], ["x_mm", "y_mm", "z_mm"]),
    ],
)
def test_separators_and_units(tmp_path: Path, separator: str, comma: bool, joints: list[str], place: list[str]) -> None:
    rows = [[*DEG[i], *MM[i]] for i in range(COUNT)]
    file = table(tmp_path / "a.csv", [*joints, *place], rows, separator, comma)
    _, data = ec.read_campaign(ROBOT, file)
    np.testing.assert_allclose(np.radians(data.q), np.radians(DEG), atol=1e-9)
    assert (data.angle, data.length) == ("deg", "mm")
    np.testing.assert_allclose(np.asarray(data.position).reshape(-1, 3), 1e-3 * MM, atol=1e-9)


ORIENTATIONS = {
    "quaternion": (["qw", "qx", "qy", "qz"], lambda r: r.as_quat(scalar_first=True), None),
    "vector": (["rx [rad]", "ry [rad]", "rz [rad]"], lambda r: r.as_rotvec(), None),
    "matrix": ([f"R{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)], lambda r: r.as_matrix().ravel(), None),
    "rpy": (["Roll [deg]", "Pitch [deg]", "Yaw [deg]"], lambda r: r.as_euler("xyz", degrees=True), None),
    "kuka": (["A [deg]", "B [deg]", "C [deg]"], lambda r: r.as_euler("ZYX", degrees=True), "ZYX"),
    "fanuc": (["W [deg]", "P [deg]", "R [deg]"], lambda r: r.as_euler("ZYX", degrees=True)[::-1], "xyz"),
}


@pytest.mark.parametrize("form", ORIENTATIONS)
def test_full_poses_in_every_form_are_the_same(tmp_path: Path, form: str) -> None:
    titles, numbers, euler = ORIENTATIONS[form]
    rows = [[*DEG[i], *MM[i], *numbers(TURN[i])] for i in range(COUNT)]
    file = table(tmp_path / "a.csv", [*JOINTS, *PLACE, *titles], rows)
    _, data = ec.read_campaign(ROBOT, file, euler=euler)
    np.testing.assert_allclose(np.asarray(data.orientation).reshape(-1, 3, 3), TURN.as_matrix(), atol=1e-7)
    if euler is not None:
        _, decided = ec.read_campaign(ROBOT, file)
        np.testing.assert_array_equal(decided.orientation, data.orientation)
        few = table(tmp_path / "few.csv", [*JOINTS, *PLACE, *titles], rows[:4])
        with refused("euler", file="few.csv", line=1, parameter="euler") as error:
            ec.read_campaign(ROBOT, few)
        assert error.value.code == "euler"


def test_markers_and_stations_with_a_capital_are_markers_and_stations(tmp_path: Path) -> None:
    rows = [
        [f"P{i}", f"SMR{k}", f"S{1 + i % 2}", *DEG[i], *(MM[i] + 10 * k)] for i in range(COUNT) for k in (1, 2)
    ]  # fmt: skip
    file = table(tmp_path / "a.csv", ["Name", "Marker", "Station", *JOINTS, *PLACE], rows)
    _, data = ec.read_campaign(ROBOT, file)
    assert "2 markers, 2 stations" in repr(data)
    half = [table(tmp_path / f"{s}.csv", ["Station", *JOINTS, *PLACE], [[s, *DEG[i], *MM[i]] for i in range(COUNT)])
            for s in ("one", "two")]  # fmt: skip
    _, both = ec.read_campaign(ROBOT, half)
    assert "2 stations" in repr(both)


def test_an_export_of_spatial_analyzer_without_a_campaign_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "sa.txt").write_text(
        "// SpatialAnalyzer 2023\n// Collection, Group, Point, X, Y, Z\nA, R, P1, 1, 2, 3\n"
    )
    with refused("spatial-analyzer", file="sa.txt") as error:
        ec.read_campaign(ROBOT, tmp_path / "sa.txt")
    assert error.value.code == "spatial-analyzer"


@pytest.mark.parametrize(
    "form",
    ["{a}{n} [mm]", "{a} {n} (mm)", "SMR {n} {a} [mm]", "SMR{n}_{a}_mm", "{a} SMR {l} [mm]", "Marker {l}.{a}/mm"],
)
def test_titles_of_several_targets(tmp_path: Path, form: str) -> None:
    titles = [form.format(a=a, n=n, l="AB"[n - 1]) for n in (1, 2) for a in "XYZ"]
    rows = [[*DEG[i], *MM[i], *(MM[i] + [10, 20, 30])] for i in range(COUNT)]
    _, data = ec.read_campaign(ROBOT, table(tmp_path / "a.csv", [*JOINTS, *titles], rows))
    assert "2 markers" in repr(data)
    told = " ".join(n.text for n in observed_tables([tmp_path / "a.csv"], ROBOT, {}).notes)
    assert ("is of marker2" in told) == ("SMR" in form or "{l}" in form)
    read = 1e3 * np.asarray(data.position).reshape(COUNT, 2, 3)
    np.testing.assert_allclose(read[:, 0], MM, atol=1e-6)
    np.testing.assert_allclose(read[:, 1] - MM, [[10, 20, 30]] * COUNT, atol=1e-6)


def test_titles_that_are_no_reading_are_named(tmp_path: Path) -> None:
    file = table(tmp_path / "a b.csv", [*JOINTS, "East", "North", "Up"], [[*DEG[i], *MM[i]] for i in range(COUNT)])
    with pytest.raises(MissingError) as error:
        ec.read_campaign(ROBOT, file)
    assert error.value.allowed == ("East", "North", "Up")
    assert str(error.value).endswith(f': elastocal columns ROBOT "{file.as_posix()}"')
    assert "missing: skip" not in str(error.value)


def test_a_missing_column_is_asked_for_as_the_others_are_written(tmp_path: Path) -> None:
    for others, missing in ((["x1_mm", "y1_mm"], "z1_mm"), (["marker1.x_mm", "marker1.y_mm"], "marker1.z_mm")):
        file = table(tmp_path / "a.csv", [*JOINTS, *others], [[*DEG[i], *MM[i, :2]] for i in range(COUNT)])
        with refused("missing", missing):
            ec.read_campaign(ROBOT, file)


def test_titles() -> None:
    assert title_unit("X [mm]") == "mm"
    assert title_unit("X/mm") == "mm"
    assert title_unit("in/out") is None
    assert plain_title("Alpha (deg)", ("a", "alpha")) == "alpha_deg"
    assert plain_title("a_mm", ("a",)) == "a_mm"
    assert plain_title("RMS", ("a",)) == "RMS"
