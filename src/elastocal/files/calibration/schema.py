"""JSON schema of calibration files, made from the types that they are read with."""

from __future__ import annotations

import json
from typing import Any

from elastocal.files.calibration.entry import CalibrationEntry, LoadFrameEntry, NoiseEntry, ParameterEntry, RobotEntry
from elastocal.files.calibration.record import FORMAT


def calibration_schema() -> str:
    """The schema as text (JSON Schema, draft 2020-12)."""
    from pydantic import TypeAdapter

    def of(kind: Any) -> dict[str, Any]:
        return {k: v for k, v in TypeAdapter(kind).json_schema().items() if k != "title"}

    top = of(CalibrationEntry)
    parts = {"robot": RobotEntry, "load": LoadFrameEntry, "noise": NoiseEntry}
    top["properties"] |= {name: of(kind) for name, kind in parts.items()}
    top["properties"]["parameters"] = {"type": "array", "items": of(ParameterEntry)}
    top["properties"]["format"] = {"const": FORMAT}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": FORMAT}
    return json.dumps(head | top, indent=2) + "\n"
