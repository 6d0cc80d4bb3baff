"""The moment of arrival: on the monotonic clock, before the program read, whatever becomes of the wall clock."""

from __future__ import annotations

import socket
import struct
import sys

import pytest

from elastocal.record import network
from elastocal.record.network import Clock

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux stamps datagrams")
HOUR, WAIT = 3600 * 10**9, 50 * 10**6
READ, WALL = 7 * HOUR, 1_700_000_000 * 10**9


class Stamping:
    """A socket whose datagram was stamped at a moment of the wall clock."""

    def __init__(self, stamp: int) -> None:
        self.stamp = stamp

    def setsockopt(self, *_: object) -> None:
        pass

    def recvmsg(self, *_: object) -> tuple[bytes, list[tuple[int, int, bytes]], int, tuple[str, int]]:
        extra = struct.pack("@qq", *divmod(self.stamp, 10**9))
        return b"hello", [(socket.SOL_SOCKET, 35, extra)], 0, ("192.0.2.1", 49152)


def arrived(stamp: int) -> int:
    receive, stamped = network.receiver(Stamping(stamp), 100, Clock(lambda: READ, lambda: WALL))
    assert stamped
    datagram = receive()
    assert datagram.data == b"hello"
    return datagram.arrived


@linux
def test_the_wait_before_reading_counts():
    assert arrived(WALL - WAIT) == READ - WAIT


@linux
def test_a_clock_that_is_set_back_makes_no_arrival_in_the_future():
    assert arrived(WALL + HOUR) == READ


@linux
def test_the_system_stamps_real_datagrams():
    """By a wall clock that is an hour ahead of the system's: the stamp is of the system's, so the wait is an hour."""
    clock = Clock(lambda: READ, lambda: network.SYSTEM.wall() + HOUR)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.settimeout(60)
        receive, stamped = network.receiver(sock, 100, clock)
        sock.sendto(b"x", sock.getsockname())
        assert stamped
        assert receive().arrived <= READ - HOUR


def test_without_stamps_the_moment_of_reading_counts(monkeypatch):
    monkeypatch.setattr(sys, "platform", "other")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.settimeout(60)
        receive, stamped = network.receiver(sock, 100, Clock(lambda: READ, lambda: WALL))
        sock.sendto(b"x", sock.getsockname())
        assert not stamped
        assert receive().arrived == READ
