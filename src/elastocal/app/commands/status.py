"""Which results of a cell are up to date, which have changed or rest on something that has, and what to do next."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from elastocal import __version__
from elastocal.app.cells.freshness import Freshness, freshness, inside
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.errors import InputError
from elastocal.files.opened import sha256_of, watching
from elastocal.report.blocks import Column, Report, Section, Table
from elastocal.results import as_sentence
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.files.cell import CellFolder, Stated
    from elastocal.files.run_record import RunRecord

State = Literal["up to date", "stale", "replaced", "not run yet"]
CHAIN = ("plan", "simulate", "calibrate", "compensate")
"""The way from a robot to a corrected program."""


@dataclass(frozen=True)
class StatusLine:
    """One command: ``reasons`` why it is stale, ``repeat`` how to have it again, in the folder of the cell."""

    step: str
    state: State
    reasons: tuple[str, ...]
    repeat: str
    time: str = ""
    version: str = ""


@dataclass(frozen=True, eq=False)
class StatusResult:
    cell: CellFolder
    lines: tuple[StatusLine, ...]
    next_step: str
    notes: tuple[str, ...]

    @property
    def stale(self) -> tuple[StatusLine, ...]:
        return tuple(line for line in self.lines if line.state == "stale")

    @property
    def failed(self) -> bool:
        return bool(self.stale)


@command("daily", 12, report=False)
def status(cell: Annotated[Path, o.argument("CELL", "The folder of a cell.")] = Path()) -> StatusResult:
    """What in a cell is up to date, what is stale, what is next.

    Every result is compared with the SHA-256 of what it was made from. Ends with 1 if something is stale.

    \b
    Example:
      elastocal status mycell
    """
    from elastocal.files.cell import read_cell

    with watching():  # it looks at results, it does not make one
        home = read_cell(cell)
    states = freshness(home)
    ran = tuple(_line(f) for f in sorted(states, key=_order))
    lines = (*ran, *_open(home, states))
    others = sorted({line.version for line in ran} - {__version__})
    notes = tuple(f"Some results were made by elastocal {v}, this is {__version__}." for v in others)
    return StatusResult(home, lines, _next(home, lines), (*notes, *_unstated(home)))


def _unstated(cell: CellFolder) -> tuple[str, ...]:
    """What a certificate would print as not stated, once there is something to certify."""
    if not cell.path("calibration").exists():
        return ()
    keys = ", ".join(key for _, key in unstated(cell))
    return (f"Not stated under 'certificate' in cell.yaml, where its lines come from: {keys}.",) if keys else ()


def unstated(cell: CellFolder) -> tuple[tuple[str, str], ...]:
    """Names and keys of what neither cell.yaml nor the calibration says; all keys where that has no certificate."""
    path, stated = cell.path("calibration"), cell.certificate
    try:
        lines = _unstated_lines(path, sha256_of(path), stated)
    except InputError:
        lines = tuple((key.replace("_", " "), key) for key in stated.missing)
    tolerance = (("tolerance", "tolerance_mm"),) if stated.tolerance is None else ()
    return (*tolerance, *((n, k) for n, k in lines if k != "tolerance_mm"))


@lru_cache(maxsize=32)
def _unstated_lines(path: Path, mark: str, stated: Stated) -> tuple[tuple[str, str], ...]:
    from elastocal.calibration.certificate import certificate_of
    from elastocal.calibration.store import read_calibration

    with watching():
        return certificate_of(read_calibration(path), None, stated).unstated


def _line(f: Freshness) -> StatusLine:
    state: State = "replaced" if f.taken else "up to date" if f.fresh else "stale"
    repeat = "" if f.taken else f.repeat
    return StatusLine(f.label, state, f.reasons, repeat, f.record.time, f.record.versions.get("elastocal", ""))


def _order(f: Freshness) -> tuple[int, str]:
    command = f.record.command[0]
    return (CHAIN.index(command) if command in CHAIN else len(CHAIN), f.label)


def _open(cell: CellFolder, freshness: tuple[Freshness, ...]) -> tuple[StatusLine, ...]:
    """Steps of the chain that have never run here and whose results are not there by other ways."""
    ran = {f.record.command[0] for f in freshness}
    there = {
        "plan": cell.path("planned").exists() or cell.path("campaign").exists(),  # measured without one
        "simulate": cell.path("campaign").exists(),
        "calibrate": cell.path("calibration").exists(),
    }
    steps = [(step, ()) for step, is_there in there.items() if step not in ran and not is_there]
    left = _not_corrected(cell, freshness)
    correct = [("compensate", tuple(f"not corrected: {name}" for name in left))] if left else []
    return tuple(StatusLine(step, "not run yet", why, f"elastocal {step} .") for step, why in (*steps, *correct))


def _not_corrected(cell: CellFolder, freshness: tuple[Freshness, ...]) -> tuple[str, ...]:
    """Programs of the cell that no run of compensate has corrected within it."""
    from elastocal.files.programs import programs_in

    folder = cell.path("programs")
    runs = [f.record for f in freshness if f.record.command[0] == "compensate"]
    read = {name for record in runs if _wrote_a_program(cell, record) for name in record.inputs}
    names = [(cell.place("programs") / p.name).as_posix() for p in programs_in(folder)] if folder.is_dir() else []
    return tuple(name for name in names if name not in read)


def _wrote_a_program(cell: CellFolder, record: RunRecord) -> bool:
    reports = cell.place("reports")
    return any(inside(name) and not Path(name).is_relative_to(reports) for name in record.outputs)


def _next(cell: CellFolder, lines: tuple[StatusLine, ...]) -> str:
    """What to do now: what is stale first, in the order of the chain, then what has not been run."""
    for line in lines:
        if line.state == "stale" and not all(r.startswith("input is stale") for r in line.reasons):
            return f"repeat '{line.repeat}' in the cell" + _by_hand(cell, line)
    waiting = {line.step: line for line in lines if line.state == "not run yet"}
    for step in CHAIN:
        if step in waiting:
            if step == "simulate":
                place = cell.places["campaign"].as_posix()
                return f"measure by the plan and put the campaign at {place}, or '{waiting[step].repeat}' to try it"
            return f"'{waiting[step].repeat}' in the cell"
    return "nothing is left to do"


def _by_hand(cell: CellFolder, line: StatusLine) -> str:
    if not all(r.startswith("output changed") for r in line.reasons):
        return ""
    return f", or remove {cell.places['records'].as_posix()}/{line.step}.json if it was changed on purpose"


def page(result: StatusResult) -> Report:
    lines, stale = result.lines, result.stale
    results = Table.of("results", lines, {
        Column("step", "step"): lambda n: n.step,
        Column("state", "state"): lambda n: n.state,
        Column("because", "because"): lambda n: "; ".join(n.reasons),
        Column("repeat", "to have it again"): lambda n: n.repeat,
        Column("time", "made at (UTC)"): lambda n: n.time,
        Column("elastocal", "by elastocal", shown=False): lambda n: n.version,
    }, *(("Commands are to be typed in the folder of the cell.",) if lines else ()),
       title="Compared with what they were made from")  # fmt: skip
    ran = sum(line.state in ("up to date", "stale") for line in lines)
    taken = tuple(as_sentence(r) for n in lines if n.state == "replaced" for r in n.reasons)
    if stale:
        verdict = f"STALE: {', '.join(line.step for line in stale)}, {len(stale)} of {ran} results."
    else:
        verdict = f"All {ran} results are up to date." if ran else "Nothing has been run yet."
    sections = (Section("Results", (results,)),) if lines else ()
    return Report(f"Cell {result.cell.name}", (verdict, *taken, f"Next: {result.next_step}."), sections, result.notes)
