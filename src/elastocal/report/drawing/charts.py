"""Curves, marks, bands and error bars over two axes or over a direction; lying bars; estimates with their intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import cos, isfinite, pi, sin

from elastocal.quantities import number, significant
from elastocal.report.blocks import Bars, Forest, Lines, Series, titled
from elastocal.report.colours import OTHERS, Paint, of_role
from elastocal.report.drawing.canvas import (
    Ends,
    Frame,
    Scale,
    Sheet,
    extent,
    frame,
    shortened,
    tick_words,
    wide,
)

HEIGHT, TALL = 300.0, 460.0
NARROW = 500.0
SHAPES = ("circle", "diamond", "square")
WIDEST = 0.75
"""Height over width of a picture to scale, at most."""
DASHED = ("tolerance", "file")


def curves(block: Lines, width: float, paint: Paint) -> str:
    if block.polar:
        return _polar(block, width, paint)
    x = extent([v for s in block.series for v in s.x], air=0.02)
    every = [v for s in block.series for v in _heights(s)]
    y = extent(every, zero=not block.equal, log=block.log)
    if block.equal:
        height = min(max((width - 60) * (y[1] - y[0]) / (x[1] - x[0]), 120.0), WIDEST * width)
        x, y = _one_scale(x, y, width - 70, height)
    else:
        height = HEIGHT * (0.85 if width < NARROW else 1.0)
    sheet = Sheet(width, height + 60, paint)
    y_name = titled(block.y_name, block.y_unit) + (", log scale" if block.log else "")
    ends = Ends(x, y, titled(block.x_name, block.x_unit), y_name, block.log)
    axes = frame(sheet, ends, 10, height)
    draw_series(sheet, axes, block.series, block)
    entries = legend_of(block.series)
    named = len(entries) > 1 or any(s.role for s in block.series)
    sheet.height += sheet.legend(entries, 8, height + 58, width - 16) if named else 0.0
    return sheet.svg(_spoken(block))


def draw_series(sheet: Sheet, axes: Frame, series: Sequence[Series], block: Lines | None = None) -> None:
    for i, s in sorted(enumerate(series), key=lambda item: not item[1].low):  # bands lie below
        colour = of_role(s.role, i)
        if s.low:
            _band(sheet, axes, s, colour)
        elif s.points:
            _marks(sheet, axes, s, i, colour, block)
        else:
            for run in _runs(s.x, s.y, axes.y.log):
                if len(run) == 1:
                    sheet.mark(*axes.at(*run[0]), colour, _shape(s, i))
                sheet.line(_thinned([axes.at(x, y) for x, y in run]), colour, 2, "6 4" if s.role in DASHED else "")


def legend_of(series: Sequence[Series]) -> list[tuple[str, str, str]]:
    entries: dict[str, tuple[str, str, str]] = {}
    for i, s in enumerate(series):
        line = "dash" if s.role in DASHED else "line"
        sign = "area" if s.low else _shape(s, i) if s.points else line
        entries.setdefault(s.name, (s.name, of_role(s.role, i), sign))
    return list(entries.values())


def _read(value: float) -> str:
    """Four digits; what is next to nothing as zero."""
    return number(value, 4) if abs(value) < 1e-4 else number(float(f"{value:.4g}"))


def _shape(s: Series, i: int) -> str:
    fixed = {"outlier": "cross", "before": "diamond", "after": "circle", "tolerance": "bar", "file": "square"}
    return fixed.get(s.role) or SHAPES[(i // OTHERS) % len(SHAPES)]


def _heights(s: Series) -> list[float]:
    if s.spread:
        pairs = list(zip(s.y, s.spread, strict=True))
        return [v for y, e in pairs for v in ((y - e, y + e) if isfinite(e) else (y,))]
    return [*s.y, *s.low]


def _band(sheet: Sheet, axes: Frame, s: Series, colour: str) -> None:
    low, high = ([max(v, axes.y.low) if axes.y.log else v for v in side] for side in (s.low, s.y))
    known = [(x, a, b) for x, a, b in zip(s.x, low, high, strict=True) if isfinite(a) and isfinite(b)]
    up = [axes.at(x, b) for x, _, b in known]
    down = [axes.at(x, a) for x, a, _ in reversed(known)]
    sheet.line([*_thinned(up), *_thinned(down)], colour, close="0.45")


def _marks(sheet: Sheet, axes: Frame, s: Series, i: int, colour: str, block: Lines | None) -> None:
    shape = _shape(s, i)
    size = 3.2 if len(s.x) < 120 else 2.2
    for k, (x, y) in enumerate(zip(s.x, s.y, strict=True)):
        if not (isfinite(x) and isfinite(y)) or (axes.y.log and y <= 0):
            continue
        if s.spread and isfinite(s.spread[k]):
            ends = [axes.at(x, max(y - s.spread[k], axes.y.low) if axes.y.log else y - s.spread[k])]
            sheet.line([*ends, axes.at(x, y + s.spread[k])], colour, 1.2)
        unit = f" {block.y_unit}" if block is not None and block.y_unit else ""
        words = f"{s.words[k] if s.words else s.name}: {_read(y)}{unit}" if len(s.x) < 600 else ""
        sheet.mark(*axes.at(x, y), colour, shape, size, words)


def _runs(x: Sequence[float], y: Sequence[float], log: bool) -> Iterator[list[tuple[float, float]]]:
    """Pieces of a curve between gaps."""
    run: list[tuple[float, float]] = []
    for a, b in zip(x, y, strict=True):
        if isfinite(a) and isfinite(b) and (b > 0 or not log):
            run.append((a, b))
        elif run:
            yield run
            run = []
    yield run


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Without points that lie within half a pixel of the last one."""
    if len(points) < 300:
        return points
    out = [points[0]]
    for x, y in points[1:-1]:
        if abs(x - out[-1][0]) > 0.5 or abs(y - out[-1][1]) > 0.5:
            out.append((x, y))
    return [*out, points[-1]]


def _one_scale(
    x: tuple[float, float], y: tuple[float, float], width: float, height: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    unit = max((x[1] - x[0]) / width, (y[1] - y[0]) / (height - 10))
    (a, b), (c, d) = ((low + high) / 2 for low, high in (x, y)), (width * unit / 2, (height - 10) * unit / 2)
    return (a - c, a + c), (b - d, b + d)


def _polar(block: Lines, width: float, paint: Paint) -> str:
    size = min(width, TALL)
    sheet = Sheet(width, size + 8, paint)
    middle, radius = (width / 2, size / 2), size / 2 - 34
    scale = Scale(0.0, extent([v for s in block.series for v in _heights(s)], zero=True)[1], 0.0, radius)

    def at(angle: float, r: float) -> tuple[float, float]:
        turned = angle * pi / 180
        return middle[0] + scale(r) * cos(turned), middle[1] - scale(r) * sin(turned)

    rings = [v for v in scale.ticks(4) if v > 0]
    for value, words in zip(rings, tick_words(rings), strict=True):
        sheet.line([at(a, value) for a in range(0, 361, 5)], "line", 1)
        sheet.text(at(15, value)[0] + 3, at(15, value)[1], words, colour="soft", size=11)
    for angle in range(0, 360, 30):
        sheet.line([middle, at(angle, scale.high)], "line", 1)
        x, y = at(angle, scale.high * (1 + 16 / radius))
        sheet.text(x, y + 4, f"{angle}\N{DEGREE SIGN}", anchor="middle", colour="soft", size=11)
    for i, s in enumerate(block.series):
        colour = of_role(s.role, i)
        known = [k for k, v in enumerate(s.y) if isfinite(v)]
        for k in known:
            if s.spread and isfinite(s.spread[k]):
                ends = [at(s.x[k], max(0.0, s.y[k] - s.spread[k])), at(s.x[k], s.y[k] + s.spread[k])]
                sheet.line(ends, colour, 1.5)
        if s.points:
            for k in known:
                sheet.mark(*at(s.x[k], s.y[k]), colour, _shape(s, i), words=f"{s.name}: {s.y[k]:.4g} {block.y_unit}")
        else:
            sheet.line([at(s.x[k], s.y[k]) for k in known], colour)
    sheet.text(4, 14, titled(block.y_name, block.y_unit))
    sheet.height += sheet.legend(legend_of(block.series), 8, size + 18, width - 16)
    return sheet.svg(_spoken(block))


def _spoken(block: Lines) -> str:
    names = ", ".join(dict.fromkeys(s.name for s in block.series))
    return f"{block.title}: {titled(block.y_name, block.y_unit)} over {titled(block.x_name, block.x_unit)}; {names}"


ROW = 22.0
"""Height of a row, px."""


def bars(block: Bars, width: float, paint: Paint) -> str:
    bottom = 10 + ROW * len(block.rows)
    sheet = Sheet(width, bottom + 44, paint)
    x = _axis(sheet, block.rows, (0.0, max(sum(_known(row)) for row in block.values)), bottom,
              titled(block.name, block.unit))  # fmt: skip
    for j, row in enumerate(block.values):
        start = 0.0
        for i, value in enumerate(_known(row)):
            words = f"{block.rows[j]}, {block.parts[i]}: {significant(value)} {block.unit}"
            sheet.rectangle(x(start), 13 + ROW * j, x(start + value) - x(start), ROW - 6, f"c{i % 7}", words)
            start += value
    if len(block.parts) > 1:
        entries = [(name, f"c{i % 7}", "square") for i, name in enumerate(block.parts)]
        sheet.height += sheet.legend(entries, 8, bottom + 54, width - 16)
    return sheet.svg(f"{block.title}: {titled(block.name, block.unit)} of {', '.join(block.rows)}")


def forest(block: Forest, width: float, paint: Paint) -> str:
    bottom = 10 + ROW * len(block.rows)
    sheet = Sheet(width, bottom + 44, paint)
    every = [v for r in block.rows for v in (r.value - r.half, r.value + r.half, r.file)]
    x = _axis(sheet, tuple(r.name for r in block.rows), extent(every), bottom, f"[{block.unit}]" if block.unit else "")
    if x.low < 0 < x.high:
        sheet.line([(x(0.0), 10), (x(0.0), bottom)], "soft", 1)
    for j, r in enumerate(block.rows):
        at = 10 + ROW * (j + 0.5)
        if isfinite(r.file):
            sheet.mark(x(r.file), at, "file", "bar", 7, f"{r.name}, file: {significant(r.file)} {block.unit}")
        if isfinite(r.value) and isfinite(r.half):
            sheet.line([(x(r.value - r.half), at), (x(r.value + r.half), at)], "after", 2)
            sheet.mark(x(r.value), at, "after", "circle", 4, r.words or f"{r.name}: {significant(r.value)}")
    entries = [("file value", "file", "bar"), ("estimate, 95 % interval", "after", "circle")]
    sheet.height += sheet.legend(entries, 8, bottom + 54, width - 16)
    return sheet.svg(f"{block.title} [{block.unit}]: {', '.join(r.name for r in block.rows)}")


def _known(values: tuple[float, ...]) -> list[float]:
    return [v if isfinite(v) else 0.0 for v in values]


def _axis(sheet: Sheet, names: tuple[str, ...], ends: tuple[float, float], bottom: float, name: str) -> Scale:
    most = sheet.width * 0.4
    left = 14 + 1.1 * min(max(map(wide, names), default=0.0), most)
    x = Scale(*ends, left, sheet.width - 16)
    ticks = x.ticks(max(2, int((x.end - left) // 70)))
    for value, words in zip(ticks, tick_words(ticks), strict=True):
        sheet.line([(x(value), 10), (x(value), bottom)], "line", 1)
        sheet.text(x(value), bottom + 16, words, anchor="middle", colour="soft")
    for j, row in enumerate(names):
        sheet.text(left - 8, 10 + ROW * (j + 0.5) + 4, shortened(row, most), anchor="end")
    middle = (left + x.end) / 2 if wide(name) < x.end - left else sheet.width / 2
    sheet.text(middle, bottom + 34, name, anchor="middle")
    return x
