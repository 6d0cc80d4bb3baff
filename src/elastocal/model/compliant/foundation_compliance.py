"""What the robot stands on: a 6x6 spring at the base, under everything."""

from __future__ import annotations

from typing import ClassVar

from elastocal.model.compliant.link_compliance import LinkCompliance
from elastocal.model.frames import BASE
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class FoundationCompliance(LinkCompliance):
    """A link compliance whose frame is the base."""

    kind: ClassVar[str] = "foundation_compliance"
    frame: str = BASE
