"""The database behind a history: a SQLite file by its path, or PostgreSQL by its URL; brought to the newest version."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from elastocal.errors import ExtraMissingError, InputError

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import URL, Connection, Engine

VARIABLE = "ELASTOCAL_STORE"
USUAL = "history.db"
WAIT = 60
"""Seconds that a writer waits for another one."""
_LOCK = 7021966
"""Number of the lock under which PostgreSQL is brought to the newest version."""


class Database:
    """One per process and store; ``reading`` and ``writing`` are transactions, whole or not at all."""

    def __init__(self, store: str | PathLike[str] | None = None, *, create: bool = True) -> None:
        self.url = url_of(store)
        self._create = create
        self._engine: Engine | None = None
        self._opening = Lock()

    @property
    def label(self) -> str:
        """As people may see it: without a password."""
        return str(self.url.database) if self.is_file else self.url.render_as_string(hide_password=True)

    @property
    def is_file(self) -> bool:
        return self.url.get_backend_name() == "sqlite"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self._guarded() as engine, engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Others wait: on SQLite for the file; on PostgreSQL for the robot whose row is locked."""
        with (
            self._guarded() as engine,
            engine.connect().execution_options(writing=True) as connection,
            connection.begin(),
        ):
            yield connection

    def close(self) -> None:
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None

    @contextmanager
    def _guarded(self) -> Iterator[Engine]:
        from sqlalchemy.exc import DBAPIError, OperationalError

        try:
            with self._opening:
                engine = self._engine = self._engine or self._opened()
            yield engine
        except OperationalError as error:
            message = " ".join(str(error.orig).split())
            raise InputError(f"{self.label}: {message}; check the name, the server and its permissions",
                             code="no-store", file=self.label) from None  # fmt: skip
        except DBAPIError as error:
            if "file is not a database" not in str(error.orig):
                raise
            raise InputError(f"{self.label}: is no database; name another file", code="no-store",
                             file=self.label) from None  # fmt: skip

    def _opened(self) -> Engine:
        if self.is_file and not os.path.isfile(str(self.url.database)):
            if not self._create:
                raise InputError(
                    f"{self.label}: there is no history; import a cell, or name another here or by {VARIABLE}",
                    code="no-store", file=self.label, parameter="store",
                )  # fmt: skip
            if not Path(str(self.url.database)).absolute().parent.is_dir():
                raise InputError(f"{self.label}: its folder does not exist; make it first", code="no-store",
                                 file=self.label)  # fmt: skip
        engine = _engine(self.url)
        try:
            bring_forward(engine, self.label)
        except BaseException:
            engine.dispose()
            raise
        return engine


def url_of(store: str | PathLike[str] | None) -> URL:
    """Of a path, a URL, or what the environment says, else ``history.db`` in the working folder."""
    try:
        from sqlalchemy import URL, make_url
        from sqlalchemy.exc import ArgumentError
    except ImportError:
        raise ExtraMissingError.needed("the history of robots needs a database library", "fleet") from None
    word = str(store) if store is not None else os.environ.get(VARIABLE, "") or USUAL
    if "://" not in word:
        return URL.create("sqlite", database=word)
    try:
        url = make_url(word)
    except (ArgumentError, ValueError):
        raise InputError("the store is no valid URL; write postgresql://user@host/database", code="store") from None
    backend = url.get_backend_name()
    if backend not in ("sqlite", "postgresql"):
        raise InputError(f"{backend}: histories are kept by SQLite (a path) or PostgreSQL (postgresql://...)",
                         code="store", value=backend, allowed=("sqlite", "postgresql"))  # fmt: skip
    if backend == "sqlite" and not url.database:
        raise InputError("a history in memory is lost at the end; name a file", code="store")
    return url.set(drivername="postgresql+psycopg" if backend == "postgresql" else "sqlite")


def _engine(url: URL) -> Engine:
    from sqlalchemy import create_engine, event

    if url.get_backend_name() == "postgresql":
        return create_engine(url, pool_pre_ping=True)
    engine = create_engine(url, connect_args={"timeout": WAIT})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin where the next function says
        for pragma in ("journal_mode=WAL", "foreign_keys=ON", "recursive_triggers=ON", "synchronous=FULL"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get("writing", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


def bring_forward(engine: Engine, label: str) -> None:
    """Run the steps that this database has not seen, all of them or none."""
    from elastocal.store.rows import HEAD

    with engine.connect() as connection:
        if _version(connection) == HEAD:
            return
    postgresql = engine.dialect.name == "postgresql"
    connection = engine.connect().execution_options(writing=True)
    if not postgresql:  # before a transaction: a table that is made anew is dropped, with rows that others point to
        raw: Any = connection.connection.driver_connection
        raw.execute("PRAGMA foreign_keys=OFF")
    with connection, connection.begin():
        if postgresql:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
        version = _version(connection)  # another process may have done it meanwhile
        if version is not None and version > HEAD:
            raise InputError(f"{label}: its tables are of version {version}, this Elastocal knows {HEAD}; update it",
                             code="newer", value=version, file=label)  # fmt: skip
        if version != HEAD:
            _run_steps(connection)
    engine.dispose()  # the next connection is an ordinary one


def _version(connection: Connection) -> str | None:
    from sqlalchemy import inspect, text

    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _run_steps(connection: Connection) -> None:
    from alembic import command

    config = _steps()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _steps() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "elastocal.store:migrations")
    return config
