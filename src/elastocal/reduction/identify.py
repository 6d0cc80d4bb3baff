"""From everything a model could have to what the data support (003 section 4).

physical   the same robot described by fewer parameters (``model.descriptions``: M1, M2).
algebraic  parameters that are not separately identifiable are represented by some of them
           (``solve.identifiability``).
resolved   what the readings could not show, however large it were, is fixed (``first_fit``).
M3         what is not significant is fixed, one at a time (``elimination``).

A parameter that is not estimated keeps the value that the robot model gives it, which may be zero, wherever the search
for it started.  ``linear_bias`` is what the linear model of the unloaded arm makes of exact readings at the loaded
equilibrium.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import nan

import numpy as np

from elastocal.errors import InputError
from elastocal.measure.kind import Measurement
from elastocal.measure.measured import Measured
from elastocal.model.descriptions import Description, Form, descriptions
from elastocal.model.robot import Robot
from elastocal.model.statics.observation import linear_names
from elastocal.reduction.diagnostics import Outlier, influence
from elastocal.reduction.elimination import Dropped, by_description, by_readings, neglected
from elastocal.reduction.first_fit import USUAL, ReductionRules, StartValues, Trial, first_fit, without_outliers
from elastocal.reduction.fit import Fit, estimate
from elastocal.reduction.problem import weigh
from elastocal.solve.identifiability import Groups, Practical, practical
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass


@dataclass(frozen=True)
class Stage:
    """One line of the path: how many parameters, how many of them (with nuisances) the data can tell apart.

    ``scatter`` is the size of the residuals in units of the stated noise, ``left_out`` the root mean square error
    of predicting a pose that was left out, in the unit of the first number of a reading.
    """

    name: str
    action: str
    parameters: int
    identifiable: int
    scatter: float
    left_out: float


@dataclass(frozen=True, eq=False)
class Identification:
    """``groups`` and ``whole`` belong to the model before M3; ``fit`` is the model to compensate with.

    ``excluded`` are numbers that were left out.
    """

    sought: Robot
    stages: tuple[Stage, ...]
    groups: Groups
    whole: Fit
    kinds: dict[str, Practical]
    dropped: tuple[Dropped, ...]
    fit: Fit
    thresholds: tuple[float, float]
    excluded: tuple[Outlier, ...] = ()


def identify(
    described: Sequence[Description],
    campaign: Measured,
    seek: Sequence[str] | None = None,
    *,
    hold: Sequence[str] = (),
    rules: ReductionRules = USUAL,
) -> Identification:
    """Everything from readings to a model that is safe to compensate with.

    ``described`` is the robot, described by fewer and fewer parameters; ``seek`` and ``hold`` are names or patterns of
    them (default all that the kind of measurement has columns for).  Where the weight of a reading depends on the
    parameters (an uncertain load), all is done once more with the weights of the first result.
    """
    if not described:
        raise InputError("no model to identify; give at least one description", code="no-model")
    names = [sought_names(campaign.measurement, d.model, seek, hold) for d in described]
    first = _reduced(described, names, campaign, rules, rules.start.model(described[-1].model, names[-1]))
    if not any(s.bends for s in campaign.scattering):
        return first
    return _reduced(described, names, campaign, rules, first.fit.model)


def _reduced(
    described: Sequence[Description],
    names: Sequence[tuple[str, ...]],
    campaign: Measured,
    rules: ReductionRules,
    robot: Robot,
) -> Identification:
    """All stages with the weights at one model."""
    sought, excluded = described[-1].model, tuple[Outlier, ...]()
    if rules.leave_out:
        campaign, excluded = without_outliers(campaign, sought, names[-1], robot, rules.start)
    trials, lost = _descended(described, names, campaign, robot, rules.start)
    poses = campaign.measurement.pose
    stages = [_stage(d.title, d.action, len(t.groups.names), t, poses) for d, t in trials]
    last = trials[-1][1]
    if not last.fit.stated and last.fit.freedom < 1:
        raise InputError(
            f"{last.fit.problem.equations} numbers for {len(last.fit.names)} unknowns leave none to estimate the noise "
            "from; state it (errors:), measure more or seek fewer",
            code="few-readings",
            value=last.fit.problem.equations,
        )
    stages += _inner(last, poses)
    lost += by_readings(sought, last)
    if rules.statistical:
        fit, fallen = neglected(sought, campaign, last.fit, rules.thresholds[0], rules.loss, rules.start)
        title, action = "statistical M3", "smallest ratio below the threshold, one at a time"
    else:
        started = rules.start.model(sought, last.fit.names)
        fit, fallen = estimate(started, campaign, last.fit.names, rules.loss), ()
        title, action = "final", "fitted to convergence, no M3"
    left = influence(fit, poses).rms(campaign.measurement.judged)
    stages.append(Stage(title, action, len(fit.names), len(fit.names), fit.scatter, left))
    ratios = zip(last.fit.names, last.fit.ratios, strict=True)
    kinds = {n: practical(float(v), *rules.thresholds) for n, v in ratios}
    return Identification(
        sought, tuple(stages), last.groups, last.fit, kinds, (*lost, *fallen), fit, rules.thresholds, excluded
    )


def _descended(
    described: Sequence[Description],
    names: Sequence[tuple[str, ...]],
    campaign: Measured,
    robot: Robot,
    start: StartValues,
) -> tuple[list[tuple[Description, Trial]], list[Dropped]]:
    """A first fit of every description that has fewer parameters than the one before, and what was taken away."""
    weights = weigh(campaign, robot)
    trials: list[tuple[Description, Trial]] = []
    lost: list[Dropped] = []
    before: tuple[str, ...] = ()
    for description, now in zip(described, names, strict=True):
        gone = [n for n in before if n not in now]
        if trials and not gone:
            continue
        lost += [by_description(description, n) for n in gone]
        trials.append((description, first_fit(campaign, description.model, now, weights, start)))
        before = now
    return trials, lost


def sought_names(
    measurement: Measurement, model: Robot, seek: Sequence[str] | None, hold: Sequence[str] = ()
) -> tuple[str, ...]:
    """Parameters to seek: those named (default all that the kind has columns for) but those held."""
    held = {model.parameters.names[i] for i in model.parameters.select(hold)} if hold else set()
    return tuple(n for n in measurement.names(model, seek) if n not in held)


def _stage(name: str, action: str, parameters: int, trial: Trial, poses: Ints) -> Stage:
    left = influence(trial.fit, poses).rms(trial.fit.campaign.measurement.judged)
    return Stage(name, action, parameters, trial.groups.rank.rank, trial.fit.scatter, left)


def _inner(trial: Trial, poses: Ints) -> list[Stage]:
    """The algebraic stage and, where something is not resolved, the next; both have the same fit."""
    action = "parameters that are not separately identifiable are represented by some"
    first = _stage("algebraic", action, trial.groups.rank.rank, trial, poses)
    if not (trial.hidden or trial.unpaired):
        return [first]
    count, action = len(trial.fit.names), "what would not show however large it were is fixed"
    resolved = replace(first, name="resolved", action=action, parameters=count, identifiable=count)
    return [replace(first, scatter=nan, left_out=nan), resolved]


@dataclass(frozen=True)
class Bias:
    """An estimate of the linear model against the truth."""

    name: str
    unit: str
    truth: float
    estimate: float


@dataclass(frozen=True)
class LinearBias:
    """``bend`` is the rms difference (m) between loaded and linear deflection, ``estimates`` what it does to them.

    ``missing`` says why there are no estimates.
    """

    bend: float
    estimates: tuple[Bias, ...] = ()
    missing: str = ""


def linear_bias(
    truth: Robot, planned: Measured, exact: Array, seek: Sequence[str] | None, form: Form | None, rules: ReductionRules
) -> LinearBias | None:
    """Of the compliances sought, all others held at the truth; None for what is no deflection."""
    linear = planned.measurement.linear()
    if linear is None:
        return None
    bend = float(np.sqrt(np.mean((exact - linear.predict(truth)) ** 2)))
    described = descriptions(truth, form)[-1:]
    table = described[0].model.parameters
    try:
        wanted = {table.names[i] for i in table.select(seek)}
        names = [n for n in linear_names(described[0].model) if n in wanted]
        fit = identify(described, Measured(linear, exact, planned.scattering), names, rules=rules).fit
    except InputError as error:  # the readings stand all the same
        return LinearBias(bend, missing=str(error))
    pairs = zip(fit.names, fit.values, strict=True)
    return LinearBias(bend, tuple(Bias(n, table[n].unit, table[n].value, float(v)) for n, v in pairs))
