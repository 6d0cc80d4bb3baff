"""A scene as a still picture: what is far is drawn first.  For paper, and where a browser cannot turn it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from math import sqrt

from elastocal.report.blocks import Scene
from elastocal.report.colours import OTHERS, Paint
from elastocal.report.drawing.canvas import Sheet
from elastocal.report.figures import DIAGONAL, STYLES
from elastocal.report.parts import (
    FIELD,
    FROM,
    Arrows,
    Capsule,
    Dots,
    Labels,
    Mesh,
    Part,
    Point,
    Solids,
    camera,
    cross,
    dot,
    plus,
    scaled,
    strokes,
    unit,
)
from elastocal.values import dataclass

LIGHT_FROM = unit((0.4, -0.6, 0.9))
FEW_POINTS = 12
"""A longer line is not parted for its depth."""
Item = tuple[float, Callable[[], None]]
"""Depth, and what draws it."""


@dataclass(frozen=True)
class View:
    """From coordinates to pixels; ``depth`` grows towards the eye."""

    centre: Point
    scale: float
    eye_centre: Point
    distance: float
    half: float
    middle: float

    def depth(self, p: Point) -> float:
        return dot(FROM, self._boxed(p))

    def pixel(self, p: Point) -> tuple[float, float]:
        return self.seen(p)[0]

    def seen(self, p: Point) -> tuple[tuple[float, float], float]:
        """Pixel and depth."""
        b = self._boxed(p)
        depth = dot(FROM, b)
        away = FIELD * (self.distance - depth)
        return (self.middle + self.half * dot(RIGHT, b) / away, self.half * (1 - dot(UP, b) / away)), depth

    def width(self, p: Point, size: float) -> float:
        """Of a length at a place, in pixels."""
        return self.half * size * self.scale / (FIELD * (self.distance - self.depth(p)))

    def _boxed(self, p: Point) -> Point:
        (x, y, z), (a, b, c), scale = self.centre, self.eye_centre, self.scale
        return (p[0] - x) * scale - a, (p[1] - y) * scale - b, (p[2] - z) * scale - c


RIGHT = unit(cross((0.0, 0.0, 1.0), FROM))
UP = cross(FROM, RIGHT)


def still(block: Scene, width: float, paint: Paint) -> str:
    parts = [p for p in block.parts if len(p) and p.view in ("", *block.views[:1])]
    ranges = block.box
    sides = [high - low for low, high in ranges]
    scale = DIAGONAL / sqrt(sum(s * s for s in sides))
    seen = camera((sides[0] * scale, sides[1] * scale, sides[2] * scale))
    high = min(width / max(seen.aspect, 0.9), 520.0)
    middle: Point = tuple((a + b) / 2 for a, b in ranges)  # type: ignore[assignment]
    away = plus(seen.eye, scaled(seen.centre, -1.0))
    view = View(middle, scale, seen.centre, sqrt(dot(away, away)), high / 2, width / 2)
    sheet = Sheet(width, high, paint)
    colours = _colours(block)
    items = [item for p in parts for item in _items(sheet, view, p, colours[p.name])]
    for _, draw in sorted(items, key=lambda item: item[0]):
        draw()
    _axes(sheet, view, ranges, block.unit)
    entries = {p.name: (p.name, colours[p.name], _sign(p)) for p in parts if not isinstance(p, Labels)}
    sheet.height += sheet.legend(list(entries.values()), 8, high + 14, width - 16) + 4
    return sheet.svg(f"{block.title}, a picture in three dimensions: {', '.join(entries)}")


def _colours(block: Scene) -> dict[str, str]:
    out: dict[str, str] = {}
    plain = 0
    for p in block.parts:
        if p.name in out:
            continue
        if isinstance(p, Labels) or p.look == "plain":
            out[p.name], plain = f"c{plain % OTHERS}", plain + 1
        else:
            out[p.name] = STYLES[p.look][0]
    return out


def _sign(part: Part) -> str:
    return "circle" if isinstance(part, Dots) else "square" if isinstance(part, Solids) else "line"


def _items(sheet: Sheet, view: View, part: Part, colour: str) -> Iterator[Item]:
    if isinstance(part, Labels):
        for p, words in zip(part.points, part.words, strict=True):
            x, y = view.pixel(p)
            yield 1e9, lambda x=x, y=y, w=words: sheet.text(x + 4, y - 4, w, size=11)  # type: ignore[misc]
    elif isinstance(part, Dots):
        for n, p in enumerate(part.points):
            x, y = view.pixel(p)
            words = part.words[n] if part.words else part.name
            yield view.depth(p), lambda x=x, y=y, w=words: sheet.mark(x, y, colour, "circle", 3, w)  # type: ignore[misc]
    elif isinstance(part, Solids):
        for shape in part.shapes:
            yield from _capsule(sheet, view, shape, colour) if isinstance(shape, Capsule) else _faces(
                sheet, view, shape, colour, "0.35" if part.look == "floor" else "1")  # fmt: skip
    else:
        size = 1.6 if part.look in ("plain", "floor") else STYLES[part.look][1] / 2.5
        for line in strokes(part):
            if len(line) > FEW_POINTS or isinstance(part, Arrows):  # as one stroke
                way, depths = zip(*map(view.seen, line), strict=True)
                yield sum(depths) / len(line), lambda e=way: sheet.line(e, colour, size)  # type: ignore[misc]
                continue
            for (a, near), (b, far) in itertools.pairwise(map(view.seen, line)):
                ends = [a, b]
                yield (near + far) / 2, lambda e=ends: sheet.line(e, colour, size)  # type: ignore[misc]


def _capsule(sheet: Sheet, view: View, shape: Capsule, colour: str) -> Iterator[Item]:
    """A thick line with a dark rim and a light stripe."""
    ends = [view.pixel(shape.start), view.pixel(shape.end)]
    width = 2 * view.width(shape.start, shape.radius)
    if ends[0] == ends[1]:
        ends[1] = (ends[0][0] + 0.1, ends[0][1])

    def draw() -> None:
        shift = -0.16 * width
        for size, tone, move in (
            (1.0, _toned(colour, 0.7), 0.0),
            (0.86, colour, 0.0),
            (0.25, _toned(colour, 1.25), shift),
        ):
            path = "L".join(f"{x + move:.1f} {y + move:.1f}" for x, y in ends)
            line = f'stroke-linecap="round" stroke-width="{size * width:.1f}" style="stroke:{tone}"'
            sheet.items.append(f'<path d="M{path}" fill="none" {line}/>')

    yield (view.depth(shape.start) + view.depth(shape.end)) / 2, draw


def _faces(sheet: Sheet, view: View, mesh: Mesh, colour: str, opacity: str) -> Iterator[Item]:
    for i, j, k in mesh.faces:
        a, b, c = mesh.points[i], mesh.points[j], mesh.points[k]
        normal = cross(plus(b, scaled(a, -1.0)), plus(c, scaled(a, -1.0)))
        length = sqrt(dot(normal, normal))
        if not length:
            continue
        bright = 0.72 + 0.28 * abs(dot(normal, LIGHT_FROM)) / length
        tone = _toned(colour, bright)
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in (view.pixel(p) for p in (a, b, c)))
        text = f'<path d="M{path}z" fill-opacity="{opacity}" style="fill:{tone}"/>'
        depth = (view.depth(a) + view.depth(b) + view.depth(c)) / 3 - (1e6 if opacity != "1" else 0)
        yield depth, lambda t=text: sheet.items.append(t)  # type: ignore[misc]


def _toned(colour: str, bright: float) -> str:
    if not colour.startswith("#"):
        return colour
    parts = (min(255, round(int(colour[i : i + 2], 16) * bright)) for i in (1, 3, 5))
    return "#" + "".join(f"{v:02x}" for v in parts)


def _axes(sheet: Sheet, view: View, ranges: list[tuple[float, float]], unit_name: str) -> None:
    """Three edges of the box that meet below, with their ends in numbers."""
    low: Point = (ranges[0][0], ranges[1][0], ranges[2][0])
    for i, name in enumerate("xyz"):
        end = list(low)
        end[i] = ranges[i][1]
        a, b = view.pixel(low), view.pixel((end[0], end[1], end[2]))
        sheet.line([a, b], "soft", 1)
        sheet.text(b[0] + 4, b[1] + 4, f"{name} {ranges[i][1]:.3g} {unit_name}", colour="soft", size=11)
