"""A sheet to draw on: marks in pixels, scales with round numbers, a frame with two axes, a legend that wraps."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import field
from html import escape
from math import ceil, floor, isfinite, log10

from elastocal.quantities import number
from elastocal.report.colours import Paint
from elastocal.values import dataclass

SIZE = 12
"""Of letters, px."""
LETTER = 6.3
"""Their mean width; a legend or label is laid out by it."""
FONT = "system-ui,'Segoe UI',Helvetica,Arial,sans-serif"


def wide(text: str) -> float:
    return LETTER * len(text)


@dataclass
class Sheet:
    """SVG in the making: ``items`` are elements, in order."""

    width: float
    height: float
    paint: Paint
    items: list[str] = field(default_factory=list)

    def line(
        self, points: Sequence[tuple[float, float]], colour: str, size: float = 2.0, dash: str = "", close: str = ""
    ) -> None:
        """Through the points; with ``close`` a filled area of that opacity."""
        if len(points) < 2:
            return
        path = "M" + "L".join(f"{_r(x)} {_r(y)}" for x, y in points)
        kind = f'fill-opacity="{close}" stroke="none" style="fill:' if close else 'fill="none" style="stroke:'
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        rounded = "" if close else f' stroke-width="{size:g}" stroke-linejoin="round"'
        self.items.append(f'<path d="{path}"{rounded}{dashed} {kind}{self.colour(colour)}"/>')

    def rectangle(self, x: float, y: float, width: float, height: float, colour: str, words: str = "") -> None:
        size = f'x="{_r(x)}" y="{_r(y)}" width="{_r(width)}" height="{_r(height)}"'
        self.items.append(f'<rect {size} style="fill:{self.colour(colour)}"{_titled(words, "rect")}')

    def mark(self, x: float, y: float, colour: str, shape: str = "circle", size: float = 3.4, words: str = "") -> None:
        fill = f'style="fill:{self.colour(colour)}"'
        if shape == "circle":
            self.items.append(f'<circle cx="{_r(x)}" cy="{_r(y)}" r="{size:g}" {fill}{_titled(words, "circle")}')
            return
        path = _mark(shape, x, y, size)
        drawn = shape in ("cross", "bar")
        style = f'fill="none" stroke-width="2.2" style="stroke:{self.colour(colour)}"' if drawn else fill
        self.items.append(f'<path d="{path}" {style}{_titled(words, "path")}')

    def text(
        self, x: float, y: float, words: str, *, anchor: str = "start", colour: str = "ink", turn: float = 0.0,
        size: float = SIZE, bold: bool = False,
    ) -> None:  # fmt: skip
        turned = f' transform="rotate({turn:g} {_r(x)} {_r(y)})"' if turn else ""
        heavy = ' font-weight="600"' if bold else ""
        place = f'x="{_r(x)}" y="{_r(y)}" text-anchor="{anchor}" font-size="{size:g}"{heavy}{turned}'
        self.items.append(f'<text {place} style="fill:{self.colour(colour)}">{escape(words)}</text>')

    def legend(self, entries: Sequence[tuple[str, str, str]], x: float, y: float, width: float) -> float:
        """Names with their line, mark or area, in rows; its height. An entry is name, colour and sign."""
        left, top = x, y
        for name, colour, sign in entries:
            need = 30 + wide(name)
            if left > x and left + need > x + width:
                left, top = x, top + 18
            if sign in ("line", "dash"):
                self.line([(left, top - 4), (left + 18, top - 4)], colour, 2.4, "5 3" if sign == "dash" else "")
            elif sign == "area":
                self.line([(left, top), (left + 18, top), (left + 18, top - 9), (left, top - 9)], colour, close="0.55")
            else:
                self.mark(left + 9, top - 4, colour, sign, 4)
            self.text(left + 23, top, name)
            left += need + 8
        return top - y + 18 if entries else 0.0

    def svg(self, words: str) -> str:
        """``words`` say what is drawn to those who do not see it."""
        size = f'viewBox="0 0 {_r(self.width)} {_r(self.height)}" width="{_r(self.width)}" height="{_r(self.height)}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FONT}">'
        return f"{head}<title>{escape(words)}</title>{''.join(self.items)}</svg>"

    def colour(self, colour: str) -> str:
        """A name of the colour language, or a colour as it is."""
        return colour if colour.startswith("#") else self.paint(colour)


def _r(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _mark(shape: str, x: float, y: float, s: float) -> str:
    if shape == "cross":
        return f"M{_r(x - s)} {_r(y - s)}l{2 * s:g} {2 * s:g}M{_r(x - s)} {_r(y + s)}l{2 * s:g} {-2 * s:g}"
    if shape == "diamond":
        return f"M{_r(x)} {_r(y - s)}l{s:g} {s:g}l{-s:g} {s:g}l{-s:g} {-s:g}z"
    if shape == "square":
        return f"M{_r(x - s)} {_r(y - s)}h{2 * s:g}v{2 * s:g}h{-2 * s:g}z"
    return f"M{_r(x)} {_r(y - s)}v{2 * s:g}"


def _titled(words: str, element: str) -> str:
    return f"><title>{escape(words)}</title></{element}>" if words else "/>"


@dataclass(frozen=True)
class Scale:
    """Values from ``low`` to ``high`` on pixels from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        a, b, v = (log10(max(n, 1e-300)) for n in (self.low, self.high, value)) if self.log else (
            self.low, self.high, value)  # fmt: skip
        return self.start + (v - a) / (b - a) * (self.end - self.start)

    def ticks(self, most: int) -> list[float]:
        if self.log:
            first, last = floor(log10(self.low) + 1e-9), ceil(log10(self.high) - 1e-9)
            steps = (1,) if last - first > 3 else (1, 2, 5)
            every = [m * 10.0**p for p in range(first, last + 1) for m in steps]
            return [v for v in every if self.low * 0.999 <= v <= self.high * 1.001]
        step = nice_step((self.high - self.low) / max(1, most))
        ticks = self._every(step)
        return ticks if len(ticks) >= FEWEST else self._every(nice_step(0.4 * step))

    def _every(self, step: float) -> list[float]:
        first = ceil(self.low / step - 1e-9)
        return [step * k for k in range(first, floor(self.high / step + 1e-9) + 1)]


FEWEST = 3
"""Numbers that an axis needs to be read; it takes the next smaller step for them."""


def nice_step(least: float) -> float:
    power = 10.0 ** floor(log10(least)) if least > 0 else 1.0
    return next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= least * (1 - 1e-9))


def extent(values: Sequence[float], *, zero: bool = False, air: float = 0.04, log: bool = False) -> tuple[float, float]:
    """The least range that holds all finite values, with some air."""
    known = [v for v in values if isfinite(v) and (v > 0 or not log)]
    if not known:
        return (0.1, 1.0) if log else (0.0, 1.0)
    low, high = min(known), max(known)
    if log:
        low, high = low / 1.25, high * 1.25
        return (low, high) if high > 2 * low else (low / 2, high * 2)
    if zero and low >= 0:
        return 0.0, high * (1 + air) or 1.0
    gap = (high - low) or max(abs(high), 1.0) * 0.1
    return low - air * gap, high + air * gap


SUPERSCRIPTS = str.maketrans("-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")
PLAIN = (1e-4, 1e6)
"""Numbers of an axis beyond are given with their power of ten."""


def tick_words(values: Sequence[float], log: bool = False) -> list[str]:
    """Numbers of an axis with as many decimals as their step needs."""
    if log or len(values) < 2:
        return [number(v) if v == 0 or PLAIN[0] <= abs(v) < PLAIN[1] else _power(v) for v in values]
    gap = min(abs(b - a) for a, b in itertools.pairwise(values))
    if gap < PLAIN[0] or max(map(abs, values)) >= PLAIN[1]:
        return [_power(v) for v in values]
    decimals = max(0, -floor(log10(gap) + 1e-9))
    return [number(v, decimals) for v in values]


def _power(value: float) -> str:
    """2 x 10 to the power of 6, as print has it."""
    if value == 0:
        return "0"
    digits, _, power = f"{value:.2e}".partition("e")
    size = f"{float(digits):g}"
    times = "" if size == "1" else f"{size}\N{DOT OPERATOR}"
    return f"{times}10{str(int(power)).translate(SUPERSCRIPTS)}"


def shortened(text: str, room: float) -> str:
    """A name that fits into so many pixels: its beginning and its end, which tells it from its neighbours."""
    most = max(5, int(room / LETTER))
    if len(text) <= most:
        return text
    ahead = (most - 1) // 2
    return f"{text[:ahead]}\N{HORIZONTAL ELLIPSIS}{text[len(text) - (most - 1 - ahead) :]}"


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


def _numbers(scale: Scale, most: int) -> dict[float, str]:
    values = scale.ticks(most)
    return dict(zip(values, tick_words(values, scale.log), strict=True))
