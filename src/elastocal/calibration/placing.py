"""Where the instrument stands and where the markers sit, exact on SE(3), with a robust start from nothing; and a frame
that stands elsewhere than the robot file says, a length read from the wrong line of a data sheet, say.

    x_ij = T_s (o_i + R_i m_j)          T_s: station s from base axes to its own, m_j: marker j in the tool's frame

A frame that is d from its place in its parent takes everything behind it along, without a turn:

    o(q, d) = o(q) + R_parent(q) d,

so one least-squares step finds d with the placing of instrument and markers, which is then taken anew.
"""

from __future__ import annotations

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.errors import MissingError
from elastocal.model.frames import BASE, Frame
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.spatial.rotation import nearest_rotation, rotations
from elastocal.values import dataclass

KEPT = 0.6
"""Share of the points of every marker that the robust start believes."""
FAR = 20.0
"""Times the span of the tool's own way (or the typical distance) beyond which a point is no point of this robot."""
STARTS = 0.15
"""Distance in m of the markers' start values from the tool's origin."""
LEAST_PLACED = 4
"""Poses that any calibration by positions needs."""


def least_poses(stations: int, markers: int) -> int:
    """Poses whose positions, all markers read, are more numbers than instrument and markers have unknowns."""
    return max(LEAST_PLACED, (6 * stations + 3 * markers) // (3 * markers) + 1)


@dataclass(frozen=True, eq=False)
class Placing:
    """``turn`` (S, 3, 3) and ``shift`` (S, 3) of stations, ``markers`` (m, 3), ``tool_turn`` (3, 3) of orientations."""

    turn: Array
    shift: Array
    markers: Array
    tool_turn: Array
    centres: Array
    """Points (S, 3) in the stations' axes that small turns are about."""

    @classmethod
    def none(cls, centres: Array, markers: int) -> Placing:
        """Stations in base axes, markers in the tool's origin."""
        s = len(centres)
        return cls(np.tile(np.eye(3), (s, 1, 1)), np.zeros((s, 3)), np.zeros((markers, 3)), np.eye(3), centres)

    def moved(self, change: Array) -> Placing:
        """After a step: six for every station (shift, turn about its centre), three for every marker, three turns; or
        none, where they are known."""
        if not len(change):
            return self
        s, m = len(self.turn), len(self.markers)
        steps = change[: 6 * s].reshape(s, 6)
        spin = np.moveaxis(rotations(np.ascontiguousarray(steps[:, 3:].T)), -1, 0)
        shift = np.einsum("sij,sj->si", spin, self.shift - self.centres) + self.centres + steps[:, :3]
        turn = spin @ self.turn
        markers = self.markers + change[6 * s : 6 * s + 3 * m].reshape(m, 3)
        last = rotations(change[6 * s + 3 * m :].reshape(3, 1))[:, :, 0]
        return Placing(nearest_rotation(turn), shift, markers, nearest_rotation(self.tool_turn @ last), self.centres)


def robust_start(
    origin: Array, turn: Array, station: Ints, centres: Array, points: Array, *, quick: bool = False
) -> Placing:
    """Stations and markers from points read (M, m, 3) and poses of the nominal robot (M, 3), (M, 3, 3).

    Kabsch's fit and means of the markers in turn, on the best 60 % of the points of every marker, from seven starts of
    the markers; the one with the least median distance is taken.  ``quick`` tries one start and few turns.
    """
    m = points.shape[1]
    points, _ = within_reach(origin, station, points)
    if not np.isfinite(points).all(axis=2).any():
        raise MissingError("no marker was read in all three coordinates; without that the instrument cannot be placed")
    starts = np.concatenate([np.zeros((1, 3)), STARTS * np.eye(3), -STARTS * np.eye(3)])
    markers = np.repeat(starts[: 1 if quick else None, None], m, axis=1)
    placings, sizes = _alternate(markers, origin, turn, station, centres, points, 25 if quick else 200)
    best = 0
    for k in range(1, len(sizes)):
        best = k if sizes[k] < sizes[best] * (1 - 1e-9) else best
    return placings[best]


def within_reach(origin: Array, station: Ints, points: Array) -> tuple[Array, Array]:
    """Points with nan for those that are so far from the others of their station that no arm reaches them.

    And how many times the span of the tool's own way every point (M, m) is away from their median.
    """
    middle = np.full((int(station.max()) + 1, 3), np.nan)
    for s in range(len(middle)):
        mine = points[station == s].reshape(-1, 3)
        mine = mine[np.isfinite(mine).all(axis=1)]
        if len(mine):
            middle[s] = np.median(mine, axis=0)
    away = np.linalg.norm(points - middle[station][:, None], axis=2)
    span = float(np.linalg.norm(origin - np.median(origin, axis=0), axis=1).max())
    typical = np.median(away[np.isfinite(away)]) if np.isfinite(away).any() else 0.0
    times = away / max(span, float(typical), 1e-9)
    return np.where((times > FAR)[:, :, None], np.nan, points), times


def placed_distances(campaign: Campaign, origin: Array, turn: Array, *, quick: bool = False) -> Array:
    """Distances (N, m) in m of the points of a campaign from poses of the nominal robot (N, 3), (N, 3, 3), best placed;
    nan where not all three coordinates were read."""
    station, centres = campaign.station_index, np.zeros((len(campaign.stations), 3))
    placing = robust_start(origin, turn, station, centres, campaign.position, quick=quick)
    return np.asarray(np.linalg.norm(campaign.position - placed(placing, origin, turn, station), axis=2))


def affine_misfit(origin: Array, turn: Array, station: Ints, points: Array) -> float:
    """Median distance in m of points (M, m, 3) from an affine placing, one linear least squares and so quick.

    o_i = B_s x_ij + c_s - R_i m_j, with any matrix B_s for the inverse turn of the station.
    """
    pose, marker = np.nonzero(np.all(np.isfinite(points), axis=2))
    stations, m = int(station.max()) + 1, points.shape[1]
    columns = np.zeros((len(pose), 3, 12 * stations + 3 * m))
    read = np.concatenate([points[pose, marker], np.ones((len(pose), 1))], axis=1)
    rows = np.arange(len(pose))
    for axis in range(3):
        for k in range(4):
            columns[rows, axis, 12 * station[pose] + 4 * axis + k] = read[:, k]
        for k in range(3):
            columns[rows, axis, 12 * stations + 3 * marker + k] = -turn[pose, axis, k]
    a, y = columns.reshape(3 * len(pose), -1), origin[pose].reshape(-1)
    left = y - a @ np.linalg.lstsq(a, y, rcond=1e-9)[0]
    return float(np.median(np.linalg.norm(left.reshape(-1, 3), axis=1)))


def _alternate(
    markers: Array, origin: Array, turn: Array, station: Ints, centres: Array, points: Array, turns: int
) -> tuple[list[Placing], Array]:
    """Placings from several starts of the markers (k, m, 3), all at once, and median distances in m of each."""
    known: Bools = np.all(np.isfinite(points), axis=2)
    read, back, count = np.where(known[:, :, None], points, 0.0), turn.transpose(0, 2, 1), len(markers)
    spin, shift = np.tile(np.eye(3), (count, len(centres), 1, 1)), np.zeros((count, len(centres), 3))
    keep, size = np.tile(known, (count, 1, 1)), np.full(count, np.inf)
    local = origin[:, None] + markers[:, None] @ back
    ends = list[tuple[Placing, float] | None]([None] * count)
    for step in range(turns):
        used = keep.astype(float)
        spin, shift = _stations_fitted(spin, shift, local, station, read, used)
        markers = _markers_fitted(markers, spin, shift, origin, turn, station, read, used)
        local = origin[:, None] + markers[:, None] @ back
        miss = local @ spin.transpose(0, 1, 3, 2)[:, station] + (shift[:, station, None] - read)
        away = np.where(known, np.sqrt(np.einsum("knmi,knmi->knm", miss, miss)), np.nan)
        if step >= 3:
            keep = believed(away)
        last, size = size, np.sqrt(np.where(keep, away**2, 0.0).sum(axis=(1, 2)) / keep.sum(axis=(1, 2)))
        if step > 8 or step == turns - 1:
            settled = (np.abs(size - last) < 1e-7 * (size + 1e-9)) | (step == turns - 1)
            for k in (k for k in np.flatnonzero(settled) if ends[k] is None):
                placing = Placing(spin[k], shift[k], markers[k], np.eye(3), centres)
                ends[k] = placing, float(np.median(away[k][known]))
            if None not in ends:
                break
    done = [end for end in ends if end is not None]
    return [placing for placing, _ in done], np.array([miss for _, miss in done])


def believed(away: Array) -> Bools:
    """The nearest 60 % of the points of every marker, by distances (..., M, m), nan where not read."""
    ordered = np.sort(away, axis=-2)  # nan last
    last = np.ceil(KEPT * (np.isfinite(away).sum(axis=-2) - 1)).astype(int)
    return np.asarray(away <= np.take_along_axis(ordered, np.maximum(last, 0)[..., None, :], axis=-2))


def placed(placing: Placing, origin: Array, turn: Array, station: Ints) -> Array:
    """Points (M, m, 3) in the axes of their stations."""
    turned = np.einsum("nij,nmj->nmi", placing.turn[station], tool_points(origin, turn, placing.markers))
    return np.asarray(turned + placing.shift[station][:, None])


def tool_points(origin: Array, turn: Array, markers: Array) -> Array:
    """Points (M, m, 3) in base axes of markers on a tool at these poses."""
    return np.asarray(origin[:, None] + np.einsum("nij,mj->nmi", turn, markers))


def _stations_fitted(
    spin: Array, shift: Array, local: Array, station: Ints, read: Array, used: Array
) -> tuple[Array, Array]:
    """Kabsch's fit of points (k, M, m, 3) in base axes to what was read, with weights 0 or 1 (k, M, m)."""
    spins, shifts = spin.copy(), shift.copy()
    for s in range(spin.shape[1]):
        mine = station == s
        weight, a = used[:, mine].reshape(len(spin), 1, -1), local[:, mine].reshape(len(spin), -1, 3)
        b, many = read[mine].reshape(-1, 3), weight.sum(axis=2)
        ca, cb = ((weight @ x)[:, 0] / np.maximum(many, 1) for x in (a, b))
        fitted = nearest_rotation((b - cb[:, None]).transpose(0, 2, 1) * weight @ (a - ca[:, None]))
        enough = many[:, 0] >= 3
        spins[enough, s] = fitted[enough]
        shifts[enough, s] = cb[enough] - (fitted @ ca[:, :, None])[enough, :, 0]
    return spins, shifts


def _markers_fitted(
    markers: Array, spin: Array, shift: Array, origin: Array, turn: Array, station: Ints, read: Array, used: Array
) -> Array:
    """Means of what was read, in the tool's frame; a marker of which nothing is used stays."""
    base = (read - shift[:, station, None]) @ spin[:, station]
    local = (base - origin[:, None]) @ turn
    many = used.sum(axis=1)[:, :, None]
    mean = (used[..., None] * local).sum(axis=1) / np.maximum(many, 1)
    return np.where(many > 0, mean, markers)


STEPS = 4
"""Of the search for d: the second one finds what the first placing had taken for its own."""
ALIKE = 1.5
"""Frames whose shifts leave no more than this times the least explain the points alike, such as two in line."""


@dataclass(frozen=True)
class Misplaced:
    """``frame`` stands ``shift`` (x, y, z in m, axes of its parent) from its place; ``distance`` is what is left."""

    frame: str
    shift: tuple[float, float, float]
    distance: float

    @property
    def text(self) -> str:
        moved = ", ".join(f"{1e3 * v + 0.0:.1f}" for v in self.shift)
        return f"frame {self.frame} stands [{moved}] mm from its place in the robot file"


def misplaced_frame(robot: Robot, campaign: Campaign) -> Misplaced | None:
    """The frame whose shift brings the points nearest; of those alike the one farthest from its parent.

    Only between the first and the last joint: elsewhere instrument or markers take the shift.
    """
    path = robot.tree.path(robot.tool)
    moving = [i for i, frame in enumerate(path) if frame.joint is not None]
    tried = [(frame, _shifted(robot, campaign, frame)) for frame in path[moving[0] + 1 : moving[-1] + 1]]
    least = min((shifted.distance for _, shifted in tried), default=np.inf)
    alike = [t for t in tried if t[1].distance <= ALIKE * least]
    return max(alike, key=lambda t: float(np.linalg.norm(t[0].pose.translation)), default=(None, None))[1]


def _shifted(robot: Robot, campaign: Campaign, frame: Frame) -> Misplaced:
    assert campaign.position is not None
    q, station, points = campaign.joint_values(robot), campaign.station_index, campaign.position
    tool, parent = kinematics(robot.nominal, q), np.tile(np.eye(3), (len(q), 1, 1))
    if frame.parent != BASE:
        parent = kinematics(robot.nominal, q, frame.parent).rotation
    centres, shift = np.zeros((len(campaign.stations), 3)), np.zeros(3)
    for _ in range(STEPS):
        origin = tool.position + parent @ shift
        placing = robust_start(origin, tool.rotation, station, centres, points, quick=True)
        shift = shift + _step(placing, origin, tool.rotation, parent, station, points)
    x, y, z = shift.tolist()
    away = placed_distances(campaign, tool.position + parent @ shift, tool.rotation)
    return Misplaced(frame.name, (x, y, z), float(np.nanmedian(away)))


def _step(placing: Placing, origin: Array, turn: Array, parent: Array, station: Ints, points: Array) -> Array:
    """The change of d (3,), with small changes of stations and markers, by the points that the placing fits best."""
    expected = placed(placing, origin, turn, station)
    off = points - expected
    away = np.linalg.norm(off, axis=2)
    keep = believed(away)
    n, m = away.shape
    stations = len(placing.turn)
    columns = np.zeros((n, m, 3, 3 + 6 * stations + 3 * m))
    seen = placing.turn[station]
    columns[..., :3] = (seen @ parent)[:, None]
    for s in range(stations):
        mine, at = station == s, 3 + 6 * s
        columns[mine, :, :, at : at + 3] = np.eye(3)
        columns[mine, :, :, at + 3 : at + 6] = np.moveaxis(np.cross(np.eye(3), expected[mine][:, :, None]), -1, -2)
    for j in range(m):
        at = 3 + 6 * stations + 3 * j
        columns[:, j, :, at : at + 3] = seen @ turn
    a = columns[keep].reshape(-1, columns.shape[-1])
    return np.asarray(np.linalg.lstsq(a, off[keep].reshape(-1), rcond=1e-9)[0][:3])
