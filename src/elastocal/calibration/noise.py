"""The noise of readings as parts with scales: what is stated is a prior of its size, what is not is found by evidence.

Markers of one pose are not independent: they share what the joints do.  Two families are tried.  In ``joints`` the
noise of a pose is that of its points plus scatter of every joint and a common shift; in ``points`` the errors of the
points of a pose count as one (their likelihood is divided by the number of points).

Compliances are no constants: gears stiffen, and have hysteresis.  In ``joints`` the deflection by every joint, link and
foundation differs from state to state by a random share of itself (``SHARE``); where the model is
right the evidence finds none.  No number of readings makes it smaller, so it is part of the covariance of the
compliances (``Fit.covariance``), and of every prediction.

Where the torque of a joint does not tell on which side of its backlash it lies, it lies on either (``SIDE``).

A load that is not quite what was written down moves all compliant parts together; where its errors are stated and drawn
anew for every reading, they are parts of the noise too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from elastocal.calibration.placing import Placing
from elastocal.errors import ShapeError, UnsupportedError
from elastocal.measure.markers import Deflection
from elastocal.measure.setup import Setup
from elastocal.measure.sources.arm import Encoder, Repeatability
from elastocal.measure.sources.instrument import Reading, Tracker
from elastocal.measure.sources.load import LoadDirection, LoadSize
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.observation import Marker
from elastocal.results import Finding
from elastocal.solve.blocks import Noise, Scale
from elastocal.solve.evidence import Posterior, posterior
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.calibration.sight import Sight
    from elastocal.model.robot import Robot

Family = Literal["joints", "points"]
UNSTATED = Scale("points", 1e-4)
STATED = 1.0
"""Sd of the logarithm of a stated noise: a factor of 2.7 is within it."""
FACTOR, NATS = 3.0, 5.0
"""A stated noise that is off by this factor, with this evidence, is a conflict."""
TURNS = 1e-3
JOINTS = 3e-5
"""Start values of the noise of orientations and of joints in rad (or m)."""
SHARE = "share"
SIDE = "side of backlash"
REPEATS = "single reading"
"""What a reading scatters more than the mean of its repeats, which is what is fitted."""


@dataclass(frozen=True, eq=False)
class Instrument:
    """Noise of one reading: one ``sd`` in m for every coordinate, or that of a ``tracker``; None: not stated.

    ``axes`` (3,) is how many times ``sd`` it is along x, y and z of the readings, with a mean square of one.
    """

    sd: float | None = None
    tracker: Tracker | None = None
    turn_sd: float | None = None
    joint_sd: float | None = None
    slide_sd: float | None = None
    """How far revolute (rad) and prismatic (m) joints stop from their reading."""
    return_sd: float | None = None
    """How far the whole arm does, in m per axis."""
    loads: tuple[LoadSize | LoadDirection, ...] = ()
    """Errors of the load, new in every reading."""
    bent: Robot | None = None
    """The robot that they bend; the one that is fitted where None, with the compliances of its file."""
    axes: tuple[float, ...] | None = None

    @classmethod
    def of(cls, noise: float | ErrorSource | Sequence[ErrorSource] | None, readings: int = 1) -> Instrument:
        """What a campaign states of instrument, joints and returns; other sources are found by evidence.

        A number, as a source, is the noise of one reading; a deflection is the difference of two ``readings``.
        """
        if noise is None:
            return cls()
        if isinstance(noise, float):
            noise = Reading(sd=noise)
        known: dict[str, Any] = {}
        for source in (noise,) if isinstance(noise, ErrorSource) else noise:
            if isinstance(source, Tracker):
                known.setdefault("tracker", source)
            elif isinstance(source, Reading) and source.sd is not None and source.marker is None:
                known = _by_axes(source.sd, readings) | known
            elif isinstance(source, Encoder):
                known |= {"joint_sd": source.sd or None, "slide_sd": source.slide_sd or None}
            elif isinstance(source, Repeatability):
                known["return_sd"] = source.sd
            elif isinstance(source, LoadSize | LoadDirection) and not source.common:
                known["loads"] = (*known.get("loads", ()), source)
        if "tracker" in known:
            known.pop("sd", None), known.pop("axes", None)
        return cls(**known)

    @property
    def scatter_stated(self) -> bool:
        """Whether the user says how well the arm comes back, by its joints or as a whole."""
        return not (self.joint_sd is None and self.slide_sd is None and self.return_sd is None)

    def scale(self) -> Scale:
        if self.tracker is not None:
            return Scale("points", 1.0, STATED)
        return UNSTATED if self.sd is None else Scale("points", self.sd, STATED)

    def at_points(self, points: Array, readings: int) -> Instrument:
        """One number instead of the beam, where no positions are read: its mean square at ``points`` (N, 3)."""
        if self.tracker is None:
            return self
        square = np.nanmean(self.tracker.beams(points) ** 2) * 3
        return replace(self, sd=float(np.sqrt(readings * square)), tracker=None)

    def joint_scale(self, robot: Robot, number: int) -> Scale:
        """Of the scatter of a joint: stated, or like that of the others."""
        stated = self.joint_sd if robot.motions[number].kind == "revolute" else self.slide_sd
        name = f"noise {robot.joints[number]}"
        return Scale(name, JOINTS, 0.7, "joint noise") if stated is None else Scale(name, stated, STATED)

    def return_scale(self) -> Scale:
        return Scale("translation", JOINTS) if self.return_sd is None else Scale("translation", self.return_sd, STATED)

    def load_moves(self, sight: Sight, robot: Robot) -> dict[str, Array]:
        """Twists (M, 6, b) of the tool by errors of the load of size one, as far as repeats do not average them out."""
        s, bent = sight.states, self.bent or robot
        if not self.loads or not s.loaded.any():
            return {}
        known = self._moved.get("last")
        if known is None or known[0] is not bent or not all(map(np.array_equal, known[1:3], (s.q, s.wrench))):
            setup = Setup(s.q, AppliedWrenches(s.load_frame, s.wrench), (Marker(bent.tool, "pose"),))
            moves = [source.columns(Deflection(setup), bent) for source in self.loads]
            known = self._moved["last"] = bent, s.q, s.wrench, moves
        share = 1 / np.sqrt(s.members.counts)[:, None, None]
        return {source.label: share * move for source, move in zip(self.loads, known[3], strict=True)}

    @cached_property
    def _moved(self) -> dict[str, tuple[Robot, Array, Array, list[Array]]]:
        """Those of the last robot and states: one robot bends for all models of a ladder, whatever is left out."""
        return {}

    def factor(self, sight: Sight) -> Array:
        """(M, rows, lengths): independent noise of one scale, shaped by the beam of a tracker."""
        s, rows = sight.states, sight.lengths
        out = np.broadcast_to(np.eye(sight.rows)[:, rows], (s.count, sight.rows, int(rows.sum()))).copy()
        if self.axes is not None:
            for key, part in sight.sections.items():
                if key == "distance":
                    raise UnsupportedError(
                        "noise: a distance has no axes; state one sd of a reading", parameter="noise", value=self.axes
                    )
                if key != "orientation":
                    out[:, part] *= np.resize(self.axes, part.stop - part.start)[:, None]
        if self.tracker is None:
            return out
        if s.position is None:
            raise UnsupportedError("noise of a tracker needs positions; state one number for deflections and distances")
        part = sight.sections["position"]
        beams = self.tracker.beams(s.position.reshape(-1, 3)).reshape(s.count, s.points, 3, 3)
        for j in range(s.points):
            own = slice(part.start + 3 * j, part.start + 3 * j + 3)
            out[:, own, own] = np.where(np.isfinite(beams[:, j]), beams[:, j], np.eye(3))
        return out


def _by_axes(stated: float | tuple[float, ...], readings: int) -> dict[str, Any]:
    """Fields of an instrument from the sd of one reading: one number, or one for each of x, y and z."""
    each = np.atleast_1d(np.asarray(stated, dtype=np.float64))
    if len(each) not in (1, 3):
        raise ShapeError(
            f"noise: sd of error source reading has {len(each)} numbers; give one, or one for each of x, y and z",
            parameter="noise", value=stated, allowed=(1, 3),
        )  # fmt: skip
    mean = float(np.sqrt(np.mean(each**2)))
    shape = None if len(each) == 1 else tuple((each / mean).tolist())
    return {"sd": float(np.sqrt(readings)) * mean, "axes": shape}


def noise_parts(
    sight: Sight,
    robot: Robot,
    placing: Placing,
    instrument: Instrument,
    family: Family,
    bent: Mapping[str, Array],
    loose: Array | None = None,
    loads: Mapping[str, Array] = MappingProxyType({}),
) -> tuple[tuple[Noise, ...], float]:
    """Parts of the noise of every block, and the power of the likelihood.

    ``bent``: what the compliant parts of the robot add to the readings (M, rows, c), by the name of their share;
    ``loose`` (M, rows, b): how far they may be off since the sides of backlash are not certain; ``loads`` (M, 6, b):
    twists of the tool by errors of the load.
    """
    parts = []
    if sight.lengths.any():
        parts.append(Noise(instrument.scale(), sight.spread(instrument.factor(sight))))
    if not sight.lengths.all():
        turns = np.broadcast_to(np.eye(sight.rows)[:, ~sight.lengths], (sight.states.count, sight.rows, 3))
        stated = instrument.turn_sd
        scale = Scale("orientation", TURNS) if stated is None else Scale("orientation", stated, STATED)
        parts.append(Noise(scale, sight.spread(turns)))
    if loose is not None:
        parts.append(Noise(Scale(SIDE, 1.0, 0.0), sight.spread(loose)))
    for source in instrument.loads if loads else ():
        moves = sight.tool_moves(robot, placing, loads[source.label])
        parts.append(Noise(Scale(source.label, source.sd, STATED), sight.spread(moves)))
    if family == "points":
        return tuple(parts), 1.0 / max(1, sight.states.points)
    parts += [Noise(Scale(name, 0.01, 1.0, SHARE), sight.spread(own)) for name, own in bent.items()]
    if sight.placed:
        moves = sight.joint_moves(robot, placing)
        if "deflection" in sight.sections:
            moves[:, sight.sections["deflection"]] = 0.0  # a joint that stops elsewhere does so in both of its states
        by_joints = sight.fold(moves)
        for i in range(robot.n):
            parts.append(Noise(instrument.joint_scale(robot, i), by_joints[:, :, i : i + 1]))
    if sight.states.points > 1 or instrument.return_sd is not None:
        returns = [sight.fold(_common(sight, "position"))] if "position" in sight.sections else []
        if "deflection" in sight.sections:  # the difference of two returns, new in every state
            returns.append(np.sqrt(2) * sight.spread(_common(sight, "deflection")))
        if returns:
            parts.append(Noise(instrument.return_scale(), np.concatenate(returns, axis=2)))
    return tuple(parts), 1.0


def _common(sight: Sight, section: str) -> Array:
    """Shifts (M, rows, 3) of all points of a state together."""
    out = np.zeros((sight.states.count, sight.rows, 3))
    out[:, sight.sections[section]] = np.tile(np.eye(3), (sight.states.points, 1))
    return out


def prior_conflicts(post: Posterior) -> tuple[Finding, ...]:
    """Stated noises that the readings speak against: off by a factor of three, with evidence of 5 nats or more.

    Points that scatter more than stated may also be a lack of fit: ``judgement`` names both.
    """
    out, first = [], len(post.blocks.groups)
    for i, part in enumerate(post.blocks.noise, first):
        ratio = float(np.exp(post.log_scales[i])) / part.scale.start
        if part.scale.width != STATED or part.scale.pool or 1 / FACTOR < ratio < FACTOR:
            continue
        if part.scale.name == "points" and ratio > 1:
            continue
        stated = post.log_scales.copy()
        stated[i] = np.log(part.scale.start)
        nats = post.evidence - posterior(post.blocks, stated).evidence
        if nats > NATS:
            out.append(conflict(part.scale.name.removeprefix("noise "), part.scale.start, ratio, nats=nats))
    return tuple(out)


def conflict(what: str, stated: float, ratio: float, **data: Any) -> Finding:
    """A stated noise that is so many times too small, or too large."""
    text = f"the stated noise of {what} is {1 / ratio:.2g} times what the readings show; they are believed"
    return Finding("prior-conflict", "warning", text, {"what": what, "stated": stated, "ratio": ratio, **data})


def points_sd(noise: dict[str, float], instrument: Instrument, points: Array, turn: Array | None = None) -> Array:
    """Sd (N, m, 3) of one reading of points (N, m, 3) by the instrument alone, with its fitted scale.

    ``turn`` (3, 3) from the axes of the result to those of the instrument: its own where None.
    """
    scale = noise.get("points", 0.0)
    if instrument.tracker is not None:
        beams = instrument.tracker.beams(points.reshape(-1, 3)).reshape(*points.shape, 3)
    elif instrument.axes is not None:
        beams = np.broadcast_to(np.diag(instrument.axes), (*points.shape, 3))
    else:
        return np.full(points.shape, scale)
    beams = beams if turn is None else turn.T @ beams
    return np.asarray(scale * np.sqrt(np.sum(beams**2, axis=3)))
