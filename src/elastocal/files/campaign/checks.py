"""What is refused before a reduction: too few numbers, deflections against the load, points that a slip explains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.errors import ImplausibleError, TooFewError
from elastocal.reduction.warnings import PointsCheck

if TYPE_CHECKING:
    from elastocal.files.campaign.file import CampaignFile
    from elastocal.reduction.slips import Placement
    from elastocal.spatial.pose import Pose


ALIGNED = 0.5
"""Correlation of read and expected deflections above which they tell of the same thing, or of its opposite."""
WRONG_UNIT = 50.0
"""Times too large: no guessed compliance is so far off, and with so soft a robot a search would take hours."""


def check_numbers(file: CampaignFile) -> None:
    """Refuse fewer numbers than parameters: what is found then depends on what the robot file says of the others."""
    from elastocal.model.descriptions import in_form
    from elastocal.reduction.identify import sought_names

    asked, campaign = file.requests, file.campaign
    names = sought_names(campaign.measurement, in_form(file.model, asked.form or "beam"), asked.seek, asked.hold)
    numbers = int(campaign.measured.sum())
    if numbers < len(names):
        raise TooFewError(
            f"{file.files[0]}: {numbers} numbers were read, fewer than the {len(names)} parameters sought; measure "
            "more poses or markers, or name fewer parameters under seek"
        )


def check_deflections(file: CampaignFile) -> None:
    """Refuse deflections that go against the load, which no arm at rest does, or are far too large for it."""
    import numpy as np

    kind = file.campaign.measurement
    linear = kind.linear()
    if linear is None:
        return
    lengths = [i for i, row in enumerate(kind.rows) if row.unit == "m"]
    read, used = file.campaign.readings[:, lengths], file.campaign.measured[:, lengths]
    expected = linear.predict(file.model)[:, lengths]
    x, y = read[used], expected[used]
    size = float(np.linalg.norm(x) * np.linalg.norm(y))
    if size == 0 or abs(x @ y) < ALIGNED * size:
        return
    if x @ y < 0:
        raise ImplausibleError(
            f"{file.files[0]}: the deflections go against the load (correlation {x @ y / size:.2f} with what the robot "
            "file lets expect); turn their signs (loaded minus unloaded is asked for), or those of the load"
        )
    ratio = float(x @ y / (y @ y))
    if ratio > WRONG_UNIT:
        raise ImplausibleError(
            f"{file.files[0]}: the deflections are {ratio:.2g} times what the robot file lets expect of the load; "
            "check the units of load and deflections in the table, or the compliances in the robot file"
        )


def check_points(file: CampaignFile) -> tuple[CampaignFile, PointsCheck | None]:
    """Refuse points that fit the robot only with a slip undone; None where no points were read, only differences.

    Positions in axes of an instrument of which nothing is stated are brought to base axes, and where it stands becomes
    an unknown of the campaign.
    """
    from elastocal.quantities import length
    from elastocal.reduction.slips import likely_slip

    kind = file.campaign.measurement
    if file.points is None or kind.watched is None:
        return file, None
    placement = _placement(file)
    if placement is None:
        return file, None
    slip = likely_slip(file.model, kind.setup, placement)
    differences = kind.states == 2
    plain = all(m.rows == 3 for m in kind.setup.markers)
    if slip is not None and slip.pose is not None and not differences and file.points.pose is None and plain:
        return check_points(_registered(file, slip.pose))
    reading, marker = placement.worst
    name = kind.setup.markers[marker].frame
    check = PointsCheck(differences, placement, slip, f"{file.points.places[reading, name]}, {name}")
    if slip is not None and slip.table:
        frame = "" if slip.pose is None else f"; write {_remedy(slip.pose, file.points.pose, differences)}"
        raise ImplausibleError(
            f"{file.files[0]}: the {check.what} are {length(placement.rms)} (rms) from where the robot file puts them, "
            f"and only {length(slip.rms)} if {slip.text}{frame}"
        )
    return file, check


def _placement(file: CampaignFile) -> Placement | None:
    from elastocal.measure.sources.places import Registration
    from elastocal.reduction.slips import placement

    setup, differences = file.campaign.measurement.setup, file.campaign.measurement.states == 2
    assert file.points is not None
    # registration finds any shift, but only small turns: it is first order in them
    shifted = differences or any(isinstance(s, Registration) for s in file.campaign.common)
    return placement(file.model, setup, file.points.values, loaded=not differences, shifted=shifted)


def _registered(file: CampaignFile, pose: Pose) -> CampaignFile:
    """Positions in base axes by the pose that fits them best, and the six numbers of it as nuisance parameters."""
    from dataclasses import replace

    import numpy as np

    from elastocal.files.campaign.read import in_base
    from elastocal.measure.sources.places import Registration

    campaign, points = file.campaign, file.points
    assert points is not None
    n, r = campaign.readings.shape
    readings = in_base(pose, campaign.readings.reshape(n, -1, 3), points=True).reshape(n, r)
    stated = any(isinstance(s, Registration) for s in campaign.sources)
    note = (
        f"No tracker_frame is stated and the points are in axes of their own: they were brought to base axes by "
        f"tracker_frame: {_written(pose, None)}, and where the instrument stands is estimated with everything else."
    )
    return replace(
        file,
        campaign=replace(
            campaign, readings=readings, sources=campaign.sources if stated else (*campaign.sources, Registration())
        ),
        points=replace(points, values=np.asarray(in_base(pose, points.values, points=True)), pose=pose),
        notes=(*file.notes, note),
    )


def _remedy(missing: Pose, stated: Pose | None, differences: bool) -> str:
    """What puts the points right: numbers for differences, which need no more than the turn.

    Positions would take numbers fitted to an arm that is off itself as exact: for them the frame stays an unknown.
    """
    if not differences:
        return "tracker_frame: fit, with the source of error registration"
    return f"tracker_frame: {_written(missing, stated)}"


def _written(missing: Pose, stated: Pose | None) -> str:
    """The pose of the instrument's axes as a campaign file has it, with what it lacks."""
    from math import degrees

    from elastocal.spatial.rotation import matrix_rpy

    pose = missing if stated is None else missing @ stated
    xyz = ", ".join(f"{1e3 * float(v):.1f}" for v in pose.translation)
    rpy = ", ".join(f"{degrees(v):.3f}" for v in matrix_rpy(pose.rotation))
    return f"{{xyz_mm: [{xyz}], rpy_deg: [{rpy}]}}"
