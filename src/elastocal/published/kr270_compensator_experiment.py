"""The elastostatic experiment of Klimchik et al. 2013 (MIM), section 6, done virtually with Table 3 as truth.

15 configurations x 3 repeats x 3 markers x 3 coordinates = 405 equations.  Only results are printed, so everything else
is chosen here: the shipped robot with its weights and payload, joint compliances and the compensator's stiffness of
Table 3 and nothing else that yields (no links, no foundation), loaded equilibrium, 10 um per reading and no other
error, 2.5 kN downwards at the tool (003 section 5).  Configurations are drawn evenly from the joint limits where the
tool is clear of floor and column; the designed plan is the D-optimal choice of 15 among them, by a greedy start and
exchanges of one, for parameters in units of their values and repeats counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elastocal.published.kr270_experiment import DOWN, MARKERS, POSES, REPEATS, SIDEWAYS, TRACKER, clear, tracker_only

if TYPE_CHECKING:
    import numpy as np

    from elastocal.measure.setup import Setup
    from elastocal.model.loads.gravity_compensator import GravityCompensator
    from elastocal.model.robot import Robot
    from elastocal.reduction.fit import Fit
    from elastocal.solve.metropolis import NonlinearPosterior
    from elastocal.spatial.entries import Array, Ints

SOUGHT = {
    "k_c": "A2.k_c", "s_0": "A2.s_0", "k_2": "A2.k", "k_3": "A3.k", "k_4": "A4.k", "k_5": "A5.k", "k_6": "A6.k",
}  # fmt: skip
LEFT_OUT = ("link_compliance", "foundation_compliance", "joint_backlash", "joint_offset")
CANDIDATES = 300
BLIND = {"A2.k_c": 1e-5, "A2.s_0": 0.1, **{f"A{i}.k": 1e-6 for i in range(2, 7)}}
"""What the search is given in place of start values: it must not matter."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """The true robot and candidate configurations (n, 6) with one load each (n, 6), before repeats."""

    truth: Robot
    q: Array
    wrenches: Array
    names: tuple[str, ...]

    @property
    def spring(self) -> GravityCompensator:
        from elastocal.model.loads.gravity_compensator import GravityCompensator

        return next(e for e in self.truth.elements if isinstance(e, GravityCompensator))

    @property
    def values(self) -> Array:
        import numpy as np

        table = self.truth.parameters
        return np.array([table.rows[table.index(n)].value for n in self.names])

    def setup(self, rows: Ints, repeats: int) -> Setup:
        import numpy as np

        from elastocal.measure.setup import Setup
        from elastocal.model.loads.wrench import AppliedWrenches
        from elastocal.model.statics.observation import Marker

        each = np.repeat(rows, repeats)
        load = AppliedWrenches(self.truth.tool, self.wrenches[each])
        return Setup(self.q[each], load, tuple(Marker(m) for m in MARKERS))

    def information(self) -> Array:
        """(n, p, p) of each candidate with its repeats, parameters in units of their values."""
        import numpy as np

        from elastocal.measure.deflection import Deflection

        kind = Deflection(self.setup(np.arange(len(self.q)), 1))
        rows = kind.derivative(self.truth, self.names) * self.values / (np.sqrt(2 / REPEATS) * TRACKER)
        return np.asarray(np.einsum("nrp,nrs->nps", rows, rows))

    def fitted(self, rows: Ints, rng: np.random.Generator) -> tuple[Fit, dict[str, float]]:
        """One virtual campaign, fitted from start values that come from its readings alone; and those values."""
        from elastocal.measure.campaign import virtual_campaign
        from elastocal.measure.deflection import Deflection
        from elastocal.reduction.compensator import start_values
        from elastocal.reduction.fit import estimate

        kind = Deflection(self.setup(rows, REPEATS))
        campaign = virtual_campaign(self.truth, kind, tracker_only(), rng).campaign
        blind = self.truth.with_parameters({n: v for n, v in BLIND.items() if n in self.names})
        start = start_values(blind, campaign, self.names, self.spring).values
        return estimate(blind.with_parameters(start), campaign, self.names), start

    def sampled(self, fit: Fit, rng: np.random.Generator) -> NonlinearPosterior:
        from elastocal.reduction.compensator import sample_spring

        return sample_spring(fit, self.spring, rng=rng, draws=2000)


def experiment(rng: np.random.Generator, sideways: bool = False) -> Experiment:
    """Candidates under the vertical load, or each under it and under both horizontal ones, A1 sought as well."""
    import numpy as np

    from elastocal.files.robot.read import read_robot

    truth = read_robot("kuka-kr270").without(*LEFT_OUT)
    limits = np.array([m.limits for m in truth.motions])
    q = np.zeros((0, truth.n))
    while len(q) < CANDIDATES:
        drawn = rng.uniform(limits[:, 0], limits[:, 1], (CANDIDATES, truth.n))
        q = np.concatenate([q, drawn[clear(truth, drawn)]])
    loads = np.zeros((3, 6))
    loads[0, 2], loads[1, 0], loads[2, 1] = -DOWN, SIDEWAYS, SIDEWAYS
    loads, q = loads if sideways else loads[:1], q[:CANDIDATES]
    names = (*SOUGHT.values(), *(("A1.k",) if sideways else ()))
    return Experiment(truth, np.tile(q, (len(loads), 1)), np.repeat(loads, len(q), axis=0), names)


def designed(information: Array) -> Ints:
    """D-optimal choice among candidates (n, p, p): greedy, then exchanges of one until none helps."""
    import numpy as np

    from elastocal.design.criteria.d import Determinant
    from elastocal.design.exchange import search
    from elastocal.design.information import CandidateRows
    from elastocal.design.rules import Rules

    values, vectors = np.linalg.eigh(information)
    rows = np.sqrt(np.clip(values, 0.0, None))[:, :, None] * vectors.swapaxes(1, 2)
    plan = search(CandidateRows(rows), Determinant(), Rules(POSES), rng=np.random.default_rng(0), restarts=1)
    return np.array(plan.chosen)


def percent(fit: Fit) -> dict[str, float]:
    """Standard deviations in per cent of the estimates, by short name."""
    return {s: float(100 * fit.sd[i] / fit.values[i]) for s, i in _places(fit)}


def estimates(fit: Fit) -> dict[str, float]:
    return {s: float(fit.values[i]) for s, i in _places(fit)}


def sampled_percent(drawn: NonlinearPosterior) -> dict[str, float]:
    import numpy as np

    flat = drawn.draws.reshape(-1, drawn.draws.shape[2])
    sd, mean = np.std(flat, axis=0), np.mean(flat, axis=0)
    return {s: float(100 * sd[drawn.names.index(n)] / mean[drawn.names.index(n)]) for s, n in SOUGHT.items()}


def _places(fit: Fit) -> list[tuple[str, int]]:
    return [(s, fit.names.index(n)) for s, n in SOUGHT.items()]
