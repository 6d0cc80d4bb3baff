"""Where a recorder listens, and datagrams with the moment they reached this machine.

It listens at one address of this machine, in numbers, never at all of them.

The moment that a program reads a datagram hides how long it has waited for the program.  Linux stamps datagrams on
arrival (SO_TIMESTAMPNS); elsewhere the moment of reading must do, and the recorder says so.  Stamps are of the wall
clock, which may be set while a recording runs, so only the wait is taken from them: all moments are of the monotonic
clock.
"""

from __future__ import annotations

import errno
import socket
import struct
import sys
import time
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

from elastocal.errors import FileError, InputError
from elastocal.values import dataclass

_AS_IN = "give the address of this machine that the controller sends to, as in 192.168.1.10:49152"
BUFFER = 1 << 20
"""Bytes that the system keeps for us while the program is held up."""
PATIENCE = 0.1
"""Seconds after which a wait looks whether it should end."""


@dataclass(frozen=True)
class Address:
    ip: IPv4Address | IPv6Address
    port: int

    def __str__(self) -> str:
        return f"[{self.ip}]:{self.port}" if self.ip.version == 6 else f"{self.ip}:{self.port}"


def read_address(text: str) -> Address:
    """``192.168.1.10:49152`` or ``[fe80::1]:49152``; port 0 takes a free one."""
    host, colon, port = text.strip().rpartition(":")
    if not colon or not (port.isascii() and port.isdecimal() and int(port) < 65536):
        raise _refused("port", text, f"has no port from 0 to 65535 behind a colon; {_AS_IN}")
    try:
        ip = ip_address(host[1:-1] if host.startswith("[") and host.endswith("]") else host)
    except ValueError:
        raise _refused("address", text, f"{host!r} is no address in numbers; {_AS_IN}") from None
    mapped = ip.ipv4_mapped if isinstance(ip, IPv6Address) else None
    if ip.is_unspecified or (mapped is not None and mapped.is_unspecified):
        raise _refused("all-networks", text, f"would listen on all networks of this machine; {_AS_IN}")
    if ip.is_multicast or (mapped or ip) == IPv4Address("255.255.255.255"):
        raise _refused("multicast", text, f"is an address of many; {_AS_IN}")
    return Address(ip, int(port))


def _refused(code: str, text: str, why: str) -> InputError:
    return InputError(f"{text!r}: {why}", code=code, value=text, parameter="listen")


def listen(address: Address) -> socket.socket:
    """A bound UDP socket; its waits end after ``PATIENCE``."""
    family = socket.AF_INET6 if address.ip.version == 6 else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_DGRAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        sock.bind((str(address.ip), address.port))
    except OSError as error:
        sock.close()
        code, why = {
            errno.EADDRNOTAVAIL: (
                "address-elsewhere",
                "is not an address of this machine; look it up in its network settings",
            ),
            errno.EADDRINUSE: ("address-taken", "is taken by another program; end that one or choose another port"),
            errno.EACCES: ("address-kept", "is kept by the system or needs rights; choose another port above 1023"),
        }.get(error.errno or 0, ("", f"cannot be listened on ({error.strerror}); {_AS_IN}"))
        raise FileError(f"{address}: {why}", code=code, value=str(address), parameter="listen") from None
    sock.settimeout(PATIENCE)
    return sock


def bound(sock: socket.socket) -> Address:
    """Where it listens: also where port 0 was asked for."""
    name = sock.getsockname()
    return Address(ip_address(str(name[0]).partition("%")[0]), int(name[1]))


_STAMPS = 35
"""SO_TIMESTAMPNS of Linux, which Python does not name."""
_SPEC = struct.Struct("@qq")


@dataclass(frozen=True)
class Datagram:
    """``arrived`` is in ns of ``time.monotonic_ns``."""

    data: bytes
    peer: Any
    arrived: int


@dataclass(frozen=True)
class Clock:
    """Both clocks in ns."""

    monotonic: Callable[[], int] = time.monotonic_ns
    wall: Callable[[], int] = time.time_ns


SYSTEM = Clock()


def receiver(sock: socket.socket, largest: int, clock: Clock = SYSTEM) -> tuple[Callable[[], Datagram], bool]:
    """A function that waits for the next datagram, and whether the system stamps them."""
    if sys.platform == "linux":
        try:
            sock.setsockopt(socket.SOL_SOCKET, _STAMPS, 1)
        except OSError:
            return lambda: _plain(sock, largest, clock), False
        return lambda: _stamped(sock, largest, clock), True
    return lambda: _plain(sock, largest, clock), False


def _plain(sock: socket.socket, largest: int, clock: Clock) -> Datagram:
    data, peer = sock.recvfrom(largest)
    return Datagram(data, peer, clock.monotonic())


def _stamped(sock: socket.socket, largest: int, clock: Clock) -> Datagram:
    data, extra, _, peer = sock.recvmsg(largest, 64)
    read, shown, waited = clock.monotonic(), clock.wall(), 0
    for level, kind, content in extra:
        if level == socket.SOL_SOCKET and kind == _STAMPS and len(content) == _SPEC.size:
            seconds, ns = _SPEC.unpack(content)
            waited = max(0, shown - (seconds * 1_000_000_000 + ns))
    return Datagram(data, peer, read - waited)
