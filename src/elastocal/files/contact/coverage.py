"""Whether contacts taken together can tell what is sought: too few, or too much alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastocal.errors import InputError
from elastocal.files.contact.checks import object_label
from elastocal.files.located import Located
from elastocal.measure.campaign import Campaign
from elastocal.measure.contact_force import ContactForce
from elastocal.measure.contact_gap import ContactGap
from elastocal.model.robot import RobotModel
from elastocal.model.statics.contact import contact
from elastocal.spatial.entries import Array, Bools

NARROW = np.radians(30.0)
"""Half the angle of the cone that holds all directions of contacts on one small arc."""
FEW = 3
ALIKE = 1e-4
"""In rad or m: joint values that do not differ by more are the same contact, read again."""


def check_count(located: Located, campaign: Campaign, names: Sequence[str]) -> None:
    """A contact tells mostly one number, how hard it presses: at least as many contacts as parameters.

    The same contact again tells nothing new.
    """
    kind = campaign.measurement
    assert isinstance(kind, ContactForce)
    contacts = len(np.unique(np.column_stack([kind.touches.which, np.round(kind.q / ALIKE)]), axis=0))
    if contacts < len(names):
        again = f" (of {kind.count} rows, the others repeat them)" if contacts < kind.count else ""
        raise InputError(
            f"{located.where(('table',))}: {contacts} contacts{again} are fewer than the {len(names)} parameters "
            f"sought; touch at least {len(names) - contacts} more points, or name fewer under seek"
        )


def check_directions(
    located: Located, kind: ContactForce, model: RobotModel, readings: Array, names: Sequence[str], plan: bool
) -> tuple[str, ...]:
    """Contacts on one small arc tell the same over and over: told of every object, refused where there is one only."""
    force = contact(model, kind.q, kind.touches).force if plan else ContactGap.of(kind, readings).force
    felt = np.isfinite(force).all(axis=1) & np.any(force, axis=1)
    if len(names) <= FEW:
        return ()
    if len(np.unique(kind.touches.which)) > 1:
        return _narrow_objects(kind, force, felt)
    wide = _arc(force[felt])
    if wide > 2 * NARROW:
        return ()
    said = (
        f"all {kind.count} contacts lie on one arc of {np.degrees(wide):.0f} degrees of {object_label(kind, 0)} and "
        "press in almost one direction; add contacts on its other sides and on a second object far from it"
    )
    if plan:
        return (f"{said[0].upper()}{said[1:]}.",)
    raise located.error(("table",), said)


def _narrow_objects(kind: ContactForce, force: Array, felt: Bools) -> tuple[str, ...]:
    """What is said of several objects: of all together, else of each."""
    wide = _arc(force[felt])
    if wide <= 2 * NARROW:
        return (
            f"All {kind.count} contacts press in almost one direction, within {np.degrees(wide):.0f} degrees; add "
            "contacts on the other sides of the objects.",
        )
    rows = [np.flatnonzero(felt & (kind.touches.which == i)) for i in np.unique(kind.touches.which)]
    arcs = [(mine, _arc(force[mine])) for mine in rows if len(mine) > 1]
    return tuple(
        f"All {len(mine)} contacts on {object_label(kind, int(mine[0]))} lie on one arc of {np.degrees(wide):.0f} "
        "degrees; add contacts on its other sides."
        for mine, wide in arcs
        if wide <= 2 * NARROW
    )


def _arc(force: Array) -> float:
    """Angle in rad of the cone about their mean that holds all directions; a whole turn of fewer than two."""
    if len(force) < 2:
        return 2 * np.pi
    unit = force / np.linalg.norm(force, axis=1)[:, None]
    middle = unit.mean(axis=0) / max(float(np.linalg.norm(unit.mean(axis=0))), 1e-9)
    return float(2 * np.arccos(np.clip(np.min(unit @ middle), -1.0, 1.0)))
