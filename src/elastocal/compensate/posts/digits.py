"""Numbers as text: what stays, and how many decimals a new one gets.

A new number has the decimals of the old one, but at least so many that rounding costs less than 0.1 um or 0.1 urad;
a number that would round to the old one keeps its text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elastocal.compensate.posts.text import Edit, Text
from elastocal.compensate.program import Program
from elastocal.spatial.entries import Array, Bools, Ints

DECIMALS = {"m": 7, "mm": 4, "um": 1, "in": 6, "rad": 7, "deg": 5, "mrad": 4, "urad": 1, "quaternion": 8, "vector": 8}
"""Decimals that leave less than 0.1 um and 0.1 urad to rounding."""

METRES = {"m": 1.0, "mm": 1e-3, "um": 1e-6, "in": 0.0254}
RADIANS = {"rad": 1.0, "deg": np.pi / 180, "mrad": 1e-3, "urad": 1e-6}

STILL = 5e-9
"""Turns below this (rad) are no turns: what eight decimals of a quaternion resolve."""


@dataclass(frozen=True, eq=False)
class Slots:
    """Spans (N, k, 2) of the numbers of every target (-1: not written) and their values (N, k), as written."""

    spans: Ints
    values: Array

    @classmethod
    def of(cls, spans: Sequence[Sequence[tuple[int, int]]], values: Sequence[Sequence[float]], width: int) -> Slots:
        n = len(values)
        return cls(
            np.array(spans, dtype=np.int64).reshape(n, width, 2), np.array(values, dtype=float).reshape(n, width)
        )


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
) -> dict[str, list[Edit]]:
    """Edits by file that turn the written values into ``values`` (N, k); ``decimals`` at least, (k,) or (N, k)."""
    edits: dict[str, list[Edit]] = defaultdict(list)
    files = np.array([t.file for t in program.targets], dtype=object)
    least = np.broadcast_to(np.asarray(decimals), values.shape)
    for name, text in texts.items():
        here = (slots.spans[:, :, 0] >= 0) & (files == name)[:, None]
        spans, signs = slots.spans[here], np.frombuffer(text.text.encode("latin-1"), dtype=np.uint8)
        own = np.maximum(own_decimals(signs, spans, comma), least[here])
        other = np.abs(values[here] - slots.values[here]) > 0.5000001 * 10.0**-own
        start, end = spans[other, 0], spans[other, 1]
        new = numbers_text(values[here][other], own[other])
        for i in np.flatnonzero(signs[start] == ord("+")):
            new[i] = new[i] if new[i][0] == "-" else f"+{new[i]}"
        if comma:
            for i in np.flatnonzero(_first(signs, b",", spans[other]) < end):
                new[i] = new[i].replace(".", ",")
        edits[name] = list(zip(start.tolist(), end.tolist(), new, strict=True))
    return edits


def own_decimals(signs: NDArray[np.uint8], spans: Ints, comma: bool = False) -> Ints:
    """Digits behind the point of numbers (M, 2) in a text; 0 where there is no point, or an exponent."""
    point = _first(signs, b".,"[: 1 + comma], spans)
    exponent = _first(signs, b"eE", spans)
    return np.where((point < spans[:, 1]) & (exponent >= spans[:, 1]), spans[:, 1] - point - 1, 0)


def _first(signs: NDArray[np.uint8], wanted: bytes, spans: Ints) -> Ints:
    """Place (M,) of the first of some characters from each start on."""
    places = np.append(np.flatnonzero(np.isin(signs, list(wanted))), len(signs))
    return np.asarray(places[np.searchsorted(places, spans[:, 0])])


def numbers_text(values: Array, decimals: Ints) -> list[str]:
    """Numbers (M,) with decimals (M,); no negative zero."""
    plain = np.where(np.abs(values) < 0.5 * 10.0**-decimals, 0.0, values).tolist()
    forms = [f"%.{d}f" for d in range(int(decimals.max(initial=0)) + 1)]
    return [forms[d] % v for d, v in zip(decimals.tolist(), plain, strict=True)]


def turned(new: Array, old: Array) -> Bools:
    """True (N,) where rotations (N, 3, 3) differ by more than STILL; False where there is none."""
    return np.asarray(np.abs(np.nan_to_num(new - old)).max(axis=(1, 2), initial=0.0) > STILL)
