"""The result of planning: what is chosen, in order, what to expect of it, and how good it is."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from elastocal.design.candidates import CandidateSet
from elastocal.design.certificate import Certificate
from elastocal.design.exchange import Selection
from elastocal.design.how_many import HowMany, Point
from elastocal.design.information import prior_root
from elastocal.design.method import Stop
from elastocal.design.observed import exact
from elastocal.design.problem import DesignProblem
from elastocal.design.route import Ordered, Ways, ordered
from elastocal.design.safety import Check, home_pose, safety_checks
from elastocal.design.task import PlanTask
from elastocal.design.warnings import plan_warnings
from elastocal.reduction.error_budget import Budget, expected
from elastocal.results import Finding, as_frame, as_html, shortened
from elastocal.solve.summary import rms
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

COMPARED = 80
"""Poses up to which all ways between them are looked at where one of the shortest path is not free."""
TRIED = 20
"""Candidates over which a way that is not free may go."""
SHOWN = 12
"""Parameters that a short text lists."""
CHANGE = 300.0
"""Time in s that another load is taken to need where nobody states it."""
SIGNIFICANT = 5.0
"""Values above so many standard deviations are significant: known to 20 % or better."""
LOST = 100.0
"""Standard deviations above so many times the value: the parameter is not determined."""


@dataclass(frozen=True)
class ExpectedParameter:
    """What the plan tells of one unknown: its standard deviation beside its value, SI; ``value`` nan of nuisances."""

    name: str
    value: float
    sd: float
    unit: str
    nuisance: bool = False
    prior: float = float("nan")
    """Standard deviation before any reading, where the plan counts with one."""

    @property
    def share(self) -> float:
        """Standard deviation over value; nan where there is no value to compare with."""
        return self.sd / abs(self.value) if self.value else float("nan")

    @property
    def known(self) -> float:
        """Share of the prior variance that the readings take away; nan without a prior."""
        return 1 - (self.sd / self.prior) ** 2

    @property
    def significant(self) -> bool:
        return self.share <= 1 / SIGNIFICANT

    @property
    def determined(self) -> bool:
        return not self.share > LOST


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """``selection`` of candidates, with the ``certificate`` of the criterion itself, None where it has none, and that
    of D, None where parameters have a prior; the ``curve`` of accuracy by size and the sizes ``needed`` where these
    were asked for.

    ``speeds`` (n,) are of the controller's axes, nan where not known, and ``change`` the time in s of another load.
    """

    problem: DesignProblem
    selection: Selection
    certificate: Certificate | None
    by_determinant: Certificate | None
    curve: tuple[Point, ...] = ()
    needed: HowMany | None = None
    speeds: Array | None = None
    change: float | None = None
    notes: tuple[Finding, ...] = ()
    """What was assumed where nobody said it."""

    @property
    def bound(self) -> Certificate:
        """The certificate of its own criterion, else that of D."""
        bound = self.certificate or self.by_determinant
        assert bound is not None
        return bound

    @property
    def task(self) -> PlanTask:
        return self.problem.task

    @property
    def rated(self) -> Array:
        return np.full(self.task.model.n, np.nan) if self.speeds is None else self.speeds

    @property
    def speeds_known(self) -> bool:
        return bool(np.all(np.isfinite(self.rated)))

    @cached_property
    def members(self) -> CandidateSet:
        """What is chosen, in the order of the candidates."""
        return self.problem.candidates.picked(np.array(self.selection.chosen, dtype=np.int64))

    @cached_property
    def order(self) -> Ordered:
        """Short motion, all under one load together: changing a load takes minutes."""
        model = self.task.model
        q = self.task.measuring.stops(self.members)
        usual = CHANGE if self.task.loadings else 0.0
        change = usual if self.change is None else self.change
        shown, speeds = model.controller.to_controller(q), np.nan_to_num(self.rated, nan=1.0)
        shortest = ordered(shown, speeds, setup=self.members.option, change=change)
        path = q[shortest.order]
        if len(q) > COMPARED or not any(self.ways.blocked(path[:-1], path[1:])):
            return shortest
        return ordered(shown, speeds, setup=self.members.option, change=change, closed=self.ways.between(q))

    @cached_property
    def chosen(self) -> CandidateSet:
        """What is chosen, in the order of the program."""
        return self.members.picked(self.order.order)

    @property
    def axes(self) -> Array:
        """Values (m, n) of the controller's axes at what is chosen, rad and m."""
        return self.task.model.controller.to_controller(self.chosen.q)

    @property
    def loads(self) -> tuple[str, ...]:
        return tuple(self.chosen.label(i) for i in range(len(self.chosen)))

    @property
    def ways(self) -> Ways:
        return Ways(self.task.model, self.task.cell, self.task.filters)

    @cached_property
    def home(self) -> Array | None:
        """Joint values (n,) that the program starts from; None where no safety is asked for."""
        wide = self.task.home is None and (self.task.safety is None or not self.task.model.n)
        if wide:
            return None
        access = self.problem.access
        return home_pose(self.task, self.problem.candidates) if access is None else access.home

    @property
    def program(self) -> tuple[Stop, ...]:
        """What the cell does, from home on; where a straight way is not free, over a pose between."""
        return self._routed[0]

    @property
    def blocked(self) -> tuple[tuple[str, str, str], ...]:
        """Moves of the program that are not free, from, to and what forbids them, and no detour was found for."""
        return self._routed[1]

    @cached_property
    def _routed(self) -> tuple[tuple[Stop, ...], tuple[tuple[str, str, str], ...]]:
        stops = self.task.measuring.program(self.chosen, self.task.repeats, self.rated)
        if self.home is not None:
            stops = (Stop(self.home, (), note="home", slow=True, label="home"), *stops)
        q = np.array([s.q for s in stops])
        out, blocked = [stops[0]], list[tuple[str, str, str]]()
        for before, stop, word in zip(stops, stops[1:], self.ways.blocked(q[:-1], q[1:]), strict=False):
            via = self._detour(before.q, stop.q, q) if word else None
            if via is not None:
                out += [Stop(v, note=f"between {before.label} and {stop.label}: nothing is read") for v in via]
            elif word:
                blocked.append((before.label, stop.label, word))
                out.append(Stop(before.q, (f"The way to {stop.label} is not free ({word}): drive there by hand",)))
            out.append(replace(stop, slow=True) if before.label == "home" else stop)
        return tuple(out), tuple(dict.fromkeys(blocked))

    def _detour(self, start: Array, end: Array, stops: Array) -> Array | None:
        """Configurations (k, n) between two whose straight way is not free: a short way round, else by way of home."""
        via = self.ways.detour(start, end, self._places(start, end, stops))
        access = self.problem.access
        return access.between(start, end) if via is None and access is not None else via

    def _places(self, start: Array, end: Array, stops: Array) -> Array:
        """Configurations (k, n) that a way may go over: stops, candidates all over, and those near both ends."""
        every = self.problem.candidates.poses.q
        spread = np.linspace(0, len(every) - 1, min(len(every), TRIED)).astype(int)
        near = [np.argsort(np.max(np.abs(every - q), axis=1), kind="stable")[:TRIED] for q in (start, end)]
        return np.unique(np.concatenate([stops, every[spread], *(every[n] for n in near)]), axis=0)

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """What was checked of poses and ways, and what was not."""
        return safety_checks(self.task, len(self.blocked))

    @cached_property
    def errors(self) -> Array:
        """Expected error (T,) at the test poses after the calibration, in the unit that the method counts in."""
        return self.problem.errors(self.selection.known)

    @cached_property
    def uncalibrated(self) -> Array | None:
        """Expected error (T,) there of the nominal robot by the priors; None where the plan has none."""
        return None if self.task.prior is None else self.problem.uncalibrated(self.selection.chosen)

    @cached_property
    def effects(self) -> tuple[tuple[str, int, float], ...]:
        """Model words with how many parameters each has, and the RMS error of an uncalibrated robot by its prior."""
        prior, names = self.task.prior, set(self.problem.names)
        mine = {} if prior is None else {w: [n for n in own if n in names] for w, own in prior.effects.items()}
        chosen = self.selection.chosen
        return tuple((w, len(own), rms(self.problem.uncalibrated(chosen, own))) for w, own in mine.items() if own)

    @property
    def assumed(self) -> tuple[str, ...]:
        """Parameters sought whose values in the robot file are assumed (status)."""
        known = {p.name: p.status for p in self.task.model.parameters.rows}
        return tuple(p.name for p in self.parameters if not p.nuisance and known.get(p.name) == "assumed")

    @property
    def rms_error(self) -> float:
        return rms(self.errors)

    @property
    def median_error(self) -> float:
        return float(np.median(self.errors))

    @cached_property
    def curve_errors(self) -> tuple[tuple[float, float], ...]:
        """RMS and largest of the errors at the test poses, for every size of the curve."""
        errors = (self.problem.errors(p.plan.known) for p in self.curve)
        return tuple((rms(e), float(e.max())) for e in errors)

    @property
    def curve_shares(self) -> Array:
        """Sd of every parameter (sizes, p) over its value, for every size of the curve; nan where the value is 0."""
        values = np.abs(self.problem.values)
        sd = np.array([p.sd[: len(values)] for p in self.curve]).reshape(-1, len(values))
        return np.asarray(np.divide(sd, values, out=np.full_like(sd, np.nan), where=values > 0))

    @cached_property
    def parameters(self) -> tuple[ExpectedParameter, ...]:
        """Of the robot first, then unknowns of the campaign."""
        rows, model, method = self.problem.rows, self.task.model, self.task.measuring
        kind = method.readings(self.chosen)
        units = {u.name: u.unit for s in method.nuisances if s.common for u in s.unknowns(kind, model)}
        units |= {p.name: p.unit for p in model.parameters if p.name in rows.own}
        values = dict(zip(rows.own, self.problem.values, strict=True))
        prior = np.full(len(rows.names), np.nan)
        if self.task.prior is not None:
            prior[: len(rows.own)] = np.linalg.norm(prior_root(rows), axis=1)
        return tuple(
            ExpectedParameter(n, float(values.get(n, np.nan)), float(sd), units[n], n not in values, float(before))
            for n, sd, before in zip(rows.names, self.selection.known.sd, prior, strict=True)
        )

    @cached_property
    def budget(self) -> Budget | None:
        """Where the uncertainty comes from; None where there is only one source, or a prior beside them."""
        method = self.task.measuring
        if len(method.sources) < 2 or self.task.prior is not None:
            return None
        campaign = exact(method.readings(self.chosen), method.sources, self.task.model, method.measured(self.chosen))
        return expected(self.task.model, campaign, self.problem.names).budget

    @property
    def before(self) -> str:
        """What ``uncalibrated`` is the error of."""
        return "before these poses" if self.task.earlier else "without calibration"

    @cached_property
    def warnings(self) -> tuple[Finding, ...]:
        return plan_warnings(self)

    def __repr__(self) -> str:
        method, n = self.task.measuring, len(self.chosen)
        bound, own = self.bound, [p for p in self.parameters if not p.nuisance]
        word = self.problem.criterion.kind if self.certificate else "d"
        before = "" if self.uncalibrated is None else f"; {1e3 * rms(self.uncalibrated):.3g} mm {self.before}"
        own = own if self.uncalibrated is None else []
        unit, factor = ("mm", 1e3) if method.counted == "m" else (method.counted, 1.0)
        lines = [
            f"Plan of {n} {method.noun} of {len(self.problem.candidates)} candidates for {self.task.model.name}",
            f"  expected error at {len(self.errors)} test poses: {factor * self.rms_error:.3g} {unit} rms, "
            f"{factor * float(self.errors.max()):.3g} {unit} largest{before}",
            f"  criterion {self.problem.criterion.kind}: {self.selection.value:.5g}, at least "
            f"{100 * bound.efficiency:.1f} % efficient by {word}",
            *(f"  {word:<16} {many} parameters, {1e3 * e:.3g} mm without" for word, many, e in self.effects),
            *(f"  {p.name:<16} sd {p.sd:.3g} {p.unit}" for p in own[:SHOWN]),
            *(f"  ... and {len(own) - SHOWN} more parameters" for _ in own[SHOWN : SHOWN + 1]),
            *(f"  {w.severity} {w.code}: {w.text}" for w in (*self.warnings, *self.notes)),
            "  checked: " + "; ".join(c.text for c in self.checks if c.done),
            "  NOT checked: " + "; ".join(c.text for c in self.checks if not c.done),
        ]
        return shortened(lines)

    def _repr_html_(self) -> str:
        return as_html(self)

    def rows(self) -> list[dict[str, object]]:
        """One record for every pose, in the order of the program: controller values (``A1_rad``, ``Z_m``), the load."""
        model = self.task.model
        units = ("rad" if m.kind == "revolute" else "m" for m in model.motions)
        names = [f"{axis}_{unit}" for axis, unit in zip(model.controller.axes, units, strict=True)]
        return [
            {"pose": f"P{i + 1}", **dict(zip(names, map(float, values), strict=True)), "load": load}
            for i, (values, load) in enumerate(zip(self.axes, self.loads, strict=True))
        ]

    def to_frame(self) -> object:
        """``rows`` as a pandas DataFrame, or as they are where pandas is not installed."""
        return as_frame(self.rows())
