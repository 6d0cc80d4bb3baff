"""Files of a cell: read as text or as data, written all or none while nobody else works there, never outside of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from elastocal.errors import InputError, NumberError, RangeError
from elastocal.files.cell import CellFolder
from elastocal.files.confined import confined, finish
from elastocal.files.located import read_yaml
from elastocal.files.lock import locked, locked_by
from elastocal.files.opened import read_bytes, reading_within, sha256_of
from elastocal.files.plain_data import parse_json
from elastocal.files.write import make_folder, write_files
from elastocal.untrusted import finite_number, why_no_number

__all__ = [
    "alone", "data_of", "edit", "locked", "locked_by", "number", "parse_json", "reading_within", "sha256_of", "text_of",
    "with_block", "within", "write",
]  # fmt: skip
TRIAL = ".edited-"
"""Before the name of a file while what is to be written there is checked, beside it, so that what it names is found."""


def text_of(path: Path) -> str:
    """Of a file; bytes that are no text are shown as such."""
    return read_bytes(path).decode("utf-8-sig", errors="replace")


def data_of(path: Path) -> dict[str, Any]:
    """What a YAML or JSON file holds; nothing where there is none."""
    if not path.is_file():
        return {}
    data = parse_json(text_of(path), path.name) if path.suffix == ".json" else read_yaml(path, "").data
    return data if isinstance(data, dict) else {}


def within(cell: CellFolder, place: Path) -> Path:
    """A place of the cell as it really is; refused where a link leads out of it."""
    path = (cell.root / place).resolve()
    if not path.is_relative_to(cell.root):
        raise InputError(f"{place.as_posix()} leads out of the cell and is not shown", code="outside", file=str(place))
    return path


@contextmanager
def alone(cell: CellFolder) -> Iterator[None]:
    """Nobody else writes in the cell within, and nothing is written outside of it."""
    with locked(cell.root, "desk", lambda message: None), confined(cell.root):
        finish(cell.root)
        yield


def write(cell: CellFolder, contents: Mapping[Path, str | bytes]) -> None:
    """Files of the cell, all or none; places are seen from its folder."""
    with alone(cell):
        for place in contents:
            make_folder((cell.root / place).parent)
        write_files({cell.root / place: content for place, content in contents.items()})


def edit(cell: CellFolder, place: Path, text: str, check: Callable[[Path], object]) -> None:
    """The text of a file, if ``check`` raises no error of a file with this text in the same folder."""
    trial = place.with_name(TRIAL + place.name)
    with alone(cell):
        write(cell, {trial: text})
        try:
            check(within(cell, trial))
        except InputError as error:
            message = str(error).replace(str(cell.root / trial), place.name).replace(trial.name, place.name)
            raise error.reworded(message) from None
        finally:
            (cell.root / trial).unlink()
        write(cell, {place: text})


def with_block(text: str, key: str, value: Any) -> str:
    """The text of a YAML file with one key of its top level replaced or removed; all else stays, comments too."""
    text = text if text.endswith("\n") or not text else text + "\n"
    text = re.sub(rf"(?m)^{re.escape(key)}:.*\n(?:[ \t-].*\n)*", "", text)
    return text + yaml.safe_dump({key: value}, sort_keys=False, allow_unicode=True, width=1000) if value else text


def number(text: str, what: str, low: float = float("-inf"), high: float = float("inf"), unit: str = "") -> float:
    """The number that somebody typed, with a decimal point or comma, above ``low`` and below ``high``."""
    word = text.strip().replace(",", ".")
    value = finite_number(word)
    if value is None:
        raise NumberError(f"{what}: {text!r} {why_no_number(word)}; give a number{unit and f' in {unit}'}", value=text)
    if not low < value < high:
        bounds = f"above {low:g}" if high == float("inf") else f"above {low:g} and below {high:g}"
        raise RangeError(f"{what} {text!r}: give a number{unit and f' in {unit}'} {bounds}", value=text)
    return value
