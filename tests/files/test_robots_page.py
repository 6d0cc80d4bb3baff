"""The table of element kinds in docs/robots.md is complete, and its examples can be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from elastocal.files.located import parse_yaml
from elastocal.files.robot.file import build_robot
from elastocal.model.elements import element_kinds

PAGE = Path(__file__).resolve().parents[2] / "docs" / "robots.md"
ROWS = re.findall(r"^\| `(\w+)` \| .* \| `(\{kind: .*\})` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
ROBOT = """\
format: elastocal-robot/1
name: arm
source: docs/robots.md
joints:
  - {name: A1, type: revolute, axis: [0, 0, 1]}
  - {name: A2, type: revolute, axis: [0, 1, 0], xyz_mm: [300, 0, 500]}
  - {name: tool, xyz_mm: [1000, 0, 0]}
elements:
"""


def test_every_kind_has_a_row() -> None:
    assert sorted(kind for kind, _ in ROWS) == sorted(element_kinds())


@pytest.mark.parametrize(("kind", "example"), ROWS, ids=[kind for kind, _ in ROWS])
def test_examples_are_elements(kind: str, example: str) -> None:
    (element,) = build_robot(parse_yaml(f"{ROBOT}  - {example}\n", "example")).elements
    assert element.kind == kind
