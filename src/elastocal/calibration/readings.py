"""A campaign file as robot and ``Campaign``: the arrays that ``calibrate`` takes."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.errors import InputError
from elastocal.files.campaign.file import CampaignFile
from elastocal.files.campaign.read import read_campaign as read_campaign_file
from elastocal.files.campaign.readings import check_any, gathered_readings
from elastocal.files.campaign.table import Wanted, read_tables
from elastocal.files.tables.named import read_table
from elastocal.measure.deflection import Deflection
from elastocal.measure.position import Position
from elastocal.model.robot import Robot

if TYPE_CHECKING:
    from elastocal.calibration.calibration import Calibration


def read_campaign(path: str | PathLike[str]) -> tuple[Robot, Campaign]:
    """Robot and readings of a campaign file."""
    return campaign_of(read_campaign_file(Path(path)))


def fits(file: CampaignFile) -> str:
    """Why a campaign file cannot be taken as arrays; empty where it can."""
    kind = file.campaign.measurement
    if not isinstance(kind, Position | Deflection):
        return f"a measurement of {kind.kind} has no positions and no deflections"
    if kind.setup.load.follows:
        return "its load follows the tool"
    tool = file.model.chain.level(file.model.tool)
    astray = [m.frame for m in kind.setup.markers if file.model.chain.level(m.frame) != tool]
    return f"marker {astray[0]} does not sit on the tool" if astray else ""


def campaign_of(file: CampaignFile) -> tuple[Robot, Campaign]:
    why = fits(file)
    if why:
        raise InputError(f"{file.name}: {why}; such a campaign is calibrated by reduction only")
    kind = file.campaign.measurement
    assert isinstance(kind, Position | Deflection)
    setup, robot = kind.setup, file.model
    starts, readings = setup.starts, file.campaign.readings
    points = np.stack([readings[:, s : s + 3] for s in starts], axis=1)
    wrench = setup.wrenches if np.any(setup.wrenches) else None
    return robot, Campaign(
        q=robot.controller.to_controller(setup.q),
        length="m",
        angle="rad",
        wrench=wrench,
        load_frame=setup.load.frame,
        markers=tuple(m.frame for m in setup.markers),
        noise=file.campaign.sources,
        places=file.campaign.places or (),
        name=file.name,
        position=points if isinstance(kind, Position) else None,
        deflection=points if isinstance(kind, Deflection) else None,
    )


def table_readings(path: str | PathLike[str], calibration: Calibration) -> tuple[Campaign, tuple[str, ...]]:
    """A bare table of positions of a calibrated robot, in the frame of its instrument, and notes.

    Columns as in campaigns: controller values (``A1_deg``), positions (``x_mm``, or ``marker.x_mm`` where there are
    several markers, or a column ``marker``), loads (``fz_N``).
    """
    robot, markers = calibration.robot, calibration.markers
    axes = dict(zip(robot.controller.axes, (m.kind for m in robot.motions), strict=True))
    raw = read_table(Path(path))
    tables = read_tables(
        {Path(path).name: raw}, Wanted(axes, markers, "position", True, False, robot.controller.drives)
    )
    named = tables[0].markers
    if not named and len(markers) > 1:
        raise InputError(
            f"{path}: the columns do not say which of the markers {', '.join(markers)} was read; name them "
            f"{markers[0]}.x_mm, or add a column marker"
        )
    read = gathered_readings(tables, markers, False, 1)
    check_any(read, str(path))
    skipped = len(tables[0].skipped)
    readings = Campaign(
        q=read.values, length="m", angle="rad", position=read.shifts, wrench=read.wrenches, markers=markers,
        load_frame=calibration.load_frame, places=read.places, name=Path(path).stem,
    )  # fmt: skip
    return readings, (f"{tables[0].word}: {skipped} rows lack numbers.",) if skipped else ()
