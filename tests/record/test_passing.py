"""What Windows reports of a wait ends no recording; what is really wrong does."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from elastocal.files.write import AppendedLog
from elastocal.record import rsi
from elastocal.record.network import Datagram
from elastocal.record.rsi import Peer
from elastocal.record.simulated import telegram_at
from elastocal.record.statistics import TelegramTally


class Socket:
    """Takes answers."""

    def __init__(self) -> None:
        self.answers: list[bytes] = []

    def sendto(self, data: bytes, peer: object) -> int:
        self.answers.append(data)
        return len(data)


def recorded(out: Path, errors: list[int], monkeypatch: pytest.MonkeyPatch) -> int:
    """Answers to a telegram that comes after these errors of the socket."""
    coming = [OSError(number, "as on Windows") for number in errors]
    sock = Socket()

    def receive() -> Datagram:
        if coming:
            raise coming.pop(0)
        return Datagram(telegram_at(0, 4), ("192.0.2.1", 49152), 0)

    monkeypatch.setattr(rsi, "receiver", lambda *_: (receive, False))
    with AppendedLog(out, b"first") as log:
        rsi.record(sock, log, TelegramTally(), "x", lambda: bool(sock.answers), Peer(None))  # type: ignore[arg-type]
    return len(sock.answers)


def test_passing_errors_are_waited_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    errors = [errno.ECONNRESET, errno.ENETRESET, errno.EMSGSIZE]
    assert recorded(tmp_path / "log.xml", errors, monkeypatch) == 1


def test_a_broken_socket_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OSError, match="as on Windows"):
        recorded(tmp_path / "log.xml", [errno.EBADF], monkeypatch)
