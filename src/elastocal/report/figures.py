"""Curves and maps as Plotly figures, for notebooks: traces and layout as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from elastocal.report.blocks import Heatmap, Lines, Series
from elastocal.report.colours import LIGHT, of_role

FONT = {"family": "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif", "size": 13, "color": "#1d2733"}
COLOURS = tuple(LIGHT[f"c{i}"] for i in range(7))
SYMBOLS = ("circle", "diamond", "x", "square")
"""The next once the colours are used up."""


def heatmap(block: Heatmap) -> dict[str, Any]:
    z = [[v if isfinite(v) else None for v in row] for row in block.values]
    hover = (
        f"{block.x.name} %{{x:.4g}} {block.x.unit}<br>{block.y.name} %{{y:.4g}} {block.y.unit}"
        f"<br>{block.name} %{{z:.4g}} {block.unit}<extra></extra>"
    )
    trace = {
        "type": "heatmap",
        "x": list(block.x.values),
        "y": list(block.y.values),
        "z": z,
        "colorscale": "RdBu" if block.signed else "Viridis",
        "hoverongaps": False,
        "hovertemplate": hover,
        "colorbar": {"title": {"text": f"[{block.unit}]", "side": "top"}, "thickness": 14, "outlinewidth": 0},
    }
    layout = _layout(_titled(block.x.name, block.x.unit), _titled(block.y.name, block.y.unit))
    if block.downwards:
        layout["yaxis"]["autorange"] = "reversed"
    return {"data": [trace], "layout": layout}


def lines(block: Lines) -> dict[str, Any]:
    traces = [t for i, s in enumerate(block.series) for t in _traces(s, i, block)]
    layout = _layout(_titled(block.x_name, block.x_unit), _titled(block.y_name, block.y_unit))
    layout["legend"] = {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom"}
    layout["showlegend"] = len(block.series) > 1
    if block.log:
        layout["yaxis"]["type"] = "log"
    if block.equal:
        layout["yaxis"] |= {"scaleanchor": "x", "scaleratio": 1}
        layout["height"] = 640
    return {"data": traces, "layout": layout}


def _traces(s: Series, i: int, block: Lines) -> list[dict[str, Any]]:
    colour = LIGHT[of_role(s.role, i)]
    x, base = list(s.x), {"type": "scatter", "name": s.name, "legendgroup": s.name}
    if s.low:
        edge = {**base, "mode": "lines", "x": x, "line": {"width": 0}, "hoverinfo": "skip"}
        fill = {"fill": "tonexty", "fillcolor": f"rgba{(*_rgb(colour), 0.35)}"}
        return [{**edge, "y": _drawn(s.low), "showlegend": False}, {**edge, **fill, "y": _drawn(s.y)}]
    symbol = "x-open" if s.role == "outlier" else SYMBOLS[i // len(COLOURS) % len(SYMBOLS)]
    trace = {
        **base,
        "mode": "markers" if s.points else "lines",
        "x": x,
        "y": _drawn(s.y),
        "line": {"color": colour, "width": 2, "dash": "dash" if s.role in ("tolerance", "file") else "solid"},
        "marker": {"color": colour, "symbol": symbol, "size": 12 if s.role == "outlier" else 7},
        **({"error_y": {"type": "data", "array": _drawn(s.spread), "thickness": 1.2}} if s.spread else {}),
        **({"text": list(s.words), "hovertemplate": f"%{{text}}<br>%{{y:.4g}} {block.y_unit}"} if s.words else {}),
    }
    return [trace]


def _rgb(colour: str) -> tuple[int, int, int]:
    a, b, c = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return a, b, c


def _drawn(values: Sequence[float]) -> list[float | None]:
    return [v if isfinite(v) else None for v in values]


def _titled(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit else name


def _layout(x: str, y: str) -> dict[str, Any]:
    axis = {"automargin": True, "gridcolor": "#e3e8ee", "zeroline": False, "ticks": "outside", "tickcolor": "#8a97a6"}
    return {
        "font": FONT,
        "xaxis": {**axis, "title": {"text": x, "standoff": 8}},
        "yaxis": {**axis, "title": {"text": y, "standoff": 8}},
        "margin": {"l": 56, "r": 16, "t": 12, "b": 52},
        "height": 420,
        "paper_bgcolor": "white",
        "plot_bgcolor": "#f4f6f8",
    }
