"""Orientations in tables that say what they are, as rotation matrices: quaternions and matrices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from elastocal.errors import InputError
from elastocal.files.campaign.columns import MATRIX, QUATERNION
from elastocal.files.tables.raw import Field, RawTable
from elastocal.spatial.entries import Array
from elastocal.spatial.rotation import nearest_rotation
from elastocal.spatial.turns import Rotation

OFF = 0.01
"""How far a quaternion may be from length one, and a matrix from a rotation."""


def matrices(raw: RawTable, fields: Mapping[str, Field], group: tuple[str, ...], numbers: Array) -> Array:
    """(N, 9) by rows, nan where nothing was read."""
    known = np.isfinite(numbers).all(axis=1)
    read = numbers[known]
    out = np.full((len(numbers), 9), np.nan)
    if not known.any():
        return out
    if group == MATRIX:
        rotations = read.reshape(-1, 3, 3)
        away = np.abs(np.einsum("nij,nkj->nik", rotations, rotations) - np.eye(3)).max(axis=(1, 2), initial=0.0)
        _check(raw, fields, group, known, (away > OFF) | (np.linalg.det(rotations) < 0), "no rotation matrix")
        rotations = nearest_rotation(rotations)
    else:
        size = np.linalg.norm(read, axis=1)
        _check(raw, fields, group, known, np.abs(size - 1) > OFF, "no quaternion of length one")
        rotations = np.asarray(Rotation.from_quat(read).as_matrix())
    out[known] = rotations.reshape(-1, 9)
    return out


def _check(
    raw: RawTable, fields: Mapping[str, Field], group: tuple[str, ...], known: Any, wrong: Any, what: str
) -> None:
    if not np.any(wrong):
        return
    row = int(np.flatnonzero(known)[int(np.flatnonzero(wrong)[0])])
    file, line = raw.spot(int(raw.lines[row]), fields[group[0]].place)
    raise InputError(
        f"{file}, line {line}: {', '.join(group)} are {what}; check the columns"
        + (" (the scalar is qw)" if group == QUATERNION else ""),
        code="orientation", file=file, line=line, column=group[0],
    )  # fmt: skip
