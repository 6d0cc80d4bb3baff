"""Numbers as text: what stays, and how many decimals a new one gets.

A new number has the decimals of the old one, but at least so many that rounding costs less than 0.1 um or 0.1 urad;
a number that would round to the old one keeps its text.  Targets of a run are written alike: what stands between
their numbers is the same, so ``12.500,Y 3.000,Z -5.000`` becomes ``%.4f,Y %.4f,Z %.4f`` and is filled in for
thousands of targets in one step.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from elastocal.compensation.posts.collect import Collector
from elastocal.compensation.posts.text import Block, Edits, Text, one_of
from elastocal.compensation.program import Program
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

DECIMALS = {"m": 7, "mm": 4, "um": 1, "in": 6, "rad": 7, "deg": 5, "mrad": 4, "urad": 1, "quaternion": 8, "vector": 8}
"""Decimals that leave less than 0.1 um and 0.1 urad to rounding."""

METRES = {"m": 1.0, "mm": 1e-3, "um": 1e-6, "in": 0.0254}
RADIANS = {"rad": 1.0, "deg": np.pi / 180, "mrad": 1e-3, "urad": 1e-6}

STILL = 5e-9
"""Turns below this (rad) are no turns: what eight decimals of a quaternion resolve."""


@dataclass(frozen=True, eq=False)
class Slots:
    """Spans (N, k, 2) of the numbers of every target (-1: not written) and their values (N, k), as written.

    ``runs`` are targets that are written alike but for these numbers.
    """

    spans: Ints
    values: Array
    runs: tuple[range, ...] = ()

    @classmethod
    def of(cls, into: Collector, width: int) -> Slots:
        return cls(into.spans.array(np.int64, width, 2), into.values.array(float, width), tuple(into.runs))


def number_text(old: str, value: float, decimals: int) -> str:
    """``value`` with the decimals of ``old``, or more."""
    return _text(old, value, _decimals(old, decimals))


def new_text(old: str, before: float, value: float, decimals: int) -> str | None:
    """``value`` in the place of ``before``, which stands as ``old``; None where it would be the same number."""
    own = _decimals(old, decimals)
    return None if abs(value - before) <= 0.5000001 * 10.0**-own else _text(old, value, own)


def _decimals(old: str, least: int) -> int:
    tail = old.partition(".")[2]
    return len(tail) if len(tail) > least and tail.isdigit() else least


def _text(old: str, value: float, decimals: int) -> str:
    new = f"{value:.{decimals}f}"
    if new[0] == "-" and not new.strip("-0."):
        new = new[1:]
    return "+" + new if old[:1] == "+" and new[0] != "-" else new


def digit_edits(
    texts: Mapping[str, Text], program: Program, slots: Slots, values: Array, decimals: object, comma: bool = False
) -> dict[str, Edits]:
    """Edits by file that turn the written values into ``values`` (N, k); ``decimals`` at least, (k,) or (N, k)."""
    edits = {name: Edits() for name in texts}
    files = np.array([t.file for t in program.targets], dtype=object)
    least = np.broadcast_to(np.asarray(decimals), values.shape)
    for name, text in texts.items():
        here = files == name
        number = np.cumsum(here) - 1
        runs = [slice(number[r.start], number[r.stop - 1] + 1) for r in slots.runs if here[r.start]]
        _exchange(text, slots.spans[here], (slots.values[here], values[here]), least[here], runs, edits[name], comma)
    return edits


def exchanged(text: Text, block: Block, values: Array, least: Ints, edits: Edits) -> Array:
    """Add the edits that give lines which repeat each other new ``values`` (n, k); the values that are then written."""
    own = np.broadcast_to(least, values.shape)
    own, other = _exchange(text, block.spans, (block.values, values), own, [slice(0, len(values))], edits)
    scale = 10.0**own
    return np.where(other, np.round(values * scale) / scale, block.values)


def _exchange(
    text: Text, spans: Ints, values: tuple[Array, Array], least: Ints, runs: list[slice], edits: Edits,
    comma: bool = False,
) -> tuple[Ints, Bools]:  # fmt: skip
    """Edits from old to new ``values``; decimals (n, k) that each number has, and True (n, k) where it is exchanged."""
    old, new = values
    signs = text.signs
    own, other = least.copy(), spans[:, :, 0] >= 0
    own[other] = np.maximum(own_decimals(signs, spans[other], comma), own[other])
    other &= np.abs(new - old) > 0.5000001 * 10.0**-own
    single = other.copy()
    plain = (signs[spans[:, :, 0]] != ord("+")).all(axis=1) & (not comma)
    for rows in runs:
        whole = other[rows].all(axis=1) & plain[rows]
        single[rows] &= ~row_edits(text.text, spans[rows], new[rows], own[rows], whole, edits)[:, None]
    usual = comma and with_commas(signs, spans)
    _one_by_one(signs, spans[single], new[single], own[single], (comma, usual), edits)
    return own, other


def _one_by_one(
    signs: NDArray[np.uint8], spans: Ints, values: Array, decimals: Ints, commas: tuple[bool, bool], edits: Edits
) -> None:
    """Edits of numbers (M,); a plus sign and a decimal comma stay, whole numbers get one where that is ``usual``."""
    start, end = spans.T
    comma, usual = commas
    new = numbers_text(values, decimals)
    for i in np.flatnonzero(signs[start] == ord("+")):
        new[i] = new[i] if new[i][0] == "-" else f"+{new[i]}"
    if comma:
        point, own = (_first(signs, sign, spans) < end for sign in (b".", b","))
        for i in np.flatnonzero(own | (~point & usual)):
            new[i] = new[i].replace(".", ",")
    edits.extend(start.tolist(), end.tolist(), new)


def with_commas(signs: NDArray[np.uint8], spans: Ints) -> bool:
    """Whether more numbers (..., 2) of a text have a decimal comma than a point."""
    written = spans[spans[..., 0] >= 0]
    commas, points = (int((_first(signs, sign, written) < written[:, 1]).sum()) for sign in (b",", b"."))
    return commas > points


def own_decimals(signs: NDArray[np.uint8], spans: Ints, comma: bool = False) -> Ints:
    """Digits behind the point of numbers (M, 2) in a text; 0 where there is no point, or an exponent."""
    point = _first(signs, b".,"[: 1 + comma], spans)
    exponent = _first(signs, b"eE", spans)
    return np.where((point < spans[:, 1]) & (exponent >= spans[:, 1]), spans[:, 1] - point - 1, 0)


def _first(signs: NDArray[np.uint8], wanted: bytes, spans: Ints) -> Ints:
    """Place (M,) of the first of some characters from each start on."""
    low, high = (int(spans[:, 0].min()), int(spans[:, 1].max())) if len(spans) else (0, 0)
    places = np.append(low + np.flatnonzero(one_of(wanted)[signs[low:high]]), len(signs))
    return np.asarray(places[np.searchsorted(places, spans[:, 0])])


def numbers_text(values: Array, decimals: Ints) -> list[str]:
    """Numbers (M,) with decimals (M,); no negative zero."""
    plain = np.where(np.abs(values) < 0.5 * 10.0**-decimals, 0.0, values).tolist()
    forms = [f"%.{d}f" for d in range(int(decimals.max(initial=0)) + 1)]
    return (" ".join([forms[d] for d in decimals.tolist()]) % tuple(plain)).split()


def turned(new: Array, old: Array) -> Bools:
    """True (N,) where rotations (N, 3, 3) differ by more than STILL; False where there is none."""
    return np.asarray(np.abs(np.nan_to_num(new - old)).max(axis=(1, 2), initial=0.0) > STILL)


def row_edits(text: str, spans: Ints, values: Array, decimals: Ints, whole: Bools, edits: Edits) -> Bools:
    """Add the edits of a run's targets, given spans (n, k, 2), and tell (n,) which are done.

    ``whole`` (n,) are those of which every number changes; they are done where their decimals are those of the first.
    """
    order = np.argsort(spans[0, :, 0])
    marks = spans[0, order]
    gaps = [text[a:b].replace("%", "%%") for a, b in zip(marks[:-1, 1].tolist(), marks[1:, 0].tolist(), strict=True)]
    done = whole & (decimals == decimals[0]).all(axis=1)
    if any(c.isdigit() for gap in gaps for c in gap) or not done.any():
        return np.zeros(len(done), dtype=bool)
    forms = [f"%.{d}f" for d in decimals[0, order].tolist()]
    form = "".join(f + g for f, g in zip(forms, [*gaps, "\n"], strict=True))
    new = np.where(np.abs(values) < 0.5 * 10.0**-decimals, 0.0, values)[done][:, order]
    lines = (form * len(new) % tuple(new.ravel().tolist())).split("\n")[:-1]
    edits.extend(spans[done, order[0], 0].tolist(), spans[done, order[-1], 1].tolist(), lines)
    return np.asarray(done)
