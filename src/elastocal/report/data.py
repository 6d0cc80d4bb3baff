"""A report as plain data, a table as CSV: full precision, keys with units, null or empty for the unknown.

Of a long table twelve significant digits of many numbers are written at once, as ``%.12g`` has them: a number is
brought to a whole one of twelve digits by one product with an exact power of ten, which is off by less than 1e-4 then;
its digits are looked up four by four.  Python writes those that lie closer than that to the middle between two, zero,
the very small and the very large.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from functools import cache
from math import floor, isfinite, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastocal.errors import DuplicateError
from elastocal.report.blocks import (
    Bars,
    Cell,
    Code,
    Figure,
    Forest,
    Heatmap,
    Paragraphs,
    Report,
    Row,
    Rows,
    Scene,
    Series,
    Table,
    Unknown,
)
from elastocal.spatial.entries import Array, Ints
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
            else:
                out[block.key] = {"title": block.title, **_figure_data(block), "notes": list(block.notes)}
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


def _figure_data(block: Figure) -> dict[str, Any]:
    """The numbers as drawn."""
    if isinstance(block, Heatmap):
        axes = (("x", block.x), ("y", block.y))
        places = {k: {"name": a.name, "unit": a.unit, "values": list(a.labels or a.values)} for k, a in axes}
        drawn = {"drawn": [_series_data(s) for s in block.drawn]} if block.drawn else {}
        return {
            **places,
            "name": block.name,
            "unit": block.unit,
            "values": [list(row) for row in block.values],
            **drawn,
        }
    if isinstance(block, Scene):
        return {"unit": block.unit, "parts": [_part_data(p) for p in block.parts]}
    if isinstance(block, Forest):
        kept = ("name", "value", "half", "file")
        return {"unit": block.unit, "rows": [{k: getattr(r, k) for k in kept} for r in block.rows]}
    if isinstance(block, Bars):
        named = zip(block.rows, block.values, strict=True)
        rows = [{"row": name, **dict(zip(block.parts, values, strict=True))} for name, values in named]
        return {"name": block.name, "unit": block.unit, "rows": rows}
    return {
        "x": {"name": block.x_name, "unit": block.x_unit},
        "y": {"name": block.y_name, "unit": block.y_unit},
        "series": [_series_data(s) for s in block.series],
    }


def _series_data(series: Series) -> dict[str, Any]:
    data = {"name": series.name, "x": list(series.x), "y": list(series.y)}
    more = {"spread": list(series.spread), "words": list(series.words), "low": list(series.low)}
    return {**data, **{key: values for key, values in more.items() if values}}


def _part_data(part: Any) -> dict[str, Any]:
    plain = {k: v for k, v in vars(part).items() if v != "" and k != "shapes"}
    shapes = [{"kind": type(s).__name__.lower(), **vars(s)} for s in getattr(part, "shapes", ())]
    return {"kind": type(part).__name__.lower(), **plain, **({"shapes": shapes} if shapes else {})}


Signs = NDArray[np.uint8]
WIDTH = 20
"""Signs of the longest, such as -1.23456789012e-100."""
SIZE = 12
LEAST = -4
"""Powers of ten below which exponents are written."""
_ZERO, _POINT, _MINUS = b"0.-"


def significant_digits(values: Array) -> Signs:
    """Signs (N, WIDTH) of numbers (N,); zeros are none."""
    size, out = np.abs(values), np.zeros((len(values), WIDTH), dtype=np.uint8)
    known = size[(size >= 10.0**LEAST) & (size < 10.0 ** (SIZE - 1))]
    done = np.zeros(len(values), dtype=bool)
    size[~(size < 10.0 ** (SIZE - 1))] = 0.0
    for power in range(floor(log10(known.min())), floor(log10(known.max())) + 1) if len(known) else ():
        scaled = size * 10.0 ** (SIZE - 1 - power)
        whole = np.rint(scaled)
        rows = (scaled >= 10.0 ** (SIZE - 1)) & (whole < 10.0**SIZE) & (np.abs(scaled - whole) < 0.499)
        if rows.all():
            _lay_out(whole.astype(np.int64), power, out)
            done[:] = True
            break
        if rows.any():
            part = np.zeros((int(np.count_nonzero(rows)), WIDTH), dtype=np.uint8)
            _lay_out(whole[rows].astype(np.int64), power, part)
            out[rows] = part
            done |= rows
    out[values < 0, 0] = _MINUS
    for i in np.flatnonzero(~done).tolist():
        text = b"%.12g" % values[i]
        out[i] = 0
        out[i, : len(text)] = np.frombuffer(text, dtype=np.uint8)
    return out


def lines_of(columns: Sequence[Signs | bytes], count: int) -> str:
    """Lines of columns, each the signs (N, w) of one place in every line, or (1, w) or text that is the same in all."""
    signs = [np.frombuffer(c, dtype=np.uint8)[None] if isinstance(c, bytes) else c for c in columns]
    whole = np.concatenate([np.broadcast_to(s, (count, s.shape[1])) for s in signs], axis=1)
    return whole.tobytes().translate(None, b"\0").decode("ascii")


@cache
def _four() -> NDArray[np.uint32]:
    """The digits of whole numbers below 10 000, four signs in one."""
    return np.frombuffer("".join(f"{i:04d}" for i in range(10_000)).encode(), dtype=np.uint32)


def _lay_out(whole: Ints, power: int, out: Signs) -> None:
    """Whole numbers of twelve digits with the point of numbers from 10^power on; the first place is that of a minus."""
    digits = _digits(whole)
    before, noughts = max(power + 1, 0), max(-power - 1, 0)
    point = 1 + max(before, 1)
    out[:, 1:point] = digits[:, :before] if before else _ZERO
    out[:, point] = _POINT
    first = point + 1 + noughts
    out[:, point + 1 : first] = _ZERO
    out[:, first : first + SIZE - before] = digits[:, before:]
    rows = np.arange(len(digits))
    for place in range(SIZE - 1, before - 1, -1):
        rows = rows[digits[rows, place] == _ZERO]
        out[rows, first + place - before] = 0
    out[rows, point] = 0


def _digits(whole: Ints) -> Signs:
    """(N, 12)"""
    parts, rest = np.empty((len(whole), 3), dtype=np.uint32), whole
    for place in (2, 1):
        higher = rest // 10_000
        parts[:, place] = _four().take(rest - 10_000 * higher)
        rest = higher
    parts[:, 0] = _four().take(rest)
    return parts.view(np.uint8)
