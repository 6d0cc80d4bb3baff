"""Programs of a cell, and what their correction has changed, line by line."""

from __future__ import annotations

from difflib import SequenceMatcher
from pathlib import Path

from elastocal.desk.files import text_of, within
from elastocal.files.cell import CellFolder
from elastocal.values import dataclass

MOST = 4000
"""Lines of a difference that are given."""


@dataclass(frozen=True)
class Line:
    """One line of a difference: its number in the old or new file, and which of them it is of."""

    number: int
    text: str
    of: str


def programs(cell: CellFolder) -> tuple[str, ...]:
    """Names of the programs of a cell."""
    from elastocal.files.programs import programs_in

    folder = within(cell, cell.place("programs"))
    return tuple(p.name for p in programs_in(folder)) if folder.is_dir() else ()


def corrected(cell: CellFolder, name: str) -> tuple[str, ...]:
    """Places of the corrected files of a program."""
    folder = cell.place("corrected")
    there = sorted(within(cell, folder).iterdir()) if (cell.root / folder).is_dir() else []
    return tuple((folder / p.name).as_posix() for p in there if p.stem == Path(name).stem)


def changed_lines(cell: CellFolder, name: str) -> tuple[Line, ...]:
    """Lines of a program that its correction has changed, old above new; of its data file where it has one."""
    out: list[Line] = []
    old_folder, new_folder = cell.place("programs"), cell.place("corrected")
    for file in sorted((cell.root / old_folder).glob(f"{Path(name).stem}.*")):
        new = cell.root / new_folder / file.name
        if file.is_file() and new.is_file():
            places = old_folder / file.name, new_folder / file.name
            out += _difference(*(text_of(within(cell, p)).splitlines() for p in places))
    return tuple(out[:MOST])


def _difference(old: list[str], new: list[str]) -> list[Line]:
    if len(old) == len(new):  # only numbers change: line by line, without a search
        pairs = [(i, a, b) for i, (a, b) in enumerate(zip(old, new, strict=True), 1) if a != b]
        return [line for i, a, b in pairs for line in (Line(i, a, "old"), Line(i, b, "new"))]
    out: list[Line] = []
    for word, a0, a1, b0, b1 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if word != "equal":
            out += [Line(i + 1, old[i], "old") for i in range(a0, a1)]
            out += [Line(i + 1, new[i], "new") for i in range(b0, b1)]
    return out
