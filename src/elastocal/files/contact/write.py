"""Contacts written as a campaign file and a table that read back to the same numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from elastocal.errors import InputError
from elastocal.files.campaign.file import FORMAT, CampaignFile, robot_seen_from
from elastocal.files.campaign.parts import (
    Column,
    changed_requests,
    column_texts,
    csv_text,
    shown_joint_columns,
    source_text,
)
from elastocal.files.campaign.readings_entry import Requests
from elastocal.files.schema import dimensions_of
from elastocal.files.yaml_text import Dumper, FlowList, Map, digits, quantity_text
from elastocal.measure.campaign import Campaign
from elastocal.measure.contact_force import ContactForce
from elastocal.model.robot import RobotModel
from elastocal.model.surfaces.surface import Surface


def contact_texts(plan: CampaignFile, campaign: Campaign, folder: Path, table: str) -> tuple[str, str]:
    """Campaign file and table for a folder: the plan with what was read at its contacts."""
    kind = campaign.measurement
    if not isinstance(kind, ContactForce):
        raise InputError(f"a campaign of {kind.kind} has no contacts to write")
    head = {"name": plan.name, "robot": robot_seen_from(plan, folder)}
    head |= {k: plan.words[k] for k in ("tool", "without") if k in plan.words}
    text = contact_text(campaign, kind, plan.model, head, table, plan.requests)
    return text, contact_table_text(campaign, kind, plan.model, plan.names)


def contact_text(
    campaign: Campaign,
    kind: ContactForce,
    model: RobotModel,
    head: Mapping[str, Any],
    table: str,
    requests: Requests,
) -> str:
    """The campaign file; ``head`` has its name and the words that give ``model``."""
    out: dict[str, Any] = {"format": FORMAT, **head}
    out |= {"table": table, "measurement": "contact", "frame": kind.touches.frame}
    out["objects"] = [object_text(s) for s in kind.touches.surfaces]
    out["force"] = "on_robot"
    if not np.all(campaign.measured):
        out["missing"] = "skip"
    if model.beyond_limits(kind.q):
        out["limits"] = "ignore"
    out |= changed_requests(requests)
    if campaign.sources:
        out["errors"] = [source_text(s) for s in campaign.sources]
    return yaml.dump(out, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=110)


def contact_table_text(campaign: Campaign, kind: ContactForce, model: RobotModel, words: Sequence[str] = ()) -> str:
    """``words`` name the contacts, one each."""
    named = [("name", words)] if words else []
    names = [kind.touches.surfaces[i].name for i in kind.touches.which]
    felt: list[Column] = [(f"f{a}", campaign.readings[:, i], "force") for i, a in enumerate(kind.axes)]
    return csv_text([*named, ("object", names), *column_texts(shown_joint_columns(model, kind.q)), *column_texts(felt)])


def object_text(surface: Surface) -> Map:
    """An object on one line, in usual units."""
    out = Map(kind=surface.kind, name=surface.name)
    dimensions = dimensions_of(type(surface))
    for field in dataclasses.fields(surface):
        value, dimension = getattr(surface, field.name), dimensions[field.name]
        if field.name == "name" or value == field.default:
            continue
        if dimension:
            out |= quantity_text(field.name, dimension, value)
        else:
            out[field.name] = FlowList(float(digits(v)) for v in value) if isinstance(value, tuple) else value
    return out
