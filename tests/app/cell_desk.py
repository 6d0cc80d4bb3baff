"""A cell of a robot that has gone all the way, with small searches, and tables for the other commands."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from elastocal.app.cli.main import main

FAST = ("--candidates", "60", "--restarts", "1")
CHAIN = (("plan", *FAST), ("simulate",), ("calibrate",), ("compensate",))
POINTS = """\
x_mm,y_mm,marker,q_deg
1000,0,P1,0
866.025,500,P1,30
500,866.025,P1,60
0,1000,P1,90
-500,866.025,P1,120
"""
LOOPS = """\
force_N,displacement_um,direction_deg
0,0,0
10,100,0
20,200,0
10,110,0
0,10,0
-10,-90,0
-20,-190,0
-10,-100,0
0,0,0
"""
VISITS = """\
pose,command_x_mm,command_y_mm,command_z_mm,x_mm,y_mm,z_mm
P1,100,0,0,100.1,0,0
P1,100,0,0,100.2,0,0
P1,100,0,0,100.1,0.1,0
"""


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


def typed(*words: object) -> Said:
    """elastocal with these words, in this process."""
    out, err = StringIO(), StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["elastocal", *(str(w) for w in words)])
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        try:
            main()
            code = 0
        except SystemExit as left:
            code = left.code if isinstance(left.code, int) else 0
    return Said(code, out.getvalue(), err.getvalue())


def well(*words: object) -> Said:
    said = typed(*words)
    assert said.code == 0, said.err
    return said


def whole_cell(folder: Path, robot: str) -> Path:
    """New, planned, simulated, identified and, where the robot has a program, compensated."""
    well("new", folder, "--robot", robot)
    for command, *options in CHAIN:
        if command != "compensate" or any(p.stem.lower() == "square" for p in (folder / "programs").iterdir()):
            well(command, folder, *options)
    return folder


def record(folder: Path, label: str) -> Any:
    return json.loads((folder / "records" / f"{label}.json").read_text(encoding="utf-8"))


def results(folder: Path) -> dict[str, bytes]:
    """Everything but the records, by place."""
    files = (p for p in sorted(folder.rglob("*")) if p.is_file() and p.parent.name != "records")
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in files}
