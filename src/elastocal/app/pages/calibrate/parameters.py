"""Single parameters as a report: verdict first, then estimates, what was dropped and how far to trust it."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Literal

from elastocal.app.pages.calibrate import estimates, pictures, reduction, trust
from elastocal.app.pages.result_columns import filled, or_reason
from elastocal.procedures.contact.calibrate import misread
from elastocal.report.blocks import Column, Paragraphs, Report, Section, Table, Unknown

if TYPE_CHECKING:
    from elastocal.app.commands.calibrate import CalibrateResult
    from elastocal.procedures.contact.outliers import Touched
    from elastocal.reduction.study import Study
    from elastocal.report.blocks import Lines


def table_of(result: CalibrateResult) -> Table:
    return estimates.parameter_table(result.study, result.ensemble, result.judged.combined)


def report(result: CalibrateResult) -> Report:
    study = result.study
    identification = study.identification
    doubted = filled(trust.doubted_table(study))
    drawn, related = pictures.forests(result), trust.correlation_table(study, result.correlated)
    sections = [
        Section("Before and after", (pictures.held_out_lines(result),)),
        Section("Parameters", (*drawn[:2], table_of(result))),
        Section("Residuals", (pictures.residual_lines(study),)),
        Section("Uncertainty budget", (pictures.budget_bars(study),) if study.budget.names else ()),
        Section("Robot and campaign", pictures.scenes(result)),
        *contact_sections(result),
        Section("Outliers", filled(trust.outlier_table(study)), folded=not identification.excluded),
        Section("Stages of the reduction", (reduction.path_table(study),), folded=True),
        Section("More on parameters", drawn[2:], folded=True),
        Section("Nuisance parameters", filled(estimates.nuisance_table(study)), folded=True),
        Section("Score tests of fixed parameters", filled(estimates.exact_table(study)), folded=True),
        Section("Not estimated", filled(reduction.dropped_table(study)) or (Paragraphs((_ALL,)),), folded=True),
        Section("Not separately identifiable", filled(reduction.combination_table(identification.groups)), folded=True),
        Section("Noise and lack of fit", (trust.noise_table(study),), folded=True),
        Section("Shares of the uncertainty budget", (trust.budget_table(study.budget),), folded=True),
        Section("Cost of the reduction", filled(trust.cost_table(study)), folded=True),
        Section("Outliers still in the fit", doubted or (Paragraphs((_CLEAN,)),), folded=not doubted),
        Section("Correlations", filled(related) or (Paragraphs((_unrelated(result),)),), folded=True),
        Section("Removed on physical grounds", filled(reduction.physical_table(study)), folded=True),
        Section("Leverage", (trust.leverage_table(study),), folded=True),
        replace(pictures.workspace_section(result), folded=True),
        *(replace(s, folded=True) for s in _springs(study)),
    ]
    title = f"Calibration of {result.model.name}: {result.name}"
    verdict = tuple(f.text for f in result.judged.verdict)
    findings = {"findings": [asdict(f) for f in result.judged.verdict]}
    notes = (*result.notes, *study.missing)
    return Report(title, verdict, sections, notes, result.facts, data=findings, tiles=pictures.tiles(result))


_CLEAN = "No reading in the fit lies more than 5 standard deviations from what the others predict."


_ALL = "Everything sought is estimated."


def _unrelated(result: CalibrateResult) -> str:
    return f"No two estimates are correlated by more than {result.correlated:g} in size."


def _springs(study: Study) -> list[Section]:
    possible = () if study.springs is None else (reduction.spring_table(study.springs),)
    return [
        Section("Springs that physics allows", possible),
        Section("Elements derived", filled(reduction.derived_table(study))),
        Section("Elements against a beam", filled(reduction.check_table(study))),
    ]


def contact_sections(result: CalibrateResult) -> tuple[Section, ...]:
    """Nothing for other kinds of measurement."""
    if result.contacts is None:
        return ()
    pictures = picture(result, "before"), picture(result, "after")
    tables = (force_table(result), object_table(result), *wrong_tables(result))
    return Section("Contacts", tables), Section("Contour", pictures)


def _touched(result: CalibrateResult) -> Touched:
    assert result.contacts is not None
    return result.contacts.touched


def wrong_tables(result: CalibrateResult) -> tuple[Table, ...]:
    """Nothing where all contacts belong."""
    note = (
        "Contacts that the others contradict, judged whole by the gap they leave, and left out; 'outliers: keep' keeps "
        "them. Every joint value and force component is corrected alone: those that leave only noise are listed."
    )
    nothing = (Unknown("no single number explains it"),) * 3
    return filled(Table.of("wrong_contacts", [(w, c) for w in _touched(result).wrong for c in w.causes or (None,)], {
        Column("place", "contact"): lambda r: r[0].place,
        Column("probability", "by chance", probability=True): lambda r: r[0].chance,
        (Column("number", "wrong may be"), Column("read", "read"), Column("fits", "would fit")): lambda r:
            nothing if r[1] is None else (r[1].name, misread(r[1], r[1].value), misread(r[1], r[1].better)),
    }, note))  # fmt: skip


def force_table(result: CalibrateResult) -> Table:
    assert result.contacts is not None
    forces, why = result.contacts.forces, "no contact has a determined state"
    note = "Mean length of the difference between measured and predicted force (002 eq. 10); no contact counts as 0 N."
    rows = ("as the robot file describes it", forces.before), ("calibrated", forces.after)
    return Table.of("force_error", rows, {
        Column("model", "model"): lambda r: r[0],
        Column("e_f_N", "e_f", "N", digits=4): lambda r: or_reason(r[1], why),
    }, note)  # fmt: skip


def object_table(result: CalibrateResult) -> Table:
    """Place and size of every object freed in turn."""
    note = (
        "How much of the misfit goes away when one object may lie elsewhere, or have another size. Noise gives every "
        "object some; one that takes most, against all chance, is not what the file says. Nothing is left out then. A "
        "size that the parameters could stand for is not listed."
    )
    return Table.of("objects", _touched(result).objects, {
        Column("object", "object"): lambda d: d.name,
        Column("what", "freed"): lambda d: d.what,
        Column("share_percent", "of the misfit", "%", 1): lambda d: 100 * d.share,
        Column("probability", "by chance", probability=True): lambda d: d.probability,
        Column("change", "change it would have"):
            lambda d: ", ".join(f"{n} {1e3 * v:+.3g} m{u}" for n, u, v in d.changes),
    }, note)  # fmt: skip


def picture(result: CalibrateResult, when: Literal["before", "after"]) -> Lines:
    """The robot as described, or as calibrated."""
    from elastocal.procedures.contact.plan import contact_scene
    from elastocal.report.plane_figures import contact_lines

    fit = result.study.fit
    model = result.model if when == "before" else fit.model
    return contact_lines(when, contact_scene(model, fit.campaign))
