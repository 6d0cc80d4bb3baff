"""The points of a campaign against the robot file, before anything is fitted: refused where a slip explains them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.errors import InputError

if TYPE_CHECKING:
    from elastocal.calibrate.warnings import PointsCheck
    from elastocal.files.campaign.file import CampaignFile
    from elastocal.spatial.pose import Pose


def check_points(file: CampaignFile) -> PointsCheck | None:
    """Refuse points that fit the robot only with a slip undone; None where no points were read, only differences."""
    from elastocal.calibrate.warnings import PointsCheck
    from elastocal.measure.kind import MarkerMeasurement
    from elastocal.measure.sources.registration import Registration
    from elastocal.quantities import length
    from elastocal.study.placement import placement
    from elastocal.study.slips import likely_slip

    kind = file.campaign.measurement
    if file.points is None or not isinstance(kind, MarkerMeasurement):
        return None
    differences = kind.states == 2
    # registration finds any shift, but only small turns: it is first order in them
    shifted = differences or any(isinstance(s, Registration) for s in file.campaign.common)
    found = placement(file.model, kind.setup, file.points.values, loaded=not differences, shifted=shifted)
    if found is None:
        return None
    slip = likely_slip(file.model, kind.setup, found)
    reading, marker = found.worst
    name = kind.setup.markers[marker].frame
    check = PointsCheck(differences, found, slip, f"{file.points.places[reading, name]}, {name}")
    if slip is not None and slip.table:
        frame = "" if slip.pose is None else f"; write {_remedy(slip.pose, file.points.pose, differences)}"
        raise InputError(
            f"{file.files[0]}: the {check.what} are {length(found.rms)} (rms) from where the robot file puts them, and "
            f"only {length(slip.rms)} if {slip.text}{frame}"
        )
    return check


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
