"""From everything a model could have to what the data support (003 section 4).

physical   the same robot described by fewer parameters (``model.descriptions``: M1, M2).
algebraic  parameters that act only together are represented by some of them (``identifiability.groups``).
resolved   a parameter of which even a thousand times what matters would stay below the noise is held: what only
           differences far below the noise tell apart would spoil all the others.
M3         the parameter with the smallest ratio of value to standard deviation, if below the threshold, is held at
           the model's own value and everything fitted again, one at a time: dropping all at once loses good ones.

A parameter that is not estimated keeps the value that the robot model gives it, which may be zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from elastocal.errors import InputError
from elastocal.identifiability.groups import Group, Groups, resolved
from elastocal.identifiability.practical import ABOVE, BELOW, Practical, practical
from elastocal.identify.fit import Fit, Loss, check_equations, estimate, groups_of, linear_fit
from elastocal.identify.influence import influence
from elastocal.identify.outliers import Suspect, suspects
from elastocal.identify.problem import Problem, Weights, linearise, unknowns, weigh
from elastocal.measure.campaign import Campaign
from elastocal.measure.kind import Measurement
from elastocal.model.descriptions import Description
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array, Ints

ROUNDS, MOST = 3, 0.05
ABSURD = 1e3
"""Times the size that matters: a change that no robot survives."""


@dataclass(frozen=True)
class Stage:
    """One line of the path: how many parameters, how many of them (with nuisances) the data can tell apart.

    ``scatter`` is the size of the residuals in units of the stated noise, ``left_out`` the root mean square error (m)
    of predicting a pose that was left out.
    """

    name: str
    action: str
    parameters: int
    identifiable: int
    scatter: float
    left_out: float


@dataclass(frozen=True)
class Dropped:
    """A parameter that is not estimated: where it fell, why, with which numbers, and what it is held at."""

    name: str
    stage: str
    reason: str
    value: float
    sd: float
    ratio: float
    held_at: float


@dataclass(frozen=True, eq=False)
class Identification:
    """``groups`` and ``whole`` belong to the model before M3; ``fit`` is the model to compensate with.

    ``gross`` are numbers that were left out.
    """

    sought: RobotModel
    stages: tuple[Stage, ...]
    groups: Groups
    whole: Fit
    kinds: dict[str, Practical]
    dropped: tuple[Dropped, ...]
    fit: Fit
    thresholds: tuple[float, float]
    gross: tuple[Suspect, ...] = ()


def identify(
    described: Sequence[Description],
    campaign: Campaign,
    seek: Sequence[str] | None = None,
    *,
    hold: Sequence[str] = (),
    thresholds: tuple[float, float] = (ABOVE, BELOW),
    statistical: bool = True,
    loss: Loss = "linear",
    leave_out: bool = True,
) -> Identification:
    """Everything from readings to a model that is safe to compensate with.

    ``described`` is the robot, described by fewer and fewer parameters; ``seek`` and ``hold`` are names or patterns of
    them (default all that the kind of measurement has columns for); ``statistical=False`` stops before M3;
    ``leave_out`` takes numbers out that do not belong, before anything is judged by their scatter.
    """
    if not thresholds[0] > thresholds[1] > 0:
        raise InputError(f"thresholds {thresholds[0]:g} and {thresholds[1]:g}: upper above lower, both positive")
    if not described:
        raise InputError("no model to identify; give at least one description")
    poses = campaign.measurement.setup.pose
    last = described[-1].model
    campaign, gross = _screened(campaign, last, sought_names(campaign.measurement, last, seek, hold), leave_out)
    weights = weigh(campaign, last)
    stages: list[Stage] = []
    lost: list[Dropped] = []
    names: tuple[str, ...] = ()
    for description in described:
        before, names = names, sought_names(campaign.measurement, description.model, seek, hold)
        gone = [n for n in before if n not in names]
        if before and not gone:
            continue
        lost += [_physical(description, n) for n in gone]
        trial = _trial(campaign, description.model, names, weights)
        stages.append(_stage(description.title, description.action, len(trial.groups.names), trial, poses))
    sought, groups, whole = last, trial.groups, trial.fit
    stages += _inner(trial, poses)
    lost += _by_groups(sought, groups) + _by_sight(sought, trial)
    kept, fallen = list(whole.names), tuple[Dropped, ...]()
    if statistical:
        kept, fallen = _neglect(sought, whole, thresholds[0])
    fit = estimate(sought, campaign, kept, loss)
    while statistical and (weakest := _weakest(fit, thresholds[0])) is not None:
        fallen = (*fallen, _fallen(sought, fit, weakest, thresholds[0]))
        fit = estimate(sought, campaign, [n for n in fit.names if n != weakest], loss)
    left = influence(fit, poses).rms(_lengths(campaign))
    action = "smallest ratio below the threshold, one at a time" if statistical else "fitted to convergence, no M3"
    stages.append(
        Stage("statistical M3" if statistical else "final", action, len(fit.names), len(fit.names), fit.scatter, left)
    )
    kinds = {n: practical(float(v), *thresholds) for n, v in zip(whole.names, whole.ratios, strict=True)}
    return Identification(sought, tuple(stages), groups, whole, kinds, (*lost, *fallen), fit, thresholds, gross)


def sought_names(
    measurement: Measurement, model: RobotModel, seek: Sequence[str] | None, hold: Sequence[str] = ()
) -> tuple[str, ...]:
    """Parameters to seek: those named (default all that the kind has columns for) but those held."""
    held = {model.parameters.names[i] for i in model.parameters.select(hold)} if hold else set()
    return tuple(n for n in measurement.names(model, seek) if n not in held)


def _screened(
    campaign: Campaign, model: RobotModel, names: Sequence[str], leave_out: bool
) -> tuple[Campaign, tuple[Suspect, ...]]:
    """The campaign without numbers that do not belong, at most one in twenty, found round by round."""
    gross: list[Suspect] = []
    for _ in range(ROUNDS if leave_out else 0):
        found = suspects(_trial(campaign, model, names, weigh(campaign, model)).fit)
        if not found:
            break
        gross += found
        if len(gross) > MOST * campaign.measured.sum():
            raise InputError(
                f"{len(gross)} numbers do not fit the model, the worst {gross[0].place}: that is no gross error but a "
                "wrong model, wrong units or a far too small noise; check these, or keep all readings (outliers: keep)"
            )
        campaign = campaign.leaving_out((s.reading, s.row) for s in found)
    return campaign, tuple(gross)


@dataclass(frozen=True, eq=False)
class _Trial:
    """``hidden`` are the parameters that the readings do not resolve, with the effect of an absurd change."""

    groups: Groups
    hidden: dict[str, float]
    fit: Fit


def _trial(campaign: Campaign, model: RobotModel, names: Sequence[str], weights: Weights) -> _Trial:
    """Groups at the model's values, and one linear step in the kept basis."""
    extra = [u.name for u in unknowns(campaign, model)]
    problem = linearise(campaign, model, [*names, *extra], weights)
    check_equations(problem)
    plain = linearise(_structural(campaign, model, names), model, [*names, *extra], weights)
    groups = groups_of(plain, model.joint_parameters)
    joints = set(model.joint_parameters)
    count = len(names)
    order = sorted(range(len(groups.names)), key=lambda i: (i < count, groups.names[i] not in joints, i))
    seen, hidden = resolved(plain.reduced.triangle, _sizes(problem), groups.kept, order)
    fit = _settled(linear_fit(model, campaign, problem, [groups.names[i] for i in seen]))
    return _Trial(groups, {groups.names[i]: size for i, size in hidden.items()}, fit)


def _structural(campaign: Campaign, model: RobotModel, names: Sequence[str]) -> Campaign:
    return replace(campaign, measurement=campaign.measurement.structure(model, names))


def _sizes(problem: Problem) -> Array:
    """A change of every parameter beyond all that is plausible; nuisances are always seen."""
    lengths = np.linalg.norm(problem.matrix[:, problem.parameters :], axis=0)
    return np.concatenate([ABSURD * problem.scales[: problem.parameters], 1e6 / np.where(lengths > 0, lengths, 1.0)])


def _settled(first: Fit) -> Fit:
    """Linearised again at the first estimate where readings are not affine; the first where that has no states."""
    campaign = first.campaign
    if campaign.measurement.affine:
        return first
    p = first.problem.parameters
    u = dict(zip(first.problem.nuisance, (float(v) for v in first.values[p:]), strict=True))
    problem = linearise(campaign, first.model, first.names, first.problem.weights, u)
    try:
        again = linear_fit(first.model, campaign, problem, first.names)
    except InputError:  # so far out that the columns depend on each other
        return first
    return first if np.any(first.problem.used & ~problem.used) or not again.scatter < first.scatter else again


def _stage(name: str, action: str, parameters: int, trial: _Trial, poses: Ints) -> Stage:
    left = influence(trial.fit, poses).rms(_lengths(trial.fit.campaign))
    return Stage(name, action, parameters, trial.groups.rank.rank, trial.fit.scatter, left)


def _lengths(campaign: Campaign) -> list[int]:
    return [i for i, row in enumerate(campaign.measurement.rows) if row.unit == "m"]


def _inner(trial: _Trial, poses: Ints) -> list[Stage]:
    """The algebraic stage and, where something is not resolved, the next; both have the same fit."""
    left = influence(trial.fit, poses).rms(_lengths(trial.fit.campaign))
    rows = [("algebraic", "what acts only together is represented by some", trial.groups.rank.rank)]
    if trial.hidden:
        rows.append(("resolved", "what would not show however large it were is held", len(trial.fit.names)))
    nan = float("nan")
    return [
        Stage(
            name,
            action,
            count,
            count,
            trial.fit.scatter if row == len(rows) else nan,
            left if row == len(rows) else nan,
        )
        for row, (name, action, count) in enumerate(rows, 1)
    ]


def _by_sight(model: RobotModel, trial: _Trial) -> list[Dropped]:
    out = []
    for name, size in trial.hidden.items():
        p = model.parameters.rows[model.parameters.index(name)]
        why = (
            f"even {ABSURD * p.scale:g} {p.unit} would show by only {size:.2g} of the noise beyond what others explain"
        )
        out.append(Dropped(name, "resolved", why, np.nan, np.nan, np.nan, p.value))
    return out


def _physical(description: Description, name: str) -> Dropped:
    return Dropped(name, description.title, description.reason(name), np.nan, np.nan, np.nan, np.nan)


def _by_groups(model: RobotModel, groups: Groups) -> list[Dropped]:
    """What the readings cannot see alone."""
    kept = {groups.names[i] for i in groups.kept}
    absorbed = {n: c.kept for s in groups.subgroups for c in s.combinations for n, _ in c.absorbed}
    out = []
    for name, group in zip(groups.names, groups.group, strict=True):
        if name in kept:
            continue
        why = "moves nothing that was read" if group is Group.SILENT else f"acts only together with {absorbed[name]}"
        held = model.parameters.values[model.parameters.index(name)] if name in model.parameters.names else 0.0
        out.append(Dropped(name, "algebraic", f"{group.value}: {why}", np.nan, np.nan, np.nan, float(held)))
    return out


def _neglect(model: RobotModel, whole: Fit, threshold: float) -> tuple[list[str], tuple[Dropped, ...]]:
    """M3 on the linear problem: conditioning on a parameter is the refit, x - C_j (x_j - held) / C_jj."""
    p = whole.problem.parameters
    names, x, c = list(whole.names), whole.values.copy(), whole.covariance.copy()
    held = {n: float(v) for n, v in zip(model.parameters.names, model.parameters.values, strict=True)}
    out = []
    while p:
        ratio = np.abs(x[:p]) / np.sqrt(np.diag(c)[:p])
        j = int(np.argmin(ratio))
        if not ratio[j] < threshold:
            break
        out.append(_drop(names[j], float(x[j]), float(np.sqrt(c[j, j])), threshold, held[names[j]]))
        x = x - c[:, j] * (x[j] - held[names[j]]) / c[j, j]
        c = c - np.outer(c[:, j], c[j]) / c[j, j]
        rest = [i for i in range(len(names)) if i != j]
        x, c, names, p = x[rest], c[np.ix_(rest, rest)], [names[i] for i in rest], p - 1
    if not p and not out:
        raise InputError(
            "the readings tell nothing of what is sought beside the nuisances; load the arm, or seek others"
        )
    if not p:
        raise InputError(_NOTHING.format(threshold=threshold, name=out[-1].name, ratio=out[-1].ratio))
    return names, tuple(out)


_NOTHING = (
    "no parameter stands out of the noise by a factor of {threshold:g} (the last was {name} with {ratio:.2g}); "
    "raise the load, measure more poses, or lower the threshold"
)


def _weakest(fit: Fit, threshold: float) -> str | None:
    ratios = fit.ratios[: fit.problem.parameters]
    if not len(ratios) or not ratios.min() < threshold:
        return None
    if len(ratios) == 1:
        raise InputError(_NOTHING.format(threshold=threshold, name=fit.names[0], ratio=float(ratios[0])))
    return fit.names[int(np.argmin(ratios))]


def _fallen(model: RobotModel, fit: Fit, name: str, threshold: float) -> Dropped:
    i = fit.names.index(name)
    held = float(model.parameters.values[model.parameters.index(name)])
    return _drop(name, float(fit.values[i]), float(fit.sd[i]), threshold, held)


def _drop(name: str, value: float, sd: float, threshold: float, held: float) -> Dropped:
    ratio = abs(value) / sd
    return Dropped(
        name, "M3", f"value over standard deviation {ratio:.2g} is below {threshold:g}", value, sd, ratio, held
    )
