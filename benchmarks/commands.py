"""Commands as people run them, each in a process of its own: processor time and peak memory, with start-up and files.

The demonstration's commands race against the first version of them, taken from git.  The peer of the other rows is
what is asked for: their ratio is the time (or memory) allowed over that spent.  Modules are compiled before, as they
are from the second run on.
"""

from __future__ import annotations

import subprocess
import tarfile
import tempfile
import time
from math import cos, sin
from pathlib import Path

from benchmarks.growth import NAME, Spent, spent
from benchmarks.harness import Outcome, Row

FIRST = "474ad2f"
"""The version whose commands were measured first."""
DEMO = {"calibrate": 8.0, "plan": 3.0, "compensate": 3.0, "demo": 3.0}
"""How many times less than there is asked for."""
WORDS = {
    "calibrate": ["calibrate", "."],
    "plan": ["plan", "."],
    "compensate": ["compensate", ".", "--truth", "truth/robot.yaml"],
    "demo": ["demo", "--out", "again"],
}
FIRST_WORDS = WORDS | {"calibrate": ["identify", "."]}
ROUNDS = 3
LINES, POINTS = 1_000_000, 1_000_000
SECONDS, MEGABYTES, MICROSECONDS, READ = 60.0, 500.0, 8.0, 3e-3


def measure() -> list[Outcome]:
    with tempfile.TemporaryDirectory() as folder:
        return [_demonstration(Path(folder)), _program(Path(folder)), _map(Path(folder)), _reading()]


def _run(words: list[str], folder: Path, sources: Path | None = None) -> Spent:
    return spent(["-m", "elastocal", *words], folder, sources)


def _demonstration(folder: Path) -> Outcome:
    """Against the first version where git has it, in turn, each on its own demonstration's cell; the best counts."""
    first = _first_version(folder / "first")
    versions = {"now": None} if first is None else {"now": None, "first": first}
    for version, sources in versions.items():
        (folder / version).mkdir(exist_ok=True)
        _run(["demo", "--out", "cell"], folder / version, sources)
    rows, facts = [], []
    for name, needed in DEMO.items():
        best = _best(name, folder, versions)
        seconds = best["now"].seconds
        ratio = best["first"].seconds / seconds if first else float("nan")
        rows.append(Row(f"{name}: time at {FIRST} over its time", 1e6 * seconds, ratio, needed if first else None))
        facts.append(f"{name}: " + "; ".join(f"{v} {s.seconds:.2f} s, {s.megabytes:.0f} MB" for v, s in best.items()))
    if first is None:
        facts.append(f"{FIRST} is not at hand: no git history here")
    return Outcome(f"commands of the demonstration against {FIRST}", tuple(rows), tuple(facts))


def _best(name: str, folder: Path, versions: dict[str, Path | None]) -> dict[str, Spent]:
    runs: dict[str, list[Spent]] = {version: [] for version in versions}
    for _ in range(ROUNDS):
        for version, sources in versions.items():
            place = folder / version if name == "demo" else folder / version / "cell"
            words = WORDS if sources is None else FIRST_WORDS
            runs[version].append(_run(words[name], place, sources))
    return {version: min(all_of, key=lambda s: s.seconds) for version, all_of in runs.items()}


def _first_version(folder: Path) -> Path | None:
    """Its sources, or None where there is no such history; they run with the packages of this version."""
    folder.mkdir()
    archive = folder / "first.tar"
    words = ["git", "archive", "--output", str(archive), FIRST, "src"]
    try:
        done = subprocess.run(words, cwd=Path(__file__).parents[1], capture_output=True)
    except OSError:
        return None
    if done.returncode:
        return None
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder / "src"


def _program(folder: Path) -> Outcome:
    """A spiral that a CAM system could have written, in KRL."""
    with (folder / "b.src").open("w") as file:
        file.write("DEF b()\n")
        for i in range(LINES):
            x, y, z = 300 * cos(i / 500), 300 * sin(i / 500), -i / 1e5
            file.write(f"LIN {{X {x:.3f},Y {y:.3f},Z {z:.3f},A 10.000,B 5.000,C 180.000}} C_DIS\n")
        file.write("END\n")
    frames = ["--base", "at the start of b=1750,0,800,0,0,0", "--tool", "at the start of b=0,100,200,0,0,0"]
    load = ["--robot", NAME, "--near", "0,-90,90,0,90,0", "--force=-400,0,-150"]
    found = _run(["compensate", "b.src", *load, *frames, "--out", "corrected"], folder)
    each = 1e6 * found.seconds / LINES
    rows = (
        Row(f"{SECONDS:g} s over its time", each, SECONDS / found.seconds, 1.0),
        Row(f"{MEGABYTES:g} MB over its memory", each, MEGABYTES / found.megabytes, 1.0),
    )
    facts = (f"{found.seconds:.0f} s, {found.megabytes:.0f} MB",)
    return Outcome(f"compensate a KRL program of {LINES} lines, allowed over spent", rows, facts)


def _map(folder: Path) -> Outcome:
    """With its report; the same with a table of every point."""
    side = round(POINTS**0.5)
    words = ["stiffness", NAME, "--map", f"A2:-130:-20:{side},A3:-90:120:{side}", "--report", "map.html"]
    found, listed = _run(words, folder), _run([*words, "--csv", "map.csv"], folder)
    each, more = (1e6 * s.seconds / POINTS for s in (found, listed))
    rows = (
        Row(f"map and report: {MICROSECONDS:g} us a point over its time", each, MICROSECONDS / each, 1.0),
        Row(f"with a table of all points: {MICROSECONDS:g} us over its time", more, MICROSECONDS / more, 1.0),
    )
    facts = tuple(f"{w}: {s.seconds:.1f} s, {s.megabytes:.0f} MB" for w, s in (("map", found), ("table", listed)))
    return Outcome(f"stiffness map of {POINTS} points, allowed over spent", rows, facts)


def _reading() -> Outcome:
    """Another text every time, so that nothing is remembered."""
    from elastocal.files.robot.read import robot_from_text, shipped_text

    text, times = shipped_text(NAME), []
    for i in range(30):
        start = time.process_time()
        robot_from_text(f"{text}# {i}\n", f"{NAME}.yaml")
        times.append(time.process_time() - start)
    best = min(times)
    return Outcome("robot file read", (Row("3 ms over its time", 1e6 * best, READ / best, 1.0),))
