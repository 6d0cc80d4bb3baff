"""How well an error of a robot is measured, and whether the robot conforms to a tolerance by the rule of ISO 14253-1.

Measured.  By the noise of the instrument, and by how well it is registered to the robot:

    u_e^2 = u_r^2 (1 + p / n)

u_r is the standard deviation of one coordinate of a reading: as stated, or as repeats show it where they show more or
nothing is stated.  Instrument and markers are placed by p numbers, fitted to n coordinates with that noise: so much of
it they have on average at the points (the trace of a projection is its rank).  What the model leaves out is the error
that is measured, not an uncertainty of its measurement.  Without statement and repeats u_r is not known but from what
the fit leaves, which holds the misfit of the model: an upper bound.

Decided.  A statistic s of the errors on n validation poses is a statement on the working range that they were taken
from.  With U = 2 u_e (k = 2) and bounds b of the range, each with 95 % confidence, conformity is stated where

    s + sqrt(U^2 + (b_upper - s)^2) <= T,     nonconformity where     s - sqrt(U^2 + (s - b_lower)^2) > T;

between them lies the range of uncertainty (ISO 14253-1), where neither is.

                b_lower                    b_upper
    mean, RMS   s / h                      s g               g = sqrt(n / chi2_0.05(n)),  h = sqrt(chi2_0.95(n) / n)
    p95         order statistic            2 r g, no less than the largest error: 95 % of the range are within
    max         s                          the same (ISO 16269-6)

r is the RMS over poses of the largest error of a pose.  A normal error has 95 % within 1.96 r or less, whatever its
directions, and its square n degrees of freedom or more.  From 59 poses on (0.95^59 < 0.05) none of this is assumed:
the largest error is that bound itself, of a percentile the order statistic that is.  Fewer than five poses decide
nothing.  Markers of one pose, and its states, count as one.  u_e is not reduced by the number of readings, since what
the instrument has in common at all poses does not average out.  Errors contain the noise of readings, so that s is
rather too large than too small.  Where u_e is an upper bound, what it decides is decided, what it leaves open a stated
noise may decide.
"""

from __future__ import annotations

from bisect import bisect_left
from math import hypot, isfinite, nan, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.calibration.noise import Instrument, points_sd
from elastocal.calibration.states import States
from elastocal.distributions import bdtr, chdtri
from elastocal.solve.nested import ENOUGH
from elastocal.solve.summary import ErrorSummary
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.calibration.accuracy import Validation
    from elastocal.calibration.calibration import Calibration
    from elastocal.files.cell import Statistic


NoiseBasis = Literal["stated", "repeats", "estimated"]


def measured_to(
    c: Calibration, campaign: Campaign, states: States, fitted: int, estimated: float
) -> tuple[float, NoiseBasis]:
    """u_e in m with ``fitted`` stations placed by these readings, and what it rests on; ``estimated`` is u_r as the
    calibration has it."""
    sizes: dict[NoiseBasis, float] = {"stated": _stated(c, campaign, states), "repeats": _by_repeats(c, states)}
    known = {basis: size for basis, size in sizes.items() if isfinite(size) and size > 0}
    basis = max(known, key=lambda b: known[b]) if known else "estimated"
    return known.get(basis, estimated) * sqrt(1 + _placed_by(c, states, fitted)), basis


def _stated(c: Calibration, campaign: Campaign, states: States) -> float:
    """Of the instrument of these readings, else of that of the calibration; nan where nothing is stated."""
    own = campaign.noise is not None
    instrument = Instrument.of(campaign.noise) if own else c.instrument
    twice = _differences(states) and (own or c.placed)
    if instrument.tracker is not None:
        if states.position is None:
            return float("nan")
        sds = points_sd({"points": 1.0}, instrument, states.position)
        return float(np.sqrt(np.nanmean(sds**2)))
    return float("nan") if instrument.sd is None else instrument.sd * sqrt(1 + twice)


def _by_repeats(c: Calibration, states: States) -> float:
    """Of these readings, else of those of the calibration."""
    if states.scatter_freedom >= ENOUGH:
        return states.scatter
    return c.repeatability * sqrt(1 + (_differences(states) and c.placed))


def _differences(states: States) -> bool:
    """Whether what is judged are deflections, each the difference of two readings."""
    return states.position is None and states.deflection is not None


def _placed_by(c: Calibration, states: States, fitted: int) -> float:
    """p / n of instrument and markers; deflections have neither."""
    if states.position is None:
        return 0.0
    first, here = 3 * max(1, c.leave_one_out.count), int(np.isfinite(states.position).sum())
    stations = 6 * fitted / max(1, here) if fitted else 6 * len(c.stations) / first
    return min(1.0, stations + 3 * len(c.markers) / first)


Outcome = Literal["PASS", "FAIL", "NOT DECIDED"]
NAMES: dict[Statistic, str] = {
    "mean": "mean error",
    "rms": "RMS error",
    "p95": "95th percentile",
    "max": "largest error",
}
K = 2.0
BASES: dict[NoiseBasis, str] = {
    "stated": "by the stated noise",
    "repeats": "by repeats",
    "estimated": "by estimated noise, an upper bound",
}
UPPER_BOUND = (
    "no noise is stated and too few readings are repeated, so that U is only an upper bound, which holds the misfit of "
    "the model: state the noise of the instrument, or repeat readings, to decide"
)
NOT_NEW = (
    "not validated: all readings are of poses of the calibration, and errors there say nothing of other poses; measure "
    "poses that took no part"
)


FEWEST, FREE, MOST = 5, 59, 1000
"""Poses that decide at least; from which on no distribution is assumed; beyond which no more are proposed."""
SURE = 0.95
"""Confidence of a bound, and share of the working range that it holds."""


@dataclass(frozen=True)
class Decision:
    """``value``, ``uncertainty`` (expanded, k = 2) of its measurement, and ``tolerance`` in m; ``lower`` and ``upper``
    bounds of the working range, U included, which the tolerance is compared with; nan where they are not known."""

    outcome: Outcome
    statistic: Statistic
    value: float
    uncertainty: float
    tolerance: float
    reason: str
    basis: NoiseBasis | None = None
    """What the uncertainty rests on; None where it is not known."""
    lower: float = nan
    upper: float = nan
    poses: int = 0
    enough: int | None = None
    """Poses that would decide if they err like these, where these are too few; None where no number is known to."""

    @property
    def rule(self) -> str:
        """The decision rule in words."""
        held, fails = {
            "max": (
                "95 % of the validated range and all measured poses are",
                "a measured error exceeds it, U taken off",
            ),
            "p95": ("95 % of the validated range is", "less is"),
        }.get(self.statistic, (f"the {NAMES[self.statistic]} of the validated range is", "it exceeds it"))
        return (
            f"Decision rule (ISO 14253-1, 16269-6): PASS where {held} within the tolerance (95 % confidence by random "
            f"poses, U included); FAIL where {fails}; NOT DECIDED between. U (k = 2), the guard band: noise of "
            "instrument and registration."
        )


def decide(validation: Validation | None, tolerance: float | None, statistic: Statistic = "max") -> Decision:
    limit = nan if tolerance is None else tolerance
    new = ErrorSummary.of(np.zeros(0) if validation is None else validation.new[1])
    if validation is None or not new.count:
        none = "no validation poses were given" if validation is None or not validation.after.count else NOT_NEW
        return Decision("NOT DECIDED", statistic, nan, nan, limit, none)
    value, spread, basis = float(getattr(new, statistic)), uncertainty(validation), validation.noise_basis
    worst = worst_of_poses(validation)
    n = len(worst)
    low, high = bounds(worst, value, statistic)
    lower, upper = value - hypot(spread, value - low), value + hypot(spread, high - value)
    known = f"{NAMES[statistic]} {_mm(value)} on {n} pose{'s' * (n > 1)}, U = {_mm(spread)} (k = 2, {BASES[basis]})"
    if new.count < validation.after.count:
        known = f"on the {new.count} points of {validation.after.count} that took no part: {known}"
    outcome: Outcome = "NOT DECIDED"
    if n >= FEWEST:
        outcome = "PASS" if upper <= limit else "FAIL" if lower > limit else outcome
    more = enough(worst, value, statistic, limit, spread) if outcome == "NOT DECIDED" else None
    reason = _reason(outcome, statistic, n, lower, upper, tolerance, more)
    if outcome == "NOT DECIDED" and tolerance is not None and basis == "estimated":
        known = f"{UPPER_BOUND}; {known}"
    if validation.cause is not None and outcome != "PASS":  # nobody knows whether it was the robot
        outcome, known = "NOT DECIDED", f"{validation.cause.text}; {known}"
    return Decision(outcome, statistic, value, spread, limit, f"{known}{reason}", basis, lower, upper, n, more)


def _reason(
    outcome: Outcome, statistic: Statistic, n: int, lower: float, upper: float, tolerance: float | None,
    more: int | None,
) -> str:  # fmt: skip
    held = "" if statistic in ("mean", "rms") else "95 % of "
    claim = f"{held}the validated range is within {_mm(upper)} (95 % confidence)"
    if tolerance is None:
        return f"; {claim}; no tolerance is stated" if n >= FEWEST else "; no tolerance is stated"
    if outcome == "PASS":
        return f": {claim}, tolerance {_mm(tolerance)}, {_mm(tolerance - upper)} to spare"
    if outcome == "FAIL":
        return f": {_mm(lower)} exceeds the tolerance of {_mm(tolerance)} by {_mm(lower - tolerance)}"
    few = f"{n} pose{'s say' if n > 1 else ' says'} too little of the working range" if n < FEWEST else claim
    wanted = "" if more is None else f"; {more} poses that err like these would be enough"
    return f": {few}, tolerance {_mm(tolerance)}{wanted}"


def worst_of_poses(validation: Validation) -> Array:
    """The largest error of every pose (n,) that took no part, in m."""
    errors = validation.new[1]
    pose = np.array(validation.pose) if validation.pose else np.arange(len(errors))
    out = np.full(int(pose.max()) + 1, -1.0)
    np.maximum.at(out, pose, np.where(np.isfinite(errors), errors, -1.0).max(axis=1))
    return np.asarray(out[out >= 0])


def bounds(worst: Array, value: float, statistic: Statistic) -> tuple[float, float]:
    """Of a statistic over the working range, each with 95 % confidence, by errors that are exactly known; m."""
    n = len(worst)
    if statistic == "p95" and n >= FREE:
        return _order(worst, upper=False), _order(worst, upper=True)
    return _lower(worst, value, statistic, n), _upper(worst, value, statistic, n)


def _lower(worst: Array, value: float, statistic: Statistic, n: int) -> float:
    if statistic == "max":
        return float(worst.max())
    return _order(worst, upper=False) if statistic == "p95" else value / _grown(n, 1 - SURE)


def _upper(worst: Array, value: float, statistic: Statistic, n: int) -> float:
    """What ``n`` poses would show that err like these."""
    if statistic in ("mean", "rms"):
        return value * _grown(n, SURE)
    largest = float(worst.max())
    return largest if n >= FREE else max(largest, K * float(np.sqrt(np.mean(worst**2))) * _grown(n, SURE))


def _grown(n: int, above: float) -> float:
    """sqrt(n / q), with q what a chi-squared of n degrees of freedom exceeds with the probability ``above``."""
    return sqrt(n / chdtri(n, above))


def _order(worst: Array, *, upper: bool) -> float:
    """The order statistic that is above, or below, the 95th percentile with 95 % confidence."""
    order, n = np.sort(worst), len(worst)
    below = bdtr(np.arange(n), n, SURE)  # of so many poses at most below the percentile
    if upper:
        return float(order[np.flatnonzero(below >= SURE)[0]])
    sure = np.flatnonzero(below <= 1 - SURE)
    return float(order[sure[-1]]) if len(sure) else 0.0


def enough(worst: Array, value: float, statistic: Statistic, tolerance: float, spread: float) -> int | None:
    """How many poses would pass ``tolerance`` if they erred like these; None where no number does."""

    def pass_it(n: int) -> bool:  # and so does any larger number
        return value + hypot(spread, _upper(worst, value, statistic, n) - value) <= tolerance

    numbers = range(max(FEWEST, len(worst) + 1), MOST)
    first = bisect_left(numbers, True, key=pass_it)
    return numbers[first] if first < len(numbers) else None


def uncertainty(validation: Validation) -> float:
    """Expanded uncertainty (k = 2) of the measurement of an error, m."""
    return K * validation.measured_to


def _mm(metres: float) -> str:
    return f"{1e3 * metres:.3f} mm"
