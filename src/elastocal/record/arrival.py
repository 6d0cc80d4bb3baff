"""A datagram with the moment it reached this machine, as the system noted it.

The moment that a program reads a datagram hides how long it has waited for the program.  Linux stamps datagrams on
arrival (SO_TIMESTAMPNS); elsewhere the moment of reading must do, and the recorder says so.  Stamps are of the wall
clock, which may be set while a recording runs, so only the wait is taken from them: all moments are of the monotonic
clock.
"""

from __future__ import annotations

import socket
import struct
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_STAMPS = 35
"""SO_TIMESTAMPNS of Linux, which Python does not name."""
_SPEC = struct.Struct("@qq")


@dataclass(frozen=True)
class Datagram:
    """``arrived`` is in ns of ``time.monotonic_ns``."""

    data: bytes
    peer: Any
    arrived: int


def receiver(sock: socket.socket, largest: int) -> tuple[Callable[[], Datagram], bool]:
    """A function that waits for the next datagram, and whether the system stamps them."""
    if sys.platform == "linux":
        try:
            sock.setsockopt(socket.SOL_SOCKET, _STAMPS, 1)
        except OSError:
            return lambda: _plain(sock, largest), False
        return lambda: _stamped(sock, largest), True
    return lambda: _plain(sock, largest), False


def _plain(sock: socket.socket, largest: int) -> Datagram:
    data, peer = sock.recvfrom(largest)
    return Datagram(data, peer, time.monotonic_ns())


def _stamped(sock: socket.socket, largest: int) -> Datagram:
    data, extra, _, peer = sock.recvmsg(largest, 64)
    read, shown, waited = time.monotonic_ns(), time.time_ns(), 0
    for level, kind, content in extra:
        if level == socket.SOL_SOCKET and kind == _STAMPS and len(content) == _SPEC.size:
            seconds, ns = _SPEC.unpack(content)
            waited = max(0, shown - (seconds * 1_000_000_000 + ns))
    return Datagram(data, peer, read - waited)
