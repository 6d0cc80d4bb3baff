"""How far predicted points are from those read, in readings that took no part."""

from __future__ import annotations

import numpy as np

from elastocal.calibration.measurement import NoiseBasis
from elastocal.findings import Finding
from elastocal.results import as_frame, as_html
from elastocal.solve.summary import ErrorSummary
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

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

    @property
    def improved(self) -> bool:
        return self.gain > self.gain_half_width

    @property
    def new(self) -> tuple[Array, Array]:
        """``nominal_errors`` and ``errors`` of the poses that took no part, nan elsewhere."""
        if self.points_known and not self.known:  # of an earlier document, which does not say where they are
            return np.full_like(self.nominal_errors, np.nan), np.full_like(self.errors, np.nan)
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
        message = (
            f"mean error {1e3 * self.after.mean:.3f} mm on {self.after.count} points{whose}, nominal "
            f"{1e3 * self.before.mean:.3f} mm; gain {gain:.3f} +- {half:.3f} mm (95 %)."
        )
        if self.cause is not None:
            return Finding(
                self.cause.code, "warning", f"{self.cause.text}. As read: {message}", {**data, **self.cause.data}
            )
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
        return Finding(
            "no-gain", "warning", f"No gain is shown: {message} Measure more poses, or keep the nominal.", data
        )

    @property
    def _beyond_claim(self) -> bool:
        """Whether intervals are far too narrow, and errors by a factor larger than predictions and noise let expect."""
        claimed = self.expected**2 + 3 * self.reading**2
        read = np.isfinite(self.errors) & np.isfinite(claimed)
        if not read.any() or not too_narrow(self.coverage, self.after.count):
            return False
        return bool(np.mean(self.errors[read] ** 2) > BEYOND**2 * np.mean(claimed[read]))

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Points that are none, poses of the calibration, readings far off, and intervals that hold far fewer than they
        promise."""
        return (*self._lost(), *self._not_new(), *self._far_off(), *self._narrow())

    def _lost(self) -> tuple[Finding, ...]:
        if not self.lost:
            return ()
        hold = "1 row holds" if len(self.lost) == 1 else f"{len(self.lost)} rows hold"
        named = ", ".join(self.lost[:5]) + " ..." * (len(self.lost) > 5)
        text = f"{hold} points that no arm reaches, as of a lost beam, which are left out: {named}; read them again"
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
        far = self.errors > FAR_OFF * np.sqrt(self.expected**2 + 3 * self.reading**2)
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
