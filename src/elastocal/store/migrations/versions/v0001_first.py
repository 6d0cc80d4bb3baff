"""Robots, contents, entries and their inputs; rows are only added."""

import sqlalchemy as sa
from alembic import op

from elastocal.store.rows import protection

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "robot",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(200), nullable=False, unique=True),
        sa.Column("joints", sa.Text, nullable=False),
        sa.Column("poses", sa.Text, nullable=False),
    )
    op.create_table(
        "content",
        sa.Column("sha256", sa.String(64), primary_key=True),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("bytes", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "entry",
        sa.Column("robot", sa.Integer, sa.ForeignKey("robot.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("sha256", sa.String(64), nullable=False, unique=True),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("time", sa.String(20), nullable=False),
        sa.Column("name", sa.String(200)),
        sa.Column("file", sa.String(64), sa.ForeignKey("content.sha256")),
        sa.Column("supersedes", sa.Integer),
        sa.Column("document", sa.Text, nullable=False),
        sa.UniqueConstraint("robot", "name", name="release_name_once"),
        sa.UniqueConstraint("robot", "supersedes", name="superseded_once"),
        sa.UniqueConstraint("robot", "file", name="file_once"),
    )
    op.create_index("entry_kind", "entry", ["robot", "kind", "number"])
    op.create_table(
        "input",
        sa.Column("robot", sa.Integer, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(500), primary_key=True),
        sa.Column("sha256", sa.String(64), sa.ForeignKey("content.sha256"), nullable=False),
        sa.ForeignKeyConstraint(["robot", "number"], ["entry.robot", "entry.number"]),
    )
    for table in ("robot", "content", "entry", "input"):
        for statement in protection(op.get_bind().dialect.name, table):
            op.execute(statement)
