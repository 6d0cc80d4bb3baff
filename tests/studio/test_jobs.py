"""Jobs of a cell, in the order in which they were asked for."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from elastocal.studio import jobs


def test_the_latest_of_two_jobs_of_one_second_is_the_one_asked_for_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments, marks = iter([1e9 + 0.25, 1e9 + 0.5, 1e9 + 0.75]), iter(["c", "b", "a"])
    clock = SimpleNamespace(time=lambda: next(moments), strftime=time.strftime, gmtime=time.gmtime)
    with monkeypatch.context() as patched:
        patched.setattr(jobs, "time", clock)
        patched.setattr(jobs, "secrets", SimpleNamespace(token_hex=lambda size: next(marks)))
        patched.setattr(jobs._SPARE, "work", lambda place, folder: None)
        patched.setattr(jobs, "running", lambda root: None)
        patched.setattr(jobs, "_forget", lambda root: None)
        for title in ("first", "second", "third"):
            jobs.start(tmp_path, tmp_path, ("status",), title, "/")
    assert [job.title for job in jobs.every(tmp_path)] == ["third", "second", "first"]
