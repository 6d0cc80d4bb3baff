"""Axes that a table calls otherwise than the robot: ``A1_deg``, ``J1 [deg]``, ``theta1`` for the axis ``joint_1``.

The number decides.  It is that of the axis' own name where most names are alike but for numbers that count from one
(``rail, joint_1, joint_2``), else its place in the robot (``S, L, U``; names that count from zero; an elbow, a shoulder
and ``wrist_1``, ``wrist_2``, ``wrist_3``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from elastocal.files.tables.raw import Origin, RawTable
from elastocal.files.tables.titles import split_title, unit_word

_CALLED = r"(?:a|q|j|joint|joint_a|axis|theta|\u03b8|achse|gelenk|axe|eje|asse)[ _.]?([1-9]\d?)"
_WHOLE = re.compile(_CALLED, re.IGNORECASE)
_BEGUN = re.compile(rf"{_CALLED}(?=_|\Z)", re.IGNORECASE)
_LAST = re.compile(r"(\d+)\D*\Z")


def numbered_axis(word: str, axes: Sequence[str]) -> str | None:
    """The axis that ``A1`` or ``Joint 1`` is by its number; None for any other word, and where there is none."""
    match = _WHOLE.fullmatch(word.strip())
    return None if match is None else _of_number(int(match[1]), axes)


def _of_number(number: int, axes: Sequence[str]) -> str | None:
    own = {int(m[1]): axis for axis in axes if (m := _LAST.search(axis))}
    stems = {_LAST.sub("", axis) for axis in own.values()}
    if len(stems) == 1 and 2 * len(own) > len(axes) and sorted(own) == list(range(1, len(own) + 1)):
        return own.get(number)
    return axes[number - 1] if number <= len(axes) else None


def by_numbers(words: Iterable[str], axes: Sequence[str]) -> dict[str, str]:
    """Axes by the words that stand for them, where the words are as many numbered axes as the robot has; else none."""
    counted = [word for word in words if _WHOLE.fullmatch(word.strip())]
    axes_by_title = {word: axis for word in counted if (axis := numbered_axis(word, axes)) is not None}
    return (
        axes_by_title if sorted(axes_by_title.values()) == sorted(axes) and len(axes_by_title) == len(counted) else {}
    )


def with_axis_titles(raw: RawTable, axes: Sequence[str]) -> RawTable:
    """The table with the robot's names in its titles, where it has all axes by number and none by name; a note says so.

    ``A1_deg`` becomes ``joint_1_deg``, and ``A1_torque_Nm`` goes with it.
    """
    own = [t for t in raw.header if any(t == a or t.startswith(f"{a}_") for a in axes)]
    if own or not axes:
        return raw
    plain = {title: _plain(title) for title in raw.header}
    begun = {title: m[0] for title, p in plain.items() if (m := _BEGUN.match(p))}
    called = by_numbers(dict.fromkeys(begun.values()), axes)
    if not called:
        return raw
    new = {t: called[w] + plain[t][len(w) :] for t, w in begun.items()}
    note = f"{Path(raw.file).name}: {', '.join(f'{w} is axis {a}' for w, a in called.items())}."
    origins = raw.origins or tuple(Origin(raw.file, title) for title in raw.header)
    header = tuple(new.get(title, title) for title in raw.header)
    return replace(raw, header=header, origins=origins, notes=(*raw.notes, note))


def _plain(title: str) -> str:
    """``J1 [deg]`` as ``J1_deg``."""
    before, stated = split_title(title)
    unit = unit_word(stated) if stated else None
    return f"{before}_{unit}" if unit else title
