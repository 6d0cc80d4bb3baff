"""JSON schema of calibration files, made from the types that they are read with."""

from __future__ import annotations

import json
from typing import Any

from elastocal.files import calibration_json
from elastocal.files.calibration_record import FORMAT


def calibration_schema() -> str:
    """The schema as text (JSON Schema, draft 2020-12)."""
    from pydantic import TypeAdapter

    def of(kind: Any) -> dict[str, Any]:
        return {k: v for k, v in TypeAdapter(kind).json_schema().items() if k != "title"}

    top = of(calibration_json._File)
    parts = {"robot": calibration_json._Robot, "load": calibration_json._Load, "noise": calibration_json._Noise}
    top["properties"] |= {name: of(kind) for name, kind in parts.items()}
    top["properties"]["parameters"] = {"type": "array", "items": of(calibration_json._Parameter)}
    top["properties"]["format"] = {"const": FORMAT}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": FORMAT}
    return json.dumps(head | top, indent=2) + "\n"
