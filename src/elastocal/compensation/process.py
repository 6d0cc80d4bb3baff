"""The load of a program: a wrench that a process applies to the robot, and the mass that it carries.

A wrench is constant, by line, one per target, from the columns of a toolpath, or computed from a milling process.  A
constant one is that of a process: it acts where the tool moves in a line, an arc or a spline, and not on rapid and
joint moves through the air, unless lines are named or ``air_moves`` says so.
"""

from __future__ import annotations

import numpy as np

from elastocal.arguments import check_fields
from elastocal.compensation.branches import some_places
from elastocal.compensation.cutting import force_at_targets, force_on_moves
from elastocal.compensation.leads import Ranges, leads_taken, under_load
from elastocal.compensation.loads import Milling, ProgramLoads
from elastocal.compensation.program import Program
from elastocal.compensation.stations import Placed
from elastocal.errors import ConflictError, InfeasibleError, InputError, MissingError, RangeError, ShapeError
from elastocal.model.loads.payload import Payload
from elastocal.results import Finding
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

STANDARD_GRAVITY = 9.80665


@dataclass(frozen=True, eq=False)
class LineLoads:
    """From line ``first`` (K,) on: wrenches (K, 6), and masses (K,) in kg, nan where none is stated."""

    file: str
    first: Array
    wrench: Array
    mass: Array

    def index(self, lines: Ints) -> Ints:
        """Row of the table for each line of the program, -1 before the first."""
        return np.searchsorted(self.first, lines, side="right") - 1


@dataclass(frozen=True, eq=False, kw_only=True)
class ProcessLoad:
    """``wrench`` (6,), or (N, 6) with a row per target, in N and N m, applied to the robot, in robot base axes.

    It acts at ``frame`` (None: the tip of the program's tool) and turns with it where ``follows``; in ``lines`` (first,
    last) of the program where some are named.  ``by_line`` and ``milling`` stand in place of it; ``feed`` in m/s is
    used where the program states none, and on ``lead_lines`` the force of milling grows from zero or falls to it, as on
    leads up to ``lead_length`` in m (``leads``).  ``payload`` in kg hangs on ``payload_frame``; loads beyond ``rated``
    kg are refused.
    """

    wrench: Array | None = None
    frame: str | None = None
    follows: bool = False
    lines: Ranges = ()
    air_moves: bool = False
    by_line: LineLoads | None = None
    milling: Milling | None = None
    feed: float | None = None
    lead_lines: Ranges = ()
    lead_length: float | None = None
    payload: float | None = None
    payload_frame: str | None = None
    rated: float | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        given = [self.wrench is not None, self.by_line is not None, self.milling is not None]
        if sum(given) > 1:
            raise ConflictError("give the load once: as a wrench, by line, or by milling", code="load-twice")
        if self.lines and not any(given):
            raise MissingError("lines with load are named, but no load is given; give a wrench or a milling process")
        for name, value in (("lead_lines", self.lead_lines), ("lead_length", self.lead_length)):
            if value and self.milling is None:
                raise ConflictError(
                    "on leads the force of milling grows and falls; give a milling process, or leave the leads out",
                    code="leads-without-milling", parameter=name, value=value,
                )  # fmt: skip
        if self.lead_length is not None and not 0 < self.lead_length < np.inf:
            message = f"leads up to {1e3 * self.lead_length:g} mm: give a finite length above 0"
            raise RangeError(message, value=self.lead_length, parameter="lead_length")
        if self.wrench is not None:
            wrench = np.asarray(self.wrench, dtype=float)
            if wrench.shape[-1:] != (6,) or wrench.ndim > 2 or not np.isfinite(wrench).all():
                raise ShapeError(f"a wrench is six finite numbers, three forces and three moments; got {wrench.shape}")
            object.__setattr__(self, "wrench", wrench)
        if self.payload is not None:
            if not 0 <= self.payload < np.inf:
                raise RangeError.of("payload", self.payload, "give a finite mass in kg, not below 0")
            object.__setattr__(self, "payload", float(self.payload))

    @property
    def pushes(self) -> bool:
        """Whether it pushes somewhere in a program, if not in each piece of it."""
        return self.constant or self.milling is not None

    @property
    def constant(self) -> bool:
        """Whether one wrench acts wherever the process does."""
        return self.wrench is not None and self.wrench.ndim == 1 and bool(self.wrench.any())


@dataclass(frozen=True, eq=False)
class StationLoads:
    """The loads of all stations, in words, and what is to be said of them; ``acting`` (S,) where a wrench acts."""

    loads: ProgramLoads
    text: str
    findings: tuple[Finding, ...]


def station_loads(placed: Placed, load: ProcessLoad, flange: str, judged: bool = True) -> StationLoads:
    """``judged`` refuses a load that acts nowhere, as it may in a piece of a program."""
    if load.frame is not None:
        placed.model.tree.frame(load.frame)
    acting = _acting(placed, load, judged)
    wrench, text = _wrench(placed, load, acting, judged)
    findings = [*_on_air(placed, load, acting), *_twice(placed, load), *leads_taken(placed, load)]
    stated = load.wrench is not None or load.by_line is not None or load.milling is not None
    if placed.stations.program.wrenches is not None and stated:
        message = "The load that was asked for is used in place of the wrench columns of the toolpath."
        findings.append(Finding("toolpath-loads-replaced", "note", message))
    mass = np.full(len(placed.stations), np.nan if load.payload is None else load.payload)
    if load.by_line is not None:
        row = load.by_line.index(placed.stations.lines)
        mass = np.where((row >= 0) & np.isfinite(load.by_line.mass[row]), load.by_line.mass[row], mass)
    carried = next((e.frame for e in placed.model.elements if isinstance(e, Payload)), flange)
    # of milling the force of the move itself; what is stated by target or line goes evenly from one target to the next
    moving = None if load.milling is None else force_on_moves(placed, load)
    moving = wrench[placed.stations.nodes] if moving is None else moving
    loads = ProgramLoads(wrench, load.frame, load.follows, mass, load.payload_frame or carried, moving)
    placed.model.tree.frame(loads.payload_frame)
    return StationLoads(loads, text, (*findings, *_rated(placed, loads, load.rated)))


def _acting(placed: Placed, load: ProcessLoad, judged: bool) -> Bools:
    """Whether a constant load acts at each station."""
    stations = placed.stations
    if load.lines:
        return under_load(stations.program, stations.lines, load)
    if load.air_moves or (load.wrench is not None and load.wrench.ndim == 2):
        return np.ones(len(stations), dtype=bool)
    out = stations.program.in_process[stations.target]
    if judged and load.constant and not out.any():
        raise InputError(
            f"{stations.name(0)}: no target is gone to in a line or an arc, so a process force acts nowhere; name the "
            "lines with load, or say that it acts on joint moves too",
            code="load-acts-nowhere", parameter="air_moves",
        )  # fmt: skip
    return np.asarray(out)


def _wrench(placed: Placed, load: ProcessLoad, acting: Bools, judged: bool) -> tuple[Array, str]:
    """Wrenches (S, 6) and the load in words."""
    stations, frame = placed.stations, load.frame or "the tip of the tool"
    total, axes = len(stations), "turning with it" if load.follows else "in robot base axes"
    if load.wrench is not None and load.wrench.ndim == 2:
        if len(load.wrench) != len(stations.program.targets):
            raise ShapeError(f"{len(load.wrench)} wrenches for {len(stations.program.targets)} targets; give one each")
        return load.wrench[stations.target], f"one wrench per target at {frame}, {axes}"
    if load.wrench is not None:
        part = f", at {int(acting.sum())} of {total} targets" if not acting.all() else ""
        force, moment = (", ".join(f"{v:g}" for v in half) for half in (load.wrench[:3], load.wrench[3:]))
        return np.where(acting[:, None], load.wrench, 0.0), f"({force}) N, ({moment}) N m at {frame}, {axes}{part}"
    if load.by_line is not None:
        row = load.by_line.index(stations.lines)
        wrench = np.where(row[:, None] >= 0, load.by_line.wrench[row], 0.0)
        return wrench, f"by line from {load.by_line.file}, at {frame}, {axes}"
    if load.milling is not None:
        leads = ", ".join(f"{a}-{b}" if a != b else str(a) for a, b in load.lead_lines)
        entering = f", growing or falling on lines {leads}" if leads else ""
        entering += f", and on leads up to {1e3 * load.lead_length:g} mm" if load.lead_length else ""
        return force_at_targets(placed, load, acting, judged), f"milling: {load.milling.words}{entering}"
    columns = stations.program.wrenches
    if columns is None:
        return np.zeros((total, 6)), "no external load"
    turn = np.array([placed.base(i).rotation for i in range(total)])
    halves = [np.einsum("nij,nj->ni", turn, columns[stations.target][:, h]) for h in (slice(0, 3), slice(3, 6))]
    return np.concatenate(halves, axis=1), f"columns of the toolpath, axes of its base, at {frame}"


def _on_air(placed: Placed, load: ProcessLoad, acting: Bools) -> list[Finding]:
    """Where a constant load meets moves through the air, or leaves them out."""
    stations = placed.stations
    air = ~stations.program.in_process[stations.target]
    if not load.constant or not air.any():
        return []
    lines = tuple(sorted({int(v) for v in stations.lines[air]}))
    data = {"targets": int(air.sum()), "of": len(stations), "lines": lines}
    if (acting & air).any():
        message = f"The load acts on joint and rapid moves too ({int((acting & air).sum())} targets), as was asked for."
        return [Finding("load-on-air-moves", "warning", message, data)]
    message = (
        f"The load acts on linear, circular and spline moves. {int(air.sum())} of {len(stations)} targets are gone to "
        "by joint or rapid moves only: they are corrected without it."
    )
    return [] if load.lines else [Finding("load-not-on-air-moves", "note", message, data)]


def _twice(placed: Placed, load: ProcessLoad) -> list[Finding]:
    """Targets that are gone to again under another load: one value cannot fit both."""
    program = placed.stations.program
    lines = np.array([m.line for m in program.moves], dtype=np.int64)
    first = placed.stations.move[placed.stations.row]
    other = "under another"
    if load.by_line is not None:
        state = load.by_line.index(lines)
    elif load.lines:
        state = under_load(program, lines, load).astype(np.int64)
    elif load.milling is None and (load.air_moves or not load.constant):
        return []
    else:
        state = np.array([m.motion != "joint" for m in program.moves], dtype=np.int64)
        if load.milling is None:  # a constant load counts wherever some line leads to a target
            first, other = _first_in_process(program, first), "without it"
    again: dict[int, list[int]] = {}
    ends = np.array([m.end for m in program.moves], dtype=np.int64)
    for i in np.flatnonzero(state[first[ends]] != state).tolist():
        again.setdefault(int(ends[i]), []).append(int(lines[i]))
    out = []
    for number, others in again.items():
        name, line = program.targets[number].name or program.targets[number].where, int(lines[first[number]])
        go = f"line {others[0]} goes" if len(others) == 1 else f"lines {some_places([str(n) for n in others])} go"
        message = f"{name} is corrected for the load of line {line}; {go} there {other}."
        out.append(Finding("target-under-two-loads", "warning", message, {"lines": (line, *others)}))
    return out


def _first_in_process(program: Program, first: Ints) -> Ints:
    """The first move (N,) to each target in a line, an arc or a spline; as ``first`` where there is none."""
    rows = [(t, i) for i, m in enumerate(program.moves) if m.motion != "joint" for t in (m.via, m.end) if t is not None]
    out = first.copy()
    out[[t for t, _ in reversed(rows)]] = [i for _, i in reversed(rows)]
    return out


def _rated(placed: Placed, loads: ProgramLoads, rated: float | None) -> list[Finding]:
    """Refuse loads beyond the rated payload that was given, warn of those beyond that of the robot file."""
    most = placed.model.rated_payload if rated is None else rated
    if most is None:
        message = "The rated payload of the robot is not known, so the load is not judged by it."
        return [Finding("rated-payload-unknown", "note", message)]
    g = float(np.linalg.norm(placed.model.gravity)) or STANDARD_GRAVITY
    total = np.linalg.norm(loads.wrench[:, :3], axis=1) / g + np.nan_to_num(loads.mass)
    worst = int(np.argmax(total))
    if total[worst] <= most:
        return []
    message = (
        f"{placed.stations.name(worst)}: force and payload together weigh {total[worst]:.4g} kg, the robot is rated "
        f"for {most:g} kg; check the load"
    )
    if rated is not None:
        raise InfeasibleError(message)
    return [Finding("beyond-rated-payload", "warning", f"{message}.", {"mass": float(total[worst]), "rated": most})]
