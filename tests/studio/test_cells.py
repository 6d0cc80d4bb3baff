"""As a new user does: a robot from a URDF, a table as people keep it; what can be done next, and what cannot yet."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from studio.studio_desk import Studio
from studio.test_guard import posted

import elastocal as ec

URDF = """<robot name="small"><link name="base"/><link name="a"/><link name="b"/><link name="tip"/>
<joint name="turn" type="revolute"><parent link="base"/><child link="a"/><origin xyz="0 0 0.4"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" effort="100" velocity="1"/></joint>
<joint name="lift" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0.1 0 0.2"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="100" velocity="1"/></joint>
<joint name="fold" type="revolute"><parent link="b"/><child link="tip"/><origin xyz="0.5 0 0"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="100" velocity="1"/></joint>
<joint name="held" type="fixed"><parent link="tip"/><child link="tool"/><origin xyz="0.4 0 0"/></joint>
<link name="tool"/></robot>"""


@pytest.fixture(scope="module")
def made(running: Studio) -> Studio:
    told = {"name": "hall 3", "rated_kg": "7,5"}
    assert posted(running, "/cells", told, ("small.urdf", URDF.encode()))[0] == 303
    return running


def runs(of: Studio) -> set[str]:
    """Steps with a button."""
    return set(re.findall(r'name="step" value="(\w+)"', of.get("/cell/hall%203/")))


def messy(robot: ec.Robot) -> bytes:
    """A title, German words, semicolons, decimal commas, a line of units, deg and mm, a number left out."""
    rng = np.random.default_rng(4)
    q = rng.uniform(-1.2, 1.2, (24, 3))
    at = 1e3 * (robot.kinematics(q).position + rng.normal(0, 2e-5, (24, 3)))
    lines = ["Messung Halle 3;;;;;;", "Nr;Achse 1;Achse 2;Achse 3;X;Y;Z", ";°;°;°;mm;mm;mm"]
    for i, numbers in enumerate(np.hstack([np.degrees(q), at])):
        words = [f"{v:.4f}".replace(".", ",") for v in numbers]
        words[4] = "" if i == 6 else words[4]
        lines.append(";".join([str(i + 1), *words]))
    return "\n".join(lines).encode("cp1252")


def test_a_urdf_is_a_cell_and_only_what_can_be_done_has_a_button(made: Studio) -> None:
    root = made.folder / "hall 3"
    assert ec.read_robot(root / "robot" / "robot.yaml").joints == ("turn", "lift", "fold")
    assert runs(made) == {"plan"}
    assert "Plan which poses to measure" in made.get("/cell/hall%203/")
    for word in ("turn", "lift", "fold"):
        assert f"{word} by dragging" in made.get("/cell/hall%203/robot")


@pytest.mark.parametrize("kilograms", ["heavy", "-3", "0", "1e9", "nan"])
def test_a_payload_that_is_none_is_refused(made: Studio, kilograms: str) -> None:
    told = {"name": "other", "rated_kg": kilograms}
    status, _, text = posted(made, "/cells", told, ("small.urdf", URDF.encode()))
    assert status == 422
    assert "rated payload" in text
    assert not (made.folder / "other").exists()


@pytest.mark.parametrize("content", [b"\x00\x01\x02" * 300, b"", b"hello;world\nfoo;bar\n"])
def test_a_table_that_is_none_is_asked_only_what_can_help(made: Studio, content: bytes) -> None:
    assert posted(made, "/cell/hall%203/readings", {}, ("wrong.csv", content))[0] in (303, 422)
    text = made.get("/cell/hall%203/readings")
    assert "elastocal columns" not in text  # nobody has a terminal here
    assert ('name="euler"' in text) == content.startswith(b"hello")
    assert not content.startswith(b"hello") or "There is no column for turn, lift, fold" in text
    assert posted(made, "/cell/hall%203/readings/confirm", {})[0] == 422
    assert not (made.folder / "hall 3" / "campaign" / "campaign.yaml").exists()
    assert posted(made, "/cell/hall%203/readings/discard", {})[0] == 303


def test_a_table_as_people_keep_it_is_understood_and_a_plan_is_not_asked_for(made: Studio) -> None:
    root: Path = made.folder / "hall 3"
    table = messy(ec.read_robot(root / "robot" / "robot.yaml"))
    assert posted(made, "/cell/hall%203/readings", {}, ("mess.csv", table))[0] == 303
    text = made.get("/cell/hall%203/readings")
    assert "mess.csv: 24 rows" in text
    assert '<button class="main">Yes, use these readings' in text
    assert '<button class="main">Take these' not in text  # one thing to do
    assert posted(made, "/cell/hall%203/readings/confirm", {})[0] == 303
    read = ec.read_campaign(root / "campaign" / "campaign.yaml")[1]
    assert np.isnan(np.asarray(read.position)).reshape(24, 3).any(axis=1).nonzero()[0].tolist() == [6]
    assert "1 row lacks numbers: only these are left out, the rest of it is used (line 10)" in text
    assert {"calibrate"} == runs(made)
    assert 'href="/cell/hall%203/calibrate">Calibrate</a>' in made.get("/cell/hall%203/")


def test_nothing_is_written_through_a_link_out_of_the_cell(made: Studio, tmp_path: Path) -> None:
    programs = made.folder / "hall 3" / "programs"
    programs.rename(programs.with_name("kept"))
    programs.symlink_to(tmp_path)
    try:
        status, _, text = posted(made, "/cell/hall%203/program", {}, ("evil.src", b"DEF evil()\nEND\n"))
        assert status == 422
        assert "out" in text
        assert list(tmp_path.iterdir()) == []
    finally:
        programs.unlink()
        programs.with_name("kept").rename(programs)
