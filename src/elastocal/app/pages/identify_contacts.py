"""What a calibration by contact shows beside any other: force errors before and after, objects, the picture."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from elastocal.app.pages.columns import known
from elastocal.report.blocks import Cell, Column, Section, Table

if TYPE_CHECKING:
    from elastocal.app.commands.identify import IdentifyResult
    from elastocal.report.blocks import Lines

FEW = 2
"""Digits of a factor that follows from forces with their scatter."""


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
    return (*lines, *found.lost, *_standing(result))


def _standing(result: IdentifyResult) -> list[str]:
    """What the contacts give only together, and what would part it."""
    from elastocal.contacts.combined import written

    found = result.contacts
    if found is None or not found.standing:
        return []
    units = {p.name: p.unit for p in result.study.fit.model.parameters}
    lines = [
        f"NOT SEPARABLE: only {written(c, units, FEW)} is known; the value of {c.kept} holds only if "
        f"{', '.join(n for n, _ in c.absorbed)} is what the robot file says."
        for c in found.standing
    ]
    if isfinite(found.level):
        both = f"{found.level / 2:.3g} N and {found.level:.3g} N"
        return [*lines, f"REPAIR: all contacts press alike; press some of them with half the force ({both})."]
    return [*lines, "REPAIR: press at forces that differ more, or touch other places (see assess)."]


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
    from elastocal.contacts.scene import scene
    from elastocal.report.contour import contour

    fit = result.study.fit
    model = result.model if when == "before" else fit.model
    title = f"Contour tracking {when} calibration"
    return contour(f"contour_{when}", title, scene(model, fit.campaign))
