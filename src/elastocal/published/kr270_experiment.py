"""A virtual experiment on the KR-270 with the set-ups of Klimchik et al. 2013 (IMECE), section 5.

The truth is the shipped robot at its loaded equilibrium: joints, links, foundation, weights and compensator.  What
identifies it knows the geometry, the weights and the compensator, and takes every compliance for zero at first.

Set-up 1 loads the tool with 2.5 kN downwards, set-up 2 with 3.5 kN horizontally, in turn along x and y of the base: the
paper names no direction.  Each has 15 configurations of its own, drawn evenly from the joint limits where the tool
stays clear of floor and column (the paper optimised its own), and reads three markers three times.

The way from the 260 parameters of the KR-270's complete model to those that stand out, with what fell and why.
"""

from __future__ import annotations

from math import isfinite

import numpy as np

from elastocal.measure.kind import Statics
from elastocal.measure.markers import Deflection
from elastocal.measure.measured import Measured, virtual_campaign
from elastocal.measure.setup import Setup
from elastocal.measure.sources.arm import Repeatability
from elastocal.measure.sources.instrument import Reading
from elastocal.measure.sources.load import LoadDirection, LoadSize
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.descriptions import descriptions
from elastocal.model.kinematics import kinematics
from elastocal.model.limits import spread_configurations
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.observation import Marker
from elastocal.published.case import Listing, Row
from elastocal.reduction.diagnostics import discrepancy
from elastocal.reduction.elimination import Dropped
from elastocal.reduction.error_budget import wide_covariance
from elastocal.reduction.fit import Fit, estimate
from elastocal.reduction.identify import Identification, identify
from elastocal.reduction.prediction import IdentifiedModel, predict, same_size_loads
from elastocal.solve.identifiability import covariance
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

SPRING = ("A2.k_c", "A2.s_0")
PHYSICAL = {
    "symmetry M1": "equal to the mirrored element by symmetry",
    "template M2": "zero in the template of a beam along x",
}
KNOWN = "compensator"


def spring_ratios(truth: Robot, identified: Identification) -> dict[str, float]:
    """How far k_c and s_0 would stand out of the noise if they were sought beside all that can be told apart."""
    fit = identified.whole
    model = truth.with_link_form("beam")
    names = [*fit.names, *SPRING]
    n, r = fit.problem.shape
    columns = fit.problem.weights.whiten(fit.campaign.measurement.derivative(model, names)).reshape(n * r, -1)
    sd = np.sqrt(np.diag(covariance(columns, range(len(names)))))
    value = [model.parameters[s].value for s in SPRING]
    return {s: float(v / e) for s, v, e in zip(SPRING, value, sd[-len(SPRING) :], strict=True)}


def path_listings(truth: Robot, identified: Identification) -> tuple[Listing, ...]:
    """Counts of every stage, the compensator's pair first, and everything that is not estimated."""
    ratios = spring_ratios(truth, identified)
    return Listing("reduction_path", _stages(identified), _PATH), Listing(
        "not_estimated", _fallen(truth, identified, ratios), _FALLEN
    )


_PATH = (
    "Told apart: without noise. Pose left out: rms error per axis of predicting a pose that took no part in the fit; "
    "empty where the stage has no fit of its own."
)
_FALLEN = (
    "Compliances are taken for zero before the experiment, so that is what they are held at; k_c and s_0 are known."
)


def _stages(identified: Identification) -> tuple[Row, ...]:
    first = identified.stages[0]
    rows: list[Row] = [
        {
            "stage": "complete",
            "parameters": first.parameters + len(SPRING),
            "what it does": "everything that yields, and the compensator's k_c and s_0",
        }
    ]
    for stage in identified.stages:
        name = KNOWN if stage is first else stage.name
        what = "k_c and s_0 are held as known, see below" if stage is first else stage.action
        row: Row = {"stage": name, "parameters": stage.parameters, "what it does": what}
        row["told apart"] = stage.identifiable
        if isfinite(stage.left_out):
            row["pose left out [um]"] = round(1e6 * stage.left_out, 1)
        rows.append(row)
    return tuple(rows)


def _fallen(truth: Robot, identified: Identification, ratios: dict[str, float]) -> tuple[Row, ...]:
    message = " and ".join(f"{n} by {v:.0f}" for n, v in ratios.items())
    known = (
        f"identified by an experiment of its own (case kr270-compensator); sought here as well they would stand out of "
        f"the noise, {message}"
    )
    held = " and ".join(f"{truth.parameters[n].value:.4g}" for n in SPRING)
    rows = [_row(KNOWN, " ".join(SPRING), len(SPRING), known, held)]
    for stage, why in PHYSICAL.items():
        gone: dict[str, list[str]] = {}
        for d in identified.dropped:
            if d.stage == stage:
                place, symbol = d.name.rsplit(".", 1)
                gone.setdefault(place, []).append(symbol)
        rows += [_row(stage, f"{place}: {' '.join(names)}", len(names), why, "") for place, names in gone.items()]
    rows += [
        _row(d.stage, d.name, 1, _reason(d), f"{d.fixed_at:.4g}") for d in identified.dropped if d.stage not in PHYSICAL
    ]
    return tuple(rows)


def _row(stage: str, names: str, count: int, why: str, held: str) -> Row:
    return {"stage": stage, "parameters": names, "count": count, "held at": held, "why": why}


def _reason(d: Dropped) -> str:
    return f"{d.reason} ({d.value:.3g} with sd {d.sd:.2g})" if isfinite(d.value) else d.reason


KINDS = ("joint_compliance", "link_compliance", "foundation_compliance")
SEEK = ("*.k", "*.k[1-6][1-6]")
MARKERS = ("marker1", "marker2", "marker3")
DOWN, SIDEWAYS = 2500.0, 3500.0
POSES, REPEATS = 15, 3
HEIGHT, RADIUS = 0.5, 0.8
"""Least distances (m) of the tool from the floor, with room for the weight, and from axis 1."""
HELD_OUT = 30
TRACKER = 10e-6
REPEATABILITY = 0.06e-3
RETURN = REPEATABILITY / 3.616
"""ISO 9283 repeatability is mean + 3 sd of the distance, (1.596 + 3 x 0.673) times the sd of each axis."""
LOAD_SIZE, LOAD_TILT = 0.005, 2e-3


def tracker_only() -> tuple[ErrorSource, ...]:
    return (Reading(sd=TRACKER),)


def error_budget() -> tuple[ErrorSource, ...]:
    """The tracker, an arm that leaves and comes back between readings, and a load that is not quite known."""
    return (*tracker_only(), Repeatability(sd=RETURN), LoadSize(sd=LOAD_SIZE), LoadDirection(sd=LOAD_TILT))


def rigid(truth: Robot) -> Robot:
    """What is known before the experiment: everything but the compliances."""
    return truth.with_estimates({p.name: 0.0 for p in truth.parameters if p.kind in KINDS})


def clear(model: Robot, q: Array) -> Bools:
    """Where the tool is clear of floor and column."""
    position = kinematics(model, q).position
    return np.asarray((position[:, 2] > HEIGHT) & (np.hypot(position[:, 0], position[:, 1]) > RADIUS))


def clear_configurations(model: Robot, count: int, rng: np.random.Generator) -> Array:
    """Drawn evenly from the joint limits, (count, n)."""
    limits = np.array([m.limits for m in model.motions])
    q = np.zeros((0, model.n))
    while len(q) < count:
        drawn = rng.uniform(limits[:, 0], limits[:, 1], (count, model.n))
        q = np.concatenate([q, drawn[clear(model, drawn)]])
    return q[:count]


def two_setups(model: Robot, rng: np.random.Generator) -> Setup:
    """Configurations and loads of both set-ups, the repeats one after another."""
    q = clear_configurations(model, 2 * POSES, rng)
    wrenches = np.zeros((2 * POSES, 6))
    wrenches[:POSES, 2] = -DOWN
    wrenches[range(POSES, 2 * POSES), np.arange(POSES) % 2] = SIDEWAYS
    load = AppliedWrenches(model.tool, np.repeat(wrenches, REPEATS, axis=0))
    return Setup(np.repeat(q, REPEATS, axis=0), load, tuple(Marker(m) for m in MARKERS))


def measured(
    truth: Robot, setup: Setup, sources: tuple[ErrorSource, ...], rng: np.random.Generator, statics: Statics
) -> Measured:
    """One draw of all readings."""
    return virtual_campaign(truth, Deflection(setup, statics), sources, rng).campaign


def first_setup(campaign: Measured) -> Measured:
    """The vertical loads alone."""
    kind, rows = campaign.measurement, np.arange(POSES * REPEATS)
    return Measured(Deflection(kind.setup.picked(rows), kind.statics), campaign.readings[rows], campaign.sources)


def identified(truth: Robot, campaign: Measured, whole_path: bool = False) -> Identification:
    """By M1, M2, algebraic reduction and M3 from everything that yields; M1 and M2 are only tried with the path."""
    described = descriptions(rigid(truth))
    return identify(described if whole_path else described[-1:], campaign, SEEK)


def identified_model(identified: Identification, statics: Statics = "loaded") -> IdentifiedModel:
    """With the covariance of everything sought, and what the residuals show beyond noise."""
    fit, wide = identified.fit, wide_covariance(identified)
    fault = discrepancy(fit).sd
    return IdentifiedModel(fit.model, wide.names, wide.covariance, fault, statics)


def all_at_once(identified: Identification) -> Fit:
    """M3 in one step: everything whose ratio is below the threshold before any of it is dropped."""
    whole = identified.whole
    kept = {
        n: float(v)
        for n, v, r in zip(whole.names, whole.values, whole.ratios, strict=True)
        if r >= identified.thresholds[0]
    }
    return estimate(identified.sought.with_estimates(kept), whole.campaign, list(kept))


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Configurations and loads that nothing was identified from, and the true deflections (N, 3) of the tool there."""

    q: Array
    wrenches: Array
    statics: Statics
    exact: Array

    @classmethod
    def build(cls, truth: Robot, statics: Statics = "loaded") -> HeldOut:
        """Clear configurations all over the limits, each under forces of both sizes along all six base directions."""
        q = spread_configurations(truth, 8 * HELD_OUT)
        q = q[clear(truth, q)][:HELD_OUT]
        sizes = [same_size_loads(np.array([[size, 0.0, 0.0, 0.0, 0.0, 0.0]])) for size in (DOWN, SIDEWAYS)]
        each = np.concatenate(sizes)
        empty = cls(np.repeat(q, len(each), axis=0), np.tile(each, (len(q), 1)), statics, np.zeros(0))
        return cls(empty.q, empty.wrenches, statics, empty.deflection(truth))

    def deflection(self, model: Robot) -> Array:
        setup = Setup(self.q, AppliedWrenches(model.tool, self.wrenches), (Marker(model.tool),))
        return Deflection(setup, self.statics).predict(model)

    @property
    def vertical(self) -> Ints:
        """Rows of loads up and down."""
        return np.flatnonzero(self.wrenches[:, 2])

    def rest(self, model: Robot) -> Array:
        """What remains of the deflections (N, 3) when a model's predictions are taken off; nan where it has none."""
        return self.exact - self.deflection(model)

    def share(self, rest: Array, rows: Ints | slice = slice(None)) -> float:
        """Per cent of the rms deflection that is compensated."""
        return 100 * (1 - rms(rest[rows]) / rms(self.exact[rows]))

    def predicted_sd(self, identified: Identification) -> float:
        """Rms length (m) that the identified model itself expects to be left."""
        load = AppliedWrenches(identified.fit.model.tool, self.wrenches)
        return rms(predict(identified_model(identified, self.statics), self.q, load).sd[:, :3])


def rms(vectors: Array) -> float:
    """Root mean square length of (N, 3)."""
    return float(np.sqrt(np.mean(np.sum(vectors**2, axis=1))))
