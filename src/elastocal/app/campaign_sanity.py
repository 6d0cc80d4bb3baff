"""What is refused before a fit: fewer numbers than unknowns, and deflections that go against the load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.errors import InputError

if TYPE_CHECKING:
    from elastocal.files.campaign_yaml import CampaignFile

AGAINST = -0.5


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


def check_signs(file: CampaignFile) -> None:
    """Refuse deflections that go against the load: no arm at rest does that."""
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
    if size > 0 and x @ y < AGAINST * size:
        raise InputError(
            f"{file.files[0]}: the deflections go against the load (correlation {x @ y / size:.2f} with what the robot "
            "file lets expect); turn their signs (loaded minus unloaded is asked for), or those of the load"
        )
