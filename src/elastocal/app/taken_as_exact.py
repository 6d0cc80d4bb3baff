"""What an accuracy leaves out: parameters of the robot file that nobody sought."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastocal.files.calibration.record import CalibrationRecord
    from elastocal.model.robot import RobotModel

MOST = 6
MASSES = ("link_mass", "payload")


def taken_as_exact(parameters: Iterable[tuple[str, float]], sought: Iterable[str]) -> tuple[str, ...]:
    """Names of the parameters (with values) that have one and were not sought."""
    known = set(sought)
    return tuple(name for name, value in parameters if value and name not in known)


def exact_in(record: CalibrationRecord) -> tuple[str, ...]:
    """The same of a calibration file."""
    return taken_as_exact(((p.name, p.value) for p in record.parameters if p.status == "held"), record.names)


def exact_note(names: Sequence[str]) -> tuple[str, ...]:
    if not names:
        return ()
    shown = ", ".join(names[:MOST]) + (f" and {len(names) - MOST} more" if len(names) > MOST else "")
    return (f"Taken as exact, because they were not sought: {shown}.",)


def assumed_masses(model: RobotModel, sought: Iterable[str]) -> tuple[str, ...]:
    """Parameters of masses that nobody sought and that are assumed."""
    named = ((p.name, p.value) for p in model.parameters if p.kind in MASSES and p.status == "assumed")
    return taken_as_exact(named, sought)
