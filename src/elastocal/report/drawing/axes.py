"""A frame with two axes, grid and names, in which curves and maps are drawn."""

from __future__ import annotations

from math import ceil

from elastocal.report.drawing.canvas import Scale, Sheet, shortened, tick_words, wide
from elastocal.values import dataclass

LINE = 15.0
"""Room that one of several names beside each other needs, px."""
LONGEST = 0.3
"""Of the width, for names beside an axis; longer ones are shortened."""
UPRIGHT = 150.0
"""Room of a name that stands upright below an axis, px."""


@dataclass(frozen=True)
class Ends:
    """The ranges of both axes and their names, with units."""

    x: tuple[float, float]
    y: tuple[float, float]
    x_name: str
    y_name: str
    log: bool = False
    downwards: bool = False
    x_labels: tuple[str, ...] = ()
    y_labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Frame:
    """Scales of a drawn frame."""

    x: Scale
    y: Scale

    def at(self, x: float, y: float) -> tuple[float, float]:
        return self.x(x), self.y(y)


def frame(sheet: Sheet, ends: Ends, top: float, bottom: float, right: float = 12.0) -> Frame:
    """Axes between ``top`` and ``bottom`` pixels; names of the x axis hang below ``bottom``."""
    high, low = (bottom, top) if ends.downwards else (top, bottom)
    y = Scale(*ends.y, low, high, ends.log)
    longest = LONGEST * sheet.width
    labels_y = dict(enumerate(shortened(w, longest) for w in ends.y_labels)) or _numbers(
        y, max(2, int((bottom - top) // 42))
    )
    left = 28 + 1.1 * max((wide(w) for w in labels_y.values()), default=0.0)
    x = Scale(*ends.x, left, sheet.width - right)
    x_labels = tuple(shortened(w, UPRIGHT) for w in ends.x_labels)
    named = enumerate(x_labels)
    room = (sheet.width - right - left) / max(1, len(ends.x_labels))
    every = ceil(LINE / room) if room < LINE else 1
    labels_x = {i: w for i, w in named if i % every == 0} or _numbers(
        x, max(2, int((sheet.width - right - left) // 68))
    )
    for value, words in labels_y.items():
        at = y(value)
        if not ends.y_labels:
            sheet.line([(left, at), (sheet.width - right, at)], "line", 1)
        sheet.text(left - 6, at + 4, words, anchor="end", colour="soft")
    upright = bool(x_labels) and len(x_labels) * max(map(wide, x_labels)) > x.end - x.start
    for value, words in labels_x.items():
        at = x(value)
        if not ends.x_labels:
            sheet.line([(at, top), (at, bottom)], "line", 1)
        if upright:
            sheet.text(at + 4, bottom + 8, words, anchor="end", colour="soft", turn=-90)
        else:
            sheet.text(at, bottom + 16, words, anchor="middle", colour="soft")
    if ends.x_name:
        sheet.text((left + sheet.width - right) / 2, bottom + 34, ends.x_name, anchor="middle")
    if ends.y_name:
        sheet.text(12, (top + bottom) / 2, ends.y_name, anchor="middle", turn=-90)
    return Frame(x, y)


def label_room(labels: tuple[str, ...], room: float) -> float:
    """Height below a frame that upright labels need."""
    widest = max((min(wide(w), UPRIGHT) for w in labels), default=0.0)
    return 40.0 if len(labels) * widest <= room else 24 + 1.1 * widest


def titled(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit else name


def _numbers(scale: Scale, most: int) -> dict[float, str]:
    values = scale.ticks(most)
    return dict(zip(values, tick_words(values, scale.log), strict=True))
