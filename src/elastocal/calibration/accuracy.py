"""How far predicted points are from those read, in readings that took no part; what to do with a calibration, in one
sentence; and whether the values that it is asked about are in its units.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Literal

import numpy as np

from elastocal.calibration.decision import NoiseBasis
from elastocal.calibration.ladder import HARMLESS
from elastocal.results import Finding, as_frame, as_html
from elastocal.solve.summary import ErrorSummary
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.calibration.calibration import Calibration


FAR_OFF = 8.0
"""Standard deviations of a distance, beyond which a reading is named."""
BEYOND = 2.0
"""Multiple of what predictions and noise let expect, from which on errors are not those that were claimed."""
MOST_FAR = 0.2
"""Share of the rows: where more are far off, it is the calibration and not the readings."""


def too_narrow(coverage: float, points: int) -> bool:
    """Whether 95 % intervals hold far fewer coordinates of so many points than they promise."""
    return coverage < min(0.85, 0.95 - 3 * float(np.sqrt(0.95 * 0.05 / max(1, points))))


@dataclass(frozen=True, repr=False)
class Validation:
    """A calibration against readings that took no part in it."""

    before: ErrorSummary
    after: ErrorSummary
    coverage: float
    """Share of the coordinates read that lie in the 95 % interval of a reading."""
    gain: float
    gain_half_width: float
    """Mean fall of the error against the nominal robot in m, and half of its 95 % interval over poses."""
    errors: Array
    """Distances (states, markers) in m of calibrated predictions from readings, nan where nothing was read."""
    stations_fitted: bool
    nominal_errors: Array
    places: tuple[str, ...]
    """Rows of the campaign, one for every state: file and line where it has them."""
    markers: tuple[str, ...]
    expected: Array
    """Standard deviation (states, markers) in m of the predicted places, all three axes together."""
    reading: Array
    """Standard deviation (states, markers) in m of one reading, mean over the axes."""
    shared: int = 0
    """States with readings of the calibration itself."""
    revisited: int = 0
    """States at joint values and loads of the calibration that were read again, as to see drift."""
    points_known: int = 0
    """Points of both; the others took no part."""
    lost: tuple[str, ...] = ()
    """Rows with points that no arm reaches, such as codes of a lost beam; they are left out."""
    known: tuple[int, ...] = ()
    """Numbers of the states at joint values and loads of the calibration, read again or its own."""
    measured_to: float = float("nan")
    """Standard uncertainty in m of the measurement of one error, along it: of instrument and registration."""
    noise_basis: NoiseBasis = "estimated"
    """What it rests on: estimated, it holds the misfit of the model too."""
    orientation: tuple[ErrorSummary, ErrorSummary] | None = None
    """Angles in rad of the nominal and of the calibrated robot, where orientations were read."""
    cause: Finding | None = None
    """What explains the errors that is not the robot: the instrument stands elsewhere, or the table has a slip."""
    pose: tuple[int, ...] = ()
    """Number of the pose of every state; empty where each is one of its own."""
    span: Array | None = None
    """Least and largest value (n, 2) of every axis at poses that took no part, in rad and m; None if there are none."""
    ranges: tuple[Finding, ...] = ()
    """Poses beyond the joint ranges of the calibration, and poses that are nearly alike."""

    @property
    def spread(self) -> Array:
        """Standard deviation (states, markers) in m of a reading's distance from its prediction, over all axes."""
        return np.asarray(np.sqrt(self.expected**2 + 3 * self.reading**2))

    @property
    def improved(self) -> bool:
        return self.gain > self.gain_half_width

    @property
    def new(self) -> tuple[Array, Array]:
        """``nominal_errors`` and ``errors`` of the poses that took no part, nan elsewhere."""
        own = np.isin(np.arange(len(self.errors)), self.known)[:, None]
        return np.where(own, np.nan, self.nominal_errors), np.where(own, np.nan, self.errors)

    @property
    def verdict(self) -> Finding:
        """Whether the calibrated robot predicts these readings better than the nominal one does, in one sentence."""
        gain, half = 1e3 * self.gain, 1e3 * self.gain_half_width
        new = self.after.count - self.points_known
        data = {
            "before": self.before.mean, "after": self.after.mean, "gain": self.gain, "half": self.gain_half_width,
            "new": new,
        }  # fmt: skip
        own = self.shared == len(self.errors) > 0
        again = not own and self.shared + self.revisited == len(self.errors) > 0
        whose = " that took no part"
        if own or again:
            whose = " of poses of the calibration"
        elif self.points_known:
            whose = f", of which {new} took no part and {self.points_known} are of poses of the calibration"
        width = f"+- {half:.3f} mm (95 %)" if isfinite(half) else "mm, an interval of which one pose does not tell"
        message = (
            f"mean error {1e3 * self.after.mean:.3f} mm on {self.after.count} points{whose}, nominal "
            f"{1e3 * self.before.mean:.3f} mm; gain {gain:.3f} {width}."
        )
        if self.cause is not None:
            text = f"{self.cause.text}. As read: {message}"
            return Finding(self.cause.code, "warning", text, {**data, **self.cause.data})
        if own:
            return Finding("not-validated", "warning", f"NOT VALIDATED: {message}", data)
        if self.improved and again:
            return Finding("holds", "note", f"Holds at poses of the calibration, read again: {message}", data)
        if self.improved and self._beyond_claim:
            text = f"BETTER THAN THE NOMINAL ROBOT, BUT NOT AS GOOD AS CLAIMED: {message} Something has changed since."
            return Finding("beyond-claim", "warning", text, data)
        if self.improved:
            return Finding("validated", "note", f"Validated: {message}", data)
        if self.gain < -self.gain_half_width:
            return Finding("worse", "warning", f"WORSE THAN THE NOMINAL ROBOT: {message} Do not use it.", data)
        if self.after.rms > self.before.rms:
            message += f" The RMS error grows from {1e3 * self.before.rms:.3f} to {1e3 * self.after.rms:.3f} mm."
        text = f"No gain is shown: {message} Measure more poses, or keep the nominal."
        return Finding("no-gain", "warning", text, data)

    @property
    def _beyond_claim(self) -> bool:
        """Whether intervals are far too narrow, and errors by a factor larger than predictions and noise let expect."""
        claimed = self.spread
        read = np.isfinite(self.errors) & np.isfinite(claimed)
        if not read.any() or not too_narrow(self.coverage, self.after.count):
            return False
        return bool(np.mean(self.errors[read] ** 2) > BEYOND**2 * np.mean(claimed[read] ** 2))

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Points that are none, poses of the calibration, ranges of joints, readings far off, and intervals that hold
        far fewer than they promise."""
        return (*self._lost(), *self._not_new(), *self.ranges, *self._far_off(), *self._narrow())

    def _lost(self) -> tuple[Finding, ...]:
        if not self.lost:
            return ()
        hold = "1 row holds" if len(self.lost) == 1 else f"{len(self.lost)} rows hold"
        named = ", ".join(self.lost[:5]) + " ..." * (len(self.lost) > 5)
        text = (
            f"{hold} points that no arm reaches, as of a lost beam; these points are left out: {named}; read them again"
        )
        return (Finding("out-of-reach", "warning", text, {"places": list(self.lost)}),)

    def _not_new(self) -> tuple[Finding, ...]:
        if not self.shared:
            return ()
        text = (
            f"{self.shared} of {len(self.errors)} rows are readings of the calibration; errors there say nothing "
            "of other poses: measure poses that took no part"
        )
        return (Finding("not-new", "warning", text, {"shared": self.shared}),)

    def _far_off(self) -> tuple[Finding, ...]:
        """A reading far beyond its interval rules the mean; the mean stays as it is."""
        far = self.errors > FAR_OFF * self.spread
        rows = np.flatnonzero(far.any(axis=1))
        if not len(rows) or len(rows) > MOST_FAR * len(self.errors):
            return ()
        worst = rows[np.argsort(-np.nanmax(self.errors[rows], axis=1), kind="stable")]
        places = [self.places[i] for i in worst]
        named = ", ".join(places[:5]) + " ..." * (len(places) > 5)
        rest = float(np.nanmean(np.where(far, np.nan, self.errors)))
        count, them = ("1 row is", "it") if len(rows) == 1 else (f"{len(rows)} rows are", "them")
        text = (
            f"{count} more than {FAR_OFF:g} standard deviations off, the worst first: {named}; without {them} the mean "
            f"is {1e3 * rest:.3f} mm; read {them} again"
        )
        return (Finding("far-off", "warning", text, {"places": places, "without": rest}),)

    def _narrow(self) -> tuple[Finding, ...]:
        if not too_narrow(self.coverage, self.after.count):
            return ()
        text = f"95 % intervals hold {self.coverage:.0%} of the coordinates read; they are too narrow here"
        return (Finding("coverage", "warning", text, {"coverage": self.coverage}),)

    def rows(self) -> list[dict[str, object]]:
        """One record for every state and marker that was read: errors of the nominal and the calibrated robot in m."""
        return [
            {"place": place, "marker": name, "before": float(b), "after": float(a)}
            for place, before, after in zip(self.places, self.nominal_errors, self.errors, strict=True)
            for name, b, a in zip(self.markers, before, after, strict=True)
            if np.isfinite(a)
        ]

    def to_frame(self) -> object:
        """``rows`` as a pandas DataFrame, or as they are where pandas is not installed."""
        return as_frame(self.rows())

    def _repr_html_(self) -> str:
        return as_html(self)

    def __repr__(self) -> str:
        lines = [
            f"<Validation: {self.verdict.text}",
            f"  calibrated: {self.after.text()}; nominal: {self.before.text()}",
            f"  95 % intervals hold {self.coverage:.0%} of the coordinates of {self.after.count} points",
            *(f"  warning {w.code}: {w.text}" for w in self.warnings),
        ]
        return "\n".join(lines) + ">"


LIKELY = {
    "angle": {"rad": (0.0, 4 * np.pi), "deg": (2 * np.pi, np.inf)},
    "length": {"m": (0.0, 50.0), "mm": (5.0, np.inf)},
}
"""Between these the largest of several joint values lies, or they are more likely in the other unit."""
FAR_WARM = 100.0
"""K: no shop is that much warmer or colder than at the campaign."""
SEVERAL = 3


DOUBTED = {
    "points-far": "the points are far from this robot",
    "distances-far": "the distances are far from those of this robot",
    "orientations-far": "the orientations are far from those of this robot",
    "load-size": "the loads may be in another unit",
    "deflections-turned": "the deflections may be in the axes of an instrument",
    "positions-unloaded": "positions beside deflections seem to be of the unloaded arm",
    "moved": "the instrument or the base was moved between the readings",
    "marker-moved": "markers were moved on the tool between the readings",
    "exchanged": "markers are exchanged from some row on",
    "drift": "the instrument, the base or the arm drifts",
}
"""Warnings that doubt the readings themselves, in the words of a verdict: where they are right the readings say
something else.  What was accepted, or left out as an outlier, is no such doubt any more."""


def verdict(c: Calibration) -> Finding:
    """By the gain; doubts about the readings, which no gain answers, come first."""
    found = _by_gain(c)
    codes = [code for code in DOUBTED if any(w.code == code and w.severity == "warning" for w in c.warnings)]
    if not codes:
        return found
    text = f"In doubt, since {' and '.join(DOUBTED[code] for code in codes)}: {found.text[0].lower()}{found.text[1:]}"
    return Finding(found.code, "warning", text, {**found.data, "doubts": codes})


def _by_gain(c: Calibration) -> Finding:
    """By the gain over the nominal robot that is claimed, and what it must exceed not to be chance."""
    claim, refitted = c.claim, c.optimistic
    lower, now = 1e3 * c.before.mean, 1e3 * claim.mean
    unit = c.before.shown
    data = {f"before_{unit}": lower, f"after_{unit}": now}
    if c.ladder.kept_fails:
        text = (
            "The model that was kept does not predict better than the nominal robot with fitted stations and "
            f"markers ({lower:.3f} {unit} mean); choose the model again: calibrate without a start."
        )
        return Finding("kept-fails", "warning", text, data)
    if not c.words:
        text = (
            f"Nothing to gain: no model predicts better than the nominal robot with fitted stations and markers "
            f"({lower:.3f} {unit} mean); keep the nominal robot."
        )
        return Finding("nothing-to-gain", "note", text, data)
    basis = "leave-one-out"
    if refitted:
        left_out = 1e3 * c.leave_one_out.mean
        basis = f"fitted again without a fifth of the poses in turn; leave-one-out {left_out:.3f}"
    gain, half = c.gain
    data |= {f"gain_{unit}": 1e3 * gain, f"half_{unit}": 1e3 * half}
    if not gain > half:
        text = f"No gain is shown: {now:.3f} {unit} ({basis}) against {lower:.3f} {unit} of the nominal robot."
        if gain > 0 and set(c.words) <= HARMLESS:
            text += " Compliances about the priors of the robot file are kept all the same: they do little harm."
            return Finding("within-priors", "note", text, data)
        return Finding("no-gain", "warning", f"{text} Measure more poses, or keep the nominal robot.", data)
    narrow = " in the narrow range of its poses" * any(w.code == "narrow-range" for w in c.warnings)
    text = (
        f"The calibrated robot predicts a pose it has not seen{narrow} to {now:.3f} {unit} (mean, {basis}); the "
        f"nominal robot to {lower:.3f} {unit}."
    )
    few = next((w.data["poses"] for w in c.warnings if w.code == "few-poses"), None)
    if few is not None:
        text += f" {few} poses are few for such a claim, which may be far too good: validate it, or measure more."
    return Finding("improved", "note", text, data)


def unit_doubt(c: Calibration, raw: Array, what: Literal["angle", "length"]) -> tuple[Finding, ...]:
    """Whether values (N, n) are more likely in another unit than the calibration's."""
    kind = "revolute" if what == "angle" else "prismatic"
    own = [i for i, m in enumerate(c.robot.motions) if m.kind == kind]
    if not own or not len(raw):
        return ()
    unit = getattr(c, what)
    other, (low, high) = next(u for u in LIKELY[what] if u != unit), LIKELY[what][unit]
    most = float(np.abs(raw[:, own]).max())
    few = most == 0 or len(raw) < SEVERAL  # a few poses may well be near home
    if most <= high and (few or most >= low):
        return ()
    axes = [c.robot.controller.axes[i] for i in own]
    text = (
        f"the largest value of {', '.join(axes)} is {most:.4g}; they are taken as {unit}, as in the campaign of this "
        f"calibration ({what}={other!r}?)"
    )
    data = {"largest": most, "unit": unit, "likely": other, "axes": axes}
    return (Finding(f"{what}-unit", "warning", text, data),)


def far_temperature(warm: Array) -> tuple[Finding, ...]:
    """Temperatures so far from those of the campaign that they are likely in another unit."""
    most = float(np.max(np.abs(warm), initial=0.0))
    if most <= FAR_WARM:
        return ()
    text = f"a temperature is {most:.0f} K from the mean of the campaign; is it in the same unit, K or degrees C?"
    return (Finding("far-temperature", "warning", text, {"difference_K": most}),)
