"""How commands grow: processor time and peak memory of a process of its own, over decades of rows, lines and points.

python -m benchmarks growth                     every command at 1e2, 1e3, 1e4 and 1e5, some at 1e6
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

from benchmarks import long_inputs as inputs
from benchmarks.harness import Outcome, Row
from benchmarks.long_inputs import NAME

SIZES = (100, 1_000, 10_000, 100_000)
MILLION = 1_000_000


@dataclass(frozen=True)
class Spent:
    """Of one process: processor time in s, peak memory in MB, and MB of the files that it found and wrote."""

    seconds: float
    megabytes: float
    given: float = 0.0
    written: float = 0.0


_WATCH = """
import json, os, subprocess, sys
with open("said.txt", "wb") as said:
    process = subprocess.Popen(sys.argv[1:], stdout=said, stderr=said)
    _, status, usage = os.wait4(process.pid, 0)
process.returncode = code = os.waitstatus_to_exitcode(status)
print(json.dumps([code, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]))
"""
"""A process counts the memory of the one that started it until it is itself: a small one starts it."""


def spent(arguments: list[str], folder: Path, sources: Path | None = None, codes: tuple[int, ...] = (0,)) -> Spent:
    """Run a command, of other ``sources`` if wished; what it says goes to a file, so that a long answer counts too."""
    watch = [sys.executable, "-S", "-c", _WATCH, sys.executable, *arguments]
    given = _size(folder)
    said = subprocess.run(watch, cwd=folder, env=_kept(sources), check=True, capture_output=True, text=True).stdout
    code, seconds, megabytes = json.loads(said)
    if code not in codes:
        raise SystemExit(f"{' '.join(arguments)}: {(folder / 'said.txt').read_text()[-2000:]}")
    return Spent(seconds, megabytes, given, _size(folder) - given)


def _size(folder: Path) -> float:
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file() and f.name != "said.txt") / 1e6


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
        found = {size: run(job, size) for size in job.sizes}
        each = {size: 1e6 * s.seconds / size for size, s in found.items()}
        rows = tuple(Row(f"{size:g} items", t, t / each[job.sizes[-1]], None) for size, t in reversed(each.items()))
        facts = tuple(f"{size:g} items: {s.seconds:.1f} s, {s.megabytes:.0f} MB" for size, s in found.items())
        files = f"files: {found[job.sizes[-1]].given:.3g} MB read, {found[job.sizes[-1]].written:.3g} MB written"
        out.append(Outcome(f"growth of {name}, a process of its own", rows, (*facts, files)))
    return out


def main(arguments: list[str]) -> None:
    """Names of commands and sizes; all of them where none is named."""
    sizes = [int(word) for word in arguments if word.isdigit()]
    for name in [word for word in arguments if not word.isdigit()] or JOBS:
        for size in sizes or JOBS[name].sizes:
            s = run(JOBS[name], size)
            files = f"{s.given:>8.3g} MB read {s.written:>8.3g} MB written"
            print(f"{name:<22} {size:>9} {s.seconds:>9.1f} s {s.megabytes:>8.0f} MB {files}", flush=True)


@dataclass(frozen=True)
class Job:
    """``words`` writes what a command reads and gives its words; ``code`` has it run where there is no command."""

    words: Callable[[int, Path], list[str]]
    sizes: tuple[int, ...] = SIZES
    code: bool = False
    codes: tuple[int, ...] = (0,)


def run(job: Job, size: int) -> Spent:
    with tempfile.TemporaryDirectory() as folder:
        words = job.words(size, Path(folder))
        return spent(
            ["-c" if job.code else "-m", *([] if job.code else ["elastocal"]), *words], Path(folder), codes=job.codes
        )


Words = Callable[[int, Path], list[str]]


def _on(file: Callable[[int, Path], Path], command: str, *more: str) -> Words:
    """A command on a file."""
    return lambda count, folder: [*command.split(), file(count, folder).name, *more]


def _arrays(count: int, folder: Path) -> list[str]:
    q, points = inputs.positions(count)
    np.savez(folder / "a.npz", q=q, points=points)
    return [
        "import numpy as np, elastocal as ec; d = np.load('a.npz'); r = ec.read_robot('kuka-kr270');"
        "q = r.controller.to_controller(d['q']);"
        "print(ec.calibrate(r, ec.Campaign(q=q, position=d['points'], length='m', angle='rad')))"
    ]


def _map(*more: str) -> Words:
    def words(count: int, folder: Path) -> list[str]:
        side = round(count**0.5)
        return ["stiffness", NAME, "--map", f"A2:-130:-20:{side},A3:-90:120:{side}", *more, "--report", "map.html"]

    return words


def _grid(count: int, folder: Path) -> list[str]:
    step = 600 / (count ** (1 / 3) - 1)
    words = ["--box", "1300,-300,600,1900,300,1200", "--step-mm", f"{step:.6f}", "--force=0,0,-500"]
    return ["grid", NAME, *words, "--near", "0,-90,90,0,90,0", "--csv", "grid.csv", "--report", "grid.html"]


def _calibrated(words: Callable[[int, Path], list[str]]) -> Words:
    """After a calibration by 40 poses, which is not counted."""

    def after(count: int, folder: Path) -> list[str]:
        spent(["-m", "elastocal", "calibrate", inputs.points_file(40, folder, 3).name, "--out", "small.json"], folder)
        return words(count, folder)

    return after


def _predict(*more: str) -> Words:
    return _calibrated(_on(inputs.configurations_file, "predict small.json", "--csv", "p.csv", *more))


def _log(seconds: float, pace: float) -> Words:
    return _on(
        lambda n, f: inputs.log_file(n, f, seconds, pace),
        "gravity",
        "kuka-kr5",
        "--report",
        "g.html",
        "--out",
        "g.yaml",
    )


def _plan(count: int, folder: Path) -> list[str]:
    return ["plan", NAME, "--hang", "250", "--seek", "A[2-6].k", "--candidates", str(count), "--out", "plan"]


def _simulate(count: int, folder: Path) -> list[str]:
    return ["simulate", inputs.plan_file(count, folder).name, "--out", "virtual"]


_CALIBRATE = ("--out", "c.json", "--report", "c.html")
_TO_MILLION = (*SIZES, MILLION)
_PROGRAMS = {"krl": _TO_MILLION, "gcode-cam": _TO_MILLION, "fanuc": (*SIZES[:-1], 30_000)}
"""A FANUC program has 32 766 positions at most."""
JOBS: dict[str, Job] = {
    "calibrate": Job(_on(inputs.points_file, "calibrate", *_CALIBRATE)),
    "calibrate-arrays": Job(_arrays, code=True),
    "calibrate-deflections": Job(_on(inputs.deflections_file, "calibrate", *_CALIBRATE)),
    **{
        f"compensate-{kind}": Job(inputs.program(kind), _PROGRAMS.get(kind, SIZES))
        for kind in inputs.PROGRAMS
    },
    "gravity": Job(_log(600.0, 1.0), _TO_MILLION),
    "gravity-moving": Job(_log(60.0, 8.0), _TO_MILLION),
    "transmission": Job(_on(inputs.counts_file, "transmission", "--report", "t.html"), SIZES[:-1]),
    "loops": Job(_on(inputs.loops_file, "loops", "--report", "l.html")),
    "iso9283": Job(_on(inputs.visits_file, "iso9283", "--report", "i.html")),
    "kinetostatics": Job(
        _on(inputs.targets_file, "kinetostatics scara-ruggeri --near 0,90 --csv k.csv --table"), codes=(0, 1)
    ),
    "stiffness-map": Job(_map(), _TO_MILLION),
    "stiffness-map-table": Job(_map("--csv", "map.csv"), _TO_MILLION),
    "stiffness-table": Job(_on(inputs.configurations_file, f"stiffness {NAME} --csv s.csv --configurations")),
    "deflect": Job(_on(inputs.configurations_file, f"deflect {NAME} --force=0,0,-900 --csv s.csv --configurations")),
    "grid": Job(_grid),
    "predict": Job(_predict()),
    "predict-loaded": Job(_predict("--force=0,0,-900")),
    "validate": Job(_calibrated(lambda n, f: ["validate", "small.json", inputs.points_file(n, f, 11).name])),
    "plan-candidates": Job(_plan),
    "simulate": Job(_simulate),
    "assess": Job(_on(inputs.plan_file, "assess")),
    "assess-contacts": Job(_on(inputs.contacts_file, "assess")),
}  # fmt: skip

if __name__ == "__main__":
    main(sys.argv[1:])
