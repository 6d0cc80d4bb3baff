"""How commands grow: processor time and peak memory of a process of its own, over decades of rows, lines and points.

python -m benchmarks growth                     every command at 1e3, 1e4 and 1e5
python -m benchmarks.growth calibrate 100000    one of them
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.harness import Outcome, Row
from benchmarks.posts import programs
from benchmarks.robots import configurations, robot

SIZES = (1_000, 10_000, 100_000)
MARKERS = np.array([[0.02, 0.08, 0.0], [-0.04, -0.03, 0.07], [0.0, -0.05, -0.06]])
NAME = "kuka-kr270"
_CAMPAIGN = "format: elastocal-campaign/1\nname: growth\nrobot: kuka-kr270\nload: {frame: tool}\ntable: "


@dataclass(frozen=True)
class Spent:
    """Of one process: processor time in s, peak memory in MB."""

    seconds: float
    megabytes: float


_WATCH = """
import json, os, subprocess, sys
with open("said.txt", "wb") as said:
    process = subprocess.Popen(sys.argv[1:], stdout=said, stderr=said)
    _, status, usage = os.wait4(process.pid, 0)
process.returncode = code = os.waitstatus_to_exitcode(status)
print(json.dumps([code, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]))
"""
"""A process counts the memory of the one that started it until it is itself: a small one starts it."""


def spent(arguments: list[str], folder: Path, sources: Path | None = None) -> Spent:
    """Run a command, of other ``sources`` if wished; what it says goes to a file, so that a long answer counts too."""
    watch = [sys.executable, "-S", "-c", _WATCH, sys.executable, *arguments]
    said = subprocess.run(watch, cwd=folder, env=_kept(sources), check=True, capture_output=True, text=True).stdout
    code, seconds, megabytes = json.loads(said)
    if code:
        raise SystemExit(f"{' '.join(arguments)}: {(folder / 'said.txt').read_text()[-2000:]}")
    return Spent(seconds, megabytes)


def _kept(sources: Path | None) -> dict[str, str]:
    """The environment as people have it: modules stay compiled, which takes 0.6 s of a command, and how many threads
    linear algebra has is a command's own affair."""
    own = ("PYTHONDONTWRITEBYTECODE", "OPENBLAS_NUM_THREADS")
    kept = {name: value for name, value in os.environ.items() if name not in own}
    return kept if sources is None else kept | {"PYTHONPATH": str(sources)}


def measure() -> list[Outcome]:
    """Of every command, microseconds an item over the sizes, the largest first; ratios above one are the start-up."""
    out = []
    for name, job in JOBS.items():
        with tempfile.TemporaryDirectory() as folder:
            found = {size: job(size, Path(folder)) for size in SIZES}
        each = {size: 1e6 * s.seconds / size for size, s in found.items()}
        rows = tuple(Row(f"{size:g} items", t, t / each[SIZES[-1]], None) for size, t in reversed(each.items()))
        facts = tuple(f"{size:g} items: {s.seconds:.1f} s, {s.megabytes:.0f} MB" for size, s in found.items())
        out.append(Outcome(f"growth of {name}, a process of its own", rows, facts))
    return out


def main(arguments: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for size in map(int, arguments[1:]) if len(arguments) > 1 else SIZES:
            found = JOBS[arguments[0]](size, Path(folder))
            print(f"{arguments[0]:<22} {size:>9} {found.seconds:>9.1f} s {found.megabytes:>8.0f} MB", flush=True)


def _positions(count: int, seed: int = 7) -> tuple[np.ndarray, np.ndarray]:
    """Joint values and three markers (N, 3, 3), read to 20 um, of an arm that bends under its own weight and is off by
    tenths of a millimetre and of a milliradian."""
    from elastocal.calibration.tool import tool_of
    from elastocal.model.chain import AXES
    from elastocal.model.compliant.frame_error import FrameError

    rng = np.random.default_rng(7)
    errors = (
        FrameError(frame=j, **{a: float(rng.normal(0.0, 5e-4 if a.startswith("r") else 3e-4)) for a in AXES})
        for j in robot().joints
    )
    true = robot().with_elements(*errors)
    q, noise = configurations(count, seed=seed), np.random.default_rng(seed)
    points = np.empty((count, 3, 3))
    for first in range(0, count, 10_000):
        at = tool_of(true, (), q[first : first + 10_000]).states(np.zeros(0))
        points[first : first + 10_000] = at.origin[:, None] + np.einsum("nij,mj->nmi", at.turn, MARKERS)
    return q, points + noise.normal(0, 2e-5, points.shape)


def _shown(q: np.ndarray) -> np.ndarray:
    return np.degrees(robot().controller.to_controller(q))


def _points_file(count: int, folder: Path, seed: int = 7) -> Path:
    target = folder / f"points-{seed}-{count}.csv"
    q, points = _positions(count, seed)
    names = [f"A{i}_deg" for i in range(1, 7)] + [f"{m}.{a}_mm" for m in ("M1", "M2", "M3") for a in "xyz"]
    table = np.hstack([_shown(q), 1e3 * points.reshape(count, 9)])
    np.savetxt(target, table, "%.9f", ",", header=",".join(names), comments="")
    return _campaign_file(target)


def _campaign_file(table: Path) -> Path:
    target = table.with_suffix(".yaml")
    target.write_text(f"{_CAMPAIGN}{table.name}\n")
    return target


def _calibrate(count: int, folder: Path) -> Spent:
    table = _points_file(count, folder)
    return spent(["-m", "elastocal", "calibrate", table.name, "--out", "c.json", "--report", "c.html"], folder)


def _arrays(count: int, folder: Path) -> Spent:
    q, points = _positions(count)
    np.savez(folder / "a.npz", q=q, points=points)
    code = (
        "import numpy as np, elastocal as ec; d = np.load('a.npz'); r = ec.read_robot('kuka-kr270');"
        "q = r.controller.to_controller(d['q']);"
        "print(ec.calibrate(r, ec.Campaign(q=q, position=d['points'], length='m', angle='rad')))"
    )
    return spent(["-c", code], folder)


def _deflections(count: int, folder: Path) -> Spent:
    from elastocal.model.loads.wrench import AppliedWrenches
    from elastocal.model.statics.deflection import deflection

    q, rng = configurations(count), np.random.default_rng(5)
    wrench = np.zeros((count, 6))
    wrench[:, :3] = rng.normal(0, 900.0, (count, 3))
    moved = deflection(robot(), q, [AppliedWrenches("tool", wrench)]).translation + rng.normal(0, 2e-5, (count, 3))
    names = [f"A{i}_deg" for i in range(1, 7)] + ["fx_N", "fy_N", "fz_N", "tool.dx_mm", "tool.dy_mm", "tool.dz_mm"]
    table = np.hstack([_shown(q), wrench[:, :3], 1e3 * moved])
    np.savetxt(folder / "d.csv", table, "%.9f", ",", header=",".join(names), comments="")
    file = _campaign_file(folder / "d.csv").name
    return spent(["-m", "elastocal", "calibrate", file, "--out", "c.json", "--report", "c.html"], folder)


def _program(kind: str) -> Callable[[int, Path], Spent]:
    options = {
        "krl": ["--base", "at the start of b=1750,0,800,0,0,0", "--tool", "at the start of b=0,100,200,0,0,0"],
        "rapid": ["--base", "wPart=1750,0,800,0,0,0", "--tool", "tMill=0,100,200,0,0,0"],
        "gcode": ["--base", "G54=1750,0,800,0,0,0", "--tool", "T0=0,100,200,0,0,0", "--orientation", "0,0,180"],
        "csv": ["--base", "base=1750,0,800,0,0,0", "--tool", "tool=0,100,200,0,0,0"],
    }

    def run(count: int, folder: Path) -> Spent:
        name, text = programs(count)[kind]
        (folder / name).write_text(text)
        words = ["--robot", NAME, "--near", "0,-90,90,0,90,0", "--force=-400,0,-150", *options[kind]]
        return spent(["-m", "elastocal", "compensate", name, *words, "--out", f"corrected-{count}"], folder)

    return run


def _map(count: int, folder: Path) -> Spent:
    side = round(count**0.5)
    words = ["--map", f"A2:-130:-20:{side},A3:-90:120:{side}", "--csv", "map.csv", "--report", "map.html"]
    return spent(["-m", "elastocal", "stiffness", NAME, *words], folder)


def _small(folder: Path) -> None:
    if not (folder / "small.json").exists():
        table = _points_file(40, folder, 3)
        spent(["-m", "elastocal", "calibrate", table.name, "--out", "small.json"], folder)


def _predict(count: int, folder: Path) -> Spent:
    _small(folder)
    names = [f"A{i}_deg" for i in range(1, 7)]
    shown = _shown(configurations(count, seed=9))
    np.savetxt(folder / "q.csv", shown, "%.9f", ",", header=",".join(names), comments="")
    return spent(["-m", "elastocal", "predict", "small.json", "q.csv", "--csv", "p.csv"], folder)


def _validate(count: int, folder: Path) -> Spent:
    _small(folder)
    return spent(["-m", "elastocal", "validate", "small.json", _points_file(count, folder, 11).name], folder)


JOBS: dict[str, Callable[[int, Path], Spent]] = {
    "calibrate": _calibrate,
    "calibrate-arrays": _arrays,
    "calibrate-deflections": _deflections,
    "compensate-krl": _program("krl"),
    "compensate-rapid": _program("rapid"),
    "compensate-gcode": _program("gcode"),
    "compensate-csv": _program("csv"),
    "stiffness-map": _map,
    "predict": _predict,
    "validate": _validate,
}

if __name__ == "__main__":
    main(sys.argv[1:])
