"""Maps: few cells as rectangles that tell their value, many as a picture of one pixel each."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from elastocal.quantities import significant
from elastocal.report.blocks import Axis, Heatmap, titled
from elastocal.report.colours import DIVERGING, VIRIDIS, Paint, mixed
from elastocal.report.drawing.canvas import Ends, Frame, Scale, Sheet, extent, frame, label_room, tick_words
from elastocal.report.drawing.charts import draw_series, legend_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elastocal.spatial.entries import Array

FEW = 160
"""Cells that get a rectangle of their own."""
BAR = 96.0
"""Room for the scale at the right."""
Ranges = tuple[tuple[float, float], tuple[float, float]]


def heatmap(block: Heatmap, width: float, paint: Paint) -> str:
    x, y = _edges(block.x), _edges(block.y)
    x, y = _with_drawn(block, x, y)
    inner = width - BAR - 70
    height = min(inner * (y[1] - y[0]) / (x[1] - x[0]), 520.0) if block.equal else min(0.62 * width, 360.0)
    if block.y.labels:
        height = min(max(18.0 * len(block.y.labels), 120.0), 560.0)
    height = max(height, 140.0)
    if block.equal:
        x = _widened(x, (y[1] - y[0]) / height * inner)
    sheet = Sheet(width, height + 10 + label_room(block.x.labels, inner), paint)
    ends = Ends(
        x, y, titled(block.x.name, block.x.unit), titled(block.y.name, block.y.unit), downwards=block.downwards,
        x_labels=block.x.labels, y_labels=block.y.labels,
    )  # fmt: skip
    axes = frame(sheet, ends, 10, height, BAR)
    low, high = (-1.0, 1.0) if block.signed else _range(block)
    _cells(sheet, axes, block, low, high)
    draw_series(sheet, axes, block.drawn)
    _scale(sheet, block, low, high, height, width)
    if block.drawn:
        sheet.height += sheet.legend(legend_of(block.drawn), 8, sheet.height + 8, width - 16) + 4
    return sheet.svg(f"{block.title}: {titled(block.name, block.unit)}")


def _edges(axis: Axis) -> tuple[float, float]:
    if axis.labels:
        return -0.5, len(axis.labels) - 0.5
    values = sorted(axis.values)
    half = (values[-1] - values[0]) / (2 * (len(values) - 1)) if len(values) > 1 else 0.5
    return values[0] - half, values[-1] + half


def _with_drawn(block: Heatmap, x: tuple[float, float], y: tuple[float, float]) -> Ranges:
    xs = [v for s in block.drawn for v in s.x if isfinite(v)]
    ys = [v for s in block.drawn for v in s.y if isfinite(v)]
    if not xs or not ys:
        return x, y
    return (min(x[0], *xs), max(x[1], *xs)), (min(y[0], *ys), max(y[1], *ys))


def _widened(ends: tuple[float, float], least: float) -> tuple[float, float]:
    middle, half = sum(ends) / 2, max(ends[1] - ends[0], least) / 2
    return middle - half, middle + half


def _range(block: Heatmap) -> tuple[float, float]:
    known = [v for row in block.values for v in row if isfinite(v)]
    low, high = extent(known, air=0.0)
    return (low, high) if high > low else (low - 1, high + 1)


def _colours(block: Heatmap, shares: Array) -> NDArray[np.uint8]:
    return mixed(DIVERGING if block.signed else VIRIDIS, shares)


def _cells(sheet: Sheet, axes: Frame, block: Heatmap, low: float, high: float) -> None:
    (x0, x1), (y0, y1) = _edges(block.x), _edges(block.y)
    columns, rows = len(block.values[0]), len(block.values)
    left, right = axes.x(x0), axes.x(x1)
    upper, lower = sorted((axes.y(y0), axes.y(y1)))
    width, height = (right - left) / columns, (lower - upper) / rows
    backwards_x = not block.x.labels and len(block.x.values) > 1 and block.x.values[0] > block.x.values[-1]
    rising = block.y.labels or len(block.y.values) < 2 or block.y.values[0] < block.y.values[-1]
    from_top = block.downwards == bool(rising)
    if rows * columns > FEW:
        _picture(sheet, block, (left, upper, right - left, lower - upper), (low, high), backwards_x, from_top)
        return
    known = [(j, i, v) for j, row in enumerate(block.values) for i, v in enumerate(row) if isfinite(v)]
    shares = np.array([(value - low) / (high - low) for _, _, value in known])
    for (j, i, value), colour in zip(known, _colours(block, shares), strict=True):
        a, b = (columns - 1 - i if backwards_x else i), (j if from_top else rows - 1 - j)
        words = f"{_place(block.x, i)}, {_place(block.y, j)}: {significant(value)} {block.unit}"
        sheet.rectangle(
            left + a * width, upper + b * height, width + 0.3, height + 0.3, f"#{colour.tobytes().hex()}", words
        )


def _place(axis: Axis, i: int) -> str:
    return axis.labels[i] if axis.labels else f"{axis.name} {significant(axis.values[i])} {axis.unit}".strip()


def _picture(
    sheet: Sheet, block: Heatmap, place: tuple[float, float, float, float], ends: tuple[float, float], backwards: bool,
    from_top: bool,
) -> None:  # fmt: skip
    low, high = ends
    values = np.array(block.values if from_top else block.values[::-1], dtype=np.float64)
    known = np.isfinite(values)
    pixels = np.zeros((*values.shape, 4), dtype=np.uint8)
    pixels[known, :3] = _colours(block, (values[known] - low) / (high - low))
    pixels[known, 3] = 255
    lines = (b"\0" + (row[::-1] if backwards else row).tobytes() for row in pixels)
    x, y, width, height = place
    size = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" preserveAspectRatio="none"'
    data = b64encode(_png(len(block.values[0]), len(values), b"".join(lines))).decode()
    sheet.items.append(f'<image {size} style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>')


def _png(width: int, height: int, lines: bytes) -> bytes:
    """RGBA of 8 bits; every line begins with its filter, 0."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def _scale(sheet: Sheet, block: Heatmap, low: float, high: float, height: float, width: float) -> None:
    left, top, steps = width - BAR + 18, 30.0, 40
    tall = (height - top) / steps
    for k, colour in enumerate(_colours(block, 1 - np.arange(steps) / (steps - 1))):
        sheet.rectangle(left, top + k * tall, 14, tall + 0.4, f"#{colour.tobytes().hex()}")
    scale = Scale(low, high, height, top)
    ticks = scale.ticks(5)
    for value, words in zip(ticks, tick_words(ticks), strict=True):
        sheet.text(left + 20, scale(value) + 4, words, colour="soft", size=11)
    sheet.text(width - 4, 18, block.unit or block.name, anchor="end", size=11)
