"""Every kind of target that cannot be corrected, in one program; what is wrong with each follows from its geometry."""

from __future__ import annotations

from math import atan, degrees
from pathlib import Path
from typing import Any

import numpy as np
from app.program_desk import answered
from scipy.optimize import brentq

STRETCHED = -degrees(atan(0.041 / 1.2))
"""A3 that puts elbow, wrist and shoulder of the KR 270 in one line."""


def _over_axis_1(a2: float) -> float:
    """A3 (deg) with the wrist above axis 1: 0.35 + 1.15 cos A2 + 1.2 cos f - 0.041 sin f = 0, f = A2 + A3."""

    def forward(a3: float) -> float:
        f = np.radians(a2 + a3)
        return 0.35 + 1.15 * np.cos(np.radians(a2)) + 1.2 * np.cos(f) - 0.041 * np.sin(f)

    return float(brentq(forward, 60.0, 90.0))


def test_each_status_appears(run: Any, tmp_path: Path) -> None:
    targets = {
        "corrected": "0,-70,92,0,68,180",
        "near_wrist_singularity": "0,-70,92,0,0.01,180",
        "configuration_flip": "10,-70,92,0,0.08,0",
        "near_elbow_singularity": f"0,-70,{STRETCHED},0,60,0",
        "near_shoulder_singularity": f"0,-135,{_over_axis_1(-135.0)},0,60,0",
        "joint_limit": "0,-90,90,0,-122.49,0",
    }
    rows = "".join(f"{name},{axes}\n" for name, axes in targets.items())
    (tmp_path / "p.csv").write_text("name,A1_deg,A2_deg,A3_deg,A4_deg,A5_deg,A6_deg\n" + rows)
    (tmp_path / "loads.csv").write_text("line,fx_N,fy_N,fz_N\n1,-400,300,-1500\n7,3000,0,-1000\n")
    words = ("--robot", "kuka-kr270", "--loads", tmp_path / "loads.csv", "--tool", "tool=0,100,200,0,0,0")
    done = answered(run("compensate", tmp_path / "p.csv", *words, "--out", tmp_path / "new", "--json"))
    found = {row["target"].split()[0]: row["status"] for row in done["targets"]}
    assert found == {name: name for name in targets}
    assert {row["status"] for row in done["problems"]} == set(targets) - {"corrected"}
    assert {row["line"] for row in done["left"]} == {3, 4, 5, 6, 7}
    assert any("MIXES" in sentence for sentence in done["verdict"])
    old, new = (f.read_text().splitlines() for f in (tmp_path / "p.csv", tmp_path / "new" / "p.csv"))
    assert [a == b for a, b in zip(old, new, strict=True)] == [True, False, True, True, True, True, True]


def test_a_file_that_others_use_and_a_tool_outside(run: Any, tmp_path: Path) -> None:
    """HOME of $config.dat belongs to every program; with an external tool the part moves instead."""
    (tmp_path / "p.src").write_text(
        "DEF p()\nBAS(#TOOL,1)\nBAS(#BASE,2)\nPTP XHOME\nLIN {X 1810,Y -80,Z 795,A 0,B 0,C 180}\n"
        "$IPO_MODE=#TCP\nLIN {X 1820,Y -80,Z 795,A 0,B 0,C 180}\nEND\n"
    )
    shared = (
        "DEFDAT $CONFIG\nBASE_DATA[2]={X 0,Y 0,Z 0,A 0,B 0,C 0}\nTOOL_DATA[1]={X 0,Y 100,Z 200,A 0,B 0,C 0}\n"
        "DECL E6AXIS XHOME={A1 0,A2 -90,A3 90,A4 0,A5 90,A6 0}\nENDDAT\n"
    )
    (tmp_path / "$config.dat").write_text(shared)
    words = ("--robot", "kuka-kr270", "--force", "-400,0,-150", "--out", tmp_path / "new")
    done = answered(run("compensate", tmp_path / "p.src", *words, "--json"))
    assert [row["status"] for row in done["targets"]] == ["kept", "corrected"]
    assert [(row["line"], row["reason"].split(" (")[0]) for row in done["left"]] == [
        (4, "its target is not changed"),
        (7, "the tool stands outside the robot"),
    ]
    assert any("MIXES" in sentence for sentence in done["verdict"])
    assert not (tmp_path / "new" / "$config.dat").exists()
    new = (tmp_path / "new" / "p.src").read_text().splitlines()
    assert new[3] == "PTP XHOME"
    assert new[6] == "LIN {X 1820,Y -80,Z 795,A 0,B 0,C 180}"
    assert new[4] != "LIN {X 1810,Y -80,Z 795,A 0,B 0,C 180}"
