"""How far an identification can be trusted: noise, error budget, predictions, doubtful readings, correlations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.pages.columns import known
from elastocal.report.blocks import Cell, Column, Lines, Series, Table

if TYPE_CHECKING:
    from elastocal.identify.budget import Budget
    from elastocal.identify.outliers import Suspect
    from elastocal.spatial.entries import Array
    from elastocal.uncertainty.study import Study


def noise_table(study: Study) -> Table:
    columns = (
        Column("quantity", "quantity"),
        Column("value", "value"),
        Column("freedom", "degrees of freedom"),
        Column("meaning", "what it says"),
    )
    fit, again = study.fit, study.repeats
    stated = "yes" if fit.stated else "no"
    nothing = "nothing was repeated"
    unit = "in units of the stated noise" if fit.stated else "no noise stated: in units of 10 um"
    rows: tuple[tuple[Cell, ...], ...] = (
        ("noise stated", stated, None, "standard deviations come from it, enlarged where the residuals scatter more"),
        ("residuals", known(fit.scatter, "no spare equations"), fit.freedom, f"scatter about the model, {unit}"),
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


def budget_table(budget: Budget) -> Table:
    """Mean share of each source, then its share in every parameter."""
    columns = (
        Column("source", "source of error"),
        Column("mean_percent", "mean", "%", 1),
        *(Column(f"{n}_percent", n, "%", 0) for n in budget.names),
    )
    mean = dict(budget.overall())
    order = [s for s, _ in budget.overall()]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (s, 100 * mean[s], *(100 * float(v) for v in budget.share[budget.sources.index(s)])) for s in order
    )
    notes = ("Share in the variance of each estimate; columns add up to 100 %.",)
    return Table("budget", "", columns, rows, notes)


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
    return _suspects("gross", study.identification.gross, notes)


def suspect_table(study: Study) -> Table:
    notes = (
        "By Cauchy's loss, which lets go of readings that do not belong; limit 5 standard deviations. Check these "
        "rows, then correct or leave them out, or set loss: huber in the campaign file.",
    )
    return _suspects("suspects", study.suspects, notes)


def _suspects(key: str, found: tuple[Suspect, ...], notes: tuple[str, ...]) -> Table:
    columns = (
        Column("place", "reading"),
        Column("value", "read", "mm or mrad", 4),
        Column("predicted", "the others say", "mm or mrad", 4),
        Column("sigmas", "away by", "sd", 1),
    )
    rows = tuple((s.place, 1e3 * s.value, 1e3 * s.predicted, s.sigmas) for s in found)
    return Table(key, "", columns, rows, notes)


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
    """Length residuals of every reading, per axis of each marker."""
    fit = study.fit
    rows = fit.campaign.measurement.rows
    series = tuple(
        Series(
            row.name,
            tuple(float(i + 1) for i in range(len(fit.residuals))),
            tuple(1e6 * float(v) for v in fit.residuals[:, j]),
            points=True,
        )
        for j, row in enumerate(rows)
        if row.unit == "m"
    )
    return Lines("residuals", "Residuals", "reading", "", "read minus model", "um", series)


def left_out_lines(study: Study) -> Lines:
    """Error of predicting every pose from the others."""
    import numpy as np

    fit = study.fit
    lengths = [j for j, row in enumerate(fit.campaign.measurement.rows) if row.unit == "m"]
    values = study.influence.left_out[:, lengths]
    kept = np.where(np.isfinite(values), values, np.nan)
    x = tuple(float(i + 1) for i in range(len(values)))
    series = (
        Series("pose left out of the fit", x, tuple(float(v) for v in _rms(kept)), points=True),
        Series("in the fit", x, tuple(float(v) for v in _rms(fit.residuals[:, lengths])), points=True),
    )
    return Lines("left_out", "Prediction of poses that were left out", "reading", "", "error per axis", "um", series)


def _rms(values: Array) -> Array:
    """Root mean square of each reading in um, nan where nothing was read."""
    import numpy as np

    known = np.isfinite(values)
    total = np.sum(np.where(known, values, 0.0) ** 2, axis=1)
    count = known.sum(axis=1)
    return np.asarray(1e6 * np.where(count, np.sqrt(total / np.maximum(count, 1)), np.nan))
