"""What a store of histories tells: robots in short, one robot in time, calibrations, certificates, files."""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from elastocal.calibration.store import from_document
from elastocal.errors import InputError, UnknownNameError
from elastocal.results import Finding, warning
from elastocal.store import records
from elastocal.store.database import Database
from elastocal.store.drift import RUN_LENGTH
from elastocal.store.entry import Entry
from elastocal.store.robot_history import RobotHistory, due
from elastocal.values import dataclass

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

    from elastocal.calibration.calibration import Calibration
    from elastocal.calibration.comparison import Comparison
    from elastocal.report.blocks import Report

KEPT = 32
"""Calibrations that stay in memory, the last read."""
ENTRIES = 3000
"""Entries that stay in memory, those of the robots last read: they never change, so only later ones are read again."""


@dataclass(frozen=True)
class RobotLine:
    """A robot in short: its last calibration and check, the release that holds, and what was last said of it."""

    robot: str
    entries: int
    calibrated: Entry | None
    checked: Entry | None
    released: Entry | None
    alarms: tuple[Finding, ...]

    def findings(self, today: date) -> tuple[Finding, ...]:
        return (*self.alarms, *due(None if self.released is None else self.released.release, today))


class Reader:
    """A store of histories, to be read; ``ec.history`` opens it."""

    def __init__(self, database: Database, run_length: float = RUN_LENGTH) -> None:
        self._database = database
        self._read: dict[str, Calibration] = {}
        self._known: dict[str, RobotHistory] = {}
        self.run_length = run_length

    @property
    def label(self) -> str:
        """Where it is, without a password."""
        return self._database.label

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of robots in {self.label}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._database.close()

    def robots(self) -> tuple[RobotLine, ...]:
        """Every robot in short, by name."""
        from elastocal.store.rows import last_entries

        with self._database.reading() as connection:
            return tuple(
                RobotLine(name, count, last.get("calibration"), last.get("check"), last.get("release"), alarms)
                for name, count, last, alarms in last_entries(connection)
            )

    def page(self, today: date | None = None) -> Report:
        """Every robot in short, as a report."""
        from elastocal.store.page import robots_page

        return robots_page(self.robots(), today or date.today(), self.label)

    def __getitem__(self, robot: str) -> RobotHistory:
        with self._database.reading() as connection:
            return self._of(connection, robot)

    def calibration(self, robot: str, number: int | None = None) -> Calibration:
        """Calibration ``number`` of a robot, or the released one."""
        number, mark = self._calibrated(robot, number)
        if mark not in self._read:  # what a mark stands for never changes
            made = from_document(json.loads(self.content(mark)), f"{robot} {number}")
            self._read = {**dict(list(self._read.items())[1 - KEPT :]), mark: made}
        return self._read[mark]

    def calibration_file(self, robot: str, number: int | None = None) -> bytes:
        """The same as the file that was recorded, byte by byte."""
        return self.content(self._calibrated(robot, number)[1])

    def certificate(self, robot: str, number: int | None = None, suffix: str = ".html") -> bytes:
        """The certificate that was issued with release ``number``, or with the one that holds: .html, .json, .pdf."""
        history = self[robot]
        release = history.released if number is None else history.entry(number)
        mark = None if release is None else release.inputs.get(records.CERTIFICATE + suffix)
        if release is None or release.release is None or mark is None:
            where = "nothing is released" if release is None else f"number {release.number} has no certificate{suffix}"
            raise InputError(f"{robot}: {where}; release with a certificate first", code="no-certificate", value=number)
        return self.content(mark)

    def content(self, mark: str) -> bytes:
        """A file by its SHA-256."""
        from elastocal.store.rows import content

        with self._database.reading() as connection:
            return content(connection, mark)

    def compare(self, robot: str, first: int, *others: int) -> Comparison:
        """Calibrations by their numbers, as ``ec.compare`` does."""
        from elastocal.calibration.comparison import compare

        every = (first, *others)
        return compare(*(self.calibration(robot, n) for n in every), names=[f"{robot} {n}" for n in every])

    def verify(self) -> tuple[Finding, ...]:
        """Everything that was changed behind the back of the store: documents, their order, files."""
        from elastocal.store.rows import damages

        with self._database.reading() as connection:
            return tuple(warning("damaged", damage) for damage in damages(connection))

    def _row(self, connection: Connection, robot: str) -> Row[Any]:
        from elastocal.store.rows import robot_names, robot_row

        row = robot_row(connection, robot)
        if row is None:
            raise UnknownNameError("robot", robot, robot_names(connection))
        return row

    def _of(self, connection: Connection, robot: str) -> RobotHistory:
        from elastocal.store.rows import entries_of

        row = self._row(connection, robot)
        known = self._known.get(robot)
        entries, mark = entries_of(connection, row.id, robot, *((known.entries, known.mark) if known else ()))
        if known is None or mark is None or known.mark != mark:  # a robot without entries may have been given up
            joints, poses = json.loads(row.joints), np.array(json.loads(row.poses), dtype=np.float64)
            known = RobotHistory(robot, tuple(joints), poses, entries, mark, self.run_length)
        kept = {**{name: h for name, h in self._known.items() if name != robot}, robot: known}
        while len(kept) > 1 and sum(len(h.entries) for h in kept.values()) > ENTRIES:
            del kept[next(iter(kept))]
        self._known = kept
        return known

    def _calibrated(self, robot: str, number: int | None) -> tuple[int, str]:
        """Number and file of a calibration, without the rest of the history."""
        from elastocal.store.rows import entry_at, release_of

        with self._database.reading() as connection:
            row = self._row(connection, robot)
            release = release_of(connection, row.id, robot) if number is None else None
            if number is None and (release is None or release.release is None):
                raise InputError(f"{robot}: no calibration is released; release one, or give a number",
                                 code="not-released", parameter="number")  # fmt: skip
            entry = entry_at(connection, row.id, robot, release.release.of if release else number)  # type: ignore[union-attr, arg-type]
        if entry is None:
            raise InputError(f"{robot}: there is no number {number}; see its history", code="unknown-number",
                             value=number)  # fmt: skip
        if entry.calibration is None:
            raise InputError(f"{robot}: number {entry.number} is a {entry.kind}, no calibration; see its history",
                             code="no-calibration", value=number)  # fmt: skip
        return entry.number, entry.calibration.file
