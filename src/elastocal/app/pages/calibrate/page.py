"""A calibration as a report: verdict first, then estimates, what was dropped and how far to trust it."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from elastocal.app.cells.trace import current
from elastocal.app.commands.calibrate import CalibrateResult
from elastocal.app.pages.calibrate import contacts, estimates, pictures, reduction, trust
from elastocal.app.predictor import Predictor
from elastocal.calibration.page import SHOWN, calibration_page, parameters_table
from elastocal.report.blocks import Paragraphs, Report, Section, Table

if TYPE_CHECKING:
    from elastocal.reduction.study import Study


def page(result: CalibrateResult | Predictor) -> Report:
    """Everything; what the physical descriptions took away only here, not on the screen."""
    if isinstance(result, Predictor):
        return _predictor(result, SHOWN)
    return _report(result, complete=True)


def table(result: CalibrateResult | Predictor) -> Table:
    """Of the parameters."""
    if isinstance(result, Predictor):
        return parameters_table(result.calibration)
    return estimates.parameter_table(result.study, result.ensemble, result.judged.combined)


def screen(result: CalibrateResult | Predictor) -> Report:
    if isinstance(result, Predictor):
        return _predictor(result, 12)
    return _report(result, complete=False)


def _predictor(result: Predictor, most: int) -> Report:
    cell = current().cell
    stated = None if cell is None else cell.certificate
    whole = calibration_page(result.calibration, result.validation, result.facts, stated=stated, most=most)
    return replace(whole, notes=tuple(dict.fromkeys((*result.notes, *whole.notes))))


def _report(result: CalibrateResult, complete: bool) -> Report:
    study = result.study
    found = study.identification
    together, doubted = reduction.combination_table(found.groups), trust.suspect_table(study)
    gone, physical = reduction.dropped_table(study), reduction.physical_table(study)
    related = trust.correlation_table(study, result.correlated)
    drawn = pictures.forests(result) if complete else ()
    sections = [
        Section("Before and after", (pictures.held_out_lines(result),) if complete else ()),
        Section("Parameters", (*drawn[:2], table(result))),
        Section("Residuals", (pictures.residual_lines(study),) if complete else ()),
        Section("Uncertainty budget", (pictures.budget_bars(study),) if complete and study.budget.names else ()),
        Section("Robot and campaign", pictures.scenes(result) if complete else ()),
        *contacts.contact_sections(result, complete),
        Section("Outliers", (trust.gross_table(study),) if found.excluded else (), folded=not found.excluded),
        Section("Stages of the reduction", (reduction.path_table(study),), folded=True),
        Section("More on parameters", drawn[2:], folded=True),
        Section(
            "Nuisance parameters", (estimates.nuisance_table(study),) if study.fit.problem.nuisance else (), folded=True
        ),
        Section(
            "Score tests of fixed parameters",
            (estimates.exact_table(study),) if _asked(study, complete) else (),
            folded=True,
        ),
        Section("Not estimated", (gone,) if gone.rows else (Paragraphs((_ALL,)),), folded=True),
        Section("Not separately identifiable", (together,) if together.rows else (), folded=True),
        Section("Noise and lack of fit", (trust.noise_table(study),), folded=True),
        Section("Shares of the uncertainty budget", (trust.budget_table(study.budget),), folded=True),
        Section("Cost of the reduction", (trust.cost_table(study),) if study.costs else (), folded=True),
        Section(
            "Outliers still in the fit",
            (doubted,) if doubted.rows else (Paragraphs((_CLEAN,)),),
            folded=not doubted.rows,
        ),
        Section("Correlations", (related,) if related.rows else (Paragraphs((_unrelated(result),)),), folded=True),
    ]
    if complete:
        sections += [
            Section("Removed on physical grounds", (physical,) if physical.rows else (), folded=True),
            Section("Leverage", (trust.leverage_table(study),), folded=True),
            replace(pictures.workspace_section(result), folded=True),
            *(replace(s, folded=True) for s in _springs(study)),
        ]
    title = f"Calibration of {result.model.name}: {result.name}"
    kept = tuple(s for s in sections if s.blocks)
    verdict = tuple(f.text for f in result.judged.verdict)
    findings = {"findings": [asdict(f) for f in result.judged.verdict]}
    notes = (*result.notes, *study.missing)
    return Report(title, verdict, kept, notes, result.facts, data=findings, tiles=pictures.tiles(result))


def _asked(study: Study, complete: bool) -> bool:
    """On the screen only where the readings ask for one of them."""
    return bool(study.omitted) and (complete or study.omitted[0].significant)


_CLEAN = "No reading in the fit lies more than 5 standard deviations from what the others predict."


_ALL = "Everything sought is estimated."


def _unrelated(result: CalibrateResult) -> str:
    return f"No two estimates are correlated by more than {result.correlated:g} in size."


def _springs(study: Study) -> list[Section]:
    rebuilt, checks = reduction.rebuilt_table(study), reduction.check_table(study)
    possible = () if study.springs is None else (reduction.spring_table(study.springs),)
    return [
        Section("Springs that physics allows", possible),
        Section("Elements derived", (rebuilt,) if rebuilt.rows else ()),
        Section("Elements against a beam", (checks,) if checks.rows else ()),
    ]
