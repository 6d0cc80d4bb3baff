"""Run the races, print ratios, write benchmarks/results/latest.json and the figures in docs/performance.md.

A race that is named alone takes the place of its last run.  Exit code 1 if a needed ratio was missed.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # two threads on small chunks were measured up to 20 times slower

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import (
    calibration,
    compensation,
    contact,
    equilibrium,
    exchange,
    gibbs,
    growth,
    kinematics,
    observation,
    page,
    posts,
    reports,
    solve,
    stiffness,
)
from benchmarks.harness import Outcome


def main(wanted: list[str]) -> int:
    races: dict[str, Callable[[], list[Outcome]]] = {
        "kinematics": kinematics.measure,
        "stiffness": lambda: [stiffness.measure()],
        "observation": lambda: [observation.measure()],
        "solve": solve.measure,
        "equilibrium": equilibrium.measure,
        "gibbs": lambda: [gibbs.measure()],
        "exchange": exchange.measure,
        "posts": lambda: [posts.measure()],
        "contact": contact.measure,
        "compensation": compensation.measure,
        "calibration": lambda: [calibration.measure()],
        "growth": growth.measure,
        "reports": lambda: [reports.measure()],
    }
    unknown = [w for w in wanted if w not in races]
    if unknown:
        print(f"there is no race {unknown[0]!r}; valid: {', '.join(races)}", file=sys.stderr)
        return 2
    target = Path(__file__).parent / "results" / "latest.json"
    target.parent.mkdir(exist_ok=True)
    known = json.loads(target.read_text())["races"] if wanted and target.is_file() else {}
    missed = False
    with threadpool_limits(1):
        for name in wanted or races:
            outcomes = []
            for outcome in races[name]():
                print(outcome.text(), end="\n\n", flush=True)
                outcomes.append(outcome.as_dict())
                missed |= any(r.verdict == "MISSED" for r in outcome.rows)
            known[name] = {"day": str(date.today()), "outcomes": outcomes}
            run = {"machine": _processor(), "python": platform.python_version(), "numpy": np.__version__}
            run["races"] = {key: known[key] for key in races if key in known}
            target.write_text(json.dumps(run, indent=2) + "\n")
    page.write(run)
    print(f"written: {target} and {page.PAGE}")
    return int(missed)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
