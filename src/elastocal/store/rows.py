"""The tables, what keeps them from being changed, and their statements: every value is passed beside a statement.

robot     one row for every robot, with the poses that its tool is watched at
content   files by the SHA-256 of their bytes, compressed; the same file is stored once
entry     documents (``entry.Entry``); columns beside the document are to search by
input     which contents an entry rests on, by name

The database itself refuses updates and deletions (``protection``).
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Row,
    String,
    Table,
    Text,
    UniqueConstraint,
    func,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite

from elastocal.errors import InputError
from elastocal.results import Finding
from elastocal.store.entry import Entry, entry_of, sha256, stored_entry

HEAD = "0001"
"""Version of the tables that this code reads and writes: the last file of ``migrations/versions``."""
metadata = MetaData()
robots = Table(
    "robot",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("joints", Text, nullable=False),
    Column("poses", Text, nullable=False),
)
contents = Table(
    "content",
    metadata,
    Column("sha256", String(64), primary_key=True),
    Column("size", Integer, nullable=False),
    Column("bytes", LargeBinary, nullable=False),
)
entries = Table(
    "entry",
    metadata,
    Column("robot", Integer, ForeignKey("robot.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("sha256", String(64), nullable=False, unique=True),
    Column("kind", String(20), nullable=False),
    Column("time", String(20), nullable=False),
    Column("name", String(200)),
    Column("file", String(64), ForeignKey("content.sha256")),
    Column("supersedes", Integer),
    Column("document", Text, nullable=False),
    UniqueConstraint("robot", "name", name="release_name_once"),
    UniqueConstraint("robot", "supersedes", name="superseded_once"),
    UniqueConstraint("robot", "file", name="file_once"),
    Index("entry_kind", "robot", "kind", "number"),
)
inputs = Table(
    "input",
    metadata,
    Column("robot", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("name", String(500), primary_key=True),
    Column("sha256", String(64), ForeignKey("content.sha256"), nullable=False),
    ForeignKeyConstraint(["robot", "number"], ["entry.robot", "entry.number"]),
)
KEYS = {
    "robot": (("id",), ("name",)), "content": (("sha256",),), "input": (("robot", "number", "name"),),
    "entry": (("robot", "number"), ("sha256",), ("robot", "name"), ("robot", "supersedes"), ("robot", "file")),
}  # fmt: skip
"""What a row is known by: no two rows have the same."""
_REFUSED = "rows are only added: supersede this one by another"


def protection(dialect: str, table: str) -> tuple[str, ...]:
    """Statements after which rows of a table can be added and read, and nothing else."""
    if dialect == "postgresql":
        refuse = f"""CREATE OR REPLACE FUNCTION only_added() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION '{_REFUSED}'; END $$"""
        run = "EXECUTE FUNCTION only_added()"
        return (
            refuse,
            f'CREATE TRIGGER {table}_kept BEFORE UPDATE OR DELETE ON "{table}" FOR EACH ROW {run}',
            f'CREATE TRIGGER {table}_whole BEFORE TRUNCATE ON "{table}" FOR EACH STATEMENT {run}',
        )
    same = " OR ".join("(" + " AND ".join(f'"{k}" = NEW."{k}"' for k in key) + ")" for key in KEYS[table])
    raised = f"SELECT RAISE(ABORT, '{_REFUSED}')"
    return (
        f'CREATE TRIGGER {table}_kept BEFORE UPDATE ON "{table}" BEGIN {raised}; END',
        f'CREATE TRIGGER {table}_whole BEFORE DELETE ON "{table}" BEGIN {raised}; END',
        # INSERT OR REPLACE deletes without asking the trigger above
        f'CREATE TRIGGER {table}_once BEFORE INSERT ON "{table}" '
        f'WHEN EXISTS (SELECT 1 FROM "{table}" WHERE {same}) BEGIN {raised}; END',
    )


NOT_ITS_OWN = "its columns are not those of its document; restore the database"
Packed = Mapping[str, tuple[str, int, bytes]]
"""By name: SHA-256, size and compressed bytes of a file."""


def robot_row(connection: Connection, name: str) -> Row[Any] | None:
    return connection.execute(select(robots).where(robots.c.name == name)).first()


def robot_names(connection: Connection) -> list[str]:
    return list(connection.execute(select(robots.c.name).order_by(robots.c.name)).scalars())


def insert_robot(connection: Connection, name: str, joints: str, poses: str) -> None:
    """Unless another writer has done so."""
    kind = postgresql if connection.dialect.name == "postgresql" else sqlite
    row = kind.insert(robots).values(name=name, joints=joints, poses=poses)
    connection.execute(row.on_conflict_do_nothing())


def lock(connection: Connection, name: str) -> None:
    """Other writers of the same robot wait; SQLite has one writer at a time anyhow."""
    connection.execute(select(robots.c.id).where(robots.c.name == name).with_for_update())


def entries_of(
    connection: Connection, robot: int, name: str, known: tuple[Entry, ...] = (), mark: str | None = None
) -> tuple[tuple[Entry, ...], str | None]:
    """All of a robot, and the mark of the last document; those ``known`` up to that of ``mark`` are not read again."""
    own = (entries.c.robot == robot) & (entries.c.number >= len(known))
    c = entries.c
    columns = select(c.sha256, c.document, c.number, c.kind, c.time, c.supersedes)
    rows = connection.execute(columns.where(own).order_by(c.number)).all()
    if known and (not rows or rows[0].sha256 != mark):  # another database stands in its place
        return entries_of(connection, robot, name)
    read = []
    for new, text, number, kind, time, supersedes in rows[1:] if known else rows:
        where = f"{name} {number}"
        _check(text, new, where)
        columns_of = {"kind": kind, "number": number, "robot": name, "supersedes": supersedes, "time": time}
        if not all(f'"{key}":{json.dumps(v, ensure_ascii=False)},' in text for key, v in columns_of.items()):
            raise InputError(f"{where}: {NOT_ITS_OWN}", code="damaged")
        read.append(stored_entry(text, where, **columns_of))
    return (*known, *read), rows[-1].sha256 if rows else None


def entry_at(connection: Connection, robot: int, name: str, number: int) -> Entry | None:
    own = (entries.c.robot == robot) & (entries.c.number == number)
    row = connection.execute(select(entries.c.document, entries.c.sha256).where(own)).first()
    return None if row is None else _checked(row.document, row.sha256, f"{name} {number}")


def release_of(connection: Connection, robot: int, name: str) -> Entry | None:
    """The release that holds: the last one that nothing supersedes."""
    own = (entries.c.robot == robot) & (entries.c.kind == "release")
    last = connection.execute(select(func.max(entries.c.number)).where(own)).scalar()
    gone = (entries.c.robot == robot) & (entries.c.supersedes == last)
    if last is None or connection.execute(select(entries.c.number).where(gone)).first() is not None:
        return None
    return entry_at(connection, robot, name, last)


def last_entries(connection: Connection) -> Iterator[tuple[str, int, dict[str, Entry], tuple[Finding, ...]]]:
    """Of every robot: name, number of entries, the last of every kind that nothing supersedes, what was last said."""
    later = entries.alias()
    gone = select(later.c.number).where(later.c.robot == entries.c.robot, later.c.supersedes == entries.c.number)
    newest = (
        select(entries.c.robot, entries.c.kind, func.max(entries.c.number).label("number"))
        .where(~gone.exists())
        .group_by(entries.c.robot, entries.c.kind)
        .subquery()
    )
    joined = select(robots.c.name, entries.c.number, entries.c.kind, entries.c.document, entries.c.sha256).join_from(
        entries, newest, (entries.c.robot == newest.c.robot) & (entries.c.number == newest.c.number)
    ).join(robots, robots.c.id == entries.c.robot)  # fmt: skip
    by_robot: dict[str, dict[str, Entry]] = {}
    for name, number, kind, text, mark in connection.execute(joined.order_by(robots.c.name, entries.c.number)):
        by_robot.setdefault(name, {})[kind] = _checked(text, mark, f"{name} {number}")
    for name, kinds in by_robot.items():
        last = max(kinds.values(), key=lambda e: e.number)
        yield name, last.number, kinds, last.alarms


def content(connection: Connection, mark: str) -> bytes:
    packed = connection.execute(select(contents.c.bytes).where(contents.c.sha256 == mark)).scalar()
    if packed is None:
        raise InputError(f"the store has no file {mark[:16]}", code="no-content", value=mark)
    unpacked = zlib.decompress(packed)
    if sha256(unpacked) != mark:
        raise InputError(f"the file {mark[:16]} in the store is damaged; restore the database", code="damaged")
    return unpacked


def insert_entry(connection: Connection, robot: str, entry: Entry, text: str, files: Packed) -> None:
    kind = postgresql if connection.dialect.name == "postgresql" else sqlite
    row = robot_row(connection, robot)
    assert row is not None
    for mark, size, packed in files.values():
        if connection.execute(select(contents.c.size).where(contents.c.sha256 == mark)).first() is None:
            new = kind.insert(contents).values(sha256=mark, size=size, bytes=packed)
            connection.execute(new.on_conflict_do_nothing())
    columns = {
        "robot": row.id, "number": entry.number, "sha256": sha256(text), "kind": entry.kind, "time": entry.time,
        "name": entry.release.name if entry.release else None,
        "file": entry.calibration.file if entry.calibration else None,
        "supersedes": entry.supersedes, "document": text,
    }  # fmt: skip
    connection.execute(entries.insert().values(**columns))
    if files:
        named = [{"robot": row.id, "number": entry.number, "name": n, "sha256": f[0]} for n, f in files.items()]
        connection.execute(inputs.insert(), named)


def damages(connection: Connection) -> Iterator[str]:
    """Sentences on everything that is not as it was written."""
    for row in connection.execute(select(robots).order_by(robots.c.name)):
        previous = None
        stored = connection.execute(select(entries).where(entries.c.robot == row.id).order_by(entries.c.number))
        for number, e in enumerate(stored, 1):
            where = f"{row.name} {number}"
            try:
                entry = _checked(e.document, e.sha256, where)
            except InputError as error:
                yield str(error)
                previous = e.sha256
                continue
            own = (e.number, e.kind, e.time, e.supersedes)
            if entry.robot != row.name or own != (entry.number, entry.kind, entry.time, entry.supersedes):
                yield f"{where}: {NOT_ITS_OWN}"
            if entry.previous != previous or entry.number != number:
                yield f"{where}: does not follow the entry before it; restore the database"
            previous = e.sha256
    for mark in connection.execute(select(contents.c.sha256).order_by(contents.c.sha256)).scalars().all():
        try:
            content(connection, mark)
        except (InputError, zlib.error):
            yield f"the file {mark[:16]} is damaged; restore the database"


def _check(text: str, mark: str, where: str) -> None:
    if sha256(text) != mark:
        raise InputError(f"{where}: the entry was changed since it was recorded; restore the database", code="damaged")


def _checked(text: str, mark: str, where: str) -> Entry:
    _check(text, mark, where)
    return entry_of(text, where)
