"""The command that reads loops: numbers against known truth, elements that a robot takes, outputs, wrong requests."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest
import yaml
from oracle.dial_gauge import csv_text, readings

from elastocal.files.located import parse_yaml
from elastocal.files.robot.file import build_robot
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.deflection import frame_pose
from elastocal.model.statics.equilibrium import equilibrium

P, GAPS, TURN, H, NOISE = 3.76e-5, (1.0e-4, 3e-5), 20.0, 8e-6, 1e-6
JOINTS = {"J1": (3.23e-5, 1.32e-4, 0.66), "J2": (1.08e-4, 1.34e-4, 0.33)}
ROBOT = """\
format: elastocal-robot/1
name: pen
source: written for a test
gravity_m_s2: [0, 0, 0]
joints:
  - {name: gripper, type: fixed, xyz_mm: [300, 0, 0]}
"""


def half_gap(degrees):
    a = np.radians(degrees - TURN)
    return float(np.hypot(GAPS[0] * np.cos(a), GAPS[1] * np.sin(a)))


def everything(seed=1, noise=NOISE, joints=True, zeros=False):
    rng = np.random.default_rng(seed)
    loops = {d: readings(P, half_gap(d), H, noise=noise, rng=rng, zeros=zeros) for d in range(0, 360, 30)}
    for name, (k, gap, lever) in JOINTS.items() if joints else ():
        loops[name, 1e3 * lever] = readings(k * lever**2, gap * lever, H, noise=noise, rng=rng)
    return loops


@pytest.fixture
def written(tmp_path):
    def write(loops, **how):
        path = tmp_path / "loops.csv"
        path.write_text(loops if isinstance(loops, str) else csv_text(loops, **how), encoding="utf-8")
        return path

    return write


def test_everything_comes_back_within_its_accuracy(run, written):
    data = run("loops", written(everything()), "--json").data
    assert len(data["loops"]) == 14
    for row in data["loops"][:12]:
        assert row["compliance_um_per_N"] == pytest.approx(37.6, abs=5 * row["compliance_sd_um_per_N"])
        truth = 2e6 * half_gap(row["direction_deg"])
        assert row["backlash_um"] == pytest.approx(truth, abs=5 * row["backlash_sd_um"])
        assert row["hysteresis_um"] == pytest.approx(16.0, abs=5 * row["hysteresis_sd_um"])
        assert row["backlash_sd_um"] < 1.5
    compliance, backlash = data["directions"]
    assert (compliance["suffices"], backlash["suffices"]) == ("one number", "ellipse")
    large, small = data["principal"][2:]
    assert large["value"] == pytest.approx(200.0, abs=5 * large["sd"])
    assert small["value"] == pytest.approx(60.0, abs=5 * small["sd"])
    assert large["angle_deg"] == pytest.approx(20.0, abs=5 * large["angle_sd_deg"])
    for row in data["joints"]:
        k, gap, lever = JOINTS[row["joint"]]
        assert row["lever_mm"] == pytest.approx(1e3 * lever)
        assert row["compliance_urad_per_Nm"] == pytest.approx(1e6 * k, abs=5 * row["compliance_sd_urad_per_Nm"])
        assert row["backlash_urad"] == pytest.approx(2e6 * gap, abs=5 * row["backlash_sd_urad"])
    assert {"compliance_map", "backlash_map", "loop_1", "yaml"} <= set(data)
    spread = data["backlash_map"]["series"][0]["spread"]
    width = [r["backlash_sd_um"] for r in data["loops"][:12]]
    assert np.array(spread) / width == pytest.approx(np.full(12, 1.965), abs=0.01)


def test_the_elements_move_a_robot_as_the_loops_did(run, written, tmp_path):
    """The text for the robot file, read as a robot and pushed: its tool moves by p F + g(u), directions of the file."""
    out = tmp_path / "elements.yaml"
    done = run("loops", written(everything(noise=0.0, joints=False)), "--out", out)
    assert done.code == 0
    found = yaml.safe_load(out.read_text())
    frame = found["joints"][0]
    assert (frame["name"], frame["parent"]) == ("gripper_play", "gripper")
    lines = [f"  - {yaml.safe_dump(j, default_flow_style=True, width=999).strip()}" for j in found["joints"]]
    elements = [f"  - {yaml.safe_dump(e, default_flow_style=True, width=999).strip()}" for e in found["elements"]]
    text = ROBOT + "\n".join([*lines, "tool: gripper_play", "elements:", *elements]) + "\n"
    robot = build_robot(parse_yaml(text, "pen"))
    for degrees in (0.0, 45.0, 110.0, 215.0):
        unit = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees)), 0.0])
        push = AppliedWrenches("gripper_play", np.array([[*(25.0 * unit), 0, 0, 0]]))
        q = np.zeros((1, 0))
        moved = frame_pose(robot, q, equilibrium(robot, q, [push]), "gripper_play")[0][:, 0] - [0.3, 0, 0]
        assert moved @ unit == pytest.approx(25 * P + half_gap(degrees), rel=1e-5)


def test_axes_along_the_frame_need_no_frame_of_their_own(run, written):
    rng = np.random.default_rng(2)
    gaps = {d: float(np.hypot(3e-5 * np.cos(np.radians(d)), 1e-4 * np.sin(np.radians(d)))) for d in range(0, 180, 30)}
    loops = {d: readings(P, gap, H, noise=NOISE, rng=rng) for d, gap in gaps.items()}
    text = run("loops", written(loops), "--frame", "flange", "--json").data["yaml"]
    found = yaml.safe_load(text)
    assert "joints" not in found
    play = found["elements"][1]
    assert (play["kind"], play["frame"]) == ("gripper_backlash", "flange")
    assert play["gap_m"] == pytest.approx([3e-5, 1e-4, 0], abs=2e-6)


def test_a_joint_read_at_the_gripper(run, written):
    """The gripper's compliance and gap along the direction of the joint's loop are taken off."""
    rng = np.random.default_rng(5)
    k, gap, lever = JOINTS["J2"]
    text = csv_text(everything(joints=False))
    force, way, cycle = readings(k * lever**2 + P, gap * lever + half_gap(50.0), H, noise=NOISE, rng=rng)
    text += "".join(f"J2,330,50,{c},{f:g},{1e6 * s:.6f}\n" for f, s, c in zip(force, way, cycle, strict=True))
    path = written(text)
    (row,) = run("loops", path, "--at-gripper", "--json").data["joints"]
    assert row["compliance_urad_per_Nm"] == pytest.approx(108.0, abs=5 * row["compliance_sd_urad_per_Nm"])
    assert row["backlash_urad"] == pytest.approx(268.0, abs=5 * row["backlash_sd_urad"])
    (plain,) = run("loops", path, "--json").data["joints"]
    assert plain["compliance_urad_per_Nm"] == pytest.approx(108.0 + 37.6 / 0.33**2, rel=0.01)


def test_levers_by_option_and_several_loops_of_one_joint(run, written):
    rng = np.random.default_rng(6)
    k, gap, lever = JOINTS["J1"]
    loops = {d: readings(k * lever**2, gap * lever, H, noise=NOISE, rng=rng) for d in (0, 90)}
    text = "\n".join(line.partition(",")[2].partition(",")[2] for line in csv_text(loops).splitlines()) + "\n"
    data = run("loops", written(text), "--lever", "J1=660", "--json").data
    (row,) = data["joints"]
    assert row["loops"] == 2
    assert row["compliance_urad_per_Nm"] == pytest.approx(32.3, abs=5 * row["compliance_sd_urad_per_Nm"])
    single = [r["compliance_sd_um_per_N"] for r in data["loops"]]
    assert row["compliance_sd_urad_per_Nm"] == pytest.approx(single[0] / np.sqrt(2) / lever**2, rel=1e-6)
    assert "directions" not in data


def test_outputs(run, written, tmp_path):
    table, page = tmp_path / "t.csv", tmp_path / "t.html"
    path = written(everything(zeros=True), unit="mm", separator=";")
    done = run("loops", path, "--csv", table, "--report", page, "--full")
    assert done.code == 0
    rows = list(csv.DictReader(io.StringIO(table.read_text())))
    assert len(rows) == 14
    assert float(rows[0]["compliance_um_per_N"]) == pytest.approx(37.6, abs=0.2)
    html = page.read_text()
    for title, spoken in (("Backlash", "backlash [\N{MICRO SIGN}m]"), ("Compliance", "compliance [\N{MICRO SIGN}m/N]")):
        drawn = re.findall(rf"<title>{title} by direction: (.*?)</svg>", html, re.DOTALL)
        assert len(drawn) == 2  # for wide and for narrow screens
        for svg in drawn:
            assert svg.startswith(f"{spoken} over direction [deg]; measured, 95 %")
            assert all(f">{angle}\N{DEGREE SIGN}<" in svg for angle in range(0, 360, 30))  # all around a centre
    assert "72 readings at zero force are left out" in done.out
    assert "kind: gripper_backlash" in done.out
    assert run("loops", path, "--json").out == run("loops", path, "--json").out


def test_bad_readings_and_curved_loops_are_named(run, written):
    loops = everything(joints=False)
    force, way, cycle = loops[60]
    loops[60] = force, way - 1e-7 * force * np.abs(force), cycle
    loops[90][1][5] += 1e-4
    done = run("loops", written(loops), "--json")
    (bad,) = done.data["outliers"]
    assert bad["place"].endswith(f"line {2 + 3 * 42 + 5}")
    assert bad["read_um"] - bad["predicted_um"] == pytest.approx(100.0, abs=8)
    assert "Loop 60 deg: curved, stiffening" in done.err
    assert "left out of what describes all directions: 60 deg" in done.err
    assert done.data["tests"][2]["verdict"] == "curved"
    assert done.data["directions"][0]["suffices"] == "one number"


@pytest.mark.parametrize(
    ("keep", "key", "reason"),
    [
        (lambda f: f > 0, "backlash_um", "push in both senses"),
        (lambda f: np.abs(f) == 40, "compliance_um_per_N", "several sizes of force"),
    ],
)
def test_what_is_not_known_is_null_with_its_reason(run, written, keep, key, reason):
    loops = {d: tuple(v[keep(f)] for v in (f, s, c)) for d, (f, s, c) in everything(joints=False).items()}
    done = run("loops", written(loops), "--json")
    assert done.code == 0
    assert done.data["loops"][0][key] is None
    assert reason in done.data["loops"][0]["unknown"][key]
    assert any("not known" in s for s in done.data["verdict"])
    assert "not known" in done.data["yaml"]


def test_one_direction_is_an_assumption(run, written):
    done = run("loops", written({0: everything()[0]}), "--json")
    assert "the same in all directions is an assumption" in done.err
    assert "these give 1" in done.data["principal"][0]["unknown"]["value"]


def test_hysteresis_larger_than_the_gap_and_negative_gaps_are_told(run, written):
    done = run("loops", written({0: readings(P, 5e-6, 2e-5), 90: readings(P, -5e-5, 8e-6)}), "--json")
    assert "Loop 0 deg: the hysteresis (40 um) is larger than the gap (10 um)" in done.err
    assert "Loop 90 deg: the gap is negative (-100 um)" in done.err
    assert "check the sense of the gauge" in done.err
    backwards = run("loops", written({0: readings(P, 5e-5, -8e-6)}), "--json")
    assert "loading leads unloading" in backwards.err


def test_a_reversed_gauge_is_refused_and_nothing_written(run, written, tmp_path):
    loops, out = everything(), tmp_path / "elements.yaml"
    force, way, cycle = loops[60]
    loops[60] = force, -way, cycle
    done = run("loops", written(loops), "--out", out)
    assert done.code == 2
    assert re.search(r"loops.csv: in loop 60 deg the displacement runs against the force \(-37\.\d+ \+- ", done.err)
    assert done.err.count("\n") == 1
    assert not out.exists()


def test_too_much_taken_off_a_joint_is_refused(run, written):
    """Read at the link, 5 um/N, and 37.6 um/N of the gripper taken off."""
    text = csv_text(everything(joints=False))
    force, way, cycle = readings(5e-6, 1e-4, H)
    text += "".join(f"J2,330,50,{c},{f:g},{1e6 * s:.6f}\n" for f, s, c in zip(force, way, cycle, strict=True))
    done = run("loops", written(text), "--at-gripper")
    assert done.code == 2
    assert "joint J2 would have a negative compliance (-299" in done.err


def test_what_is_negative_within_its_noise_is_no_element(run, written):
    rng = np.random.default_rng(3)
    loops = {
        (name, 330): readings(p, g, H, noise=NOISE, rng=rng) for name, p, g in (("J1", -1e-8, 5e-5), ("J2", P, -2e-5))
    }
    text = run("loops", written(loops), "--json").data["yaml"]
    assert "# joint_compliance of J1: not known, negative in these loops (-" in text
    assert "joint: J2, k_rad_per_Nm" in text
    assert "# joint_backlash of J2: not known, negative in these loops (-6" in text
    assert text.count("\n  - ") == 2
    play = run("loops", written({d: readings(P, -2e-5, H, noise=NOISE, rng=rng) for d in (0, 60, 120)}), "--json")
    assert "# gripper_backlash of gripper: not known, negative in these loops (-2" in play.data["yaml"]
    assert "kind: gripper_backlash" not in play.data["yaml"]


def test_elements_state_their_accuracy(run, written):
    """Half axes and entries with one standard deviation each, in the order of the numbers."""
    rng = np.random.default_rng(2)
    p = np.array([[4e-5, 3e-6], [3e-6, 3e-5]])
    loops = {}
    for d in range(0, 180, 30):
        u = np.array([np.cos(np.radians(d)), np.sin(np.radians(d))])
        loops[d] = readings(u @ p @ u, float(np.hypot(3e-5 * u[0], 1e-4 * u[1])), H, noise=NOISE, rng=rng)
    data = run("loops", written(loops), "--json").data
    compliance, play = yaml.safe_load(data["yaml"])["elements"]
    large, small = (r["sd"] * 0.5e-6 for r in data["principal"][2:])
    said = [float(v) for v in play["source"].removeprefix("+- ").removesuffix(" (one sd)").split(", ")]
    assert said == pytest.approx([small, large], rel=0.05)
    said = [float(v) for v in compliance["source"].removeprefix("+- ").removesuffix(" (one sd)").split(", ")]
    for name, sd, truth in zip(("k11", "k22", "k12"), said, (4e-5, 3e-5, 3e-6), strict=True):
        assert compliance["entries_SI"][name] == pytest.approx(truth, abs=5 * sd)
        assert 0 < sd < 1e-7


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--lever", "J1"), "write the joint and its lever in mm, such as J1=330"),
        (("--lever", "J1=-3"), "write the joint and its lever in mm"),
        (("--lever", "J9=330"), "there is no joint 'J9'"),
        (("--lever", "J1=330"), "joint J1 has levers of 330 and 660 mm"),
        (("--lever", "J1=660", "--lever", "J1=660"), "has a number already"),
        (("--noise-um", "0"), "must be a positive number"),
        (("--threshold", "-1"), "must be a force in N"),
        (("--at-gripper",), "the loop of joint J1 has no direction"),
    ],
)
def test_wrong_requests(run, written, words, said):
    done = run("loops", written(everything()), *words)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1


def test_joints_without_levers_and_files_without_directions(run, written, tmp_path):
    bare = "joint,force_N,displacement_um\nJ1,10,1\nJ1,20,2\n"
    assert (
        "joint J1 has no lever; add a column lever_mm, or give it (--lever JOINT=MM)" in run("loops", written(bare)).err
    )
    force, way, cycle = readings(P, 1e-4, H)
    text = "force_N,displacement_um,cycle\n" + "".join(
        f"{f:g},{1e6 * s:.6f},{c}\n" for f, s, c in zip(force, way, cycle, strict=True)
    )
    path, out = written(text), tmp_path / "out.yaml"
    done = run("loops", path, "--json")
    assert done.data["loops"][0]["backlash_um"] == pytest.approx(200.0, rel=1e-6)
    assert "Without directions no values for the gripper are given" in done.err
    refused = run("loops", path, "--out", out)
    assert refused.code == 2
    assert "these loops give no element" in refused.err
    assert not out.exists()
    assert "names no joints" in run("loops", path, "--lever", "A=1", "--lever", "B=2").err


def test_a_matrix_that_no_spring_has_is_not_written(run, written):
    """Slopes of 40, 2 and 2 um/N at 0, 60 and 120 deg need a negative one in between."""
    rng = np.random.default_rng(8)
    loops = {d: readings(p, 5e-5, H, noise=NOISE, rng=rng) for d, p in ((0, 4e-5), (60, 2e-6), (120, 2e-6))}
    data = run("loops", written(loops), "--json").data
    assert min(r["value"] for r in data["principal"][:2]) < 0
    assert "the matrix would be negative" in data["yaml"]
    assert "entries_SI" not in data["yaml"]
