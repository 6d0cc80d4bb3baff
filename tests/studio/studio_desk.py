"""A studio of its own for tests: started as a user starts it or by a thread, spoken to by HTTP or by a browser."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from elastocal.studio import jobs, worker
from elastocal.studio.serve import bind, create_app, server_of


@dataclass
class Studio:
    folder: Path
    address: str
    token: str

    @property
    def host(self) -> str:
        return self.address.removeprefix("http://")

    @property
    def opened(self) -> str:
        return f"{self.address}/?token={self.token}"

    @property
    def cookie(self) -> str:
        return f"elastocal-studio-{self.host.split(':')[1]}={self.token}"

    def ask(
        self, path: str, method: str = "GET", body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> tuple[int, dict[str, str], str]:
        """Status, headers and text of an answer; nothing is added to what a test sends but the host."""
        connection = http.client.HTTPConnection(self.host, timeout=60)
        try:
            connection.request(method, path, body or None, dict(headers or {}))
            answer = connection.getresponse()
            text = answer.read().decode("utf-8", errors="replace")
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, text
        finally:
            connection.close()

    def get(self, path: str) -> str:
        status, _, text = self.ask(path, headers={"Cookie": self.cookie, "Accept": "text/html"})
        assert status == 200, text
        return text


@dataclass
class Process(Studio):
    process: subprocess.Popen[str]

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)


def start(folder: Path, *words: str) -> Process:
    process = subprocess.Popen(
        [sys.executable, "-m", "elastocal", "studio", str(folder), "--port", "0", "--json", *words],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert process.stdout is not None
    said: dict[str, Any] = json.loads(process.stdout.readline())
    return Process(folder, said["address"], said["token"], process)


@contextmanager
def studio(folder: Path, *words: str) -> Iterator[Process]:
    """As a user starts it: a process of its own."""
    running = start(folder, *words)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.terminate()
            running.process.wait(30)
        if running.process.stdout is not None:
            running.process.stdout.close()


class Forked:
    """Work in a process that has loaded already what the tests have; it takes its line as ``worker`` does."""

    def __init__(self, cell: Path | None) -> None:
        reader, writer = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the threads of a server are no concern of the work
            self.process = os.fork()
        if self.process == 0:
            code = 1
            try:
                os.setsid()
                os.close(writer)
                os.dup2(reader, 0)
                sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
                sys.argv = ["worker", *([] if cell is None else [str(cell)])]
                code = worker.wait()
            finally:
                os._exit(code)
        os.close(reader)
        self.stdin = os.fdopen(writer, "wb")

    def poll(self) -> int | None:
        return None


@contextmanager
def served(folder: Path) -> Iterator[Studio]:
    """By a thread of this process, which has loaded everything: for tests of what it answers, not of how it starts."""
    bound = bind("127.0.0.1", 0)
    server = server_of(create_app(folder, bound.key))
    work = list[Forked]()

    def begun(cell: Path | None) -> Forked:
        work.append(Forked(cell))
        return work[-1]

    with patch.object(jobs._Spare, "_begun", staticmethod(begun)):
        thread = threading.Thread(target=server.run, args=([bound.listening],))
        thread.start()
        try:
            yield Studio(folder, bound.address, bound.key.token)
        finally:
            server.should_exit = True
            thread.join(30)
            for one in work:
                os.waitpid(one.process, 0)


def at_new_poses(table: Path) -> bytes:
    """The same readings a little beside their poses: by those of a calibration itself nothing is decided."""
    head, *rows = table.read_text(encoding="utf-8").splitlines()
    axis = next(i for i, title in enumerate(head.split(",")) if title.endswith("_deg"))
    cells = [row.split(",") for row in rows]
    moved = [[*c[:axis], f"{float(c[axis]) + 0.01:.6g}", *c[axis + 1 :]] for c in cells]
    return "\n".join([head, *map(",".join, moved), ""]).encode()
