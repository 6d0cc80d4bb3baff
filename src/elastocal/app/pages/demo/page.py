"""The demonstration as one report: what was gained, whether it was known beforehand, then every step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.commands.demo import DemoResult
from elastocal.app.demonstration import SEED
from elastocal.app.pages import plan as plan
from elastocal.app.pages import simulate
from elastocal.app.pages.calibrate import page as calibrate
from elastocal.app.pages.compensate import page as compensate
from elastocal.app.pages.compensate.figures import error_lines
from elastocal.app.pages.compensate.promise import expected
from elastocal.app.pages.compensate.scene import scenes
from elastocal.app.pages.demo.tables import gross_found, summary_table, truth_table
from elastocal.report.blocks import Block, Fact, Paragraphs, Report, Section

if TYPE_CHECKING:
    from elastocal.compensate.verification import Residual

_WHAT = (
    "A KR-270 is to mill a contour under cutting forces. It is not quite what its file says: joints, links and the "
    "gravity compensator are softer or stiffer, and worn gears have play. Poses and loads are planned for the contour; "
    "a virtual laser tracker reads them, with its noise and one gross error; everything is identified again; the "
    "program is corrected; and both programs are run on the true robot, at its loaded equilibrium.",
)


def page(result: DemoResult) -> Report:
    sections = [
        Section("", (Paragraphs(_WHAT),)),
        Section("The numbers that matter", (summary_table(result), *_front(result))),
        Section("Found against the truth", (truth_table(result),)),
        *_steps(result),
    ]
    notes = dict.fromkeys((*result.measured.notes, *result.found.notes, *result.corrected.notes))
    facts = (Fact("seed", "seed", SEED, str(SEED)), *compensate.facts(result.corrected))
    return Report(
        "The whole cycle on a KUKA KR 270", verdict(result), tuple(sections), tuple(notes), facts, contents=True
    )


def _front(result: DemoResult) -> tuple[Block, ...]:
    """Pictures of the correction, which do not come again in its own part."""
    return (error_lines(result.corrected), *scenes(result.corrected))


def short(whole: Report, result: DemoResult, folder: Path) -> Report:
    """The ``whole`` report for a terminal; ``folder`` is that of the cell, as seen from there."""
    numbers = Section("The numbers that matter", (summary_table(result),))
    cell = Fact("cell", "cell", str(folder), f"{folder} (elastocal status {folder})")
    return replace(whole, sections=(numbers, whole.sections[2]), inputs=(cell,), notes=())


def verdict(result: DemoResult) -> tuple[str, ...]:
    before, after = on_truth(result)
    first, last = before.distances(), after.distances()
    return (
        f"Under the cutting force the tool leaves the contour by {1e3 * first.rms:.2f} mm rms; the corrected program "
        f"leaves {1e3 * last.rms:.3f} mm, {100 * (1 - last.rms / first.rms):.1f} % less, and at the worst target "
        f"{1e3 * last.largest:.3f} mm.",
        f"{1e3 * expected(result.corrected):.3f} mm rms was expected by the calibration alone, which knows nothing "
        "of the truth.",
        gross_found(result),
        result.found.judged.verdict[0].text,
    )


def on_truth(result: DemoResult) -> tuple[Residual, Residual]:
    assert result.corrected.on_truth is not None
    return result.corrected.on_truth


def _steps(result: DemoResult) -> Iterator[Section]:
    parts = (
        ("Plan", plan.page(result.planned)),
        ("Campaign", simulate.page(result.measured)),
        ("Calibration", calibrate.page(result.found)),
        ("Compensation", compensate.page(result.corrected)),
    )
    seen = {b.key for b in _front(result) if not isinstance(b, Paragraphs)}
    for i, (name, report) in enumerate(parts):
        yield Section(f"{i + 1}. {name}", (Paragraphs(report.verdict),))
        for section in report.sections:
            known = seen if report is parts[-1][1] else set()
            blocks = tuple(_renamed(b, name) for b in section.blocks if isinstance(b, Paragraphs) or b.key not in known)
            if blocks:
                yield Section(f"{name}: {section.title}", blocks)


def _renamed(block: Block, step: str) -> Block:
    return block if isinstance(block, Paragraphs) else replace(block, key=f"{step.lower()}_{block.key}")
