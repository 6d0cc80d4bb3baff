"""Campaign files: readings of a robot, the errors in them, and what is asked of them.  See docs/campaigns.md."""

from __future__ import annotations

from pathlib import Path

from elastocal.files import schema
from elastocal.files.campaign.axes import measured_in_base
from elastocal.files.campaign.checks import check_any
from elastocal.files.campaign.entry import CampaignEntry, CampaignKeys
from elastocal.files.campaign.errors import read_sources
from elastocal.files.campaign.file import FORMAT, UNSTATED, CampaignFile, all_files, named_robot, table_notes
from elastocal.files.campaign.readings import Readings, gathered_readings
from elastocal.files.campaign.requests import read_requests
from elastocal.files.campaign.setup import chosen_markers, read_setup
from elastocal.files.campaign.table import CampaignTable, Wanted, read_tables
from elastocal.files.contact.campaign import read_contacts
from elastocal.files.format_word import check_format
from elastocal.files.located import Located, read_yaml
from elastocal.files.tables.named import read_tables_of
from elastocal.files.units import declared_units
from elastocal.measure.campaign import Campaign

_START = f"a campaign file starts with 'format: {FORMAT}'"
CONTACT = "contact"


def read_campaign(path: Path) -> CampaignFile:
    """A campaign and its robot; other files are looked for from the folder of the campaign file."""
    return _read(path, plan=False)


def read_plan(path: Path) -> CampaignFile:
    """A campaign whose tables need hold no readings yet: all are nan, whatever stands there."""
    return _read(path, plan=True)


def _read(path: Path, plan: bool) -> CampaignFile:
    located = read_yaml(path, _START)
    check_format(located, FORMAT, "a campaign file")
    if located.data.get("measurement") == CONTACT:
        return read_contacts(path, located, plan)
    given = _given(located, plan)
    entry = given.entry
    model = named_robot(located, entry.robot, entry.tool, entry.without, path.parent)
    raws = read_tables_of(located, entry.table, model)
    axes = dict(zip(model.controller.axes, (m.kind for m in model.motions), strict=True))
    skip = plan or entry.missing == "skip"
    wanted = Wanted(axes, model.tree.names, entry.measurement, skip, plan, model.controller.drives)
    tables = read_tables(raws, wanted)
    markers, chosen = chosen_markers(given, tables, model)
    found = gathered_readings(tables, markers, plan, entry.repeats)
    if not plan:
        check_any(found, ", ".join(raw.file for raw in raws.values()))
    setup, said = read_setup(given, model, found)
    base = measured_in_base(given, model, found, setup)
    sources = read_sources(located, entry.errors, given.units, base.measurement, model)
    campaign = Campaign(base.measurement, base.readings, sources, found.places, spots=found.places_of())
    requests, asked = read_requests(located, entry, model, campaign, plan)
    files = all_files(path, entry.robot, raws)
    left_out = () if plan else (*_left_out(tables, found), *(() if sources else (UNSTATED,)))
    notes = (*model.notes, *table_notes(raws), *chosen, *said, *base.notes, *left_out, *asked)
    return CampaignFile(
        entry.name, entry.robot, model, campaign, requests, notes, files, located.data, found.names, base.points
    )


def _given(located: Located, plan: bool) -> CampaignKeys:
    units = declared_units(located)
    entry = schema.construct(CampaignEntry, located, (), located.data, units)
    if entry.statics is not None and entry.measurement != "deflection":
        raise located.error(("statics",), "belongs to measurement: deflection; positions are always of the loaded arm")
    if entry.repeats < 1 or (entry.repeats > 1 and not plan):
        raise located.error(("repeats",), "is for a plan, at least 1; repeats that were read stand in the table")
    return CampaignKeys(located, entry, units, plan)


def _left_out(tables: tuple[CampaignTable, ...], found: Readings) -> tuple[str, ...]:
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
