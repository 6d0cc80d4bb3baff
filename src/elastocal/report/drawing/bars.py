"""Lying bars of parts, and estimates with their intervals below each other."""

from __future__ import annotations

from math import isfinite

from elastocal.quantities import significant
from elastocal.report.blocks import Bars, Forest
from elastocal.report.colours import Paint
from elastocal.report.drawing.axes import titled
from elastocal.report.drawing.canvas import Scale, Sheet, extent, shortened, tick_words, wide

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
