"""Masses and mass moments of all links at once, from the torques of all joints (001 section III, and beyond it).

The torque that holds a rigid arm is linear in masses and mass moments,

    tau = sum_links F(q) (m, m c) + friction + e,

so they are the parameters of a ``joint_torque`` campaign: groups say which of them are not separately identifiable (the
base parameters: only poses and directions decide, neither noise nor a prior), friction is a nuisance, and what the
robot file knows of its masses is a prior.  The noise of each joint is what its residuals show.  Neighbouring samples
are not independent: N of them are worth N_eff, so the noise that counts is larger by sqrt(N / N_eff) (``samples``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.errors import InputError
from elastocal.measure.campaign import Belief, Campaign
from elastocal.measure.joint_torque import MASSES, JointTorque
from elastocal.measure.sources.friction import TERMS, Friction
from elastocal.measure.sources.reading import Reading
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.descriptions import Description
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.robot import Robot
from elastocal.procedures.gravity.samples import Samples, crowding, scatter_and_worth
from elastocal.procedures.gravity.sense import Sense, check_torque_columns, torque_sense
from elastocal.reduction.first_fit import ReductionRules
from elastocal.reduction.fit import Fit
from elastocal.reduction.identify import Identification, identify
from elastocal.reduction.reduction_cost import Wide, wide_covariance, wide_with_nuisances
from elastocal.solve.groups import Groups, classify
from elastocal.spatial.entries import Array

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
    def model(self) -> Robot:
        return self.fit.model

    def sd(self, name: str) -> float | None:
        """Of a parameter that was estimated; None where it is fixed at the robot's value."""
        return float(self.fit.sd[self.fit.names.index(name)]) if name in self.fit.names else None

    def told(self, name: str) -> float:
        """Share of the prior variance of a parameter that the log has removed; one without a prior, zero if fixed."""
        sd, prior = self.sd(name), {b.name: b.sd for b in self.fit.campaign.beliefs}.get(name)
        if sd is None:
            return 0.0
        return 1.0 if prior is None else max(0.0, 1 - (sd / prior) ** 2)

    def nuisances(self) -> dict[str, tuple[float, float]]:
        """Friction and what else was fitted beside the parameters, by name: value and standard deviation."""
        p = self.fit.problem.parameters
        rows = zip(self.fit.names[p:], self.fit.values[p:], self.fit.sd[p:], strict=True)
        return {name: (float(v), float(sd)) for name, v, sd in rows}


def fit_masses(
    model: Robot,
    samples: Samples,
    *,
    sense: Sense | None = None,
    prior: MassPrior | None = None,
    friction: Friction | None = None,
    seek: tuple[str, ...] | None = None,
    also: tuple[ErrorSource, ...] = (),
) -> GravityFit:
    """All masses at once; ``seek`` (default all masses and mass moments) may name joint offsets and springs too."""
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


def _masses_alone(model: Robot, seek: tuple[str, ...] | None) -> bool:
    rows = model.parameters.rows
    return seek is None or all(rows[i].kind in MASSES for i in model.parameters.select(seek))


def _scatter(kind: JointTorque, sd: Array) -> Reading:
    """Torques of revolute joints and forces of prismatic ones, each joint its own."""
    torque = tuple(float(s) for s, turns in zip(sd, kind.revolute, strict=True) if turns)
    force = tuple(float(s) for s, turns in zip(sd, kind.revolute, strict=True) if not turns)
    return Reading(torque_sd=torque or None, force_sd=force or None)


@dataclass(frozen=True)
class MassPrior:
    """Standard deviations: a share of each mass, and the place of its centre in m."""

    share: float = 0.3
    centre: float = 0.03

    def __post_init__(self) -> None:
        if not (0 < self.share < np.inf and 0 < self.centre < np.inf):
            raise InputError(
                f"masses known to {self.share:g} and their centres to {self.centre:g} m: both must be positive numbers"
            )

    def beliefs(self, model: Robot) -> tuple[Belief, ...]:
        """One for each mass and mass moment; a link without mass is no belief but a gap."""
        out = []
        for e in model.loads:
            if isinstance(e, LinkMass) and e.mass > 0:
                sds = [self.share * e.mass, *(np.hypot(self.share * u, self.centre * e.mass) for u in e.moment)]
                rows = zip(e.parameters(model.tree), sds, strict=True)
                out += [Belief(p.name, p.value, float(sd)) for p, sd in rows]
        return tuple(out)


def base_parameters(model: Robot, samples: Samples, names: Sequence[str], friction: Friction | None) -> Groups:
    """Groups of ``names`` and of the friction that is fitted with them."""
    kind = samples.kind(model, 1)
    columns, scales, labels = kind.derivative(model, names), [1.0] * len(names), list(names)
    if friction is not None:
        extra = [u.name for u in friction.unknowns(kind, model)]
        columns = np.concatenate([columns, friction.columns(kind, model)], axis=2)
        labels, scales = labels + extra, scales + [1.0] * len(extra)
    triangle = np.linalg.qr(columns[np.isfinite(samples.torque)])[1]
    return classify(labels, triangle, np.array(scales), model.joint_parameters)


ONE_WAY = (
    "moved one way only, so that friction and the zero of the torque are one constant: {:.3g} +- {:.2g}; move it "
    "both ways"
)


@dataclass(frozen=True)
class FrictionTerm:
    """One of ``TERMS`` of one joint; ``value`` and ``sd`` are nan where ``reason`` says why."""

    joint: str
    term: str
    unit: str
    value: float
    sd: float
    reason: str = ""


def friction_terms(found: GravityFit) -> tuple[FrictionTerm, ...]:
    """Every term that was asked for, joint by joint; nothing where friction was left out."""
    if found.friction is None:
        return ()
    samples, known = found.samples, found.nuisances()
    asked = [t for t in TERMS if getattr(found.friction, t)]
    out = []
    for j, joint in enumerate(samples.log.joints):
        turns = found.model.motions[j].kind == "revolute"
        for term in asked:
            force = "N m" if turns else "N"
            unit = force if term != "viscous" else f"{force} s/{'rad' if turns else 'm'}"
            value, sd = known.get(f"{joint} {term}", (np.nan, np.nan))
            reason = _why_not(samples, j, term, value, sd)
            shown = (np.nan, np.nan) if reason else (value, sd)
            out.append(FrictionTerm(joint, term, unit, *shown, reason))
    return tuple(out)


def _why_not(samples: Samples, j: int, term: str, value: float, sd: float) -> str:
    counts = np.isfinite(samples.torque[:, j])
    v = samples.velocity[counts, j]
    if not counts.any():
        return "never moves" if not samples.moved()[j] else "never moves fast enough for its friction to have a sign"
    if term == "coulomb" and not (np.any(v > 0) and np.any(v < 0)):
        return ONE_WAY.format(value, sd)
    if not np.isfinite(sd):
        return "acts only together with other terms in this log"
    return ""
