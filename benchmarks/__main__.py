"""Run the races, print ratios, write benchmarks/results/latest.json and the figures in docs/performance.md.

All figures of the page are those of one run, and so is the table of growth, which is written where growth alone is
named; other races that are named are printed, and no page is written.  Exit code 1 if a needed ratio was missed.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # two threads on small chunks were measured up to 20 times slower

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import (
    calibration,
    commands,
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
        "commands": commands.measure,
        "growth": growth.measure,
        "reports": lambda: [reports.measure()],
    }
    unknown = [w for w in wanted if w not in races]
    if unknown:
        print(f"there is no race {unknown[0]!r}; valid: {', '.join(races)}", file=sys.stderr)
        return 2
    target = Path(__file__).parent / "results" / "latest.json"
    target.parent.mkdir(exist_ok=True)
    run: dict[str, Any] = {
        "machine": _processor(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "races": {},
    }
    begun, missed = time.process_time(), False
    with threadpool_limits(1):
        for name in wanted or races:
            outcomes, start = [], time.monotonic()
            for outcome in races[name]():
                print(outcome.text(), end="\n\n", flush=True)
                outcomes.append(outcome.as_dict())
                missed |= any(r.verdict == "MISSED" for r in outcome.rows)
            print(f"  ({name} took {time.monotonic() - start:.0f} s)\n", flush=True)
            run["races"][name] = outcomes
            if not wanted or wanted == ["growth"]:
                own, others = time.process_time() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
                run["minutes"] = (own + others.ru_utime + others.ru_stime) / 60
                page.write(run)
            if not wanted:
                target.write_text(json.dumps(run, indent=2) + "\n")
    if not wanted:
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
