"""Stores as every version of the tables has left them: ``version_NNNN.json`` holds their rows, and none is lost.

A new version brings a file of its own, made with its tables; those of earlier versions never change.
"""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

import elastocal as ec
from elastocal.store import database
from elastocal.store.rows import HEAD

VERSIONS = tuple(r.revision for r in reversed(list(ScriptDirectory.from_config(database._steps()).walk_revisions())))
"""The first one first."""
ORDER = ("robot", "content", "entry", "input")


def kept(version: str) -> dict[str, list[dict[str, Any]]]:
    rows: dict[str, list[dict[str, Any]]] = json.loads(
        Path(__file__).with_name(f"version_{version}.json").read_text(encoding="utf-8")
    )
    return {t: [{k: _value(v) for k, v in row.items()} for row in rows[t]] for t in ORDER}


def _value(value: Any) -> Any:
    return b64decode(value["base64"]) if isinstance(value, dict) else value


def stepped(engine: sa.Engine, version: str) -> None:
    config = database._steps()
    with engine.connect().execution_options(writing=True) as connection, connection.begin():
        config.attributes["connection"] = connection
        command.upgrade(config, version)


def rows_of(engine: sa.Engine) -> dict[str, int]:
    with engine.connect() as connection:
        return {t: connection.execute(sa.text(f"SELECT count(*) FROM {t}")).scalar_one() for t in ORDER}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_store_of_every_version_is_brought_forward_with_all_its_rows(store: str, version: str) -> None:
    """Step by step; afterwards its marks hold, its calibrations predict, and it takes further entries."""
    engine, rows = database._engine(database.url_of(store)), kept(version)
    stepped(engine, version)
    tables = sa.MetaData()
    tables.reflect(engine)
    with engine.connect().execution_options(writing=True) as connection, connection.begin():
        for name in ORDER:
            connection.execute(tables.tables[name].insert(), rows[name])
    for later in VERSIONS[VERSIONS.index(version) + 1 :]:
        stepped(engine, later)
        assert rows_of(engine) == {name: len(of) for name, of in rows.items()}
    engine.dispose()
    with ec.history(store) as histories:
        assert histories.verify() == ()
        found = histories["cell-7"]
        assert found.mark == rows["entry"][-1]["sha256"]
        assert [e.number for e in found.entries] == [1, 2, 3, 4]
        assert found.released is not None
        assert found.released.release.name == "summer"
        assert histories.calibration("cell-7", 2).predict([[100, 10, 300]], length="mm", angle="deg").position.shape[0]
        histories.release("cell-7", 1, name="again", reason="r", who="w")
        assert histories.verify() == ()
        with histories._database.reading() as connection:
            assert MigrationContext.configure(connection).get_current_revision() == HEAD


def test_a_row_that_was_changed_is_seen(store: str) -> None:
    """What the test above relies on: marks are of contents."""
    engine, rows = database._engine(database.url_of(store)), kept(VERSIONS[0])
    stepped(engine, VERSIONS[0])
    rows["entry"][1]["document"] = rows["entry"][1]["document"].replace("monthly", "monthlY")
    tables = sa.MetaData()
    tables.reflect(engine)
    with engine.connect().execution_options(writing=True) as connection, connection.begin():
        for name in ORDER:
            connection.execute(tables.tables[name].insert(), rows[name])
    engine.dispose()
    with ec.history(store) as histories:
        assert histories.verify() != ()
