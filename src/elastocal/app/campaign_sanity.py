"""What is refused before a fit: fewer numbers than unknowns, deflections against the load or far too large."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.errors import InputError

if TYPE_CHECKING:
    from elastocal.files.campaign.file import CampaignFile

ALIGNED = 0.5
"""Correlation of read and expected deflections above which they tell of the same thing, or of its opposite."""
WRONG_UNIT = 50.0
"""Times too large: no guessed compliance is so far off, and with so soft a robot a search would take hours."""


def check_numbers(file: CampaignFile) -> None:
    """Refuse fewer numbers than parameters: what is found then depends on what the robot file says of the others."""
    from elastocal.identify.reduction import sought_names
    from elastocal.model.descriptions import in_form

    asked, campaign = file.requests, file.campaign
    names = sought_names(campaign.measurement, in_form(file.model, asked.form or "beam"), asked.seek, asked.hold)
    numbers = int(campaign.measured.sum())
    if numbers < len(names):
        raise InputError(
            f"{file.files[0]}: {numbers} numbers were read, fewer than the {len(names)} parameters sought; measure "
            "more poses or markers, or name fewer parameters under seek"
        )


def check_deflections(file: CampaignFile) -> None:
    """Refuse deflections that go against the load, which no arm at rest does, or are far too large for it."""
    import numpy as np

    from elastocal.measure.deflection import Deflection

    kind = file.campaign.measurement
    if not isinstance(kind, Deflection):
        return
    lengths = [i for i, row in enumerate(kind.rows) if row.unit == "m"]
    read, used = file.campaign.readings[:, lengths], file.campaign.measured[:, lengths]
    expected = Deflection(kind.where, "linear").predict(file.model)[:, lengths]
    x, y = read[used], expected[used]
    size = float(np.linalg.norm(x) * np.linalg.norm(y))
    if size == 0 or abs(x @ y) < ALIGNED * size:
        return
    if x @ y < 0:
        raise InputError(
            f"{file.files[0]}: the deflections go against the load (correlation {x @ y / size:.2f} with what the robot "
            "file lets expect); turn their signs (loaded minus unloaded is asked for), or those of the load"
        )
    ratio = float(x @ y / (y @ y))
    if ratio > WRONG_UNIT:
        raise InputError(
            f"{file.files[0]}: the deflections are {ratio:.2g} times what the robot file lets expect of the load; "
            "check the units of load and deflections in the table, or the compliances in the robot file"
        )
