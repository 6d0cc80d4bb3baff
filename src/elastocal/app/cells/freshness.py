"""Whether results of a cell are still those of their inputs, and which programs were corrected before: by the records.

A second correction would be off by as much as the first one took away.  A corrected program has the bytes that the
record of a ``compensate`` in the cell says it wrote, wherever it lies.  Outside of cells nothing tells; a folder
``corrected`` beside a program of the same name is a hint.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.cells.trace import current
from elastocal.errors import ConflictError
from elastocal.files.opened import SHIPPED, sha256_of, watching
from elastocal.results import Finding
from elastocal.untrusted import shell_line
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.files.cell import CellFolder
    from elastocal.files.run_record import RunRecord


SIMULATE = "simulate"


@dataclass(frozen=True)
class Freshness:
    """What has changed since a command ran: paths, and keys of cell.yaml; ``resting`` are inputs that are stale.

    ``taken`` are files that were simulated and have been put there by hand since: they are nobody's result any more.
    """

    label: str
    record: RunRecord
    settings: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    resting: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()

    @property
    def fresh(self) -> bool:
        return bool(self.taken) or not (self.settings or self.inputs or self.outputs or self.missing or self.resting)

    def doubtful(self, output: str) -> bool:
        """Whether this output is no longer what the command would give; another one that was lost does not matter."""
        stale = bool(self.settings or self.inputs or self.resting) or output in (*self.outputs, *self.missing)
        return stale and not self.taken

    @property
    def repeat(self) -> str:
        """The command, to be typed in the folder of the cell."""
        return shell_line(*self.record.command)

    @property
    def reasons(self) -> tuple[str, ...]:
        if self.taken:
            return (self.taking,)
        return (
            *(f"input changed: {name}" for name in self.inputs),
            *(f"changed in cell.yaml: {name}" for name in self.settings),
            *(f"input is stale: {name}" for name in self.resting),
            *(f"output missing: {name}" for name in self.missing),
            *(f"output changed: {name}" for name in self.outputs),
        )

    @property
    def taking(self) -> str:
        """What became of simulated files that were changed."""
        from elastocal.files.campaign.write import TABLE

        if any(Path(name).name == TABLE for name in self.taken):
            return "readings were changed since simulate: taken as measured"
        return f"{', '.join(self.taken)} was changed since simulate: kept as it is"


def records(cell: CellFolder) -> dict[str, RunRecord]:
    """By the label of the run, the oldest first."""
    from elastocal.files.run_record import read_record

    folder = cell.path("records")
    with watching():  # what is looked at here is no input of a result
        read = {path.stem: read_record(path) for path in sorted(folder.glob("*.json"))} if folder.is_dir() else {}
    return dict(sorted(read.items(), key=lambda item: (item[1].time, item[0])))


def freshness(cell: CellFolder) -> tuple[Freshness, ...]:
    """Of every record; a result is stale too where something that it rests on is."""
    known = records(cell)
    results = {mark for record in known.values() for mark in record.outputs.values()}
    mark = cache(partial(_mark, cell.root))  # most files stand in several records
    states = {label: _judged(cell, label, record, results, mark) for label, record in known.items()}
    wrote = {name: label for label, f in states.items() for name in f.record.outputs}
    changed = True
    while changed:
        changed = False
        for label, f in states.items():
            resting = tuple(n for n in f.record.inputs if wrote.get(n, label) != label and states[wrote[n]].doubtful(n))
            if resting != f.resting:
                states[label], changed = replace(f, resting=resting), True
    return tuple(states.values())


def stale_inputs(cell: CellFolder, inputs: Mapping[str, str], label: str) -> tuple[str, ...]:
    """A sentence for every run whose results are among the inputs and no longer what it would give."""
    notes = []
    for f in freshness(cell):
        if any(name in f.taken for name in inputs):
            notes.append(f"{', '.join(f.taken)}: {f.taking}.")
        used = [name for name in inputs if name in f.record.outputs and f.doubtful(name)]
        if used and f.label != label:
            notes.append(f"STALE INPUT {', '.join(used)} ({'; '.join(f.reasons)}): repeat '{f.repeat}' in the cell.")
    return tuple(notes)


def _judged(
    cell: CellFolder, label: str, record: RunRecord, results: Collection[str], mark_of: Callable[[str], str]
) -> Freshness:
    """``results`` are the marks of everything that was ever written by a command."""
    marks = {name: mark_of(name) for name in (*record.inputs, *record.outputs)}
    settings = {**{key: {} for key in usual_settings(record.command[0])}, **record.cell}
    changed = tuple(name for name, mark in record.outputs.items() if marks[name] not in (mark, ""))
    return Freshness(
        label, record, tuple(key for key, value in settings.items() if setting(cell, key, record.command[0]) != value),
        (*_changed(record, marks), *_added(cell, record)), changed,
        tuple(name for name in record.outputs if not marks[name] and inside(name)),
        taken=tuple(name for name in changed if _simulated(record, name) and marks[name] not in results),
    )  # fmt: skip


def _changed(record: RunRecord, marks: Mapping[str, str]) -> Iterator[str]:
    """Inputs that are others now; one that the run itself has replaced, as a refit its start, is as it left it."""
    return (name for name, mark in record.inputs.items() if marks[name] != mark and name not in record.outputs)


def inside(name: str) -> bool:
    """Whether a file of a record stands in the cell: what was written elsewhere goes its own ways."""
    return not (Path(name).is_absolute() or name.startswith(".."))


def _simulated(record: RunRecord, name: str) -> bool:
    if record.command[0] != SIMULATE:
        return False
    from elastocal.files.campaign.write import CAMPAIGN, TABLE

    return Path(name).name in (CAMPAIGN, TABLE)


def _added(cell: CellFolder, record: RunRecord) -> tuple[str, ...]:
    """Tables that lie in a folder which stands for all of its tables, and were not read."""
    from elastocal.files.cell import tables_in

    places = [place for key in record.cell if key == "counts" for place in tables_in(cell, cell.place(key))]
    return tuple(name for place in places if (name := place.as_posix()) not in record.inputs)


CERTIFIED = ("calibrate", "validate", "certificate", "compensate")
"""Commands whose reports show what cell.yaml states for a certificate."""
MAPPED = ("compensate", "stiffness")
"""Commands that draw maps over the workpiece of cell.yaml."""


def usual_settings(command: str) -> tuple[str, ...]:
    """Keys of cell.yaml that a command takes beside places."""
    stated = (("certificate", CERTIFIED), ("workpiece", MAPPED))
    return ("options", *(key for key, commands in stated if command in commands))


def setting(cell: CellFolder, key: str, command: str) -> object:
    """What a command takes from cell.yaml: a place, its options, what is stated for a certificate, the workpiece."""
    if key == "options":
        return cell.options.get(command, {})
    if key in ("certificate", "workpiece"):
        return {k: str(v) for k, v in (cell.located.data.get(key) or {}).items()}
    return cell.places[key].as_posix() if key in cell.places else None


def _mark(root: Path, name: str) -> str:
    """SHA-256 of a file as it is now, nothing where there is none."""
    from elastocal.errors import InputError
    from elastocal.files.robot.read import shipped_robots, shipped_text

    if name.startswith(SHIPPED):
        own = name.removeprefix(SHIPPED)
        with watching() as seen:
            if own in shipped_robots():
                shipped_text(own)
        return seen.get(name, "")
    try:
        return sha256_of(root / name)
    except InputError:
        return ""


FOLDER = "corrected"


def corrected_before(program: Path, calibration: Path | None, again: bool) -> tuple[Finding, ...]:
    """Refuse a program that a run in a cell has written, or say that it was corrected ``again``."""
    wrote = _writer(program, calibration)
    if not wrote:
        return _by_its_place(program)
    if not again:
        message = (
            f"{program.as_posix()}: was corrected before, by 'elastocal {wrote}'; correct the program that it was made "
            "from, or say --again"
        )
        raise ConflictError(message, code="corrected-before", file=program.as_posix(), value=wrote)
    message = (
        f"{program.as_posix()} was corrected before, by 'elastocal {wrote}', and is CORRECTED AGAIN, as was asked for."
    )
    return (Finding("corrected-again", "warning", message, {"file": program.as_posix()}),)


def _writer(program: Path, calibration: Path | None) -> str:
    """Words of the run that wrote one of the files; "" where none did."""
    from elastocal.files.programs import program_files

    with watching():
        marks = [sha256_of(path) for path in program_files(program)]
    for cell in _cells(program, calibration):
        for record in records(cell).values():
            written = set(record.outputs.values()).difference(record.inputs.values())
            if record.command[0] == "compensate" and written.intersection(marks):
                return " ".join(record.command)
    return ""


def _cells(program: Path, calibration: Path | None) -> Iterator[CellFolder]:
    """Of the run, and those that the files lie in."""
    from elastocal.files.cell import is_cell, read_cell

    here = current().cell
    if here is not None:
        yield here
    for path in (program, calibration):
        folders = () if path is None else path.absolute().parents
        cell = next((folder for folder in folders if is_cell(folder)), None)
        if cell is not None and (here is None or not cell.samefile(here.root)):
            with watching():  # no input of the result
                found = read_cell(cell)
            yield found


def _by_its_place(program: Path) -> tuple[Finding, ...]:
    place = program.absolute()
    if place.parent.name.lower() != FOLDER or not (place.parent.parent / place.name).is_file():
        return ()
    message = f"{program.as_posix()} LIES IN A FOLDER {FOLDER}, beside a program of its name: is it corrected already?"
    return (Finding("corrected-already", "warning", message, {"file": program.as_posix()}),)
