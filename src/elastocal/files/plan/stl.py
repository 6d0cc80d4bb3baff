"""Triangles of an STL file, binary or text, taken as millimetres (STL states no unit)."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from elastocal.errors import InputError
from elastocal.files.opened import read_bytes
from elastocal.spatial.entries import Array

HEADER, RECORD = 84, 50


def read_stl(path: Path) -> Array:
    """(T, 3, 3) corners in m."""
    raw = read_bytes(path)
    count = int.from_bytes(raw[80:HEADER], "little") if len(raw) >= HEADER else 0
    if count and len(raw) == HEADER + RECORD * count:
        records = np.frombuffer(raw, np.uint8, RECORD * count, HEADER).reshape(count, RECORD)
        corners = records[:, 12:48].copy().view("<f4").reshape(count, 3, 3).astype(np.float64)
    else:
        found = re.findall(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)", raw)
        if not found or len(found) % 3:
            raise InputError(f"{path}: is no STL file, or is cut off; export it again")
        try:
            corners = np.array([[float(v) for v in corner] for corner in found]).reshape(-1, 3, 3)
        except ValueError:
            raise InputError(f"{path}: a corner is not made of numbers; export it again") from None
    if not np.all(np.isfinite(corners)):
        raise InputError(f"{path}: a corner is not finite; export it again")
    return np.asarray(1e-3 * corners)
