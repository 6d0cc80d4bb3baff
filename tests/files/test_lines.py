"""Lines of what stands behind aliases, counted by hand."""

from __future__ import annotations

import pytest

from elastocal.errors import InputError
from elastocal.files.located import parse_yaml

TEXT = """\
first: &whole
  - &part
    size: 1
    names: [a,
      b]
  - 2
again: *whole
parts:
  - 3
  - *part
  - {<<: *part, own: 4}
"""
LINES = {
    ("first",): 1,
    ("first", 0, "size"): 3,
    ("first", 0, "names", 1): 5,
    ("first", 1): 6,
    ("again",): 7,
    ("again", 0, "size"): 3,
    ("again", 1): 6,
    ("parts", 0): 9,
    ("parts", 1, "names"): 4,
    ("parts", 1, "names", 1): 5,
    ("parts", 2, "own"): 11,
}


@pytest.mark.parametrize("path", LINES)
def test_a_place_behind_an_alias_has_the_line_where_it_is_written(path: tuple[str | int, ...]) -> None:
    assert parse_yaml(TEXT, "a.yaml").line(path) == LINES[path]


def test_aliases_give_what_they_stand_for() -> None:
    part = {"size": 1, "names": ["a", "b"]}
    assert parse_yaml(TEXT, "a.yaml").data == {
        "first": [part, 2],
        "again": [part, 2],
        "parts": [3, part, {**part, "own": 4}],
    }


def test_what_the_file_does_not_hold_has_the_line_of_what_would_hold_it() -> None:
    located = parse_yaml(TEXT, "a.yaml")
    assert located.line(("parts", 1, "absent", 3)) == located.lines[("parts", 1)]
    assert located.lines[("parts",)] == 8


@pytest.mark.parametrize("text", ["a: &x [1, *x]\n", "a: &x\n  b: {<<: *x}\n"])
def test_an_alias_within_its_own_anchor_is_refused(text: str) -> None:
    with pytest.raises(InputError) as refusal:
        parse_yaml(text, "a.yaml")
    assert refusal.value.code == "too-deep"
