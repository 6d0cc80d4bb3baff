"""What a calibration by contact shows beside any other: force errors before and after, objects, the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.pages.columns import or_reason
from elastocal.procedures.contact.calibrate import misread
from elastocal.report.blocks import Cell, Column, Section, Table, Unknown

if TYPE_CHECKING:
    from elastocal.app.commands.calibrate import CalibrateResult
    from elastocal.procedures.contact.outliers import Touched, WrongContact
    from elastocal.report.blocks import Lines


def contact_sections(result: CalibrateResult, complete: bool) -> tuple[Section, ...]:
    """Nothing for other kinds of measurement."""
    if result.contacts is None:
        return ()
    pictures = (picture(result, "before"), picture(result, "after")) if complete else ()
    tables = (force_table(result), object_table(result), *wrong_tables(result))
    return Section("Contacts", tables), Section("Contour", pictures)


def _touched(result: CalibrateResult) -> Touched:
    assert result.contacts is not None
    return result.contacts.touched


def wrong_tables(result: CalibrateResult) -> tuple[Table, ...]:
    """Nothing where all contacts belong."""
    columns = (
        Column("place", "contact"),
        Column("probability", "by chance", digits=2),
        Column("number", "wrong may be"),
        Column("read", "read"),
        Column("fits", "would fit"),
    )
    rows = tuple(row for w in _touched(result).wrong for row in _wrong_rows(w))
    notes = (
        "Contacts that the others contradict, judged whole by the gap they leave, and left out; 'outliers: keep' keeps "
        "them. Every joint value and force component is corrected alone: those that leave only noise are listed.",
    )
    return (Table("wrong_contacts", "", columns, rows, notes),) if rows else ()


def force_table(result: CalibrateResult) -> Table:
    assert result.contacts is not None
    found = result.contacts.forces
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
    return [(wrong.place, wrong.chance, c.name, misread(c, c.value), misread(c, c.better)) for c in wrong.causes]


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
        for d in _touched(result).objects
    ]
    notes = (
        "How much of the misfit goes away when one object may lie elsewhere, or have another size. Noise gives every "
        "object some; one that takes most, against all chance, is not what the file says. Nothing is left out then. A "
        "size that the parameters could stand for is not listed.",
    )
    return Table("objects", "", columns, tuple(rows), notes)


def picture(result: CalibrateResult, when: str) -> Lines:
    """The robot as described, or as calibrated."""
    from elastocal.procedures.contact.scene import contact_scene
    from elastocal.report.contour import contact_lines

    fit = result.study.fit
    model = result.model if when == "before" else fit.model
    title = f"Contour tracking {when} calibration"
    return contact_lines(f"contour_{when}", title, contact_scene(model, fit.campaign))
