"""kill -9 of the server and of the work in the middle of a fit: nothing is lost, and what happened is said."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from studio.studio_desk import served, start, studio
from studio.test_guard import posted
from studio.test_readings import ended

from elastocal.files.lock import locked_by
from elastocal.studio import jobs


@contextmanager
def halted(root: Path) -> Iterator[Future[tuple[jobs.Job, int]]]:
    """The job that is asked for in here and its process, which is stopped as soon as it is at work: however fast it is,
    it does not end before it is looked at."""
    with ThreadPoolExecutor(1) as watch:
        yield watch.submit(_stopped, root, jobs.latest(root))


def _stopped(root: Path, before: jobs.Job | None) -> tuple[jobs.Job, int]:
    for _ in range(60_000):
        job = jobs.latest(root)
        if job is not None and before is not None and job.id == before.id:
            job = None
        owner = None if job is None else locked_by(root / jobs.PLACE / job.id)
        if job is not None and owner and job.phase == "running":
            os.kill(owner, signal.SIGSTOP)
            return job, owner
        assert job is None or job.active, job
        time.sleep(0.001)
    raise AssertionError("the work does not begin")


def files(root: Path) -> dict[str, bytes]:
    kept = ("calibration", "reports", "records", "campaign")
    return {str(p): p.read_bytes() for k in kept for p in sorted((root / k).rglob("*")) if p.is_file()}


def test_work_that_is_killed_is_said_to_be_interrupted_and_can_be_repeated(ready: Path) -> None:
    root = ready / "one"
    before = files(root)
    with served(ready) as running:
        with halted(root) as seen, ThreadPoolExecutor(8) as browsers:
            asked = [browsers.submit(posted, running, "/cell/one/calibrate", {"automatic": "yes"}) for _ in range(8)]
        answers = sorted((a.result()[0], "is running in this cell" in a.result()[2]) for a in asked)
        assert answers == [(303, False), *[(422, True)] * 7]  # of eight browsers at once one begins
        job, process = seen.result()
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
    with halted(root) as seen:
        assert posted(first, "/cell/one/calibrate", {"automatic": "yes"})[0] == 303
    job, process = seen.result()
    first.kill()
    os.kill(process, signal.SIGCONT)
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
    with served(ready) as running:
        with halted(root) as seen:
            assert posted(running, "/cell/one/calibrate", {"automatic": "yes"})[0] == 303
        job, process = seen.result()
        assert posted(running, f"/cell/one/jobs/{job.id}/cancel", {})[0] == 303
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGCONT)
        last = ended(root)
        assert last.phase == "cancelled"
        assert files(root) == before
        assert "was cancelled" in running.get("/cell/one/calibrate")
