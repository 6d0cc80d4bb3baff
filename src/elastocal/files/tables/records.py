"""Readings as records in YAML or JSON: one mapping for each pose, by its name or in a list, as a table.

    '1593701755':
      pose: {x: -0.5325, y: -0.7712, z: 0.9356, qx: -0.18, qy: -0.648, qz: -0.67, qw: 0.3137}
      target_joints: [-0.523, 0.0002]

A column is called by the last word of its place where that is enough (``x``), else by all of them (``pose.x``).
Numbers of a list of joints are ``joint 1`` and so on where there is one such list, those of a point ``x`` ``y`` ``z``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from elastocal.errors import FormatError, MissingError
from elastocal.files.located import Located, Path_, parse_yaml, read_text
from elastocal.files.plain_data import parse_json
from elastocal.files.tables.configurations import NAME
from elastocal.files.tables.raw import RawTable

ENDINGS = (".yaml", ".yml", ".json")
_FORMAT = re.compile(r"^\s*\"?format\"?\s*:\s*[\"']?(elastocal-(\w+)[\w/]*)", re.MULTILINE)
_JOINTS = re.compile(r"joint|axes|axis|angle|^q$", re.IGNORECASE)
_POINT = re.compile(r"position|translation|point|xyz|location", re.IGNORECASE)


def is_records(path: Path) -> bool:
    """Whether a file is YAML or JSON of somebody else."""
    return path.suffix.lower() in ENDINGS and path.is_file() and not _FORMAT.search(read_text(path))


def is_campaign(path: Path) -> bool:
    """Whether a file is a campaign file, and no table."""
    return path.suffix.lower() in (".yaml", ".yml") and not is_records(path)


def read_records(path: Path) -> RawTable:
    """The records of a file, one row each."""
    file, text = path.as_posix(), read_text(path)
    if own := _FORMAT.search(text):
        raise FormatError(
            f"{file}: is a {own[2]} file ({own[1]}), and no table; give the table that was read", file=file,
            code="no-table", value=own[1],
        )  # fmt: skip
    located = Located(file, parse_json(text, file), {}) if path.suffix.lower() == ".json" else parse_yaml(text, file)
    top, records = _records(located)
    rows = [dict(_leaves(record)) for _, record in records]
    titles = _titles(list(dict.fromkeys(place for row in rows for place in row)))
    named = all(isinstance(key, str) for key, _ in records)
    header = (*([NAME] if named and NAME not in titles.values() else []), *titles.values())
    body = []
    for (key, _), row in zip(records, rows, strict=True):
        cells = [row.get(place, "") for place in titles]
        body.append((located.line((*top, key)), (*([str(key)] if len(header) > len(cells) else []), *cells)))
    return RawTable(file, tuple(header), tuple(body), named=file)


def _records(located: Located) -> tuple[Path_, list[tuple[str | int, Any]]]:
    """Where the records stand, and each with its name or number: at the top, or under the only key that has some."""
    data = located.data
    below = [(key, v) for key, v in data.items() if _of_records(v)] if isinstance(data, Mapping) else []
    if _of_records(data):
        return (), _entries(data)
    if len(below) == 1:
        return (below[0][0],), _entries(below[0][1])
    raise FormatError(
        f"{located.file}: is no list of records, one for each pose with joint values and what was read; a campaign "
        "file starts with 'format: elastocal-campaign/1'",
        file=located.file,
        code="no-records",
    )


def _of_records(data: Any) -> bool:
    entries = _entries(data)
    return len(entries) > 1 and all(isinstance(v, Mapping) and any(_leaves(v)) for _, v in entries)


def _entries(data: Any) -> list[tuple[str | int, Any]]:
    if isinstance(data, Mapping):
        return list(data.items())
    return list(enumerate(data)) if isinstance(data, Sequence) and not isinstance(data, str) else []


def _leaves(data: Any, place: Path_ = ()) -> Iterator[tuple[Path_, str]]:
    """Numbers and words with their places."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            yield from _leaves(value, (*place, str(key)))
    elif isinstance(data, Sequence) and not isinstance(data, str):
        for i, value in enumerate(data):
            yield from _leaves(value, (*place, i))
    elif data is not None:
        yield place, data if isinstance(data, str) else repr(data)


def _titles(places: list[Path_]) -> dict[Path_, str]:
    if not places:
        raise MissingError("the records hold nothing; give joint values and readings")
    lists = {p[:-1] for p in places if isinstance(p[-1], int)}
    joints = [at for at in lists if at and _JOINTS.search(str(at[-1]))]
    points = [at for at in lists if at and _POINT.search(str(at[-1])) and (*at, 2) in places and (*at, 3) not in places]
    short = {}
    for place in places:
        at, last = place[:-1], place[-1]
        if isinstance(last, str):
            short[place] = last
        elif [at] == joints:
            short[place] = f"joint {last + 1}"
        elif [at] == points:
            short[place] = "xyz"[last]
        else:
            short[place] = f"{at[-1] if at else ''} {last + 1}".strip()
    count = Counter(short.values())
    return {p: s if count[s] == 1 else ".".join(str(w) for w in p) for p, s in short.items()}
