"""Packages that are installed, by the folders ``name-version.dist-info`` on the path.

``importlib.metadata`` imports readers of mail and of archives, and opens a file of every package: it is asked where
there is something to load, and for what stands in no such folder.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

INFO = ".dist-info"


def version(package: str) -> str:
    """Of an installed package."""
    for folder in _folders(sys.path):
        name, _, rest = os.path.basename(folder).partition("-")
        if name == package and rest.endswith(INFO):
            return rest.removesuffix(INFO)
    from importlib.metadata import version

    return version(package)


def entry_points(path: Iterable[str], prefix: str) -> Any:
    """Those of all packages of a ``path``; None where none of them has a group that begins like this."""
    archives = any(os.path.isfile(place) for place in path)
    if not archives and not any(f"[{prefix}" in _groups(folder) for folder in _folders(path)):
        return None
    from importlib.metadata import entry_points

    return entry_points()


def _folders(path: Iterable[str]) -> Iterator[str]:
    for place in path:
        try:
            names = os.listdir(place or ".")
        except OSError:
            continue
        yield from (os.path.join(place, name) for name in names if name.endswith((INFO, ".egg-info")))


def _groups(folder: str) -> str:
    try:
        with open(os.path.join(folder, "entry_points.txt"), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
