"""Figures as Plotly has them, traces and layout as plain data: curves and maps for notebooks, scenes for every page.

A scene is lines, marks and words in three dimensions, to one scale on all axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, sqrt
from typing import Any

from elastocal.report.blocks import Lines, Scene, Series, titled
from elastocal.report.colours import LIGHT, of_role
from elastocal.report.parts import (
    Capsule,
    Dots,
    Labels,
    Look,
    Mesh,
    Part,
    Point,
    Solids,
    Strokes,
    camera,
    strokes,
)

FONT = {"family": "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif", "size": 13, "color": "#1d2733"}
COLOURS = tuple(LIGHT[f"c{i}"] for i in range(7))
SYMBOLS = ("circle", "diamond", "x", "square")
"""The next once the colours are used up."""


def lines(block: Lines) -> dict[str, Any]:
    traces = [t for i, s in enumerate(block.series) for t in _traces(s, i, block)]
    layout = _layout(titled(block.x_name, block.x_unit), titled(block.y_name, block.y_unit))
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


STYLES: dict[Look, tuple[str, int]] = {
    "arm": ("#7f8f9b", 9),
    "faint": ("#b4c0ca", 4),
    "joint": ("#3c4a54", 15),
    "cell": ("#9a7b6f", 3),
    "floor": ("#c9d1d9", 1),
    "warning": (LIGHT["outlier"], 5),
    **{role: (LIGHT[role], 4) for role in ("before", "after", "expected", "outlier", "load", "program")},
    "read": (LIGHT["file"], 4),
}
WIDTH, MARK = 4, 5
DIAGONAL = 1.9
"""Of the box of axes, in the camera's unit."""
DIGITS = 5


def scene_figure(block: Scene) -> dict[str, Any]:
    """Traces, layout and the options of this figure alone."""
    drawn = [p for p in block.parts if len(p)]
    named = dict.fromkeys(p.name for p in drawn if isinstance(p, Labels) or p.look == "plain")
    colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(named)}
    traces = [_trace(p, colours, block.unit) | _shown(drawn, i, block.views) for i, p in enumerate(drawn)]
    buttons = {
        "displayModeBar": True,
        "scrollZoom": False,
        "modeBarButtonsToRemove": ["tableRotation", "resetCameraLastSave3d", "hoverClosest3d"],
    }
    return {"data": traces, "layout": _scene_layout(block, drawn), "options": buttons}


def _shown(parts: Sequence[Part], i: int, views: tuple[str, ...]) -> dict[str, Any]:
    """Whether a part is seen at the start, and whether it is the one that stands for its name in the legend."""
    part = parts[i]
    together = [p for p in parts[:i] if p.name == part.name and (not p.view or not part.view or p.view == part.view)]
    return {
        "visible": not part.view or part.view == views[0],
        "showlegend": not isinstance(part, Labels) and not together,
        "legendgroup": part.name,
    }


def _trace(part: Part, colours: dict[str, str], unit: str) -> dict[str, Any]:
    if isinstance(part, Labels):
        style = {"mode": "text", "hoverinfo": "skip", "textfont": {"size": 12, "color": FONT["color"]}}
        return {**_points(part.points), **style, "name": part.name, "text": list(part.words)}
    colour, width = (colours[part.name], WIDTH) if part.look == "plain" else STYLES[part.look]
    if isinstance(part, Dots):
        where = f"%{{x:.4f}}, %{{y:.4f}}, %{{z:.4f}} {unit}"
        hover = (
            {"text": list(part.words), "hovertemplate": f"%{{text}}<br>{where}<extra></extra>"} if part.words else {}
        )
        return {**_points(part.points), "mode": "markers", "name": part.name, "hoverinfo": "name",
                "marker": {"color": colour, "size": MARK}, **hover}  # fmt: skip
    if isinstance(part, Solids):
        return _solid(part, colour)
    lines = strokes(part)
    labels = () if isinstance(part, Strokes) else part.words
    words = [w for line, w in zip(lines, labels, strict=True) for _ in (*line, None)] if labels else []
    hover = {"text": words, "hovertemplate": "%{text}<extra></extra>"} if words else {"hoverinfo": "name"}
    return {**_parted(lines), "mode": "lines", "name": part.name, "line": {"color": colour, "width": width}, **hover}


def _solid(part: Solids, colour: str) -> dict[str, Any]:
    """All bodies as one mesh; the page makes triangles of ``capsules`` (two ends and a radius each)."""
    meshes = [shape for shape in part.shapes if isinstance(shape, Mesh)]
    capsules = [[round(v, DIGITS) for v in (*c.start, *c.end, c.radius)] for c in part.shapes if isinstance(c, Capsule)]
    points: list[Point] = []
    faces: list[tuple[int, int, int]] = []
    for mesh in meshes:
        first = len(points)
        points += mesh.points
        faces += [(a + first, b + first, c + first) for a, b, c in mesh.faces]
    columns = [[round(p[i], DIGITS) for p in points] for i in range(3)]
    corners = dict(zip("ijk", ([f[n] for f in faces] for n in range(3)), strict=True))
    light = {"ambient": 0.7, "diffuse": 0.75, "specular": 0.15, "roughness": 0.6, "fresnel": 0.1}
    return {"type": "mesh3d", **dict(zip("xyz", columns, strict=True)), **corners, "name": part.name, "color": colour,
            "opacity": 0.45 if part.look == "floor" else 1.0, "flatshading": part.look == "floor", "lighting": light,
            "hoverinfo": "name", "meta": {"capsules": capsules}}  # fmt: skip


def _points(points: Sequence[Point]) -> dict[str, Any]:
    columns = [[round(p[i], DIGITS) for p in points] for i in range(3)]
    return {"type": "scatter3d", **dict(zip("xyz", columns, strict=True))}


def _parted(lines: Sequence[Sequence[Point]]) -> dict[str, Any]:
    """All lines as one trace, parted by gaps."""
    columns = [[v for line in lines for v in (*(round(p[i], DIGITS) for p in line), None)] for i in range(3)]
    return {"type": "scatter3d", "connectgaps": False, **dict(zip("xyz", columns, strict=True))}


def _scene_layout(block: Scene, parts: Sequence[Part]) -> dict[str, Any]:
    axis = {"showbackground": False, "gridcolor": "#d7dde4", "zerolinecolor": "#8a97a6", "showspikes": False}
    ranges = block.box
    sides = {c: high - low for c, (low, high) in zip("xyz", ranges, strict=True)}
    diagonal = sqrt(sum(side * side for side in sides.values()))
    x, y, z = (DIAGONAL * side / diagonal for side in sides.values())
    seen = camera((x, y, z))
    layout: dict[str, Any] = {
        "font": FONT,
        "scene": {
            **{
                f"{c}axis": {
                    **axis,
                    "title": {"text": f"{c} [{block.unit}]"},
                    "range": list(ends),
                    "nticks": max(3, round(10 * sides[c] / diagonal)),
                }
                for c, ends in zip("xyz", ranges, strict=True)
            },
            "aspectmode": "manual",
            "aspectratio": {"x": x, "y": y, "z": z},
            "dragmode": "turntable",
            "camera": {
                "eye": dict(zip("xyz", seen.eye, strict=True)),
                "center": dict(zip("xyz", seen.centre, strict=True)),
            },
        },
        "meta": {"aspect": seen.aspect},
        "legend": {"orientation": "h", "y": 0, "yanchor": "top", "x": 0},
        "margin": {"l": 0, "r": 0, "t": 44 if len(block.views) > 1 else 30, "b": 8},
        "height": 620,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": LIGHT["file"], "activecolor": LIGHT["accent"]},
    }
    if len(block.views) > 1:
        layout["updatemenus"] = [_choice(block.views, parts)]
    return layout


def _choice(views: Sequence[str], parts: Sequence[Part]) -> dict[str, Any]:
    """A list to choose a view from; it touches what is seen, not the camera."""
    buttons = [
        {"label": view, "method": "restyle", "args": [{"visible": [p.view in ("", view) for p in parts]}]}
        for view in views
    ]
    place = {"x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "pad": {"b": 6, "l": 2}}
    return {"type": "dropdown", "buttons": buttons, "bgcolor": "white", "bordercolor": "#8a97a6", **place}
