"""The tables, and what keeps them from being changed: the database itself refuses updates and deletions.

robot     one row for every robot, with the poses that its tool is watched at
content   files by the SHA-256 of their bytes, compressed; the same file is stored once
entry     documents (``entry.Entry``); columns beside the document are to search by
input     which contents an entry rests on, by name
"""

from __future__ import annotations

from sqlalchemy import (
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

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
