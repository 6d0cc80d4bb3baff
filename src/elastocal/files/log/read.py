"""Any log of a controller as values of the joints: its format is told by its content, and named in the notes.

Telegrams of KUKA RSI and CSV have modules of their own; here are joint states of ROS bags, and the record of the RTDE
client of Universal Robots: one header line, cells separated by a space.

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

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from elastocal.errors import ConflictError, DuplicateError, FormatError, MissingError, NumberError, ShapeError
from elastocal.files.formats.ros_bag import JOINTS, is_bag, joint_columns, one_topic, read_bag
from elastocal.files.located import UTF_16, read_text
from elastocal.files.log.given import Given
from elastocal.files.opened import unreadable
from elastocal.files.tables.raw import RawTable
from elastocal.measure.joints import JointLog
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.untrusted import finite_number

START = 1 << 16
RSI, RTDE, CSV = "KUKA RSI telegrams", "UR RTDE record, separated by spaces", "CSV"
BAG = "ROS bag"


def log_format(path: Path) -> str:
    """``RSI``, ``RTDE`` or ``CSV``, by how the file begins; ``BAG`` by its ending or folder."""
    if is_bag(path):
        return BAG
    try:
        with path.open("rb") as file:
            start = file.read(START)
    except OSError as error:
        raise unreadable(path, error) from None
    if not start.strip():
        raise MissingError(f"{path}: is empty; give a CSV file, a log of RSI telegrams or an RTDE record")
    wide = start[:2] in UTF_16
    start = start.decode("utf-16", "replace").encode() if wide else start
    if start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") or b"<Rob" in start:
        if wide:
            raise FormatError(
                f"{path}: its telegrams are in UTF-16, and no controller sends them so; save it as UTF-8", code="utf-16"
            )
        return RSI
    head = start.split(b"\n", 1)[0].decode("utf-8", "replace").split()
    if any(name.startswith("actual_q_") for name in head):
        return RTDE
    return CSV


def read_log(path: Path, model: Robot, given: Given | None = None) -> JointLog:
    """Joint values and torques of ``model``'s joints; what was assumed or left out is in the notes."""
    name = log_format(path)
    if given is None or not given.any:
        log = _reader(name)(path, model)
    elif name == CSV:
        from elastocal.files.log.csv import read_csv_log

        log = read_csv_log(path, model, given)
    else:
        raise ConflictError(f"{path} is a {name}, which has torques, units and times of its own; leave them out")
    return replace(log, notes=(f"{path.as_posix()} is read as {name}.", *log.notes))


def _reader(name: str) -> Callable[[Path, Robot], JointLog]:
    from elastocal.files.log.csv import read_csv_log
    from elastocal.files.log.rsi import read_rsi_log

    return {RSI: read_rsi_log, RTDE: read_rtde_log, CSV: read_csv_log, BAG: read_bag_log}[name]


def read_bag_log(path: Path, model: Robot) -> JointLog:
    bag = read_bag(path)
    topic = one_topic(path, bag, (JOINTS,), None)
    if topic is None:
        raise MissingError(f"{path}: has no joint states, so that nothing is known of the joints")
    series = bag[topic]
    places, called = joint_columns(path, model, series)
    count = len(series.time)
    torque = np.full((count, model.n), np.nan) if series.effort is None else series.effort[:, places]
    velocity = None if series.velocity is None else series.velocity[:, places]
    notes = (f"joint values, velocities and efforts of {topic} are taken as those of the joints, in SI.", *called)
    return JointLog(
        path.as_posix(), model.joints, series.values[:, places], torque, np.arange(1, count + 1),
        series.time - series.time[0], velocity, None, notes,
    )  # fmt: skip


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
        model, np.column_stack([_column(raw, columns.get(name), name) for name in _axes(model)]), vector(kind),
        source=raw.file, lines=raw.lines, velocity=vector("actual_qd"), current=vector("actual_current"),
        time=_column(raw, columns["timestamp"], "timestamp") if "timestamp" in columns else None, notes=tuple(notes),
    )  # fmt: skip


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
