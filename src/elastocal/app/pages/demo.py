"""The demonstration as one report: what was gained, whether it was known beforehand, then every step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from elastocal.app.cells.trace import current
from elastocal.app.commands.demo import DemoResult
from elastocal.app.demonstration import SEED
from elastocal.app.pages import compensate
from elastocal.app.pages.compensate_figures import error_lines
from elastocal.compensation.verdict import predicted_rms
from elastocal.report.blocks import Block, Cell, Column, Fact, Paragraphs, Report, Section, Table, Unknown, loud
from elastocal.untrusted import shell_line

if TYPE_CHECKING:
    from elastocal.compensation.verification import Residual


INFORMED = 0.9
"""Share of the prior variance that readings must have removed for a parameter to be shown."""
_WHAT = (
    "A KR-270 is to mill a contour under cutting forces. It is not quite what its file says: joints, links and the "
    "gravity compensator are softer or stiffer, and worn gears have backlash. Poses and loads are planned for the "
    "contour; a virtual laser tracker reads them, with its noise and one outlier; the robot is calibrated; the program "
    "is corrected; and both programs are run on the simulated true robot, at its loaded equilibrium.",
)


SUMMARY = "Summary"
OPEN, SAID = 1, 3
"""Sections and sentences of every step that are not folded."""


def page(result: DemoResult) -> Report:
    cell = current().cell
    tolerance = None if cell is None else cell.certificate.tolerance
    front = error_lines(result.corrected.correction, tolerance)
    sections = [
        Section("Error along the program", (front, summary_table(result)), step=SUMMARY),
        Section("Estimated against the truth", (truth_table(result),), folded=True, step=SUMMARY),
        Section("What is done here", (Paragraphs(_WHAT),), folded=True, step=SUMMARY),
        *_steps(result, front),
    ]
    notes = dict.fromkeys((*result.measured.notes, *result.predictor.notes, *result.corrected.notes))
    facts = (Fact("seed", "seed", SEED), *compensate.facts(result.corrected))
    tiles = compensate.tiles(result.corrected.correction, tolerance)
    title = "The whole cycle on a KUKA KR 270"
    page_one = result.pages["Calibration"].certificate
    return Report(title, verdict(result), tuple(sections), tuple(notes), facts, tiles=tiles, certificate=page_one)


def short(whole: Report, result: DemoResult, folder: Path) -> Report:
    """The ``whole`` report for a terminal; ``folder`` is that of the cell, as seen from there."""
    numbers = Section("Error along the program", (summary_table(result),))
    cell = Fact("cell", "cell", str(folder), f"{folder} ({shell_line('status', folder)})")
    return replace(whole, sections=(numbers, whole.sections[1]), inputs=(cell,), notes=())


def verdict(result: DemoResult) -> tuple[str, ...]:
    before, after = on_truth(result)
    first, last = before.distances(), after.distances()
    return (
        f"Under the cutting force the tool is off its targets by {1e3 * first.rms:.3f} mm RMS; with the corrected "
        f"program by {1e3 * last.rms:.3f} mm, {100 * (1 - last.rms / first.rms):.1f} % less, and at the worst target "
        f"by {1e3 * last.max:.3f} mm.",
        f"{1e3 * predicted_rms(result.corrected.correction):.3f} mm RMS was predicted by the calibration alone.",
        outlier_words(result),
        *_way(result),
        result.predictor.calibration.verdict.text,
    )


def _way(result: DemoResult) -> tuple[str, ...]:
    way = result.corrected.correction.along
    if way.worst is None or way.on_truth is None:
        return ()
    where = f"{1e3 * way.most:.2f} mm by the model (line {way.worst.line})"
    if way.at_turn:
        return (f"NOT BETWEEN TARGETS: up to {where}, where the load turns.",)
    true = f"{1e3 * float(np.nanmax(way.on_truth)):.2f} mm on the simulated true robot"
    return (f"Between targets the tool leaves its way by up to {where}, {true}.",)


def on_truth(result: DemoResult) -> tuple[Residual, Residual]:
    assert result.corrected.correction.on_truth is not None
    return result.corrected.correction.on_truth


def _steps(result: DemoResult, front: Block) -> Iterator[Section]:
    """Of every command its own report; what stands in ``front`` or was said before does not come again."""
    before = set(verdict(result))
    for name, report in result.pages.items():
        new = sorted((s for s in report.verdict if s not in before), key=lambda s: not loud(s))
        before.update(new)
        yield Section("", (Paragraphs(tuple(new[:SAID])),), step=name)
        shown = 0
        for section in report.sections:
            blocks = tuple(_renamed(b, name) for b in section.blocks if b != front)
            if blocks:
                folded = section.folded or shown >= OPEN or front in section.blocks
                shown += not folded
                yield replace(section, blocks=blocks, folded=folded, step=name)
        if new[SAID:]:
            yield Section(f"More on the {name.lower()}", (Paragraphs(tuple(new[SAID:])),), folded=True, step=name)


def _renamed(block: Block, step: str) -> Block:
    return block if isinstance(block, Paragraphs) else replace(block, key=f"{step.lower()}_{block.key}")


def summary_table(result: DemoResult) -> Table:
    """Position errors on the true robot, over the targets, and those that the calibration predicted."""
    columns = (
        Column("program", "program"),
        Column("rms_mm", "error, RMS", "mm", 3),
        Column("max_mm", "max", "mm", 3),
        Column("share_percent", "compensated", "%", 1),
    )
    before, after = on_truth(result)
    first, hoped = before.distances().rms, predicted_rms(result.corrected.correction)

    def row(name: str, off: Residual) -> tuple[Cell, ...]:
        size = off.distances()
        return name, 1e3 * size.rms, 1e3 * size.max, 100 * (1 - size.rms / first)

    no_largest = Unknown("an expectation is a mean square; it has no largest value")
    rows = (
        row("before", before),
        row("corrected by the robot file, not calibrated", result.stated),
        row("corrected by the calibration", after),
        ("predicted by the calibration alone", 1e3 * hoped, no_largest, 100 * (1 - hoped / first)),
    )
    note = (
        "Of the loaded tool on the simulated true robot, over all targets; the last row is what the calibration "
        "expects, over corrected targets."
    )
    return Table("summary", "", columns, rows, (note,))


def truth_table(result: DemoResult) -> Table:
    """What the readings tell most of: file, truth, estimate and how far it is off in standard deviations."""
    truth = result.measured.truth.parameters
    rows = [e for e in result.predictor.calibration.parameters.rows if e.informed > INFORMED and e.name in truth.names]
    note = (
        "Parameters of which the readings removed more than 90 % of the prior variance. The others keep their prior, "
        "about the robot file; predictions count that."
    )
    return Table.of("truth", rows, {
        Column("parameter", "parameter"): lambda e: e.name,
        Column("unit", "unit"): lambda e: e.unit,
        Column("file", "robot file", digits=4, si=True): lambda e: e.file_value,
        Column("truth", "truth", digits=4, si=True): lambda e: truth[e.name].value,
        Column("value", "estimate (sd)", si=True, sd="sd"): lambda e: e.value,
        Column("sd", "sd", shown=False, si=True): lambda e: e.sd,
        Column("off_sd", "off by [sd]", decimals=1): lambda e: (e.value - truth[e.name].value) / e.sd,
    }, note)  # fmt: skip


def outlier_words(result: DemoResult) -> str:
    """Whether the planted errors are those that were left out, with the repeats that they were averaged with."""
    campaign = result.measured.virtual.campaign
    setup = campaign.measurement.setup
    planted = {campaign.place(p.reading, p.row) for p in result.measured.virtual.planted}
    repeats = {
        campaign.place(i, p.row)
        for p in result.measured.virtual.planted
        for i in range(setup.count)
        if (setup.q[i] == setup.q[p.reading]).all() and (setup.wrenches[i] == setup.wrenches[p.reading]).all()
    }
    left_out = {f"{o.place}, {o.marker}.d{o.axis}" for o in result.predictor.calibration.outliers}
    named, missed, wrong = planted & left_out, planted - left_out, left_out - repeats
    message = f"The outlier was found and left out: {', '.join(sorted(named))}." if named else ""
    lost = f"NOT FOUND: {', '.join(sorted(missed))}." if missed else ""
    more = f"LEFT OUT THOUGH GOOD: {', '.join(sorted(wrong))}." if wrong else ""
    return " ".join(s for s in (message, lost, more) if s)
