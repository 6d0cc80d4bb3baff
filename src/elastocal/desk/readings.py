"""Readings of a cell: how a table is understood, its points beside the robot, and the campaign file of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from elastocal.desk.files import data_of, within
from elastocal.errors import InputError
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.app.commands.columns import ColumnsResult
    from elastocal.files.campaign.recognise import RecognisedColumn
    from elastocal.files.cell import CellFolder
    from elastocal.report.blocks import Scene


@dataclass(frozen=True)
class Table:
    """A table as it is understood: its columns, first rows, notes and points; ``problem`` is why it cannot be used.

    ``missing`` are the joint values that no column is known for.
    """

    file: str
    columns: tuple[RecognisedColumn, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    count: int = 0
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str = ""
    scene: Scene | None = None


def read_table(cell: CellFolder, campaign: Path) -> Table:
    """What a campaign file and its table say, before anything is fitted, or why they cannot be used."""
    from elastocal.calibration.figures import readings_scene
    from elastocal.calibration.readings import campaign_of
    from elastocal.files.campaign.observed import read_observed
    from elastocal.files.campaign.recognise import recognise
    from elastocal.files.robot.read import read_robot

    data = data_of(campaign)
    table = campaign.parent / _first(data.get("table"))
    shown = Table(table.name)
    try:
        robot = read_robot(within(cell, cell.place("robot")))
        recognised = recognise(table, robot, units=data.get("units") or {})
        shown = Table(table.name, recognised.columns, recognised.first, recognised.rows, tuple(recognised.missing))
        read = read_observed(campaign)
        return replace(shown, notes=tuple(n.text for n in read.notes), scene=readings_scene(*campaign_of(read)))
    except InputError as error:
        message = str(error).replace(f"{campaign.parent}/", "").replace(f"{cell.root}/", "")
        return replace(shown, problem=message)


def _first(word: Any) -> str:
    """The first table that a campaign file names."""
    word = word[0] if isinstance(word, list) and word else word
    return str(word.get("file", "") if isinstance(word, dict) else word or "")


def columns(
    robot: str | Path, table: str | Path, pairs: Sequence[str] = (), units: str | None = None, accept: bool = False,
    header_line: int | None = None, sheet: str | None = None,
) -> ColumnsResult:  # fmt: skip
    """What the columns of a table are taken for; what is ``pairs``, ``NAME=TITLE`` each, stands in its ``files``."""
    from elastocal.app.commands import columns as naming

    return naming.columns(str(robot), Path(table), list(pairs), accept, units, header_line, sheet)


def campaign_text(name: str, robot: Path, folder: Path, words: Mapping[str, Any]) -> str:
    """A campaign file in ``folder``."""
    from elastocal.files.campaign.file import FORMAT
    from elastocal.files.opened import seen_from

    head = {"format": FORMAT, "name": name, "robot": seen_from(robot, folder)}
    return str(yaml.safe_dump({**head, **words}, sort_keys=False, allow_unicode=True))
