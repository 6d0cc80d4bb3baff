"""Tables of other programs beside a small robot, to read and to spoil."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from files.campaign_desk import ROBOT

from elastocal.errors import InputError
from elastocal.files.campaign.file import CampaignFile
from elastocal.files.campaign.read import read_campaign

EXPORTS = Path(__file__).parent / "exports"
HEAD = "format: elastocal-campaign/1\nname: test\nrobot: arm.yaml\n"
POSITION, DEFLECTION = f"{HEAD}measurement: position\n", f"{HEAD}measurement: deflection\n"


@dataclass(frozen=True)
class ImportDesk:
    """A folder with the robot in it; files are texts, or bytes."""

    folder: Path

    def read(self, campaign: str, table: str, files: Mapping[str, str | bytes]) -> CampaignFile:
        (self.folder / "arm.yaml").write_text(ROBOT)
        for name, text in files.items():
            (self.folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        path = self.folder / "campaign.yaml"
        path.write_text(f"{campaign}table: {table}\n")
        return read_campaign(path)

    def refused(self, campaign: str, table: str, files: Mapping[str, str | bytes]) -> str:
        """The one sentence with which the campaign is refused, without the folder."""
        with pytest.raises(InputError) as caught:
            self.read(campaign, table, files)
        said = str(caught.value)
        assert "\n" not in said
        return said.replace(f"{self.folder}/", "")
