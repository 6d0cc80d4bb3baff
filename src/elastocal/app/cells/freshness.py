"""Whether results of a cell are still those of their inputs, by the records beside them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.files.opened import SHIPPED, sha256_of, watching

if TYPE_CHECKING:
    from elastocal.files.cell_yaml import CellFolder
    from elastocal.files.run_record import RunRecord


@dataclass(frozen=True)
class Freshness:
    """What has changed since a command ran: paths, and keys of cell.yaml; ``resting`` are inputs that are stale."""

    label: str
    record: RunRecord
    settings: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    resting: tuple[str, ...] = ()

    @property
    def fresh(self) -> bool:
        return not (self.settings or self.inputs or self.outputs or self.missing or self.resting)

    def doubtful(self, output: str) -> bool:
        """Whether this output is no longer what the command would give; another one that was lost does not matter."""
        return bool(self.settings or self.inputs or self.resting) or output in (*self.outputs, *self.missing)

    @property
    def repeat(self) -> str:
        """The command, to be typed in the folder of the cell."""
        return shlex.join(["elastocal", *self.record.command])

    @property
    def reasons(self) -> tuple[str, ...]:
        return (
            *(f"input changed: {name}" for name in self.inputs),
            *(f"changed in cell.yaml: {name}" for name in self.settings),
            *(f"input is stale: {name}" for name in self.resting),
            *(f"output missing: {name}" for name in self.missing),
            *(f"output changed: {name}" for name in self.outputs),
        )


def records(cell: CellFolder) -> dict[str, RunRecord]:
    """By the label of the run, the oldest first."""
    from elastocal.files.run_record import read_record

    folder = cell.path("records")
    with watching():  # what is looked at here is no input of a result
        found = {path.stem: read_record(path) for path in sorted(folder.glob("*.json"))} if folder.is_dir() else {}
    return dict(sorted(found.items(), key=lambda item: (item[1].time, item[0])))


def freshness(cell: CellFolder) -> tuple[Freshness, ...]:
    """Of every record; a result is stale too where something that it rests on is."""
    found = {label: _judged(cell, label, record) for label, record in records(cell).items()}
    wrote = {name: label for label, f in found.items() for name in f.record.outputs}
    changed = True
    while changed:
        changed = False
        for label, f in found.items():
            resting = tuple(n for n in f.record.inputs if wrote.get(n, label) != label and found[wrote[n]].doubtful(n))
            if resting != f.resting:
                found[label], changed = _resting(f, resting), True
    return tuple(found.values())


def _resting(f: Freshness, names: tuple[str, ...]) -> Freshness:
    return Freshness(f.label, f.record, f.settings, f.inputs, f.outputs, f.missing, names)


def stale_inputs(cell: CellFolder, inputs: Mapping[str, str], label: str) -> tuple[str, ...]:
    """A sentence for every run whose results are among the inputs and no longer what it would give."""
    said = []
    for f in freshness(cell):
        used = [name for name in inputs if name in f.record.outputs and f.doubtful(name)]
        if used and f.label != label:
            said.append(f"STALE INPUT {', '.join(used)} ({'; '.join(f.reasons)}): repeat '{f.repeat}' in the cell.")
    return tuple(said)


def _judged(cell: CellFolder, label: str, record: RunRecord) -> Freshness:
    marks = {name: _mark(cell.root, name) for name in (*record.inputs, *record.outputs)}
    settings = {"options": {}, **record.cell}
    return Freshness(
        label,
        record,
        tuple(key for key, value in settings.items() if setting(cell, key, record.command[0]) != value),
        (*(name for name, mark in record.inputs.items() if marks[name] != mark), *_added(cell, record)),
        tuple(name for name, mark in record.outputs.items() if marks[name] not in (mark, "")),
        tuple(name for name in record.outputs if not marks[name]),
    )


def _added(cell: CellFolder, record: RunRecord) -> tuple[str, ...]:
    """Tables that lie in a folder which stands for all of its tables, and were not read."""
    from elastocal.files.cell_yaml import tables_in

    found = [place for key in record.cell if key == "counts" for place in tables_in(cell, cell.place(key))]
    return tuple(name for place in found if (name := place.as_posix()) not in record.inputs)


def setting(cell: CellFolder, key: str, command: str) -> object:
    """What a command takes from cell.yaml: a place, or its options."""
    if key == "options":
        return cell.options.get(command, {})
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
