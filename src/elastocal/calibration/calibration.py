"""The result: a robot that predicts, what is known of it and how well, and what speaks against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from elastocal.arguments import checked, generator, vector
from elastocal.calibration.accuracy import Validation, far_temperature, unit_doubt, verdict
from elastocal.calibration.campaign import Campaign
from elastocal.calibration.estimates import Estimates, Outlier, Residuals
from elastocal.calibration.given import controller_to_joints, pose_table, wrench_table
from elastocal.calibration.noise import Instrument
from elastocal.calibration.placing import Placing
from elastocal.calibration.prediction import Prediction, predicted, undetermined
from elastocal.calibration.span import extrapolated
from elastocal.errors import ConflictError, RangeError, UnknownNameError
from elastocal.model.robot import Robot
from elastocal.results import Finding, as_html, shortened
from elastocal.solve.summary import ErrorSummary
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.calibration.campaigns import Seen
    from elastocal.calibration.estimates import Shrinkage
    from elastocal.calibration.ladder import Ladder
    from elastocal.calibration.page import Plots
    from elastocal.calibration.posterior import Compliances
    from elastocal.files.cell import Stated


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    """A calibrated robot: ``robot`` holds the estimates as elements, so that statics and compensation use it as is."""

    robot: Robot
    uncalibrated: Robot
    names: tuple[str, ...]
    covariance: Array
    """Of ``unknowns``: the parameters ``names``, then stations (6 each), markers (3 each) and the tool's turn (3).

    A station is shifted along its axes and turned about ``placing.centres``; m and rad.
    """
    placing: Placing
    nominal_placing: Placing
    stations: tuple[str, ...]
    markers: tuple[str, ...]
    noise: Mapping[str, float]
    """Scales of the noise: points, orientation (rad), translation in m, ``noise <joint>`` in rad or m, load size (a
    share), load direction (rad)."""
    instrument: Instrument
    discrepancy: float
    """Model discrepancy in m per axis: what residuals show beyond the noise; 0 where it is not significant."""
    freedom: float
    inflation: float
    """Factor on standard deviations for scales that were fitted, and for a leave-one-out error that was optimistic."""
    length: str
    angle: str
    load_frame: str
    reference_temperature: float
    """Of the campaign, from which differences count; nan where it was not read."""
    parameters: Estimates
    outliers: tuple[Outlier, ...]
    warnings: tuple[Finding, ...]
    words: tuple[str, ...]
    leave_one_out: ErrorSummary
    leave_one_out_all: ErrorSummary
    """The same with the readings that were left out as outliers."""
    before: ErrorSummary
    ladder: Ladder
    residuals: Residuals
    seen: Seen
    """All readings of the campaign, outliers too."""
    shrinkage: Shrinkage
    """How far priors decide the estimates."""
    compliances: Compliances | None = None
    """Of a loaded campaign whose chosen model has none: what its readings tell of them."""
    repeatability: float = float("nan")
    """Sd of one coordinate in m by repeats of the campaign, outliers left out; nan where there are too few."""

    @cached_property
    def nominal(self) -> Robot:
        """The robot as its controller knows it."""
        return self.uncalibrated.nominal

    def __post_init__(self) -> None:
        own = self.covariance.view()
        own.flags.writeable = False
        object.__setattr__(self, "covariance", own)

    @property
    def optimistic(self) -> bool:
        """Whether the leave-one-out error is too low to be claimed."""
        return any(w.code == "optimistic" for w in self.warnings)

    @property
    def claim(self) -> ErrorSummary:
        """Error at poses that it has not seen: leave-one-out, or of refits without a fifth of the poses where that is
        optimistic."""
        refitted = (w.data["refitted"] for w in self.warnings if w.code == "optimistic")
        return next((ErrorSummary(**data) for data in refitted), self.leave_one_out)

    @cached_property
    def orientation_errors(self) -> tuple[ErrorSummary, ErrorSummary] | None:
        """Leave-one-out angles in rad of the nominal and of the calibrated robot, where orientations were read beside
        lengths, which the other errors are of."""
        turns = ~self.residuals.lengths
        if self.before.unit != "m" or not turns.any():
            return None
        both = (np.linalg.norm(off[:, turns], axis=1) for off in (self.residuals.nominal, self.residuals.calibrated))
        before, after = (ErrorSummary.of(angles, "rad") for angles in both)
        return before, after

    @property
    def gain(self) -> tuple[float, float]:
        """How far the error claimed falls below that of the nominal robot, and what it must exceed not to be chance:
        half of its 98.8 % interval over poses (2.5 standard errors)."""
        fall = self.before.mean - self.claim.mean if self.optimistic else self.ladder.gain
        return fall, self.ladder.gain_half_width

    @property
    def verdict(self) -> Finding:
        """What to do with it, in one sentence."""
        return verdict(self)

    @checked()
    def predict(
        self,
        q: object,
        wrench: object = None,
        *,
        station: str | None = None,
        length: str | None = None,
        angle: str | None = None,
        load_frame: str | None = None,
        temperature: object = None,
        axes: Literal["instrument", "base"] = "instrument",
    ) -> Prediction:
        """Readings to expect at controller values ``q`` (N, n), in the units of the campaign unless stated.

        Those are ``angle`` and ``length`` of this calibration: as arrays were given, or as the columns of tables
        were written, also where it was saved in between.  Values that are likely in others are a warning.
        ``wrench`` acts at ``load_frame``, that of the campaign where not stated; ``temperature`` (N,) or one number,
        the campaign's mean where not stated.  Positions are in the axes of the instrument at ``station``, or in those
        of the robot's base as that station was registered to it.
        """
        if axes not in ("instrument", "base"):
            raise UnknownNameError("axes", str(axes), ("instrument", "base"))
        joints, doubt = self._joints(q, length, angle)
        loads = None if wrench is None else wrench_table(wrench, len(joints))
        warm = None
        if temperature is not None:
            if "thermal" not in self.words:
                raise ConflictError("temperature: this calibration found no effect of it; leave it out")
            given = [temperature] if np.ndim(temperature) == 0 else temperature  # type: ignore[arg-type]
            read = vector("temperature", given, 1, len(joints))
            warm = np.broadcast_to(read - self.reference_temperature, (len(joints),))
            doubt = (*doubt, *far_temperature(warm))
        prediction = self.predict_joints(joints, loads, station, load_frame, warm=warm, axes=axes)
        own = [w for w in prediction.warnings if w.code != "extrapolated" or not doubt]  # in other units all are beyond
        return replace(prediction, warnings=(*own, *doubt))

    def predict_joints(
        self,
        joints: Array,
        loads: Array | None = None,
        station: str | None = None,
        load_frame: str | None = None,
        *,
        follows: bool = False,
        warm: Array | None = None,
        axes: str = "instrument",
    ) -> Prediction:
        """The same for joint values (N, n) in rad and m; loads that follow their frame are in its axes.

        ``warm`` (N,): temperature above the reference in K.
        """
        base = axes == "base" and self.placed
        if warm is None and "thermal" in self.words:
            warm = np.zeros(len(joints))
        of, warnings = self.under_load if loads is not None and np.any(loads) else (self, ())
        number, frame = self._station(station), load_frame or self.load_frame
        made = predicted(of, joints, loads, number, frame, warm, follows=follows, base=base)
        return replace(made, warnings=(*warnings, *undetermined(made), *self.beyond(joints)))

    def beyond(self, joints: Array, what: str = "poses") -> tuple[Finding, ...]:
        """Which of joint values (N, n) lie beyond the ranges that were measured, if any."""
        return extrapolated(self.robot, self.seen.q, joints, what) if len(joints) else ()

    @checked()
    def draws(self, count: int, rng: np.random.Generator | int = 1) -> Array:
        """Parameters (count, p), ``names``, drawn from the posterior: what the readings and the priors leave possible.

        Of parameters alone: their spread, correlations, and deflections by loads.  Places of the tool need stations and
        markers that were drawn with them, of ``drawn``: in base axes robots of these parameters scatter far more than
        readings of them.  Compliances are drawn by their logarithms; backlash is not negative.
        """
        return self._drawn(count, rng)[0]

    @checked()
    def drawn(self, count: int, rng: np.random.Generator | int = 1) -> tuple[Calibration, ...]:
        """The same with their robots, stations and markers: ``[c.predict(q).position for c in cal.drawn(100)]``.

        Predictions of these scatter as ``half_width`` says, less the model discrepancy; they are no results of readings
        themselves.
        """
        rows = zip(*self._drawn(count, rng), strict=True)
        return tuple(
            replace(
                self,
                robot=self.robot.with_estimates(dict(zip(self.names, values.tolist(), strict=True))),
                placing=self.placing.moved(steps),
            )
            for values, steps in rows
        )

    def _drawn(self, count: int, rng: np.random.Generator | int) -> tuple[Array, Array]:
        from elastocal.calibration.posterior import drawn

        if count < 1:
            raise RangeError.of("count", count, "give at least one")
        return drawn(self, count, generator("rng", rng))

    @property
    def unknowns(self) -> tuple[str, ...]:
        """Names of the rows of ``covariance``: ``names``, then those of stations, markers and the tool's turn."""
        from elastocal.calibration.posterior import unknowns

        return unknowns(self)

    @cached_property
    def under_load(self) -> tuple[Calibration, tuple[Finding, ...]]:
        """With compliances of the robot file and how well they are known, where its model has none; else as it is."""
        from elastocal.calibration.posterior import under_load

        return under_load(self)

    @property
    def doubts(self) -> tuple[Finding, ...]:
        """Warnings that whoever uses the calibration must know; outliers that were left out speak against nothing."""
        return tuple(w for w in self.warnings if w.severity == "warning" and w.code != "outliers")

    @property
    def placed(self) -> bool:
        """Whether readings told where instrument and markers are; deflections alone do not."""
        return bool(np.any(self.placing.turn != np.eye(3)) or np.any(self.placing.shift))

    @cached_property
    def values(self) -> Array:
        """Of the parameters ``names``."""
        index = self.robot.parameters.index
        return np.array([self.robot.parameters.values[index(n)] for n in self.names])

    def validate(self, campaign: Campaign, *, refit: bool = False) -> Validation:
        """Against other readings of positions; stations that the calibration has not seen are fitted to them.

        ``refit`` fits all stations: the instrument has been moved since, or its frame was set anew.
        """
        from elastocal.calibration.validation import validate

        return validate(self, campaign, refit=refit)

    @checked()
    def report(
        self,
        path: str | PathLike[str],
        validation: Validation | None = None,
        *,
        tolerance: float | None = None,
        standalone: bool = False,
        **stated: object,
    ) -> Path:
        """Write an HTML page (.html) that opens offline; its first page is the certificate, alone also a PDF.

        ``tolerance`` in the length unit of the campaign and ``stated`` are as of ``certificate``.
        """
        from elastocal.calibration.page import write_report

        return write_report(self, path, validation, self._stated(tolerance, stated), standalone=standalone)

    @checked()
    def certificate(
        self,
        path: str | PathLike[str],
        validation: Validation | None = None,
        *,
        tolerance: float | None = None,
        **stated: object,
    ) -> Path:
        """Write the certificate alone: .pdf (PDF/A-3b with the result attached; extra ``pdf``), .html or .json.

        ``tolerance`` is in the length unit of the campaign; ``stated`` are fields of
        ``elastocal.files.cell.Stated``: operator, date, instrument_serial, ...
        """
        from elastocal.calibration.page import write_certificate

        return write_certificate(self, path, validation, self._stated(tolerance, stated))

    def _stated(self, tolerance: float | None, stated: Mapping[str, object]) -> Stated:
        from elastocal.files.cell import stated_of

        size = 1e-3 if self.length == "mm" else 1.0
        return stated_of({**stated, "tolerance": None if tolerance is None else size * tolerance})

    @property
    def plot(self) -> Plots:
        """Figures: ``plot.errors()``, ``plot.residuals()``, ``plot.agreement()``."""
        from elastocal.calibration.page import Plots

        return Plots(self)

    def registered(self, flange: str) -> tuple[Robot, tuple[str, ...], Array]:
        """Robot, names and covariance for a base and a tool as they were measured: see ``posterior``."""
        from elastocal.calibration.posterior import registered

        return registered(self, flange)

    @checked()
    def save(self, path: str | PathLike[str]) -> Path:
        """Write everything that predictions need to one JSON file; ``read_calibration`` reads it."""
        from elastocal.calibration.store import save_calibration

        return save_calibration(self, path)

    def _joints(self, q: object, length: str | None, angle: str | None) -> tuple[Array, tuple[Finding, ...]]:
        """Joint values, and whether their units are in doubt."""
        raw = pose_table(q, self.robot)
        joints = controller_to_joints(self.robot, raw, length or self.length, angle or self.angle)
        doubts = [
            *(unit_doubt(self, raw, "angle") if angle is None else ()),
            *(unit_doubt(self, raw, "length") if length is None else ()),
        ]
        return joints, tuple(doubts)

    def _station(self, name: str | None) -> int:
        if name is None:
            return 0
        if name not in self.stations:
            raise UnknownNameError("station", name, self.stations)
        return self.stations.index(name)

    def __repr__(self) -> str:
        words = " + ".join(self.words) or "nominal"
        lines = [
            f"<Calibration of {self.robot.name}: {words}; joint values in {self.angle} and {self.length}",
            f"  {self.verdict.text}",
            f"  leave-one-out: {self.leave_one_out.text()}; nominal: {self.before.text()}",
            f"  {self.parameters!r}".replace("<", "").replace(">", ""),
        ]
        if self.outliers:
            lines.append(f"  outliers left out: {len(self.outliers)}; with them: {self.leave_one_out_all.text()}")
        lines += [f"  {w.severity} {w.code}: {w.text}" for w in self.warnings]
        return shortened(lines) + ">"

    def _repr_html_(self) -> str:
        return as_html(self)

    @property
    def evidence(self) -> float:
        """Log marginal likelihood of the chosen model."""
        return self.ladder.chosen.evidence
