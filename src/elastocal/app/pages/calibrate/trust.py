"""How far a calibration can be trusted: noise, error budget, cost of reduction, correlations, leverage, outliers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from elastocal.app.pages.result_columns import or_reason
from elastocal.measure.kind import small_unit
from elastocal.report.blocks import Cell, Column, Table
from elastocal.solve.draws import Draws

if TYPE_CHECKING:
    from elastocal.reduction.diagnostics import Outlier
    from elastocal.reduction.error_budget import Budget
    from elastocal.reduction.study import Study


def noise_table(study: Study) -> Table:
    columns = (
        Column("quantity", "quantity"), Column("value", "value", digits=3), Column("freedom", "degrees of freedom"),
        Column("meaning", "what it says"),
    )  # fmt: skip
    fit, again, why = study.fit, study.fit.repeats, study.discrepancy.reason
    unit = "in units of the stated noise" if fit.stated else "no noise stated: in units of 10 um"
    used = (
        "standard deviations come from it, enlarged where the residuals scatter more"
        if fit.stated
        else "standard deviations come from the scatter of the residuals"
    )

    def known(value: float) -> Cell:
        return or_reason(value, "repeats do not differ at all" if again.pure_freedom else "nothing was repeated")

    rows: tuple[tuple[Cell, ...], ...] = (
        ("noise stated", "yes" if fit.stated else "no", None, used),
        ("residuals", or_reason(fit.scatter, "no spare equations"), fit.freedom, f"scatter about the model, {unit}"),
        *_scales(study, unit),
        ("pure error", known(again.pure_error), again.pure_freedom, "scatter of repeats, without any model"),
        ("lack of fit", known(again.lack_of_fit), again.lack_freedom, "the rest: noise plus what the model lacks"),
        ("ratio F", known(again.ratio), None, "lack of fit over pure error, squared"),
        ("probability", known(again.probability), None, "of so large a ratio by chance if the model is right"),
        ("discrepancy [um]", or_reason(1e6 * study.discrepancy.sd, why), None, why),
    )
    return Table("noise", "", columns, rows)


def _scales(study: Study, unit: str) -> tuple[tuple[Cell, ...], ...]:
    """The noise of every marker as the sampler finds it, or the one of all where it seeks only that."""
    if study.posterior is None:
        return ()
    groups = study.fit.campaign.measurement.groups
    notes = groups if study.posterior.scales.shape[-1] == len(groups) else ("all markers",)
    scales = Draws(notes, study.posterior.scales)
    return tuple(
        (f"noise of {group}", float(mean), None, f"by the Gibbs sampler, {unit}; 95 % from {low:.3g} to {high:.3g}")
        for group, mean, low, high in zip(notes, scales.mean, *scales.interval(), strict=True)
    )


def budget_table(budget: Budget) -> Table:
    """The share of every source, on average and in each parameter."""
    overall = budget.overall()
    at = [budget.sources.index(s) for s, _ in overall]
    rows = [("mean of all", [mean for _, mean in overall]), *zip(budget.names, budget.share.T[:, at], strict=True)]
    return Table.of("budget", rows, {
        Column("parameter", "parameter"): lambda r: r[0],
        tuple(Column(f"{_key(s)}_percent", s, "%", 0) for s, _ in overall): lambda r: (100 * float(v) for v in r[1]),
    }, "Share of each source of error in the variance of each estimate; rows add up to 100 %.")  # fmt: skip


def _key(source: str) -> str:
    return "_".join(re.findall(r"\w+", source))


def cost_table(study: Study) -> Table:
    note = (
        "Tool deflections predicted at 200 configurations spread over the joint ranges, root mean squares; complete is "
        "the model before M3. A difference below the sd of the complete model is noise that was thrown away, one above "
        "it is a real cost. Linear model."
    )
    return Table.of("reduction_cost", study.costs, {
        Column("loads", "loads"): lambda c: c.loads,
        Column("deflection_mm", "deflection", "mm", 3): lambda c: 1e3 * c.deflection,
        Column("difference_um", "reduced - complete", "um", 1): lambda c: 1e6 * c.difference,
        Column("difference_percent", "of it", "%", 2): lambda c: 100 * c.difference / c.deflection,
        Column("worst_um", "worst", "um", 1): lambda c: 1e6 * c.worst,
        Column("sd_complete_um", "sd complete", "um", 1): lambda c: 1e6 * c.sd_before,
        Column("sd_reduced_um", "sd reduced", "um", 1): lambda c: 1e6 * c.sd_after,
    }, note)  # fmt: skip


def correlation_table(study: Study, above: float) -> Table:
    return Table.of("correlations", study.correlations, {
        Column("first", "parameter"): lambda c: c.first,
        Column("second", "with"): lambda c: c.second,
        Column("coefficient", "correlation", "", 3): lambda c: c.coefficient,
    }, f"Above {above:g} in size. Such pairs move together.")  # fmt: skip


def leverage_table(study: Study) -> Table:
    """The readings that decide most by themselves."""
    values, campaign = np.nan_to_num(study.influence.leverage, nan=-1.0), study.fit.campaign
    order = np.argsort(-values, axis=None, kind="stable")[:10]
    places = [divmod(int(i), values.shape[1]) for i in order]
    mean = len(study.fit.names) / max(study.fit.problem.readings, 1)
    note = (
        f"Share of a reading in its own prediction; the mean is {mean:.3f}. A reading near one is not checked by any "
        "other: its errors go straight into a parameter."
    )
    return Table.of("leverage", [p for p in places if values[p] >= 0], {
        Column("place", "reading"): lambda p: campaign.place(*p),
        Column("leverage", "leverage", "", 3): lambda p: values[p],
    }, note)  # fmt: skip


def outlier_table(study: Study) -> Table:
    """Numbers that were left out."""
    notes = ("Found by Cauchy's loss before anything was judged by the scatter; 'outliers: keep' keeps them.",)
    return _outlier_table(study, "outliers_removed", study.identification.excluded, notes)


def doubted_table(study: Study) -> Table:
    notes = (
        "By Cauchy's loss, which lets go of readings that do not belong; limit 5 standard deviations. Check these "
        "rows, then correct or leave them out, or set loss: huber in the campaign file.",
    )
    return _outlier_table(study, "outliers", study.outliers, notes)


def _outlier_table(study: Study, key: str, outliers: tuple[Outlier, ...], notes: tuple[str, ...]) -> Table:
    """In mm or mrad, else in SI."""
    rows = study.fit.campaign.measurement.rows
    units = {o.row: small_unit(rows[o.row].unit) for o in outliers}
    return Table.of(key, outliers, {
        Column("place", "reading"): lambda o: o.place,
        Column("value", "read", "", 4): lambda o: units[o.row][0] * o.value,
        Column("predicted", "the others predict", "", 4): lambda o: units[o.row][0] * o.predicted,
        Column("unit", "unit"): lambda o: units[o.row][1],
        Column("sigmas", "away by", "sd", 1): lambda o: o.sigmas,
    }, *notes)  # fmt: skip
