"""Log of KUKA RSI telegrams: axis angles, gear torques and motor currents with the counter IPOC as clock.

| element | taken as |
|---|---|
| ``AIPos`` (``EIPos``) | measured values of the axes A1.. (E1..), deg, or mm of a sliding axis |
| ``GearTorque``, ``AxisTorque``, ``Torque`` | torques of the same axes at the gear's output, N m, or N |
| ``MACur`` (``MECur``) | motor currents, A |
| ``IPOC`` | time in ms, where it counts in steps of 4 or 12 |

Torque elements are named in the controller's configuration (object ST_GEARTORQUE of 001 section III.B).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from math import isfinite, nan
from pathlib import Path

import numpy as np

from elastocal.errors import FormatError, InputError, MissingError
from elastocal.files.log.telegrams import MALFORMED, Piece, Telegram, TelegramError, TelegramOrder, parse_telegram, scan
from elastocal.files.units import DEGREE
from elastocal.measure.joints import JointLog
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.untrusted import finite_number
from elastocal.values import dataclass

CYCLES = (4, 12)
VALUES = ("AIPos", "EIPos")
TORQUES = ("GearTorque", "AxisTorque", "Torque")
CURRENTS = ("MACur", "MECur")
NOT_READ = 'holds no telegram that can be read; a log has lines such as <Rob Type="KUKA"><AIPos A1="0" .../>...</Rob>'
_SET_ASIDE = {
    "cut": "cut off",
    "comment": "set aside by the recorder as malformed",
    "text": "no telegram but other text",
}
PAUSE = 1000
"""Counts put between two stretches whose counters do not follow one another."""


@dataclass(frozen=True)
class _Row:
    """``numbers`` are values, torques and currents of the axes, one after the other."""

    line: int
    ipoc: int
    numbers: tuple[float, ...]
    stretch: int = 0


def read_rsi_log(path: Path, model: Robot) -> JointLog:
    """Telegrams that cannot be used are left out, and said in the notes with the first ones' lines."""
    left: dict[str, list[int]] = {}
    order = TelegramOrder()
    rows = _in_order(_usable(scan(path), model, left), order, left)
    if not rows:
        raise _nothing(path, model)
    values, torques, currents = np.split(np.array([r.numbers for r in rows]), 3, axis=1)
    scale = np.array([DEGREE if m.kind == "revolute" else 1e-3 for m in model.motions])
    time, clock = _clock(rows, order)
    return JointLog.of(
        model, values * scale, torques, source=path.as_posix(), lines=np.array([r.line for r in rows]),
        current=currents if np.any(np.isfinite(currents)) else None, time=time,
        notes=(*clock, *_said(left), *_torque_notes(path)),
    )  # fmt: skip


def _usable(pieces: Iterable[Piece], model: Robot, left: dict[str, list[int]]) -> Iterator[_Row]:
    """Telegrams with all axes of the model; the lines of all else go to ``left`` under the reason."""
    for piece in pieces:
        row, why = None, _SET_ASIDE.get(piece.kind, "")
        if piece.kind == "telegram":
            row, why = _row(piece, model)
        elif piece.kind == "comment" and not piece.data.startswith(MALFORMED):
            why = ""
        if row is not None:
            yield row
        elif why:
            left.setdefault(why, []).append(piece.line)


def _row(piece: Piece, model: Robot) -> tuple[_Row | None, str]:
    """The row, or why there is none."""
    try:
        telegram = parse_telegram(piece.data)
    except TelegramError:
        return None, "malformed"
    numbers = [n for tags in (VALUES, TORQUES, CURRENTS) for n in _numbers(telegram, model, tags)]
    if not all(isfinite(v) for v in numbers[: model.n]):
        return None, "without a finite value of every axis in AIPos"
    return _Row(piece.line, telegram.ipoc, tuple(numbers)), ""


def _in_order(usable: Iterable[_Row], order: TelegramOrder, left: dict[str, list[int]]) -> list[_Row]:
    """Sorted by counter within each stretch."""
    rows: list[_Row] = []
    for row in usable:
        if order.add(row.ipoc) == "double":
            left.setdefault("doubled", []).append(row.line)
        else:
            rows.append(replace(row, stretch=order.restarts))
    return sorted(rows, key=lambda r: (r.stretch, r.ipoc))


def _clock(rows: list[_Row], order: TelegramOrder) -> tuple[Array | None, list[str]]:
    """Time from the first telegram in s, and what is to be said of it."""
    notes = []
    if order.reordered:
        notes.append(f"{order.reordered} telegrams came out of order; they are sorted by IPOC.")
    if order.lost:
        notes.append(f"{order.lost} telegrams are missing between those logged, by their IPOC.")
    if order.step is None:
        return None, [*notes, "A single telegram tells no time."]
    if order.step not in CYCLES:
        return None, [*notes, f"IPOC counts in steps of {order.step}, not of 4 or 12 ms: the log has no time."]
    counts = np.array([r.ipoc for r in rows], dtype=np.float64)
    starts = np.flatnonzero(np.diff([r.stretch for r in rows])) + 1
    back = [int(i) for i in starts if counts[i] <= counts[i - 1]]
    for i in back:
        counts[i:] += counts[i - 1] + PAUSE - counts[i]
    if len(starts):
        notes.append(f"The log pauses or starts anew {len(starts)} times (first in line {rows[starts[0]].line}).")
    if back:
        notes.append(f"IPOC runs back {len(back)} times; time goes on there after {PAUSE} ms, a number of our own.")
    return 1e-3 * (counts - counts[0]), notes


def _said(left: Mapping[str, list[int]]) -> list[str]:
    return [
        f"{len(lines)} {'piece' if len(lines) == 1 else 'pieces'} left out, {why}: "
        f"line {', '.join(str(n) for n in lines[:3])}{', ...' if len(lines) > 3 else ''}."
        for why, lines in left.items()
    ]


def _torque_notes(path: Path) -> list[str]:
    """What the first telegram says of torques."""
    tags = list(next(_telegrams(path))[1].elements)
    used = next((tag for tag in TORQUES if tag in tags), None)
    other = [t for t in tags if "torque" in t.lower() and t != used]
    out = [] if used else [f"The telegrams hold no torques ({', '.join(TORQUES)})."]
    return out + ([f"Not used: {', '.join(other)}, whose meaning is not known."] if other else [])


def _numbers(telegram: Telegram, model: Robot, tags: tuple[str, ...]) -> list[float]:
    """One number per controller axis, nan where the telegram has none."""
    given: dict[str, str] = {}
    for tag in tags:
        given = {**telegram.elements.get(tag, {}), **given}
    return [_number(given.get(axis, "")) for axis in model.controller.axes]


def _number(text: str) -> float:
    value = finite_number(text)
    return nan if value is None else value


def _telegrams(path: Path) -> Iterator[tuple[int, Telegram]]:
    """Those that can be read, with their lines."""
    for piece in scan(path):
        if piece.kind == "telegram":
            with suppress(TelegramError):
                yield piece.line, parse_telegram(piece.data)


def _nothing(path: Path, model: Robot) -> InputError:
    """Why no telegram is left, by what the first one has."""
    for line, telegram in _telegrams(path):
        has = [a for tag in VALUES for a in telegram.elements.get(tag, {})]
        missing = next((a for a in model.controller.axes if a not in has), None)
        if missing is not None:
            return MissingError(
                f"{path}: line {line} holds {', '.join(has) or 'no AIPos'}, but axis {missing} of {model.name} is not "
                "there; name the controller's axes in the robot file as in the telegrams, and log AIPos",
                code="no-axis",
                file=str(path),
                line=line,
                value=missing,
                allowed=has,
            )
    return FormatError(f"{path}: {NOT_READ}", code="no-telegram", file=str(path))
