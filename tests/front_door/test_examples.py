"""The numbered scripts of ``examples/`` run as they stand."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("[0-9][0-9]_*.py"))


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda p: p.stem)
def test_an_example_runs(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path(str(script), run_name="__main__")
    assert names["cal"].verdict.code == "improved"
    assert capsys.readouterr().out
    assert names["__doc__"]


def test_they_are_numbered_without_gaps() -> None:
    assert [int(p.name[:2]) for p in EXAMPLES] == list(range(1, len(EXAMPLES) + 1))
    assert len(EXAMPLES) >= 3


def test_the_outliers_of_the_second_are_those_planted() -> None:
    names = runpy.run_path(str(EXAMPLES[1]), run_name="__main__")
    assert {(o.row, o.marker, o.axis) for o in names["cal"].outliers} == {(4, "right", None), (17, None, None)}
