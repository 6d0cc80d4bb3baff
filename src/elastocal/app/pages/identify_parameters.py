"""Tables of an identification: the path of the reduction, what was found, what was dropped, what acts together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.pages.columns import known
from elastocal.app.pages.reading_units import reading_unit
from elastocal.identifiability.groups import Group
from elastocal.identifiability.practical import practical
from elastocal.report.blocks import Cell, Column, Table, Unknown
from elastocal.report.display import concise

if TYPE_CHECKING:
    from elastocal.identifiability.groups import Groups
    from elastocal.spatial.entries import Array
    from elastocal.uncertainty.ensemble import Ensemble
    from elastocal.uncertainty.study import Study

NO_NOISE = "no noise was stated"
NOT_SAMPLED = "not sampled, see the notes"


def path_table(study: Study) -> Table:
    shown = reading_unit(study.fit.campaign.measurement)
    columns = (
        Column("stage", "stage"),
        Column("parameters", "unknowns"),
        Column("identifiable", "told apart"),
        Column("scatter", "residuals / noise", "", 3),
        Column(shown.key("left_out"), "pose left out", shown.unit, shown.decimals, digits=shown.digits),
        Column("action", "what it does"),
    )
    rows = tuple(
        (
            s.name,
            s.parameters,
            s.identifiable,
            known(s.scatter, _SAME if s.name == "algebraic" else "no spare equations"),
            known(shown.factor * s.left_out, _SAME if s.name == "algebraic" else _ALONE),
            s.action,
        )
        for s in study.identification.stages
    )
    notes = (
        "Unknowns count nuisances too. Pose left out: root mean square error, per axis, of predicting a pose that took "
        "no part in the fit. A model with more unknowns fits better and predicts worse: that is overfitting.",
    )
    return Table("path", "", columns, rows, notes)


_SAME = "the fit is that of the next row"
_ALONE = "a pose alone holds up a parameter, or nothing was measured twice"


def parameter_table(study: Study, sampled: Ensemble | None = None, standing: frozenset[str] = frozenset()) -> Table:
    """Values first, then how sure they are by every route; ``sampled`` is what emcee drew, if it was asked for.

    ``standing`` are names of estimates that stand for a combination with what is held.
    """
    columns = (
        Column("parameter", "parameter"),
        Column("concise", "value (sd)"),
        Column("unit", "unit"),
        Column("percent", "accuracy", "%", 2),
        Column("ratio", "value / sd", "", 1),
        Column("group", "group"),
        Column("dominant", "dominant error"),
        Column("value", "value", shown=False),
        Column("sd", "sd used", shown=False),
        Column("sd_wide", "sd, others unknown", digits=3, part=1),
        Column("sd_stated", "sd, stated noise", digits=3, part=1),
        Column("sd_estimated", "sd, estimated noise", digits=3, part=1),
        Column("sd_bootstrap", "sd, bootstrap", digits=3, part=1),
        Column("gibbs_low", "Gibbs 95 % from", digits=4, part=1),
        Column("gibbs_high", "to", digits=4, part=1),
        Column("rhat", "R-hat", "", 3, part=1),
        Column("effective", "effective draws", "", 0, part=1),
        Column("emcee_low", "emcee 95 % from", digits=4, part=2),
        Column("emcee_high", "to", digits=4, part=2),
        Column("emcee_effective", "effective draws", "", 0, part=2),
    )
    rows = tuple(_parameter(study, i, sampled, standing) for i in range(study.fit.problem.parameters))
    return Table("parameters", "", columns, rows, (*_NOTES, *_doubts(study, sampled)))


_NOTES = (
    "G1: determined alone; G3: stands for the combination written below; + ~ - by the thresholds. "
    "Accuracy is one standard deviation: that of the stated noise, enlarged where the residuals scatter more.",
    "These accuracies take what is not estimated as exact, and M3 keeps what stands out: such 95 % intervals cover "
    "less than they say (92 % in a truth test of an arm with 23 parameters, far less where a parameter that matters "
    "was dropped). 'sd, others unknown' lets everything sought that is not estimated vary by its size (the larger of "
    "its value and of what matters); predictions use that.",
)


def _doubts(study: Study, sampled: Ensemble | None) -> list[str]:
    """Where a sampler has not run long enough, or a bootstrap has left something out."""
    out = []
    if study.posterior is not None and not study.posterior.converged:
        out.append("The Gibbs chains have not mixed (R-hat above 1.01 or fewer than 400 effective draws).")
    if study.resampled is not None and study.resampled.dropped:
        lost, total = study.resampled.dropped, study.resampled.dropped + len(study.resampled.draws)
        out.append(
            f"{lost} of {total} resamples of the poses could not tell the parameters apart and are left out: the "
            "bootstrap's sd is too small."
        )
    if sampled is not None:
        walkers, steps, _ = sampled.draws.shape
        fate = "converged" if sampled.converged else "too short: fewer than 50 autocorrelation times"
        out.append(
            f"emcee: {walkers} walkers, {steps} steps each, {100 * sampled.accepted:.0f} % of the moves accepted; "
            f"{fate}."
        )
    return out


def _half(interval: Array) -> float:
    """Half the width of a 68 % interval: the sd of most resamples, whatever the poorest of them did."""
    return float(interval[1] - interval[0]) / 2


def _parameter(study: Study, i: int, sampled: Ensemble | None, standing: frozenset[str]) -> tuple[Cell, ...]:
    fit, found = study.fit, study.identification
    name, value, sd = fit.names[i], float(fit.values[i]), float(fit.sd[i])
    alone = found.groups.group[found.groups.names.index(name)] is Group.IDENTIFIABLE and name not in standing
    size = str(practical(float(fit.ratios[i]), *found.thresholds))
    kind = size if alone else f"G3{size[2:]}"
    stated: Cell = float(fit.covariance_stated[i, i] ** 0.5) if fit.stated else Unknown(NO_NOISE)
    estimated = known(float(fit.covariance_estimated[i, i] ** 0.5), "no spare equations")
    again: Cell = Unknown(NOT_SAMPLED) if study.resampled is None else _half(study.resampled.interval(0.6827)[:, i])
    source, share = study.budget.dominant(name)
    return (
        name, concise(value, sd), fit.problem.units[i], 100 * sd / abs(value), abs(value) / sd, kind,
        f"{source} ({100 * share:.0f} %)", value, sd, study.wide.sd(name), stated,
        estimated, again, *_gibbs(study, i), *_emcee(sampled, i),
    )  # fmt: skip


def _gibbs(study: Study, i: int) -> tuple[Cell, ...]:
    drawn = study.posterior
    if drawn is None:
        return (Unknown(NOT_SAMPLED),) * 4
    low, high = drawn.interval(0.95)[:, i]
    return float(low), float(high), float(drawn.rhat[i]), float(drawn.effective[i])


def _emcee(sampled: Ensemble | None, i: int) -> tuple[Cell, ...]:
    """Nothing at all where it was not asked for."""
    if sampled is None:
        return None, None, None
    low, high = sampled.interval(0.95)[:, i]
    return float(low), float(high), known(float(sampled.effective[i]), "the chains are too short to tell")


def nuisance_table(study: Study) -> Table:
    columns = (
        Column("unknown", "unknown"),
        Column("concise", "value (sd)"),
        Column("unit", "unit"),
        Column("value", "value", shown=False),
        Column("sd", "sd", shown=False),
    )
    fit = study.fit
    places = range(fit.problem.parameters, len(fit.names))
    rows = tuple(
        (fit.names[i], concise(float(fit.values[i]), float(fit.sd[i])), fit.problem.units[i], float(fit.values[i]),
         float(fit.sd[i]))
        for i in places
    )  # fmt: skip
    return Table("nuisances", "", columns, rows, ("Fitted together with the parameters, not assumed.",))


def physical_table(study: Study) -> Table:
    """What symmetry and template took away: many, and all alike."""
    columns = (
        Column("place", "spring"),
        Column("stage", "stage"),
        Column("count", "count"),
        Column("elements", "elements"),
    )
    gone: dict[tuple[str, str], list[str]] = {}
    for d in study.identification.dropped:
        if d.stage not in _OWN:
            place, symbol = d.name.rsplit(".", 1)
            gone.setdefault((place, d.stage), []).append(symbol)
    rows = tuple((place, stage, len(names), " ".join(names)) for (place, stage), names in gone.items())
    notes = ("M1: equal to the mirrored element. M2: zero in the template of a beam along x.",)
    return Table("physical", "", columns, rows, notes)


_OWN = ("algebraic", "resolved", "M3")


def dropped_table(study: Study) -> Table:
    """What the readings do not give."""
    columns = (
        Column("parameter", "parameter"),
        Column("stage", "stage"),
        Column("group", "group before M3"),
        Column("concise", "estimate (sd)"),
        Column("value", "estimate", shown=False),
        Column("sd", "sd", shown=False),
        Column("ratio", "value / sd", "", 2),
        Column("held_at", "held at", digits=4),
        Column("reason", "why it is not estimated"),
    )
    why = "not estimated on its own"
    rows = tuple(
        (d.name, d.stage, _group(study, d.name), concise(d.value, d.sd), known(d.value, why), known(d.sd, why),
         known(d.ratio, why), known(d.held_at, "follows from the description"), d.reason)
        for d in study.identification.dropped
        if d.stage in _OWN
    )  # fmt: skip
    return Table("dropped", "", columns, rows, ("Held at: the value that the robot file gives, in SI units.",))


def _group(study: Study, name: str) -> str:
    """Practical subgroup (G1+, G1~, G1-) before M3 of what was determined alone, else the theoretical group."""
    found = study.identification
    group = found.groups.group[found.groups.names.index(name)]
    kind = found.kinds.get(name)
    if kind is None:
        return str(group)
    return str(kind) if group is Group.IDENTIFIABLE else f"{group}{str(kind)[2:]}"


def combination_table(groups: Groups) -> Table:
    columns = (Column("subgroup", "subgroup"), Column("acts_as", "acts as"), Column("combination", "combination"))
    rows: list[tuple[Cell, ...]] = []
    for number, subgroup in enumerate(groups.subgroups, 1):
        for c in subgroup.combinations:
            rows.append((number, f"{len(subgroup.members)} as {len(subgroup.combinations)}", c.text()))
    notes = (
        "Parameters of a subgroup act only through these combinations. Kept are the actuated joints first, then the "
        "order of the robot file; the others are absorbed with the factor shown (SI units).",
    )
    return Table("combinations", "", columns, tuple(rows), notes)
