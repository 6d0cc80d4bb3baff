"""A studio of its own for tests: started as a user starts it, spoken to by HTTP or by a browser."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Studio:
    folder: Path
    address: str
    token: str
    process: subprocess.Popen[str]

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

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)


def start(folder: Path, *words: str) -> Studio:
    process = subprocess.Popen(
        [sys.executable, "-m", "elastocal", "studio", str(folder), "--port", "0", "--json", *words],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert process.stdout is not None
    said: dict[str, Any] = json.loads(process.stdout.readline())
    return Studio(folder, said["address"], said["token"], process)


@contextmanager
def studio(folder: Path, *words: str) -> Iterator[Studio]:
    running = start(folder, *words)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.terminate()
            running.process.wait(30)
        if running.process.stdout is not None:
            running.process.stdout.close()
