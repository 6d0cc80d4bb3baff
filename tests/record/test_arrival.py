"""The moment of arrival: on the monotonic clock, before the program read, whatever becomes of the wall clock."""

from __future__ import annotations

import socket
import sys
import time

import pytest

from elastocal.record import arrival

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux stamps datagrams")
HOUR = 3600 * 10**9


@pytest.fixture
def waiting():
    """A datagram that has waited in its socket for 50 ms, and when it was sent."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other,
    ):
        sock.bind(("127.0.0.1", 0))
        sock.settimeout(5)
        receive, stamped = arrival.receiver(sock, 100)
        assert stamped
        sent = time.monotonic_ns()
        other.sendto(b"hello", sock.getsockname())
        time.sleep(0.05)
        yield receive, sent


def test_the_wait_before_reading_counts(waiting):
    receive, sent = waiting
    datagram = receive()
    assert datagram.data == b"hello"
    assert time.monotonic_ns() - datagram.arrived > 45e6
    assert datagram.arrived > sent - 1e6


def test_a_clock_that_is_set_back_makes_no_arrival_in_the_future(waiting, monkeypatch):
    receive, sent = waiting
    wall = time.time_ns
    monkeypatch.setattr(arrival.time, "time_ns", lambda: wall() - HOUR)
    assert sent < receive().arrived <= time.monotonic_ns()


def test_without_stamps_the_moment_of_reading_counts(waiting, monkeypatch):
    _, sent = waiting
    monkeypatch.setattr(sys, "platform", "other")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.settimeout(5)
        receive, stamped = arrival.receiver(sock, 100)
        sock.sendto(b"x", sock.getsockname())
        assert not stamped
        assert sent < receive().arrived <= time.monotonic_ns()
