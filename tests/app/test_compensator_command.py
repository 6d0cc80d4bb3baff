"""The command from tracked points to a compensator: geometry, element text, spring on a robot, plans, wrong words."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest
from oracle.table_one import ROWS, points_csv
from scipy.optimize import nnls

from elastocal.files.located import parse_yaml
from elastocal.files.robot.file import build_robot
from elastocal.files.robot.read import read_robot
from elastocal.model.statics.holding import weight_torque

WORDS = ("--moving", "P1", "--pivot", "P01", "--pivot", "P02", "--joint", "A2")
A2 = """format: elastocal-robot/1
name: one
source: test
joints:
  - {name: A2, type: revolute, axis: [0, 1, 0], limits_deg: [-140, -5]}
  - {name: tip, xyz_mm: [1000, 0, 0]}
"""


@pytest.fixture
def points(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text(points_csv(), encoding="utf-8")
    return path


def test_geometry_of_table_one(points, run, tmp_path):
    table = tmp_path / "geometry.csv"
    data = run("compensator", points, *WORDS, "--json", "--csv", table).data
    first, geometric, common, pointing = data["geometry"]
    assert first["L_mm"] == pytest.approx(184.7195, abs=5e-5)
    assert first["a_x_mm"] == pytest.approx(685.993, abs=5e-4)
    assert first["a_y_mm"] == pytest.approx(119.412, abs=5e-4)
    assert first["phi0_deg"] == pytest.approx(90.081, abs=5e-4)
    sd = [first[f"{n}_sd_mm"] for n in ("L", "a_x", "a_y")]
    assert sd == pytest.approx([0.0305, 0.704, 0.323], abs=5e-4)
    assert geometric["a_x_mm"] == pytest.approx(685.974, abs=1e-3)
    assert (common["agrees"], pointing["agrees"]) == ("agree", "reject it")
    assert common["a_x_sd_mm"] == pytest.approx(0.587, abs=5e-4)
    p0 = np.array([-685.8330, -117.5706])
    measured = [np.linalg.norm(np.array(r[1:3]) - p0) for r in ROWS]
    assert [r["measured_mm"] for r in data["lengths"]] == pytest.approx(measured, abs=1e-3)
    assert max(abs(r["off_mm"]) for r in data["lengths"]) < 0.07
    assert first["a_mm"] == pytest.approx(np.hypot(685.993, 119.412), abs=1e-3)
    assert "printed" not in str(data["lengths"])
    kept = list(csv.DictReader(io.StringIO(table.read_text())))
    assert float(kept[0]["a_y_mm"]) == first["a_y_mm"]


def test_the_text_for_the_robot_file_is_read_back(points, run):
    bare = run("compensator", points, *WORDS, "--json").data["yaml"]
    assert "k_c_m_per_N: FILL_IN" in bare
    text = A2 + "elements:\n" + bare.replace("N: FILL_IN", "N: 1.0e-5").replace("mm: FILL_IN", "mm: 400")
    (spring,) = build_robot(parse_yaml(text, "pasted")).elements
    assert (spring.kind, spring.joint, spring.mode) == ("gravity_compensator", "A2", "torque")
    assert [spring.L, spring.a_x, spring.a_y] == pytest.approx([0.1847195, 0.6859934, 0.1194118], abs=1e-7)
    kept = run("compensator", points, *WORDS, "--robot", "kuka-kr270", "--json").data["yaml"]
    (spring,) = build_robot(parse_yaml(A2 + "elements:\n" + kept, "pasted")).elements
    assert (spring.mode, spring.k_c, spring.s_0) == ("stiffness_only", 0.144e-6, 0.458)


def test_the_spring_on_a_robot_balances_it_best(points, run):
    data = run("compensator", points, *WORDS, "--robot", "kuka-kr270", "--json")
    own, best = data.data["springs"]
    assert (own["force_min_kN"], own["force_max_kN"]) == pytest.approx((372.1, 1711.0), rel=2e-3)
    assert "imply a force of 372 kN to 1.71 MN" in data.err
    model = read_robot("kuka-kr270")
    q = np.zeros((181, 6))
    q[:, 1] = np.radians(np.linspace(-140, -5, 181))
    weight = weight_torque(model, q, "A2")
    a, length = np.hypot(0.6859934, 0.1194118), 0.1847195
    x = np.radians(90.08132) - q[:, 1]
    s = np.sqrt(a**2 + length**2 + 2 * a * length * np.cos(x))
    columns = np.column_stack([a * length * np.sin(x), -a * length * np.sin(x) / s])
    (stiffness, preload), left = nnls(columns, weight)
    assert best["k_c_m_per_N"] == pytest.approx(1 / stiffness, rel=1e-4)
    assert best["s_0_mm"] == pytest.approx(1e3 * preload / stiffness, rel=1e-3)
    assert best["share_percent"] == pytest.approx(100 * (1 - left / np.linalg.norm(weight)), abs=0.01)
    pull = (s - preload / stiffness) * stiffness
    assert (best["force_min_kN"], best["force_max_kN"]) == pytest.approx(
        (1e-3 * pull.min(), 1e-3 * pull.max()), rel=1e-4
    )
    k2 = next(c for c in data.data["equivalent"]["series"] if c["name"] == "of the robot file")["y"]
    assert (min(k2), max(k2)) == pytest.approx((0.2782, 0.2937), abs=2e-4)


def test_text_and_report(points, run, tmp_path):
    page = tmp_path / "c.html"
    done = run("compensator", points, *WORDS, "--robot", "kuka-kr270", "--plan", 6, "--report", page, "--full")
    assert done.code == 0
    assert "  - kind: gravity_compensator" in done.out
    flat = " ".join(done.out.split())
    assert "describes the stiffness of joint A2, not a real spring" in flat
    assert "The points reject pointing" in flat
    html = page.read_text(encoding="utf-8")
    assert "<pre>  - kind: gravity_compensator" in html
    assert "Torque on the joint" in html


def total(row):
    """Sum of the variances of what is asked."""
    return sum(row[f"{n}_sd_mm"] ** 2 for n in ("L", "a_x", "a_y"))


def test_a_plan_is_better_than_the_measurement(points, run):
    data = run("compensator", points, *WORDS, "--plan", 6, "--limits", "-140,-5", "--noise-um", 100, "--json").data
    by = {(r["plan"], r["model"]): r for r in data["plan"]}
    assert by["as measured", "concentric"]["imbalance_35"] == pytest.approx(
        abs(np.sum(np.exp(1j * np.radians([r[0] for r in ROWS])))) ** 2, rel=1e-6
    )
    eq_35 = by["eq. (35) and (36)", "common rotation"]
    angles = np.radians([-140, -140, -140, -15, -5, -5])
    assert eq_35["angles_deg"] == "3 x -140, -15, 2 x -5"
    assert eq_35["L_sd_mm"] == pytest.approx(0.1 / np.sqrt(6 - abs(np.sum(np.exp(1j * angles))) ** 2 / 6), rel=1e-6)
    for model in ("concentric", "common rotation"):
        now, then = by["as measured", model], by["exact covariance", model]
        assert all(then[f"{n}_sd_mm"] < now[f"{n}_sd_mm"] for n in ("L", "a_x", "a_y"))
        assert total(then) <= total(by["eq. (35) and (36)", model])
        assert total(then) <= total(by["planned angles, markers as measured", model])
    said = data["verdict"][-1]
    assert "would bring the standard deviations" in said


def test_points_in_space_give_the_same_geometry(tmp_path, run):
    """Table 1 laid into an inclined plane: lengths and phi0 stay, a_x and a_y turn with the plane's axes."""
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    turn[:, 2] *= np.linalg.det(turn)
    lines = ["marker,pose,q_deg,x_mm,y_mm,z_mm"]
    for k, marker in enumerate(("P1", "P01", "P02")):
        for i, r in enumerate(ROWS):
            p = turn @ [*r[1 + 2 * k : 3 + 2 * k], 0.0] + [10.0, 20.0, 30.0]
            lines.append(f"{marker},{i},{r[0]},{p[0]:.9f},{p[1]:.9f},{p[2]:.9f}")
    path = tmp_path / "space.csv"
    path.write_text("\n".join(lines) + "\n")
    done = run("compensator", path, *WORDS, "--plan", 6, "--json")
    first = done.data["geometry"][0]
    assert first["L_mm"] == pytest.approx(184.7195, abs=1e-3)
    assert np.hypot(first["a_x_mm"], first["a_y_mm"]) == pytest.approx(np.hypot(685.9934, 119.4118), abs=1e-3)
    assert first["phi0_deg"] == pytest.approx(90.0813, abs=1e-3)
    assert first["a_mm"] == pytest.approx(np.hypot(685.9934, 119.4118), abs=1e-3)
    by = {(r["plan"], r["model"]): r for r in done.data["plan"]}
    for model in ("concentric", "common rotation"):
        for other in ("eq. (35) and (36)", "planned angles, markers as measured"):
            assert total(by["exact covariance", model]) <= total(by[other, model])
    assert done.err.count(" the angle about the axis (") == 1
    assert "joint angle." not in done.out


def test_controller_values_are_turned_into_joint_values(tmp_path, run, arm):
    """The controller of ``arm`` counts q = -(A - 10 deg), so the same points run with q and phi0 moves along."""
    path = tmp_path / "points.csv"
    path.write_text(points_csv().replace("A2_deg", "A_deg"))
    words = [*WORDS[:-1], "J", "--robot", str(arm), "--limits", "-10,100", "--json"]
    done = run("compensator", path, *words)
    assert done.code == 0
    first = done.data["geometry"][0]
    assert "read as controller value" in done.err
    assert first["phi0_deg"] == pytest.approx(-(90.0813 - 10), abs=1e-3)
    assert max(abs(r["off_mm"]) for r in done.data["lengths"]) < 0.07


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--moving", "P9", "--pivot", "P01", "--joint", "A2"), "--moving P9"),
        (("--moving", "P1", "--pivot", "P1", "--joint", "A2"), "is also --moving"),
        (("--moving", "P1", "--pivot", "P01", "--pivot", "P01", "--joint", "A2"), "named twice"),
        ((*WORDS, "--limits", "-140,-5"), "add --plan N or --robot"),
        ((*WORDS, "--at", "0,0,0,0,0,0"), "add --robot"),
        ((*WORDS, "--plan", "2"), "plan at least three"),
        ((*WORDS, "--plan", "6", "--limits", "-5,-140"), "the lower limit must stand first"),
        ((*WORDS, "--plan", "6", "--limits", "-5"), "2 numbers are needed"),
        ((*WORDS[:-1], "A9", "--robot", "kuka-kr270"), "there is no joint 'A9'"),
        ((*WORDS[:-1], "A3", "--robot", "kuka-kr270"), "is not moved by A2"),
        ((*WORDS, "--robot", "kuka-kr720"), "did you mean 'kuka-kr270'"),
        ((*WORDS, "--sense", "with"), "mirrored"),
    ],
)
def test_wrong_requests_get_one_sentence(points, run, words, said):
    done = run("compensator", points, *words)
    assert done.code == 2, done.err
    assert said in done.err
    assert done.err.count("\n") == 1
    assert not done.out


MARKS = {"P1": None, "H1": (190.0, 2.6), "H2": (210.0, -2.2), "H3": (150.0, 0.3)}


def in_space(tilt=0.0, noise=0.015):
    """A compensator that points along its spring, in space, the axis through P0 leaning by ``tilt``."""
    rng, q = np.random.default_rng(7), np.radians([-140, -120, -95, -70, -45, -20, -6.0])
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    turn[:, 2] *= np.linalg.det(turn)
    lean = np.array([[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), np.cos(tilt)]])
    p0, lines = np.array([-686.0, -119.0, 0.0]), ["marker,pose,q_deg,x_mm,y_mm,z_mm"]
    for i, angle in enumerate(q):
        p1 = 184.7 * np.array([np.cos(1.74 - angle), np.sin(1.74 - angle), 0.0])
        swing = np.arctan2(*(p1 - p0)[1::-1])
        for height, (marker, place) in zip((20.0, 120, 130, 50), MARKS.items(), strict=True):
            local = p1 + np.array([0, 0, height])
            if place is not None:
                r, beta = place[0], swing + place[1]
                local = p0 + lean @ [r * np.cos(beta), r * np.sin(beta), height]
            x = turn @ local + [2134.0, -1876.0, 953.0] + noise * rng.normal(size=3)
            lines.append(f"{marker},{i},{np.degrees(angle):.6f},{x[0]:.6f},{x[1]:.6f},{x[2]:.6f}")
    return "\n".join(lines) + "\n", turn


SPACE = ("--moving", "P1", "--pivot", "H1", "--pivot", "H2", "--pivot", "H3", "--joint", "A2", "--noise-um", "15")


def test_places_of_the_markers_are_seen_about_the_stated_axis(tmp_path, run):
    """2.6, -2.2 and 0.3 rad from the spring, and the other way about the reversed axis."""
    path = tmp_path / "space.csv"
    text, turn = in_space()
    path.write_text(text)
    for side in (1, -1):
        axis = ",".join(f"{v:.6f}" for v in side * turn[:, 2])
        data = run("compensator", path, *SPACE, "--plan", 6, f"--axis={axis}", "--json").data
        row = next(r for r in data["plan"] if r["plan"] == "as measured")
        expected = sorted(side * np.degrees([2.6, -2.2, 0.3]))
        assert [float(v) for v in row["places_deg"].split(",")] == pytest.approx(expected, abs=0.1)
        assert data["geometry"][0]["L_mm"] == pytest.approx(184.7, abs=0.05)


def test_axes_that_are_not_parallel_are_told(tmp_path, run):
    path = tmp_path / "space.csv"
    path.write_text(in_space()[0])
    assert "axes through P0 and P2" not in run("compensator", path, *SPACE, "--json").err
    path.write_text(in_space(np.radians(0.2))[0])
    said = run("compensator", path, *SPACE, "--json").err
    assert "0.19 deg apart, more than their accuracy explains" in said
    path.write_text(in_space(np.radians(5))[0])
    said = run("compensator", path, *SPACE, "--json").err
    found = re.search(r"P2 are (\S+) deg apart, but the model .* (\S+) mm away, a would change by (\S+) mm and phi0 by "
                      r"(\S+) deg", said)  # fmt: skip
    aside, a = 80 * np.tan(np.radians(5)), np.hypot(686, 119)
    expected = [5.0, 80.0, aside * 119 / a, np.degrees(aside * 686 / a**2)]
    assert [abs(float(v)) for v in found.groups()] == pytest.approx(expected, rel=0.02)


def test_a_stated_axis_far_from_the_one_found(tmp_path, run):
    path = tmp_path / "space.csv"
    text, turn = in_space()
    path.write_text(text)
    for off, told in ((15.0, False), (40.0, True)):
        axis = np.cos(np.radians(off)) * turn[:, 2] + np.sin(np.radians(off)) * turn[:, 0]
        done = run("compensator", path, *SPACE, f"--axis={axis[0]:.6f},{axis[1]:.6f},{axis[2]:.6f}", "--json")
        assert (f"{off:.0f} deg from the one stated" in done.err) is told


def test_a_plan_before_anything_is_measured(run, tmp_path):
    """From the robot file: Algorithm 1 at the plan's angles gives L; more markers know P0 better."""
    table = tmp_path / "plan.csv"
    done = run("compensator", "--robot", "kuka-kr270", "--plan", 6, "--noise-um", 15, "--json", "--csv", table)
    assert done.code == 0
    by = {(r["plan"], r["model"]): r for r in done.data["plan"]}
    q = np.radians([-140, -140, -140, -15, -5, -5])
    spread = 0.015 / np.sqrt(6 - abs(np.sum(np.exp(1j * q))) ** 2 / 6)
    assert by["eq. (35) and (36)", "concentric"]["L_sd_mm"] == pytest.approx(spread, rel=1e-6)
    assert "2 markers about P0 are assumed" in done.err
    more = run("compensator", "--robot", "kuka-kr270", "--plan", 6, "--noise-um", 15, "--pivot", "a", "--pivot", "b",
               "--pivot", "c", "--sense", "against", "--json")  # fmt: skip
    assert "assumed" not in more.err
    key = ("exact covariance", "common rotation")
    three = {(r["plan"], r["model"]): r for r in more.data["plan"]}[key]
    assert total(three) < total(by[key])
    assert len(list(csv.DictReader(io.StringIO(table.read_text())))) == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--robot", "kuka-kr270", "--plan", "6"), "--noise-um"),
        (("--plan", "6", "--noise-um", "15"), "--robot"),
        (("--robot", "kuka-kr270", "--plan", "6", "--noise-um", "15", "--moving", "P1"), "give POINTS.csv"),
        (("--robot", "kuka-kr270", "--plan", "6", "--noise-um", "15", "--joint", "A3"), "no gravity_compensator on"),
        (("--robot", "kuka-kr270", "--plan", "6", "--noise-um", "-1"), "must be a positive number"),
    ],
)
def test_a_plan_without_points_asks_for_what_it_lacks(run, words, said):
    done = run("compensator", *words)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1


def test_points_need_names(points, run):
    done = run("compensator", points, "--joint", "A2")
    assert done.code == 2
    assert "--moving MARKER" in done.err


def test_an_outlier_is_said_to_stand_where_it_stands(points, run):
    """On the screen the verdict comes after the tables, in a report before them."""
    lines = points.read_text().splitlines()
    cells = lines[4].split(",")
    cells[-1] = f"{float(cells[-1]) + 10:.4f}"
    points.write_text("\n".join([*lines[:4], ",".join(cells), *lines[5:]]) + "\n")
    data = run("compensator", points, *WORDS, "--json").data
    (said,) = [v for v in data["verdict"] if "outlier" in v and "left out" in v]
    assert said == "1 outlier, named under Outliers and left out."
