"""A small robot and campaign to write down, read and spoil."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from elastocal.errors import InputError
from elastocal.files.campaign.file import CampaignFile
from elastocal.files.campaign.read import read_campaign

ROBOT = """\
format: elastocal-robot/1
name: arm
source: test
joints:
  - {name: J1, type: revolute, axis: [0, 0, 1], xyz_mm: [0, 0, 500], limits_deg: [-120, 120]}
  - {name: J2, type: revolute, axis: [0, 1, 0], limits_deg: [-90, 90]}
  - {name: tool, xyz_mm: [1000, 0, 0]}
  - {name: m1, parent: tool, xyz_mm: [0, 50, 0]}
  - {name: m2, parent: tool, xyz_mm: [20, -50, 30]}
tool: tool
controller:
  axes: [A1, A2]
  sign: {A2: -1}
  zero_deg: {A1: 5}
elements:
  - {kind: joint_compliance, joint: J1, k_rad_per_Nm: 2.0e-6}
  - {kind: joint_compliance, joint: J2, k_rad_per_Nm: 3.0e-6}
  - {kind: link_mass, frame: J2, mass_kg: 20, com_mm: [500, 0, 0]}
"""
HEAD = "format: elastocal-campaign/1\nname: test\nrobot: arm.yaml\ntable: readings.csv\n"
DEFLECTION = HEAD + "measurement: deflection\n"
POSITION = HEAD + "measurement: position\n"
ERRORS = "errors:\n  - {kind: reading, sd_um: 10}\n"
TABLE = """\
A1_deg,A2_deg,fz_N,dx_mm,dy_mm,dz_mm
5,0,-1000,0.1,0.2,-3.0
35,10,-1000,0.3,0.4,-2.9
65,20,-500,0.5,0.6,-1.4
"""


@dataclass(frozen=True)
class Desk:
    """A folder with the robot in it."""

    folder: Path

    def read(self, campaign: str, table: str | bytes = TABLE, **more: str) -> CampaignFile:
        (self.folder / "arm.yaml").write_text(ROBOT)
        files = {"readings.csv": table, **{f"{name}.csv": text for name, text in more.items()}}
        for name, text in files.items():
            (self.folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        path = self.folder / "campaign.yaml"
        path.write_text(campaign)
        return read_campaign(path)

    def refused(self, campaign: str, table: str | bytes = TABLE, **more: str) -> str:
        """The one sentence with which the campaign is refused, without the folder."""
        with pytest.raises(InputError) as caught:
            self.read(campaign, table, **more)
        said = str(caught.value)
        assert "\n" not in said
        assert said.startswith(str(self.folder))
        return said.replace(f"{self.folder}/", "")
