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
from dataclasses import replace
from datetime import UTC, date, datetime
from os import PathLike
from typing import TYPE_CHECKING, Any

from elastocal import __version__
from elastocal.calibration.store import document_text, validation_of
from elastocal.errors import InputError
from elastocal.store import records
from elastocal.store.cell import cell_calibration, readings_of, stated_by
from elastocal.store.database import Database
from elastocal.store.drift import RUN_LENGTH
from elastocal.store.entry import Entry, document, sha256
from elastocal.store.reader import Reader
from elastocal.store.records import moment, text
from elastocal.store.robot_history import RobotHistory

if TYPE_CHECKING:
    from elastocal.calibration.calibration import Calibration
    from elastocal.calibration.campaign import Campaign
    from elastocal.files.cell import Stated

Contents = Mapping[str, bytes]
When = str | date | datetime | None
Place = str | PathLike[str]
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


class History(Reader):
    """A store of histories, to be read and added to; ``history`` opens it."""

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
        content = file or document_text(calibration).encode()
        mark = sha256(content)
        head = self._head(who, reason, time, notes if time else (*notes, NO_TIME), versions)
        files = {**(inputs or {}), "calibration.json": content}

        def make(history: RobotHistory) -> Entry:
            same = next((e for e in history.entries if e.calibration and e.calibration.file == mark), None)
            if same is not None:
                raise InputError(f"{robot}: this calibration is there already, as number {same.number}",
                                 code="already", value=same.number)  # fmt: skip
            return records.calibration_entry(history, calibration, mark, temperature, supersedes, **head)

        return self._append(robot, make, files, lambda: records.first_of(robot, calibration, poses))

    def check(
        self,
        robot: str,
        campaign: Campaign | Place,
        *,
        number: int | None = None,
        refit: bool = False,
        who: str | None = None,
        reason: str | None = None,
        time: When = None,
        temperature: float | None = None,
        inputs: Contents | None = None,
        keys: Mapping[str, Any] | None = None,
    ) -> Entry:
        """Record readings at check poses against calibration ``number``, or the released one, or the last.

        They are a campaign, a campaign file, or a table that is read like that of the calibration, with ``keys`` of a
        campaign file where it does not tell its units.  ``refit``: the instrument was moved since; fit where it stands
        to these readings.
        """
        of = records.checked_number(self[robot], number)
        calibration = self.calibration(robot, of)
        read, notes, files = readings_of(campaign, calibration, keys)
        checked = records.checked(calibration, read, of, refit=refit)
        head = self._head(who, reason, time, notes if time else (*notes, NO_TIME), None)
        warm = records.known_temperature(read, temperature)

        def make(history: RobotHistory) -> Entry:
            return records.new_entry(history, "check", temperature=warm, check=checked, **head)

        return self._append(robot, make, inputs or files)

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
        stated: Stated | Place | None = None,
        validation: Campaign | Place | None = None,
        refit: bool = False,
        seen: int | None = None,
        keys: Mapping[str, Any] | None = None,
    ) -> Entry:
        """Say that calibration ``number``, or the last one, is the one to use; the release before it is superseded.

        ``due`` is the day when it must be renewed.  ``baseline`` has charts of drift begin anew with it.  With
        ``stated``, or the folder of a cell that states it, a certificate is issued and kept with the release, decided
        on the readings of ``validation`` (with ``keys``, as in ``check``), or on those that the calibration was
        validated with.  ``seen`` is the last number that was looked at: what was recorded since is not released over.
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
            read = made_with if validation is None else (
                cal.validate(readings_of(validation, cal, keys)[0], refit=refit))  # fmt: skip
            files = records.issued(cal, stated_by(stated), read, files=known, head=head, name=named)

        def make(history: RobotHistory) -> Entry:
            if seen is not None and len(history.entries) != seen:
                raise InputError(f"{robot}: the history has changed since number {seen} was shown; look at it again",
                                 code="changed", value=seen)  # fmt: skip
            return records.release_entry(history, number, named, due, baseline=baseline, **head)

        return self._append(robot, make, files)

    def withdraw(self, robot: str, number: int, *, reason: str, who: str) -> Entry:
        """Say that an entry is wrong, without another in its place; it stays readable and counts no more."""
        head = self._head(text(who, "who", needed=True), text(reason, "reason", needed=True), None, (), None)
        return self._append(robot, lambda history: records.withdrawal_entry(history, number, **head), {})

    def import_cell(self, folder: str | PathLike[str], robot: str | None = None, **stated: Any) -> Entry:
        """Record the calibration of a cell with the files that it rests on; ``stated`` are keywords of ``add``."""
        name, calibration, known = cell_calibration(folder)
        given = {k: v for k, v in stated.items() if v is not None}
        return self.add(robot or name, calibration, **{**known, **given})

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
            made = replace(made, findings=(*made.findings, *after.alarms))
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
