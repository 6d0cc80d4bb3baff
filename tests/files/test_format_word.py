"""A file of another kind is named for what it is, and nobody is advised to change its first line."""

from __future__ import annotations

from pathlib import Path

import pytest
from oracle.refusals import refused

from elastocal.files.calibration import read_calibration
from elastocal.files.campaign.read import read_campaign
from elastocal.files.located import KINDS
from elastocal.files.plan.read import read_plan_file
from elastocal.files.robot.read import read_robot
from elastocal.files.run_record import read_record
from elastocal.files.tables.named import read_table

READERS = {
    "robot": (read_robot, "a robot file"),
    "campaign": (read_campaign, "a campaign file"),
    "plan": (read_plan_file, "a plan file"),
    "table": (read_table, "a file that names a table"),
    "calibration": (read_calibration, "a calibration file"),
    "record": (read_record, "a record"),
}


@pytest.mark.parametrize("wanted", READERS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ["format: elastocal-{}/1\nname: x\n", '{{"format": "elastocal-{}/1", "name": "x"}}\n'])
def test_every_kind_where_another_is_needed(wanted: str, kind: str, text: str, tmp_path: Path) -> None:
    if kind == wanted:
        return
    path = tmp_path / "some.yaml"
    path.write_text(text.format(kind), encoding="utf-8")
    read, what = READERS[wanted]
    with refused("format", f"elastocal-{kind}/1", file="some.yaml", allowed=(f"elastocal-{wanted}/1",)) as caught:
        read(path)
    assert str(caught.value).endswith(f"this is {KINDS[kind]} (elastocal-{kind}/1); {what} is needed")


def test_a_later_version_and_a_word_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "some.yaml"
    path.write_text("name: x\nformat: elastocal-campaign/2\n", encoding="utf-8")
    with refused("format", "elastocal-campaign/2", file="some.yaml", line=2, column="format"):
        read_campaign(path)
    path.write_text("format: urdf\n", encoding="utf-8")
    with refused("format", "urdf", file="some.yaml", line=1, column="format"):
        read_campaign(path)
    path.write_text("no JSON\n", encoding="utf-8")
    with refused("json", file="some.yaml", line=1):
        read_calibration(path)
