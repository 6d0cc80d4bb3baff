"""What a calibrated robot lets expect at any pose, and how well that is known.

    mean      f(theta),   variance  J H^-1 J^T + d^2          ``half_width``: 95 % interval of the mean
    reading   the same,   variance  that + noise of a pose     ``half_width_reading``

with Student's quantile where the noise is estimated.  d is the model's discrepancy: what residuals show beyond the
noise that repeats (or the user) vouch for; no number of readings makes it smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from elastocal.calibration.noise import REPEATS, points_sd
from elastocal.calibration.placing import placed
from elastocal.calibration.sight import placing_slopes, point_slopes
from elastocal.calibration.tool import ToolStates, tool_of
from elastocal.model.kinematics import kinematics
from elastocal.quantities import quantile_95
from elastocal.results import Finding, as_frame, as_html
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.calibration.calibration import Calibration

CHUNK = 1000
"""Poses that are predicted at once: each takes some ten kB for its slopes by all unknowns."""
TOLD = 1.0
"""m: a coordinate that is less certain was not told by the readings."""


@dataclass(frozen=True)
class Deflected:
    """How far a marker moves at a pose, and the half width of its 95 % interval, in m."""

    pose: int
    marker: str
    size: float
    half_width: float


@dataclass(frozen=True, eq=False, repr=False)
class Prediction:
    """Positions (N, markers, 3) in m in the frame of the readings, and half widths of 95 % intervals of the same shape.

    ``distance`` (N, markers) in m from the fixed point, with half widths, where the campaign read distances, else nan.
    ``orientation`` (N, 3, 3) of the tool as it is read; ``deflection`` (N, markers, 3) in base axes, of the load alone,
    with half widths of its mean and of a reading of it; nan where no wrench was given.  ``placed`` is False of a
    calibration by deflections alone: its positions are nominal, in base axes.
    """

    position: Array
    half_width: Array
    half_width_reading: Array
    orientation: Array
    deflection: Array
    deflection_half_width: Array
    deflection_half_width_reading: Array
    distance: Array
    distance_half_width: Array
    distance_half_width_reading: Array
    markers: tuple[str, ...]
    placed: bool = True
    warnings: tuple[Finding, ...] = ()

    @cached_property
    def loaded(self) -> bool:
        """Whether a load was given."""
        return bool(np.isfinite(self.deflection).any())

    @property
    def ranged(self) -> bool:
        """Whether distances are predicted."""
        return bool(np.isfinite(self.distance).any())

    @property
    def located(self) -> bool:
        """Whether positions were told by the readings: distances alone leave open how all turns about their point."""
        return self.placed and not (self.ranged and float(np.nanmedian(self.half_width)) > TOLD)

    def known_to(self, markers: Sequence[int], *, ranges: bool = False) -> tuple[float, float]:
        """Largest distance in m by which the mean, and a reading, may be off (95 %) at these; nan if unknown.

        Of positions, or of ``ranges``: distances from the fixed point."""
        widths = (self.half_width, self.half_width_reading)
        if ranges:
            widths = (self.distance_half_width[:, :, None], self.distance_half_width_reading[:, :, None])
        mean, reading = (np.linalg.norm(w[:, list(markers)], axis=2) for w in widths)
        if not np.isfinite(mean).any():
            return float("nan"), float("nan")
        return float(np.nanmax(mean)), float(np.nanmax(reading))

    def largest_deflection(self, markers: Sequence[int]) -> Deflected | None:
        """Among these markers; None where nothing bends."""
        own = list(markers)
        size = np.linalg.norm(self.deflection[:, own], axis=2)
        if not np.nanmax(size, initial=0.0) > 0:
            return None
        pose, at = np.unravel_index(int(np.nanargmax(size)), size.shape)
        width = float(np.linalg.norm(self.deflection_half_width[:, own][pose, at]))
        return Deflected(int(pose), self.markers[own[at]], float(size[pose, at]), width)

    def __repr__(self) -> str:
        n, m = self.position.shape[:2]
        width = 1e3 * float(np.nanmedian(self.half_width))
        ranged = f", {1e3 * float(np.nanmedian(self.distance_half_width)):.3g} mm of distances" if self.ranged else ""
        known = f"half width {width:.3g} mm of the mean{ranged} (95 %, median)"
        head = f"<Prediction of {n} pose{'s' * (n != 1)}, {m} marker{'s' * (m > 1)}: {known}"
        return "\n".join([head, *(f"  warning {w.code}: {w.text}" for w in self.warnings)]) + ">"

    def to_frame(self) -> object:
        """One row for every pose and marker; a pandas DataFrame where pandas is installed, else a list of dicts."""
        rows = [
            {"pose": i, "marker": name}
            | {f"{a}_mm": 1e3 * self.position[i, j, k] for k, a in enumerate("xyz")}
            | {f"half_width_{a}_mm": 1e3 * self.half_width[i, j, k] for k, a in enumerate("xyz")}
            | {f"half_width_reading_{a}_mm": 1e3 * self.half_width_reading[i, j, k] for k, a in enumerate("xyz")}
            | ({f"d{a}_mm": 1e3 * self.deflection[i, j, k] for k, a in enumerate("xyz")} if self.loaded else {})
            | (self._distance_row(i, j) if self.ranged else {})
            for i in range(len(self.position))
            for j, name in enumerate(self.markers)
        ]
        return as_frame(rows)

    def _distance_row(self, pose: int, marker: int) -> dict[str, float]:
        parts = {
            "distance_mm": self.distance,
            "half_width_distance_mm": self.distance_half_width,
            "half_width_reading_distance_mm": self.distance_half_width_reading,
        }
        return {key: 1e3 * float(part[pose, marker]) for key, part in parts.items()}

    def _repr_html_(self) -> str:
        return as_html(self)


def undetermined(prediction: Prediction) -> tuple[Finding, ...]:
    """Poses without a position: the load is more than the arm bears, or backlash has no side there."""
    poses = np.flatnonzero(np.isnan(prediction.position).any(axis=(1, 2))).tolist()
    if not poses:
        return ()
    text = (
        f"{len(poses)} of {len(prediction.position)} poses have no position: no stable equilibrium was found there, or "
        f"a joint with backlash carries no force (pose {', '.join(map(str, poses[:5]))}{' ...' * (len(poses) > 5)})"
    )
    return (Finding("undetermined", "warning", text, {"poses": poses}),)


def predicted(
    c: Calibration,
    joints: Array,
    loads: Array | None,
    station: int,
    load_frame: str,
    warm: Array | None,
    *,
    follows: bool,
    base: bool,
) -> Prediction:
    """At joint values (N, n), as a station sees it or, with ``base``, in base axes; some poses at a time."""
    whole: dict[str, Any] = {}
    for first in range(0, max(1, len(joints)), CHUNK):
        some = slice(first, first + CHUNK)
        load, above = (None if given is None else given[some] for given in (loads, warm))
        tool = tool_of(c.robot, c.names, joints[some], load, load_frame, above, follows=follows)
        at, rest = (tool.states(c.values), None) if load is None else tool.both(c.values)
        part = _predicted(c, joints[some], at, rest, station, base=base)
        whole = whole or {key: np.empty((len(joints), *values.shape[1:])) for key, values in part.items()}
        for key, values in part.items():
            whole[key][some] = values
    return Prediction(**whole, markers=c.markers, placed=c.placed)


def _predicted(
    c: Calibration, joints: Array, at: ToolStates, rest: ToolStates | None, station: int, *, base: bool
) -> dict[str, Array]:
    """The arrays of a prediction: the tool is ``at`` these states, without its load at ``rest``."""
    where = np.full(len(joints), station)
    points = placed(c.placing, at.origin, at.turn, where)
    slope = _slopes(c, at, where)
    frame = c.placing.turn[station]
    distance = _distances(c, joints, points, slope, station, at, rest)
    if base:  # the same points, seen along the axes of the base as it was registered
        slope = _turned_rows(frame.T, slope)
    spread = np.einsum("nrp,nrp->nr", slope @ c.covariance, slope).reshape(points.shape)
    noise = _noise_variance(c, joints, points, station, base=base)
    spread = spread + _loose_variance(c, joints, np.eye(3) if base else frame, at)
    k = c.inflation * quantile_95(c.freedom)
    moved, moved_spread = _moved_by_load(c, at, rest)
    moved_noise = np.zeros_like(moved)
    if rest is not None:
        # a deflection is the difference of two readings, in base axes
        moved_noise = (2.0 if c.placed else 1.0) * _noise_variance(c, joints, points, station, base=True)
        moved_noise += _load_variance(c, moved)
        moved_spread = moved_spread + _loose_variance(c, joints, np.eye(3), at, rest)
        noise = noise + _load_variance(c, moved if base else moved @ frame.T)
    if base:
        points = (points - c.placing.shift[station]) @ frame
        frame = np.eye(3)
    return {
        "position": points,
        "half_width": k * np.sqrt(spread + c.discrepancy**2),
        "half_width_reading": k * np.sqrt(spread + noise),
        "orientation": frame @ at.turn @ c.placing.tool_turn,
        "deflection": moved,
        "deflection_half_width": k * np.sqrt(moved_spread + c.discrepancy**2),
        "deflection_half_width_reading": k * np.sqrt(moved_spread + moved_noise),
        "distance": distance[0],
        "distance_half_width": distance[1],
        "distance_half_width_reading": distance[2],
    }


def _distances(
    c: Calibration, q: Array, points: Array, slope: Array, station: int, at: ToolStates, rest: ToolStates | None
) -> tuple[Array, Array, Array]:
    """Distances (N, markers) of points from where the station stands, and half widths; nan where none were read.

    Along the beam alone: what turns all points about the fixed point, distances do not tell, and need not."""
    if c.seen.distance is None:
        unread = np.full(points.shape[:2], np.nan)
        return unread, unread, unread
    beam, along = _along_beam(points, slope)
    spread = np.einsum("nmp,nmp->nm", along @ c.covariance, along)
    spread = spread + _loose_variance(c, q, c.placing.turn[station], at, beam=beam)
    noise = _noise_variance(c, q, points, station, beam=beam)
    if rest is not None:
        moved = _moved_by_load(c, at, rest)[0] @ c.placing.turn[station].T
        noise = noise + np.sum(beam**2 * _load_variance(c, moved), axis=2)
    k = c.inflation * quantile_95(c.freedom)
    size = np.linalg.norm(points, axis=2)
    return size, k * np.sqrt(spread + c.discrepancy**2), k * np.sqrt(spread + noise)


def _along_beam(points: Array, slope: Array) -> tuple[Array, Array]:
    """Directions (N, markers, 3) to points from the origin, and slopes (N, markers, p) of their distances."""
    beam = points / np.linalg.norm(points, axis=2, keepdims=True)
    return beam, np.asarray(np.einsum("nmi,nmip->nmp", beam, slope.reshape(*points.shape, -1)))


def slopes_and_noise(c: Calibration, joints: Array, loads: Array | None) -> tuple[Array, Array]:
    """Slopes (N, 3 markers, p) of predicted points by all unknowns, and variances (N, markers, 3) of a reading.

    Of distances alone those along the beam: (N, markers, p) and (N, markers, 1)."""
    warm = np.zeros(len(joints)) if "thermal" in c.words else None
    at, rest = tool_of(c.robot, c.names, joints, loads, c.load_frame, warm).both(c.values)
    station = np.zeros(len(joints), dtype=np.int64)
    points = placed(c.placing, at.origin, at.turn, station)
    moved, _ = _moved_by_load(c, at, rest)
    by_load, slope = _load_variance(c, moved @ c.placing.turn[0].T), _slopes(c, at, station)
    if not c.seen.distances_alone:
        return slope, _noise_variance(c, joints, points, 0) + by_load
    beam, along = _along_beam(points, slope)
    noise = _noise_variance(c, joints, points, 0, beam=beam) + np.sum(beam**2 * by_load, axis=2)
    return along, noise[:, :, None]


def _slopes(c: Calibration, states: ToolStates, station: Ints) -> Array:
    """(N, 3 m, p + extra) of predicted points."""
    frame = c.placing.turn[station]
    arms = np.einsum("nij,mj->nmi", states.turn, c.placing.markers)
    points = placed(c.placing, states.origin, states.turn, station)
    by_robot = point_slopes(states.slope, arms, frame).reshape(len(states.origin), 3 * len(c.markers), -1)
    by_placing = placing_slopes(c.placing, points, frame @ states.turn, station)
    return np.concatenate([by_robot, by_placing], axis=2)


def _moved_by_load(c: Calibration, loaded: ToolStates, rest: ToolStates | None) -> tuple[Array, Array]:
    """Deflection (N, markers, 3) in base axes and its variance; nan without a load."""
    if rest is None:
        nothing = np.full((len(loaded.origin), len(c.markers), 3), np.nan)
        return nothing, nothing
    arms, before = (np.einsum("nij,mj->nmi", s.turn, c.placing.markers) for s in (loaded, rest))
    moved = (loaded.origin - rest.origin)[:, None] + arms - before
    slope = point_slopes(loaded.slope, arms) - point_slopes(rest.slope, before)
    own, first = len(c.names), len(c.names) + 6 * len(c.stations)
    spread = np.einsum("nmip,nmip->nmi", slope @ c.covariance[:own, :own], slope)
    turned = loaded.turn - rest.turn
    for j in range(len(c.markers)):
        marker = slice(first + 3 * j, first + 3 * j + 3)
        crossed = np.einsum("nip,pq,niq->ni", slope[:, j], c.covariance[:own, marker], turned)
        spread[:, j] += 2 * crossed + np.einsum("nip,pq,niq->ni", turned, c.covariance[marker, marker], turned)
    return moved, np.maximum(spread, 0.0)


def _noise_variance(
    c: Calibration, q: Array, points: Array, station: int, *, base: bool = False, beam: Array | None = None
) -> Array:
    """Variance (N, markers, 3) of one new reading about its mean, in the axes of the station or of the base.

    ``points`` are as the station sees them: a beam begins where the instrument stands.  Along ``beam`` (N, markers, 3)
    it is that of a distance (N, markers).
    """
    turn = c.placing.turn[station]
    out = (
        points_sd(dict(c.noise), c.instrument, points, turn if base else None) ** 2
        + (1.0 if c.placed else 2.0) * c.noise.get("translation", 0.0) ** 2  # of deflections the others are
        + c.noise.get(REPEATS, 0.0) ** 2
    )
    out = out if beam is None else np.sum(beam**2 * out, axis=2)
    joints = np.array([c.noise.get(f"noise {j}", 0.0) for j in c.robot.joints])
    return np.asarray(out + _joint_variance(c, q, np.eye(3) if base else turn, joints**2, beam))


def _load_variance(c: Calibration, moved: Array) -> Array:
    """Variance of a reading by errors of the load that moves points by ``moved`` (N, markers, 3).

    Of a tilt of the load only the size counts: where it goes the compliance of the arm decides.
    """
    size, tilt = c.noise.get("load size", 0.0), c.noise.get("load direction", 0.0)
    return np.asarray((size * moved) ** 2 + 2 / 3 * tilt**2 * np.sum(moved**2, axis=2, keepdims=True))


def _loose_variance(
    c: Calibration, q: Array, turn: Array, *states: ToolStates, beam: Array | None = None
) -> Array | float:
    """The same by joints that may lie on either side of their backlash, in all these states of ``q``."""
    loose = [np.square(s.loose) for s in states if s.loose is not None]
    return _joint_variance(c, q, turn, np.nan_to_num(np.sum(loose, axis=0)), beam) if loose else 0.0


def _joint_variance(c: Calibration, q: Array, turn: Array, variance: Array, beam: Array | None = None) -> Array | float:
    """Variance (N, markers, 3) of points, in axes turned by ``turn``, by that of joints (n,) or (N, n); (N, markers)
    along ``beam``."""
    if not np.any(variance):
        return 0.0
    at = kinematics(c.nominal, q)
    arms = np.einsum("nij,mj->nmi", at.rotation, c.placing.markers)
    moves = point_slopes(at.jacobian, arms, np.broadcast_to(turn, at.rotation.shape))
    each = np.broadcast_to(variance, q.shape)
    if beam is not None:
        return np.asarray(np.einsum("nmj,nj->nm", np.einsum("nmi,nmij->nmj", beam, moves) ** 2, each))
    return np.asarray(np.einsum("nmij,nj->nmi", moves**2, each))


def _turned_rows(turn: Array, slope: Array) -> Array:
    """Slopes (N, 3 m, p) of points along other axes."""
    each = slope.reshape(len(slope), -1, 3, slope.shape[2])
    return np.asarray(np.einsum("ij,nmjp->nmip", turn, each).reshape(slope.shape))
