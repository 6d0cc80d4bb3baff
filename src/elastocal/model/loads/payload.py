"""A body that the robot carries: a mass that changes with the job, present loaded and unloaded."""

from __future__ import annotations

from typing import ClassVar

from elastocal.model.loads.link_mass import LinkMass
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class Payload(LinkMass):
    """A link mass of its own name, so that robot and payload stay apart in tables and fits."""

    kind: ClassVar[str] = "payload"
