"""Data taken without pydantic, against pydantic."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import TypeAdapter, ValidationError

from elastocal.files.robot.sections import ControllerEntry, JointEntry, RobotFile
from elastocal.files.typed import made
from elastocal.model.compliant.beam import Beam, Rectangle, Tube
from elastocal.model.compliant.joint_offset import JointOffset


@dataclass(frozen=True)
class Entry:
    size: float
    word: str | int = ""
    both: float | int | None = None
    kind: Literal["a", "b", ""] = ""
    on: bool = False
    row: tuple[float, float] | None = None
    names: tuple[str, ...] = ()
    rows: tuple[tuple[float, ...], ...] = ()
    things: list[Any] = field(default_factory=list)
    sizes: dict[str, float] = field(default_factory=dict)
    place: Path | None = None


FITTING = [
    (Entry, {"size": 1.5, "place": "a/../b.csv"}),
    (Entry, {"size": 2.5, "word": 3, "both": 4, "kind": "a", "on": True}),
    (Entry, {"size": 2, "both": None, "row": [1, 2.5], "names": ["x", "y"], "rows": [[1, 2.0], []]}),
    (Entry, {"size": 0.0, "row": None, "things": [{"a": [1]}, None], "sizes": {"x": 1, "y": 2.5}}),
    (JointEntry, {"name": "A1", "type": "revolute", "axis": (0.0, 0.0, 1.0), "limits": (-1.0, 1.0), "ratio": 2.0}),
    (ControllerEntry, {"axes": ["A1", "A2"], "sign": {"A1": -1.0}, "structure": [[1.0, 0.0], [0.0, 1.0]]}),
    (RobotFile, {"format": "x", "name": "y", "serial": 12, "gravity": (0.0, 0.0, -9.8), "joints": [{"name": "A1"}]}),
    (Beam, {"length": 1.0, "section": Tube(diameter=0.1, wall=0.01), "E": 7e10, "nu": 0.3}),
    (Beam, {"length": 1.0, "section": Rectangle(width=0.1, height=0.2), "E": 7e10, "nu": 0.3}),
]
OTHERS = [
    {},
    {"size": "2.5"},
    {"size": True},
    {"size": None},
    {"size": 1.0, "word": 1.5},
    {"size": 1.0, "kind": "c"},
    {"size": 1.0, "kind": 1},
    {"size": 1.0, "on": 1},
    {"size": 1.0, "on": "yes"},
    {"size": 1.0, "row": [1.0, 2.0, 3.0]},
    {"size": 1.0, "row": "ab"},
    {"size": 1.0, "names": "xy"},
    {"size": 1.0, "names": ["x", 1]},
    {"size": 1.0, "sizes": {1: 2.0}},
    {"size": 1.0, "sizes": [1.0]},
    {"size": 1.0, "things": (1, 2)},
    {"size": 1.0, "unknown": 1},
]


@pytest.mark.parametrize(("cls", "values"), FITTING)
def test_what_fits_is_what_pydantic_makes_of_it(cls, values):
    found, wanted = made(cls, values), TypeAdapter(cls).validate_python(values)
    assert found == wanted
    assert repr(found) == repr(wanted)  # 2 and 2.0 are equal


@pytest.mark.parametrize("values", OTHERS)
def test_what_pydantic_refuses_or_converts_is_left_to_it(values):
    assert made(Entry, values) is None
    try:
        kept = TypeAdapter(Entry).validate_python(values)
    except ValidationError:
        return
    assert [v for k, v in values.items() if k == "unknown" or repr(getattr(kept, k)) != repr(v)]


def test_a_whole_number_beyond_every_float_is_left_to_pydantic() -> None:
    assert made(JointOffset, {"joint": "A1", "offset": 10**400}) is None
    assert made(JointOffset, {"joint": "A1", "offset": 10**4}) == JointOffset(joint="A1", offset=1e4)
