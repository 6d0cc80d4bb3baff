"""Masses and mass moments of all links at once, from the torques of all joints (001 section III, and beyond it).

The torque that holds a rigid arm is linear in masses and mass moments,

    tau = sum_links F(q) (m, m c) + friction + e,

so they are the parameters of a ``joint_torque`` campaign: groups say which of them act only together (the base
parameters), friction is a nuisance, and what is known of the masses beforehand is a belief.  The noise of each joint is
what its residuals show.  Neighbouring samples are not independent: N of them are worth N_eff, so the noise that counts
is larger by sqrt(N / N_eff), with N_eff from the residuals' autocorrelation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.errors import InputError
from elastocal.gravity.samples import Samples, Sense, check_columns, torque_sense
from elastocal.identify.fit import Fit
from elastocal.identify.reduction import Identification, identify
from elastocal.measure.campaign import Belief, Campaign
from elastocal.measure.joint_torque import MASSES, JointTorque
from elastocal.measure.sources.friction import Friction
from elastocal.measure.sources.reading import Reading
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.descriptions import Description
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.robot import RobotModel
from elastocal.model.statics.holding import holding_observation, holding_torque
from elastocal.spatial.entries import Array, Bools
from elastocal.uncertainty.convergence import FEWEST, effective_number
from elastocal.uncertainty.wide import Wide, wide_covariance

ROUNDS = 4
SMALLEST = 1e-6
"""N m: noise of a log that has none."""


@dataclass(frozen=True)
class MassPrior:
    """How well the robot file knows its masses: a share of each mass, and the place of its centre in m."""

    share: float = 0.3
    centre: float = 0.03

    def beliefs(self, model: RobotModel) -> tuple[Belief, ...]:
        """One for each mass and mass moment; a link without mass is no belief but a gap."""
        out = []
        for e in model.loads:
            if isinstance(e, LinkMass) and e.mass > 0:
                sds = [self.share * e.mass, *(np.hypot(self.share * u, self.centre * e.mass) for u in e.moment)]
                rows = zip(e.parameters(model.tree), sds, strict=True)
                out += [Belief(p.name, p.value, float(sd)) for p, sd in rows]
        return tuple(out)


@dataclass(frozen=True, eq=False)
class GravityFit:
    """``noise`` (n,) is the scatter of one reading about the model, ``worth`` (n,) how many independent ones there are;
    both nan of a joint without readings."""

    samples: Samples
    sense: Sense
    identification: Identification
    wide: Wide
    noise: Array
    worth: Array

    @property
    def fit(self) -> Fit:
        return self.identification.fit

    @property
    def model(self) -> RobotModel:
        return self.fit.model

    def friction(self) -> dict[str, tuple[float, float]]:
        """Nuisance by name: value and standard deviation."""
        p = self.fit.problem.parameters
        rows = zip(self.fit.names[p:], self.fit.values[p:], self.fit.sd[p:], strict=True)
        return {name: (float(v), float(sd)) for name, v, sd in rows}


def identify_gravity(
    model: RobotModel,
    samples: Samples,
    *,
    sense: Sense | None = None,
    prior: MassPrior | None = None,
    friction: Friction | None = None,
    seek: tuple[str, ...] | None = None,
    also: tuple[ErrorSource, ...] = (),
) -> GravityFit:
    """Everything at once; ``seek`` (default all masses and mass moments) may name joint offsets and springs too."""
    if sense is None:
        check_columns(model, samples)
    known = sense or torque_sense(model, samples)
    kind = samples.kind(model, known.sign, masses_alone=_masses_alone(model, seek))
    noise, worth = np.full(model.n, 1.0), np.full(model.n, np.nan)
    sources = (*(() if friction is None else (friction,)), *also)
    beliefs = () if prior is None else prior.beliefs(model)
    described = (Description("masses", "every mass and mass moment on its own", model),)
    for _ in range(ROUNDS):
        scale = np.where(np.isfinite(noise), noise, 1.0) * np.sqrt(_crowding(samples, worth))
        campaign = Campaign(kind, samples.torque, (_scatter(kind, scale), *sources), beliefs=beliefs)
        found = identify(described, campaign, seek, statistical=False, leave_out=False)
        noise, worth = _scattered(found.fit.residuals)
    return GravityFit(samples, known, found, wide_covariance(found), noise, worth)


def _masses_alone(model: RobotModel, seek: tuple[str, ...] | None) -> bool:
    rows = model.parameters.rows
    return seek is None or all(rows[i].kind in MASSES for i in model.parameters.select(seek))


def _scatter(kind: JointTorque, sd: Array) -> Reading:
    """Torques of revolute joints and forces of prismatic ones, each joint its own."""
    torque = tuple(float(s) for s, turns in zip(sd, kind.revolute, strict=True) if turns)
    force = tuple(float(s) for s, turns in zip(sd, kind.revolute, strict=True) if not turns)
    return Reading(torque_sd=torque or None, force_sd=force or None)


def _crowding(samples: Samples, worth: Array) -> Array:
    """N / N_eff of every joint, one where nothing is known yet."""
    count = np.isfinite(samples.torque).sum(axis=0)
    return np.where(np.isfinite(worth), np.maximum(count / np.where(np.isfinite(worth), worth, 1.0), 1.0), 1.0)


def _scattered(residuals: Array) -> tuple[Array, Array]:
    """Root mean square of each joint's residuals, and how many independent ones they are worth."""
    noise, worth = np.full(residuals.shape[1], np.nan), np.full(residuals.shape[1], np.nan)
    for j, column in enumerate(residuals.T):
        r = column[np.isfinite(column)]
        if len(r):
            noise[j] = max(float(np.sqrt(np.mean(r**2))), SMALLEST)
        if len(r) >= 2 * FEWEST:
            worth[j] = min(float(effective_number(r.reshape(1, -1, 1))[0]), len(r))
    return noise, worth


@dataclass(frozen=True, eq=False)
class TorquePrediction:
    """Holding torques (N, n) of the drives, their standard deviation, and where they are extrapolated.

    A torque is extrapolated where it is known less well than that joint's torque was at any sample of the fit.
    """

    torque: Array
    sd: Array
    extrapolated: Bools


def predict_torque(found: GravityFit, q: Array) -> TorquePrediction:
    """At any joint values (N, n), friction and noise apart."""
    sd = _spread(found, found.model.joint_values(q))
    widest = _spread(found, found.samples.log.q).max(axis=0)
    return TorquePrediction(holding_torque(found.model, q), sd, sd > 1.001 * widest + 1e-12)


def _spread(found: GravityFit, q: Array) -> Array:
    slopes = holding_observation(found.model, q, found.wide.names)
    return np.asarray(np.sqrt(np.maximum(np.einsum("nrp,pq,nrq->nr", slopes, found.wide.covariance, slopes), 0.0)))


def held_out(samples: Samples, share: float) -> tuple[Samples, Samples]:
    """The first part of a log to fit and the last to judge: neighbouring samples would leak in a random split."""
    if not 0 < share < 1:
        raise InputError(f"a share of {share:g} cannot be held out; give a number between 0 and 1")
    first = np.arange(samples.log.count) < round((1 - share) * samples.log.count)
    return _part(samples, first), _part(samples, ~first)


def _part(samples: Samples, rows: Bools) -> Samples:
    from dataclasses import replace

    m = samples.motion
    moving = replace(m, velocity=m.velocity[rows], acceleration=m.acceleration[rows])
    return Samples(samples.log.rows(rows), moving, samples.torque[rows], samples.notes)
