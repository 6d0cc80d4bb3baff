"""What three angles of a table are: Euler angles of some order, or a rotation vector.

``euler`` is the order of the axes: capital letters for axes that turn with the frame (ZYX: about z, then about the new
y, then about the new x), small ones for axes that stand still, ``rotvec`` for a rotation vector.  KUKA's A B C are ZYX,
FANUC's W P R and roll pitch yaw xyz.  Angles that are named by their axes are taken by these names, others in turn.

Where it is not stated, the robot decides.  Orientations M_i = X A_i Y, with A_i of the tool by joint values, X and Y
unknown, turn from pose i to pose j by the rotation vectors y_ij = Y^T a_ij.  Every convention is tried by the median of
|y_ij - Y^T a_ij|; one that is far better than all others is taken, which a note says.  Orders that differ by other
names of the axes (ZYX, YXZ, XZY) have the same y_ij: of those that no maker uses none is tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from elastocal.errors import InputError
from elastocal.files.campaign.column_titles import ANGLES, EULER, ORIENTATION, RPY
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Ints
from elastocal.spatial.rotation import Rotation, nearest_rotation, turns_between

if TYPE_CHECKING:
    from elastocal.files.campaign.table import CampaignTable

READ, TURNED = "angles", "orientation"
"""What tables hold before and after."""
VECTOR, NONE = "rotvec", "none"
MEANT: dict[tuple[str, ...], str] = {ORIENTATION: VECTOR, RPY: "xyz"}
"""What titles mean where the robot does not tell otherwise."""
USUAL: dict[tuple[str, ...], str] = {("a", "b", "c"): "ZYX (as on a KUKA)", ("w", "p", "r"): "xyz (as on a FANUC)"}
"""Orders that makers mean by letters: proposed, not assumed."""
TURNING = tuple("".join(w) for w in product("XYZ", repeat=3) if w[0] != w[1] != w[2])
ALL = (*TURNING, *(w.lower() for w in TURNING), VECTOR)
OF_MAKERS = ("ZYX", "XYZ", "ZYZ", "ZXZ", "xyz", "zyx", "zyz", "zxz", VECTOR)
BY_AXES = (*("".join(w) for w in permutations("xyz")), VECTOR)
FEW = 5
"""Poses that tell nothing of a convention."""
FAR, BY_FAR = np.radians(5.0), 4.0
"""No sound robot turns its tool so differently; the best convention is so many times better than the next."""
HALF_TURN = 2.8
"""Beyond so many rad a rotation vector may be its opposite."""
PAIRS, REFITS = 4000, 10


def check_euler(word: str | None) -> str | None:
    """Why the order of axes cannot be used."""
    if word in (None, NONE, *ALL):
        return None
    return (
        f"{word!r} is no order of axes; write one such as ZYX (axes that turn with the frame) or xyz (fixed axes), "
        f"{VECTOR} for a rotation vector, or {NONE} to leave the angles out"
    )


def oriented(
    tables: Sequence[CampaignTable], model: Robot, euler: str | None, plan: bool = False
) -> tuple[tuple[CampaignTable, ...], str | None, tuple[str, ...]]:
    """The tables with rotation matrices in place of angles, their convention, and what is said of it."""
    groups = {g for t in tables for g in _groups(t).values()}
    if not groups:
        return tuple(tables), euler, ()
    notes = []
    for group in [g for g in ANGLES if g in groups]:
        word = (MEANT.get(group) or VECTOR) if plan else euler
        if word is None:
            word, note = _decided(tables, group, model)
            notes += [note] if note else []
        elif word == NONE:
            notes.append(f"{', '.join(group)} are not used, as euler: {NONE} says.")
        tables = [_with_matrices(t, group, word) for t in tables]
    return tuple(tables), word, tuple(notes)


def as_matrices(group: tuple[str, ...], angles: Array, word: str) -> Array:
    """(N, 3, 3) of angles in rad."""
    if word == VECTOR:
        return np.asarray(Rotation.from_rotvec(angles).as_matrix())
    by_axis = group not in EULER and len(set(word.lower())) == 3
    order = ["xyz".index(letter) for letter in word.lower()] if by_axis else [0, 1, 2]
    return np.asarray(Rotation.from_euler(word, angles[:, order]).as_matrix())


def _groups(table: CampaignTable) -> dict[str, tuple[str, ...]]:
    """The angles that were read of each marker."""
    fields = table.columns.readings
    return {m: next(g for g in ANGLES if g[0] in fields[m]) for m, read in table.read.items() if READ in read}


def _with_matrices(table: CampaignTable, group: tuple[str, ...], word: str) -> CampaignTable:
    read = dict(table.read)
    for marker, own in _groups(table).items():
        if own == group:
            angles = read[marker][READ]
            read[marker] = {what: v for what, v in read[marker].items() if what != READ}
            known = np.isfinite(angles).all(axis=1)
            out = np.full((len(angles), 9), np.nan)
            if word != NONE:
                out[known] = as_matrices(group, angles[known], word).reshape(-1, 9)
                read[marker][TURNED] = out
    return replace(table, read=read)


def _decided(tables: Sequence[CampaignTable], group: tuple[str, ...], model: Robot) -> tuple[str, str]:
    """The convention by which the readings turn as the robot does, and a note where its titles do not say it."""
    meant = MEANT.get(group)
    turns, angles, sets = _poses(tables, group, model)
    pairs = _pairs(sets)
    misfits = {}
    if len(angles) >= FEW and len(pairs):
        a = turns_between(turns, pairs)
        misfits = {
            w: _misfit(a, turns_between(as_matrices(group, angles, w), pairs))
            for w in (OF_MAKERS if group in EULER else BY_AXES)
        }
    ranked = sorted(misfits, key=lambda w: misfits[w])
    rivals = [w for w in ranked if misfits[w] <= max(BY_FAR * misfits[ranked[0]], 1e-9)]
    fits = bool(ranked) and misfits[ranked[0]] < FAR
    if fits and len(rivals) == 1 and ranked[0] != meant:
        return ranked[0], _said(tables[0], group, misfits, ranked)
    if meant is not None and (not fits or meant in rivals):
        return meant, ""
    raise _asked(tables[0], group, misfits, rivals if fits else ranked[:1])


def _poses(tables: Sequence[CampaignTable], group: tuple[str, ...], model: Robot) -> tuple[Array, Array, Ints]:
    """Tool orientations by joint values, angles, and sets of one station and marker."""
    from elastocal.model.kinematics import kinematics

    values, angles, sets, names = [], [], [], dict[tuple[str, str], int]()
    for table in tables:
        for marker, own in _groups(table).items():
            for row in range(len(table.raw.rows)) if own == group else ():
                if np.isfinite(table.read[marker][READ][row]).all():
                    place = "" if table.station is None else table.station[row]
                    smr = table.marker[row] if table.marker is not None else marker
                    sets.append(names.setdefault((place, smr), len(names)))
                    values.append(table.poses.values[row])
                    angles.append(table.read[marker][READ][row])
    q = model.controller.to_joints(np.array(values).reshape(-1, len(model.controller.axes)))
    return kinematics(model.nominal, q).rotation, np.array(angles).reshape(-1, 3), np.array(sets, dtype=np.int64)


def _pairs(sets: Ints) -> Ints:
    n = len(sets)
    spans = range(1, min(n, 1 + max(1, PAIRS // max(n, 1))))
    pairs = np.concatenate([np.zeros((0, 2), dtype=np.int64), *(np.c_[: n - k, k:n] for k in spans)])
    return np.asarray(pairs[sets[pairs[:, 0]] == sets[pairs[:, 1]]])


def _misfit(a: Array, y: Array) -> float:
    """Median of |y - Y^T a| in rad, Y the rotation that fits the better half of the pairs best."""
    short = np.maximum(np.linalg.norm(a, axis=1), np.linalg.norm(y, axis=1)) < HALF_TURN
    if short.sum() < FEW:
        return float("inf")
    a, y = a[short], y[short]
    miss = np.abs(np.linalg.norm(a, axis=1) - np.linalg.norm(y, axis=1))
    for _ in range(REFITS):
        good = miss <= np.median(miss)
        miss = np.linalg.norm(y - a @ nearest_rotation(a[good].T @ y[good]), axis=1)
    return float(np.median(miss))


def _titles(table: CampaignTable, group: tuple[str, ...]) -> str:
    fields = next(f for f in table.columns.readings.values() if group[0] in f)
    return ", ".join(table.raw.header[fields[q].place] for q in group)


def _way(word: str) -> str:
    if word == VECTOR:
        return "a rotation vector (rotvec)"
    return f"Euler angles {word} ({'fixed axes' if word.islower() else 'axes that turn with the frame'})"


def _said(table: CampaignTable, group: tuple[str, ...], misfits: dict[str, float], ranked: Sequence[str]) -> str:
    best, second = (np.degrees(misfits[w]) for w in ranked[:2])
    return (
        f"{Path(table.raw.file).name}: {_titles(table, group)} are taken for {_way(ranked[0])}, by which the tool "
        f"turns as the robot does to {best:.2g} deg; the next best, {ranked[1]}, is off by {second:.2g} deg."
    )


def _asked(table: CampaignTable, group: tuple[str, ...], misfits: dict[str, float], fit: Sequence[str]) -> InputError:
    message = "the poses are too few to tell it"
    if misfits and len(fit) > 1:
        message = f"by the robot they may be {' or '.join(fit[:4])}"
    elif misfits:
        message = f"by the robot they are none (the nearest, {fit[0]}, is off by {np.degrees(misfits[fit[0]]):.2g} deg)"
    return InputError(
        f"{table.raw.top}: {_titles(table, group)} are angles of a convention that is not stated, and {message}; write "
        f"it as euler: {USUAL.get(group, f'ZYX, xyz or {VECTOR}')} in the campaign file (capitals: axes that turn "
        f"with the frame; small letters: fixed axes), or leave them out by euler: {NONE}",
        code="euler", file=table.raw.file, line=table.raw.header_line, parameter="euler", allowed=tuple(fit),
    )  # fmt: skip
