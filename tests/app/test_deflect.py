"""Deflections from the command line against closed forms and other routes."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lxml import html
from scipy.optimize import brentq

Run = Callable[..., Any]
K, LENGTH = 1.0e-6, 2.0
KR270_AT = ("--at", "0,-60,80,20,40,10")


def test_first_order_is_k_f_l_squared(run: Run, arm: Path) -> None:
    """Controller 10 deg is joint 0: the arm is level; 1 N down turns +y by k F l."""
    row = run("deflect", arm, "--at", "10", "--force", "0,0,-1", "--json").data["deflections"][0]
    assert row["dz_mm"] == pytest.approx(-1e3 * K * LENGTH**2, rel=1e-9)
    assert row["ry_mrad"] == pytest.approx(1e3 * K * LENGTH, rel=1e-9)
    assert row["status"] == "converged"
    assert row["A_deg"] == 10


def test_large_load_is_the_root_of_the_scalar_equation(run: Run, arm: Path) -> None:
    """theta = k F l cos(q + theta), with q = -(40 - 10) deg by the controller's sign and zero."""
    force, q = 2.0e5, np.radians(-30.0)
    theta = brentq(lambda t: t - K * force * LENGTH * np.cos(q + t), 0, 1)
    dz = -1e3 * LENGTH * (np.sin(q + theta) - np.sin(q))
    dx = 1e3 * LENGTH * (np.cos(q + theta) - np.cos(q))
    words = ("deflect", arm, "--at", "40", "--force", f"0,0,{-force}", "--linear", "--json")
    row = run(*words).data["deflections"][0]
    assert row["dz_mm"] == pytest.approx(dz, rel=1e-10)
    assert row["dx_mm"] == pytest.approx(dx, rel=1e-10)
    linear = 1e3 * K * force * LENGTH**2 * np.cos(q)
    assert row["linear_mm"] == pytest.approx(linear, rel=1e-12)
    off = linear * np.array([np.sin(-q), 0, -np.cos(q)]) - np.array([dx, 0, dz])
    assert row["linear_off_mm"] == pytest.approx(np.linalg.norm(off), rel=1e-9)


def test_several_configurations_from_at_and_from_a_file_agree(run: Run, tmp_path: Path) -> None:
    poses = [(0, -90, 90, 0, 30, 0), (10, -60, 80, 20, 40, 10)]
    at = [word for p in poses for word in ("--at", ",".join(str(v) for v in p))]
    file = tmp_path / "poses.csv"
    header = ",".join(f"A{i}_deg" for i in range(1, 7))
    rows = "\n".join(",".join(str(v) for v in p) + ",-2.5" for p in poses)
    file.write_text(f"{header},fz_kN\n{rows}\n")
    first = run("deflect", "kuka-kr270", *at, "--force", "0,0,-2500", "--json").data["deflections"]
    second = run("deflect", "kuka-kr270", "--configurations", file, "--force", "9,9,9", "--json")
    assert "in place of --force" in second.err
    for a, b in zip(first, second.data["deflections"], strict=True):
        for key in ("dx_mm", "dy_mm", "dz_mm", "rx_mrad", "size_mm"):
            assert a[key] == pytest.approx(b[key], rel=1e-9)
    assert second.data["deflections"][1]["fz_N"] == -2500


def test_shares_add_up_and_match_the_observation_matrix(run: Run) -> None:
    from elastocal.files.robot.read import read_robot
    from elastocal.model.loads.wrench import AppliedWrenches
    from elastocal.model.statics.observation import Marker, linear_observation

    data = run("deflect", "kuka-kr270", *KR270_AT, "--force", "500,0,-2500", "--linear", "--json").data
    shares = {row["element"]: row["share_percent"] for row in data["contributions"]}
    assert sum(shares.values()) == pytest.approx(100, abs=1e-9)
    model = read_robot("kuka-kr270")
    q = np.radians([[0, -60, 80, 20, 40, 10]])
    wrench = AppliedWrenches(model.tool, np.array([[500, 0, -2500, 0, 0, 0]]))
    names, matrix = linear_observation(model, q, [wrench], [Marker(model.tool)])
    values = model.parameters.values[[model.parameters.index(n) for n in names]]
    parts = matrix[0] * values
    total = parts.sum(axis=1)
    of_a2 = sum(float(parts[:, i] @ total) for i, n in enumerate(names) if n == "A2.k") / float(total @ total)
    of_link = sum(float(parts[:, i] @ total) for i, n in enumerate(names) if n.startswith("link2_end.")) / float(
        total @ total
    )
    assert shares["joint A2"] == pytest.approx(100 * of_a2, rel=1e-9)
    assert shares["link link2_end"] == pytest.approx(100 * of_link, rel=1e-9)
    assert data["deflections"][0]["linear_mm"] == pytest.approx(1e3 * np.linalg.norm(total), rel=1e-9)


def test_payload_without_and_frames_change_the_answer(run: Run) -> None:
    def size(*words: str) -> float:
        got = run("deflect", "kuka-kr270", *KR270_AT, "--force", "0,0,-2500", *words, "--json")
        assert got.code == 0, got.err
        return float(got.data["deflections"][0]["size_mm"])

    plain = size()
    assert size("--payload", "0") == pytest.approx(plain, rel=1e-12)
    assert size("--payload", "270") != pytest.approx(plain, rel=1e-6)
    assert size("--payload", "270", "--payload-frame", "tool") != pytest.approx(size("--payload", "270"), rel=1e-7)
    rigid_links = size("--without", "link_compliance", "--without", "foundation_compliance")
    assert 0.5 * plain < rigid_links < plain
    assert size("--frame", "flange") < plain
    assert size("--load-frame", "flange") < plain
    assert size("--follow") != pytest.approx(plain, rel=1e-3)


def test_an_unstable_load_says_at_which_factor(run: Run, arm: Path) -> None:
    """Pushed along the arm towards the joint, a lever on a spring buckles at F = 1 / (k l)."""
    critical = 1 / (K * LENGTH)
    got = run("deflect", arm, "--at", "10", "--force", f"{-2 * critical},0,0", "--json")
    assert got.code == 0
    row = got.data["deflections"][0]
    assert row["status"] == "unstable"
    assert row["load_factor"] == pytest.approx(0.5, rel=1e-9)
    assert row["dz_mm"] is None
    assert "unstable" in row["unknown"]["dz_mm"]
    text = run("deflect", arm, "--at", "10", "--force", f"{-2 * critical},0,0").out
    assert "0.500" in text
    assert "lower the load" in text
    assert "1 of 1 configurations unstable: fails at 50 % of this load." in text
    assert "contributions" not in got.data
    held = run("deflect", arm, "--at", "10", "--force", f"{-0.5 * critical},0,0", "--json").data
    assert "contributions" in held


def test_report_and_csv_files(run: Run, tmp_path: Path) -> None:
    page, table = tmp_path / "räport 1.html", tmp_path / "out.csv"
    words = ("deflect", "kuka-kr270", *KR270_AT, "--force", "0,0,-2500", "--report", page, "--csv", table, "--json")
    data = run(*words).data
    assert data["files"] == [str(page), str(table)]
    with table.open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert float(row["dz_mm"]) == data["deflections"][0]["dz_mm"]
    assert float(row["A3_deg"]) == 80
    wrench = [float(row[k]) for k in ("fx_N", "fy_N", "fz_N", "mx_Nm", "my_Nm", "mz_Nm")]
    assert wrench == [0, 0, -2500, 0, 0, 0]
    shown = html.fromstring(page.read_text(encoding="utf-8")).xpath("//tbody/tr[1]/td/text()")
    assert f"{data['deflections'][0]['dz_mm']:.4f}" in shown
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix != ".js") == [
        "out.csv",
        "räport 1.html",
    ]  # and its script


def test_a_robot_without_joints_needs_no_configuration(run: Run) -> None:
    row = run("deflect", "orthoglide-link", "--force", "0,10,0", "--json").data["deflections"][0]
    assert row["dy_mm"] == pytest.approx(0.801, rel=1e-3)
    assert row["rz_mrad"] == pytest.approx(3.98, rel=1e-6)


def test_limits_can_be_ignored_and_that_is_said(run: Run, arm: Path) -> None:
    got = run("deflect", arm, "--at", "110", "--force", "0,0,-1", "--ignore-limits")
    assert got.code == 0
    assert "beyond the joint limits" in got.out


WEIGHTED = """\
format: elastocal-robot/1
name: bar
source: written for a test
gravity_m_s2: [0, 0, -9.81]
joints:
  - {name: J, type: revolute, axis: [0, 1, 0], limits_deg: [-90, 90]}
  - {name: tip, type: fixed, xyz_mm: [2000, 0, 0]}
elements:
  - {kind: joint_compliance, joint: J, k_rad_per_Nm: 1.0e-9}
  - {kind: payload, frame: tip, mass_kg: 5, com_mm: [0, 0, 0]}
"""


def test_sag_of_a_level_link_is_k_m_g_l_squared(run: Run, tmp_path: Path) -> None:
    bar = tmp_path / "bar.yaml"
    bar.write_text(WEIGHTED, encoding="utf-8")
    got = run("deflect", bar, "--at", "0", "--sag", "--json")
    assert got.code == 0, got.err
    row = got.data["deflections"][0]
    assert row["dz_mm"] == pytest.approx(-1e3 * 1e-9 * 5 * 9.81 * LENGTH**2, rel=1e-6)
    assert row["ry_mrad"] == pytest.approx(1e3 * 1e-9 * 5 * 9.81 * LENGTH, rel=1e-6)
    assert row["fz_N"] == 0
    pushed = run("deflect", bar, "--at", "0", "--sag", "--force", "0,0,-100", "--json").data["deflections"][0]
    assert pushed["dz_mm"] == pytest.approx(-1e3 * 1e-9 * (5 * 9.81 + 100) * LENGTH**2, rel=1e-6)
    heavy = run("deflect", bar, "--at", "0", "--sag", "--payload", "20", "--json").data
    assert heavy["deflections"][0]["dz_mm"] == pytest.approx(-1e3 * 1e-9 * 20 * 9.81 * LENGTH**2, rel=1e-6)
    assert heavy["inputs"]["payload_kg"] == 20
    assert heavy["verdict"][0].startswith("Sag of tip: 0.0008 mm")


def test_sag_is_unknown_where_the_weight_topples_the_arm(run: Run, tmp_path: Path) -> None:
    """An upright bar falls when k m g l is above one, here 1.96."""
    column = tmp_path / "column.yaml"
    upright = WEIGHTED.replace("[2000, 0, 0]", "[0, 0, 2000]").replace("1.0e-9", "0.02")
    column.write_text(upright, encoding="utf-8")
    data = run("deflect", column, "--at", "0", "--sag", "--json").data
    row = data["deflections"][0]
    assert row["dz_mm"] is None
    assert row["ry_mrad"] is None
    assert row["status"] == "unstable"
    assert data["verdict"] == ["1 of 1 configurations unstable: fails under its own weight, before any other load."]


def test_sags_with_and_without_a_load_differ_by_its_deflection(run: Run) -> None:
    """Turned out of the base axes, so that the order of the rotations shows."""
    from scipy.spatial.transform import Rotation

    def row(*words: str) -> dict[str, float]:
        got = run("deflect", "kuka-kr270", "--at", "50,-60,80,70,40,10", *words, "--json")
        assert got.code == 0, got.err
        return dict(got.data["deflections"][0])

    def turn(r: dict[str, float]) -> Rotation:
        return Rotation.from_rotvec([1e-3 * r[f"r{c}_mrad"] for c in "xyz"])

    push = ("--force", "0,9000,-20000", "--payload", "270")
    bare, pushed, moved = row("--sag", "--payload", "270"), row("--sag", *push), row(*push)
    for c in "xyz":
        assert pushed[f"d{c}_mm"] - bare[f"d{c}_mm"] == pytest.approx(moved[f"d{c}_mm"], abs=1e-9)
    np.testing.assert_allclose((turn(moved) * turn(bare)).as_matrix(), turn(pushed).as_matrix(), atol=1e-10)
    assert bare["size_mm"] > 1


def test_a_turn_beyond_small_strains_is_noted(run: Run, tmp_path: Path) -> None:
    robot = tmp_path / "soft.yaml"
    robot.write_text(
        "format: elastocal-robot/1\nname: soft\nsource: test\ngravity_m_s2: [0, 0, 0]\njoints:\n"
        "  - {name: J, type: revolute, axis: [0, 0, 1]}\n  - {name: tip, xyz_mm: [1000, 0, 0]}\n"
        "elements:\n  - {kind: joint_compliance, joint: J, k_rad_per_Nm: 1.0e-3}\n",
        encoding="utf-8",
    )
    small = run("deflect", robot, "--at", "0", "--force", "0,50,0")
    large = run("deflect", robot, "--at", "0", "--force", "0,200,0")
    assert "turns by more than" not in small.out
    assert "In 1 configuration(s) the frame turns by more than 0.1 rad" in large.out
