"""The order in which words are tried, on errors that are given."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from elastocal.calibration import ladder


def climbed(monkeypatch: pytest.MonkeyPatch, errors: dict[str, float]) -> tuple[tuple[str, ...], list[str]]:
    """Words that are kept, and models in the order tried, by the error of every model."""
    tried: list[str] = []

    def rung(words: tuple[str, ...], family: str, multiple: Any = None, near: Any = None) -> Any:
        name = " ".join(words)
        tried.append(name)
        return SimpleNamespace(words=words, family=family, loo=errors.get(name, 9.0), fit=None, dropped_gaps=())

    for name, stub in (
        ("leaves_enough", lambda fitted: True),
        ("_sharpened", lambda best: ()),
        ("_confirmed", lambda all_: (all_[0], all_[0])),
        ("_predicts", lambda each: each.loo),
        ("is_rare", lambda word: False),
        ("decided", lambda rungs, best, nominal: best),
    ):
        monkeypatch.setattr(ladder, name, stub)
    climber = SimpleNamespace(sight=SimpleNamespace(placed=False), rung=rung)
    best: Any = ladder.climb(climber, ("a", "b", "c"))  # type: ignore[arg-type]
    return best.words, tried


def test_a_word_that_a_larger_effect_hid_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = {"": 8.0, "a": 5.0, "a b": 5.1, "a c": 2.0, "a b c": 1.0}
    assert climbed(monkeypatch, errors) == (("a", "b", "c"), ["", "a", "a b", "a c", "a b c"])
    assert climbed(monkeypatch, errors | {"a b c": 2.1})[0] == ("a", "c")


def test_a_word_is_tried_once_where_nothing_was_kept_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = {"": 8.0, "a": 5.0, "a b": 4.0, "a b c": 4.5}
    assert climbed(monkeypatch, errors) == (("a", "b"), ["", "a", "a b", "a b c"])
    assert climbed(monkeypatch, {"": 8.0, "a": 5.0})[1] == ["", "a", "a b", "a c"]
