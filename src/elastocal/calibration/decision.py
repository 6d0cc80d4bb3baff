"""How well an error of a robot is measured, and whether the robot conforms to a tolerance by the rule of ISO 14253-1.

Measured.  By the noise of the instrument, and by how well it is registered to the robot:

    u_e^2 = u_r^2 (1 + p / n)

u_r is the standard deviation of one coordinate of a reading: as stated, or as repeats show it where they show more or
nothing is stated.  Instrument and markers are placed by p numbers, fitted to n coordinates with that noise: so much of
it they have on average at the points (the trace of a projection is its rank).  What the model leaves out is the error
that is measured, not an uncertainty of its measurement.  Without statement and repeats u_r is not known but from what
the fit leaves, which holds the misfit of the model: an upper bound.

Decided.  A statistic s of the errors on validation poses is known with the expanded uncertainty U = 2 u (k = 2).
Conformity is stated where s + U <= T, nonconformity where s - U > T; between them lies the range of uncertainty, where
neither is.

    u^2 = u_e^2 + u_s^2

u_e is not reduced by the number of readings, since what the instrument has in common at all poses does not average out.
u_s is what the choice of n poses leaves open: of the mean s_d / sqrt(n), of the RMS by the delta method, both with
Student's factor; of the 95th percentile from the order statistics that hold it with 97.5 % on either side, which exist
from 72 poses on (fewer decide nothing); the largest error is a statement about the poses measured, and has none.
Markers of one pose count as one.  Errors contain the noise of readings, so that s is rather too large than too small.
Where u_e is an upper bound, what it decides is decided, what it leaves open a stated noise may decide.
"""

from __future__ import annotations

from math import isfinite, nan, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.calibration.noise import Instrument, points_sd
from elastocal.calibration.states import States
from elastocal.quantities import quantile_95
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
    twice = states.position is None and (own or c.placed)  # a deflection is the difference of two readings
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
    return c.repeatability * sqrt(1 + (states.position is None and c.placed))


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


@dataclass(frozen=True)
class Decision:
    """``value``, ``uncertainty`` (expanded, k = 2) and ``tolerance`` in m; nan where they are not known."""

    outcome: Outcome
    statistic: Statistic
    value: float
    uncertainty: float
    tolerance: float
    reason: str
    basis: NoiseBasis | None = None
    """What the uncertainty rests on; None where it is not known."""

    @property
    def rule(self) -> str:
        """The decision rule in words."""
        name = NAMES[self.statistic]
        return (
            f"Decision rule (ISO 14253-1): PASS where the {name} on validation poses plus its expanded uncertainty U "
            f"(k = 2) is within the tolerance; FAIL where the {name} minus U exceeds it; NOT DECIDED between. U is the "
            "guard band on either side: it holds the noise of the instrument, its registration and the choice of poses."
        )


def decide(validation: Validation | None, tolerance: float | None, statistic: Statistic = "max") -> Decision:
    limit = nan if tolerance is None else tolerance
    new = ErrorSummary.of(np.zeros(0) if validation is None else validation.new[1])
    if validation is None or not new.count:
        none = "no validation poses were given" if validation is None or not validation.after.count else NOT_NEW
        return Decision("NOT DECIDED", statistic, nan, nan, limit, none)
    value, spread, basis = float(getattr(new, statistic)), uncertainty(validation, statistic), validation.noise_basis
    known = f"{NAMES[statistic]} {_mm(value)}, U = {_mm(spread)} (k = 2, {BASES[basis]})"
    if new.count < validation.after.count:
        known = f"on the {new.count} points of {validation.after.count} that took no part: {known}"
    outcome, reason = _outcome(value, spread, tolerance)
    if outcome == "NOT DECIDED" and tolerance is not None and isfinite(spread) and basis == "estimated":
        known = f"{UPPER_BOUND}; {known}"
    if validation.cause is not None and outcome != "PASS":  # nobody knows whether it was the robot
        outcome, known = "NOT DECIDED", f"{validation.cause.text}; {known}"
    return Decision(outcome, statistic, value, spread, limit, f"{known}{reason}", basis)


def _outcome(value: float, spread: float, tolerance: float | None) -> tuple[Outcome, str]:
    if tolerance is None:
        return "NOT DECIDED", "; no tolerance is stated"
    if not isfinite(spread):
        return "NOT DECIDED", "; too few poses for it"
    spare = tolerance - value - spread
    if spare >= 0:
        return "PASS", f": {_mm(value + spread)} is within the tolerance of {_mm(tolerance)}, {_mm(spare)} to spare"
    least = value - spread
    if least > tolerance:
        return "FAIL", f": {_mm(least)} exceeds the tolerance of {_mm(tolerance)} by {_mm(least - tolerance)}"
    ends = f"{_mm(max(0.0, least))} to {_mm(value + spread)}"
    return "NOT DECIDED", f": {ends} holds the tolerance {_mm(tolerance)}"


def uncertainty(validation: Validation, statistic: Statistic) -> float:
    """Expanded uncertainty (k = 2) of a statistic of the errors, m."""
    return K * sqrt(validation.measured_to**2 + sampling(validation.new[1], statistic) ** 2)


def sampling(errors: Array, statistic: Statistic) -> float:
    """Standard uncertainty of a statistic of errors (poses, markers) by the choice of poses; inf where too few."""
    poses = errors[np.isfinite(errors).any(axis=1)]
    n = len(poses)
    if statistic == "max":
        return 0.0
    if n < 2:
        return float("inf")
    student = quantile_95(n - 1) / K
    if statistic == "mean":
        return student * float(np.nanmean(poses, axis=1).std(ddof=1)) / sqrt(n)
    if statistic == "rms":
        squares = np.nanmean(poses**2, axis=1)
        return student * float(squares.std(ddof=1)) / (2 * sqrt(float(squares.mean())) * sqrt(n))
    return _of_percentile(np.sort(np.nanmax(poses, axis=1))) / K


def _of_percentile(order: Array) -> float:
    """Farthest end of the distribution-free 95 % interval of the 95th percentile from its estimate."""
    from scipy.special import bdtr

    n = len(order)
    below = bdtr(np.arange(n), n, 0.95)  # of so many poses at most below the percentile
    upper, lower = np.flatnonzero(below >= 0.975), np.flatnonzero(below <= 0.025)
    if not len(upper):
        return float("inf")
    value = float(np.quantile(order, 0.95))
    low = float(order[lower[-1]]) if len(lower) else 0.0
    return max(float(order[upper[0]]) - value, value - low)


def _mm(metres: float) -> str:
    return f"{1e3 * metres:.3f} mm"
