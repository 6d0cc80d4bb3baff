"""Peak memory of a streamed job above its start: arrays counted by tracemalloc, in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import numpy as np


def growth(job: str, count: int) -> float:
    """MB"""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory", job, str(count)], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def _job(job: str, count: int) -> None:
    from benchmarks.robots import LINKS, configurations, robot
    from elastocal.model.statics.stiffness import stiffness_chunks

    q = configurations(count)
    if job == "stiffness":
        for _ in stiffness_chunks(robot().without(*LINKS), q, compliance=False):
            pass
    elif job == "contact":
        from benchmarks.contact import contacts
        from benchmarks.contact import robot as scara
        from elastocal.model.statics.contact import contact

        kind = contacts(300)
        rows = np.arange(count) % 300
        contact(scara(), kind.q[rows], kind.touches.rows(rows))
    elif job == "solve":
        from benchmarks.solve import Data

        Data.of(count).reduce()


def main() -> None:
    import tracemalloc

    _job(sys.argv[1], 2048)
    tracemalloc.start()
    _job(sys.argv[1], int(sys.argv[2]))
    print(tracemalloc.get_traced_memory()[1] / 1e6)


if __name__ == "__main__":
    main()
