"""What made a result: the command, what it read and wrote, with which versions and seed, and when.

Results themselves say nothing of the time, so that the same inputs give the same bytes; their record does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elastocal.files import schema
from elastocal.files.format_word import read_json

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
    return schema.construct(RunRecord, located, (), located.data, {})


def record_schema() -> str:
    """JSON schema of records as text (draft 2020-12)."""
    from pydantic import TypeAdapter

    top = {k: v for k, v in TypeAdapter(RunRecord).json_schema().items() if k != "title"}
    top["properties"]["format"] = {"const": FORMAT}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": FORMAT}
    return json.dumps(head | top, indent=2) + "\n"
