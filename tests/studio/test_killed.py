"""kill -9 of the server and of the work in the middle of a fit: nothing is lost, and what happened is said."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from studio.studio_desk import start, studio
from studio.test_guard import posted
from studio.test_readings import ended

from elastocal.files.lock import locked_by
from elastocal.studio import jobs


def working(root: Path) -> tuple[jobs.Job, int]:
    """The job and its process, once the command is at work."""
    for _ in range(3000):
        job = jobs.latest(root)
        owner = None if job is None else locked_by(root / jobs.PLACE / job.id)
        if job is not None and owner and job.phase == "running":
            return job, owner
        assert job is None or job.active, job
        time.sleep(0.02)
    raise AssertionError("the work does not begin")


def files(root: Path) -> dict[str, bytes]:
    kept = ("calibration", "reports", "records", "campaign")
    return {str(p): p.read_bytes() for k in kept for p in sorted((root / k).rglob("*")) if p.is_file()}


def test_work_that_is_killed_is_said_to_be_interrupted_and_can_be_repeated(ready: Path) -> None:
    root = ready / "one"
    before = files(root)
    with studio(ready) as running:
        with ThreadPoolExecutor(8) as browsers:
            asked = [browsers.submit(posted, running, "/cell/one/calibrate", {"automatic": "yes"}) for _ in range(8)]
        answers = sorted((a.result()[0], "is running in this cell" in a.result()[2]) for a in asked)
        assert answers == [(303, False), *[(422, True)] * 7]  # of eight browsers at once one begins
        job, process = working(root)
        os.kill(process, signal.SIGKILL)
        assert ended(root).phase == "interrupted"
        text = running.get("/cell/one/calibrate")
        assert "was interrupted" in text
        assert files(root) == before
        assert posted(running, f"/cell/one/jobs/{job.id}/again", {})[0] == 303
        assert ended(root).phase == "done"


def test_work_goes_on_without_its_server_and_is_found_by_the_next(ready: Path) -> None:
    root = ready / "one"
    first = start(ready)
    assert posted(first, "/cell/one/calibrate", {"automatic": "yes"})[0] == 303
    job, _ = working(root)
    first.kill()
    assert first.process.stdout is not None
    first.process.stdout.close()
    with studio(ready) as second:
        assert second.token != first.token
        assert second.ask("/", headers={"Cookie": first.cookie})[0] == 403  # a new start, a new token
        last = ended(root)
        assert (last.id, last.phase) == (job.id, "done")
        assert "predicts a pose" in second.get("/cell/one/calibrate")
    assert locked_by(root / jobs.PLACE / job.id) is None


def test_cancelled_work_leaves_everything_as_it_was(ready: Path) -> None:
    root = ready / "one"
    before = files(root)
    with studio(ready) as running:
        assert posted(running, "/cell/one/calibrate", {"automatic": "yes"})[0] == 303
        job, _ = working(root)
        assert posted(running, f"/cell/one/jobs/{job.id}/cancel", {})[0] == 303
        last = ended(root)
        assert last.phase == "cancelled"
        assert files(root) == before
        assert "was cancelled" in running.get("/cell/one/calibrate")
