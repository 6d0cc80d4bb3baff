"""Tables of RoboDK: orientations as stated, tools as frames, and what is said of tables that cannot be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from files.import_desk import EXPORTS, POSITION, ImportDesk
from oracle.refusals import refused
from scipy.spatial.transform import Rotation

from elastocal.files.campaign.file import CampaignFile

KR270 = POSITION.replace("arm.yaml", "kuka-kr270")
TEXT = (EXPORTS / "robodk_poses.csv").read_text()
WPR = np.array([[0.30, -0.20, 0.50], [-1.10, 0.40, 2.00], [0.10, 1.30, -0.70]])
XYZ = np.array([[2230.1, 595.2, 1249.7], [1352.3, 244.5, 2938.6], [1113.0, 1090.9, 1820.8]])


@pytest.fixture
def desk(tmp_path: Path) -> ImportDesk:
    return ImportDesk(tmp_path)


def table(keys: str) -> str:
    return f"{{file: r.csv, format: robodk{keys}}}"


def turned(read: CampaignFile) -> np.ndarray:
    """Rotations of the tool that were read."""
    return np.asarray(read.campaign.measurement.turned)[:, 0]


def about(axis: str, angle: float) -> np.ndarray:
    return Rotation.from_euler(axis, angle).as_matrix()


@pytest.mark.parametrize(
    ("orientation", "product"),
    [
        ("robodk", lambda w, p, r: about("x", w) @ about("y", p) @ about("z", r)),
        ("kuka", lambda a, b, c: about("z", a) @ about("y", b) @ about("x", c)),
        ("fanuc", lambda w, p, r: about("z", r) @ about("y", p) @ about("x", w)),
        ("ur", lambda *v: Rotation.from_rotvec(v).as_matrix()),
    ],
)
@pytest.mark.parametrize("angle", ["deg", "rad"])
def test_orientations_turn_as_stated(desk: ImportDesk, orientation: str, product, angle: str) -> None:
    keys = f", orientation: {orientation}, angle: {angle}"
    read = desk.read(KR270, table(keys), {"r.csv": TEXT})
    size = np.pi / 180 if angle == "deg" else 1.0
    np.testing.assert_allclose(turned(read), [product(*(size * v)) for v in WPR], atol=1e-14)
    np.testing.assert_allclose(1e3 * read.campaign.readings[:, :3], XYZ, rtol=1e-15)
    assert not any("orientations are not used" in n for n in read.notes)


def test_one_tool_is_the_marker_and_said(desk: ImportDesk) -> None:
    read = desk.read(KR270, table(""), {"r.csv": TEXT})
    assert read.campaign.readings.shape == (3, 3)
    assert read.notes[0].startswith("r.csv: axes are in deg and lengths in mm, as RoboDK has them; positions are of")
    assert "r.csv: measured orientations are not used; orientation and angle would say how." in read.notes
    assert "r.csv: its one tool (0, 100, 200 mm) is taken to be the marker; flange would have it checked." in read.notes


def test_a_tool_within_a_millimetre_is_a_frame(desk: ImportDesk) -> None:
    read = desk.read(KR270, table(", flange: flange"), {"r.csv": TEXT.replace(",0,100,200,", ",-0.5,180,219.4,")})
    assert [m.frame for m in read.campaign.measurement.setup.markers] == ["marker1"]
    assert "r.csv: tools are marker1 (0.781 mm off)." in read.notes


@pytest.mark.parametrize(
    ("keys", "text", "code", "value", "file", "line"),
    [
        (", orientation: kuka", TEXT, "missing", "angle", "campaign.yaml", 5),
        (", angle: deg", TEXT, "missing", "orientation", "campaign.yaml", 5),
        (", flange: hand", TEXT, "unknown-frame", "hand", "campaign.yaml", 5),
        ("", TEXT.replace("-0.70,0,", "-0.70,1,"), "missing", "flange", "campaign.yaml", 5),
        ("", TEXT.split("\n", 1)[1], "format", None, "r.csv", 1),
        ("", TEXT.split("\n")[0], "missing", "measurements", "r.csv", None),
        ("", TEXT + "1,2,3\n", "shape", 3, "r.csv", 5),
        ("", TEXT.split("\n")[0] + "\n" + ",".join("0" * 18) + "\n", "not-measured", 1, "r.csv", None),
    ],
)
def test_refusals(desk: ImportDesk, keys: str, text: str, code: str, value: Any, file: str, line: int | None) -> None:
    with refused(code, value, file=file, line=line):
        desk.read(KR270, table(keys), {"r.csv": text})


def test_a_tool_without_a_frame_is_told_how_to_get_one(desk: ImportDesk) -> None:
    with refused("no-frame", pytest.approx((-0.007, 0.1, 0.2))) as caught:
        desk.read(KR270, table(", flange: flange"), {"r.csv": TEXT.replace(",0,100,200,", ",-7,100,200,")})
    assert "{name: ..., parent: flange, xyz_mm: [-7, 100, 200]}" in str(caught.value)


def test_a_letter_in_a_number_is_shown_with_its_place(desk: ImportDesk) -> None:
    said = desk.refused(KR270, table(""), {"r.csv": TEXT.replace("-60.76", "-6o.76")})
    assert said.startswith("r.csv, line 2, column J2: '-6o.76' is not a number")


def test_a_robot_with_other_joints_is_refused(desk: ImportDesk) -> None:
    with refused("unsupported", "arm", file="campaign.yaml", line=5, column="table"):
        desk.read(POSITION, table(""), {"r.csv": TEXT})
