"""Histories of robots in one store: what was calibrated, checked and released, added to and never changed.

with ec.history("history.db") as robots:
    robots.add("cell-7", cal, who="M. Meier", reason="yearly")
    robots.release("cell-7", name="2026-11", reason="after service", who="M. Meier", due="2027-11-30")
    print(robots["cell-7"], robots["cell-7"].alarms)
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from elastocal import __version__
from elastocal.calibration.store import from_document, to_document, validation_of
from elastocal.errors import InputError, UnknownNameError
from elastocal.findings import Finding, warning
from elastocal.store import records
from elastocal.store.database import Database
from elastocal.store.drift import RUN_LENGTH
from elastocal.store.entry import Entry, document, sha256
from elastocal.store.robot_history import RobotHistory, due
from elastocal.store.typed import moment, text

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

    from elastocal.calibration.calibration import Calibration
    from elastocal.calibration.campaign import Campaign
    from elastocal.calibration.comparison import Comparison
    from elastocal.files.certificate import Stated
    from elastocal.report.blocks import Report

Contents = Mapping[str, bytes]
When = str | date | datetime | None
KEPT = 32
"""Calibrations that stay in memory, the last read."""
ENTRIES = 3000
"""Entries that stay in memory, those of the robots last read: they never change, so only later ones are read again."""
NO_TIME = "No time was stated: it is that of the recording."


def history(
    store: str | PathLike[str] | None = None, *, create: bool = True, run_length: float = RUN_LENGTH
) -> History:
    """Histories of robots: a SQLite file by its path, or PostgreSQL by its URL (extra ``fleet``).

    Without ``store`` it is what ELASTOCAL_STORE names, else ``history.db`` in the working folder.  ``create`` makes a
    file that does not exist with the first entry; ``run_length`` is the number of records of a robot between two false
    alarms of drift.
    """
    return History(Database(store, create=create), run_length)


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
        return (*self.alarms, *(() if self.released is None else due(self.released, today)))


class History:
    """A store of histories; ``history`` opens it."""

    def __init__(self, database: Database, run_length: float = RUN_LENGTH) -> None:
        self._database = database
        self._read: dict[str, Calibration] = {}
        self._known: dict[str, RobotHistory] = {}
        self.run_length = run_length

    @property
    def label(self) -> str:
        """Where it is, without a password."""
        return self._database.label

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._database.close()

    # ------------------------------------------------------------------ reading

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
        from elastocal.store.robots_page import robots_page

        return robots_page(self.robots(), today or date.today(), self.label)

    def __getitem__(self, robot: str) -> RobotHistory:
        with self._database.reading() as connection:
            return self._of(connection, robot)

    def calibration(self, robot: str, number: int | None = None) -> Calibration:
        """Calibration ``number`` of a robot, or the released one."""
        entry = self._calibrated(robot, number)
        assert entry.calibration is not None
        mark = entry.calibration.file
        if mark not in self._read:  # what a mark stands for never changes
            made = from_document(json.loads(self.content(mark)), f"{robot} {entry.number}")
            self._read = {**dict(list(self._read.items())[1 - KEPT :]), mark: made}
        return self._read[mark]

    def calibration_file(self, robot: str, number: int | None = None) -> bytes:
        """The same as the file that was recorded, byte by byte."""
        entry = self._calibrated(robot, number)
        assert entry.calibration is not None
        return self.content(entry.calibration.file)

    def certificate(self, robot: str, number: int | None = None, suffix: str = ".html") -> bytes:
        """The certificate that was issued with release ``number``, or with the one that holds: .html, .json, .pdf."""
        found = self[robot]
        release = found.released if number is None else found.entry(number)
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
        from elastocal.calibration.compare import compare

        every = (first, *others)
        return compare(*(self.calibration(robot, n) for n in every), names=[f"{robot} {n}" for n in every])

    def verify(self) -> tuple[Finding, ...]:
        """Everything that was changed behind the back of the store: documents, their order, files."""
        from elastocal.store.rows import damages

        with self._database.reading() as connection:
            return tuple(warning("damaged", said) for said in damages(connection))

    # ------------------------------------------------------------------ adding

    def add(
        self,
        robot: str,
        calibration: Calibration,
        *,
        who: str | None = None,
        reason: str | None = None,
        time: When = None,
        temperature: float | None = None,
        supersedes: int | None = None,
        poses: object = None,
        file: bytes | None = None,
        inputs: Contents | None = None,
        notes: tuple[str, ...] = (),
        versions: Mapping[str, str] | None = None,
    ) -> Entry:
        """Record a calibration of a robot; the first one begins its history.

        ``time`` is when it was measured (now, where not stated), ``temperature`` in degrees Celsius (else that of the
        readings).  ``supersedes`` is the number of one that was wrong.  ``poses`` (N, n), joint values in rad and m,
        are where the tool is watched: of the first calibration only, else spread over the joint ranges.  ``file`` are
        the bytes of its file where there is one, ``inputs`` those of files that it rests on, by name.
        """
        content = file or (json.dumps(to_document(calibration), indent=1, allow_nan=False) + "\n").encode()
        known = records.Recorded(calibration, sha256(content), temperature)
        head = self._head(who, reason, time, notes if time else (*notes, NO_TIME), versions)
        files = {**(inputs or {}), "calibration.json": content}

        def make(found: RobotHistory) -> Entry:
            same = next((e for e in found.entries if e.calibration and e.calibration.file == known.file), None)
            if same is not None:
                raise InputError(f"{robot}: this calibration is there already, as number {same.number}",
                                 code="already", value=same.number)  # fmt: skip
            return records.calibration_entry(found, known, supersedes, **head)

        return self._append(robot, make, files, lambda: records.first_of(robot, calibration, poses))

    def check(
        self,
        robot: str,
        campaign: Campaign,
        *,
        number: int | None = None,
        refit: bool = False,
        who: str | None = None,
        reason: str | None = None,
        time: When = None,
        temperature: float | None = None,
        inputs: Contents | None = None,
    ) -> Entry:
        """Record readings at check poses against calibration ``number``, or the released one, or the last.

        ``refit``: the instrument was moved since; fit where it stands to these readings.
        """
        before = self[robot]
        of = records.checked_number(before, number)
        checked = records.checked(self.calibration(robot, of), campaign, of, refit=refit)
        head = self._head(who, reason, time, () if time else (NO_TIME,), None)
        warm = records.known_temperature(campaign, temperature)
        return self._append(robot, lambda found: records.check_entry(found, checked, warm, **head), inputs or {})

    def release(
        self,
        robot: str,
        number: int | None = None,
        *,
        name: str,
        reason: str,
        who: str,
        due: str | date | None = None,
        baseline: bool = False,
        time: When = None,
        stated: Stated | None = None,
        validation: Campaign | None = None,
        refit: bool = False,
        seen: int | None = None,
    ) -> Entry:
        """Say that calibration ``number``, or the last one, is the one to use; the release before it is superseded.

        ``due`` is the day when it must be renewed.  ``baseline`` has charts of drift begin anew with it.  With
        ``stated`` a certificate is issued and kept with the release, decided on the readings of ``validation``, or on
        those that the calibration was validated with when it was made.
        ``seen`` is the last number that was looked at: what was recorded since is not released over.
        """
        head = self._head(text(who, "who", needed=True), text(reason, "reason", needed=True), time, (), None)
        named = text(name, "name", needed=True)
        assert named is not None
        files: dict[str, bytes] = {}
        if stated is not None:
            of = records.release_entry(self[robot], number, named, due, baseline=baseline, **head).release
            assert of is not None
            number = of.of
            known = self[robot].entry(number).inputs
            cal = self.calibration(robot, number)
            made_with = validation_of(json.loads(self.calibration_file(robot, number)), f"{robot} {number}")
            read = made_with if validation is None else cal.validate(validation, refit=refit)
            files = records.issued(cal, stated, read, files=known, head=head, name=named)

        def make(found: RobotHistory) -> Entry:
            if seen is not None and len(found.entries) != seen:
                raise InputError(f"{robot}: the history has changed since number {seen} was shown; look at it again",
                                 code="changed", value=seen)  # fmt: skip
            return records.release_entry(found, number, named, due, baseline=baseline, **head)

        return self._append(robot, make, files)

    def withdraw(self, robot: str, number: int, *, reason: str, who: str) -> Entry:
        """Say that an entry is wrong, without another in its place; it stays readable and counts no more."""
        head = self._head(text(who, "who", needed=True), text(reason, "reason", needed=True), None, (), None)
        return self._append(robot, lambda found: records.withdrawal_entry(found, number, **head), {})

    def import_cell(self, folder: str | PathLike[str], robot: str | None = None, **stated: Any) -> Entry:
        """Record the calibration of a cell with the files that it rests on; ``stated`` are keywords of ``add``."""
        from elastocal.store.cell import cell_calibration

        found = cell_calibration(folder)
        given = {k: v for k, v in stated.items() if v is not None}
        return self.add(robot or found.robot, found.calibration, **{**found.stated, **given})

    # ------------------------------------------------------------------ inside

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

    def _calibrated(self, robot: str, number: int | None) -> Entry:
        """The entry of a calibration, without the rest of the history."""
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
        return entry

    def _append(
        self,
        robot: str,
        make: Callable[[RobotHistory], Entry],
        files: Contents,
        first: Callable[[], tuple[str, str]] | None = None,
    ) -> Entry:
        """One more entry with its files, in one transaction; of a robot one writer at a time."""
        from elastocal.store import rows

        text(robot, "robot", needed=True)
        packed = {name: (sha256(b), len(b), zlib.compress(b, 6)) for name, b in files.items()}
        with self._database.writing() as connection:
            if first is not None and rows.robot_row(connection, robot) is None:
                rows.insert_robot(connection, robot, *first())
            rows.lock(connection, robot)
            before = self._of(connection, robot)
            made = replace(make(before), inputs={n: mark for n, (mark, _, _) in packed.items()})
            after = replace(before, entries=(*before.entries, made))
            made = replace(made, findings=after.alarms)
            rows.insert_entry(connection, robot, made, document(made), packed)
            return made

    @staticmethod
    def _head(
        who: str | None, reason: str | None, time: When, notes: tuple[str, ...], versions: Mapping[str, str] | None
    ) -> dict[str, Any]:
        """What every kind of entry has."""
        now = datetime.now(UTC)
        when = moment(time, now)
        return {
            "who": text(who, "who"), "reason": text(reason, "reason"), "time": when, "recorded": moment(now, now),
            "notes": notes, "versions": dict(versions or {"elastocal": __version__}),
        }  # fmt: skip
