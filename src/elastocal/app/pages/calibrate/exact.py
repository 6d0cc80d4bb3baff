"""Parameters that an identification took as exact, and what the readings say of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.identify.unsought import LIKELY
from elastocal.report.blocks import Column, Table

if TYPE_CHECKING:
    from elastocal.study.whole import Study

MOST = 12


def exact_table(study: Study) -> Table:
    """Those that were not sought and that the readings see, the one that is asked for most first."""
    columns = (
        Column("parameter", "parameter"),
        Column("value", "robot file", digits=4),
        Column("unit", "unit"),
        Column("step", "readings ask for", digits=3),
        Column("step_percent", "of it", "%", 1),
        Column("step_sd", "sd", digits=2),
        Column("sigmas", "step / sd", "", 1),
        Column("chance", "by chance", digits=2),
    )
    rows = tuple(
        (u.name, u.value, u.unit, u.step, 100 * u.step / abs(u.value) if u.value else None, u.sd, u.sigmas, u.chance)
        for u in study.unsought[:MOST]
    )
    notes = [
        "What a fit that sought this parameter too would add to it, to first order; each alone. 'By chance': that any "
        "of them all is asked for so strongly while every value is right. Lengths and directions of the robot file are "
        f"taken as exact too, where it has no element that lets them err. A step beyond {100 * LIKELY:.0f} % is no "
        "likely one: then the model lacks something else."
    ]
    if len(study.unsought) > MOST:
        notes.append(f"{len(study.unsought) - MOST} more are asked for less.")
    return Table("taken_as_exact", "", columns, rows, tuple(notes))
