"""Published cases are recomputed once for tests and documentation, and again whenever a source changes."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from elastocal.published import gallery
from elastocal.published.case import Outcome

EXTENSIONS = Path(__file__).resolve().parents[2] / "docs" / "_ext"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module on a small package of its own, with cases that are counted instead of computed."""
    monkeypatch.syspath_prepend(str(EXTENSIONS))
    made = importlib.import_module("kept_cases")
    source = tmp_path / "src" / "elastocal" / "robots" / "arm.yaml"
    source.parent.mkdir(parents=True)
    source.write_text("k: 1")
    runs: list[int] = []

    def run(progress: object = None) -> gallery.Gallery:
        runs.append(1)
        outcome = Outcome("case", f"run {len(runs)}", ())
        return gallery.Gallery((gallery.ReproduceResult("title", "source", outcome),))

    monkeypatch.setattr(made, "ROOT", tmp_path)
    monkeypatch.setattr(made, "PLACE", tmp_path / "docs" / "_build")
    monkeypatch.setattr(gallery, "run", run)
    return made


def verdict(made: gallery.Gallery) -> str:
    return made.results[0].outcome.verdict


def test_what_the_tests_found_is_what_the_documentation_shows(kept: ModuleType) -> None:
    assert verdict(kept.recomputed()) == "run 1"
    assert verdict(kept.computed()) == "run 1"
    assert verdict(kept.recomputed()) == "run 2"  # the tests never read
    assert verdict(kept.computed()) == "run 2"


@pytest.mark.parametrize("name", ["robots/arm.yaml", "new.py", "page.jinja"])
def test_another_source_is_another_run_and_only_the_last_is_kept(kept: ModuleType, tmp_path: Path, name: str) -> None:
    assert verdict(kept.computed()) == "run 1"
    (tmp_path / "src" / "elastocal" / name).write_text("k: 2")
    assert verdict(kept.computed()) == "run 2"
    assert len(list((tmp_path / "docs" / "_build").iterdir())) == 1


def test_a_source_changed_during_the_run_makes_it_worthless(
    kept: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = gallery.run

    def edited(progress: object = None) -> gallery.Gallery:
        (tmp_path / "src" / "elastocal" / "edited.py").write_text("")
        return plain(progress=None)

    monkeypatch.setattr(gallery, "run", edited)
    assert verdict(kept.computed()) == "run 1"
    assert verdict(kept.computed()) == "run 2"
