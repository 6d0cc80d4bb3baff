"""What speaks against a calibration is said by calibrate, kept in its file, and said again by whoever uses it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from app.virtual_desk import ARM, POSES, TRUTH, findings
from scipy.spatial.transform import Rotation

from elastocal.files.robot.read import read_robot
from elastocal.measure.markers import Position
from elastocal.measure.setup import Setup
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.observation import Marker
from elastocal.spatial.entries import Array

CAMPAIGN = """\
format: elastocal-campaign/1
name: points
robot: arm.yaml
table: points.csv
measurement: deflection
load: {frame: tool}
seek: ["J?.k"]
errors:
  - {kind: reading, sd_um: 15}
"""
REGISTRATION = "  - {kind: registration, sd_mm: 100, turn_sd_mrad: 1}\n"
POINT = "  - {kind: load_point, sd_mm: 1}\n"
MARKERS = ("m1", "m2")
ALONE = ["--at", "0,-30,60", "--force", "0,0,-300"]


def lay(
    folder: Path,
    *,
    truth: str = TRUTH,
    names: tuple[str, ...] = MARKERS,
    campaign: str = CAMPAIGN,
    away: float = 0.0,
    noise: float = 15e-6,
) -> Path:
    """Points with and without load of the robot ``truth``, whose load hangs ``away`` (m) along x of its tool."""
    (folder / "arm.yaml").write_text(ARM)
    (folder / "truth.yaml").write_text(truth)
    head, *rows = [line.split(",") for line in POSES.splitlines()]
    q = np.radians([[float(v) for v in row[1:4]] for row in rows])
    force = np.array([[float(v) for v in row[4:]] for row in rows])
    model = read_robot(folder / "truth.yaml")
    at = Setup(q, AppliedWrenches("tool", np.zeros((1, 6))), tuple(Marker(m) for m in MARKERS))
    lever = np.stack([p @ [away, 0, 0] for p in _turns(model, q)])
    wrench = np.concatenate([force, np.cross(lever, force)], axis=1)
    loaded = Setup(q, AppliedWrenches("tool", wrench), at.markers)
    rng = np.random.default_rng(5)
    both = [Position(s).predict(model) + noise * rng.normal(size=(len(q), 6)) for s in (loaded, at)]
    columns = [f"{m}.{c}{zero}_mm" for zero in ("", "0") for m in names for c in "xyz"]
    numbers = 1e3 * np.concatenate(both, axis=1)
    lines = [",".join((*row, *(f"{v:.5f}" for v in line))) for row, line in zip(rows, numbers, strict=True)]
    (folder / "points.csv").write_text("\n".join((",".join((*head, *columns)), *lines)) + "\n")
    (folder / "campaign.yaml").write_text(campaign)
    return folder / "campaign.yaml"


def _turns(model, q):
    from elastocal.model.kinematics import kinematics

    return kinematics(model, q, "tool").rotation


def verdict(ran) -> str:
    assert ran.code == 0, ran.err
    return " ".join(ran.out.split())


def test_a_sound_campaign_says_how_well_its_points_fit_and_warns_of_nothing(run, tmp_path):
    path = lay(tmp_path)
    said = verdict(run("calibrate", path, "--out", tmp_path / "c.json"))
    assert "Unloaded points against the robot file: rms" in said
    assert "Fixed at the robot file, because they were not sought: " in said
    assert json.loads((tmp_path / "c.json").read_text())["warnings"] == []
    assert "DOUBT" not in verdict(run("predict", tmp_path / "c.json", *ALONE))


def test_a_load_that_hangs_elsewhere_is_told_to_all_who_use_the_calibration(run, tmp_path):
    path = lay(tmp_path, campaign=CAMPAIGN + POINT, away=0.1)
    out = tmp_path / "c.json"
    said = verdict(run("calibrate", path, "--out", out))
    shout = "PRIOR CONFLICT: load point x is off by"
    assert shout in said
    kept = json.loads(out.read_text())["warnings"]
    assert any(w.startswith(shout) and "where 1 mm (one sd) is stated" in w for w in kept)
    assert f"THE CALIBRATION IS IN DOUBT. {shout}" in verdict(run("predict", out, *ALONE))
    assert run("predict", out, *ALONE, "--json").data["verdict"][0].startswith("THE CALIBRATION IS IN DOUBT.")
    exported = run("export", out, "--schema", tmp_path / "schema.json")
    assert f"THE CALIBRATION IS IN DOUBT. {shout}" in verdict(exported)
    data = run("calibrate", path, "--json").data
    row = next(r for r in data["nuisances"] if r["unknown"] == "load point x")
    assert row["doubt"] == "PRIOR CONFLICT"
    assert row["stated"] == pytest.approx(1e-3)


def test_a_mass_that_is_wrong_in_the_robot_file_is_asked_for(run, tmp_path):
    """A very heavy upper arm, taken for one of a quarter of it: it bends the unloaded arm too, to second order."""
    path = lay(tmp_path, truth=TRUTH.replace("mass_kg: 20", "mass_kg: 1880"))
    (tmp_path / "arm.yaml").write_text(ARM.replace("mass_kg: 20", "mass_kg: 400"))
    data = run("calibrate", path, "--json").data
    asked = data["score_tests"][0]
    assert asked["parameter"] in ("J2.mx", "J2.m")
    assert asked["step"] == pytest.approx(1480 * 0.35, rel=0.5)
    assert asked["chance"] < 1e-3
    assert next(iter(findings(data)["omitted-parameter"]["parameters"])) == asked["parameter"]


def test_markers_that_are_mixed_up_are_refused_with_the_reason(run, tmp_path):
    ran = run("calibrate", lay(tmp_path, names=("m2", "m1")))
    assert ran.code == 2
    said = " ".join(ran.err.split())
    assert "campaign.yaml: the unloaded points are 1" in said
    assert "if markers are mixed up: what the table calls m1 is m2, m2 is m1" in said


def positions(folder: Path, change: Callable[[Array], Array], campaign: str) -> Path:
    """Positions under load of the robot of the file, read to 15 um and then changed."""
    (folder / "arm.yaml").write_text(ARM)
    head, *rows = [line.split(",") for line in POSES.splitlines()]
    numbers = np.array([[float(v) for v in row[1:]] for row in rows])
    wrench = np.concatenate([numbers[:, 3:], np.zeros((len(rows), 3))], axis=1)
    at = Setup(np.radians(numbers[:, :3]), AppliedWrenches("tool", wrench), tuple(Marker(m) for m in MARKERS))
    points = Position(at).predict(read_robot(folder / "arm.yaml"))
    read = change((points + 15e-6 * np.random.default_rng(7).normal(size=points.shape)).reshape(-1, 3))
    columns = [f"{m}.{c}_mm" for m in MARKERS for c in "xyz"]
    lines = [
        ",".join((*row, *(f"{1e3 * v:.5f}" for v in line)))
        for row, line in zip(rows, read.reshape(points.shape), strict=True)
    ]
    (folder / "points.csv").write_text("\n".join((",".join((*head, *columns)), *lines)) + "\n")
    (folder / "campaign.yaml").write_text(campaign.replace("measurement: deflection", "measurement: position"))
    return folder / "campaign.yaml"


def estimates(ran) -> dict[str, tuple[float, float]]:
    assert ran.code == 0, ran.err
    return {row["parameter"]: (row["value"], row["sd"]) for row in ran.data["parameters"]}


@pytest.mark.parametrize("angle", [0.0, 0.5])
def test_positions_in_axes_of_their_own_are_registered(run, tmp_path, angle):
    """40 mm (3 % of the reach) away, and turned: the instrument's place is estimated, as where it is asked for."""
    turn = Rotation.from_rotvec([0, 0, angle]).as_matrix()
    path = positions(tmp_path, lambda p: p @ turn.T + np.array([0.04, 0, 0]), CAMPAIGN)
    alone = run("calibrate", path, "--json")
    assert any("brought to base axes by tracker_frame: {xyz_mm: [" in note for note in alone.data["notes"])
    assert "points-far" not in findings(alone.data)
    found = estimates(alone)
    path.write_text(path.read_text() + REGISTRATION + "tracker_frame: fit\n")
    asked = estimates(run("calibrate", path, "--json"))
    assert set(found) == set(asked)
    for name, (value, sd) in asked.items():
        assert found[name][0] == pytest.approx(value, abs=0.05 * sd)
        assert found[name][1] == pytest.approx(sd, rel=0.02)


def test_positions_that_their_stated_frame_leaves_turned_are_refused(run, tmp_path):
    turn = Rotation.from_rotvec([0, 0, 0.5]).as_matrix()
    wrong = "tracker_frame: {xyz_mm: [0, 0, 0], rpy_deg: [0, 0, 0]}\n"
    path = positions(tmp_path, lambda p: p @ turn.T, CAMPAIGN + REGISTRATION + wrong)
    ran = run("calibrate", path)
    assert ran.code == 2
    said = " ".join(ran.err.split())
    assert "if the axes of the points are turned by 28.6" in said
    assert (
        "deg about (0, 0, -1) from the base's; write tracker_frame: fit, with the source of error registration" in said
    )
    assert "xyz_mm" not in said


def test_differences_in_turned_axes_are_refused_with_the_frame_that_puts_them_right(run, tmp_path):
    """Read in base axes, but said to be turned by 30 deg: what is missing and what is stated cancel."""
    wrong = "tracker_frame: {xyz_mm: [0, 0, 0], rpy_deg: [0, 0, 30]}\n"
    path = lay(tmp_path, campaign=CAMPAIGN + wrong)
    ran = run("calibrate", path)
    assert ran.code == 2
    said = " ".join(ran.err.split())
    frame = re.search(r"from the base's; write (tracker_frame: \{.+ rpy_deg: \[(.+)\]\})", said)
    assert "registration" not in said
    assert [float(v) for v in frame[2].split(",")] == pytest.approx([0, 0, 0], abs=0.05)
    path.write_text(CAMPAIGN + frame[1] + "\n")
    assert "POINTS FAR FROM THE ROBOT FILE" not in verdict(run("calibrate", path))


def test_a_link_of_another_length_is_shouted_about_and_kept(run, tmp_path):
    path = lay(tmp_path, truth=TRUTH.replace("xyz_mm: [700, 0, 0]", "xyz_mm: [800, 0, 0]"))
    out = tmp_path / "c.json"
    said = verdict(run("calibrate", path, "--out", out))
    assert "POINTS FAR FROM THE ROBOT FILE: the unloaded points are" in said
    assert "frame elbow stands [100" in said
    assert any(w.startswith("POINTS FAR FROM") for w in json.loads(out.read_text())["warnings"])


def test_a_fit_that_predicts_worse_than_the_file_is_shouted_about_unless_the_file_was_right(run, tmp_path):
    """The robot is as its file says: what noise of a millimetre makes of it can only be worse."""
    unstated = CAMPAIGN.split("errors:")[0] + "reduce: false\n"
    data = run("calibrate", lay(tmp_path, truth=ARM, noise=2e-3, campaign=unstated), "--json").data
    worse = findings(data)["worse-than-nominal"]
    assert worse["leave_one_out"] > worse["nominal"]
    sure = CAMPAIGN.replace("sd_um: 15", "sd_mm: 2") + "reduce: false\n"
    data = run("calibrate", lay(tmp_path, truth=ARM, noise=2e-3, campaign=sure), "--json").data
    assert "worse-than-nominal" not in findings(data)


def test_joint_stiffness_and_the_file_s_value_stand_beside_the_compliance(run, tmp_path):
    rows = {r["parameter"]: r for r in run("calibrate", lay(tmp_path), "--json").data["parameters"]}
    row = rows["J2.k"]
    assert row["file"] == 3.0e-6
    assert row["change_percent"] == pytest.approx(20, abs=1)
    assert row["stiffness"].endswith("N m/arcmin")
    assert float(row["stiffness"].split("(")[0]) * 60 * 180 / np.pi == pytest.approx(1 / 3.6e-6, rel=0.02)


def test_masses_that_nothing_shows_are_not_to_be_loaded_otherwise(run, tmp_path):
    path = lay(tmp_path, campaign=CAMPAIGN.replace('["J?.k"]', '["J?.k", "J2.m*"]'))
    said = verdict(run("calibrate", path))
    assert "Unobservable: J2.m" in said
    assert "no load helps" in said
    assert "load the arm in other directions" not in said
