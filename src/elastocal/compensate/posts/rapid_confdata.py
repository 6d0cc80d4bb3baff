"""confdata of RAPID, [cf1, cf4, cf6, cfx], against the axis values that a target is reached with.

cf1, cf4 and cf6 are the quarter turns of axes 1, 4 and 6: floor(angle / 90 deg), negative below zero.  The last bit of
cfx is 1 where axis 5 stands below zero; its other two bits (in front of or behind axis 1 and the lower arm) are not
judged.  Which way a target is reached is not taken from confdata, so that a difference has two possible reasons.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import numpy as np

from elastocal.compensate.posts.text import NUMBER
from elastocal.compensate.program import Target
from elastocal.spatial.entries import Array, Bools

QUARTERS = (0, 3, 5)
_NAMES = ("cf1", "cf4", "cf6")
FIFTH = 4
EDGE = 1e-6
"""rad within which an axis stands on the edge of two quarter turns, and either is right."""
MOST = 5
_NONE = (np.nan,) * 4


def quarter_turns(axes: Array) -> Array:
    """Of axes 1, 4 and 6 of controller values (N, 6)."""
    return np.floor(axes[:, QUARTERS] / (np.pi / 2)) + 0.0


def confdata_notes(targets: Sequence[Target], names: Sequence[str], old: Array, new: Array, use: Bools) -> list[str]:
    """What does not fit with axis values (N, 6) before and, where ``use``, after: a sentence for each distinct case."""
    stated = _stated(targets)
    high, there = quarter_turns(old + EDGE), quarter_turns(new)
    fits, kept = _fits(stated, old), _fits(stated, new)
    known = np.isfinite(stated[:, :1]) & np.isfinite(old).all(axis=1, keepdims=True)
    cases: dict[str, list[str]] = {}
    for n, i in np.argwhere(known & ~fits).tolist():
        said = f"{_NAMES[i]} is {stated[n, i]:.0f}, but {names[QUARTERS[i]]} stands in quarter turn {high[n, i]:.0f}"
        cases.setdefault(f"confdata does not fit: {said}", []).append(targets[n].where)
    fifth, cfx = old[:, FIFTH], stated[:, 3]
    judged = known[:, 0] & (cfx >= 0) & (cfx <= 7) & (np.abs(fifth) > EDGE)
    for n in np.flatnonzero(judged & ((cfx % 2 == 1) != (fifth < 0))).tolist():
        said = f"cfx is {cfx[n]:.0f}, but {names[FIFTH]} stands {'below' if fifth[n] < 0 else 'above'} zero"
        cases.setdefault(f"confdata does not fit: {said}", []).append(targets[n].where)
    out = [f"{said} at {_some(where)}; {_EITHER}." for said, where in cases.items()]
    cases = {}
    for n, i in np.argwhere(known & use[:, None] & ~kept & (fits | (there != high))).tolist():
        said = f"{names[QUARTERS[i]]} ends in quarter turn {there[n, i]:.0f}, so that {_NAMES[i]}"
        cases.setdefault(f"{said} should be {there[n, i]:.0f}", []).append(targets[n].where)
    return out + [f"{said} at {_some(where)}: confdata is kept, check the moves." for said, where in cases.items()]


_EITHER = (
    "correct it, or the arm reaches the point another way than is computed here (check --near and the axis targets "
    "before it)"
)


def _fits(stated: Array, axes: Array) -> Bools:
    """Whether cf1, cf4 and cf6 are quarter turns of axis values (N, 6), either one on an edge: (N, 3)."""
    turns = stated[:, :3]
    return np.asarray((turns == quarter_turns(axes - EDGE)) | (turns == quarter_turns(axes + EDGE)))


def _stated(targets: Sequence[Target]) -> Array:
    """cf1, cf4, cf6 and cfx (N, 4); nan where a target is no pose or these are no four whole numbers."""
    return np.array([_four(t.configuration) if t.kind == "pose" else _NONE for t in targets]).reshape(-1, 4)


@cache
def _four(text: str) -> tuple[float, ...]:
    values = tuple(float(v) for v in re.findall(NUMBER, text.partition("]")[0]))
    return values if len(values) == 4 and all(v.is_integer() for v in values) else _NONE


def _some(where: list[str]) -> str:
    return "; ".join(where[:MOST]) + (f" and {len(where) - MOST} more" if len(where) > MOST else "")
