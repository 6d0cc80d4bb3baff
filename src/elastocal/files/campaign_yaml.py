"""Campaign files: readings of a robot, the errors in them, and what is asked of them.  See docs/campaigns.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elastocal.errors import UnknownNameError
from elastocal.files import schema
from elastocal.files.campaign_axes import measured
from elastocal.files.campaign_checks import check_any
from elastocal.files.campaign_entry import CampaignEntry, Given, Requests, listed
from elastocal.files.campaign_errors import read_sources
from elastocal.files.campaign_readings import Readings, gathered
from elastocal.files.campaign_requests import read_requests
from elastocal.files.campaign_setup import chosen_markers, read_setup
from elastocal.files.campaign_table import Table, Wanted, read_tables
from elastocal.files.located import Located, Path_, check_format, read_yaml
from elastocal.files.robot_word import LoadedRobot, load_robot, robot_file, without_kinds
from elastocal.files.units import declared_units
from elastocal.measure.campaign import Campaign
from elastocal.model.robot import RobotModel

FORMAT = "elastocal-campaign/1"
_START = f"a campaign file starts with 'format: {FORMAT}'"
_UNSTATED = "No errors are stated: all readings weigh the same, and their scatter is estimated from the residuals."


@dataclass(frozen=True, eq=False)
class CampaignFile:
    """A campaign as read: ``robot`` is the word that names the robot, ``words`` everything as it was written.

    ``notes`` say what was assumed or left out; ``files`` are all that were read, the campaign's own first.
    """

    name: str
    robot: str
    model: RobotModel
    campaign: Campaign
    requests: Requests
    notes: tuple[str, ...]
    files: tuple[Path, ...]
    words: Mapping[str, Any]


def read_campaign(path: Path) -> CampaignFile:
    """A campaign and its robot; other files are looked for from the folder of the campaign file."""
    return _read(path, plan=False)


def read_plan(path: Path) -> CampaignFile:
    """A campaign whose tables need hold no readings yet: all are nan, whatever stands there."""
    return _read(path, plan=True)


def _read(path: Path, plan: bool) -> CampaignFile:
    given = _given(path, plan)
    located, entry = given.located, given.entry
    robot = _robot(located, entry, path.parent)
    model = robot.model
    paths = _tables(located, listed(entry.table), path.parent)
    axes = dict(zip(model.controller.axes, (m.kind for m in model.motions), strict=True))
    skip = plan or entry.missing == "skip"
    wanted = Wanted(axes, model.tree.names, entry.measurement, skip, plan, model.controller.drives)
    tables = read_tables(paths, wanted)
    markers, chosen = chosen_markers(given, tables, model)
    found = gathered(tables, markers, plan, entry.repeats)
    if not plan:
        check_any(found, ", ".join(str(p) for p in paths.values()))
    setup, said = read_setup(given, model, found)
    measurement, readings, noted = measured(given, model, found, setup)
    sources = read_sources(located, entry.errors, given.units, measurement, model)
    campaign = Campaign(measurement, readings, sources, found.places)
    requests, asked = read_requests(given, model, campaign)
    own = robot_file(entry.robot)
    files = (path, *(() if own is None else (path.parent / own,)), *paths.values())
    left_out = () if plan else (*_left_out(tables, found), *(() if sources else (_UNSTATED,)))
    notes = (*robot.notes, *chosen, *said, *noted, *left_out, *asked)
    return CampaignFile(entry.name, entry.robot, model, campaign, requests, notes, files, located.data)


def _given(path: Path, plan: bool) -> Given:
    located = read_yaml(path, _START)
    check_format(located, FORMAT, "a campaign file")
    units = declared_units(located)
    entry = schema.construct(CampaignEntry, located, (), located.data, units)
    if entry.statics is not None and entry.measurement != "deflection":
        raise located.error(("statics",), "belongs to measurement: deflection; positions are always of the loaded arm")
    if entry.repeats < 1 or (entry.repeats > 1 and not plan):
        raise located.error(("repeats",), "is for a plan, at least 1; repeats that were read stand in the table")
    return Given(located, entry, units, plan)


def _robot(located: Located, entry: CampaignEntry, folder: Path) -> LoadedRobot:
    if (own := robot_file(entry.robot)) is not None:
        _existing(located, ("robot",), folder / own)
    try:
        loaded = load_robot(entry.robot, entry.tool, folder)
    except UnknownNameError as error:
        raise located.error(("tool" if error.name == entry.tool else "robot",), str(error)) from None
    try:
        return LoadedRobot(without_kinds(loaded.model, listed(entry.without)), loaded.notes)
    except UnknownNameError as error:
        raise located.error(("without",), str(error)) from None


def _tables(located: Located, words: tuple[str, ...], folder: Path) -> dict[str, Path]:
    if len(set(words)) != len(words) or not words:
        raise located.error(("table",), "must name at least one CSV file, and none twice")
    return {word: _existing(located, ("table",), folder / word) for word in words}


def _existing(located: Located, place: Path_, path: Path) -> Path:
    if not path.is_file():
        raise located.error(place, f"there is no file {path}; give its name as seen from the campaign file")
    return path


def _left_out(tables: tuple[Table, ...], found: Readings) -> tuple[str, ...]:
    """What is missing in the tables, and how they were read."""
    notes = []
    for table in tables:
        if table.by_difference:
            notes.append(f"{table.word}: deflections are positions under load less positions without.")
        if table.skipped:
            lines = ", ".join(str(n) for n in table.skipped[:10]) + (", ..." if len(table.skipped) > 10 else "")
            notes.append(f"{table.word}: {len(table.skipped)} rows lack numbers, which are left out (lines {lines}).")
    for marker in found.markers:
        absent = sum(marker not in cells for cells in found.cells)
        if absent:
            notes.append(f"{marker} was not read in {absent} of {len(found.cells)} readings.")
    return tuple(notes)
