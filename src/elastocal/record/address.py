"""Where a recorder listens: one address of this machine, in numbers, never all of them."""

from __future__ import annotations

import errno
import socket
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

from elastocal.errors import InputError

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
        raise _refused(text, f"has no port from 0 to 65535 behind a colon; {_AS_IN}")
    try:
        ip = ip_address(host[1:-1] if host.startswith("[") and host.endswith("]") else host)
    except ValueError:
        raise _refused(text, f"{host!r} is no address in numbers; {_AS_IN}") from None
    mapped = ip.ipv4_mapped if isinstance(ip, IPv6Address) else None
    if ip.is_unspecified or (mapped is not None and mapped.is_unspecified):
        raise _refused(text, f"would listen on all networks of this machine; {_AS_IN}")
    if ip.is_multicast or (mapped or ip) == IPv4Address("255.255.255.255"):
        raise _refused(text, f"is an address of many; {_AS_IN}")
    return Address(ip, int(port))


def _refused(text: str, why: str) -> InputError:
    return InputError(f"{text!r}: {why}", code="address", value=text, parameter="listen")


def listen(address: Address) -> socket.socket:
    """A bound UDP socket; its waits end after ``PATIENCE``."""
    family = socket.AF_INET6 if address.ip.version == 6 else socket.AF_INET
    found = socket.socket(family, socket.SOCK_DGRAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        found.bind((str(address.ip), address.port))
    except OSError as error:
        found.close()
        why = {
            errno.EADDRNOTAVAIL: "is not an address of this machine; look it up in its network settings",
            errno.EADDRINUSE: "is taken by another program; end that one or choose another port",
            errno.EACCES: "is kept by the system or needs rights; choose another port above 1023",
        }.get(error.errno or 0, f"cannot be listened on ({error.strerror}); {_AS_IN}")
        raise InputError(f"{address}: {why}", value=str(address), parameter="listen") from None
    found.settimeout(PATIENCE)
    return found


def bound(found: socket.socket) -> Address:
    """Where it listens: also where port 0 was asked for."""
    name = found.getsockname()
    return Address(ip_address(str(name[0]).partition("%")[0]), int(name[1]))
