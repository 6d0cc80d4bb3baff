"""Plans of contacts, sweeps, arcs and positions from the command line, each carried on to what it is made for."""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from oracle.logs import LENGTH, MASSES, MOMENTS, STEP, planar_torques

CONTACT = """\
format: elastocal-plan/1
name: touches
robot: scara-ruggeri
measurement: contact
objects:
  - {kind: disc, name: left, centre_mm: [-250, 300], radius_mm: 150}
  - {kind: disc, name: right, centre_mm: [200, 400], radius_mm: 50}
forces_N: [20, 40]
errors:
  - {kind: force_sensor, sd_N: 0.1}
candidates: 40
poses: 20
"""
PLANAR = f"""\
format: elastocal-robot/1
name: planar
source: written for a test
gravity_m_s2: [0, 0, -9.81]
joints:
  - {{name: J1, type: revolute, axis: [0, -1, 0], limits_deg: [-150, 150]}}
  - {{name: J2, type: revolute, axis: [0, -1, 0], xyz_mm: [500, 0, 0], limits_deg: [-150, 150]}}
  - {{name: tip, xyz_mm: [500, 0, 0]}}
elements:
  - {{kind: link_mass, frame: J1, mass_kg: {MASSES["J1"]}, com_mm: [250, 0, {1e3 * 0.25 / 6}]}}
  - {{kind: link_mass, frame: J2, mass_kg: {MASSES["J2"]}, com_mm: [300, 0, -100]}}
"""
SWEEP = """\
format: elastocal-plan/1
name: weigh
robot: planar.yaml
measurement: joint_torque
sweep: {spans_deg: [60, 100], speeds_deg_s: [4, 12], samples: 20}
errors:
  - {kind: reading, torque_sd_Nm: 0.2}
  - {kind: friction}
candidates: 20
poses: 6
"""
ARCS = """\
format: elastocal-plan/1
name: spring
robot: kuka-kr270
measurement: arcs
radii_mm: [180, 200]
poses: 9
noise_um: 20
"""


@pytest.fixture
def plan(run, tmp_path):
    def call(text: str, *words: object):
        (tmp_path / "planar.yaml").write_text(PLANAR)
        (tmp_path / "plan.yaml").write_text(text)
        return run("plan", tmp_path / "plan.yaml", "--out", tmp_path / "out", *words)

    return call


def rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_contacts_are_assessed_simulated_and_identified(plan, run, tmp_path) -> None:
    done = plan(CONTACT, "--restarts", 2, "--json")
    assert done.code == 0, done.err
    planned = {p["parameter"]: p["sd"] for p in done.data["parameters"]}
    assessed = run("assess", tmp_path / "out" / "campaign.yaml", "--json").data["parameters"]
    assert len(planned) == 12
    for row in assessed:
        assert row["sd_0"] == pytest.approx(planned[row["parameter"]], rel=1e-4)
    table = rows(tmp_path / "out" / "plan.csv")
    for row, said in zip(table, done.data["plan"], strict=True):
        assert row["name"] == f"{said['pose']}: {round(said['force_N'])} N on {row['object']}"
        assert row["object"] == said["object"]
        centre, radius = ((-250, 300), 150) if row["object"] == "left" else ((200, 400), 50)
        assert np.hypot(said["x_mm"] - centre[0], said["y_mm"] - centre[1]) == pytest.approx(radius, abs=1e-5)
    assert {round(p["force_N"]) for p in done.data["plan"]} == {20, 40}
    assert run("simulate", tmp_path / "out" / "campaign.yaml", "--out", tmp_path / "virtual").code == 0
    words = ("--out", tmp_path / "found.json", "--json")
    found = run("calibrate", tmp_path / "virtual" / "campaign.yaml", *words)
    assert found.code == 0, found.err
    values = {p["parameter"]: (p["value"], p["sd"]) for p in found.data["parameters"]}
    for name in ("gripper.p", "J1.k", "J2.k"):
        assert abs(values[name][0] - 1e-5) < 4 * values[name][1]
        assert values[name][1] <= planned[name]
    more = plan(CONTACT + "earlier: virtual/campaign.yaml\n", "--restarts", 2, "--json")
    assert more.code == 0, more.err
    for row in more.data["parameters"]:
        assert 0.5 < row["sd"] / planned[row["parameter"]] < 0.85  # about twice as many readings


def test_a_kuka_program_goes_in_front_of_the_object(plan, tmp_path) -> None:
    text = """\
format: elastocal-plan/1
name: ball
robot: kuka-kr270
without: [link_compliance, foundation_compliance]
measurement: contact
seek: ["A[2-3].k"]
objects: [{kind: sphere, name: ball, centre_mm: [2000, 0, 1000], radius_mm: 100}]
forces_N: [200, 500]
standoff_mm: 40
errors: [{kind: force_sensor, sd_N: 1}]
around: {low_mm: [1800, -200, 900], high_mm: [2200, 200, 1400]}
candidates: 12
poses: 3
"""
    done = plan(text, "--restarts", 1, "--json")
    assert done.code == 0, done.err
    program = (tmp_path / "out" / "ball.src").read_text()
    first = done.data["plan"][0]
    assert program.count("PTP XM") == 7  # home, then there and back off
    assert f"press {first['force_N']:.0f} N on ball along ({first['press_x']:.2f}," in program
    assert f"in front of ({first['x_mm']:.2f}, {first['y_mm']:.2f}, {first['z_mm']:.2f}) mm" in program
    from elastocal.files.robot.read import read_robot
    from elastocal.model.kinematics import kinematics

    model = read_robot("kuka-kr270")
    line = (tmp_path / "out" / "ball.dat").read_text().splitlines()[3]
    shown = [float(part.split()[1].rstrip("}")) for part in line.split("{")[1].split(",")[:6]]
    q = model.controller.to_joints(np.radians([shown]))
    away = kinematics(model, q).position[0] - np.array([2.0, 0, 1.0])
    assert np.linalg.norm(away) == pytest.approx(0.140, abs=1e-3)


def test_sweeps_weigh_the_arm_by_the_command_that_the_plan_names(plan, run, tmp_path) -> None:
    """Torques in closed form, friction and noise along the way points of the plan."""
    done = plan(SWEEP, "--json")
    assert done.code == 0, done.err
    planned = {p["parameter"]: p["sd"] for p in done.data["parameters"]}
    assert set(planned) == {"J1.mx", "J1.mz", "J2.mx", "J2.mz", "J1 coulomb", "J1 viscous", "J2 coulomb", "J2 viscous"}
    assert done.data["parameters"][-1]["unit"] == "N m s/rad"
    assert any("elastocal gravity LOG planar.yaml --friction coulomb,viscous" in n for n in done.data["notes"])
    points = rows(tmp_path / "out" / "plan.csv")
    assert [p["stop"] for p in points] == ["start", "turn", "end"] * 6
    assert {p["speed_deg_s"] for p in points} == {"4", "12"}
    rng, lines, time = np.random.default_rng(2), ["time_s,J1_deg,J2_deg,J1_torque_Nm,J2_torque_Nm"], 0.0
    for a, b in pairwise(points):
        if a["sweep"] != b["sweep"]:
            time += 10.0
            continue
        ends = np.radians([[float(p[f"J{j}_deg"]) for j in (1, 2)] for p in (a, b)])
        speed = np.radians(float(a["speed_deg_s"]))
        count = int(np.max(np.abs(ends[1] - ends[0])) / speed / STEP)
        q = ends[0] + np.linspace(0, 1, count)[:, None] * (ends[1] - ends[0])
        v = np.sign(np.round(ends[1] - ends[0], 6)) * speed
        torque = planar_torques(q) + [2.0, 1.0] * np.sign(v) + [5.0, 3.0] * v + 0.2 * rng.normal(size=q.shape)
        for angles, read in zip(np.degrees(q), torque, strict=True):
            time += STEP
            lines.append(",".join(f"{x:.6f}" for x in (time, *angles, *read)))
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    words = ("--friction", "coulomb,viscous", "--no-prior", "--hold-out", 0, "--json")
    weighed = run("gravity", tmp_path / "log.csv", tmp_path / "planar.yaml", *words)
    assert weighed.code == 0, weighed.err
    masses = {m["parameter"]: m for m in weighed.data["masses"]}
    truth = {"J1.mx": MOMENTS["J1.mx"] + LENGTH * MASSES["J2"], **{n: MOMENTS[n] for n in ("J1.mz", "J2.mx", "J2.mz")}}
    for name in ("J1.mz", "J2.mx", "J2.mz"):
        assert abs(masses[name]["value"] - truth[name]) < max(5 * masses[name]["sd"], 0.01)
        assert masses[name]["sd"] < planned[name]  # a log has far more readings than the plan counts
    friction = {(f["joint"], f["term"]): f["value"] for f in weighed.data["friction"]}
    assert friction["J1", "viscous"] == pytest.approx(5, abs=1)
    assert friction["J2", "coulomb"] == pytest.approx(1, abs=0.1)


def test_require_counts_torques_and_the_kuka_program_sweeps_slowly(plan, tmp_path) -> None:
    text = (
        SWEEP.replace("planar.yaml", "kuka-kr5").replace("{spans", "{joints: [A2, A3], spans").replace(": 20}", ": 8}")
    )
    text += "speeds_deg_s: {A2: 160}\n"
    done = plan(text, "--require", "error=5Nm", "--restarts", 2, "--json")
    assert done.code == 0, done.err
    assert done.data["task"][2]["error_Nm"] <= 5
    program = (tmp_path / "out" / "weigh.src").read_text()
    sweeps = done.data["plan"]
    assert program.count("PTP XM") == 1 + 3 * len(sweeps)
    slow = {4: "BAS(#VEL_PTP, 2.5)", 12: "BAS(#VEL_PTP, 7.5)"}
    for speed, words in slow.items():
        mine = sum(s["joint"] == "A2" and round(s["speed_deg_s"]) == speed for s in sweeps)
        assert program.count(words) == 2 * mine
    assert program.count("BAS(#VEL_PTP, 5)") == 2 + 2 * sum(s["joint"] == "A3" for s in sweeps)
    assert any("not stated (speeds_deg_s)" in n for n in done.data["notes"])
    assert "error=2Nm" in plan(text, "--require", "error=1mm").err


@pytest.mark.parametrize("turning", ["concentric", "common rotation"])
def test_arcs_give_what_the_compensator_command_then_finds(plan, run, tmp_path, turning) -> None:
    """Points on circles at the planned angles: a fit to them is as accurate as planned."""
    from elastocal.files.robot.read import read_robot

    done = plan(f"{ARCS}model: {turning}\n", "--json")
    assert done.code == 0, done.err
    table = rows(tmp_path / "out" / "plan.csv")
    assert [r["marker"] for r in table[:3]] == ["P1", "P01", "P02"]
    assert {len(table), len(done.data["poses"]) * 3} == {27}
    model = read_robot("kuka-kr270")
    spring = next(e for e in model.elements if e.kind == "gravity_compensator")
    places = {p["marker"]: (p["radius_mm"], np.radians(p["place_deg"])) for p in done.data["places"]}
    shown = np.radians([float(r["A2_deg"]) for r in table])
    full = np.zeros((len(shown), 6))
    full[:, 1] = shown
    q = model.controller.to_joints(full)[:, 1]
    turn = np.arctan2(spring.a_y, spring.a_x) - spring.phi0 + q
    p0 = -1e3 * np.array([spring.a_x, spring.a_y])
    rng, lines = np.random.default_rng(5), ["marker,pose,A2_deg,x_mm,y_mm"]
    for row, angle in zip(table, turn, strict=True):
        tip = 1e3 * spring.L * np.array([np.cos(angle), np.sin(angle)])
        if row["marker"] == "P1":
            point = tip
        else:
            radius, place = places[row["marker"]]
            swing = np.arctan2(*(tip - p0)[::-1]) + place
            point = p0 + radius * np.array([np.cos(swing), np.sin(swing)])
        x, y = point + 0.02 * rng.normal(size=2)
        lines.append(f"{row['marker']},{row['pose']},{row['A2_deg']},{x:.5f},{y:.5f}")
    (tmp_path / "points.csv").write_text("\n".join(lines) + "\n")
    words = ("--moving", "P1", "--pivot", "P01", "--pivot", "P02", "--joint", "A2", "--robot", "kuka-kr270")
    ran = run("compensator", tmp_path / "points.csv", *words, "--noise-um", 20, "--json")
    assert ran.code == 0, ran.err
    found = ran.data["geometry"][2 if turning == "common rotation" else 0]
    plans = {(r["plan"], r["model"]): r for r in done.data["plan"]}
    best = plans["exact covariance", turning]
    for name, value in (("L", spring.L), ("a_x", spring.a_x), ("a_y", spring.a_y)):
        assert found[f"{name}_sd_mm"] == pytest.approx(best[f"{name}_sd_mm"], rel=0.02)
        assert abs(found[f"{name}_mm"] - 1e3 * value) < 4 * best[f"{name}_sd_mm"]
    assert (tmp_path / "out" / "spring.src").read_text().count("read P1, P01, P02") == 9


def test_positions_are_planned_simulated_and_identified(plan, run, tmp_path) -> None:
    text = """\
format: elastocal-plan/1
name: places
robot: cylindrical
measurement: position
seek: ["*.k"]
errors:
  - {kind: reading, sd_um: 10}
loads:
  - {kind: actuator, sizes_N: [200, 900], directions: [[1, 0, 0], [0, 1, 0], [0, 0, -1]]}
candidates: 100
poses: 8
"""
    done = plan(text, "--json")
    assert done.code == 0, done.err
    planned = {p["parameter"]: p["sd"] for p in done.data["parameters"]}
    assert all(p["load"].startswith("900 N") for p in done.data["plan"])  # the larger force tells more
    campaign = tmp_path / "out" / "campaign.yaml"
    for row in run("assess", campaign, "--json").data["parameters"]:
        assert row["sd"] == pytest.approx(planned[row["parameter"]], rel=1e-3)
    assert run("simulate", campaign, "--out", tmp_path / "virtual").code == 0
    found = run("calibrate", tmp_path / "virtual" / "campaign.yaml", "--out", tmp_path / "found.json", "--json")
    assert found.code == 0, found.err
    truth = {"q1.k": 1e-6, "q2.k": 0.5e-6, "q3.k": 2e-6}
    for row in found.data["parameters"]:
        assert abs(row["value"] - truth[row["parameter"]]) < 4 * row["sd"]
        assert row["sd"] == pytest.approx(planned[row["parameter"]], rel=0.5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CONTACT.replace("forces_N: [20, 40]\n", ""), "one or more positive forces"),
        (CONTACT.replace("[20, 40]", "[20, 20]"), "a force stands twice"),
        (CONTACT + "standoff_mm: 0\n", "in front of the object"),
        (CONTACT + "frame: elbow\n", "there is no frame 'elbow'"),
        (CONTACT + "loads: [{kind: hanging, masses_kg: [1]}]\n", "belongs to measurement: deflection or position"),
        (CONTACT.replace("errors:\n  - {kind: force_sensor, sd_N: 0.1}\n", ""), "contacts need errors"),
        (CONTACT.replace("poses: 20", "poses: 4"), "8 equations for 12 parameters"),
        (
            CONTACT.replace("forces_N: [20, 40]", "forces_N: [40]") + 'seek: ["*"]\n',
            "do not tell gripper.p, gripper.gap apart",
        ),
        (
            CONTACT.replace("[-250, 300]", "[-2500, 3000]").replace("[200, 400]", "[2000, 4000]"),
            "too far from an object",
        ),
        (SWEEP.replace("{spans", "{joints: [J7], spans"), "there is no joint 'J7'"),
        (SWEEP.replace("[60, 100]", "[0, 60]"), "spans: give one or more positive numbers"),
        (SWEEP.replace("samples: 20", "samples: 2"), "samples: three on each way"),
        (SWEEP.replace("[4, 12]", "[4]"), "J1 coulomb, J1 viscous, J2 coulomb, J2 viscous apart"),
        (SWEEP + "markers: [tip]\n", "belongs to measurement: deflection or position"),
        (SWEEP.replace("  - {kind: friction}\n", "  - {kind: load_size, sd_percent: 1}\n"), "errors[2]"),
        (ARCS.replace("kuka-kr270", "kuka-kr5"), "has no gravity_compensator"),
        (ARCS.replace("poses: 9", "poses: 2"), "plan at least 3"),
        (ARCS.replace("[180, 200]", "[180, 0]"), "the distance of every marker"),
        (ARCS.replace("[180, 200]", "[180]") + "model: common rotation\n", "needs two markers or more"),
        (ARCS + "joint: A3\n", "there is no joint with a compensator 'A3'"),
        (ARCS + "limits_deg: [-200, 0]\n", "must lie within those of A2"),
        (ARCS + "at_deg: {A3: 400}\n", "say with at_deg where the axes stand"),
        (ARCS + "criterion: d\n", "criterion"),
    ],
)
def test_mistakes_end_with_one_sentence_and_no_files(plan, tmp_path, text, said) -> None:
    ran = plan(text, "--restarts", 1) if "arcs" not in text else plan(text)
    assert ran.code == 2
    assert said in ran.err
    assert ran.err.count("\n") == 1 or "planning" in ran.err
    assert not (tmp_path / "out").exists()


def test_options_of_other_plans_do_not_go_with_arcs(plan) -> None:
    assert "--criterion does not go with measurement: arcs" in plan(ARCS, "--criterion", "d").err
    assert "give at least 3" in plan(ARCS, "--poses", 2).err
