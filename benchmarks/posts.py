"""Programs of 100 000 lines: rewriting (read, and write with every target corrected) against solving for the commands.

Solving is what lies between: the branch of the arm at each target, its nominal joint values, and the command whose
loaded pose is the desired one, for the KR 270 with joints, links, weights and compensator.  Processor time, as the
two are compared within one run.
"""

from __future__ import annotations

import gc
import time
from dataclasses import replace
from math import cos, sin

import numpy as np

from benchmarks.harness import Outcome, Row
from benchmarks.robots import robot
from elastocal.compensation.job import corrected, job, nominals
from elastocal.compensation.loads import ProgramLoads
from elastocal.compensation.posts.post import Post, post_kinds
from elastocal.compensation.program import Changes, Given, Program
from elastocal.compensation.rewrite import rewritten
from elastocal.compensation.stations import placed, stations, with_tools
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import Rotation

LINES = 100_000
ROUNDS = 3
WRENCH = np.array([-400.0, 0.0, -150.0, 0.0, 0.0, 0.0])
NEAR = np.radians([0.0, -90.0, 90.0, 0.0, 90.0, 0.0])
_EAX = "[9E9,9E9,9E9,9E9,9E9,9E9]"


def programs(lines: int) -> dict[str, tuple[str, str]]:
    """File name and text by language: a spiral that a CAM system could have written."""
    at = [(300 * cos(i / 500), 300 * sin(i / 500), -i / 1e4) for i in range(lines)]
    return {
        "krl": ("b.src", "DEF b()\n" + "".join(
            f"LIN {{X {x:.3f},Y {y:.3f},Z {z:.3f},A 10.000,B 5.000,C 180.000}} C_DIS\n" for x, y, z in at) + "END\n"),
        "rapid": ("b.mod", "MODULE b\nPROC main()\n" + "".join(
            f"MoveL [[{x:.3f},{y:.3f},{z:.3f}],[0.6,0,0.8,0],[0,0,0,0],{_EAX}],v50,z1,tMill\\WObj:=wPart;\n"
            for x, y, z in at) + "ENDPROC\nENDMODULE\n"),
        "gcode": ("b.nc", "G21 G90 G1 F500\n" + "".join(
            f"N{i} X{x:.3f} Y{y:.3f} Z{z:.3f}\n" for i, (x, y, z) in enumerate(at))),
        "csv": ("b.csv", "x_mm,y_mm,z_mm,a_deg,b_deg,c_deg\n" + "".join(
            f"{x:.3f},{y:.3f},{z:.3f},10.000,5.000,180.000\n" for x, y, z in at)),
    }  # fmt: skip


def measure() -> Outcome:
    rows: list[Row] = []
    for kind, (name, text) in programs(LINES).items():
        rewriting, solving = _both(post_kinds()[kind](), {name: text.encode()})
        rows.append(Row(f"{kind}: read and written", rewriting, 1.0, None))
        rows.append(Row(f"{kind}: solved", solving, solving / rewriting, 1.0))
    work = f"programs of {LINES} lines, rewriting against solving, processor time per line"
    return Outcome(work, tuple(rows))


def _both(post: Post, files: dict[str, bytes]) -> tuple[float, float]:
    """Best processor time in us per line of rewriting and of solving."""
    given = _given(post.read(files))
    best = (np.inf, np.inf)
    for _ in range(ROUNDS):
        gc.collect()
        start = time.process_time()
        program = post.read(files, given)
        read = time.process_time()
        changes = _solved(program)
        solved = time.process_time()
        post.write(program, changes)
        end = time.process_time()
        best = (min(best[0], end - solved + read - start), min(best[1], solved - read))
    return best[0] * 1e6 / LINES, best[1] * 1e6 / LINES


def _given(program: Program) -> Given:
    """A part in front of the robot, and a spindle."""
    downwards = Rotation.from_euler("ZYX", [0, 0, 180], degrees=True).as_matrix()
    spindle = Pose(np.eye(3), np.array([0.0, 0.1, 0.2]))
    part = Pose(np.eye(3), np.array([1.75, 0.0, 0.8]))
    return Given(dict.fromkeys(program.bases, part), dict.fromkeys(program.tools, spindle), downwards)


def _solved(program: Program) -> Changes:
    at = placed(with_tools(robot(), program, "flange"), stations(program, 5e-6))
    count = len(at.stations)
    loads = ProgramLoads(np.tile(WRENCH, (count, 1)), None, False, np.full(count, np.nan), "flange")
    work = job(at, loads, NEAR, False)
    found = replace(corrected(work), nominal=nominals(work))
    if found.counts() != {"corrected": count}:
        raise SystemExit(f"posts: {found.counts()}")
    return rewritten(work, found, {})[0]
