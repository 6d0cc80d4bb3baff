"""What no robot feels, and what contacts do not tell.

Contacts far from the object or deep inside it, forces that are nothing or pull, are refused; so are too few contacts,
or contacts too much alike for what is sought.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from elastocal.errors import ImplausibleError, InfeasibleError, MissingError, RangeError, TooFewError
from elastocal.files.contact.table import ContactTable
from elastocal.files.located import Located
from elastocal.measure.contacts import ContactForce, ContactGap, contacts_of
from elastocal.measure.markers import Position
from elastocal.measure.measured import Measured
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot
from elastocal.model.statics.contact import contact
from elastocal.model.surfaces.plane import Plane
from elastocal.procedures.contact.plan import ContactPlan
from elastocal.results import as_sentence
from elastocal.spatial.entries import Array, Bools, Ints

NARROW = np.radians(30.0)
"""Half the angle of the cone that holds all directions of contacts on one small arc."""
FEW = 3
ALIKE = 1e-4
"""In rad or m: joint values that do not differ by more are the same contact, read again."""


def check_count(located: Located, campaign: Measured, names: Sequence[str]) -> None:
    """A contact tells mostly one number, how hard it presses: at least as many contacts as parameters.

    The same contact again tells nothing new.
    """
    kind = contacts_of(campaign.measurement)
    contacts = len(np.unique(np.column_stack([kind.touches.which, np.round(kind.q / ALIKE)]), axis=0))
    if contacts < len(names):
        again = f" (of {kind.count} rows, the others repeat them)" if contacts < kind.count else ""
        raise TooFewError(
            f"{located.where(('table',))}: {contacts} contacts{again} are fewer than the {len(names)} parameters "
            f"sought; touch at least {len(names) - contacts} more points, or name fewer under seek"
        )


def check_directions(
    located: Located, kind: ContactForce, model: Robot, readings: Array, names: Sequence[str], plan: bool
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
    message = (
        f"all {kind.count} contacts lie on one arc of {np.degrees(wide):.0f} degrees of {object_label(kind, 0)} and "
        "press in almost one direction; add contacts on its other sides and on a second object far from it"
    )
    if plan:
        return (as_sentence(message),)
    raise located.error(("table",), message, ImplausibleError)


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


Rows = Sequence[tuple[ContactTable, int]]
FAR, DEEP = 0.05, 0.5
"""Distance from the surface as a share of the robot's size; depth as a share of the object's radius."""


def check_felt(readings: Array, rows: Rows, skip: bool) -> tuple[Ints, tuple[str, ...]]:
    """Numbers of the contacts that felt a force, and what is said of the others; refused unless they may be skipped."""
    idle = np.flatnonzero(np.all(readings == 0, axis=1))
    if len(idle) and not skip:
        table, row = rows[int(idle[0])]
        raise RangeError(
            f"{table.spot(row, 'fx')}: the force is zero, so that nothing is touched there; leave the row out, or all "
            "such rows by missing: skip"
        )
    absent = np.flatnonzero(~np.isfinite(readings).all(axis=1))
    kept = np.setdiff1d(np.arange(len(readings)), np.union1d(idle, absent))
    if not len(kept):
        raise MissingError(f"{rows[0][0].raw.file}: no contact felt a force; fill the columns of the force")
    cases = [(idle, "felt no force"), (absent, "lack a force")]
    return kept, tuple(f"{len(i)} contacts {what} and are left out ({_named(rows, i)})." for i, what in cases if len(i))


def check_pressed(located: Located, word: str, kind: ContactForce, readings: Array, model: Robot, rows: Rows) -> None:
    """With the measured force on it, the robot as described is near the surface, not deep inside, and pushed away."""
    gap = ContactGap.of(kind, readings)
    tip = Position(gap.pushed).predict(model)
    near = kind.touches.near(np.ascontiguousarray(tip.T))
    along = np.einsum("ni,in->n", gap.force, near.normal) / np.linalg.norm(gap.force, axis=1)
    _check_near(kind, near.distance, model, rows)
    pulled = np.flatnonzero(along < 0)
    if len(pulled):
        table, row = rows[int(pulled[0])]
        other = "by_robot" if word == "on_robot" else "on_robot"
        use = (
            f"write 'force: {other}' in {located.file}"
            if 2 * len(pulled) > len(rows)
            else "correct its sign or leave the row out"
        )
        use += "".join(f", or turn the normal of {label} outwards" for label in _turned(kind, pulled))
        raise ImplausibleError(
            f"{table.spot(row, 'fx')}: the force on the robot points into {object_label(kind, int(pulled[0]))}, as in "
            f"{len(pulled)} of {len(rows)} rows, and an object only pushes away; {use}"
        )


def _turned(kind: ContactForce, pulled: Ints) -> Iterator[str]:
    """Planes all of whose contacts are pulled: their stated normal may point inwards."""
    for i, surface in enumerate(kind.touches.surfaces):
        mine = np.flatnonzero(kind.touches.which == i)
        if isinstance(surface, Plane) and len(mine) and np.isin(mine, pulled).all():
            yield surface.label


def check_recorded(located: Located, word: str, kind: ContactForce, readings: Array, model: Robot, rows: Rows) -> None:
    """Forces that stand in the table of a plan already push away as well; those that are not there yet may come."""
    there = np.flatnonzero(np.isfinite(readings).all(axis=1) & np.any(readings, axis=1))
    if len(there):
        felt = ContactForce(kind.q[there], kind.touches.rows(there), kind.axes)
        check_pressed(located, word, felt, readings[there], model, [rows[int(i)] for i in there])


def check_commanded(kind: ContactForce, model: Robot, rows: Rows) -> tuple[str, ...]:
    """Joint values of a plan bring the robot as described to the objects; which contacts it would miss all the same."""
    tip = kinematics(model, kind.q, kind.touches.frame).position
    _check_near(kind, kind.touches.near(np.ascontiguousarray(tip.T)).distance, model, rows)
    missed = np.flatnonzero(np.all(kind.predict(model) == 0, axis=1))
    if not len(missed):
        return ()
    return (
        f"{len(missed)} of {kind.count} contacts do not touch with the robot as described, and tell nothing here "
        f"({_named(rows, missed)}); press deeper, or give places and forces instead of joint values.",
    )


def _check_near(kind: ContactForce, distance: Array, model: Robot, rows: Rows) -> None:
    for i in (int(n) for n in np.flatnonzero(distance > FAR * model.size)):
        raise InfeasibleError(
            f"{_spot(rows, i)}: contact out of reach: the tip is {1e3 * distance[i]:.0f} mm away from "
            f"{object_label(kind, i)}; check the joint values, the object's name and place, and their units"
        )
    for i in (int(n) for n in np.flatnonzero(_deep(kind, distance))):
        raise ImplausibleError(
            f"{_spot(rows, i)}: the tip is {-1e3 * distance[i]:.0f} mm inside {object_label(kind, i)}: object inside "
            "the arm; check the joint values, and the object's place and size"
        )


def check_places(model: Robot, plan: ContactPlan, reached: Bools, rows: Rows) -> None:
    """Every planned contact can be commanded."""
    lost = np.flatnonzero(~reached)
    if not len(lost):
        return
    i = int(lost[0])
    point = ", ".join(f"{1e3 * v:.1f}" for v in plan.points[i])
    more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
    raise InfeasibleError(
        f"{_spot(rows, i)}{more}: contact out of reach: no joint values within the limits bring {plan.touches.frame} "
        f"to ({point}) mm on {plan.touches.surfaces[plan.touches.which[i]].label}; touch another place"
    )


def _deep(kind: ContactForce, distance: Array) -> Bools:
    """Nearer to the middle of a round object than to its surface; faces have no middle."""
    radius = np.array([getattr(s, "radius", np.inf) for s in kind.touches.surfaces])[kind.touches.which]
    return np.asarray(-distance > DEEP * radius)


def object_label(kind: ContactForce, i: int) -> str:
    """Of what the contact touches."""
    return kind.touches.surfaces[int(kind.touches.which[i])].label


def _spot(rows: Rows, i: int) -> str:
    table, row = rows[i]
    return table.spot(row)


def _named(rows: Rows, which: Ints) -> str:
    shown = ", ".join(rows[int(i)][0].place(rows[int(i)][1]) for i in which[:8])
    return shown + (", ..." if len(which) > 8 else "")
