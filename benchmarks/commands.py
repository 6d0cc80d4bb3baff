"""Commands as people run them, each in a process of its own: processor time and peak memory, with start-up and files.

The peer of a row is what is asked for: its ratio is the time (or memory) allowed over that spent.  Modules are compiled
before, as they are from the second run on.
"""

from __future__ import annotations

import tempfile
import time
from math import cos, sin
from pathlib import Path

from benchmarks.growth import NAME, Spent, spent
from benchmarks.harness import Outcome, Row

DEMO = {"calibrate": 1.3, "plan": 1.6, "compensate": 1.3, "demo": 6.0}
"""Seconds of the commands on the demonstration: a third of what they took at first, of ``calibrate`` an eighth."""
WORDS = {
    "calibrate": ["calibrate", "."],
    "plan": ["plan", "."],
    "compensate": ["compensate", ".", "--truth", "truth/robot.yaml"],
    "demo": ["demo", "--out", "again"],
}
ROUNDS = 3
LINES, POINTS = 1_000_000, 1_000_000
SECONDS, MEGABYTES, MICROSECONDS, READ = 60.0, 500.0, 8.0, 3e-3


def measure() -> list[Outcome]:
    with tempfile.TemporaryDirectory() as folder:
        return [_demonstration(Path(folder)), _program(Path(folder)), _map(Path(folder)), _reading()]


def _run(words: list[str], folder: Path) -> Spent:
    return spent(["-m", "elastocal", *words], folder)


def _demonstration(folder: Path) -> Outcome:
    """The best of some rounds, after one that compiles and makes the cell."""
    _run(["demo", "--out", "cell"], folder)
    rows, facts = [], []
    for name, allowed in DEMO.items():
        place = folder if name == "demo" else folder / "cell"
        found = [_run(WORDS[name], place) for _ in range(ROUNDS)]
        best = min(found, key=lambda s: s.seconds)
        rows.append(Row(f"{name}: {allowed:g} s over its time", 1e6 * best.seconds, allowed / best.seconds, 1.0))
        facts.append(f"{name}: {best.seconds:.2f} s, {best.megabytes:.0f} MB")
    return Outcome("commands of the demonstration, allowed over spent", tuple(rows), tuple(facts))


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
