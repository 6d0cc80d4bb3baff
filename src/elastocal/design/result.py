"""The result of planning: what is chosen, in order, what to expect of it, and how good it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elastocal.design.candidates import CandidateSet
from elastocal.design.certificate import Certificate
from elastocal.design.exchange import Selection
from elastocal.design.how_many import HowMany, Point
from elastocal.design.method import Stop
from elastocal.design.observed import exact
from elastocal.design.problem import DesignProblem
from elastocal.design.route import Ordered, ordered
from elastocal.design.task import PlanTask
from elastocal.design.warnings import PlanWarning, plan_warnings
from elastocal.identify.budget import Budget
from elastocal.identify.expectation import expected
from elastocal.spatial.entries import Array

CHANGE = 300.0
"""Time in s that another load is taken to need where nobody states it."""
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

    @property
    def share(self) -> float:
        """Standard deviation over value; nan where there is no value to compare with."""
        return self.sd / abs(self.value) if self.value else float("nan")

    @property
    def determined(self) -> bool:
        return not self.share > LOST


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """``selection`` of candidates, with the ``certificate`` of the criterion itself, None where it has none, and that
    of D; the ``curve`` of accuracy by size and the sizes ``needed`` where these were asked for.

    ``speeds`` (n,) are of the controller's axes, nan where not known, and ``change`` the time in s of another load.
    """

    problem: DesignProblem
    selection: Selection
    certificate: Certificate | None
    by_determinant: Certificate
    curve: tuple[Point, ...] = ()
    needed: HowMany | None = None
    speeds: Array | None = None
    change: float | None = None

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
        shown = model.controller.to_controller(self.task.measuring.stops(self.members))
        usual = CHANGE if self.task.loadings else 0.0
        change = usual if self.change is None else self.change
        return ordered(shown, np.nan_to_num(self.rated, nan=1.0), setup=self.members.option, change=change)

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

    @cached_property
    def program(self) -> tuple[Stop, ...]:
        return self.task.measuring.program(self.chosen, self.task.repeats, self.rated)

    @cached_property
    def errors(self) -> Array:
        """Expected error (T,) at the test poses after the calibration, in the unit that the method counts in."""
        return self.problem.errors(self.selection.known)

    @property
    def rms_error(self) -> float:
        return float(np.sqrt(np.mean(self.errors**2)))

    @cached_property
    def parameters(self) -> tuple[ExpectedParameter, ...]:
        """Of the robot first, then unknowns of the campaign."""
        rows, model, method = self.problem.rows, self.task.model, self.task.measuring
        kind = method.readings(self.chosen)
        units = {u.name: u.unit for s in method.sources if s.common for u in s.unknowns(kind, model)}
        units |= {p.name: p.unit for p in model.parameters if p.name in rows.own}
        values = dict(zip(rows.own, self.problem.values, strict=True))
        pairs = zip(rows.names, self.selection.known.sd, strict=True)
        return tuple(
            ExpectedParameter(n, float(values.get(n, np.nan)), float(sd), units[n], n not in values) for n, sd in pairs
        )

    @cached_property
    def budget(self) -> Budget | None:
        """Where the uncertainty comes from; None where there is only one source."""
        method = self.task.measuring
        if len(method.sources) < 2:
            return None
        campaign = exact(method.readings(self.chosen), method.sources, self.task.model, method.measured(self.chosen))
        return expected(self.task.model, campaign, self.problem.names).budget

    @cached_property
    def warnings(self) -> tuple[PlanWarning, ...]:
        return plan_warnings(self)

    def __repr__(self) -> str:
        method, n = self.task.measuring, len(self.chosen)
        own = self.certificate or self.by_determinant
        word = self.problem.criterion.kind if self.certificate else "d"
        unit, factor = ("mm", 1e3) if method.counted == "m" else (method.counted, 1.0)
        lines = [
            f"Plan of {n} {method.noun} of {len(self.problem.candidates)} candidates for {self.task.model.name}",
            f"  expected error at {len(self.errors)} test poses: {factor * self.rms_error:.3g} {unit} rms, "
            f"{factor * float(self.errors.max()):.3g} {unit} largest",
            f"  criterion {self.problem.criterion.kind}: {self.selection.value:.5g}, at least "
            f"{100 * own.efficiency:.1f} % efficient by {word}",
            *(f"  {p.name:<16} sd {p.sd:.3g} {p.unit}" for p in self.parameters if not p.nuisance),
            *(f"  warning {w.code}: {w.text}" for w in self.warnings),
        ]
        return "\n".join(lines)
