"""How far an identification can be trusted: noise, error budget, predictions, doubtful readings, correlations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from elastocal.app.pages.columns import known
from elastocal.app.pages.reading_units import reading_unit
from elastocal.report.blocks import Cell, Column, Lines, Series, Table

if TYPE_CHECKING:
    from elastocal.identify.budget import Budget
    from elastocal.identify.outliers import Suspect
    from elastocal.spatial.entries import Array
    from elastocal.uncertainty.study import Study


def noise_table(study: Study) -> Table:
    columns = (
        Column("quantity", "quantity"),
        Column("value", "value", digits=3),
        Column("freedom", "degrees of freedom"),
        Column("meaning", "what it says"),
    )
    fit, again = study.fit, study.repeats
    nothing = "nothing was repeated" if not again.pure_freedom else "repeats do not differ at all"
    unit = "in units of the stated noise" if fit.stated else "no noise stated: in units of 10 um"
    used = (
        "standard deviations come from it, enlarged where the residuals scatter more"
        if fit.stated
        else "standard deviations come from the scatter of the residuals"
    )
    rows: tuple[tuple[Cell, ...], ...] = (
        ("noise stated", "yes" if fit.stated else "no", None, used),
        ("residuals", known(fit.scatter, "no spare equations"), fit.freedom, f"scatter about the model, {unit}"),
        *_scales(study, unit),
        ("pure error", known(again.pure_error, nothing), again.pure_freedom, "scatter of repeats, without any model"),
        (
            "lack of fit",
            known(again.lack_of_fit, nothing),
            again.lack_freedom,
            "the rest: noise plus what the model lacks",
        ),
        ("ratio F", known(again.ratio, nothing), None, "lack of fit over pure error, squared"),
        ("probability", known(again.probability, nothing), None, "of so large a ratio by chance if the model is right"),
        (
            "discrepancy [um]",
            known(1e6 * study.discrepancy.sd, study.discrepancy.reason),
            None,
            study.discrepancy.reason,
        ),
    )
    return Table("noise", "", columns, rows)


def _scales(study: Study, unit: str) -> tuple[tuple[Cell, ...], ...]:
    """The noise of every marker as the sampler finds it, or the one of all where it seeks only that."""
    import numpy as np

    if study.posterior is None:
        return ()
    drawn = study.posterior.scales.reshape(-1, study.posterior.scales.shape[-1])
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    groups = study.fit.campaign.measurement.groups
    said = groups if drawn.shape[1] == len(groups) else ("all markers",)
    return tuple(
        (f"noise of {group}", float(drawn[:, i].mean()), None,
         f"by the Gibbs sampler, {unit}; 95 % from {low[i]:.3g} to {high[i]:.3g}")
        for i, group in enumerate(said)
    )  # fmt: skip


def budget_table(budget: Budget) -> Table:
    """The share of every source, on average and in each parameter."""
    columns = (
        Column("parameter", "parameter"),
        *(Column(f"{_key(s)}_percent", s, "%", 0) for s, _ in budget.overall()),
    )
    at = [budget.sources.index(s) for s, _ in budget.overall()]
    rows: list[tuple[Cell, ...]] = [("mean of all", *(100 * mean for _, mean in budget.overall()))]
    for name, shares in zip(budget.names, budget.share.T, strict=True):
        rows.append((name, *(100 * float(shares[i]) for i in at)))
    notes = ("Share of each source of error in the variance of each estimate; rows add up to 100 %.",)
    return Table("budget", "", columns, tuple(rows), notes)


def _key(source: str) -> str:
    return "_".join(re.findall(r"\w+", source))


def cost_table(study: Study) -> Table:
    columns = (
        Column("loads", "loads"),
        Column("deflection_mm", "deflection", "mm", 3),
        Column("difference_um", "reduced - complete", "um", 1),
        Column("difference_percent", "of it", "%", 2),
        Column("worst_um", "worst", "um", 1),
        Column("sd_complete_um", "sd complete", "um", 1),
        Column("sd_reduced_um", "sd reduced", "um", 1),
    )
    rows = tuple(
        (c.loads, 1e3 * c.deflection, 1e6 * c.difference, 100 * c.difference / c.deflection, 1e6 * c.worst,
         1e6 * c.sd_before, 1e6 * c.sd_after)
        for c in study.costs
    )  # fmt: skip
    notes = (
        "Tool deflections predicted at 200 configurations spread over the joint ranges, root mean squares; complete is "
        "the model before M3. A difference below the sd of the complete model is noise that was thrown away, one above "
        "it is a real cost. Linear model.",
    )
    return Table("reduction_cost", "", columns, rows, notes)


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


def correlation_table(study: Study, above: float) -> Table:
    columns = (
        Column("first", "parameter"),
        Column("second", "with"),
        Column("coefficient", "correlation", "", 3),
    )
    rows = tuple((c.first, c.second, c.coefficient) for c in study.correlations)
    return Table("correlations", "", columns, rows, (f"Above {above:g} in size. Such pairs move together.",))


def leverage_table(study: Study, most: int = 10) -> Table:
    """The readings that decide most by themselves."""
    import numpy as np

    columns = (Column("place", "reading"), Column("leverage", "leverage", "", 3))
    values = np.nan_to_num(study.influence.leverage, nan=-1.0)
    order = np.argsort(-values, axis=None, kind="stable")[:most]
    places = [divmod(int(i), values.shape[1]) for i in order]
    campaign = study.fit.campaign
    rows = tuple((campaign.place(i, j), float(values[i, j])) for i, j in places if values[i, j] >= 0)
    mean = len(study.fit.names) / max(study.fit.problem.readings, 1)
    notes = (
        f"Share of a reading in its own prediction; the mean is {mean:.3f}. A reading near one is not checked by any "
        "other: its errors go straight into a parameter.",
    )
    return Table("leverage", "", columns, rows, notes)


def residual_lines(study: Study) -> Lines:
    """Residuals of every reading, per axis of each marker."""
    fit = study.fit
    rows, shown = fit.campaign.measurement.rows, reading_unit(fit.campaign.measurement)
    series = tuple(
        Series(
            row.name,
            tuple(float(i + 1) for i in range(len(fit.residuals))),
            tuple(shown.factor * float(v) for v in fit.residuals[:, j]),
            points=True,
        )
        for j, row in enumerate(rows)
        if j in shown.rows
    )
    return Lines("residuals", "Residuals", "reading", "", "read minus model", shown.unit, series)


def left_out_lines(study: Study) -> Lines:
    """Error of predicting every pose from the others."""
    import numpy as np

    fit = study.fit
    shown = reading_unit(fit.campaign.measurement)
    judged = list(shown.rows)
    values = study.influence.left_out[:, judged]
    kept = np.where(np.isfinite(values), values, np.nan)
    x = tuple(float(i + 1) for i in range(len(values)))
    series = (
        Series("pose left out of the fit", x, tuple(shown.factor * float(v) for v in _rms(kept)), points=True),
        Series("in the fit", x, tuple(shown.factor * float(v) for v in _rms(fit.residuals[:, judged])), points=True),
    )
    title = "Prediction of poses that were left out"
    return Lines("left_out", title, "reading", "", "error per axis", shown.unit, series)


def _rms(values: Array) -> Array:
    """Root mean square of each reading, nan where nothing was read."""
    import numpy as np

    known = np.isfinite(values)
    total = np.sum(np.where(known, values, 0.0) ** 2, axis=1)
    count = known.sum(axis=1)
    return np.asarray(np.where(count, np.sqrt(total / np.maximum(count, 1)), np.nan))
