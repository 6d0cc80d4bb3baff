"""An identification as a report: verdict first, then what was found, what was dropped and how far to trust it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.commands.calibrate import CalibrateResult
from elastocal.app.pages.calibrate import contacts as contacts
from elastocal.app.pages.calibrate import doubts as doubts
from elastocal.app.pages.calibrate import dropped as dropped
from elastocal.app.pages.calibrate import exact as exact
from elastocal.app.pages.calibrate import judgement as judge
from elastocal.app.pages.calibrate import parameters as tables
from elastocal.app.pages.calibrate import residuals as residuals
from elastocal.app.pages.calibrate import springs as springs
from elastocal.app.pages.calibrate.scene import scenes
from elastocal.app.pages.calibrate.verdict import verdict
from elastocal.app.pages.calibrate.workspace import workspace_section
from elastocal.report.blocks import Paragraphs, Report, Section, Table

if TYPE_CHECKING:
    from elastocal.study.whole import Study


def page(result: CalibrateResult) -> Report:
    """Everything; what the physical descriptions took away only here, not on the screen."""
    return _report(result, complete=True)


def table(result: CalibrateResult) -> Table:
    """Of the parameters."""
    return tables.parameter_table(result.study, result.ensemble, result.standing)


def screen(result: CalibrateResult) -> Report:
    return _report(result, complete=False)


def _report(result: CalibrateResult, complete: bool) -> Report:
    study = result.study
    found = study.identification
    gone, physical = dropped.dropped_table(study), dropped.physical_table(study)
    related = judge.correlation_table(study, result.correlated)
    sections = [
        Section("Before and after", (residuals.held_out_lines(result),) if complete else ()),
        Section("Robot and campaign", scenes(result) if complete else ()),
        Section("From everything to what the data support", (dropped.path_table(study),)),
        Section("Parameters", (table(result),)),
        Section("Nuisances", (tables.nuisance_table(study),) if study.fit.problem.nuisance else ()),
        Section("Taken as exact", (exact.exact_table(study),) if _asked(study, complete) else ()),
        Section("Not estimated", (gone,) if gone.rows else (Paragraphs((_ALL,)),)),
        Section("What acts together", (dropped.combination_table(found.groups),) if found.groups.subgroups else ()),
        *contacts.contact_sections(result, complete),
        Section("Noise and model", (judge.noise_table(study),)),
        Section("Error budget", (judge.budget_table(study.budget),)),
        Section("What the reduction costs", (judge.cost_table(study),) if study.costs else ()),
        Section("Left out", (doubts.gross_table(study),) if found.gross else ()),
        Section("Doubtful readings", (doubts.suspect_table(study),) if study.suspects else (Paragraphs((_CLEAN,)),)),
        Section("Correlations", (related,) if related.rows else (Paragraphs((_unrelated(result),)),)),
    ]
    if complete:
        sections += [
            Section("Taken away on physical grounds", (physical,) if physical.rows else ()),
            Section("Readings that decide most", (judge.leverage_table(study),)),
            Section("Residuals", (residuals.residual_lines(study),)),
            workspace_section(result),
            *_springs(study),
        ]
    title = f"Calibration of {result.model.name}: {result.name}"
    kept = tuple(s for s in sections if s.blocks)
    return Report(title, verdict(result), kept, (*result.notes, *study.missing), result.facts)


def _asked(study: Study, complete: bool) -> bool:
    """On the screen only where the readings ask for one of them."""
    return bool(study.unsought) and (complete or study.unsought[0].asked)


_CLEAN = "No reading lies more than 5 standard deviations from what the others predict."


_ALL = "Everything sought is estimated."


def _unrelated(result: CalibrateResult) -> str:
    return f"No two estimates are correlated by more than {result.correlated:g} in size."


def _springs(study: Study) -> list[Section]:
    rebuilt, checks = springs.rebuilt_table(study), springs.check_table(study)
    possible = () if study.springs is None else (springs.spring_table(study.springs),)
    return [
        Section("Springs that physics allows", possible),
        Section("Elements rebuilt", (rebuilt,) if rebuilt.rows else ()),
        Section("Elements against a beam", (checks,) if checks.rows else ()),
    ]
