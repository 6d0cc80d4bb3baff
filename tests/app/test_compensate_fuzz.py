"""Damaged programs through the whole command: one sentence or a program that has lost no line."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest
from app.program_desk import FORCE, HOME, lay_program
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from elastocal.app.commands.compensate import compensate
from elastocal.app.pages.compensate import page
from elastocal.errors import InputError
from elastocal.report.text import print_report

PIECES = {
    "src": [
        "LIN {X 70}\n", "LIN {X 90,Y 5,Z 0,A 0,B 0,C 180}\n", "$IPO_MODE=#TCP\n", "PTP XHOME\n", "LIN XP1:XP2\n", "{",
    ],
    "mod": [
        "MoveL pStart,v5,z1,tSpindle\\WObj:=wPart;", "MoveL Offs(pStart,1,2,3),v5,z1,tSpindle;", "[", ";", "!", "9E9",
    ],
    "nc": ["G91\n", "G90\n", "G2 X9 Y9 R99\n", "X1Y2Z3\n", "G20\n", "X#1\n", "M98 P1\n", "(", "G1 ", "Z-5."],
    "csv": ["c9,1,2,3,4,5,6,7,8,9,10\n", "nan", ",", "1e9", "\n", "#", '"', "-5.000"],
}  # fmt: skip

RESTATED = re.compile(rb"(?m)^G[0-3] (?=[XYZ])")
"""A motion that is said again after an arc was replaced by chords."""


@pytest.mark.parametrize("ending", sorted(PIECES))
@settings(max_examples=6, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damaged_programs_from_file_to_file(tmp_path: Path, ending: str, data: st.DataObject) -> None:
    program = lay_program(tmp_path, ending)
    text = program.read_bytes().decode("latin-1")
    for _ in range(data.draw(st.integers(1, 3))):
        a = data.draw(st.integers(len(text) // 3, len(text)))
        b = min(len(text), a + data.draw(st.integers(0, 30)))
        text = text[:a] + data.draw(st.sampled_from([*PIECES[ending], text[a:b] * 2, ""])) + text[b:]
    program.write_bytes(text.encode("latin-1"))
    out = tmp_path / "new"
    densify = data.draw(st.sampled_from([None, 20.0]))
    try:
        done = compensate(
            program, robot="kuka-kr270", near=HOME, out=out, force=",".join(f"{v:g}" for v in FORCE),
            densify_um=densify, tool=["T1=0,100,200,0,0,0"] if ending == "nc" else None,
            orientation="0,0,180" if ending == "nc" else None,
        )  # fmt: skip
    except InputError:
        return
    print_report(page(done), Console(file=StringIO(), width=120))
    (new,) = (data for place, data in done.files.items() if place.name == program.name)
    read = done.correction.program
    used = {(t.file, t.line) for t in read.targets} | {(m.file, m.line) for m in read.moves}
    after = iter(_lines(RESTATED.sub(b"", new)))
    for number, line in enumerate(_lines(program.read_bytes()), start=1):
        if (program.name, number) not in used and not (ending == "mod" and number > 10):
            assert RESTATED.sub(b"", line) in after, (number, line)  # in the old order
    named = {(s.file, s.line) for s in done.correction.left}
    assert {(s.file, s.line) for s in read.skipped} <= named


def _lines(data: bytes) -> list[bytes]:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
