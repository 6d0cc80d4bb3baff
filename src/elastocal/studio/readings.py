"""Readings: a table is dropped, its columns and units are shown for confirmation, then it is the cell's campaign.

A table waits in ``.studio/inbox`` with a campaign file of its own until it is confirmed, so that what is shown is
what will be calibrated.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

import elastocal as ec
from elastocal import desk
from elastocal.desk.files import data_of
from elastocal.errors import InputError, MissingError
from elastocal.report.elements import as_fragment
from elastocal.studio.page import page, put, received
from elastocal.studio.work import Cell, Dropped, Text, Texts, shown_again

router = APIRouter()
INBOX = Path(".studio") / "inbox"
KINDS = (".csv", ".txt", ".tsv", ".xlsx", ".xlsm", ".dat")
OWN = ("load", "markers", "errors", "statics", "model", "tool", "tracker_frame", "limits", "without", "priors")
"""Keys of a planned campaign that hold for its readings, too."""
LENGTHS, ANGLES = ("mm", "m", "um", "in"), ("deg", "rad")
"""Units that titles may leave open."""


@router.get("/cell/{name}/readings")
def readings(request: Request, cell: Cell) -> Response:
    return _show(request, cell)


def _show(request: Request, cell: Cell, problem: InputError | None = None) -> Response:
    waiting = desk.readings.read_table(cell, cell.root / INBOX / "campaign.yaml") if _waiting(cell) else None
    current = desk.readings.read_table(cell, cell.path("campaign")) if cell.path("campaign").exists() else None
    shown = waiting or current
    return page(
        request, "readings", "readings", cell, problem, waiting=waiting, current=current,
        drawn=as_fragment((shown.scene,)) if shown and shown.scene else None, choices=_choices(cell),
        lengths=LENGTHS, angles=ANGLES, planned=cell.path("planned").exists(), kinds=",".join(KINDS),
    )  # fmt: skip


def _waiting(cell: Cell) -> str | None:
    folder = cell.root / INBOX
    names = sorted(p.name for p in folder.iterdir() if p.suffix.lower() in KINDS) if folder.is_dir() else []
    return names[0] if names and (folder / "campaign.yaml").is_file() else None


def _choices(cell: Cell) -> dict[str, str]:
    """What was chosen for the table that waits."""
    file = cell.root / INBOX / "campaign.yaml"
    data = data_of(file)
    if not data:
        return {}
    units = data.get("units") or {}
    return {
        "length": str(units.get("length", "")), "angle": str(units.get("angle", "")),
        "noise": str(data.get("noise_um", "")), "euler": str(data.get("euler", "")),
        "ignore": "yes" if data.get("limits") == "ignore" else "",
    }  # fmt: skip


@router.post("/cell/{name}/readings")
@shown_again(_show)
def look(
    request: Request, cell: Cell, file: Dropped = None, length: Text = "", angle: Text = "", noise: Text = "",
    euler: Text = "", planned: Text = "", ignore: Text = "", title: Texts = None, means: Texts = None,
) -> Response:  # fmt: skip
    """Take a table in, or look again with other choices; nothing of the campaign changes yet."""
    given, waiting = file if file is not None and file.filename else None, _waiting(cell)
    if given is None and waiting is None:
        raise MissingError("choose a table first: CSV, Excel, or the export of a tracker's software")
    contents: dict[Path, str | bytes] = {}
    name = waiting or ""
    if given is not None:
        name, content = received(given, KINDS, "a table of readings")
        contents[INBOX / name] = content
    words = _words(cell, name, length, angle, noise, euler, bool(planned), bool(ignore))
    if given is not None:
        _empty(cell)
    put(cell, {**contents, INBOX / "campaign.yaml": _text(cell, words, INBOX)})
    notes = [f"{m.strip()}={t}" for t, m in zip(title or (), means or (), strict=False) if m.strip()]
    if notes:  # said once, and remembered in the cell for tables of the same titles
        units = ",".join(u for u in (length, angle) if u) or None
        put(cell, desk.columns(cell.path("robot"), cell.root / INBOX / name, notes, units).files)
    return RedirectResponse(f"/cell/{cell.root.name}/readings", 303)


def _words(
    cell: Cell, table: str, length: str, angle: str, noise: str, euler: str, planned: bool, ignore: bool
) -> dict[str, Any]:
    """The keys of a campaign file."""
    units = {k: v for k, v, known in (("length", length, LENGTHS), ("angle", angle, ANGLES)) if v in known}
    words: dict[str, Any] = {"table": table, "missing": "skip"}
    if planned and cell.path("planned").exists():
        words |= {k: v for k, v in data_of(cell.path("planned")).items() if k in OWN}
    if units:
        words["units"] = units
    if noise.strip():
        words["noise_um"] = desk.files.number(noise, "standard deviation of a coordinate", 0, 1e9, "um")
        words.pop("errors", None)
    if euler.strip():
        words["euler"] = euler.strip()
    if ignore:
        words["limits"] = "ignore"
    return words


def _text(cell: Cell, words: dict[str, Any], folder: Path) -> str:
    return desk.readings.campaign_text(cell.name, cell.path("robot"), cell.root / folder, words)


def _empty(cell: Cell) -> None:
    folder = cell.root / INBOX
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        path.unlink()


@router.post("/cell/{name}/readings/discard")
def discard(cell: Cell) -> Response:
    _empty(cell)
    return RedirectResponse(f"/cell/{cell.root.name}/readings", 303)


@router.post("/cell/{name}/readings/confirm")
@shown_again(_show)
def confirm(request: Request, cell: Cell) -> Response:
    """The table that waits becomes the campaign of the cell."""
    waiting = _waiting(cell)
    if waiting is None:
        raise MissingError("no table waits for confirmation; drop one first")
    place = cell.place("campaign")
    words = data_of(cell.root / INBOX / "campaign.yaml")
    ec.read_campaign(cell.root / INBOX / "campaign.yaml")
    for key in ("format", "name", "robot"):
        words.pop(key)
    content = (cell.root / INBOX / waiting).read_bytes()
    put(cell, {place.parent / waiting: content, place: _text(cell, words, place.parent)})
    _empty(cell)
    return RedirectResponse(f"/cell/{cell.root.name}/readings", 303)
