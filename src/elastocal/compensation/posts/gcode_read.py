"""Goes through the lines of G-code: modal state, positions, arcs, and the lines where the position is lost.

A line is a target where all of X Y Z are known: stated on it in absolute values, or kept from lines before.  A line
that is not followed loses the position; it is known again once each axis is stated absolutely.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import atan2, hypot, pi, sqrt
from typing import NamedTuple

import numpy as np

from elastocal.compensation.posts.collect import Collector
from elastocal.compensation.posts.gcode_words import (
    ARC_WORDS,
    CALLED,
    COLUMNS,
    Line,
    Modal,
    Use,
    Word,
    line_of,
    motion_use,
    unread_codes,
    with_codes,
)
from elastocal.compensation.posts.text import Block as Numbers
from elastocal.compensation.posts.text import Repeats, Text, shown
from elastocal.compensation.program import Arc, Kind, Motion, Target
from elastocal.spatial.pose import Pose

CENTRE = ("I", "J", "K")
MISFIT = 2e-5
"""Start and end may differ so much (m) in their distance from the centre."""


def arc(
    start: tuple[float, ...],
    end: tuple[float, ...],
    words: Mapping[str, float],
    axis: int,
    clockwise: bool,
    absolute: bool,
) -> Arc | str:
    """The arc about ``axis`` (words in m), or why there is none.

    Plane coordinates (u, v) follow the axis in cyclic order, so that G3 turns right-handed about it.
    """
    u, v = (axis + 1) % 3, (axis + 2) % 3
    a, b = (start[u], start[v]), (end[u], end[v])
    radius = words.get("R", words.get("CR"))
    if radius is not None:
        centre = _from_radius(a, b, radius, clockwise)
        if centre is None:
            return f"no arc of radius {abs(radius) * 1e3:g} mm joins its ends"
    elif any(CENTRE[i] in words for i in (u, v)):
        base = (0.0, 0.0) if absolute else a
        centre = (base[0] + words.get(CENTRE[u], 0.0), base[1] + words.get(CENTRE[v], 0.0))
        if absolute and not all(CENTRE[i] in words for i in (u, v)):
            return "its centre is given by half"
    else:
        return "it has neither centre nor radius"
    one, two = hypot(a[0] - centre[0], a[1] - centre[1]), hypot(b[0] - centre[0], b[1] - centre[1])
    if one < 1e-9 or abs(one - two) > MISFIT:
        return f"its ends are {one * 1e3:.4f} and {two * 1e3:.4f} mm from its centre"
    angle = atan2(b[1] - centre[1], b[0] - centre[0]) - atan2(a[1] - centre[1], a[0] - centre[0])
    angle %= 2 * pi
    whole = hypot(b[0] - a[0], b[1] - a[1]) < 1e-9
    angle = 2 * pi if whole else angle
    if clockwise:
        angle = -2 * pi if whole else angle - 2 * pi
    middle = [0.0, 0.0, 0.0]
    middle[u], middle[v], middle[axis] = *centre, start[axis]
    return Arc((middle[0], middle[1], middle[2]), axis, angle, end[axis] - start[axis])


def _from_radius(
    a: tuple[float, float], b: tuple[float, float], radius: float, clockwise: bool
) -> tuple[float, float] | None:
    """Centre of the arc up to half a turn (radius > 0) or beyond (radius < 0)."""
    du, dv = b[0] - a[0], b[1] - a[1]
    chord = hypot(du, dv)
    if chord < 1e-9 or chord / 2 > abs(radius) + MISFIT / 2:
        return None
    height = sqrt(max(radius * radius - chord * chord / 4, 0.0)) / chord
    side = -height if clockwise == (radius > 0) else height
    return (a[0] + b[0]) / 2 - side * dv, (a[1] + b[1]) / 2 + side * du


class Run(NamedTuple):
    """Lines that repeat the one before but for the words ``places``, with their first target and move.

    ``behind`` are the characters from the last number of these to where further words can stand.
    """

    modal: Modal
    places: tuple[int, ...]
    numbers: Numbers
    target: int
    move: int
    behind: int

    def blocks(self, text: Text) -> Iterator[Block]:
        """The lines one by one."""
        for i, number in enumerate(self.numbers.lines):
            line = line_of(text, number)
            assert line is not None
            yield Block(text.name, line, self.target + i, self.move + i, self.modal, False)


class Block(NamedTuple):
    """A line with motion or G codes, for the writer: target and move (-1: none), whether the position is lost on it."""

    file: str
    line: Line
    target: int
    move: int
    modal: Modal
    lost: bool

    @property
    def motion_word(self) -> Word | None:
        return next((w for w in self.line.codes if w.value in (0, 1, 2, 3)), None)


@dataclass(frozen=True)
class Control:
    """What the control holds behind a target of a line or a rapid move: values ``at`` as in ``Walk``, and the words in
    force; ``axis`` is the first tool axis of the program, ``used`` are the bases of targets so far."""

    at: tuple[float, ...] = (np.nan,) * 9
    modal: Modal = Modal()
    bases: Mapping[str, Pose] = field(default_factory=dict)
    used: frozenset[str] = frozenset()
    axis: tuple[float, ...] = ()
    changes_tools: bool = False
    lines: int = 0
    """Before it."""
    called: Mapping[str, str] = field(default_factory=dict)
    """Frames that words stand for, in lines that state what is shown."""


@dataclass
class Walk:
    """The reading of one file.  ``at`` holds the last values of X Y Z (m), A B C (deg) and A3 B3 C3; nan: not known."""

    text: Text
    into: Collector
    rotary: str
    changes_tools: bool
    bases: dict[str, Pose]
    blocks: list[Block | Run] = field(default_factory=list)
    modal: Modal = Modal()
    at: list[float] = field(default_factory=lambda: [np.nan] * 9)
    after: Control = Control()
    """What stands before the text: its last target is the first one of the program, in line 0."""
    plain: bool = False
    """Whether the last line was a target of a line or a rapid move."""

    def run(self, least: float = np.inf) -> int:
        """Read the lines, or ``least`` of them up to a target of a line or a rapid move; how many were read."""
        self.into.last = None
        self._begin()
        repeats, number, total = Repeats.of(self.text), 0, len(self.text.starts)
        while number < total and not (self.plain and number >= least):
            number += 1
            line, targets = line_of(self.text, number), len(self.into.targets)
            if line is not None:
                self._line(line)
            found = len(self.into.targets) > targets
            self.plain = found and self.into.last is not None and self.modal.motion in (0, 1)
            if line is not None and found:
                number += self._repeat(line, repeats, int(min(max(least - number, 1), total)))
        return number

    def _begin(self) -> None:
        after = self.after
        self.modal, self.at, self.changes_tools = after.modal, list(after.at), self.changes_tools or after.changes_tools
        self.bases.update(after.bases)
        if after.at[0] == after.at[0]:
            motion: Motion = "linear" if after.modal.motion else "joint"
            target = Target(self.text.name, 0, "", self._kind(), self.modal.base, self.modal.tool)
            number = self.into.target(target, (), after.at)
            feed = self.modal.feed if self.modal.motion else np.nan
            self.into.move((self.text.name, 0), motion, number, feed=feed)

    @property
    def end(self) -> Control:
        """Behind the last line that was read."""
        used = self.after.used.union(t.base for t in self.into.targets)
        values = self.into.values.array(float, 9)
        axis = self.after.axis or tuple(values[~np.isnan(values[:, 6:]).any(axis=1)][:1, 6:].ravel().tolist())
        return Control(tuple(self.at), self.modal, dict(self.bases), used, axis, self.changes_tools)

    def _repeat(self, line: Line, repeats: Repeats, most: int) -> int:
        """How many lines follow, up to ``most``, that repeat one with a target but for numbers of X to C3 (and N)."""
        if line.deleted or not line.columns or not self.modal.absolute or self.modal.motion not in (0, 1):
            return 0
        places, last = sorted(line.columns), max(word.end for word in line.columns.values())
        if "N" in self.text.text[last : line.place].upper():  # its number has no width of its own
            return 0
        block = repeats.like(line.number, [(line.columns[i].value_start, line.columns[i].end) for i in places], b"Nn")
        if block is None:
            return 0
        block = Numbers(block.first, block.spans[:most], block.values[:most])
        values = np.tile(np.array(self.at), (len(block.values), 1))
        values[:, places] = block.values * np.array([self.modal.unit if i < 3 else 1.0 for i in places])
        new = self.into.repeat(block._replace(spans=np.empty((len(values), 0, 2), dtype=np.int64), values=values))
        self.at = values[-1].tolist()
        first = len(self.into.moves) - len(new)
        self.blocks.append(Run(self.modal, tuple(places), block, new.start, first, line.place - last))
        return len(new)

    def _line(self, line: Line) -> None:
        before = self.modal
        codes = [w.value for w in line.codes]
        codes += unread_codes(line.unread)
        modal, reason = with_codes(before, codes, self.after.lines + line.number) if codes else (before, "")
        if (called := self.after.called.get(modal.base)) is not None:
            modal = replace(modal, base=called)
        if 41.0 in codes or 42.0 in codes:
            where = f"{self.text.name}, line {self.after.lines + line.number}"
            self.into.note(
                f"{where}: the control offsets the path by the cutter radius; the programmed path is corrected"
            )
        self.modal = modal = self._feed_and_tool(line, modal) if line.others else modal
        if 4.0 in codes or (10.0 in codes and self._offset(line)):
            return
        if line.unread:
            reason = f"{shown(line.unread)!r} is not known when the file is read"
        elif any((w.address == "M" and w.value in CALLED) or w.address == "L" for w in line.others):
            reason = "it calls another program, or changes data of the control"
        elif modal.base != before.base:
            self._lose(line)
        arcs = modal.motion in (2, 3) and any(w.address in ARC_WORDS for w in line.others)
        if " " in modal.base and modal.base != before.base and not self.after.called:
            self.into.note(
                f"{self.text.name}, line {self.after.lines + line.number}: from here on the frame is {modal.base}"
            )
        elif reason:
            self._skip(line, reason)
        elif modal.cycle and (line.columns or not before.cycle):
            self._skip(line, "drilling cycle")
        elif line.columns or arcs:
            self._motion(line)
        elif any(w.address == "M" and w.value in (2, 6, 17, 30, 99) for w in line.others):
            self._lose(line)
        elif codes:
            self._keep(line)

    def _feed_and_tool(self, line: Line, modal: Modal) -> Modal:
        for word in line.others:
            if word.address == "F":
                modal = replace(modal, feed=word.value * modal.unit / 60 if modal.per_minute else np.nan)
            elif word.address == "T":
                picked = f"T{word.value:g}"
                modal = replace(modal, picked=picked, tool=modal.tool if self.changes_tools else picked)
        if any(w.address == "M" and w.value == 6 for w in line.others):
            modal = replace(modal, tool=modal.picked)
        return modal

    def _offset(self, line: Line) -> bool:
        """G10 L2 P1 X Y Z states where G54 lies, for targets that come after it."""
        words = {w.address: w.value for w in line.others if w.address in ("L", "P", "R")}
        system = f"G{53 + words.get('P', 0):g}"
        plain = (
            words.get("L") == 2 and 1 <= words.get("P", 0) <= 6 and "R" not in words and set(line.columns) == {0, 1, 2}
        )
        if not plain or system in self.after.used or any(t.base == system for t in self.into.targets):
            return False
        place = np.array([line.columns[i].value for i in range(3)]) * self.modal.unit
        self.bases[system] = Pose(np.eye(3), place)
        return True

    def _motion(self, line: Line) -> None:
        modal, start = self.modal, tuple(self.at)
        for i, word in line.columns.items():
            value = word.value * (modal.unit if i < 3 else 1.0)
            self.at[i] = value if modal.absolute or i >= 6 else self.at[i] + value
        unknown = [COLUMNS[i] for i in range(3) if self.at[i] != self.at[i]]
        if modal.motion is None:
            self._skip(line, "no G0 to G3 says how to move")
        elif unknown:
            reason = f"{' and '.join(unknown)} {'is' if len(unknown) == 1 else 'are'} not known here"
            self._keep(line)
            self.into.skip(self.text, line.start, line.end, reason)
        else:
            self._target(line, start)

    def _target(self, line: Line, start: tuple[float, ...]) -> None:
        modal = self.modal
        if not modal.has_unit:
            self.into.note(f"{self.text.name}: no G20 or G21 says the unit before its first point; MM ARE ASSUMED")
        shape: Arc | str | None = None
        if modal.motion in (2, 3):
            shape = self._arc(line, start)
        if isinstance(shape, str):
            self._skip(line, shape)
            return
        target = Target(self.text.name, line.number, "", self._kind(), modal.base, modal.tool)
        motion: Motion = ("joint", "linear", "arc", "arc")[modal.motion or 0]
        number = self.into.target(target, (), tuple(self.at))
        move = len(self.into.moves)
        feed = modal.feed if modal.motion else np.nan
        fixed = "its F is for the whole line (G93)" if modal.timed and modal.motion else ""
        fixed = "the operator can switch it off" if line.deleted else fixed
        self.into.move((self.text.name, line.number), motion, number, feed=feed, fixed=fixed)
        self.into.moves[-1] = self.into.moves[-1]._replace(arc=shape)
        self._keep(line, number, move)
        if line.deleted:
            for i in line.columns:
                self.at[i] = np.nan
            self.into.last = None

    def _kind(self) -> Kind:
        if self.at[6] == self.at[6] and self.at[7] == self.at[7] and self.at[8] == self.at[8]:
            return "axis"
        if self.rotary and all(self.at[3 + "XYZ".index(c)] == self.at[3 + "XYZ".index(c)] for c in self.rotary):
            return "pose" if len(self.rotary) == 3 else "axis"
        return "point"

    def _arc(self, line: Line, start: tuple[float, ...]) -> Arc | str:
        modal = self.modal
        words = {w.address: w.value * modal.unit for w in line.others if w.address in ARC_WORDS}
        if line.deleted:
            return "an arc that the operator can switch off"
        if modal.timed:
            return "an arc whose F is for the whole of it (G93)"
        if any(w.address in ("P", "TU") for w in line.others):
            return "an arc of several turns"
        if self.into.last is None or any(v != v for v in start[:3]):
            return "its start is not known"
        return arc(start[:3], tuple(self.at[:3]), words, modal.axis, modal.motion == 2, modal.centres_absolute)

    def _skip(self, line: Line, reason: str) -> None:
        after = "the position is not known after it"
        arcs = self.modal.motion in (2, 3) and motion_use(line, self.modal.cycle) in (Use.RELIES, Use.STATES)
        if arcs and self.into.last is not None:
            after += ", and its arc starts from a corrected place, which the control may refuse"
        self.into.skip(self.text, line.start, line.end, f"{reason}; {after}")
        self._lose(line)

    def _lose(self, line: Line) -> None:
        self.at = [np.nan] * 9
        self.into.last = None
        self._keep(line, lost=True)

    def _keep(self, line: Line, target: int = -1, move: int = -1, lost: bool = False) -> None:
        self.blocks.append(Block(self.text.name, line, target, move, self.modal, lost))
