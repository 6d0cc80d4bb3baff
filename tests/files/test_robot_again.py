"""A robot that was read before is not built again, and nobody can tell but by the time."""

from __future__ import annotations

from pathlib import Path

import pytest
from oracle.refusals import refused

from elastocal.files.opened import watching
from elastocal.files.robot import read
from elastocal.files.robot.read import read_robot
from elastocal.files.robot.write import robot_text


@pytest.fixture
def path(tmp_path: Path) -> Path:
    out = tmp_path / "arm.yaml"
    out.write_text(robot_text(read_robot("cylindrical")), encoding="utf-8")
    return out


def test_the_same_text_is_the_same_model_and_another_text_another(path: Path) -> None:
    first = read_robot(path)
    assert read_robot(path) is first
    named = path.read_text(encoding="utf-8").replace(f"name: {first.name}", "name: another")
    path.write_text(named, encoding="utf-8")
    assert read_robot(path).name == "another"
    path.write_text(f"{named}\nspeed: 3\n", encoding="utf-8")
    for _ in range(2):
        with refused("unknown-key", "speed", file="arm.yaml", line=53, column="speed"):
            read_robot(path)


@pytest.mark.parametrize("shipped", [False, True])
def test_whoever_watches_is_told_every_time(path: Path, shipped: bool) -> None:
    seen = []
    for _ in range(2):
        with watching() as marks:
            read_robot("cylindrical" if shipped else path)
        seen.append(marks)
    assert list(seen[0]) == ["shipped:cylindrical" if shipped else str(path)]
    assert seen[0] == seen[1]


def test_other_kinds_of_elements_build_the_model_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = read_robot(path)
    kinds = read.element_kinds()
    monkeypatch.setattr(read, "element_kinds", lambda: dict(list(kinds.items())[:-1]))
    assert read_robot(path) is not first
