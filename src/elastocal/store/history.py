"""Histories of robots in one store: what was calibrated, checked and released, added to and never changed.

with ec.history("history.db") as robots:
    robots.add("cell-7", cal, who="M. Meier", reason="yearly")
    robots.release("cell-7", name="2026-11", reason="after service", who="M. Meier", due="2027-11-30")
    print(robots["cell-7"], robots["cell-7"].alarms)

Folders and files give to it a calibration with what it rests on, readings, and what a cell states.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from os import PathLike
from pathlib import Path
from typing import Any

from elastocal import __version__
from elastocal.calibration.calibration import Calibration
from elastocal.calibration.campaign import Campaign
from elastocal.calibration.readings import readings_for
from elastocal.calibration.store import FORMAT, document_text, from_document, validation_of
from elastocal.errors import InputError
from elastocal.files.cell import CellFolder, Stated, is_cell, read_cell
from elastocal.files.located import read_json
from elastocal.files.opened import SHIPPED, read_bytes, sha256_of
from elastocal.files.run_record import RunRecord, read_record
from elastocal.store import records
from elastocal.store.database import Database
from elastocal.store.drift import RUN_LENGTH
from elastocal.store.entry import Entry, document, sha256
from elastocal.store.reader import Reader
from elastocal.store.records import moment, text
from elastocal.store.robot_history import RobotHistory

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
        self, robot: str, calibration: Calibration, *, who: str | None = None, reason: str | None = None,
        time: When = None, temperature: float | None = None, supersedes: int | None = None, poses: object = None,
        file: bytes | None = None, inputs: Contents | None = None, notes: tuple[str, ...] = (),
        versions: Mapping[str, str] | None = None,
    ) -> Entry:  # fmt: skip
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
        self, robot: str, campaign: Campaign | Place, *, number: int | None = None, refit: bool = False,
        who: str | None = None, reason: str | None = None, time: When = None, temperature: float | None = None,
        inputs: Contents | None = None, keys: Mapping[str, Any] | None = None,
    ) -> Entry:  # fmt: skip
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
        self, robot: str, number: int | None = None, *, name: str, reason: str, who: str, due: str | date | None = None,
        baseline: bool = False, time: When = None, stated: Stated | Place | None = None,
        validation: Campaign | Place | None = None, refit: bool = False, seen: int | None = None,
        keys: Mapping[str, Any] | None = None,
    ) -> Entry:  # fmt: skip
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
        self, robot: str, make: Callable[[RobotHistory], Entry], files: Contents,
        first: Callable[[], tuple[str, str]] | None = None,
    ) -> Entry:  # fmt: skip
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


def cell_calibration(folder: str | PathLike[str]) -> tuple[str, Calibration, dict[str, Any]]:
    """Robot, calibration and keywords of ``History.add``, of the folder of a cell.

    Or of a calibration file alone, which names no robot of its own.
    """
    path = Path(folder)
    if not path.is_dir() and not is_cell(path):
        calibration, content = _calibration(path)
        return "", calibration, {"file": content}
    cell = read_cell(path)
    place = cell.path("calibration")
    if not place.exists():
        raise InputError(f"{path}: has no {cell.place('calibration').as_posix()}; run 'elastocal calibrate' first",
                         code="no-calibration", file=str(path))  # fmt: skip
    calibration, content = _calibration(place)
    record = _record(cell)
    stated, notes = cell.certificate, []
    time: Any = stated.date
    if time is None and record is not None:
        time = record.time
        notes.append("No date of measurement is stated under 'certificate' in cell.yaml: the time is that of the fit.")
    files = {} if record is None else _inputs(cell, record, notes)
    if record is None:
        notes.append("The cell has no record of the run that made its calibration: the files it rests on are unknown.")
    return cell.name, calibration, {
        "file": content, "who": stated.operator, "temperature": stated.temperature_C, "time": time,
        "inputs": files, "notes": tuple(notes), "versions": None if record is None else record.versions,
    }  # fmt: skip


def readings_of(
    given: Campaign | str | PathLike[str], calibration: Calibration, keys: Mapping[str, Any] | None = None
) -> tuple[Campaign, tuple[str, ...], dict[str, bytes]]:
    """Readings as they are, of a campaign file, or of a table that is read like that of ``calibration``.

    ``keys`` of a campaign file are for a table, which has none.  With what is to be said of them, and the file that
    they are from.
    """
    if isinstance(given, Campaign):
        return given, (), {}
    path = Path(given)
    files = {path.name: read_bytes(path)}
    readings, _ = readings_for(calibration, path, keys)
    return readings, tuple(n.text for n in readings.notes), files


def stated_by(given: Stated | str | PathLike[str]) -> Stated:
    """What belongs on a certificate, or what the folder of a cell says of it."""
    return given if isinstance(given, Stated) else read_cell(Path(given)).certificate


def _calibration(path: Path) -> tuple[Calibration, bytes]:
    data = read_json(path, FORMAT, "a calibration file").data
    content = read_bytes(path)
    try:
        return from_document(json.loads(content), str(path)), content
    except (KeyError, TypeError, ValueError) as error:
        message = f"{path}: the calibration of {data.get('words')} is damaged ({error!r}); make it again"
        raise InputError(message, code="damaged", file=str(path)) from None


def _record(cell: CellFolder) -> RunRecord | None:
    """Of the run that wrote the calibration as it is now."""
    place = cell.place("calibration").as_posix()
    mark = sha256_of(cell.path("calibration"))
    folder = cell.path("records")
    for file in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        record = read_record(file)
        if record.outputs.get(place) == mark:
            return record
    return None


def _inputs(cell: CellFolder, record: RunRecord, notes: list[str]) -> dict[str, bytes]:
    """Files of the cell that are still as they were read; what is not is named."""
    out: dict[str, bytes] = {}
    for name, mark in record.inputs.items():
        if name.startswith(SHIPPED):
            continue
        file = (cell.root / name).resolve()
        if not file.is_relative_to(cell.root):
            notes.append(f"{name} lies outside of the cell and is not kept; its SHA-256 was {mark}.")
        elif not file.is_file() or sha256_of(file) != mark:
            notes.append(f"{name} has changed since the calibration and is not kept; its SHA-256 was {mark}.")
        else:
            out[name] = read_bytes(file)
    return out
