"""What the robot of a command carries."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from elastocal.errors import InputError

if TYPE_CHECKING:
    from elastocal.model.robot import Robot


def with_payload(model: Robot, mass: float | None, frame: str | None) -> Robot:
    """The model carrying ``mass`` at ``frame`` (default: where its payload is, else the tool)."""
    from elastocal.model.loads.payload import Payload

    if mass is None:
        if frame is not None:
            raise InputError("--payload-frame says where, but not how much; add --payload with the mass in kg")
        return model
    carried = next((e for e in model.elements if isinstance(e, Payload)), None)
    if carried is None:
        return model.with_elements(Payload(frame=frame or model.tool, mass=mass, source="command line"))
    stays = frame in (None, carried.frame)
    share = mass / carried.mass if stays and carried.mass > 0 else 0.0
    x, y, z = (share * m for m in carried.moment)
    new = Payload(frame=frame or carried.frame, mass=mass, moment=(x, y, z), source="command line")
    return replace(model, elements=tuple(new if e is carried else e for e in model.elements))
