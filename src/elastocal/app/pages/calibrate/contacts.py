"""What a calibration by contact shows beside any other: force errors before and after, objects, the picture."""

from __future__ import annotations

from math import isfinite, pi
from typing import TYPE_CHECKING

from elastocal.app.pages.columns import or_reason
from elastocal.report.blocks import Cell, Column, Section, Table, Unknown

if TYPE_CHECKING:
    from elastocal.app.commands.calibrate import CalibrateResult
    from elastocal.report.blocks import Lines
    from elastocal.study.contact_screen import Misreading, Touched, WrongContact

FEW = 2
"""Digits of a factor that follows from forces with their scatter."""


def contact_sections(result: CalibrateResult, complete: bool) -> tuple[Section, ...]:
    """Nothing for other kinds of measurement."""
    if result.contacts is None:
        return ()
    pictures = (picture(result, "before"), picture(result, "after")) if complete else ()
    tables = (force_table(result), object_table(result), *wrong_tables(result))
    return Section("Contacts", tables), Section("Contour", pictures)


def contact_verdict(result: CalibrateResult) -> tuple[str, ...]:
    found = result.contacts
    if found is None:
        return ()
    lines = [f"The mean force error e_f (002 eq. 10) falls from {found.before:.3g} N to {found.after:.3g} N."]
    return (*lines, *(wrong_text(w) for w in _doubts(result).wrong), *found.lost, *_standing(result))


def object_warnings(result: CalibrateResult) -> list[str]:
    """An object that does not stand where the campaign file says."""
    found = () if result.study.touched is None else result.study.touched.objects
    return [f"OBJECT: {d.text()}; measure its {d.what} again." for d in found[:1] if d.convincing]


def _doubts(result: CalibrateResult) -> Touched:
    doubts = result.study.touched
    assert doubts is not None
    return doubts


def wrong_text(wrong: WrongContact) -> str:
    """The contact that was left out, and which of its numbers may be wrong."""
    said = " or ".join(
        f"{c.name} = {shown_number(c, c.value)} ({shown_number(c, c.better)} would fit)" for c in wrong.causes
    )
    why = f"wrong is {said}" if said else "no single joint value or force component explains it"
    return f"LEFT OUT: {wrong.place} contradicts the other contacts; {why}."


def shown_number(cause: Misreading, value: float) -> str:
    """As tables have it: degrees, mm, N."""
    factor, unit, decimals = {"rad": (180 / pi, "deg", 3), "m": (1e3, "mm", 3), "N": (1.0, "N", 2)}[cause.unit]
    return f"{factor * value:.{decimals}f} {unit}"


def wrong_tables(result: CalibrateResult) -> tuple[Table, ...]:
    """Nothing where all contacts belong."""
    columns = (
        Column("place", "contact"),
        Column("probability", "by chance", digits=2),
        Column("number", "wrong may be"),
        Column("read", "read"),
        Column("fits", "would fit"),
    )
    rows = tuple(row for w in _doubts(result).wrong for row in _wrong_rows(w))
    notes = (
        "Contacts that the others contradict, judged whole by the gap they leave, and left out; 'outliers: keep' keeps "
        "them. Every joint value and force component is corrected alone: those that leave only noise are listed.",
    )
    return (Table("wrong_contacts", "", columns, rows, notes),) if rows else ()


def _standing(result: CalibrateResult) -> list[str]:
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


def force_table(result: CalibrateResult) -> Table:
    found = result.contacts
    assert found is not None
    columns = (Column("model", "model"), Column("e_f_N", "e_f", "N", digits=4))
    why = "no contact has a determined state"
    rows = (
        ("as the robot file describes it", or_reason(found.before, why)),
        ("calibrated", or_reason(found.after, why)),
    )
    notes = (
        "Mean length of the difference between measured and predicted force (002 eq. 10); no contact counts as 0 N.",
    )
    return Table("force_error", "", columns, rows, notes)


def _wrong_rows(wrong: WrongContact) -> list[tuple[Cell, ...]]:
    nothing = Unknown("no single number explains it")
    if not wrong.causes:
        return [(wrong.place, wrong.chance, nothing, nothing, nothing)]
    return [
        (wrong.place, wrong.chance, c.name, shown_number(c, c.value), shown_number(c, c.better)) for c in wrong.causes
    ]


def object_table(result: CalibrateResult) -> Table:
    """Place and size of every object freed in turn."""
    columns = (
        Column("object", "object"),
        Column("what", "freed"),
        Column("share_percent", "of the misfit", "%", 1),
        Column("probability", "by chance", digits=2),
        Column("change", "change it would have"),
    )
    rows: list[tuple[Cell, ...]] = [
        (d.name, d.what, 100 * d.share, d.probability, ", ".join(f"{n} {1e3 * v:+.3g} m{u}" for n, u, v in d.changes))
        for d in _doubts(result).objects
    ]
    notes = (
        "How much of the misfit goes away when one object may lie elsewhere, or have another size. Noise gives every "
        "object some; one that takes most, against all chance, is not what the file says. Nothing is left out then. A "
        "size that the parameters could stand for is not listed.",
    )
    return Table("objects", "", columns, tuple(rows), notes)


def picture(result: CalibrateResult, when: str) -> Lines:
    """The robot as described, or as calibrated."""
    from elastocal.contacts.scene import contact_scene
    from elastocal.report.contour import contact_lines

    fit = result.study.fit
    model = result.model if when == "before" else fit.model
    title = f"Contour tracking {when} calibration"
    return contact_lines(f"contour_{when}", title, contact_scene(model, fit.campaign))
