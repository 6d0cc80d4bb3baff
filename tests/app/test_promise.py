"""What compensate promises: what its expectation leaves out, and what it says where a truth contradicts it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from app.program_desk import WORDS, answered, calibration, lay_program

from elastocal.files.robot.read import read_robot
from elastocal.files.robot.write import robot_text

SPRINGS = tuple(f"A{i}.k" for i in range(1, 7))
PUSH = ("--force", "-400,0,-150")


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A robot with assumed masses, its calibration of six springs, and a true robot with heavier links."""
    model = read_robot("kuka-kr270").without("gravity_compensator")
    (tmp_path / "arm.yaml").write_text(robot_text(model), encoding="utf-8")
    heavier = {p.name: 1.1 * p.value for p in model.parameters if p.kind == "link_mass"}
    (tmp_path / "heavier.yaml").write_text(robot_text(model.with_parameters(heavier)), encoding="utf-8")
    calibration(tmp_path, "arm.yaml", SPRINGS, 0.01)
    return tmp_path


def told(run: Any, desk: Path, *words: str) -> tuple[Any, str]:
    program = lay_program(desk, "csv")
    got = run("compensate", program, "--calibration", desk / "calibration.json", *WORDS["csv"], *PUSH, *words, "--json")
    answer = answered(got)
    return answer, " ".join(answer["verdict"])


def test_assumed_weights_that_make_most_of_a_correction_are_named(run: Any, desk: Path) -> None:
    answer, verdict = told(run, desk)
    load, weight, geometry, whole = answer["contributions"]
    assert weight["rms_um"] > 0.5 * whole["rms_um"] > load["rms_um"] > 100
    assert geometry["rms_um"] == 0
    assert "taken as exact: lengths and joint zeros of the robot file and what was not estimated (" in verdict
    masses = sum(p.kind == "link_mass" and p.value != 0 for p in read_robot("kuka-kr270").parameters)
    assert f"{masses} of link mass" in verdict
    named = re.search(
        r"RESTS ON ASSUMED WEIGHTS\. .* robot file \(([\w, ]+)\) makes ([\d.]+) mm RMS of the ([\d.]+) mm", verdict
    )
    assert named is not None, verdict
    assert float(named[2]) == pytest.approx(1e-3 * weight["rms_um"], rel=5e-3)
    assert float(named[3]) == pytest.approx(1e-3 * whole["rms_um"], rel=5e-3)
    assert {"A2", "A3"} <= set(named[1].split(", "))
    assert "taken as taught" in verdict


def test_a_truth_with_other_weights_is_said_to_break_the_expectation(run: Any, desk: Path) -> None:
    answer, verdict = told(run, desk, "--truth", str(desk / "heavier.yaml"))
    hoped = re.search(r"Predicted residual error after correction: ([\d.]+) um RMS", verdict)
    broken = re.search(r"THAT IS ([\d.]+) TIMES THE PREDICTED RESIDUAL ERROR", verdict)
    assert hoped is not None
    assert broken is not None
    left = np.sqrt(np.mean([t["truth_after_um"] ** 2 for t in answer["targets"]]))
    assert float(broken[1]) == pytest.approx(left / float(hoped[1]), rel=0.02)
    assert float(broken[1]) > 2


def test_a_truth_within_the_expectation_is_left_in_peace(run: Any, desk: Path) -> None:
    _, verdict = told(run, desk, "--truth", str(desk / "arm.yaml"))
    assert "On the simulated true robot" in verdict
    assert "TIMES THE PREDICTED" not in verdict


def test_taught_targets_rest_on_no_weight(run: Any, desk: Path) -> None:
    """The same heavier robot keeps the promise: what the load adds hardly depends on masses."""
    answer, verdict = told(run, desk, "--taught", "--truth", str(desk / "heavier.yaml"))
    assert [row["corrected"] for row in answer["contributions"]] == [True, False, False]
    assert answer["contributions"][1]["rms_um"] > 100  # it is there, and in the targets already
    assert "ASSUMED WEIGHTS" not in verdict
    assert "lengths" not in verdict
    assert "of link compliance" in verdict  # what bends under the load counts as exact still
    assert "of link mass" not in verdict
    assert "TIMES THE PREDICTED" not in verdict


def test_weights_from_a_drawing_are_no_assumption(run: Any, desk: Path) -> None:
    """The same numbers with another source: said to be exact, but not shouted about."""
    file = desk / "arm.yaml"
    model = read_robot("kuka-kr270").without("gravity_compensator")
    known = tuple(
        replace(e, source="weighed", status="measured") if e.kind == "link_mass" else e for e in model.elements
    )
    file.write_text(robot_text(replace(model, elements=known)), encoding="utf-8")
    calibration(desk, "arm.yaml", SPRINGS, 0.01)
    _, verdict = told(run, desk)
    assert "ASSUMED WEIGHTS" not in verdict
    assert "The weight of the arm and of what it carries makes" in verdict


def test_weights_that_were_sought_are_in_the_expectation(run: Any, desk: Path) -> None:
    model = read_robot("kuka-kr270")
    masses = tuple(p.name for p in model.parameters if p.kind in ("link_mass", "payload") and p.value)
    calibration(desk, "arm.yaml", (*SPRINGS, *masses), 0.01)
    _, verdict = told(run, desk)
    assert "ASSUMED WEIGHTS" not in verdict
    assert "of link mass" not in verdict
