"""The robot under its load, as the page asks for it, against the library called by itself; edits that are checked."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from studio.studio_desk import Studio
from studio.test_guard import posted

import elastocal as ec
from elastocal.app.commands.new import new
from elastocal.model.statics.holding import holding_torque


@pytest.fixture(scope="module")
def cell(running: Studio) -> Studio:
    new(running.folder / "arm", "abb-irb120")
    return running


def asked(cell: Studio, words: str) -> tuple[int, dict[str, object]]:
    status, _, text = cell.ask(f"/cell/arm/robot/state?{words}", headers={"Cookie": cell.cookie})
    return status, json.loads(text)


def test_deflection_and_torques_are_those_of_the_library(cell: Studio) -> None:
    status, found = asked(cell, "at=10,20,-30,40,50,60&load=0,5,-20,0,0,1")
    assert status == 200
    robot = ec.read_robot("abb-irb120")
    q = np.radians([[10, 20, -30, 40, 50, 60]])
    wrench = np.array([[0, 5, -20, 0, 0, 1.0]])
    text = re.sub(r"<[^>]+>", " ", str(found["numbers"]))
    moved = 1e3 * robot.deflection(q, wrench).translation[0]
    for value in moved:
        assert f"{value:.4f}" in text
    from elastocal.model.loads.wrench import AppliedWrenches

    torque = holding_torque(robot, q, (AppliedWrenches("tool", wrench),))[0]
    assert f"{torque[1]:.2f}" in text
    names = [trace.get("name", "") for trace in found["scene"]["data"]]  # type: ignore[index]
    assert {"floor", "robot", "load", "compliance of the tool"} <= set(names)
    assert any(n.startswith("bent") for n in names)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("at=1,2,3", "shape"),
        ("at=0,0,0,0,0,nan", "number"),
        ("at=0,0,0,0,0,0&load=1e99,0,0,0,0,0", "number"),
        ("at=0,0,0,0,0,0&load=0,2e6,0,0,0,0", "range"),
        ("at=%3Cb%3E", "shape"),
    ],
)
def test_wrong_numbers_are_refused(cell: Studio, words: str, code: str) -> None:
    status, found = asked(cell, words)
    assert (status, found["code"]) == (422, code)


def test_an_edit_is_checked_before_it_is_written(cell: Studio) -> None:
    file: Path = cell.folder / "arm" / "robot" / "robot.yaml"
    text = file.read_text(encoding="utf-8")
    for wrong in ("k_rad_per_Nm: -5.8e-05", "k_rad_per_Nm: soft", "k_inches: 1"):
        bad = text.replace("k_rad_per_Nm: 5.8e-05", wrong)
        assert bad != text
        status, _, page = posted(cell, "/cell/arm/robot", {"source": bad})
        assert status == 422, wrong
        assert "robot.yaml" in page
        assert file.read_text(encoding="utf-8") == text
    good = text.replace("k_rad_per_Nm: 5.8e-05", "k_rad_per_Nm: 6.1e-05")
    assert posted(cell, "/cell/arm/robot", {"source": good})[0] == 303
    assert ec.read_robot(file).parameters.values[ec.read_robot(file).parameters.index("axis2.k")] == pytest.approx(
        6.1e-5
    )
    page = cell.get("/cell/arm/robot")
    assert "assumed" in page
    assert "scaled from the joint compliances of the KUKA" in page


def test_one_number_is_changed_with_its_source_and_nothing_else(cell: Studio) -> None:
    file: Path = cell.folder / "arm" / "robot" / "robot.yaml"
    text, old = file.read_text(encoding="utf-8"), ec.read_robot(file).parameters.rows
    told = {"parameter": "axis1.k", "value": "31,5", "source": "bench test: 'no 4' # <b>", "status": "measured"}
    for wrong in (
        {"value": "soft"},
        {"value": "-1"},
        {"source": " "},
        {"status": "true"},
        {"parameter": "axis9.k"},
        {"unit": "mm"},
    ):
        assert posted(cell, "/cell/arm/robot/number", {**told, **wrong})[0] in (404, 422), wrong
        assert file.read_text(encoding="utf-8") == text
    assert posted(cell, "/cell/arm/robot/number", {**told, "parameter": "flange.payload_mx"})[0] == 422  # derived
    assert posted(cell, "/cell/arm/robot/number", told)[0] == 303
    new = ec.read_robot(file).parameters.rows
    assert [n.name for o, n in zip(old, new, strict=True) if o != n] == ["axis1.k"]
    (own,) = (p for p in new if p.name == "axis1.k")
    assert (own.value, own.source, own.status) == (
        pytest.approx(31.5e-6),
        told["source"],
        "measured",
    )  # as shown: urad/(N m)
    for unit, value in (("nrad/(N m)", "31500"), ("rad/(N m)", "3.15e-5")):
        assert posted(cell, "/cell/arm/robot/number", {**told, "value": value, "unit": unit})[0] == 303
        assert ec.read_robot(file).parameters.rows == new
    assert '<option value="axis1.k" data-value="31.5" data-unit="urad/(N m)"' in cell.get("/cell/arm/robot")
    lines = file.read_text(encoding="utf-8").splitlines()
    assert lines[0] == text.splitlines()[0]  # comments stay
    assert len(lines) == len(text.splitlines())


def test_a_script_in_the_name_of_a_robot_is_text(cell: Studio) -> None:
    file: Path = cell.folder / "arm" / "robot" / "robot.yaml"
    evil = "<script>alert(1)</script>"
    text = file.read_text(encoding="utf-8").replace("title: ABB IRB 120-3/0.6", f'title: "{evil}"')
    text = text.replace("source: nominal,", f'source: "{evil}",')
    assert posted(cell, "/cell/arm/robot", {"source": text})[0] == 303
    page = cell.get("/cell/arm/robot")
    assert evil not in page
    assert "&lt;script&gt;alert(1)" in page
