"""Curves over a direction as a polar figure: plotly has no error bars there, so that they are drawn as radial lines."""

from __future__ import annotations

from math import isfinite
from typing import Any

from elastocal.report.blocks import Lines, Series
from elastocal.report.figures import COLOURS, FONT


def polar(block: Lines) -> dict[str, Any]:
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
