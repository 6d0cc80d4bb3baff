"""Orientations in tables, as rotation matrices: rotation vectors, quaternions, matrices and Euler angles.

``euler`` is the order of the axes: capital letters for axes that turn with the frame (ZYX: about z, then about the new
y, then about the new x), small ones for axes that stand still.  KUKA's A B C are ZYX, FANUC's W P R and roll pitch yaw
xyz.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from elastocal.errors import InputError
from elastocal.files.campaign.columns import EULER, MATRIX, QUATERNION, RPY
from elastocal.files.tables.raw import Field, RawTable
from elastocal.spatial.entries import Array
from elastocal.spatial.rotation import nearest_rotation, rotations

USUAL = {("a", "b", "c"): "ZYX (as on a KUKA)", ("w", "p", "r"): "xyz (as on a FANUC)"}
"""Orders that makers mean by letters: proposed, not assumed."""
OFF = 0.01
"""How far a quaternion may be from length one, and a matrix from a rotation."""


def check_euler(word: str | None) -> str | None:
    """Why the order of axes cannot be used."""
    if word is None or (re.fullmatch("[XYZ]{3}|[xyz]{3}", word) and word[0] != word[1] != word[2]):
        return None
    return f"{word!r} is no order of axes; write one such as ZYX (axes that turn with the frame) or xyz (fixed axes)"


def matrices(
    raw: RawTable, fields: Mapping[str, Field], group: tuple[str, ...], numbers: Array, euler: str | None
) -> Array:
    """(N, 9) by rows, nan where nothing was read."""
    known = np.isfinite(numbers).all(axis=1)
    read = numbers[known]
    out = np.full((len(numbers), 9), np.nan)
    if not known.any():
        return out
    if group == MATRIX:
        found = read.reshape(-1, 3, 3)
        away = np.abs(np.einsum("nij,nkj->nik", found, found) - np.eye(3)).max(axis=(1, 2), initial=0.0)
        _check(raw, fields, group, known, (away > OFF) | (np.linalg.det(found) < 0), "no rotation matrix")
        found = nearest_rotation(found)
    elif group == QUATERNION:
        size = np.linalg.norm(read, axis=1)
        _check(raw, fields, group, known, np.abs(size - 1) > OFF, "no quaternion of length one")
        found = _turned("quat", read, "")
    elif group == RPY or group in EULER:
        if group in EULER and euler is None:
            raise InputError(
                f"{raw.top}: {', '.join(group)} are Euler angles of an order that is not stated; write it as euler: "
                f"{USUAL.get(group, 'ZYX or xyz')} in the campaign file (capitals: axes that turn with the frame; "
                "small letters: fixed axes)",
                code="euler", file=raw.file, line=raw.header_line, parameter="euler",
            )  # fmt: skip
        found = _turned("euler", read, "xyz" if group == RPY or euler is None else euler)
    else:
        found = np.moveaxis(rotations(read.T), -1, 0)
    out[known] = found.reshape(-1, 9)
    return out


def _turned(way: str, numbers: Array, order: str) -> Array:
    from elastocal.spatial.turns import Rotation

    made = Rotation.from_quat(numbers) if way == "quat" else Rotation.from_euler(order, numbers)
    return np.asarray(made.as_matrix()).reshape(-1, 3, 3)


def _check(
    raw: RawTable, fields: Mapping[str, Field], group: tuple[str, ...], known: Any, wrong: Any, what: str
) -> None:
    if not np.any(wrong):
        return
    row = raw.rows[int(np.flatnonzero(known)[int(np.flatnonzero(wrong)[0])])]
    file, line = raw.spot(row, fields[group[0]].place)
    raise InputError(
        f"{file}, line {line}: {', '.join(group)} are {what}; check the columns"
        + (" (the scalar is qw)" if group == QUATERNION else ""),
        code="orientation", file=file, line=line, column=group[0],
    )  # fmt: skip
