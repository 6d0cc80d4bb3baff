"""A controller that is not there: sends RSI telegrams on time, for rehearsals without a robot.

The telegrams are those of a KR 5 that sweeps its axes 2, 3 and 5 slowly, with the torques of 001 eq. (15)-(17).
"""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from itertools import count

import numpy as np

from elastocal.record.network import Address
from elastocal.values import dataclass

FIRST = 4_208_163_634
SWEEP = 20.0
"""Seconds of one sweep to and fro."""
PATIENCE = 2.0
"""Seconds without an answer after which it stops, as a controller does."""
LINGER = 0.25
"""Seconds that it waits for answers to the last telegrams."""


@dataclass(frozen=True)
class Sent:
    """A datagram of ``step``, whose telegram has ``ipoc``; ``whole`` ones must be answered."""

    step: int
    ipoc: int
    data: bytes
    whole: bool = True


def telegram_at(step: int, cycle_ms: int) -> bytes:
    """Angles in deg, torques in N m."""
    swing = np.sin(2e-3 * np.pi * step * cycle_ms / SWEEP)
    degrees = np.array([0.0, -90 + 30 * swing, 90 - 20 * swing, 0.0, 40 * swing, 0.0])
    a2, a3, a5 = np.radians(degrees[[1, 2, 4]])
    torque5 = -11.47 * np.cos(a2 + a3 + a5) + 4.90 * np.sin(a2 + a3 + a5)
    torque3 = -126.28 * np.cos(a2 + a3 - np.radians(44.85)) + torque5
    torques = (0.0, -375.70 * np.cos(a2) + torque3, torque3, 0.0, torque5, 0.0)
    values, loads = (" ".join(f'A{i + 1}="{x:.4f}"' for i, x in enumerate(row)) for row in (degrees, torques))
    ipoc = FIRST + step * cycle_ms
    return (f'<Rob Type="KUKA"><AIPos {values}/><GearTorque {loads}/><Delay D="0"/><IPOC>{ipoc}</IPOC></Rob>').encode(
        "ascii"
    )


def send(
    plan: Iterable[Sent], cycle_ms: int, to: Address, patience: float = PATIENCE, awaited: int | None = None
) -> list[bytes]:
    """Sends every datagram in its step's cycle, and gives back the answers; gives up after ``patience`` without any.

    In the end it waits for ``awaited`` answers, by default for a moment.
    """
    family = socket.AF_INET6 if to.ip.version == 6 else socket.AF_INET
    answers: list[bytes] = []
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        began = heard = time.monotonic()
        for sent in plan:
            before = len(answers)
            _collect(sock, answers, began + 1e-3 * cycle_ms * sent.step)
            now = time.monotonic()
            heard = now if len(answers) > before else heard
            if now - heard > patience:
                break
            with suppress(ConnectionError):
                sock.sendto(sent.data, (str(to.ip), to.port))
        _collect(sock, answers, time.monotonic() + (LINGER if awaited is None else patience), awaited)
    return answers


def _collect(sock: socket.socket, answers: list[bytes], until: float, awaited: int | None = None) -> None:
    """Answers that come before a moment, or until there are ``awaited``."""
    while (left := until - time.monotonic()) > 0 and (awaited is None or len(answers) < awaited):
        sock.settimeout(left)
        try:
            answers.append(sock.recv(2048))
        except TimeoutError:
            return
        except ConnectionError:  # nobody listens
            time.sleep(min(left, 1e-3))


@contextmanager
def rehearsal(to: Address, cycle_ms: int) -> Iterator[None]:
    """Telegrams without faults from a process of its own, so that the two do not wait for one another."""
    words = [sys.executable, "-m", "elastocal.record.simulated", str(to.ip), str(to.port), str(cycle_ms)]
    with subprocess.Popen(words) as sending:
        try:
            yield
        finally:
            sending.terminate()


def _main(host: str, port: int, cycle_ms: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the recorder, which then ends this process
    endless = (Sent(step, FIRST + step * cycle_ms, telegram_at(step, cycle_ms)) for step in count())
    send(endless, cycle_ms, Address(ip_address(host), port))


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
