"""A whole campaign in one call: estimate, groups, accuracy by several routes, prediction; and what its markers did
beside what the model says, as vectors for a picture.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypedDict

import numpy as np

from elastocal.errors import InputError
from elastocal.measure.measured import Measured
from elastocal.model.descriptions import Derivation, Form, descriptions, in_form
from elastocal.model.robot import Robot
from elastocal.reduction.compensator import compensator_of, sample_spring, spring_pairs, start_values
from elastocal.reduction.diagnostics import (
    Correlation,
    Discrepancy,
    Influence,
    OmittedParameter,
    Outlier,
    PriorCheck,
    correlations,
    discrepancy,
    find_outliers,
    influence,
    omitted_parameters,
    prior_checks,
)
from elastocal.reduction.error_budget import Budget, Cost, Wide, budget, reduction_cost, wide_covariance
from elastocal.reduction.first_fit import USUAL, ReductionRules, StartValues
from elastocal.reduction.fit import Fit, misfit_at
from elastocal.reduction.identify import Identification, identify, sought_names
from elastocal.reduction.prediction import IdentifiedModel
from elastocal.reduction.springs import PossibleSprings, derived_springs, possible_springs
from elastocal.results import as_frame, shortened
from elastocal.solve.linear_sampling import Bootstrap, GibbsPosterior, bootstrap, gibbs
from elastocal.solve.nonlinear_sampling import Ensemble, NonlinearPosterior, ensemble
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.spatial.threads import one_thread
from elastocal.values import dataclass

Watch = Callable[[str], None]


class StudyOptions(TypedDict, total=False):
    """What may be asked of ``study`` beside parameters and generator."""

    hold: Sequence[str]
    form: Form | None
    rules: ReductionRules
    correlated: float
    watch: Watch


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """``posterior`` and ``resampled`` are None where they cannot be had, with the reason in ``missing``.

    The posterior of a compensator's spring is sampled without linearising it.  ``priors`` are the unknowns with a
    prior, with the chance of their estimates, ``omitted`` what the residuals say of parameters that were fixed.
    """

    identification: Identification
    wide: Wide
    influence: Influence
    budget: Budget
    outliers: tuple[Outlier, ...]
    correlations: tuple[Correlation, ...]
    discrepancy: Discrepancy
    costs: tuple[Cost, ...]
    springs: PossibleSprings | None
    derived: dict[str, Derivation]
    posterior: GibbsPosterior | NonlinearPosterior | None
    resampled: Bootstrap | None
    missing: tuple[str, ...]
    priors: tuple[PriorCheck, ...] = ()
    omitted: tuple[OmittedParameter, ...] = ()

    def __repr__(self) -> str:
        fit = self.fit
        pairs = zip(fit.names, fit.values, fit.sd, strict=True)
        head = f"<Study of {fit.model.name}: {len(fit.names)} parameters, {len(self.outliers)} outliers"
        return shortened([head, *(f"  {n:<16} {v:.5g} +- {s:.2g}" for n, v, s in pairs)]) + ">"

    def to_frame(self) -> object:
        """One row for every estimated parameter, SI."""
        fit = self.fit
        pairs = zip(fit.names, fit.values, fit.sd, strict=True)
        return as_frame([{"name": n, "value": float(v), "sd": float(s)} for n, v, s in pairs])

    @property
    def fit(self) -> Fit:
        return self.identification.fit

    @property
    def identified(self) -> IdentifiedModel:
        """What predictions and compensation need."""
        fit = self.fit
        statics = fit.campaign.measurement.statics
        freedom = float("inf") if fit.stated and fit.inflation == 1 else float(fit.freedom)
        return IdentifiedModel(fit.model, self.wide.names, self.wide.covariance, self.discrepancy.sd, statics, freedom)


@one_thread
def study(
    model: Robot,
    campaign: Measured,
    seek: Sequence[str] | None = None,
    *,
    rng: np.random.Generator,
    hold: Sequence[str] = (),
    form: Form | None = None,
    rules: ReductionRules = USUAL,
    correlated: float = 0.8,
    watch: Watch = lambda step: None,
    notes: Sequence[str] = (),
) -> Study:
    """Identify and judge; ``rng`` serves the Gibbs sampler and the bootstrap, ``watch`` hears what is being done.

    The search starts from the start values of ``rules``, of which ``notes`` tell; without any, from those of a
    compensator whose spring is sought.
    """
    watch("fitting")
    missing = [*notes]
    values = rules.start.values or _start(model, campaign, seek, hold, form, missing)
    rules = replace(rules, start=StartValues(values, spring_pairs(model)))
    identification = identify(descriptions(model, form), campaign, seek, hold=hold, rules=rules)
    fit, kind = identification.fit, campaign.measurement
    watch("judging")
    springs = possible_springs(fit, model, seek, hold)
    watch("sampling")
    if rules.loss != "linear":
        missing.append(
            f"No Gibbs sampling and no bootstrap: both assume normal errors, the loss is {rules.loss}. Left-out poses "
            "and discrepancy count the readings that the loss lets go."
        )
    posterior = _posterior(fit, rng, missing) if rules.loss == "linear" else None
    resampled = _resampled(fit, kind.pose, rng, missing) if rules.loss == "linear" else None
    return Study(
        identification,
        wide_covariance(identification),
        influence(fit, kind.pose),
        budget(fit),
        find_outliers(fit),
        correlations(fit, correlated),
        discrepancy(fit),
        reduction_cost(identification.whole, fit),
        springs,
        derived_springs(identification),
        posterior,
        resampled,
        tuple(missing),
        prior_checks(fit),
        omitted_parameters(identification),
    )


def _start(
    model: Robot,
    campaign: Measured,
    seek: Sequence[str] | None,
    hold: Sequence[str],
    form: Form | None,
    notes: list[str],
) -> dict[str, float]:
    """Values that the search starts with, of a compensator whose spring is sought; none otherwise."""
    names = sought_names(campaign.measurement, in_form(model, form or "beam"), seek, hold)
    spring = compensator_of(model, names)
    if spring is None or campaign.measurement.linear() is None:
        return {}
    try:
        start = start_values(model, campaign, names, spring).values
    except InputError as error:
        notes.append(f"The search for the spring starts from the robot file: {error}.")
        return {}
    own = {n: v for n, v in start.items() if n.startswith(f"{spring.joint}.")}
    notes.append(
        "The search starts from " + ", ".join(f"{n} = {v:.4g}" for n, v in own.items()) + " (two linear fits)."
    )
    return own


def _posterior(fit: Fit, rng: np.random.Generator, missing: list[str]) -> GibbsPosterior | NonlinearPosterior | None:
    spring = compensator_of(fit.model, fit.names)
    if spring is not None:
        return sample_spring(fit, spring, rng=rng)
    problem, kind, used = fit.problem, fit.campaign.measurement, fit.problem.counted
    groups = np.array([kind.groups.index(row.group) for row in kind.rows])  # markers, instruments; priors are -1
    classes = np.concatenate([np.tile(groups, problem.shape[0]), np.full(len(used) - problem.used.size, -1)])
    try:
        drawn = gibbs(fit.names, problem.matrix[used], problem.misfit[used], classes[used], rng=rng)
    except InputError as error:
        missing.append(f"No Gibbs sampling: {error}.")
        return None
    return replace(drawn, draws=drawn.draws + fit.values)


def _resampled(fit: Fit, pose: Ints, rng: np.random.Generator, missing: list[str]) -> Bootstrap | None:
    problem, used = fit.problem, fit.problem.counted
    always = np.arange(len(used)) >= problem.used.size
    poses = np.concatenate([np.repeat(pose, problem.shape[1]), np.zeros(always.sum(), dtype=pose.dtype)])
    try:
        drawn = bootstrap(
            fit.names, problem.matrix[used], problem.misfit[used], poses[used], always=always[used], rng=rng
        )
    except InputError as error:
        missing.append(f"No bootstrap: {error}.")
        return None
    return replace(drawn, draws=drawn.draws + fit.values)


def sample_nonlinear(fit: Fit, steps: int, rng: np.random.Generator) -> Ensemble:
    """Every place of a walker is a solution of the full model: minutes for a large arm, seconds for a small one."""

    def log_density(places: Array) -> Array:
        squares = np.array([np.sum(misfit_at(fit, x) ** 2) for x in places])
        return np.asarray(-0.5 * squares / fit.inflation**2)

    return ensemble(fit.names, log_density, fit.values, fit.sd, rng=rng, steps=steps, warm_up=steps // 5)


LONGER = 3.0
"""Times the longest trusted vector: a doubtful one is cut there."""


@dataclass(frozen=True, eq=False)
class MarkerMoves:
    """Markers ``at`` (N, m, 3) in m, and two vectors at each (N, m, 3), ``words`` saying which.

    Of a deflection: as measured, and as the calibrated model says.  Of a position: read minus the robot file, and read
    minus the calibrated model.  Components that were not read are zero in both; nan where a marker was not read at all.
    ``flagged`` (N, m) are markers with a number that was left out or is doubtful.
    """

    at: Array
    first: Array
    second: Array
    words: tuple[str, str]
    flagged: Bools
    cut: int = 0

    @property
    def longest(self) -> float:
        """Of the first vectors that are not flagged, m."""
        sizes = np.linalg.norm(self.first, axis=2)
        return float(np.nanmax(np.where(self.flagged, np.nan, sizes), initial=0.0))


def marker_moves(study: Study, campaign: Measured, nominal: Robot) -> MarkerMoves | None:
    """None for kinds that read no vectors of markers; ``nominal`` is the robot of the file."""
    kind = campaign.measurement
    where = kind.watched
    if where is None or len(kind.rows) != where.height:
        return None
    after = kind.predict(study.fit.model)
    rows = np.array([range(start, start + 3) for start in where.starts])
    flagged = np.zeros((where.count, len(where.markers)), dtype=bool)
    for s in (*study.identification.excluded, *study.outliers):
        hit = np.flatnonzero(np.any(rows == s.row, axis=1))
        flagged[s.reading, hit] = True
    if kind.states == 2:
        first, second, words = campaign.readings, after, ("measured", "calibrated model")
    else:
        first, second = campaign.readings - kind.predict(nominal), campaign.readings - after
        words = ("read minus robot file", "read minus calibrated model")
    read = campaign.measured[:, rows]
    vectors = [_of_read(v[:, rows], read) for v in (first, second)]
    return _shortened(MarkerMoves(where.positions(study.fit.model), vectors[0], vectors[1], words, flagged))


def _of_read(vectors: Array, read: Bools) -> Array:
    """Zero where a component was not read; nan where none was."""
    return np.where(read.any(axis=2, keepdims=True), np.where(read, vectors, 0.0), np.nan)


def _shortened(moves: MarkerMoves) -> MarkerMoves:
    """Flagged vectors cut to a length that leaves the others visible."""
    size = np.linalg.norm(moves.first, axis=2)
    most = LONGER * moves.longest
    over = moves.flagged & (size > most) & (most > 0)
    if not over.any():
        return moves
    share = np.where(over, most / np.where(over, size, 1.0), 1.0)[..., None]
    return replace(moves, first=share * moves.first, cut=int(over.sum()))


def flagged_readings(moves: MarkerMoves) -> Ints:
    return np.flatnonzero(moves.flagged.any(axis=1))
