"""Records of runs: written, read again, described by a schema."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from oracle.refusals import refused

from elastocal.files.run_record import FORMAT, RunRecord, read_record, record_schema, record_text

RECORD = RunRecord(
    command=("calibrate", ".", "--seed", "2"),
    cell={"campaign": "campaign/campaign.yaml", "options": {"seed": 3}},
    seed=2,
    inputs={"campaign/b.csv": "22", "campaign/a.csv": "11"},
    outputs={"calibration/calibration.json": "33"},
    versions={"elastocal": "0.1.0"},
    time="2026-01-02T03:04:05Z",
)


def test_read_again_it_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "calibrate.json"
    path.write_text(record_text(RECORD), encoding="utf-8")
    assert read_record(path) == RECORD
    data = json.loads(record_text(RECORD))
    assert next(iter(data.items())) == ("format", FORMAT)
    assert list(data["inputs"]) == ["campaign/a.csv", "campaign/b.csv"]


def test_the_schema_lists_what_a_record_holds() -> None:
    schema = json.loads(record_schema())
    assert set(schema["properties"]) == set(json.loads(record_text(RECORD)))
    assert schema["properties"]["format"] == {"const": FORMAT}
    assert {"command", "inputs", "outputs", "versions", "time"} <= set(schema["required"])


@pytest.mark.parametrize(
    ("change", "code", "value", "column"),
    [
        ({"format": "elastocal-record/9"}, "format", "elastocal-record/9", "format"),
        ({"time": None}, "missing", None, "time"),
        ({"seed": "x"}, "type", "x", "seed"),
        ({"author": "me"}, "unknown-key", "author", "author"),
    ],
)
def test_a_spoiled_record_is_refused(
    tmp_path: Path, change: dict[str, object], code: str, value: str | None, column: str
) -> None:
    path = tmp_path / "calibrate.json"
    path.write_text(json.dumps(json.loads(record_text(RECORD)) | change), encoding="utf-8")
    with refused(code, value, file="calibrate.json", column=column) as caught:
        read_record(path)
    assert str(path) in str(caught.value)


def test_half_a_record_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "calibrate.json"
    path.write_text(record_text(RECORD)[:40], encoding="utf-8")
    with refused("json", file="calibrate.json", line=3):
        read_record(path)
