"""What a calibration estimated: parameters with their accuracy by every route, nuisance parameters, score tests."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING

from elastocal.app.pages.result_columns import or_reason
from elastocal.quantities import concise
from elastocal.reduction.diagnostics import LIKELY
from elastocal.report.blocks import Cell, Column, Table, Unknown
from elastocal.solve.identifiability import Group, practical

if TYPE_CHECKING:
    from elastocal.reduction.study import Study
    from elastocal.solve.nonlinear_sampling import Ensemble


NO_NOISE = "no noise was stated"
NOT_SAMPLED = "not sampled, see the notes"
STIFFNESS = {"rad/(N m)": (pi / 10800, "N m/arcmin"), "m/N": (1e-6, "N/um")}
"""Factor and unit of a stiffness by the unit of its compliance."""


def parameter_table(study: Study, sampled: Ensemble | None = None, standing: frozenset[str] = frozenset()) -> Table:
    """Values first, then how sure they are by every route; ``sampled`` is what emcee drew, if it was asked for.

    ``standing`` are names of estimates that stand for a combination with what is fixed.
    """
    columns = (
        Column("parameter", "parameter"),
        Column("value", "value (sd)", si=True, sd="sd"),
        Column("unit", "unit"),
        Column("file", "robot file", digits=4, si=True),
        Column("change_percent", "change", "%", 1),
        Column("stiffness", "stiffness (sd)"),
        Column("percent", "accuracy", "%", 2),
        Column("ratio", "value / sd", "", 1),
        Column("group", "group"),
        Column("dominant", "dominant error", part=1),
        Column("sd", "sd used", shown=False, si=True),
        Column("sd_wide", "sd, others unknown", digits=3, part=1, si=True),
        Column("sd_stated", "sd, stated noise", digits=3, part=1, si=True),
        Column("sd_estimated", "sd, estimated noise", digits=3, part=1, si=True),
        Column("sd_bootstrap", "sd, bootstrap", digits=3, part=1, si=True),
        Column("gibbs_low", "Gibbs 95 % from", digits=4, part=1, si=True),
        Column("gibbs_high", "to", digits=4, part=1, si=True),
        Column("rhat", "R-hat", "", 3, part=1),
        Column("effective", "effective draws", "", 0, part=1),
        Column("emcee_low", "emcee 95 % from", digits=4, part=2, si=True),
        Column("emcee_high", "to", digits=4, part=2, si=True),
        Column("emcee_effective", "effective draws", "", 0, part=2),
    )
    rows = tuple(_parameter(study, i, sampled, standing) for i in range(study.fit.problem.parameters))
    return Table("parameters", "", columns, rows, (*_NOTES, *_doubts(study, sampled)))


_NOTES = (
    "G1: determined alone; G3: stands for the combination written below; + ~ - by the thresholds. "
    "Accuracy is one standard deviation: that of the stated noise, enlarged where the residuals scatter more.",
    "These accuracies count what is not estimated as exact, and M3 keeps what stands out: such 95 % intervals cover "
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


def _parameter(study: Study, i: int, sampled: Ensemble | None, standing: frozenset[str]) -> tuple[Cell, ...]:
    fit, identification = study.fit, study.identification
    name, value, sd = fit.names[i], float(fit.values[i]), float(fit.sd[i])
    alone = (
        identification.groups.group[identification.groups.names.index(name)] is Group.IDENTIFIABLE
        and name not in standing
    )
    size = str(practical(float(fit.ratios[i]), *identification.thresholds))
    kind = size if alone else f"G3{size[2:]}"
    stated: Cell = float(fit.covariance_stated[i, i] ** 0.5) if fit.stated else Unknown(NO_NOISE)
    estimated = or_reason(float(fit.covariance_estimated[i, i] ** 0.5), "no spare equations")
    again: Cell = Unknown(NOT_SAMPLED)
    if study.resampled is not None:  # half of a 68 % interval: the sd of most, whatever the poorest of them did
        low, high = study.resampled.interval(0.6827)[:, i]
        again = float(high - low) / 2
    source, share = study.budget.dominant(name)
    return (
        name, value, fit.problem.units[i], *_against_file(study, i), 100 * sd / abs(value),
        abs(value) / sd, kind, f"{source} ({100 * share:.0f} %)", sd, study.wide.sd(name), stated,
        estimated, again, *_gibbs(study, i), *_emcee(sampled, i),
    )  # fmt: skip


def _against_file(study: Study, i: int) -> tuple[Cell, ...]:
    """The robot file's value, the change from it in %, and the stiffness of a joint: 1 / k with sd / k^2."""
    fit, table = study.fit, study.identification.sought.parameters
    p, value, sd = table[fit.names[i]], float(fit.values[i]), float(fit.sd[i])
    change = 100 * (value / p.value - 1) if p.value else None
    if p.unit not in STIFFNESS or "joint_compliance" not in p.kind or not value > 0:
        return p.value, change, None
    factor, unit = STIFFNESS[p.unit]
    return p.value, change, f"{concise(factor / value, factor * sd / value**2)} {unit}"


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
    return float(low), float(high), or_reason(float(sampled.effective[i]), "the chains are too short to tell")


def nuisance_table(study: Study) -> Table:
    """Shares in %, the rest in SI."""
    fit, priors = study.fit, {s.name: s for s in study.priors}
    note = (
        "Fitted together with the parameters, not assumed. Its scatter: what readings could move it by if all that is "
        "stated is right; by chance: that any of them lies so far off. One beyond that stands for something else that "
        "is wrong, perhaps something fixed."
    )

    def shown(i: int) -> tuple[float, str]:
        return (100.0, "%") if fit.problem.units[i] == "1" else (1.0, fit.problem.units[i])

    def beyond(i: int) -> tuple[Cell, ...]:
        known = priors.get(fit.names[i])
        if known is None:
            return (None,) * 4
        return shown(i)[0] * known.sd, known.sigmas, known.chance, "PRIOR CONFLICT" if known.conflict else None

    return Table.of("nuisances", range(fit.problem.parameters, len(fit.names)), {
        Column("unknown", "unknown"): lambda i: fit.names[i],
        Column("concise", "value (sd)"): lambda i: concise(shown(i)[0] * fit.values[i], shown(i)[0] * fit.sd[i]),
        Column("unit", "unit"): lambda i: shown(i)[1],
        (
            Column("stated", "stated sd", digits=3), Column("sigmas", "value / its scatter", "", 1),
            Column("chance", "by chance", digits=2), Column("doubt", "doubt"),
        ): beyond,
        Column("value", "value", shown=False): lambda i: fit.values[i],
        Column("sd", "sd", shown=False): lambda i: fit.sd[i],
    }, note)  # fmt: skip


MOST = 12


def exact_table(study: Study) -> Table:
    """Those that were not sought and that the readings see, the one that is asked for most first."""
    notes = [
        "What a fit that sought this parameter too would add to it, to first order; each alone. 'By chance': that any "
        "of them all is asked for so strongly while every value is right. Lengths and directions of the robot file are "
        f"fixed too, where it has no element that lets them err. A step beyond {100 * LIKELY:.0f} % is no "
        "likely one: then the model lacks something else."
    ]
    if len(study.omitted) > MOST:
        notes.append(f"{len(study.omitted) - MOST} more have smaller score tests.")
    return Table.of("score_tests", study.omitted[:MOST], {
        Column("parameter", "parameter"): lambda u: u.name,
        Column("value", "robot file", digits=4, si=True): lambda u: u.value,
        Column("unit", "unit"): lambda u: u.unit,
        Column("step", "step by the score test", digits=3, si=True): lambda u: u.step,
        Column("step_percent", "of it", "%", 1): lambda u: 100 * u.step / abs(u.value) if u.value else None,
        Column("step_sd", "sd", digits=2, si=True): lambda u: u.sd,
        Column("sigmas", "step / sd", "", 1): lambda u: u.sigmas,
        Column("chance", "by chance", digits=2): lambda u: u.chance,
    }, *notes)  # fmt: skip
