"""A campaign written as a campaign file and a table that read back to the same numbers, bit for bit.

The table is wide.  Readings, and axes, stand in the usual units (mm, deg) where these give every number back exactly,
else in SI.

Virtual readings know themselves: their campaign file bears the marks of itself and of its table.

    # Virtual readings: simulated, not measured.
    # sha256 of what follows: 3f...
    # sha256 of readings.csv: 9a...

What is not byte for byte what was written is somebody's own: measured, until proven otherwise.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from elastocal.files.campaign.file import FORMAT, PREDICTION, CampaignFile, Requests, listed, robot_seen_from
from elastocal.files.campaign.requests import campaign_yaml
from elastocal.files.contact.objects import contact_texts
from elastocal.files.opened import sha256_of
from elastocal.files.tables.configurations import NAME, WRENCH
from elastocal.files.text import FlowList, Map, column_texts, csv_text, shown_joint_columns
from elastocal.measure.measured import Measured
from elastocal.model.robot import Robot

VIRTUAL = "Virtual readings: simulated, not measured."
CAMPAIGN, TABLE = "campaign.yaml", "readings.csv"
_OWN, _TABLE = "# sha256 of what follows: ", f"# sha256 of {TABLE}: "


def virtual_files(folder: Path, campaign: str, table: str) -> dict[Path, str]:
    """The two files of a virtual campaign, with their marks."""
    head = f"# {VIRTUAL}\n{_OWN}{_mark(campaign)}\n{_TABLE}{_mark(table)}\n"
    return {folder / CAMPAIGN: head + campaign, folder / TABLE: table}


def own_files(folder: Path) -> Mapping[str, str]:
    """Files of a campaign in a folder that are not what was simulated, and what is known of each."""
    there = [name for name in (CAMPAIGN, TABLE) if (folder / name).exists()]
    head = _head(folder / CAMPAIGN)
    if head is None:
        return dict.fromkeys(there, "was not simulated")
    now = {CAMPAIGN: _mark(head[2]), TABLE: sha256_of(folder / TABLE) if TABLE in there else head[1]}
    known = {CAMPAIGN: head[0], TABLE: head[1]}
    return {name: "was changed since it was simulated" for name in there if now[name] != known[name]}


def _head(campaign: Path) -> tuple[str, str, str] | None:
    """Both marks, and what follows them; None where a file does not say that it is virtual."""
    try:
        text = campaign.read_bytes().decode("utf-8", errors="replace")
    except OSError:
        return None
    first, own, table, *rest = [*text.split("\n", 3), "", "", ""]
    if first != f"# {VIRTUAL}" or not own.startswith(_OWN) or not table.startswith(_TABLE):
        return None
    return own.removeprefix(_OWN), table.removeprefix(_TABLE), rest[0]


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def table_text(campaign: Measured, model: Robot, names: Sequence[str] = ()) -> str:
    """The table of readings as CSV, with their ``names`` where they have some; empty cells where nothing was read."""
    named = [(NAME, names)] if names else []
    setup = campaign.measurement.setup
    columns = shown_joint_columns(model, setup.q)
    columns += [
        (name, setup.wrenches[:, i], "force" if i < 3 else "moment")
        for i, name in enumerate(WRENCH)
        if np.any(setup.wrenches[:, i])
    ]
    readings = list(campaign.measurement.written(campaign.readings))
    return csv_text([*named, *column_texts(columns), *column_texts(readings)])


def campaign_text(
    campaign: Measured, model: Robot, *, name: str, robot: str, table: str, requests: Requests | None = None,
    tool: str | None = None, without: Sequence[str] = (), words: Mapping[str, Any] = MappingProxyType({}),
) -> str:  # fmt: skip
    """The campaign file for a table; ``robot``, ``tool`` and ``without`` are the words that give ``model``.

    Keys of the best predictor are taken over from ``words``, those of the file that it is made from.
    """
    kind = campaign.measurement
    setup = kind.setup
    out: dict[str, Any] = {"format": FORMAT, "name": name, "robot": robot}
    out |= ({} if tool is None else {"tool": tool}) | ({"without": FlowList(without)} if without else {})
    out |= {"table": table, "measurement": kind.kind}
    out |= {} if kind.linear() is None else {"statics": kind.statics}
    out["load"] = Map(frame=setup.load.frame, follows=setup.load.follows)
    out["markers"] = FlowList(m.frame for m in setup.markers)
    own = {k: v for k, v in words.items() if any(k == key or str(k).startswith(f"{key}_") for key in PREDICTION)}
    return campaign_yaml(out, campaign, bool(model.beyond_limits(setup.q)), requests or Requests(), own)


def campaign_files(plan: CampaignFile, campaign: Measured, folder: Path) -> dict[Path, str]:
    """``campaign.yaml`` and ``readings.csv`` for a folder: the plan with these virtual readings in it."""
    if campaign.measurement.touching:
        return virtual_files(folder, *contact_texts(plan, campaign, folder, TABLE))
    filled = dataclasses.replace(campaign, measurement=plan.campaign.measurement)
    text = campaign_text(
        filled, plan.model, name=plan.name, robot=robot_seen_from(plan, folder), table=TABLE, requests=plan.requests,
        tool=plan.words.get("tool"), without=listed(plan.words.get("without")), words=plan.words,
    )  # fmt: skip
    return virtual_files(folder, text, table_text(filled, plan.model, plan.names))
