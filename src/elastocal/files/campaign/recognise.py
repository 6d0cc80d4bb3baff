"""What the columns of a table are taken for, before anything is done with it: recognised, unit, and what is in doubt.

    recognised = recognise("export.csv", robot)
    recognised.columns[0]        title 'Achse 1', name '', guess 'A1_deg', doubt 'not known by its title'
    recognised.missing           ('A1',)

Nothing is refused here.  A guess is a proposal for people to confirm: it rests on words and on sizes of numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path

from elastocal.errors import InputError
from elastocal.files.campaign.column_titles import (
    ANGLES,
    MARKER,
    MATRIX,
    NUMBERED,
    QUATERNION,
    STATION,
    TURN,
    Declared,
    Titles,
)
from elastocal.files.campaign.columns import has_axis
from elastocal.files.tables.configurations import NAME, PAYLOAD
from elastocal.files.tables.csv_file import as_written, with_units
from elastocal.files.tables.raw import RawTable
from elastocal.files.tables.remembered import layouts_of, renamed_by
from elastocal.files.tables.spelling import OF_NAMES, is_bare, split_title, title_unit, unit_word
from elastocal.files.units import ANGLE, DIMENSIONS, LENGTH
from elastocal.model.robot import Robot
from elastocal.untrusted import finite_number
from elastocal.values import dataclass

UNKNOWN = "not known by its title"
NO_UNIT = "has no unit"
ROWS = 50
"""Rows that guesses of units look at."""
FULL_TURN, ROOM = 6.6, 20.0
"""Angles beyond so many rad are degrees; coordinates beyond so many m are mm."""
_AXIS_WORDS = re.compile(
    r"(?:achse|gelenk|axis|axe|eje|asse|joint|actual[ _]q|target[ _]q|theta|[ajq])[ _.]?(\d)", re.I
)
_PLACE = re.compile(r"(?<![a-z])([xyz])(?![a-z])", re.I)
_NOT_READ = re.compile(r"nominal|soll|target|cmd|command|sigma|std|sd|unc|tol|dev|offset|error|delta|diff|normal|speed|"
                       r"vel|acc", re.I)  # fmt: skip
_ZERO_BASED = re.compile(r"(?:actual|target)[ _]q", re.I)
FIRST = 5
"""Rows of a table that are shown with its columns."""


@dataclass(frozen=True)
class RecognisedColumn:
    """``name`` is Elastocal's (``x``, ``A1``, ``M1.x``), "" where the column is not used; ``unit`` "" where none.

    ``by`` says what tells it: its title, columns.yaml, declared units.  ``doubt`` is "" where nothing is unsure;
    ``guess`` then is what it may be, name and unit.
    """

    title: str
    name: str
    unit: str
    by: str
    doubt: str = ""
    guess: str = ""


@dataclass(frozen=True)
class Recognised:
    """The columns of a table in their order; ``missing`` axes have none.  ``header_line`` is where the titles stand."""

    file: str
    columns: tuple[RecognisedColumn, ...]
    missing: tuple[str, ...]
    header_line: int
    rows: int
    readings: tuple[str, ...] = ()
    """Names of columns that are readings; without any there is nothing to calibrate by."""
    notes: tuple[str, ...] = ()
    first: tuple[tuple[str, ...], ...] = ()
    """The first rows, as they stand."""

    @property
    def sure(self) -> bool:
        """Whether the table can be read as it is."""
        whole = bool(self.readings) or self.of_poses
        return whole and not self.missing and not any(c.doubt and c.name for c in self.columns)

    @property
    def of_poses(self) -> bool:
        """Whether it has names and joint values, for points of another table by their names."""
        return not self.readings and not self.missing and any(c.name == NAME for c in self.columns)

    @property
    def proposal(self) -> dict[str, str]:
        """Names with units and the titles that they may be, for what is in doubt."""
        return {c.guess: c.title for c in self.columns if c.guess and c.doubt}


def recognise(
    path: str | PathLike[str], robot: Robot, *, units: Declared | None = None, told: Mapping[str, str] | None = None,
    header_line: int | None = None, sheet: str | None = None,
) -> Recognised:  # fmt: skip
    """What the columns of a CSV or Excel table are, for a campaign of ``robot``.

    ``units`` are those of columns that do not tell theirs ({"length": "mm", "angle": "deg"}), ``told`` names by titles
    (``{"A1_deg": "Achse 1"}``); what columns.yaml remembers is used but for what is said anew.
    """
    file = Path(path)
    raw = with_units(as_written(file, None, header_line or _remembered_line(file), sheet))
    known = {title: name for name, title in (told or {}).items()}
    lost = [title for title in known if title not in raw.header]
    if lost:
        raise InputError(
            f"{raw.top}: there is no column {lost[0]!r}; it has {', '.join(raw.header)}",
            code="missing-column", file=raw.file, value=lost[0], allowed=raw.header,
        )  # fmt: skip
    axes = robot.axis_kinds
    titles = Titles(raw, axes, None, None, units or {})
    columns = tuple(
        _column(raw, i, titles, known.get(t, r), "told" if t in known else "columns.yaml" if r != t else "title")
        for i, (t, r) in enumerate(zip(raw.header, _remembered(raw, file, units or {}), strict=True))
    )
    columns = _one_each(_same_units(columns))
    names = {c.name for c in columns}
    missing = tuple(a for a in axes if not has_axis(names, a))
    readings = tuple(c.name for c in columns if _quantity(c.name) in titles.units() and c.name not in axes)
    first = tuple(words for _, words in raw.rows[:FIRST])
    return Recognised(raw.file, columns, missing, raw.header_line, len(raw.rows), readings, raw.notes, first)


def _quantity(name: str) -> str:
    """``x`` of ``M1.x`` and of ``x1``."""
    last = name.rpartition(".")[2]
    number = NUMBERED.fullmatch(last)
    return number[1] if number is not None else last


def _one_each(columns: tuple[RecognisedColumn, ...]) -> tuple[RecognisedColumn, ...]:
    """Titles that claim one name are numbered as they say themselves, ``Punkt 2 X`` as ``x2``, or propose nothing."""
    claimed = Counter(c.guess for c in columns)
    out = tuple(replace(c, guess=_numbered(c)) if c.guess and claimed[c.guess] > 1 else c for c in columns)
    claimed = Counter(c.guess for c in out)
    return tuple(replace(c, guess="") if claimed[c.guess] > 1 else c for c in out)


def _numbered(column: RecognisedColumn) -> str:
    name, _, unit = column.guess.rpartition("_")
    numbers = re.findall(r"\d{1,6}", column.title)
    new = f"{name}{int(numbers[0])}" if len(numbers) == 1 else ""
    return f"{new}_{unit}" if NUMBERED.fullmatch(new) else ""


def _remembered_line(file: Path) -> int | None:
    return next((layout.opened["header_line"] for layout in layouts_of(file) if "header_line" in layout.opened), None)


def _remembered(raw: RawTable, file: Path, units: Declared) -> tuple[str, ...]:
    """Names of the columns; without a unit where the title has none and ``units`` state it anew."""
    for layout in layouts_of(file):
        renamed = renamed_by(raw, layout)
        if renamed is not None:
            return tuple(
                _restated(n, units) if is_bare(t) else n for t, n in zip(raw.header, renamed.header, strict=True)
            )
    return raw.header


def _restated(name: str, units: Declared) -> str:
    bare, _, unit = name.rpartition("_")
    return bare if bare and any(unit in DIMENSIONS[dimension] for dimension in units) else name


def _column(raw: RawTable, place: int, titles: Titles, word: str, by: str) -> RecognisedColumn:
    title = raw.header[place]
    if word.lower() in (NAME, MARKER, STATION) and word not in titles.axes:
        return RecognisedColumn(title, word.lower(), "", by)
    try:
        matched = titles.matched(word)
    except InputError as error:
        unit_only = error.code == "unit"
        name = titles.plain(word, {}) if unit_only else ""
        guess = _with_unit(raw, place, name, titles.axes) if name else _guess(raw, place, titles)
        return RecognisedColumn(title, name, "", by, NO_UNIT if unit_only else str(error), guess)
    if matched is None:
        return RecognisedColumn(title, "", "", "", UNKNOWN, _guess(raw, place, titles))
    marker, name, _ = matched
    unit, declared = _unit(word, name, titles)
    whole = f"{marker}.{name}" if marker else name
    return RecognisedColumn(title, whole, unit, "declared unit" if declared else by)


def _unit(word: str, name: str, titles: Titles) -> tuple[str, bool]:
    """The unit of a column, and whether it was declared for all."""
    own = unit_word(title_unit(word) or "") or (word.rpartition("_")[2] if "_" in word else "")
    if own and unit_word(own):
        return unit_word(own) or own, False
    if name in QUATERNION or name in MATRIX:
        return "", False
    if name == PAYLOAD:
        return "kg", False
    turns = titles.axes.get(name) == "revolute" or any(name in group for group in (TURN, *ANGLES))
    declared = titles.declared.get("angle" if turns else "length", "")
    return declared, bool(declared)


def _guess(raw: RawTable, place: int, titles: Titles) -> str:
    title = raw.header[place]
    bare = split_title(title)[0]
    axes = tuple(titles.axes)
    number = _AXIS_WORDS.search(bare)
    if number:
        which = int(number[1]) - (not _ZERO_BASED.search(bare))
        if 0 <= which < len(axes) and not re.search("target", bare, re.I):
            return _with_unit(raw, place, axes[which], titles.axes)
    if OF_NAMES.fullmatch(bare.strip()) and not _numbers(raw, place):
        return NAME
    letters = {m.lower() for m in _PLACE.findall(bare)}
    if len(letters) == 1 and not _NOT_READ.search(bare):
        return _with_unit(raw, place, letters.pop(), titles.axes)
    return ""


def _with_unit(raw: RawTable, place: int, name: str, axes: Mapping[str, str]) -> str:
    """The name with the unit of the title, else with the one that sizes speak for."""
    stated = unit_word(title_unit(raw.header[place]) or "")
    turns = axes.get(name) == "revolute" or name.lstrip("d") in ("rx", "ry", "rz", "roll", "pitch", "yaw")
    if stated in (ANGLE if turns else LENGTH):
        return f"{name}_{stated}"
    size = max((abs(v) for v in _numbers(raw, place)), default=0.0)
    unit = ("deg" if size > FULL_TURN else "rad") if turns else ("mm" if size > ROOM else "m")
    return f"{name}_{unit}"


def _same_units(columns: tuple[RecognisedColumn, ...]) -> tuple[RecognisedColumn, ...]:
    """Guesses of one kind have one unit: where one of the angles is too large for rad, all are in deg."""
    out = columns
    for small, large in (("rad", "deg"), ("m", "mm")):
        if any(c.guess.endswith(f"_{large}") for c in columns):
            out = tuple(
                replace(c, guess=f"{c.guess[: -len(small)]}{large}")
                if c.guess.endswith(f"_{small}") and not title_unit(c.title) else c
                for c in out
            )  # fmt: skip
    return out


def _numbers(raw: RawTable, place: int) -> list[float]:
    cells = (row[1][place].strip() for row in raw.rows[:ROWS])
    values = (finite_number(raw.numerals.plain(c)) for c in cells)
    return [v for v in values if v is not None]
