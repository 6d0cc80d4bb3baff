"""What a calibration by contact shows beside any other: force errors before and after, objects, the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.pages.columns import known
from elastocal.report.blocks import Cell, Column, Section, Table

if TYPE_CHECKING:
    from elastocal.app.commands.identify import IdentifyResult
    from elastocal.measure.campaign import Campaign
    from elastocal.measure.contact_force import ContactForce
    from elastocal.model.robot import RobotModel
    from elastocal.report.blocks import Lines
    from elastocal.report.contour import Contour
    from elastocal.spatial.entries import Array


def contact_sections(result: IdentifyResult, complete: bool) -> tuple[Section, ...]:
    """Nothing for other kinds of measurement."""
    if result.contacts is None:
        return ()
    pictures = (picture(result, "before"), picture(result, "after")) if complete else ()
    return Section("Contacts", (force_table(result), object_table(result))), Section("Contour", pictures)


def contact_verdict(result: IdentifyResult) -> tuple[str, ...]:
    found = result.contacts
    if found is None:
        return ()
    lines = [f"The mean force error e_f (002 eq. 10) falls from {found.before:.3g} N to {found.after:.3g} N."]
    lines += [f"OBJECT: {e.text()}; measure its place again." for e in found.objects[:1] if e.convincing]
    return (*lines, *found.lost)


def force_table(result: IdentifyResult) -> Table:
    found = result.contacts
    assert found is not None
    columns = (Column("model", "model"), Column("e_f_N", "e_f", "N", digits=4))
    why = "no contact has a determined state"
    rows = (
        ("as the robot file describes it", known(found.before, why)),
        ("calibrated", known(found.after, why)),
    )
    notes = (
        "Mean length of the difference between measured and predicted force (002 eq. 10); no contact counts as 0 N.",
    )
    return Table("force_error", "", columns, rows, notes)


def object_table(result: IdentifyResult) -> Table:
    """Every object freed in turn."""
    found = result.contacts
    assert found is not None
    columns = (
        Column("object", "object"),
        Column("share_percent", "of the misfit", "%", 1),
        Column("probability", "by chance", digits=2),
        Column("change", "place it would have"),
    )
    rows: list[tuple[Cell, ...]] = [
        (e.name, 100 * e.share, e.probability, ", ".join(f"{n} {1e3 * v:+.3g} m{u}" for n, u, v in e.changes))
        for e in found.objects
    ]
    notes = (
        "How much of the misfit goes away when one object may lie elsewhere, its size as stated. Noise gives every "
        "object some; one that takes most, against all chance, is not where the file says.",
    )
    return Table("objects", "", columns, tuple(rows), notes)


def picture(result: IdentifyResult, when: str) -> Lines:
    """The robot as described, or as calibrated."""
    from elastocal.report.contour import contour

    fit = result.study.fit
    model = result.model if when == "before" else fit.model
    title = f"Contour tracking {when} calibration"
    return contour(f"contour_{when}", title, scene(model, fit.campaign), _UNSEEN)


_UNSEEN = ("Seen along z; the arm is drawn at the first contact with each object.",)


def scene(model: RobotModel, campaign: Campaign) -> Contour:
    """Robot, objects and forces for the picture."""
    import numpy as np

    from elastocal.measure.contact_force import ContactForce
    from elastocal.measure.contact_gap import ContactGap
    from elastocal.measure.position import Position
    from elastocal.report.contour import Contour

    kind = campaign.measurement
    assert isinstance(kind, ContactForce)
    felt = np.nan_to_num(campaign.readings)
    rows = np.flatnonzero(np.any(felt != 0, axis=1))
    part = ContactForce(kind.q[rows], kind.touches.rows(rows), kind.axes)
    gap = ContactGap.of(part, felt[rows])
    points = Position(gap.pushed).predict(model)
    first = [int(np.flatnonzero(part.touches.which == i)[0]) for i in np.unique(part.touches.which)]
    expected = part.touched(model).force
    return Contour(_arms(model, part.q[first], part.touches.frame), _outlines(part), points[:, :2], gap.force[:, :2],
                   expected[:, :2])  # fmt: skip


def _arms(model: RobotModel, q: Array, frame: str) -> list[Array]:
    """The frames from base to tip at each configuration (k, 2)."""
    import numpy as np

    from elastocal.model.frames import BASE
    from elastocal.model.kinematics import kinematics

    chain = [frame]
    while chain[0] != BASE:
        chain.insert(0, model.tree.frame(chain[0]).parent)
    where = np.stack([kinematics(model, q, f).position[:, :2] for f in chain], axis=1)
    return list(where)


def _outlines(kind: ContactForce) -> list[Array]:
    """Circles of round objects as seen from above."""
    import numpy as np

    turn = np.linspace(0.0, 2 * np.pi, 73)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    round_ones = [s for s in kind.touches.surfaces if hasattr(s, "centre") and hasattr(s, "radius")]
    return [np.asarray(s.centre[:2]) + s.radius * circle for s in round_ones]
