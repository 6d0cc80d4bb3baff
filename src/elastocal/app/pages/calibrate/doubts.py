"""Readings that do not belong: those left out of a fit, and those that look doubtful in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.report.blocks import Column, Table

if TYPE_CHECKING:
    from elastocal.identify.outliers import Suspect
    from elastocal.study.whole import Study


def gross_table(study: Study) -> Table:
    """Numbers that were left out."""
    notes = ("Found by Cauchy's loss before anything was judged by the scatter; 'outliers: keep' keeps them.",)
    return _suspects(study, "gross", study.identification.gross, notes)


def suspect_table(study: Study) -> Table:
    notes = (
        "By Cauchy's loss, which lets go of readings that do not belong; limit 5 standard deviations. Check these "
        "rows, then correct or leave them out, or set loss: huber in the campaign file.",
    )
    return _suspects(study, "suspects", study.suspects, notes)


def _suspects(study: Study, key: str, found: tuple[Suspect, ...], notes: tuple[str, ...]) -> Table:
    columns = (
        Column("place", "reading"),
        Column("value", "read", "", 4),
        Column("predicted", "the others say", "", 4),
        Column("unit", "unit"),
        Column("sigmas", "away by", "sd", 1),
    )
    rows = tuple(
        (s.place, small(study, s) * s.value, small(study, s) * s.predicted, small_unit(study, s), s.sigmas)
        for s in found
    )
    return Table(key, "", columns, rows, notes)


def small_unit(study: Study, suspect: Suspect) -> str:
    """mm or mrad, else SI"""
    unit = study.fit.campaign.measurement.rows[suspect.row].unit
    return f"m{unit}" if unit in ("m", "rad") else unit


def small(study: Study, suspect: Suspect) -> float:
    """How many of the small unit make one of SI."""
    return 1e3 if study.fit.campaign.measurement.rows[suspect.row].unit in ("m", "rad") else 1.0
