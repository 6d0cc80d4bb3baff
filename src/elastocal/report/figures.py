"""Plotly figures as plain data: traces and layout, drawn by the script inside the page."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from elastocal.report.blocks import Heatmap, Lines, Series

FONT = {"family": "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif", "size": 13, "color": "#1d2733"}
COLOURS = ("#0b5394", "#c2410c", "#2e7d32", "#6a1b9a", "#00838f", "#ad1457", "#5d4037")
WARNING = "#d50000"
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
        "colorscale": "Viridis",
        "hoverongaps": False,
        "hovertemplate": hover,
        "colorbar": {"title": {"text": f"[{block.unit}]", "side": "top"}, "thickness": 14, "outlinewidth": 0},
    }
    layout = _layout(_titled(block.x.name, block.x.unit), _titled(block.y.name, block.y.unit))
    if block.downwards:
        layout["yaxis"]["autorange"] = "reversed"
    return {"data": [trace], "layout": layout}


def lines(block: Lines) -> dict[str, Any]:
    traces = [
        {
            "type": "scatter",
            "mode": "markers" if s.points else "lines",
            "name": s.name,
            "x": list(s.x),
            "y": _drawn(s.y),
            "line": {"color": COLOURS[i % len(COLOURS)], "width": 2},
            "marker": _mark(i) if not s.warning else {"color": WARNING, "symbol": "x-open", "size": 13},
            **({"error_y": {"type": "data", "array": _drawn(s.spread), "thickness": 1.2}} if s.spread else {}),
            **({"text": list(s.words), "hovertemplate": f"%{{text}}<br>%{{y:.4g}} {block.y_unit}"} if s.words else {}),
        }
        for i, s in enumerate(block.series)
    ]
    layout = _layout(_titled(block.x_name, block.x_unit), _titled(block.y_name, block.y_unit))
    layout["legend"] = {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom"}
    layout["showlegend"] = len(traces) > 1
    if block.equal:
        layout["yaxis"] |= {"scaleanchor": "x", "scaleratio": 1}
        layout["height"] = 640
    return {"data": traces, "layout": layout}


def _mark(i: int) -> dict[str, Any]:
    return {"color": COLOURS[i % len(COLOURS)], "symbol": SYMBOLS[i // len(COLOURS) % len(SYMBOLS)], "size": 7}


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


def polar(block: Lines) -> dict[str, Any]:
    """Curves over a direction; plotly has no error bars there, so that they are drawn as radial lines."""
    traces = [t for i, s in enumerate(block.series) for t in _traces(s, COLOURS[i % len(COLOURS)], block)]
    unit = f" [{block.y_unit}]" if block.y_unit else ""
    layout = {
        "font": FONT,
        "polar": {
            "angularaxis": {"rotation": 0, "direction": "counterclockwise", "dtick": 30, "gridcolor": "#cbd5e0"},
            "radialaxis": {"rangemode": "tozero", "gridcolor": "#cbd5e0", "angle": 15, "tickangle": 15, "nticks": 5},
            "bgcolor": "#f4f6f8",
        },
        "title": {"text": f"{block.y_name}{unit}", "font": {"size": 13}, "x": 0.02},
        "legend": {"orientation": "h", "y": -0.12},
        "showlegend": len(block.series) > 1,
        "margin": {"l": 40, "r": 40, "t": 44, "b": 40},
        "height": 460,
        "paper_bgcolor": "white",
    }
    return {"data": traces, "layout": layout}


def _traces(series: Series, colour: str, block: Lines) -> list[dict[str, Any]]:
    seen = [i for i, v in enumerate(series.y) if isfinite(v)]
    main = {
        "type": "scatterpolar",
        "mode": "markers" if series.points else "lines",
        "name": series.name,
        "theta": [series.x[i] for i in seen],
        "r": [series.y[i] for i in seen],
        "line": {"color": colour, "width": 2},
        "marker": {"color": colour, "size": 7},
        "hovertemplate": f"%{{theta:.4g}} {block.x_unit}<br>%{{r:.4g}} {block.y_unit}<extra></extra>",
    }
    return [main, *_bars(series, seen, colour)]


def _bars(series: Series, seen: list[int], colour: str) -> list[dict[str, Any]]:
    at = [i for i in seen if series.spread and isfinite(series.spread[i])]
    if not at:
        return []
    theta: list[float | None] = []
    r: list[float | None] = []
    for i in at:
        theta += [series.x[i], series.x[i], None]
        r += [max(series.y[i] - series.spread[i], 0.0), series.y[i] + series.spread[i], None]
    line = {"color": colour, "width": 1.5}
    return [
        {"type": "scatterpolar", "mode": "lines", "theta": theta, "r": r, "line": line, "showlegend": False,
         "hoverinfo": "skip"}
    ]  # fmt: skip
