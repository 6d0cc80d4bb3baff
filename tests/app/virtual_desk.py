"""An arm on the desk, another one that is the truth, and a plan to measure it; the chain of commands run once."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from elastocal.app.cli.main import app

Run = Callable[..., Any]
ARM = """\
format: elastocal-robot/1
name: arm
source: written for a test
gravity_m_s2: [0, 0, -9.81]
joints:
  - {name: J1, type: revolute, axis: [0, 0, 1], xyz_mm: [0, 0, 400], limits_deg: [-170, 170]}
  - {name: J2, type: revolute, axis: [0, 1, 0], limits_deg: [-120, 60]}
  - {name: elbow, xyz_mm: [700, 0, 0]}
  - {name: J3, type: revolute, axis: [0, 1, 0], limits_deg: [-150, 150]}
  - {name: tool, xyz_mm: [600, 100, 0]}
  - {name: m1, parent: tool, xyz_mm: [0, 80, 0]}
  - {name: m2, parent: tool, xyz_mm: [30, -60, 70]}
tool: tool
elements:
  - {kind: joint_compliance, joint: J1, k_rad_per_Nm: 2.0e-6}
  - {kind: joint_compliance, joint: J2, k_rad_per_Nm: 3.0e-6}
  - {kind: joint_compliance, joint: J3, k_rad_per_Nm: 5.0e-6}
  - kind: link_compliance
    frame: elbow
    form: beam
    beam: {length_mm: 700, section: {shape: tube, diameter_mm: 90, wall_mm: 5}, E_GPa: 70, nu: 0.33}
  - {kind: link_mass, frame: J2, mass_kg: 20, com_mm: [350, 0, 0]}
"""
TRUE = {"J1.k": 2.0e-6, "J2.k": 3.6e-6, "J3.k": 4.5e-6}
NOMINAL = {"J1.k": 2.0e-6, "J2.k": 3.0e-6, "J3.k": 5.0e-6}
TRUTH = ARM.replace("3.0e-6", "3.6e-6").replace("5.0e-6", "4.5e-6").replace("name: arm", "name: truth")
POSES = """\
name,J1_deg,J2_deg,J3_deg,fx_N,fy_N,fz_N
down,0,-30,60,0,0,-400
side,0,-30,60,0,300,0
high,40,-80,90,0,0,-400
push,40,-80,90,300,0,0
out,-60,-10,20,0,0,-400
turn,-60,-10,20,200,-200,0
back,110,-60,-40,0,0,-400
pull,110,-60,-40,-300,100,0
low,-130,20,-70,0,0,-400
reach,-130,20,-70,0,250,250
"""
PLAN = """\
format: elastocal-campaign/1
name: arm-plan
robot: arm.yaml
table: plan.csv
measurement: deflection
load: {frame: tool}
markers: [m1, m2]
seek: ["J?.k", "elbow.k*"]
repeats: 2
errors:
  - {kind: reading, sd_um: 15}
  - {kind: repeatability, sd_um: 10}
  - {kind: load_size, sd_percent: 0.3, every: campaign}
"""
SEED = 3


def findings(data: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Numbers of the verdict of ``calibrate --json``, by code."""
    return {f["code"]: f["data"] for f in data["findings"]}


def lay(folder: Path, plan: str = PLAN) -> Path:
    """The two robots, the poses and the plan in a folder; the plan's path."""
    for name, text in (("arm.yaml", ARM), ("truth.yaml", TRUTH), ("plan.csv", POSES), ("plan.yaml", plan)):
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "plan.yaml"


def asked(*words: object) -> Any:
    """The JSON answer of a command that must succeed; strict: no NaN, no Infinity."""
    done = CliRunner().invoke(app, [*(str(w) for w in words), "--json"])
    assert done.exit_code == 0, (words, done.exception)
    return strict(done.stdout)


def strict(text: str) -> Any:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


@dataclass(frozen=True)
class Chain:
    """A folder in which plan, virtual campaign and calibration lie, and what the commands said in JSON."""

    folder: Path
    simulated: Any
    identified: Any

    @property
    def campaign(self) -> Path:
        return self.folder / "virtual" / "campaign.yaml"

    @property
    def calibration(self) -> Path:
        return self.folder / "calibration.json"

    def found(self, name: str) -> tuple[float, float]:
        """Value and standard deviation of an estimate."""
        row = next(r for r in self.identified["parameters"] if r["parameter"] == name)
        return row["value"], row["sd"]


def chain(folder: Path) -> Chain:
    """Plan, virtual campaign of the truth with one outlier, identification with all its files."""
    plan = lay(folder)
    virtual = folder / "virtual"
    simulated = asked(
        "simulate", plan, "--truth", folder / "truth.yaml", "--out", virtual, "--outliers", 1, "--seed", SEED
    )
    identified = asked(
        "calibrate", virtual / "campaign.yaml", "--out", folder / "calibration.json", "--report", folder / "found.html",
        "--csv", folder / "found.csv",
    )  # fmt: skip
    return Chain(folder, simulated, identified)


def refused(run: Run, folder: Path, *words: object) -> str:
    """The one sentence of a command that ends with exit code 2; nothing in the folder may have changed."""
    before = {p: p.read_bytes() if p.is_file() else b"" for p in folder.rglob("*")}
    got = run(*words)
    assert (got.code, got.out) == (2, "")
    sentences = [line for line in got.err.splitlines() if line.startswith("elastocal: ")]
    assert len(sentences) == 1, got.err
    assert all(line.startswith(("elastocal: ", "calibrating: ")) for line in got.err.splitlines())
    assert {p: p.read_bytes() if p.is_file() else b"" for p in folder.rglob("*")} == before
    return sentences[0]
