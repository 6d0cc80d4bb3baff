"""The status of a number is a field: read, inherited with the source, written again, and stated by shipped robots."""

from __future__ import annotations

import pytest

from elastocal.errors import InputError
from elastocal.files.located import parse_yaml
from elastocal.files.robot.file import build_robot
from elastocal.files.robot.read import read_robot, shipped_robots
from elastocal.files.robot.write import robot_text
from elastocal.model.robot import Robot

TEXT = """
format: elastocal-robot/1
name: small
source: drawing
status: published
joints:
  - {name: J1, type: revolute, axis: [0, 0, 1]}
  - {name: hand, xyz_mm: [100, 0, 0], source: ruler, status: measured}
  - {name: tool, xyz_mm: [10, 0, 0], source: a note without more}
  - {name: tip, xyz_mm: [10, 0, 0], status: assumed}
elements:
  - {kind: joint_compliance, joint: J1, k_urad_per_Nm: 2, source: "assumption, by experience"}
  - {kind: link_mass, frame: hand, mass_kg: 3, com_mm: [0, 0, 0], source: catalogue, status: assumed}
"""


def built(text: str) -> Robot:
    return build_robot(parse_yaml(text, "small.yaml"))


def test_the_status_goes_with_the_source() -> None:
    model = built(TEXT)
    assert [f.status for f in model.tree.frames] == ["published", "measured", "", "assumed"]
    assert model.tree.frame("tip").source == "drawing"
    assert {p.name: p.status for p in model.parameters if p.value} == {"J1.k": "", "hand.m": "assumed"}
    again = built(robot_text(model))
    for old, new in zip((*model.tree.frames, *model.elements), (*again.tree.frames, *again.elements), strict=True):
        assert (old.source, old.status) == (new.source, new.status)
    assert again.status == "published"


@pytest.mark.parametrize("line", ["status: published", "source: ruler, status: measured"])
def test_another_word_is_refused_with_the_three(line: str) -> None:
    word = line.rpartition(" ")[2]
    with pytest.raises(InputError) as caught:
        built(TEXT.replace(line, line.replace(word, "guessed")))
    assert all(word in str(caught.value) for word in ("guessed", "measured", "published", "assumed"))


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_rows_of_a_table_have_a_status_too(convention: str) -> None:
    rows = "[{name: A}, {name: B, source: ruler, status: measured}]"
    table = f"dh: {{convention: {convention}, source: manual, status: published, rows: {rows}}}"
    frames = built(f"format: elastocal-robot/1\nname: t\n{table}\n").tree.frames
    assert {f.name[0]: f.status for f in frames} == {"A": "published", "B": "measured"}


@pytest.mark.parametrize("name", shipped_robots())
def test_every_number_of_a_shipped_robot_has_a_status(name: str) -> None:
    model = read_robot(name)
    for entry in (*model.tree.frames, *model.elements):
        assert entry.status
        assert ("assum" in entry.source.lower()) <= (entry.status == "assumed")
