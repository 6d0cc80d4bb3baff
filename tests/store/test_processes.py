"""Several processes at once, processes that are killed, older databases: nothing is lost, doubled or half there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from oracle.refusals import refused

import elastocal as ec
from elastocal.errors import InputError
from elastocal.store import database
from elastocal.store.rows import HEAD, metadata

RELEASES = """
import sys, elastocal as ec
store, who, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with ec.history(store) as histories:
    for i in range(count):
        histories.release("cell-7", name=f"{who}-{i}", reason="at once", who=who)
"""
FIRST = """
import sys, elastocal as ec
from elastocal.errors import InputError
cal = ec.read_calibration(sys.argv[2])
with ec.history(sys.argv[1]) as histories:
    try:
        print(histories.add("cell-7", cal, who=sys.argv[3]).number)
    except InputError as error:
        print(error.code)
"""
KILLED = """
import os, signal, sys, elastocal as ec
from elastocal.calibration.certificate import certificate_of
from elastocal.calibration.page import certificate_contents
from elastocal.files.cell import Stated
from sqlalchemy import event
from sqlalchemy.engine import Engine
with ec.history(sys.argv[1]) as histories:  # all but the PDF, whose threads would not outlive a fork, is loaded once
    cal = histories.calibration("cell-7")
    certificate_contents(cal, certificate_of(cal, None, Stated(tolerance=1e-3), {}), ".html", None, 1e-3)
def release(step):
    seen = 0
    def count(*_):
        nonlocal seen
        seen += 1
        if seen == step:
            os.kill(os.getpid(), signal.SIGKILL)
    with ec.history(sys.argv[1]) as histories:
        histories.robots()
        event.listen(Engine, "after_cursor_execute", count)
        event.listen(Engine, "commit", count)
        histories.release("cell-7", name="half", reason="killed", who="nobody", stated=Stated(tolerance=1e-3))
    os._exit(0)
for step in range(1, 40):
    child = os.fork() or release(step)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with ec.history(sys.argv[1]) as histories:
        found = histories["cell-7"]
        names = [e.release.name for e in found.entries if e.release]
        kept = "certificate.html" in found.released.inputs and b"nobody" in histories.certificate("cell-7")
        print(ended, found.released.release.name, len(names), kept, len(histories.verify()), flush=True)
    if ended == 0:
        break
"""
Cals = tuple[ec.Calibration, ...]


def start(code: str, *words: object) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", code, *map(str, words)], stdout=subprocess.PIPE, text=True)


def test_writers_at_once_neither_lose_nor_double_entries(store: str, cals: Cals) -> None:
    with ec.history(store) as histories:
        histories.add("cell-7", cals[0])
        running = [start(RELEASES, store, who, 6) for who in "ab"]
        assert [p.communicate(timeout=300)[0] for p in running] == [""] * 2
        found = histories["cell-7"]
        assert [e.number for e in found.entries] == list(range(1, 14))
        names = [e.release.name for e in found.entries if e.release]
        assert sorted(names) == sorted(f"{w}-{i}" for w in "ab" for i in range(6))
        assert [e.supersedes for e in found.entries[1:]] == [None, *range(2, 13)]
        assert histories.verify() == ()


def test_processes_that_all_begin_the_store_make_it_once(store: str, cals: Cals, tmp_path: Path) -> None:
    file = cals[0].save(tmp_path / "cal.json")
    running = [start(FIRST, store, file, who) for who in "ab"]
    said = sorted(p.communicate(timeout=300)[0].strip() for p in running)
    assert said == ["1", "already"]
    with ec.history(store, create=False) as histories:
        assert len(histories["cell-7"].entries) == 1
        assert histories.verify() == ()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_release_that_is_killed_at_any_step_is_whole_or_not_there(store: str, cals: Cals) -> None:
    """With its certificate; killed after every statement in turn, and before the end of the transaction."""
    with ec.history(store) as histories:
        histories.add("cell-7", cals[0])
        histories.release("cell-7", name="before", reason="begin", who="Meier")
    *killed, whole = start(KILLED, store).communicate(timeout=300)[0].splitlines()
    assert whole == "0 half 2 True 0"
    assert killed == ["-9 before 1 False 0"] * len(killed)
    assert len(killed) > 8


def test_the_first_version_has_the_tables_that_the_code_knows(store: str) -> None:
    assert ScriptDirectory.from_config(_config()).get_current_head() == HEAD
    with ec.history(store) as histories:
        histories.robots()
        with histories._database.reading() as connection:
            context = MigrationContext.configure(connection)
            assert context.get_current_revision() == HEAD
            assert compare_metadata(context, metadata) == []


def test_an_older_database_is_brought_forward_with_its_rows(
    store: str, cals: Cals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a step of this test, which changes a table in the way that SQLite needs, and protects it again."""
    with ec.history(store) as histories:
        histories.add("cell-7", cals[0], who="Meier")
        before = histories["cell-7"].mark
    folder = tmp_path / "steps"
    folder.mkdir()
    (folder / "v0002.py").write_text(
        "import sqlalchemy as sa\n"
        "from alembic import op\n"
        "from elastocal.store.rows import protection\n"
        "revision, down_revision = '0002', '0001'\n"
        "def upgrade():\n"
        "    with op.batch_alter_table('entry', recreate='auto') as batch:\n"
        "        batch.add_column(sa.Column('site', sa.String(20)))\n"
        "        batch.alter_column('kind', type_=sa.String(30))\n"
        "    if op.get_bind().dialect.name == 'sqlite':\n"
        "        for statement in protection('sqlite', 'entry'):\n"
        "            op.execute(statement)\n"
    )
    monkeypatch.setattr("elastocal.store.rows.HEAD", "0002")
    monkeypatch.setattr(database, "_steps", lambda: _config(str(folder)))
    with ec.history(store) as histories:
        assert histories["cell-7"].mark == before
        assert histories.verify() == ()
        histories.release("cell-7", name="n", reason="r", who="w")
        with histories._database.reading() as connection:
            assert "site" in [c["name"] for c in sa.inspect(connection).get_columns("entry")]
            assert MigrationContext.configure(connection).get_current_revision() == "0002"
        with pytest.raises(sa.exc.DBAPIError, match="rows are only added"), histories._database.writing() as connection:
            connection.execute(sa.text("UPDATE entry SET site = 'x'"))
    monkeypatch.undo()
    with refused("newer", "0002"):
        ec.history(store).robots()


def test_a_step_that_fails_leaves_the_database_as_it_was(
    store: str, cals: Cals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ec.history(store) as histories:
        histories.add("cell-7", cals[0])
    (tmp_path / "v0002.py").write_text(
        "import sqlalchemy as sa\n"
        "from alembic import op\n"
        "revision, down_revision = '0002', '0001'\n"
        "def upgrade():\n"
        "    op.create_table('half', sa.Column('id', sa.Integer))\n"
        "    raise RuntimeError('stopped')\n"
    )
    with monkeypatch.context() as patched:
        patched.setattr("elastocal.store.rows.HEAD", "0002")
        patched.setattr(database, "_steps", lambda: _config(str(tmp_path)))
        with pytest.raises(RuntimeError, match="stopped"):
            ec.history(store).robots()
    with ec.history(store) as histories, histories._database.reading() as connection:
        assert not sa.inspect(connection).has_table("half")
        assert MigrationContext.configure(connection).get_current_revision() == HEAD


def _config(*more: str) -> Config:
    config = Config()
    config.set_main_option("script_location", "elastocal.store:migrations")
    own = Path(database.__file__).parent / "migrations" / "versions"
    config.set_main_option("path_separator", "os")
    config.set_main_option("version_locations", os.pathsep.join([str(own), *more]))
    return config


@pytest.mark.parametrize(
    ("word", "said"),
    [("mysql://a/b", ("store", "mysql")), ("sqlite://", ("store",)), ("postgresql://u:secret@h:port/x", ("store",))],
)
def test_what_is_no_store_is_refused(word: str, said: tuple[Any, ...]) -> None:
    with refused(*said) as error:
        ec.history(word).robots()
    assert "secret" not in str(error.value)


def test_a_file_that_is_no_database_and_a_missing_one_are_named(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("no database at all, but long enough to be read as a header of one" * 9)
    with refused("no-store", file="x.db") as error:
        ec.history(tmp_path / "x.db").robots()
    assert error.value.code == "no-store"
    with refused("no-store", file="y.db", parameter="store"):
        ec.history(tmp_path / "y.db", create=False).robots()
    assert not (tmp_path / "y.db").exists()


def test_a_password_is_not_shown() -> None:
    with pytest.raises(InputError) as error:
        ec.history("postgresql://me:verysecret@127.0.0.1:1/none").robots()
    assert "verysecret" not in str(error.value)
    assert "127.0.0.1" in str(error.value)
