from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from oracle.once import once
from studio.studio_desk import Studio, served

from elastocal.app.cli.main import run_words


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A studio on an empty folder beside which lies something that is none of its business."""
    folder = tmp_path_factory.mktemp("machine") / "cells"
    folder.mkdir()
    (folder.parent / "secret.txt").write_text("not yours", encoding="utf-8")
    with served(folder) as made:
        yield made


@pytest.fixture(scope="session")
def calibrated_cell(shared: Path) -> Path:
    """A cell with simulated readings and a first calibration; to be copied."""

    def make() -> Path:
        place = shared / "calibrated" / "one"
        steps = (["new", "--robot", "cylindrical"], ["plan", "--restarts", "1"], ["simulate"], ["calibrate"])
        for command, *options in steps:
            assert run_words([command, str(place), *options]) == 0
        return place

    cell: Path = once(shared / "calibrated-cell", make)
    return cell


@pytest.fixture(scope="module")
def ready(calibrated_cell: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with that cell, named one."""
    out = tmp_path_factory.mktemp("cells")
    shutil.copytree(calibrated_cell, out / "one")
    return out
