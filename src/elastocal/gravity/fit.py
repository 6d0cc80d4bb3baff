"""Masses and mass moments of all links at once, from the torques of all joints (001 section III, and beyond it).

The torque that holds a rigid arm is linear in masses and mass moments,

    tau = sum_links F(q) (m, m c) + friction + e,

so they are the parameters of a ``joint_torque`` campaign: groups say which of them act only together (the base
parameters), friction is a nuisance, and what is known of the masses beforehand is a belief.  The noise of each joint is
what its residuals show.  Neighbouring samples are not independent: N of them are worth N_eff, so the noise that counts
is larger by sqrt(N / N_eff) (``worth``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.gravity.base import base_parameters
from elastocal.gravity.prior import MassPrior
from elastocal.gravity.samples import Samples
from elastocal.gravity.sense import Sense, check_torque_columns, torque_sense
from elastocal.gravity.worth import crowding, scatter_and_worth
from elastocal.identifiability.groups import Groups
from elastocal.identify.fit import Fit
from elastocal.identify.reduction import Identification, identify
from elastocal.identify.rules import ReductionRules
from elastocal.measure.campaign import Campaign
from elastocal.measure.joint_torque import MASSES, JointTorque
from elastocal.measure.sources.friction import Friction
from elastocal.measure.sources.reading import Reading
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.descriptions import Description
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array
from elastocal.uncertainty.wide import Wide, wide_covariance, wide_with_nuisances

ROUNDS = 4


@dataclass(frozen=True, eq=False)
class GravityFit:
    """``noise`` (n,) is the scatter of one reading about the model, ``worth`` (n,) how many independent ones there are;
    both nan of a joint without readings.  ``base`` are the groups that poses alone decide, without any prior.  ``wide``
    is what is known of all parameters sought, ``joint`` of them and of friction together."""

    samples: Samples
    sense: Sense
    friction: Friction | None
    prior: MassPrior | None
    base: Groups
    identification: Identification
    wide: Wide
    joint: Wide
    noise: Array
    worth: Array

    @property
    def fit(self) -> Fit:
        return self.identification.fit

    @property
    def model(self) -> RobotModel:
        return self.fit.model

    def nuisances(self) -> dict[str, tuple[float, float]]:
        """Friction and what else was fitted beside the parameters, by name: value and standard deviation."""
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
    check_torque_columns(model, samples)
    known = sense or torque_sense(model, samples)
    kind = samples.kind(model, known.sign, masses_alone=_masses_alone(model, seek))
    count = np.isfinite(samples.torque).sum(axis=0)
    noise, worth = np.full(model.n, 1.0), np.full(model.n, np.nan)
    sources = (*(() if friction is None else (friction,)), *also)
    beliefs = () if prior is None else prior.beliefs(model)
    described = (Description("masses", "every mass and mass moment on its own", model),)
    for _ in range(ROUNDS):
        scale = np.where(np.isfinite(noise), noise, 1.0) * np.sqrt(crowding(count, worth))
        campaign = Campaign(kind, samples.torque, (_scatter(kind, scale), *sources), beliefs=beliefs)
        found = identify(described, campaign, seek, rules=ReductionRules(statistical=False, leave_out=False))
        noise, worth = scatter_and_worth(found.fit.residuals)
    wide = wide_covariance(found)
    base = base_parameters(found.fit.model, samples, wide.names, friction)
    joint = wide_with_nuisances(found)
    return GravityFit(samples, known, friction, prior, base, found, wide, joint, noise, worth)


def _masses_alone(model: RobotModel, seek: tuple[str, ...] | None) -> bool:
    rows = model.parameters.rows
    return seek is None or all(rows[i].kind in MASSES for i in model.parameters.select(seek))


def _scatter(kind: JointTorque, sd: Array) -> Reading:
    """Torques of revolute joints and forces of prismatic ones, each joint its own."""
    torque = tuple(float(s) for s, turns in zip(sd, kind.revolute, strict=True) if turns)
    force = tuple(float(s) for s, turns in zip(sd, kind.revolute, strict=True) if not turns)
    return Reading(torque_sd=torque or None, force_sd=force or None)
