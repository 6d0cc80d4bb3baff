"""Tables of an identification: the path of the reduction, what was found, what was dropped, what acts together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.pages.columns import known
from elastocal.identifiability.groups import Group
from elastocal.identifiability.practical import practical
from elastocal.report.blocks import Cell, Column, Table, Unknown
from elastocal.report.display import concise

if TYPE_CHECKING:
    from elastocal.identifiability.groups import Groups
    from elastocal.uncertainty.study import Study

NO_NOISE = "no noise was stated"
NOT_SAMPLED = "not sampled, see the notes"


def path_table(study: Study) -> Table:
    columns = (
        Column("stage", "stage"),
        Column("parameters", "unknowns"),
        Column("identifiable", "told apart"),
        Column("scatter", "residuals / noise", "", 3),
        Column("left_out_um", "pose left out", "um", 1),
        Column("action", "what it does"),
    )
    rows = tuple(
        (
            s.name,
            s.parameters,
            s.identifiable,
            known(s.scatter, "no spare equations"),
            known(1e6 * s.left_out, "a pose alone holds up a parameter, or nothing was measured twice"),
            s.action,
        )
        for s in study.identification.stages
    )
    notes = (
        "Unknowns count nuisances too. Pose left out: root mean square error, per axis, of predicting a pose that took "
        "no part in the fit. A model with more unknowns fits better and predicts worse: that is overfitting.",
    )
    return Table("path", "", columns, rows, notes)


def parameter_table(study: Study) -> Table:
    columns = (
        Column("parameter", "parameter"),
        Column("concise", "value (sd)"),
        Column("unit", "unit"),
        Column("percent", "accuracy", "%", 2),
        Column("ratio", "value / sd", "", 1),
        Column("group", "group"),
        Column("value", "value", shown=False),
        Column("sd", "sd used", shown=False),
        Column("sd_stated", "sd, stated noise"),
        Column("sd_estimated", "sd, estimated noise"),
        Column("gibbs_low", "Gibbs 95 % from"),
        Column("gibbs_high", "to"),
        Column("sd_bootstrap", "sd, bootstrap"),
        Column("dominant", "dominant error"),
    )
    count = study.fit.problem.parameters
    rows = tuple(_parameter(study, i) for i in range(count))
    notes = (
        "G1: determined alone; G3: stands for the combination written below; + ~ - by the thresholds. "
        "Accuracy is one standard deviation: that of the stated noise, enlarged where the residuals scatter more.",
        "What M3 keeps was chosen because it stands out: the intervals of values near the threshold cover less than "
        "they say.",
    )
    return Table("parameters", "", columns, rows, notes)


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


def _parameter(study: Study, i: int) -> tuple[Cell, ...]:
    fit, found = study.fit, study.identification
    name, value, sd = fit.names[i], float(fit.values[i]), float(fit.sd[i])
    alone = found.groups.group[found.groups.names.index(name)] is Group.IDENTIFIABLE
    size = str(practical(float(fit.ratios[i]), *found.thresholds))
    kind = size if alone else f"G3{size[2:]}"
    stated: Cell = float(fit.covariance_stated[i, i] ** 0.5) if fit.stated else Unknown(NO_NOISE)
    estimated = known(float(fit.covariance_estimated[i, i] ** 0.5), "no spare equations")
    gibbs: tuple[Cell, Cell] = (Unknown(NOT_SAMPLED), Unknown(NOT_SAMPLED))
    if study.posterior is not None:
        low, high = study.posterior.interval(0.95)[:, i]
        gibbs = (float(low), float(high))
    again: Cell = Unknown(NOT_SAMPLED) if study.resampled is None else float(study.resampled.sd[i])
    source, share = study.budget.dominant(name)
    return (
        name, concise(value, sd), fit.problem.units[i], 100 * sd / abs(value), abs(value) / sd, kind, value, sd, stated,
        estimated, *gibbs, again, f"{source} ({100 * share:.0f} %)",
    )  # fmt: skip


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
        Column("reason", "why it is not estimated"),
        Column("value", "estimate"),
        Column("sd", "sd"),
        Column("ratio", "value / sd", "", 2),
        Column("held_at", "held at"),
    )
    why = "not estimated on its own"
    rows = tuple(
        (d.name, d.stage, d.reason, known(d.value, why), known(d.sd, why), known(d.ratio, why),
         known(d.held_at, "follows from the description"))
        for d in study.identification.dropped
        if d.stage in _OWN
    )  # fmt: skip
    return Table("dropped", "", columns, rows, ("Held at: the value that the robot file gives, in SI units.",))


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


def spring_table(study: Study) -> Table:
    """Matrices that physics allows, element by element in SI."""
    columns = (
        Column("place", "spring"),
        Column("smallest_free", "smallest eigenvalue, free", "", 4),
        Column("smallest", "possible", "", 4),
        Column("constrained", "held at the edge"),
        *(Column(f"k{i}{j}", f"k{i}{j}") for i in range(1, 7) for j in range(i, 7)),
    )
    assert study.springs is not None
    rows: list[tuple[Cell, ...]] = []
    for s in study.springs.springs:
        if s.matrix.shape == (6, 6):
            entries = (float(s.matrix[i, j]) for i in range(6) for j in range(i, 6))
            rows.append((s.place, s.smallest_free, s.smallest, s.constrained, *entries))
    notes = (
        "Least squares of the symmetric model with every matrix positive semidefinite, before algebraic reduction; "
        "what the readings do not determine stays near the robot file by a weak prior. Eigenvalues of the matrix "
        "scaled by its nominal diagonal.",
    )
    return Table("springs", "", columns, tuple(rows), notes)


def rebuilt_table(study: Study) -> Table:
    columns = (
        Column("parameter", "element"),
        Column("concise", "value (sd)"),
        Column("value", "value", shown=False),
        Column("sd", "sd", shown=False),
        Column("relation", "rebuilt from"),
        Column("conflict", "other ways differ by", "sd", 1),
    )
    rows: list[tuple[Cell, ...]] = []
    for spring in study.rebuilt:
        for r in spring.rebuilding.rebuilt:
            value, sd = known(r.value, r.relation), known(r.sd, r.relation)
            other = known(r.conflict, "there is no other way")
            rows.append((f"{spring.place}.{r.symbol}", concise(r.value, r.sd), value, sd, r.relation, other))
    notes = ("Reconstructed by beam relations with the nominal section's ratios, not measured.",)
    return Table("rebuilt", "", columns, tuple(rows), notes)
