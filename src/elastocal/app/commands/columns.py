"""What the columns of a table are taken for, and saying it once where titles do not tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from elastocal.app.cells.roles import Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.errors import FormatError
from elastocal.report.blocks import Column, Paragraphs, Report, Section, Table
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.files.campaign.recognise import Recognised


AGAIN = "Type the same command with --accept, or single ones by --is NAME=TITLE."


@dataclass(frozen=True, eq=False)
class ColumnsResult:
    """``files`` is columns.yaml where something was said that the table does not tell."""

    recognised: Recognised
    files: Mapping[Path, str] = field(default_factory=dict)


@command("daily", 4, Uses({"robot": "robot"}), report=False)
def columns(
    robot: o.Robot,
    table: Annotated[Path, o.argument("TABLE", "A CSV or Excel table of readings.")],
    told: Annotated[
        list[str] | None, o.option("NAME=TITLE", 'What a column is, such as "A1_deg=Achse 1"; repeatable.', "--is")
    ] = None,
    accept: Annotated[bool, o.flag("Take all that is proposed.", "--accept")] = False,
    units: o.ColumnUnits = None,
    header_line: Annotated[int | None, o.option("N", "The line of the titles (default: the first).", min=1)] = None,
    sheet: Annotated[str | None, o.option("NAME", "Sheet of an Excel file.")] = None,
) -> ColumnsResult:
    """What the columns of a table are taken for.

    Every title with its name, its unit and what is in doubt; a guess is only a proposal. What is said by --is,
    --accept, --units and --header-line is remembered in columns.yaml, in the cell or beside the table: tables with the
    same titles then need nothing more.

    \b
    Example:
      elastocal columns arm.urdf points.csv --units mm,deg
      elastocal columns mycell mycell/campaign/export.csv --is "A1_deg=Achse 1" --is "x_mm=X pos"
    """
    from elastocal.app.predictor import unit_words
    from elastocal.files.campaign.recognise import recognise
    from elastocal.files.robot.read import read_robot

    stated, pairs = {} if units is None else unit_words(units), _pairs(told or [])
    model = read_robot(robot)
    recognised = recognise(table, model, units=stated, told=pairs, header_line=header_line, sheet=sheet)
    if accept and recognised.proposal:
        pairs = {**recognised.proposal, **pairs}
        recognised = recognise(table, model, units=stated, told=pairs, header_line=header_line, sheet=sheet)
    said = bool(told or accept or units or header_line or sheet)
    return ColumnsResult(recognised, _remembered(table, recognised, sheet, pairs) if said and recognised.sure else {})


def _pairs(pairs: list[str]) -> dict[str, str]:
    """Names and titles of ``A1_deg=Achse 1``."""
    out: dict[str, str] = {}
    for text in pairs:
        name, equals, title = text.partition("=")
        if not equals or not name.strip() or not title.strip():
            raise FormatError(
                f'--is {text}: write a name and a title of the table, such as "A1_deg=Achse 1"', value=text
            )
        out[name.strip()] = title.strip()
    return out


def _remembered(table: Path, recognised: Recognised, sheet: str | None, pairs: Mapping[str, str]) -> dict[Path, str]:
    """columns.yaml with all that was recognised in this table, and what was told to be unused."""
    from elastocal.files.tables.remembered import columns_file, with_layout

    file = columns_file(table)
    names = {f"{c.name}_{c.unit}" if c.unit else c.name: c.title for c in recognised.columns if c.name}
    names |= {name: title for name, title in pairs.items() if title not in names.values()}
    first = all(c.by == "title" for c in recognised.columns) and recognised.header_line == 1
    opened: dict[str, Any] = {} if recognised.header_line == 1 or sheet else {"header_line": recognised.header_line}
    opened |= {"sheet": sheet} if sheet else {}
    return {} if first and not opened else {file: with_layout(file, names, opened)}


def page(result: ColumnsResult) -> Report:
    recognised = result.recognised
    shown = Table.of("columns", recognised.columns, {
        Column("title", "title"): lambda c: c.title,
        Column("name", "is"): lambda c: c.name or "not used",
        Column("unit", "unit"): lambda c: c.unit,
        Column("by", "by"): lambda c: c.by if c.name else "",
        Column("doubt", "in doubt"): lambda c: c.doubt,
        Column("guess", "perhaps"): lambda c: c.guess,
    }, *recognised.notes)  # fmt: skip
    used = sum(bool(c.name) for c in recognised.columns)
    verdict = [f"{used} of {len(recognised.columns)} columns of {recognised.file} are used, {recognised.rows} rows."]
    if recognised.missing:
        verdict.append(f"There is no column for {', '.join(recognised.missing)}.")
    if recognised.of_poses:
        verdict.append("It has joint values and names, for a table of points with the same names beside it.")
    elif not recognised.readings:
        verdict.append("There is no column of readings, such as x_mm, y_mm and z_mm.")
    doubtful = [c.title for c in recognised.columns if c.name and c.doubt]
    if doubtful:
        verdict.append(
            f"{len(doubtful)} columns are in doubt: {', '.join(doubtful[:3])}{' and others' * (len(doubtful) > 3)}."
        )
    if not recognised.sure:
        verdict.append("The table cannot be read as it is; say what is missing.")
    sections = (
        Section("Columns", (shown,)),
        Section("If the proposals are right", (Paragraphs((AGAIN,)),) if recognised.proposal else ()),
    )
    return Report(f"Columns of {Path(recognised.file).name}", tuple(verdict), sections)
