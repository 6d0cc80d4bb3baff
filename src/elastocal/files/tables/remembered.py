"""What the titles of tables mean, said once: ``columns.yaml`` beside cell.yaml, outside of cells beside the table.

    format: elastocal-columns/1
    tables:
      - columns: {A1_deg: Achse 1, x_mm: X pos}
      - {columns: {x_mm: X ist}, header_line: 3}
      - {files: "*.txt", format: spatial-analyzer, points: "{name}_{marker}", length: mm, join: poses.csv}

The first entry whose titles a table has all renames its columns; others keep their titles.  With ``files`` an entry is
taken for tables of such names, as ``table`` of a campaign file would be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from elastocal.errors import ConflictError, InputError
from elastocal.files.located import Located, read_formatted
from elastocal.files.tables.raw import Origin, RawTable
from elastocal.files.tables.spelling import is_bare
from elastocal.files.units import DIMENSIONS
from elastocal.values import dataclass

FORMAT = "elastocal-columns/1"
NAME, CELL = "columns.yaml", "cell.yaml"
READ_BY = ("header_line", "sheet", "encoding")
"""Keys of an entry that say how its tables are opened."""


@dataclass(frozen=True, kw_only=True)
class ColumnsEntry:
    """Top level of columns.yaml."""

    format: str
    tables: list[dict[str, Any]]


@dataclass(frozen=True, eq=False)
class Layout:
    """One entry: ``columns`` leads from names to titles, ``opened`` says how the file is read, ``rest`` all else."""

    file: Path
    number: int
    columns: Mapping[str, str]
    files: str = ""
    opened: Mapping[str, Any] = field(default_factory=dict)
    rest: Mapping[str, Any] = field(default_factory=dict)

    @property
    def where(self) -> str:
        return f"{self.file.as_posix()}, tables[{self.number}]"


def layouts_of(path: Path) -> tuple[Layout, ...]:
    """What is remembered for a table."""
    file = columns_file(path)
    return tuple(_layouts(file)) if file.is_file() else ()


def columns_file(path: Path) -> Path:
    """Where the columns of a table are kept: in its cell, else beside it."""
    home = next((folder for folder in path.resolve().parents if (folder / CELL).is_file()), None)
    return (home or path.parent) / NAME


def _layouts(file: Path) -> Iterator[Layout]:
    from elastocal.files import schema

    located = read_formatted(file, FORMAT, "a file of columns")
    entry = schema.construct(ColumnsEntry, located, (), located.data, {})
    for number, layout in enumerate(entry.tables):
        yield _layout(located, file, number, layout)


def _layout(located: Located, file: Path, number: int, layout: Mapping[str, Any]) -> Layout:
    place = ("tables", number)
    columns = layout.get("columns", {})
    if not isinstance(columns, dict) or not (columns or "files" in layout):
        raise located.error(place, "needs columns, such as {x_mm: X pos}, or files, such as '*.txt'")
    rest = {str(k): v for k, v in layout.items() if k not in ("columns", "files", *READ_BY)}
    if rest and "files" not in layout:
        raise located.error((*place, next(iter(rest))), "belongs to an entry with files, such as '*.txt'")
    words = {str(name): str(title) for name, title in columns.items()}
    opened = {k: layout[k] for k in READ_BY if k in layout}
    for key, value in opened.items():
        kind = int if key == "header_line" else str
        if not isinstance(value, kind) or isinstance(value, bool) or value in (0, ""):
            raise located.error((*place, key), f"{value!r} is no {'line' if kind is int else 'name'}; correct it")
    return Layout(file, number, words, str(layout.get("files", "")), opened, rest)


def entry_for(path: Path) -> dict[str, Any] | None:
    """The entry for files of such a name, as ``table`` of a campaign file; None where there is none."""
    for layout in layouts_of(path):
        if layout.files and fnmatch(path.name, layout.files):
            columns = {"columns": dict(layout.columns)} if layout.columns else {}
            return {**columns, **layout.opened, **layout.rest}
    return None


def renamed_by(raw: RawTable, layout: Layout) -> RawTable | None:
    """The table with the names of an entry for its titles; None where it has not all of them."""
    names = {title: name for name, title in layout.columns.items()}
    if not names or not set(names) <= set(raw.header) or layout.files:
        return None
    header = tuple(names.get(title, title) for title in raw.header)
    if len(set(header)) != len(header):
        twice = next(h for h in header if header.count(h) > 1)
        raise InputError(
            f"{raw.top}: column {twice!r} is there under its own title and by {layout.where}; keep one",
            code="column-twice", file=raw.file, value=twice,
        )  # fmt: skip
    text = ", ".join(f"{title} is {name}" for title, name in names.items() if title != name)
    note = f"{Path(raw.file).name}: by {layout.file.name}: {text}."
    return replace(
        raw,
        header=header,
        origins=tuple(raw.origin(i) if raw.origins else Origin(raw.file, t) for i, t in enumerate(raw.header)),
        named=f"{raw.top} (columns by {layout.file.name})",
        notes=(*raw.notes, *((note,) if text else ())),
        more=(*raw.more, layout.file),
    )


def check_units(raw: RawTable, stated: Mapping[str, str]) -> None:
    """Refuse ``stated`` units (by dimension) of columns for which another one is remembered."""
    if not stated:
        return
    known = {file: layouts_of(Path(file)) for file in {o.file for o in raw.origins}}
    for name, origin in zip(raw.header, raw.origins, strict=False):
        unit = name.rpartition("_")[2]
        other = next((u for d, u in stated.items() if unit in DIMENSIONS[d] and u != unit), None)
        layout = next((w for w in known[origin.file] if w.columns.get(name) == origin.title), None)
        if other is not None and layout is not None and is_bare(origin.title):
            raise ConflictError(
                f"{origin.file}: column {origin.title!r} is {name} by {layout.where}, and its unit is stated to be "
                f"{other}; correct {layout.file.name}, or leave that out",
                file=origin.file, column=origin.title, value=other, parameter="units",
            )  # fmt: skip


def with_layout(file: Path, columns: Mapping[str, str], opened: Mapping[str, Any]) -> str:
    """The text of columns.yaml with one more entry, in front; one for the same titles is replaced."""
    import yaml

    old = list(_layouts(file)) if file.is_file() else []
    new = {"columns": dict(columns), **opened}
    kept = [
        {**({"files": o.files} if o.files else {}), **({"columns": dict(o.columns)} if o.columns else {}), **o.opened,
         **o.rest}
        for o in old
        if o.files or set(o.columns.values()) != set(columns.values())
    ]  # fmt: skip
    head = "# What the titles of tables are: name with unit, then the title in the file (docs/imports.md).\n"
    data = {"format": FORMAT, "tables": [new, *kept]}
    return head + yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=118)
