"""Commands that take a calibration of readings: predict, validate, compensate, export."""

from __future__ import annotations

import csv
import json
import re
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import elastocal as ec
from elastocal.app.commands.predict import predict
from elastocal.app.pages.predict import readings_table
from elastocal.calibration import prediction
from elastocal.files.robot.read import robot_from_text
from elastocal.files.robot.urdf import read_urdf
from elastocal.files.robot.write import robot_text
from elastocal.model.compliant.frame_error import FrameError
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.compliant.joint_offset import JointOffset
from elastocal.model.compliant.own_weight import OwnWeight
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import frame_pose
from elastocal.model.statics.equilibrium import equilibrium

AXES = ("0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "1 0 0")
PLACES = ("0 0 0.4", "0.1 0 0.05", "0 0 0.6", "0.2 0.03 0", "0.4 0 0", "0.1 0 0")
URDF = (
    '<robot name="arm">'
    + "".join(f'<link name="L{i}"/>' for i in range(7))
    + '<link name="flange"/>'
    + "".join(
        f'<joint name="J{i + 1}" type="revolute"><origin xyz="{place}"/><axis xyz="{axis}"/><parent link="L{i}"/>'
        f'<child link="L{i + 1}"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>\n'
        for i, (axis, place) in enumerate(zip(AXES, PLACES, strict=True))
    )
    + '<joint name="mount" type="fixed"><origin xyz="0.05 0 0.02"/><parent link="L6"/><child link="flange"/></joint>'
    + "</robot>"
)
MARKERS = np.array([[0.1, 0.05, 0.0], [-0.05, 0.1, 0.08], [0.0, -0.12, 0.1]])
STATION = (Rotation.from_euler("xyz", [0.1, -0.2, 0.9]), np.array([3.0, -1.0, 0.5]))
NAMES = ("ball1", "ball2", "ball3")


class Desk:
    """A robot that is off, sags and bends, its calibration, and readings that took no part."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "arm.urdf").write_text(URDF)
        self.nominal = ec.read_robot(folder / "arm.urdf", "flange").nominal
        joints = self.nominal.joints
        soft = [JointCompliance(joint=j, k=2e-6) for j in joints]
        self.file = self.nominal.with_elements(*soft)
        rng = np.random.default_rng(5)
        off = [JointOffset(joint=j, offset=float(v)) for j, v in zip(joints, 1e-3 * rng.normal(size=6), strict=True)]
        bent = [JointCompliance(joint=j, k=float(v)) for j, v in zip(joints, rng.uniform(1, 4, 6) * 1e-6, strict=True)]
        self.truth = self.nominal.with_elements(
            *off, *bent, FrameError(frame="J2", x=4e-4, y=2e-4, rz=3e-4), OwnWeight(joint="J2", sag=8e-4)
        )
        self.q = rng.uniform(-1.2, 1.2, (60, 6))
        self.wrench = np.where(rng.random((60, 1)) < 0.5, rng.uniform(-300, 300, (60, 6)) * [1, 1, 1, 0, 0, 0], 0.0)
        read = self.points(self.q, self.wrench) + 2e-5 * rng.normal(size=(60, 3, 3))
        data = ec.Campaign(
            q=self.q, position=read, wrench=self.wrench, length="m", angle="rad", markers=NAMES, load_frame="flange"
        )
        words = ("geometry", "weight", "compliance")
        self.calibration = ec.calibrate(self.file, data, words, outliers=False)
        self.path = self.calibration.save(folder / "calibration.json")
        self.check_q = rng.uniform(-1.0, 1.0, (20, 6))
        self.check = self.points(self.check_q, np.zeros((20, 6))) + 2e-5 * rng.normal(size=(20, 3, 3))

    def points(self, q: np.ndarray, wrench: np.ndarray, base: bool = False) -> np.ndarray:
        load = [AppliedWrenches("flange", wrench)] if wrench.any() else []
        at, turn = frame_pose(self.truth, q, equilibrium(self.truth, q, load), "flange")
        local = at.T[:, None] + np.einsum("ijn,mj->nmi", turn, MARKERS)
        return local if base else local @ STATION[0].as_matrix().T + STATION[1]

    def table(self, path: Path, points: np.ndarray) -> Path:
        head = [*(f"J{i}_deg" for i in range(1, 7)), *(f"{m}.{c}_mm" for m in NAMES for c in "xyz")]
        with path.open("w", newline="") as out:
            rows = csv.writer(out)
            rows.writerow(head)
            rows.writerows([*np.degrees(q), *(1e3 * p.ravel())] for q, p in zip(self.check_q, points, strict=True))
        return path

    def read(self, path: Path) -> tuple[np.ndarray, np.ndarray]:
        """A table of 24 poses without a load: joint values in deg, points in m."""
        q, noise = self.q[:24], 2e-5 * np.random.default_rng(3).normal(size=(24, 3, 3))
        rows = np.column_stack([np.degrees(q), (self.points(q, np.zeros((24, 6))) + noise).reshape(24, -1)])
        titles = ",".join([*(f"J{i}_deg" for i in range(1, 7)), *(f"{n}.{c}_m" for n in NAMES for c in "xyz")])
        np.savetxt(path, rows, delimiter=",", header=titles, comments="")
        return rows[:, :6], rows[:, 6:].reshape(24, 3, 3)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(tmp_path_factory.mktemp("readings"))


def typed(q: np.ndarray) -> str:
    return ",".join(f"{v:.12g}" for v in np.degrees(q))


def test_positions_and_deflections_are_predicted_where_the_instrument_reads(run: Any, desk: Desk) -> None:
    rng = np.random.default_rng(9)
    q, force = rng.uniform(-1, 1, (6, 6)), np.array([100.0, -50.0, -250.0])
    at = [w for row in q for w in ("--at", typed(row))]
    wrench = np.tile([*force, 0, 0, 0], (6, 1))
    loaded = run("predict", desk.path, *at, "--force", "100,-50,-250", "--json").data["predictions"]
    free = run("predict", desk.path, *at, "--json").data["predictions"]
    for rows, true in ((loaded, desk.points(q, wrench)), (free, desk.points(q, 0 * wrench))):
        said, width, wide = (
            1e-3 * scale * np.array([[r[key.format(c)] for c in "xyz"] for r in rows])
            for scale, key in ((1, "{}_mm"), (1e-3, "{}_95_um"), (1e-3, "reading_{}_95_um"))
        )
        off = np.abs(said - true.reshape(-1, 3))
        assert (off < width).mean() > 0.8
        assert (off < 2.5 * width).all()
        assert (width < wide).all()
        assert [r["marker"] for r in rows[:3]] == list(NAMES)
    moved = 1e-3 * np.array([[r[f"d{c}_mm"] for c in "xyz"] for r in loaded])
    true = (desk.points(q, wrench, base=True) - desk.points(q, 0 * wrench, base=True)).reshape(-1, 3)
    width = 1e-6 * np.array([[r[f"d{c}_95_um"] for c in "xyz"] for r in loaded])
    assert np.linalg.norm(true, axis=1).max() > 5e-4
    assert (np.abs(moved - true) < width).mean() > 0.75
    assert (np.abs(moved - true) < 2.5 * width).all()
    assert free[0]["dx_mm"] is None
    by_library = desk.calibration.predict(q, wrench)
    np.testing.assert_allclose(moved, by_library.deflection.reshape(-1, 3), atol=1e-12)


def test_predict_writes_a_table_and_a_page_and_knows_stations(run: Any, desk: Desk, tmp_path: Path) -> None:
    words = ("predict", desk.path, "--at", "0,10,20,30,40,50", "--frame", "ball2")
    assert run(*words, "--csv", tmp_path / "p.csv", "--report", tmp_path / "p.html", "--station", "1").code == 0
    (row,) = csv.DictReader((tmp_path / "p.csv").read_text().splitlines())
    assert row["marker"] == "ball2"
    assert float(row["x_95_um"]) < float(row["reading_x_95_um"])
    assert "ball2" in (tmp_path / "p.html").read_text()
    assert run(*words, "--station", "9").code != 0
    assert run("predict", desk.path, "--at", "0,10,20,30,40,50", "--frame", "ball9").code != 0


def test_distances_are_predicted_and_positions_that_they_do_not_tell_are_not(
    run: Any, desk: Desk, tmp_path: Path
) -> None:
    rng = np.random.default_rng(4)
    q, new = rng.uniform(-1, 1, (40, 6)), rng.uniform(-1, 1, (4, 6))
    read, true = (np.linalg.norm(desk.points(p, np.zeros((len(p), 6))), axis=2) for p in (q, new))
    data = ec.Campaign(q=q, distance=read + 2e-5 * rng.normal(size=read.shape), length="m", angle="rad", markers=NAMES)
    path = ec.calibrate(desk.nominal, data, ["geometry", "weight"]).save(tmp_path / "distances.json")
    got = run("predict", path, *(w for row in new for w in ("--at", typed(row))), "--json")
    rows = got.data["predictions"]
    off = np.abs([r["distance_mm"] for r in rows] - 1e3 * true.ravel())
    assert np.mean(off < [1e-3 * r["distance_95_um"] for r in rows]) > 0.8
    assert all(r["distance_95_um"] < r["distance_reading_95_um"] < 1e3 and r["x_mm"] is None for r in rows)


def test_a_prediction_is_that_of_every_pose_alone_and_holds_some_poses_at_a_time(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    q, wrench = desk.q[:23], desk.wrench[:23].copy()
    wrench[7:14] = 0.0  # one chunk without a load
    monkeypatch.setattr(prediction, "CHUNK", 7)
    for loads in (wrench, None):
        whole = desk.calibration.predict(q, loads)
        for i in (0, 6, 7, 13, 14, 22):
            alone = desk.calibration.predict(q[i : i + 1], None if loads is None else loads[i : i + 1])
            for key in ("position", "half_width_reading", "orientation", "deflection", "deflection_half_width"):
                np.testing.assert_allclose(getattr(whole, key)[i], getattr(alone, key)[0], 1e-12, 1e-15, err_msg=key)
    off = np.linalg.norm(desk.calibration.predict(q, wrench).position - desk.points(q, wrench), axis=2)
    assert off.max() < 1.5e-4

    def beyond_the_answer(count: int) -> float:
        many = np.tile(q, (count, 1))
        tracemalloc.start()
        found = desk.calibration.predict(many)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak - sum(v.nbytes for v in vars(found).values() if isinstance(v, np.ndarray))

    monkeypatch.setattr(prediction, "CHUNK", 50)
    beyond_the_answer(80)  # code is generated on the way
    assert beyond_the_answer(80) < 1.5 * beyond_the_answer(10)


def test_rows_of_a_long_table_are_those_of_their_pose_and_marker(desk: Desk, tmp_path: Path) -> None:
    path = desk.table(tmp_path / "poses.csv", desk.check)
    table = readings_table(predict(desk.path, path))
    assert len(table.rows) == 60
    made = desk.calibration.predict(np.radians(np.loadtxt(path, delimiter=",", skiprows=1)[:, :6]))
    at = [c.key for c in table.columns].index("x_mm")
    for part in (slice(0, 60), slice(4, 11), slice(59, 60), slice(3, 6)):
        rows = table.rows[part]
        assert [row[at - 1] for row in rows] == [NAMES[i % 3] for i in range(60)[part]]
        np.testing.assert_allclose([row[at : at + 3] for row in rows], 1e3 * made.position.reshape(-1, 3)[part])
        np.testing.assert_allclose([row[0] for row in rows], np.repeat(np.degrees(desk.check_q[:, 0]), 3)[part])


def test_validation_tells_before_and_after(run: Any, desk: Desk, tmp_path: Path) -> None:
    table = desk.table(tmp_path / "check.csv", desk.check)
    got = run("validate", desk.path, table, "--json", "--csv", tmp_path / "errors.csv", "--report", tmp_path / "v.html")
    assert got.code == 0
    before, after = got.data["errors"]
    v = desk.calibration.validate(
        ec.Campaign(q=desk.check_q, position=desk.check, length="m", angle="rad", markers=NAMES)
    )
    assert (before["points"], after["points"]) == (60, 60)
    assert after["mean_mm"] == pytest.approx(1e3 * v.after.mean, rel=1e-6)
    assert before["mean_mm"] > 5 * after["mean_mm"]
    assert after["max_mm"] < 0.2
    assert [f["code"] for f in got.data["findings"]] == ["validated"]
    assert got.data["verdict"][0] == v.verdict.text.replace("  ", " ")
    assert 0.88 < got.data["inputs"]["coverage"] <= 1
    assert got.data["inputs"]["gain_m"] > got.data["inputs"]["gain_half_width_m"] > 0
    rows = list(csv.DictReader((tmp_path / "errors.csv").read_text().splitlines()))
    assert len(rows) == 60
    np.testing.assert_allclose([float(r["nominal_mm"]) for r in rows], 1e3 * v.nominal_errors.ravel(), rtol=1e-9)
    assert [r["marker"] for r in rows[:4]] == ["ball1", "ball2", "ball3", "ball1"]
    assert rows[0]["place"].startswith("check.csv line ")
    assert np.mean([float(r["calibrated_mm"]) for r in rows]) == pytest.approx(after["mean_mm"])


def test_an_instrument_that_was_moved_is_fitted_again(run: Any, desk: Desk, tmp_path: Path) -> None:
    moved = desk.check @ Rotation.from_euler("z", 0.4).as_matrix().T + [0.5, 0, 0]
    table = desk.table(tmp_path / "moved.csv", moved)
    bad = run("validate", desk.path, table, "--json")
    assert bad.data["errors"][1]["mean_mm"] > 100
    good = run("validate", desk.path, table, "--refit", "--json")
    assert good.data["errors"][1]["mean_mm"] < 0.1
    assert good.data["inputs"]["stations_fitted"] is True


def test_a_certificate_rests_on_the_validation_that_calibrate_made(run: Any, desk: Desk, tmp_path: Path) -> None:
    desk.read(tmp_path / "read.csv")
    checked = desk.table(tmp_path / "check.csv", desk.check)
    words = (
        "calibrate", desk.folder / "arm.urdf", tmp_path / "read.csv", "--tool", "flange", "--model", "geometry",
        "--out", tmp_path / "c.json",
    )  # fmt: skip
    limit = ("--tolerance", "5", "--out", tmp_path / "sheet.json")
    assert run(*words).code == 0
    run("certificate", tmp_path / "c.json", *limit)
    assert json.loads((tmp_path / "sheet.json").read_text())["certificate"]["basis"].startswith("leave-one-out")
    assert run(*words, "--validate", checked).code == 0
    assert run("certificate", tmp_path / "c.json", *limit).code == 0
    kept = json.loads((tmp_path / "sheet.json").read_text())["certificate"]
    refused = run("certificate", tmp_path / "c.json", *limit, "--refit")
    assert refused.code == 2
    assert "--refit is of readings, and none are given; add --validate" in refused.err
    assert run("certificate", tmp_path / "c.json", *limit, "--validate", checked).code == 0
    again = json.loads((tmp_path / "sheet.json").read_text())["certificate"]
    assert kept["basis"] == "validation poses"
    for one, two in zip(kept["errors_m"], again["errors_m"], strict=True):
        assert one == {k: v if isinstance(v, str) else pytest.approx(v, rel=1e-6) for k, v in two.items()}
    assert kept["outcome"] == again["outcome"] == "PASS"
    assert run(*words, "--check", "kfold=2").code == 0
    assert json.loads((tmp_path / "c.json").read_text())["validation"] is None


def test_folds_check_the_model_that_is_kept(run: Any, desk: Desk, tmp_path: Path) -> None:
    """The arm sags, so that a choice of its own would take weight in."""
    q, x = desk.read(tmp_path / "read.csv")
    words = ("calibrate", desk.folder / "arm.urdf", tmp_path / "read.csv", "--tool", "flange")
    start = tmp_path / "start.json"
    assert run(*words, "--model", "geometry", "--out", start).code == 0
    got = run(*words, "--start", start, "--check", "kfold=2", "--json")
    assert got.code == 0, got.err
    robot, data = ec.read_calibration(start).nominal, ec.Campaign(q=q, position=x, length="m", angle="deg")
    seen = ec.cross_validate(robot, data, 2, model=["geometry"])
    assert got.data["errors"][-1]["what"] == "calibrated robot, validation"
    assert got.data["errors"][-1]["mean_mm"] == pytest.approx(1e3 * seen.after.mean, rel=0.02)


def test_a_campaign_file_of_the_same_robot_validates(run: Any, desk: Desk, tmp_path: Path) -> None:
    frames = [f"  - {{name: {n}, parent: flange, type: fixed}}" for n in NAMES]
    text = robot_text(desk.file).replace("\ntool:", "\n" + "\n".join(frames) + "\ntool:")
    robot_from_text(text, "arm.yaml")
    (tmp_path / "arm.yaml").write_text(text)
    desk.table(tmp_path / "check.csv", desk.check)
    (tmp_path / "campaign.yaml").write_text(
        "format: elastocal-campaign/1\nname: check\nrobot: arm.yaml\ntable: check.csv\nmeasurement: position\n"
    )
    got = run("validate", desk.path, tmp_path / "campaign.yaml", "--json")
    assert got.code == 0, got.err
    assert got.data["errors"][1]["mean_mm"] < 0.1


def test_a_program_is_corrected_for_everything_that_was_calibrated(run: Any, desk: Desk, tmp_path: Path) -> None:
    program = tmp_path / "p.src"
    program.write_text(
        "DEF p( )\n$BASE={X 0,Y 0,Z 0,A 0,B 0,C 0}\n$TOOL={X 0,Y 0,Z 0,A 0,B 0,C 0}\n"
        "PTP {A1 10,A2 20,A3 30,A4 10,A5 40,A6 0}\nEND\n"
    )
    table = tmp_path / "p.csv"
    words = ("compensate", program, "--calibration", desk.path, "--out", tmp_path / "new", "--json")
    got = run(*words, "--force", "0,0,-200", "--air-moves", "--csv", table)
    assert got.code == 0, got.err
    said = " ".join(got.data["verdict"])
    assert "geometry" in said
    parts = {row["by"]: row["rms_um"] for row in got.data["contributions"]}
    assert all(parts[k] > 20 for k in parts if not k.startswith("harmonics")), parts
    assert got.data["inputs"]["calibration"] == desk.path.as_posix()
    assert run(*words, "--robot", "kuka-kr270").code != 0


def test_a_calibration_of_deflections_predicts_deflections_and_takes_geometry_as_exact(
    run: Any, tmp_path: Path
) -> None:
    robot = ec.read_robot("kuka-kr270")
    rng = np.random.default_rng(1)
    q = rng.uniform(-0.6, 0.6, (30, 6)) + np.array([0, -1.2, 1.4, 0, 0.6, 0])
    wrench = rng.uniform(-1, 1, (30, 6)) * [800, 800, 800, 50, 50, 50]
    k = float(robot.parameters.values[robot.parameters.index("A2.k")])
    truth = robot.with_parameters({"A2.k": 1.3 * k})
    data = ec.simulate(truth, q, noise=2e-5, read="deflection", wrench=wrench, markers=("marker1", "marker2"))
    cal = ec.calibrate(robot, data, "compliance", outliers=False)
    path = cal.save(tmp_path / "c.json")
    where = ("predict", path, "--at", "0,-90,90,0,30,0")
    assert run(*where).code == 2
    (row, _) = run(*where, "--force", "0,0,-500", "--json").data["predictions"]
    joints = np.radians([[0, -90, 90, 0, 30, 0]])
    true = truth.deflection(robot.controller.to_joints(joints), [0, 0, -500, 0, 0, 0], "marker1").translation[0]
    said = 1e-3 * np.array([row[f"d{c}_mm"] for c in "xyz"])
    width = 1e-6 * np.array([row[f"d{c}_95_um"] for c in "xyz"])
    assert (np.abs(said - true) < 2 * width).all()
    assert row["x_mm"] is None
    again = run(*where, "--force", "0,0,-500", "--frame", "marker1", "--json").data["predictions"]
    assert [r["marker"] for r in again] == ["marker1"]
    found = ec.compensate(cal, ec.read_program(KRL, "krl"), wrench=[0, 0, -400, 0, 0, 0])
    assert found.known is not None
    assert not found.known.registered
    (exact,) = [f for f in found.verdict if f.code == "taken-as-exact"]
    assert "lengths and joint zeros" in exact.text


KRL = """DEF p( )
$BASE={X 1750,Y -80,Z 800,A 0,B 0,C 0}
$TOOL={X 0,Y 100,Z 200,A 0,B 0,C 0}
PTP {A1 0,A2 -90,A3 90,A4 0,A5 90,A6 0}
LIN {X 0,Y 0,Z 0,A 0,B 0,C 180}
END
"""


def unlike(c: ec.Calibration, robot: Robot) -> float:
    """Mean distance in m from markers of the calibrated robot to those of another one, base and markers fitted."""
    low, high = c.residuals.q.min(axis=0), c.residuals.q.max(axis=0)
    q = np.random.default_rng(8).uniform(low, high, (150, 6))
    want = c.predict_joints(q).position
    at, turn = frame_pose(robot, q, equilibrium(robot, q), "flange")
    at, turn = at.T, np.moveaxis(turn, -1, 0)

    def off(x: np.ndarray) -> np.ndarray:
        points = at[:, None] + np.einsum("nij,mj->nmi", turn, x[6:].reshape(-1, 3))
        return Rotation.from_rotvec(x[:3]).apply(points.reshape(-1, 3)).reshape(want.shape) + x[3:6] - want

    start = np.concatenate(
        [Rotation.from_matrix(c.placing.turn[0]).as_rotvec(), c.placing.shift[0], c.placing.markers.ravel()]
    )
    best = least_squares(lambda x: off(x).ravel(), start, x_scale="jac")
    return float(np.linalg.norm(off(best.x), axis=2).mean())


def test_exports_hold_all_elements_and_say_what_a_urdf_cannot(run: Any, desk: Desk, tmp_path: Path) -> None:
    new, urdf, kin = tmp_path / "new.yaml", tmp_path / "new.urdf", tmp_path / "k.yaml"
    words = ("--yaml", new, "--urdf", urdf, "--from", desk.folder / "arm.urdf", "--kinematics", kin)
    got = run("export", desk.path, *words, "--json")
    assert got.code == 0, got.err
    robot = ec.read_robot(new)
    q = np.random.default_rng(2).uniform(-1, 1, (4, 6))
    load = [AppliedWrenches("flange", np.array([[50.0, -60, 70, 1, 2, 3]]))]
    want, have = (frame_pose(m, q, equilibrium(m, q, load), "flange")[0] for m in (desk.calibration.robot, robot))
    np.testing.assert_allclose(have, want, atol=1e-12)
    spots = robot.nominal.kinematics(q[:1], "ball2")
    tool = robot.nominal.kinematics(q[:1])
    local = tool.rotation[0].T @ (spots.position - tool.position)[0]
    np.testing.assert_allclose(local, desk.calibration.placing.markers[1], atol=1e-9)
    assert "# Base in the axes of station 1: xyz_mm [" in new.read_text()
    corrected = read_urdf(urdf, "flange").model
    rigid = desk.calibration.robot.without("joint_compliance", "own_weight")
    left = {m: unlike(desk.calibration, robot) for m, robot in (("alone", corrected), ("part", rigid))}
    assert left["alone"] < 0.8 * left["part"]  # the part of the calibrated robot is not what predicts best alone
    said = re.search(r"([\d.]+) mm are left", got.data["notes"][0])
    assert said is not None
    assert float(said[1]) == pytest.approx(1e3 * left["alone"], rel=0.2)  # other poses of the same range
    assert any("own_weight of J2" in note for note in got.data["notes"])
    beside = json.loads((tmp_path / "new.compliance.json").read_text())
    kinds = {p["name"].split(".")[1] for p in beside["parameters"]}
    assert {"k", "sag"} <= kinds
    assert [m["name"] for m in beside["markers"]] == list(NAMES)
    np.testing.assert_allclose(beside["stations"][0]["translation_m"], desk.calibration.placing.shift[0])
    assert len(yaml.safe_load(kin.read_text())["kinematics"]) == 7


def test_the_schema_knows_every_key(run: Any, desk: Desk, tmp_path: Path) -> None:
    assert run("export", desk.path, "--schema", tmp_path / "s.json").code == 0
    schema, record = (json.loads(p.read_text()) for p in (tmp_path / "s.json", desk.path))
    assert set(record) == set(schema["properties"]) == set(schema["required"])
    assert schema["properties"]["format"]["const"] == record["format"]
    row = schema["properties"]["parameters"]["items"]["properties"]
    assert all(set(p) == set(row) for p in record["parameters"])
    assert set(record["placing"]) == set(schema["properties"]["placing"]["properties"])
