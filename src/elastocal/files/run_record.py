"""What made a result: the command, what it read and wrote, with which versions and seed, and when.

Results themselves say nothing of the time, so that the same inputs give the same bytes; their record does.  Files are
told by SHA-256 of their bytes, robots by a mark of what their file says.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from elastocal import __version__
from elastocal.errors import FormatError
from elastocal.files import schema
from elastocal.files.located import read_json, read_text, read_yaml
from elastocal.files.opened import read_bytes, sha256_of, watching
from elastocal.files.robot.read import robot_file
from elastocal.files.typed import schema_text
from elastocal.values import dataclass

WORDS = ("title", "source", "status", "language")
"""Keys of a robot file that say nothing of how the arm moves or bends: text for people, the language of programs."""


def digests(files: Sequence[Path]) -> dict[str, str]:
    """SHA-256 by name; names are seen from the folder of the first file, so that they hold on any machine."""
    folder = files[0].parent if files else Path()
    return {(p.relative_to(folder) if p.is_relative_to(folder) else p).as_posix(): sha256_of(p) for p in files}


def robot_mark(word: str, folder: Path = Path()) -> str:
    """What tells whether a robot is still the same: of what its file says, or the version it is shipped with.

    Comments, layout, titles, sources of numbers and the language of its programs do not count.
    """
    file = robot_file(word)
    if file is None:
        return f"elastocal {__version__}"
    with watching():  # asking whether it is the same is not reading
        content = _content(folder / file)
    return f"content:{hashlib.sha256(content.encode()).hexdigest()}"


def _content(file: Path) -> str:
    """XML and YAML without what does not count; all else byte by byte."""
    suffix = file.suffix.lower()
    if suffix in (".urdf", ".xacro"):
        return _xml(file)
    return _yaml(file) if suffix in (".yaml", ".yml") else read_bytes(file).hex()


def _yaml(file: Path) -> str:
    return json.dumps(_what_counts(read_yaml(file).data), sort_keys=True)


def _what_counts(data: Any) -> Any:
    """Without ``WORDS`` and entries that have nothing else, and 1 the same as 1.0."""
    if isinstance(data, dict):
        return {str(k): _what_counts(v) for k, v in data.items() if k not in WORDS and not _words_only(v)}
    if isinstance(data, list):
        return [_what_counts(v) for v in data]
    return float(data) if isinstance(data, int) and not isinstance(data, bool) else data


def _words_only(data: Any) -> bool:
    return isinstance(data, dict) and bool(data) and all(k in WORDS for k in data)


def _xml(file: Path) -> str:
    from xml.etree.ElementTree import ParseError, canonicalize

    try:
        return canonicalize(read_text(file), strip_text=True)
    except ParseError as error:
        raise FormatError(f"{file}: not valid XML ({error}); correct it") from None


FORMAT = "elastocal-record/1"


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """``command`` are the words after ``elastocal``, as seen from the cell's folder, like all paths here.

    ``cell`` is what the command took from cell.yaml; inputs and outputs are SHA-256 by path; ``time`` is UTC.
    """

    format: str = FORMAT
    command: tuple[str, ...]
    cell: dict[str, Any] = field(default_factory=dict)
    seed: int | None = None
    inputs: dict[str, str]
    outputs: dict[str, str]
    versions: dict[str, str]
    time: str


def record_text(record: RunRecord) -> str:
    document: Mapping[str, Any] = {
        "format": record.format, "command": list(record.command), "cell": record.cell, "seed": record.seed,
        "inputs": dict(sorted(record.inputs.items())), "outputs": dict(sorted(record.outputs.items())),
        "versions": record.versions, "time": record.time,
    }  # fmt: skip
    return json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def read_record(path: Path) -> RunRecord:
    located = read_json(path, FORMAT, "a record")
    record = schema.construct(RunRecord, located, (), located.data, {})
    if not record.command:
        raise located.error(("command",), "names no command; remove the record", FormatError)
    return record


def record_schema() -> str:
    """JSON schema of records as text (draft 2020-12)."""
    return schema_text(RunRecord, FORMAT)
