"""Values come back from documents as they were written, what is not known too; their schema names every key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal

import numpy as np
import pytest

from elastocal.files.typed import packed, schema_text, value_of
from elastocal.results import as_json
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass


@dataclass(frozen=True)
class Part:
    name: str
    size: float
    kind: Literal["one", "other"] = "one"


@dataclass(frozen=True, eq=False)
class Whole:
    """Of parts."""

    format: str
    parts: tuple[Part, ...]
    sizes: Mapping[str, float]
    place: tuple[float, float] | None
    rows: Array
    count: Ints
    bytes: Array


ROWS = np.array([[1.5, np.nan], [0.1, -2.0]])
WHOLE = Whole("w/1", (Part("a", np.nan), Part("b", 0.1, "other")), {"k": 2.0}, None, ROWS, np.array([3, 4]), ROWS)


def written() -> dict[str, object]:
    made: dict[str, object] = json.loads(as_json({**vars(WHOLE), "bytes": packed(ROWS)}))
    return made


def test_a_value_comes_back() -> None:
    data = written()
    assert data["rows"] == [[1.5, None], [0.1, -2.0]]
    again = value_of(Whole, data)
    assert again.parts[1] == WHOLE.parts[1]
    assert np.isnan(again.parts[0].size)
    assert (again.sizes, again.place, again.format) == ({"k": 2.0}, None, "w/1")
    assert value_of(Whole, {**data, "place": [1, None]}).place[0] == 1.0
    for key in ("rows", "bytes"):
        np.testing.assert_array_equal(getattr(again, key), ROWS)
    assert again.count.dtype.kind == "i"


@pytest.mark.parametrize(
    "change", [{"parts": 3}, {"parts": [{"name": "a"}]}, {"parts": [{"name": "a", "size": "x"}]}, {"more": 1}]
)
def test_what_is_damaged_is_an_error(change: dict[str, object]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        value_of(Whole, {**written(), **change})


def test_the_schema_says_what_may_be_null() -> None:
    loose, strict = (json.loads(schema_text(Whole, "w/1", known=known)) for known in (False, True))
    assert loose["required"] == list(loose["properties"]) == list(written())
    size, exact = (s["properties"]["parts"]["items"]["properties"]["size"] for s in (loose, strict))
    assert (size, exact) == ({"type": ["number", "null"]}, {"type": "number"})
    assert loose["properties"]["parts"]["items"]["required"] == ["name", "size"]
    assert loose["properties"]["parts"]["items"]["properties"]["kind"] == {"enum": ["one", "other"]}
    assert loose["description"] == "Of parts."
    assert "description" not in loose["properties"]["parts"]["items"]
