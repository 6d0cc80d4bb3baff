"""Run the races, print ratios, write benchmarks/results/latest.json; exit code 1 if a needed ratio was missed."""

from __future__ import annotations

import json
import os
import platform
import sys
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
    kinematics,
    observation,
    posts,
    reports,
    solve,
    stiffness,
)


def main(wanted: list[str]) -> int:
    races = {
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
        "reports": lambda: [reports.measure()],
    }
    unknown = [w for w in wanted if w not in races]
    if unknown:
        print(f"there is no race {unknown[0]!r}; valid: {', '.join(races)}", file=sys.stderr)
        return 2
    outcomes = []
    with threadpool_limits(1):
        for name in wanted or races:
            for outcome in races[name]():
                print(outcome.text(), end="\n\n", flush=True)
                outcomes.append(outcome)
    target = Path(__file__).parent / "results" / "latest.json"
    target.parent.mkdir(exist_ok=True)
    machine = {"machine": platform.machine(), "python": platform.python_version(), "numpy": np.__version__}
    target.write_text(json.dumps({**machine, "races": [o.as_dict() for o in outcomes]}, indent=2) + "\n")
    print(f"written: {target.relative_to(Path.cwd()) if target.is_relative_to(Path.cwd()) else target}")
    return int(any(r.verdict == "MISSED" for o in outcomes for r in o.rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
