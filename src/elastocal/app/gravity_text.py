"""The robot file with the masses that a log gave."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from elastocal.errors import InputError

if TYPE_CHECKING:
    from elastocal.app.commands.gravity import GravityRequest
    from elastocal.gravity.fit import GravityFit


def gravity_text(request: GravityRequest, found: GravityFit, payload: GravityFit | None) -> str:
    """The robot file with the masses found, each with its source."""
    from elastocal.files.robot.write import robot_text
    from elastocal.model.loads.link_mass import LinkMass

    model = found.model if payload is None else payload.model
    logs = [request.log.name] + ([] if request.payload_log is None else [request.payload_log.name])
    source = f"elastocal gravity from {' and '.join(logs)}, {found.samples.log.count} samples"
    changed = {n.rsplit(".", 1)[0] for n in found.wide.names}
    elements = []
    for e in model.elements:
        if isinstance(e, LinkMass) and e.mass < 0:
            raise InputError(
                f"--out {request.out}: the mass at {e.frame} comes out as {e.mass:.3g} kg, since the log tells it "
                "only together with others; give the robot file's masses as a prior, or log more poses"
            )
        new = isinstance(e, LinkMass) and (e.frame in changed if e.kind == "link_mass" else payload is not None)
        elements.append(replace(e, source=source) if new else e)
    return robot_text(replace(model, elements=tuple(elements)), (f"Made from {request.robot} by {source}.",))
