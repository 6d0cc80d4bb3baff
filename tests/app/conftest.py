"""The command line run in this process, and tiny robots whose answers are known in closed form."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from app.cell_desk import whole_cell
from app.virtual_desk import Chain, chain
from oracle.once import once

from elastocal.app.cli import progress
from elastocal.app.cli.main import main

if TYPE_CHECKING:
    from app.report_desk import Made

ARM = """\
format: elastocal-robot/1
name: arm
source: written for a test
gravity_m_s2: [0, 0, 0]
joints:
  - {name: J, type: revolute, axis: [0, 1, 0], limits_deg: [-90, 90]}
  - {name: tip, type: fixed, xyz_mm: [2000, 0, 0]}
controller:
  axes: [A]
  sign: {A: -1}
  zero_deg: {A: 10}
elements:
  - {kind: joint_compliance, joint: J, k_rad_per_Nm: 1.0e-6}
"""


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """elastocal with these words: exit code, stdout, stderr; without lines of progress, which come by the clock."""
    if progress.LINE_EVERY >= 1:
        monkeypatch.setattr(progress, "LINE_EVERY", 3600.0)

    def call(*words: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["elastocal", *(str(w) for w in words)])
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as left:
            code = left.code if isinstance(left.code, int) else 0 if left.code is None else 1
        said = capsys.readouterr()
        return Ran(code, said.out, said.err)

    return call


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    """One revolute joint about y, 2 m of rigid arm along x, 1e-6 rad/(N m); the controller counts -(A - 10 deg)."""
    path = tmp_path / "arm.yaml"
    path.write_text(ARM, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def chained(shared: Path) -> Chain:
    """Plan, virtual campaign and identification, once for all tests; they must not change its folder."""

    def make() -> Chain:
        (shared / "chained").mkdir()
        return chain(shared / "chained")

    made: Chain = once(shared / "chain", make)
    return made


@pytest.fixture(scope="session")
def kr5_cell(shared: Path) -> Path:
    """A cell of the KR 5 from plan to corrected program, once for all tests; they must work on copies."""

    def make() -> Path:
        (shared / "cells").mkdir()
        return whole_cell(shared / "cells" / "kr5", "kr5")

    cell: Path = once(shared / "kr5-cell", make)
    return cell


Reports = Callable[[str], "Made"]


@pytest.fixture(scope="session")
def reports(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Reports:
    """Reports of every kind, each made by the first test that looks at it."""
    from app.report_desk import Desk

    desk = Desk(tmp_path_factory.mktemp("reports"), shared)
    return lambda kind: once(shared / f"report-{kind}", lambda: desk.report(kind))
