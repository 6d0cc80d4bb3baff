"""``elastocal calibrate ROBOT TABLE``: the shortest way in, several campaigns, validation, priors, and slips."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import elastocal as ec
from elastocal.model.compliant.frame_error import FrameError
from elastocal.model.compliant.joint_offset import JointOffset

ARM = """\
format: elastocal-robot/1
name: arm
source: written for a test
joints:
  - {name: J1, type: revolute, axis: [0, 0, 1], xyz_mm: [0, 0, 400], limits_deg: [-170, 170]}
  - {name: J2, type: revolute, axis: [0, 1, 0], xyz_mm: [100, 0, 0], limits_deg: [-120, 120]}
  - {name: J3, type: revolute, axis: [0, 1, 0], xyz_mm: [600, 0, 0], limits_deg: [-120, 120]}
  - {name: flange, type: fixed, xyz_mm: [500, 0, 0]}
"""
HEAD = "J1,J2,J3,x,y,z"


class Cell:
    """A table of 24 readings, another of 8, of an arm that is off by 2 mm."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "arm.yaml").write_text(ARM)
        robot = ec.read_robot(folder / "arm.yaml")
        off = (
            JointOffset(joint="J2", offset=2e-3),
            JointOffset(joint="J3", offset=-4e-3),
            FrameError(frame="J2", x=1e-3),
        )
        truth = robot.with_elements(*off)
        rng = np.random.default_rng(7)
        q = rng.uniform(-1.4, 1.4, (32, 3))
        seen = ec.simulate(truth, q, noise=2e-5, rng=2, markers={"ball": [0.05, 0.02, 0.03]}).position[:, 0]
        rows = np.column_stack([np.degrees(q), 1e3 * seen @ [[0, 1, 0], [-1, 0, 0], [0, 0, 1]] + [3000, 100, 0]])
        self.table("points.csv", rows[:24])
        self.table("check.csv", rows[24:])

    def table(self, name: str, rows: Any, head: str = HEAD) -> Path:
        np.savetxt(self.folder / name, rows, delimiter=",", header=head, comments="")
        return self.folder / name

    def campaign(self, name: str, **keys: Any) -> Path:
        data = {
            "format": "elastocal-campaign/1",
            "robot": "arm.yaml",
            "units": {"length": "mm", "angle": "deg"},
            **keys,
        }
        (self.folder / name).write_text(yaml.safe_dump(data, sort_keys=False))
        return self.folder / name


@pytest.fixture
def cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cell:
    monkeypatch.chdir(tmp_path)
    return Cell(tmp_path)


GEOMETRY = ("--model", "geometry")


def test_a_robot_and_a_table(run: Any, cell: Cell) -> None:
    words = ("arm.yaml", "points.csv", "--units", "mm,deg", *GEOMETRY, "--validate", "check.csv")
    got = run("calibrate", *words, "--out", "calibration.json", "--json")
    assert got.code == 0, got.err
    made = ec.read_calibration("calibration.json")
    assert made.verdict.code == "improved"
    assert made.markers == ("flange",)
    assert made.leave_one_out.mean < 1e-4 < 5e-4 < made.before.mean
    again = run("validate", "calibration.json", "check.csv", "--units", "mm,deg", "--json")
    assert again.code == 0
    assert again.data["findings"][0]["code"] == "validated"


def test_notes_on_tables_are_values_in_python_too(run: Any, cell: Cell) -> None:
    """What is assumed and not used goes from the table through the calibration and its file into the report."""
    rows = np.loadtxt(cell.folder / "points.csv", delimiter=",", skiprows=1)
    cell.table("more.csv", np.column_stack([rows, np.arange(len(rows))]), f"{HEAD},RMS")
    robot, data = ec.read_campaign("arm.yaml", "more.csv", length="mm", angle="deg")
    noted = {n.code: n.text for n in data.notes}
    assert noted["columns-read"] == "more.csv: not used: RMS."
    assert noted["markers-read"] == "No marker is named: readings are of frame 'flange'."
    assert {n.severity for n in data.notes} == {"note"}
    cal = ec.calibrate(robot, data.take(range(20)), "geometry")
    assert cal.warnings[: len(data.notes)] == data.notes
    assert cal.doubts == ()
    assert "note columns-read: more.csv: not used: RMS." in repr(cal)
    cal.save("c.json")
    assert ec.read_calibration("c.json").warnings == cal.warnings
    cal.report("c.html")
    assert "more.csv: not used: RMS." in Path("c.html").read_text(encoding="utf-8")
    told = run("calibrate", "arm.yaml", "more.csv", "--units", "mm,deg", *GEOMETRY, "--json").data["notes"]
    assert set(noted.values()) <= set(told)
    assert len(set(told)) == len(told)
    twice = ec.calibrate(robot, [data.take(range(12)), data.take(range(12, 24))], "geometry")
    assert [w for w in twice.warnings if w in data.notes] == list(data.notes)


def test_the_same_by_campaign_files(run: Any, cell: Cell) -> None:
    """One file with validation; and the readings in two files, seen from one station."""
    whole = cell.campaign("whole.yaml", table="points.csv", model="geometry", validation="check.csv")
    got = run("calibrate", whole.name, "--out", "whole.json", "--json")
    assert got.code == 0, got.err
    assert any(line.startswith("Validation: mean 0.0") for line in got.data["verdict"])
    rows = np.loadtxt("points.csv", delimiter=",", skiprows=1)
    cell.table("first.csv", rows[:12])
    cell.table("second.csv", rows[12:])
    for word in ("first", "second"):
        cell.campaign(f"{word}.yaml", table=f"{word}.csv", model="geometry", station="hall")
    got = run("calibrate", "first.yaml", "second.yaml", "--out", "both.json")
    assert got.code == 0, got.err
    one, two = (json.loads(Path(f"{w}.json").read_text()) for w in ("whole", "both"))
    assert two["stations"] == ["hall"]
    np.testing.assert_allclose(two["values"], one["values"], rtol=1e-6, atol=1e-12)


def test_a_prior_holds_what_readings_do_not_tell(run: Any, cell: Cell) -> None:
    tied = [{"parameters": "J2.x", "value_mm": 1, "sd_um": 1}]
    cell.campaign("tied.yaml", table="points.csv", model="geometry", priors=tied)
    assert run("calibrate", "tied.yaml", "--out", "tied.json").code == 0
    made = ec.read_calibration("tied.json").parameters["J2.x"]
    assert made.value == pytest.approx(1e-3, abs=5e-6)
    assert made.prior_sd == pytest.approx(1e-6)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("points.csv",), "is a table; give the robot and the table, such as: elastocal calibrate arm.urdf points.csv"),
        (("arm.urdf",), "is a robot; give the robot and the table"),
        (("arm.yaml", "points.csv"), "column 'J1' has no unit; write J1_rad or J1_deg"),
        (("arm.yaml", "points.csv", "--units", "mm,mm"), "write one of m, mm, um, in and one of rad, deg"),
        (("arm.yaml", "points.csv", "--units", "mm,deg", "--reduce"), "the reduction takes one campaign file"),
        (("whole.yaml", "--tool", "J3"), "is a campaign file, which says tool itself"),
        (("arm.yaml",), "this is a robot file (elastocal-robot/1); a campaign file is needed"),
    ],
)
def test_slips_of_the_command_line(run: Any, cell: Cell, words: tuple[str, ...], said: str) -> None:
    cell.campaign("whole.yaml", table="points.csv")
    (cell.folder / "arm.urdf").write_text("<robot/>")
    got = run("calibrate", *words)
    assert got.code == 2
    assert said in got.err.replace("\n", " ")


def test_reduce_alone_asks_for_the_reduction(run: Any, cell: Cell) -> None:
    cell.campaign("reduced.yaml", table="points.csv", measurement="position", reduce=False)
    got = run("calibrate", "reduced.yaml")
    assert got.code == 2
    assert "model geometry" not in got.err


def test_poses_of_any_table_are_predicted(run: Any, cell: Cell) -> None:
    """Columns of readings and others are not used; what is wrong is said with the place."""
    calibrated = ("calibrate", "arm.yaml", "points.csv", "--units", "mm,deg", *GEOMETRY, "--out", "made.json")
    assert run(*calibrated).code == 0
    got = run("predict", "made.json", "check.csv", "--units", "mm,deg", "--json", "--axes", "base")
    assert got.code == 0, got.err
    assert any("not used: x, y, z" in note for note in got.data["notes"])
    assert len(got.data["predictions"]) == 8
    missed = run("predict", "made.json", "check.csv")
    assert missed.code == 2
    assert "column 'J1' has no unit" in missed.err
    (cell.folder / "std.csv").write_text("J1_deg,J2_deg,speed\n1,2,3\n")
    short = run("predict", "made.json", "std.csv")
    assert short.code == 2
    assert "there is no column for axis J3; write J3_deg as its title, or ask which of speed" in short.err
    assert short.err.endswith(": elastocal columns ROBOT std.csv\n")
    loaded = run("predict", "made.json", "check.csv", "--units", "mm,deg", "--force", "0,0,-100")
    assert loaded.code == 0
    assert "WARNING PRIOR-COMPLIANCE" in loaded.out


def test_slips_of_units_and_names_are_told(run: Any, cell: Cell) -> None:
    rows = np.loadtxt("points.csv", delimiter=",", skiprows=1)
    rows[:, :3] = np.radians(rows[:, :3])
    cell.table("radians.csv", rows)
    got = run("calibrate", "arm.yaml", "radians.csv", "--units", "mm,deg", *GEOMETRY)
    assert got.code == 2
    assert "accept it by these words: angles in rad (--accept" in got.err
    assert (
        run("calibrate", "arm.yaml", "radians.csv", "--units", "mm,deg", *GEOMETRY, "--accept", "angles in rad").code
        == 0
    )
    cell.table("named.csv", np.loadtxt("points.csv", delimiter=",", skiprows=1), "J1,J2,J3,ball.x,ball.y,ball.z")
    made = run("calibrate", "arm.yaml", "named.csv", "--units", "mm,deg", *GEOMETRY, "--out", "named.json")
    assert made.code == 0
    assert run("validate", "named.json", "check.csv", "--units", "mm,deg").code == 0  # one marker needs no name
    cell.table("other.csv", np.loadtxt("check.csv", delimiter=",", skiprows=1), "J1,J2,J3,cube.x,cube.y,cube.z")
    other = run("validate", "named.json", "other.csv", "--units", "mm,deg")
    assert other.code == 2
    assert "marker cube took no part in the calibration, which knows ball; call the same marker" in other.err


def _with_times(cell: Cell, name: str, title: str, times: list[str]) -> Path:
    rows = (cell.folder / "points.csv").read_text().splitlines()
    lines = [f"{title},{rows[0]}", *(f"{t},{row}" for t, row in zip(times, rows[1:], strict=True))]
    (cell.folder / name).write_text("\n".join(lines) + "\n")
    return cell.folder / name


def _figures(run: Any, cell: Cell, table: Path) -> dict[str, Any]:
    words = ("calibrate", cell.folder / "arm.yaml", table, "--units", "mm,deg", "--model", "geometry", "--json")
    data: dict[str, Any] = run(*words).data
    return data


def test_residuals_stand_against_time_where_a_column_tells_it(run: Any, cell: Cell) -> None:
    seconds = [str(40.5 + 7.5 * i) for i in range(24)]
    told = _figures(run, cell, _with_times(cell, "timed.csv", "t", seconds))
    (series,) = [s for s in told["residuals_time"]["series"] if s["name"] == "deletion residual"]
    assert sorted(set(series["x"])) == pytest.approx([7.5 * i for i in range(24)])
    assert "residuals_order" not in told
    assert not any("not used" in note for note in told["notes"])
    days = [f"2026-11-17T{8 + i // 4:02d}:{15 * (i % 4):02d}:00" for i in range(24)]
    told = _figures(run, cell, _with_times(cell, "dated.csv", "timestamp", days))
    assert told["residuals_time"]["x"]["unit"] == "h"
    (series,) = [s for s in told["residuals_time"]["series"] if s["name"] == "deletion residual"]
    assert max(series["x"]) == pytest.approx(5.75)


def test_a_column_of_times_that_cannot_be_read_is_named_as_not_used(run: Any, cell: Cell) -> None:
    told = _figures(run, cell, _with_times(cell, "vague.csv", "time", ["morning"] * 24))
    assert "residuals_order" in told
    assert any("not used: time" in note for note in told["notes"])


def test_a_refusal_names_the_option_with_what_to_type(run: Any, cell: Cell) -> None:
    rows = np.loadtxt("points.csv", delimiter=",", skiprows=1)
    assert "(--units mm,deg)" in run("calibrate", "arm.yaml", "points.csv", *GEOMETRY).err
    cell.table("swapped.csv", rows[:, [0, 1, 2, 4, 3, 5]])
    got = run("calibrate", "arm.yaml", "swapped.csv", "--units", "mm,deg", *GEOMETRY)
    assert got.code == 2
    assert "these words: J1 reversed (--accept WORDS)" in got.err  # which mirrors such an arm


def test_a_table_of_another_robot_is_said_to_be_one(run: Any, cell: Cell) -> None:
    rows = np.loadtxt("points.csv", delimiter=",", skiprows=1)
    cell.table("other.csv", rows, "pan_deg,lift_deg,elbow_deg,x_mm,y_mm,z_mm")
    got = run("calibrate", "arm.yaml", "other.csv", *GEOMETRY)
    assert got.code == 2
    assert "is an axis of the robot (J1, J2, J3); check that the table is of this robot" in got.err
    assert len(got.err) < 400
    cell.table("slip.csv", rows, "J1_deg,J2_deg,J33_deg,x_mm,y_mm,z_mm")
    assert "there is no column 'J33_deg'; did you mean 'J3_deg'?" in run("calibrate", "arm.yaml", "slip.csv").err


@pytest.mark.parametrize("title", ["J33_deg", "dxx [mm]"])
def test_a_column_that_is_told_to_be_unused_is_left_out_from_then_on(run: Any, cell: Cell, title: str) -> None:
    rows = np.loadtxt(cell.folder / "points.csv", delimiter=",", skiprows=1)
    cell.table("more.csv", np.column_stack([rows, rows[:, :1]]), f"J1_deg,J2_deg,J3_deg,x_mm,y_mm,z_mm,{title}")
    refused = run("calibrate", "arm.yaml", "more.csv", *GEOMETRY)
    assert refused.code == 2
    assert f"unused={title}" in refused.err
    assert run("columns", "arm.yaml", "more.csv", "--is", f"unused={title}").code == 0
    assert run("calibrate", "arm.yaml", "more.csv", *GEOMETRY, "--json").code == 0


def test_a_load_that_is_lost_is_a_warning_of_the_calibration(run: Any, cell: Cell) -> None:
    rows = np.loadtxt(cell.folder / "points.csv", delimiter=",", skiprows=1)
    cell.table("more.csv", np.column_stack([rows, np.arange(len(rows)) % 2]), f"{HEAD},Kraft")
    done = run("calibrate", "arm.yaml", "more.csv", "--units", "mm,deg", *GEOMETRY, "--out", "c.json")
    assert done.code == 0, done.err
    assert "LOAD-NOT-USED" in done.out
    (warning,) = [w for w in ec.read_calibration("c.json").warnings if w.code == "load-not-used"]
    assert tuple(warning.data["columns"]) == ("Kraft",)


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("nope.csv", "nope.csv: no such file; check the name"),
        ("nope.xlsx", "nope.xlsx: no such file; check the name"),
        ("Prüf Messung ä.xlsx", "Prüf Messung ä.xlsx: no such file; check the name"),
        (".", ".: is a folder, and no table; give the file of the readings"),
    ],
)
def test_a_table_that_is_none_is_named_once(run: Any, cell: Cell, word: str, sentence: str) -> None:
    got = run("calibrate", "arm.yaml", word, *GEOMETRY)
    assert (got.code, got.err) == (2, f"elastocal: {sentence}\n")


def test_a_calibration_file_is_no_table_and_its_markers_are_no_frames(run: Any, cell: Cell) -> None:
    words = ("arm.yaml", "points.csv", "--units", "mm,deg", *GEOMETRY)
    assert run("calibrate", *words, "--out", "c.json").code == 0
    got = run("calibrate", "arm.yaml", "c.json", *GEOMETRY)
    assert (got.code, got.out) == (2, "")
    assert "c.json: is a calibration file (elastocal-calibration/2), and no table" in got.err
    shown = run("predict", "c.json", "--at", "0,0,0", "--frame", "J2")
    assert shown.code == 2
    assert "c.json, --frame: a calibration predicts its markers: there is no marker 'J2'; valid: flange" in shown.err
