"""Rewriting a program of 100 000 lines: read it, correct every target, write it again; per line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from math import cos, sin

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.harness import Contender, Outcome, race
from elastocal.compensate.posts.post import post_of
from elastocal.compensate.program import Changes

LINES = 100_000
_EAX = "[9E9,9E9,9E9,9E9,9E9,9E9]"


def programs() -> dict[str, tuple[str, str]]:
    """File name and text by language: a spiral that a CAM system could have written."""
    at = [(300 * cos(i / 500), 300 * sin(i / 500), -i / 1e4) for i in range(LINES)]
    return {
        "krl": ("b.src", "DEF b()\n" + "".join(
            f"LIN {{X {x:.3f},Y {y:.3f},Z {z:.3f},A 10.000,B 5.000,C 180.000}} C_DIS\n" for x, y, z in at) + "END\n"),
        "rapid": ("b.mod", "MODULE b\nPROC main()\n" + "".join(
            f"MoveL [[{x:.3f},{y:.3f},{z:.3f}],[0.6,0,0.8,0],[0,0,0,0],{_EAX}],v50,z1,tMill\\WObj:=wPart;\n"
            for x, y, z in at) + "ENDPROC\nENDMODULE\n"),
        "gcode": ("b.nc", "G21 G90 G1 F500\n" + "".join(f"X{x:.3f} Y{y:.3f} Z{z:.3f}\n" for x, y, z in at)),
        "csv": ("b.csv", "x_mm,y_mm,z_mm,a_deg,b_deg,c_deg\n" + "".join(
            f"{x:.3f},{y:.3f},{z:.3f},10.000,5.000,180.000\n" for x, y, z in at)),
    }  # fmt: skip


def measure() -> Outcome:
    texts = programs()
    contenders = [
        Contender(f"{kind}, read and written", LINES, _rewriting(kind, {name: text.encode()}))
        for kind, (name, text) in texts.items()
    ]
    krl = texts["krl"][1]
    contenders.append(Contender("a regular expression that shifts every number of the KRL file", LINES, _blind(krl)))
    return race(f"programs of {LINES} lines, position and orientation of every target corrected", contenders, rounds=3)


def _rewriting(kind: str, files: dict[str, bytes]) -> Callable[[], object]:
    turn = Rotation.from_rotvec([1e-3, 2e-3, 1e-3]).as_matrix()

    def run() -> dict[str, bytes]:
        post = post_of(kind)
        program = post.read(files)
        positions = program.positions + np.array([1.2e-4, -3.4e-4, 5.6e-4])
        return post.write(
            program, replace(Changes.none(program), positions=positions, rotations=turn @ program.rotations)
        )

    return run


def _blind(text: str) -> Callable[[], object]:
    number = re.compile(r"-?\d+\.\d+")
    return lambda: number.sub(lambda m: f"{float(m[0]) + 0.12345:.4f}", text)
