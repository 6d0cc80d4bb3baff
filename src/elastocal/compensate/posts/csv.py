"""CSV toolpaths: a header with units (see ``csv_columns``), one target per row, rows in the order of execution.

Comma, semicolon or tab separate; between semicolons or tabs a decimal comma is a decimal point.  Lines starting with #
are comments; ``# base {X 1700, Y 0, Z 800, A 0, B 0, C 0}`` and ``# tool {...}`` (mm, deg) state the frames.  Rows
with a cell that is no number are left as they are and named.  KUKA.CAMRob files have no header.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from elastocal.compensate.posts.collect import Collector
from elastocal.compensate.posts.csv_columns import Columns
from elastocal.compensate.posts.csv_orientation import as_numbers, as_rotations
from elastocal.compensate.posts.csv_read import Reading
from elastocal.compensate.posts.digits import DECIMALS, Slots, digit_edits, number_text, turned
from elastocal.compensate.posts.edits import Edit, Edits
from elastocal.compensate.posts.post import Post
from elastocal.compensate.posts.text import BOM, Text, opened
from elastocal.compensate.program import Changes, Given, Inserted, Move, Program
from elastocal.errors import InputError
from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class CsvLayout:
    slots: Slots
    columns: Columns
    comma: bool


class Csv(Post):
    kind: ClassVar[str] = "csv"
    suffixes: ClassVar[tuple[str, ...]] = (".csv",)

    def read(self, files: Mapping[str, bytes], given: Given | None = None) -> Program:
        given = given or Given()
        if len(files) != 1:
            raise InputError(f"a toolpath is one file, not {len(files)}; give them one by one")
        ((name, data),) = files.items()
        reading = Reading(opened(name, data), Collector())
        reading.run()
        into, cols = reading.into, reading.columns
        width = len(cols.places)
        slots = Slots.of(into, width)
        si = slots.values * np.array(cols.factors)
        joints = cols.form == "joints"
        wrenches = reading.wrenches.array(float, 6) if cols.wrench else None
        if cols.kept:
            into.note(f"columns kept as they are: {', '.join(cols.kept)}")
        return Program(
            language=self.kind,
            files=dict(files),
            targets=tuple(into.targets),
            positions=np.full((len(si), 3), np.nan) if joints else si[:, :3],
            rotations=as_rotations(si[:, 3:], cols.form, given.orientation),
            joints=si if joints else np.empty((len(si), 0)),
            moves=tuple(into.moves),
            skipped=tuple(into.skipped),
            bases=into.frames("base", given.bases, reading.found["base"]),
            tools=into.frames("tool", given.tools, reading.found["tool"]),
            notes=tuple(into.notes),
            layout=CsvLayout(slots, cols, reading.separator != ","),
            wrenches=wrenches,
        )

    def write(self, program: Program, changes: Changes) -> dict[str, bytes]:
        layout = program.layout
        assert isinstance(layout, CsvLayout)
        texts = {name: opened(name, data) for name, data in program.files.items()}
        cols, changed = layout.columns, changes.changed(program)
        values = layout.slots.values.copy()
        if cols.form == "joints":
            values[changed] = changes.joints[changed] / np.array(cols.factors)
        else:
            values[changed, :3] = changes.positions[changed] / np.array(cols.factors[:3])
            turns = turned(changes.rotations, program.rotations)
            values[turns, 3:] = _orientation(cols, changes.rotations[turns], layout.slots.values[turns])
        least = [DECIMALS[u] for u in cols.units]
        edits = digit_edits(texts, program, layout.slots, values, least, layout.comma)
        for number, points in changes.inserted.items():
            move = program.moves[number]
            edits[move.file].add(*_rows(texts[move.file], layout, move, points))
        return {name: edits[name].applied(t.text).encode("latin-1") for name, t in texts.items()}


def _orientation(cols: Columns, rotations: Array, old: Array) -> Array:
    """Numbers as written, (M, k)."""
    factors = np.array(cols.factors[3:])
    return np.asarray(as_numbers(rotations, cols.form, old[:, 3:] * factors) / factors)


def _rows(text: Text, layout: CsvLayout, move: Move, points: Inserted) -> Edit:
    """Rows like that of ``move``, before it."""
    cols = layout.columns
    if move.motion != "linear":
        raise InputError(f"{move.file}, line {move.line}: no rows can be put in; it is not linear")
    start = text.starts[move.line - 1]
    end = text.starts[move.line] if move.line < len(text.starts) else len(text.text)
    row = text.text[start:end].removeprefix(BOM).rstrip("\r\n")
    start += text.text.startswith(BOM, start) * len(BOM)
    old = np.repeat(layout.slots.values[[move.end]], len(points.positions), axis=0)
    numbers = np.hstack([points.positions / np.array(cols.factors[:3]), _orientation(cols, points.rotations, old)])
    spans = layout.slots.spans[move.end].tolist()
    lines = []
    for values in numbers.tolist():
        edits = Edits()
        for (s, e), value, unit in zip(spans, values, cols.units, strict=True):
            was = text.text[s:e]
            new = number_text(was.replace(",", "."), value, DECIMALS[unit])
            edits.add(s - start, e - start, new.replace(".", ",") if "," in was else new)
        lines.append(edits.applied(row) + text.newline)
    return (start, start, "".join(lines))
