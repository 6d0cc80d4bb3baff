"""A report as plain data, a table as CSV: full precision, keys with units, null or empty for the unknown."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any

from elastocal.errors import DuplicateError
from elastocal.report.blocks import (
    Bars,
    Cell,
    Code,
    Forest,
    Heatmap,
    Lines,
    Paragraphs,
    Report,
    Row,
    Rows,
    Scene,
    Series,
    Table,
    Unknown,
)
from elastocal.untrusted import shown_plainly, spreadsheet_cell


def as_data(report: Report) -> dict[str, Any]:
    """``{"title", "inputs", "verdict", "notes", <table key>: [row objects], <map or curve key>: {...}}``."""
    out: dict[str, Any] = {"title": report.title}
    if report.inputs:
        out["inputs"] = {f.key: list(f.value) if isinstance(f.value, tuple) else f.value for f in report.inputs}
    out |= {"verdict": list(report.verdict), "notes": list(report.notes), **report.data}
    if report.hint:
        out["hint"] = report.hint
    if report.tiles:
        out["tiles"] = [{"name": t.name, "value": t.value, "unit": t.unit, "note": t.note} for t in report.tiles]
    if report.certificate is not None:
        out["certificate"] = report.certificate.data()
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, Paragraphs):
                out["notes"] += list(block.paragraphs)
                continue
            if block.key in out:
                message = f"report {report.title!r} has two blocks with the key {block.key!r}"
                raise DuplicateError(message, value=block.key)
            if isinstance(block, Code):
                out[block.key] = block.text
            elif isinstance(block, Table):
                out[block.key] = table_data(block)
                out["notes"] += list(block.notes)
            elif isinstance(block, Heatmap):
                out[block.key] = _map_data(block)
            elif isinstance(block, Scene):
                out[block.key] = _scene_data(block)
            elif isinstance(block, Bars | Forest):
                out[block.key] = _row_data(block)
            else:
                out[block.key] = _curve_data(block)
    return out


def table_data(table: Table) -> list[dict[str, Any]]:
    """One object per row; the reasons for unknown numbers stand under ``unknown``."""
    out = []
    for row in table.rows:
        pairs = list(zip(table.columns, row, strict=True))
        item: dict[str, Any] = {c.key: None if isinstance(v, Unknown) else v for c, v in pairs}
        reasons = {c.key: v.reason for c, v in pairs if isinstance(v, Unknown)}
        out.append({**item, "unknown": reasons} if reasons else item)
    return out


def as_csv(table: Table) -> str:
    """The table with keys as header; what is unknown is an empty cell."""
    return "".join(csv_pieces(table))


def csv_pieces(table: Table) -> Iterator[str]:
    """The same in parts: the text of a long table need not be held."""
    yield _csv_lines([tuple(c.key for c in table.columns)])
    made = table.rows if isinstance(table.rows, Rows) else None
    for part in made.pieces() if made is not None else (slice(None),):
        lines = None if made is None else made.lines(part)
        yield _csv_lines(table.rows[part]) if lines is None else lines


def _csv_lines(rows: Sequence[Row]) -> str:
    """Column by column, as the cells of one are mostly alike."""
    columns = [_csv_column(cells) for cells in zip(*rows, strict=True)]
    text = "".join([f"{','.join(cells)}\n" for cells in zip(*columns, strict=True)])
    signs = {",": len(rows) * (len(columns) - 1), "\n": len(rows), "\r": 0, '"': 0}
    if len(columns) > 1 and all(text.count(sign) == count for sign, count in signs.items()):
        return text  # nothing to quote, as in most tables
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(zip(*columns, strict=True))
    return buffer.getvalue()


def _csv_column(cells: Sequence[Cell]) -> list[str]:
    kinds = set(map(type, cells))
    if kinds == {float}:
        return [repr(v) if isfinite(v) else "" for v in cells]  # type: ignore[arg-type]
    if len(kinds) > 1:
        return [_csv_cell(v) for v in cells]
    texts = {v: _csv_cell(v) for v in set(cells)}
    return [texts[v] for v in cells]


def _csv_cell(value: Cell) -> str:
    if value is None or isinstance(value, Unknown) or (isinstance(value, float) and not isfinite(value)):
        return ""
    return repr(float(value)) if isinstance(value, float) else spreadsheet_cell(shown_plainly(str(value)))


def _map_data(block: Heatmap) -> dict[str, Any]:
    return {
        "title": block.title,
        "x": {"name": block.x.name, "unit": block.x.unit, "values": list(block.x.labels or block.x.values)},
        "y": {"name": block.y.name, "unit": block.y.unit, "values": list(block.y.labels or block.y.values)},
        "name": block.name,
        "unit": block.unit,
        "values": [list(row) for row in block.values],
        **({"drawn": [_series_data(s) for s in block.drawn]} if block.drawn else {}),
        "notes": list(block.notes),
    }


def _row_data(block: Bars | Forest) -> dict[str, Any]:
    if isinstance(block, Forest):
        kept = ("name", "value", "half", "file")
        rows: list[Any] = [{k: getattr(r, k) for k in kept} for r in block.rows]
        return {"title": block.title, "unit": block.unit, "rows": rows, "notes": list(block.notes)}
    rows = [
        {"row": name, **dict(zip(block.parts, values, strict=True))}
        for name, values in zip(block.rows, block.values, strict=True)
    ]
    return {
        "title": block.title,
        "name": block.name,
        "unit": block.unit,
        "rows": rows,
        "notes": list(block.notes),
    }


def _curve_data(block: Lines) -> dict[str, Any]:
    return {
        "title": block.title,
        "x": {"name": block.x_name, "unit": block.x_unit},
        "y": {"name": block.y_name, "unit": block.y_unit},
        "series": [_series_data(s) for s in block.series],
        "notes": list(block.notes),
    }


def _series_data(series: Series) -> dict[str, Any]:
    data = {"name": series.name, "x": list(series.x), "y": list(series.y)}
    more = {"spread": list(series.spread), "words": list(series.words), "low": list(series.low)}
    return {**data, **{key: values for key, values in more.items() if values}}


def _scene_data(block: Scene) -> dict[str, Any]:
    """Every part with its kind and the numbers as drawn."""
    parts = [_part_data(p) for p in block.parts]
    return {"title": block.title, "unit": block.unit, "parts": parts, "notes": list(block.notes)}


def _part_data(part: Any) -> dict[str, Any]:
    plain = {k: v for k, v in vars(part).items() if v != "" and k != "shapes"}
    shapes = [{"kind": type(s).__name__.lower(), **vars(s)} for s in getattr(part, "shapes", ())]
    return {"kind": type(part).__name__.lower(), **plain, **({"shapes": shapes} if shapes else {})}
