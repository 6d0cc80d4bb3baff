"""The published cases, recomputed once: by the tests or by the documentation, whichever comes first.

A run takes about a minute.  It is kept in ``docs/_build`` under a name made of everything that the numbers rest on, so
that it is repeated only when that changes.  The tests always compute and keep what they found; the documentation reads
what is kept.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy

from elastocal.published import gallery

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / "docs" / "_build"


def key() -> str:
    """Sources and data of the package, and the Python, NumPy and SciPy that run them."""
    running = f"{platform.python_version()} {platform.machine()} {np.__version__} {scipy.__version__}"
    found = hashlib.sha256(running.encode())
    for file in sorted((ROOT / "src" / "elastocal").rglob("*")):
        if file.suffix in (".py", ".yaml", ".jinja"):
            found.update(file.relative_to(ROOT).as_posix().encode() + file.read_bytes())
    return found.hexdigest()[:16]


def recomputed(progress: Callable[[int, int], None] | None = None) -> gallery.Gallery:
    """A new run of all cases, kept in place of older ones under the sources that it began with."""
    kept = PLACE / f"cases-{key()}.pickle"
    made = gallery.run(progress=progress)
    PLACE.mkdir(parents=True, exist_ok=True)
    for old in PLACE.glob("cases-*.pickle"):
        old.unlink(missing_ok=True)
    unfinished = kept.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(pickle.dumps(made))
    unfinished.replace(kept)
    return made


def computed(progress: Callable[[int, int], None] | None = None) -> gallery.Gallery:
    """Read back if the sources are the same, else run."""
    kept = PLACE / f"cases-{key()}.pickle"
    if kept.is_file():
        made: gallery.Gallery = pickle.loads(kept.read_bytes())
        return made
    return recomputed(progress)
