"""The loads of a program from what the user typed: constant, by line, from the toolpath's columns, or by milling."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.configurations import numbers
from elastocal.app.programs.milling_words import milling_words
from elastocal.app.pushing import LoadRequest
from elastocal.errors import InputError

if TYPE_CHECKING:
    from elastocal.compensate.loads import ProgramLoads
    from elastocal.compensate.placed import Placed
    from elastocal.files.tables.line_loads import LineLoads
    from elastocal.spatial.entries import Array, Bools, Ints


@dataclass(frozen=True)
class ProgramLoadRequest:
    """As typed; ``lines`` such as "40-60" say where the load acts, everywhere without any."""

    load: LoadRequest = field(default_factory=LoadRequest)
    lines: tuple[str, ...] = ()
    by_line: Path | None = None
    milling: str | None = None
    payload: float | None = None
    payload_frame: str | None = None
    rated: float | None = None


@dataclass(frozen=True, eq=False)
class ProgramPushing:
    loads: ProgramLoads
    text: str
    notes: tuple[str, ...]


def program_pushing(at: Placed, asked: ProgramLoadRequest, flange: str) -> ProgramPushing:
    """Loads of all stations; more than one kind of load is refused."""
    import numpy as np

    from elastocal.compensate.loads import ProgramLoads
    from elastocal.files.tables.line_loads import read_line_loads
    from elastocal.model.loads.payload import Payload

    kinds = [asked.load.given, asked.by_line is not None, asked.milling is not None]
    if sum(kinds) > 1:
        raise InputError("give the load once: --force and --moment, or --loads, or --milling")
    if asked.lines and not any(kinds):
        raise InputError("--load-lines says where, but no load is given; add --force, --moment or --milling")
    if asked.load.frame is not None:
        at.model.tree.frame(asked.load.frame)
    table = None if asked.by_line is None else read_line_loads(asked.by_line)
    acting = _acting(at.stations.lines, asked.lines)
    wrench, text = _wrench(at, asked, table, acting)
    notes = _twice(at, table, asked.lines)
    columns = at.stations.program.wrenches
    if columns is not None and any(kinds):
        notes.append("The load that was asked for is used in place of the wrench columns of the toolpath.")
    mass = np.full(len(at.stations), np.nan if asked.payload is None else asked.payload)
    if table is not None:
        row = table.index(at.stations.lines)
        mass = np.where((row >= 0) & np.isfinite(table.mass[row]), table.mass[row], mass)
    carried = next((e.frame for e in at.model.elements if isinstance(e, Payload)), flange)
    loads = ProgramLoads(wrench, asked.load.frame, asked.load.follow, mass, asked.payload_frame or carried)
    at.model.tree.frame(loads.payload_frame)
    notes += _rated(at, loads, asked.rated)
    return ProgramPushing(loads, text, tuple(notes))


def _wrench(at: Placed, asked: ProgramLoadRequest, table: LineLoads | None, acting: Bools) -> tuple[Array, str]:
    """Wrenches (S, 6) and the load in words."""
    import numpy as np

    total, frame = len(at.stations), asked.load.frame or "the tip of the tool"
    axes = "turning with it" if asked.load.follow else "in robot base axes"
    if asked.load.given:
        force = numbers(asked.load.force or "0,0,0", 3, f"--force {asked.load.force!r}", "fx, fy, fz in N")
        moment = numbers(asked.load.moment or "0,0,0", 3, f"--moment {asked.load.moment!r}", "mx, my, mz in N m")
        wrench = np.where(acting[:, None], np.array([*force, *moment]), 0.0)
        part = f", {int(acting.sum())} of {total} targets" if not acting.all() else ""
        six = ", ".join(f"{v:g}" for v in force), ", ".join(f"{v:g}" for v in moment)
        return wrench, f"({six[0]}) N, ({six[1]}) N m at {frame}, {axes}{part}"
    if table is not None:
        row = table.index(at.stations.lines)
        wrench = np.where(row[:, None] >= 0, table.wrench[row], 0.0)
        return wrench, f"by line from {table.file}, at {frame}, {axes}"
    if asked.milling is not None:
        return milling_words(at, asked.milling, acting), "milling: " + ", ".join(
            p.strip() for p in asked.milling.split(",")
        )
    columns = at.stations.program.wrenches
    if columns is None:
        return np.zeros((total, 6)), "no external load"
    turn = np.array([at.base(i).rotation for i in range(total)])
    halves = [np.einsum("nij,nj->ni", turn, columns[at.stations.target][:, h]) for h in (slice(0, 3), slice(3, 6))]
    return np.concatenate(halves, axis=1), f"columns of the toolpath, axes of its base, at {frame}"


def _acting(lines: Ints, ranges: tuple[str, ...]) -> Bools:
    """Whether the load acts at each line."""
    import numpy as np

    if not ranges:
        return np.ones(len(lines), dtype=bool)
    out = np.zeros(len(lines), dtype=bool)
    for text in ranges:
        first, dash, last = text.partition("-")
        if not first.strip().isdigit() or (dash and not last.strip().isdigit()):
            raise InputError(f"--load-lines {text!r}: give a line or a range of lines of the program, such as 40-60")
        out |= (lines >= int(first)) & (lines <= int(last or first))
    if not out.any():
        raise InputError(f"--load-lines {', '.join(ranges)}: no target is gone to in these lines")
    return out


def _twice(at: Placed, table: LineLoads | None, ranges: tuple[str, ...]) -> list[str]:
    """Targets that are gone to again under another load: one value cannot fit both."""
    import numpy as np

    program, out = at.stations.program, []
    lines = np.array([m.line for m in program.moves], dtype=np.int64)
    state = table.index(lines) if table is not None else _acting(lines, ranges).astype(int) if ranges else None
    if state is None:
        return []
    for i, m in enumerate(program.moves):
        first = int(at.stations.move[at.stations.row[m.end]])
        if state[first] != state[i]:
            name = program.targets[m.end].name or program.targets[m.end].where
            out.append(
                f"{name} is corrected for the load of line {lines[first]}; line {lines[i]} goes there under another."
            )
    return out


def _rated(at: Placed, loads: ProgramLoads, rated: float | None) -> list[str]:
    """Refuse loads beyond the rated payload, or say that nobody knows it."""
    import numpy as np

    if rated is None:
        return ["The rated payload of the robot is not known (--rated-kg), so the load is not judged by it."]
    g = float(np.linalg.norm(at.model.gravity)) or 9.80665
    total = np.linalg.norm(loads.wrench[:, :3], axis=1) / g + np.nan_to_num(loads.mass)
    worst = int(np.argmax(total))
    if total[worst] > rated:
        raise InputError(
            f"{at.stations.name(worst)}: force and payload together weigh {total[worst]:.4g} kg, the robot is rated "
            f"for {rated:g} kg; check the load"
        )
    return []
