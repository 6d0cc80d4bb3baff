"""What folders and files give to a history: a calibration with what it rests on, readings, what a cell states."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from elastocal.calibration.calibration import Calibration
from elastocal.calibration.campaign import Campaign
from elastocal.calibration.readings import readings_for
from elastocal.calibration.store import FORMAT, from_document
from elastocal.errors import InputError
from elastocal.files.cell import CellFolder, Stated, is_cell, read_cell
from elastocal.files.located import read_json
from elastocal.files.opened import SHIPPED, read_bytes, sha256_of
from elastocal.files.run_record import RunRecord, read_record


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
