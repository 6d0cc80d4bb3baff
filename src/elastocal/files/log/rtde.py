"""Log of a Universal Robots arm as the RTDE client's recorder writes it: one header line, cells separated by a space.

| field | taken as |
|---|---|
| ``timestamp`` | time, s |
| ``actual_q_0`` .. | values of the axes in order, rad |
| ``actual_qd_0`` .. | their velocities, rad/s |
| ``actual_current_as_torque_0`` .. | torques, N m; else ``target_moment_0`` .. |
| ``actual_current_0`` .. | motor currents, A |

The units are those of the protocol.  ``target_moment`` is what the controller's own model asks for, not a measurement.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from elastocal.errors import DuplicateError, MissingError, NumberError, ShapeError
from elastocal.files.located import read_text
from elastocal.files.tables.raw import RawTable
from elastocal.measure.joint_log import JointLog
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.untrusted import finite_number

TORQUES = ("actual_current_as_torque", "target_moment")
_NOT_MEASURED = (
    "Torques are target_moment: what the controller's own model asks for, not what was measured. A fit to them finds "
    "that model again."
)


def read_rtde_log(path: Path, model: Robot) -> JointLog:
    raw, notes = _table(path)
    _check_axes(raw, model)
    columns = {name: i for i, name in enumerate(raw.header)}
    kind = next((t for t in TORQUES if any(f"{t}_{i}" in columns for i in range(model.n))), None)
    if kind is None:
        notes.append(f"The log holds no torques ({' or '.join(TORQUES)}).")
    elif kind == "target_moment":
        notes.append(_NOT_MEASURED)

    def vector(name: str | None) -> Array | None:
        if name is None or not any(f"{name}_{i}" in columns for i in range(model.n)):
            return None
        return np.column_stack([_column(raw, columns.get(f"{name}_{i}"), f"{name}_{i}") for i in range(model.n)])

    return JointLog.of(
        model,
        np.column_stack([_column(raw, columns.get(name), name) for name in _axes(model)]),
        vector(kind),
        source=raw.file,
        lines=raw.lines,
        velocity=vector("actual_qd"),
        current=vector("actual_current"),
        time=_column(raw, columns["timestamp"], "timestamp") if "timestamp" in columns else None,
        notes=tuple(notes),
    )


def _table(path: Path) -> tuple[RawTable, list[str]]:
    """Cells as text; a last line that was cut off is left out, and said."""
    lines = [(n, s.split()) for n, s in enumerate(read_text(path).splitlines(), start=1) if s.strip()]
    (top, header), rows = lines[0], lines[1:]
    notes = []
    if rows and len(rows[-1][1]) < len(header):
        line, cells = rows.pop()
        notes.append(f"The last line ({line}) is left out: it is cut off after {len(cells)} of {len(header)} cells.")
    for line, cells in rows:
        if len(cells) != len(header):
            raise ShapeError(f"{path}, line {line}: {len(cells)} cells for {len(header)} columns; leave the line out")
    if not rows:
        raise MissingError(f"{path}: has a header and no whole row; a log has one row per instant")
    return RawTable(path.as_posix(), tuple(header), tuple((n, tuple(c)) for n, c in rows), header_line=top), notes


def _axes(model: Robot) -> tuple[str, ...]:
    return tuple(f"actual_q_{i}" for i in range(model.n))


def _check_axes(raw: RawTable, model: Robot) -> None:
    twice = next((name for name in raw.header if raw.header.count(name) > 1), None)
    if twice is not None:
        raise DuplicateError(f"{raw.top}: column {twice} stands twice; keep one", column=twice)
    count = sum(name.startswith("actual_q_") for name in raw.header)
    missing = [name for name in _axes(model) if name not in raw.header]
    if missing and missing[0] != f"actual_q_{count}":  # one of a later axis is there
        message = f"column {missing[0]} is missing beside its neighbours; record the whole vector"
        raise MissingError(f"{raw.top}: {message}", column=missing[0])
    if count != model.n or missing:
        raise ShapeError(
            f"{raw.top}: {count} columns actual_q_... for the {model.n} axes of {model.name}; give the robot of the log"
        )


def _column(raw: RawTable, place: int | None, name: str) -> Array:
    if place is None:
        raise MissingError(f"{raw.top}: column {name} is missing beside its neighbours; record the whole vector")
    out = []
    for line, cells in raw.rows:
        value = finite_number(cells[place])
        if value is None:
            raise NumberError(
                f"{raw.file}, line {line}, column {name}: {cells[place]!r} is no number; leave the line out"
            )
        out.append(value)
    return np.array(out)
