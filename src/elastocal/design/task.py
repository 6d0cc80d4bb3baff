"""The task that a plan is made for: test poses and loads, and what is asked of the plan.

Test poses are given as configurations, as places on a path, or as a box of the workspace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from fnmatch import fnmatchcase

import numpy as np

from elastocal.design.candidates import Draw, Region, across, reached, spread_points, spread_poses
from elastocal.design.cell import Cell, Safety
from elastocal.design.criteria.criterion import Criterion, Over, Stakes, Weighted, criterion_class
from elastocal.design.feasibility.filter import Filter
from elastocal.design.how_many import Requirement
from elastocal.design.loading import Loading
from elastocal.design.method import Method
from elastocal.design.observed import information_of
from elastocal.errors import InfeasibleError, MissingError, RangeError, UnknownNameError
from elastocal.model.limits import limit_text
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

STARTS = 64
"""Configurations that points are reached from, one after the other, until all are."""

MOST = {"poses": 1000, "repeats": 1000, "candidates": 200_000, "restarts": 1000}
"""What may be asked for; more would not end, or not fit into memory."""
Earlier = Callable[[tuple[str, ...]], Array]
"""What is known before, as information (p, p) on the parameters named."""


@dataclass(frozen=True, eq=False)
class Tests:
    """Configurations (T, n) and loads at which the error of ``frame`` (or of the torques) counts afterwards."""

    __test__ = False
    q: Array
    load: AppliedWrenches
    frame: str
    words: str

    def derivatives(self, method: Method, model: Robot, names: Sequence[str]) -> Array:
        """How what counts there depends on the parameters, (T, r, p)."""
        slopes = method.at_tests(self.q, self.load, self.frame, model, names)
        lost = np.flatnonzero(~np.isfinite(slopes).all(axis=(1, 2)))
        if len(lost):
            raise InfeasibleError(f"test pose {lost[0] + 1}: the robot has no determined state there; change its load")
        return slopes


@dataclass(frozen=True)
class Limits:
    """What is required: standard deviations by pattern of parameters, as a share of the value; the error at tests."""

    share: Mapping[str, float] = field(default_factory=dict)
    error: float | None = None

    def __bool__(self) -> bool:
        return bool(self.share) or self.error is not None


@dataclass(frozen=True, eq=False)
class PriorCovariance:
    """Of the parameters that a calibration by priors estimates, about the values of the model; ``effects`` are model
    words with the parameters of each."""

    names: tuple[str, ...]
    covariance: Array
    effects: Mapping[str, tuple[str, ...]]

    def __call__(self, names: tuple[str, ...]) -> Array:
        return information_of(self.names, self.covariance, names)

    def without(self, names: Sequence[str]) -> PriorCovariance:
        """Of the others, as for parameters that were calibrated before: what is known of those holds their prior."""
        keep = [i for i, n in enumerate(self.names) if n not in names]
        return replace(self, names=tuple(self.names[i] for i in keep), covariance=self.covariance[np.ix_(keep, keep)])


@dataclass(frozen=True, eq=False)
class PlanTask:
    """Everything that a plan follows from; ``names`` None seeks all that the candidates can tell apart.

    ``safety`` is what ``plan`` adds to cell and filters, and ``home`` joint values (n,) that the arm starts from.
    ``weights`` are criteria by kind; each of ``earlier`` gives the information of a campaign measured already.
    ``prior`` is that of all parameters sought, where a calibration by priors is planned.
    """

    model: Robot
    measuring: Method
    names: tuple[str, ...] | None
    hold: tuple[str, ...] = ()
    loadings: tuple[Loading, ...] = ()
    load_frame: str = ""
    draw: Draw = field(default_factory=Draw)
    cell: Cell = field(default_factory=Cell)
    filters: tuple[Filter, ...] = ()
    count: int = 15
    repeats: int = 1
    may_repeat: bool = False
    weights: Mapping[str, float] = field(default_factory=lambda: {"d": 1.0})
    over: Over = "mean"
    tests: Tests | None = None
    earlier: tuple[Earlier, ...] = ()
    prior: PriorCovariance | None = None
    safety: Safety | None = field(default_factory=Safety)
    home: tuple[float, ...] | None = None


def criterion_of(weights: Mapping[str, float], stakes: Stakes) -> Criterion:
    """One criterion, or several weighed; the stakes count nuisances too."""
    parts = tuple((w, criterion_class(kind).for_task(stakes)) for kind, w in weights.items())
    return parts[0][1] if len(parts) == 1 else Weighted(parts)


def requirement_of(limits: Limits, names: Sequence[str], values: Array, derivatives: Array) -> Requirement:
    """Rows of parameters as r numbers too, so that all stand in one array (T, r, p)."""
    rows, bounds = [], []
    r, p = derivatives.shape[1:]
    for pattern, share in limits.share.items():
        hit = [i for i, n in enumerate(names) if fnmatchcase(n, pattern)]
        if not hit:
            raise UnknownNameError("parameter that is sought", pattern, names)
        for i in hit:
            if not abs(values[i]) > 0:
                raise RangeError(f"{names[i]} is zero, so that a share of it cannot be required; name others")
            row = np.zeros((r, p))
            row[0, i] = 1.0
            rows.append(row)
            bounds.append(share * abs(float(values[i])))
    if limits.error is not None:
        rows += list(derivatives)
        bounds += [limits.error] * len(derivatives)
    return Requirement(np.array(rows), np.array(bounds))


@dataclass(frozen=True, eq=False)
class TestPlan:
    """Test poses before they are placed: joint values, or points (T, 3) that ``frame`` is to reach from ``near``.

    ``box`` gives ``count`` points of its own; ``wrenches`` are (1 or T, 6), None where nothing is said.
    """

    __test__ = False
    frame: str
    words: str
    q: Array | None = None
    points: Array | None = None
    box: Region | None = None
    count: int = 0
    near: Array | None = None
    wrenches: Array | None = None


def placed_tests(tests: TestPlan, model: Robot, load_frame: str, rng: np.random.Generator) -> Tests:
    """Joint values within the limits; points are reached from ``near`` first, then from poses all over."""
    q = tests.q if tests.q is not None else _reached(tests, model, rng)
    beyond = model.beyond_limits(q)
    if beyond:
        raise RangeError(f"test pose {beyond[0][0] + 1}: {limit_text(model, *beyond[0][1:])}; change it")
    wrenches = np.zeros((1, 6)) if tests.wrenches is None else tests.wrenches
    load = AppliedWrenches(load_frame, np.broadcast_to(wrenches, (len(q), 6)))
    return Tests(q, load, tests.frame, tests.words)


def _reached(tests: TestPlan, model: Robot, rng: np.random.Generator) -> Array:
    points = tests.points
    if tests.box is not None:
        low, high = np.array(tests.box.low), np.array(tests.box.high)
        points = across(model, spread_points(low, high, tests.count, rng), low, high, tests.frame)
    if points is None:
        raise MissingError("test poses: give configurations, points or a box")
    starts = spread_poses(model, STARTS, rng)
    starts = starts if tests.near is None else np.concatenate([tests.near, starts])
    q = np.full((len(points), model.n), np.nan)
    for start in starts:
        left = np.flatnonzero(np.isnan(q[:, 0]))
        if not len(left):
            break
        solution, held = reached(model, np.repeat(start[None], len(left), axis=0), points[left], tests.frame)
        q[left[held]] = solution[held]
    lost = np.flatnonzero(np.isnan(q[:, 0]))
    if len(lost):
        where = ", ".join(f"{1e3 * v:.0f}" for v in points[lost[0]])
        raise InfeasibleError(f"test pose {lost[0] + 1}: {tests.frame} does not reach ({where}) mm; move it")
    return q
