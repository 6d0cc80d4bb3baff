"""Where the frames stand at given controller values, to check a robot file against the pendant."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Run = Callable[..., Any]


def test_poses_of_a_lever_by_hand(run: Run, arm: Path) -> None:
    """Controller 40 is joint -30 deg: the 2 m arm rises by 1 m."""
    data = run("show", arm, "--at", "40", "--at", "10", "--json").data
    rows = {(r["A_deg"], r["name"]): r for r in data["poses"]}
    tip = rows[40, "tip"]
    assert tip["x_mm"] == pytest.approx(2000 * np.cos(np.pi / 6), abs=1e-6)
    assert tip["z_mm"] == pytest.approx(1000, abs=1e-6)
    assert (tip["roll_deg"], tip["yaw_deg"]) == (0, 0)
    assert tip["pitch_deg"] == pytest.approx(-30, abs=1e-6)
    assert rows[10, "tip"]["x_mm"] == 2000
    assert {name for _, name in rows} == {"J", "tip"}
    assert data["poses"][0]["name"] == "tip", "the tool comes first"


def test_every_frame_agrees_with_the_kinematics(run: Run) -> None:
    from scipy.spatial.transform import Rotation

    from elastocal.files.robot.read import read_robot
    from elastocal.model.kinematics import kinematics

    model = read_robot("fanuc-m710ic50")
    shown = np.array([[10.0, 20, -30, 40, 50, 60]])
    q = model.controller.to_joints(np.radians(shown))
    poses = run("show", "fanuc-m710ic50", "--at", "10,20,-30,40,50,60", "--json").data["poses"]
    assert {p["name"] for p in poses} == {f.name for f in model.tree.frames}
    for p in poses:
        found = kinematics(model, q, p["name"])
        np.testing.assert_allclose([p["x_mm"], p["y_mm"], p["z_mm"]], 1e3 * found.position[0], atol=1e-6)
        turn = Rotation.from_euler("xyz", [p["roll_deg"], p["pitch_deg"], p["yaw_deg"]], degrees=True)
        np.testing.assert_allclose(turn.as_matrix(), found.rotation[0], atol=1e-8)


def test_beyond_the_limits_is_shown_and_said(run: Run, arm: Path) -> None:
    got = run("show", arm, "--at", "110", "--parameters", "J.k")
    assert got.code == 0
    assert "axis A = 110 deg is beyond its limits -80 to 100 deg" in got.out
    assert "Poses" in got.out
    assert "Poses" not in run("show", arm).out
    assert run("show", arm, "--at", "1,2").code == 2
