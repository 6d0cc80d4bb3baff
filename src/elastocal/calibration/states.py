"""Readings in canonical order: repeats averaged to states, states gathered to poses, whatever the order of the rows.

A state is one configuration under one load, seen from one station; readings that share it are repeats and are averaged,
since they share the error of the model.  A pose is one configuration: its states are left out together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.spatial.rotation import nearest_rotation

SAME = 1e-5
"""Joint values closer than this (rad or m) are one configuration: encoders flicker between repeats."""


@dataclass(frozen=True, eq=False)
class States:
    """M states in canonical order; ``members`` are the rows of the campaign that each was averaged from."""

    q: Array
    wrench: Array
    temperature: Array | None
    station: Ints
    pose: Ints
    position: Array | None
    deflection: Array | None
    orientation: Array | None
    distance: Array | None
    members: tuple[Ints, ...]
    stations: tuple[str, ...]
    markers: tuple[str, ...]
    load_frame: str
    reference: float
    """Temperature that differences count from; nan where none was read."""
    scatter: float
    """Sd of one coordinate by repeats, in m; nan where there are none."""
    scatter_freedom: int

    @cached_property
    def mean_repeats(self) -> float:
        """Readings that a state was averaged from, on average."""
        return float(np.mean([len(m) for m in self.members]))

    @property
    def count(self) -> int:
        return len(self.q)

    @cached_property
    def poses(self) -> int:
        return int(self.pose.max()) + 1

    @property
    def points(self) -> int:
        return len(self.markers)

    @cached_property
    def loaded(self) -> Bools:
        return np.asarray(np.any(self.wrench != 0, axis=1))

    @cached_property
    def slot(self) -> Ints:
        """Number of every state within its pose."""
        seen: dict[int, int] = {}
        out = np.empty(self.count, dtype=np.int64)
        for i, p in enumerate(self.pose.tolist()):
            out[i] = seen.get(p, 0)
            seen[p] = out[i] + 1
        return out

    @cached_property
    def slots(self) -> int:
        """States of the pose that has most."""
        return int(self.slot.max()) + 1

    def state_of(self, rows: int) -> Ints:
        """The state (rows,) of every row of the campaign."""
        out = np.empty(rows, dtype=np.int64)
        for state, members in enumerate(self.members):
            out[members] = state
        return out


def gather(robot: Robot, campaign: Campaign, reference: float | None = None) -> States:
    """States of a campaign; temperatures count from ``reference``, their mean where there is none."""
    q = campaign.joint_values(robot)
    wrench = np.zeros((len(q), 6)) if campaign.wrench is None else campaign.wrench
    read = campaign.temperature
    if read is not None and (reference is None or np.isnan(reference)):
        reference = float(np.sort(read).mean())
    heat = np.zeros(len(q)) if read is None else read - reference
    names = sorted(campaign.stations)
    station = np.array([names.index(s) for s in campaign.station.tolist()])
    key = np.column_stack([_clusters(q), wrench, station, np.round(2 * heat)])
    unique, inverse = np.unique(key, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    members = tuple(_ordered(campaign, np.flatnonzero(inverse == s)) for s in range(len(unique)))
    first = np.array([m[0] for m in members])
    _, pose = np.unique(unique[:, 0], return_inverse=True)
    squares, freedom = _repeat_scatter(campaign, members)
    return States(
        np.stack([q[m].mean(axis=0) for m in members]),
        wrench[first],
        None if campaign.temperature is None else np.array([heat[m].mean() for m in members]),
        station[first],
        pose.reshape(-1),
        _averaged(campaign.position, members),
        _averaged(campaign.deflection, members),
        None if campaign.orientation is None else np.stack([_mean_turn(campaign.orientation[m]) for m in members]),
        _averaged(campaign.distance, members),
        members,
        tuple(names),
        tuple(campaign.markers),
        campaign.load_frame or robot.tool,
        float("nan") if read is None or reference is None else reference,
        float(np.sqrt(squares / freedom)) if freedom else float("nan"),
        freedom,
    )


def pose_means(values: Array, pose: Ints) -> Array:
    """Means over the poses of which anything was read, of values (M, points) of states; nan where not read."""
    known = np.isfinite(values)
    each = _mean(values.T)
    return np.array([each[mine].mean() for p in np.unique(pose) if np.any(mine := (pose == p) & known.any(axis=1))])


def _clusters(q: Array) -> Array:
    """Number (N,) of the configuration of every row, in the order of the configurations' joint values."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    pairs = cKDTree(q).query_pairs(SAME, p=np.inf, output_type="ndarray")
    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(q), len(q)))
    count, label = connected_components(graph, directed=False)
    least = np.full((count, q.shape[1]), np.inf)
    for row in np.lexsort(q.T[::-1])[::-1]:
        least[label[row]] = q[row]
    place = np.empty(count)
    place[np.lexsort(least.T[::-1])] = np.arange(count)
    return np.asarray(place[label])


def _ordered(campaign: Campaign, rows: Ints) -> Ints:
    """Repeats in an order that their readings decide, so that sums do not depend on that of the rows."""
    parts = [
        v[rows].reshape(len(rows), -1)
        for v in (campaign.position, campaign.deflection, campaign.distance)
        if v is not None
    ]
    if not parts or len(rows) == 1:
        return rows
    return rows[np.lexsort(np.concatenate(parts, axis=1).T[::-1])]


def _averaged(values: Array | None, members: tuple[Ints, ...]) -> Array | None:
    return None if values is None else np.stack([_mean(values[m]) for m in members])


def _mean(values: Array) -> Array:
    known = np.isfinite(values)
    count = known.sum(axis=0)
    total = np.where(known, values, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _mean_turn(turns: Array) -> Array:
    """Nearest rotation to the mean of rotations (K, 3, 3)."""
    known = turns[np.all(np.isfinite(turns), axis=(1, 2))]
    if not len(known):
        return np.full((3, 3), np.nan)
    if len(known) == 1:
        return np.asarray(known[0])
    return nearest_rotation(known.mean(axis=0))


def _repeat_scatter(campaign: Campaign, members: tuple[Ints, ...]) -> tuple[float, int]:
    squares, freedom = 0.0, 0
    for values in (campaign.position, campaign.deflection, campaign.distance):
        if values is None:
            continue
        for rows in members:
            if len(rows) > 1:
                off = values[rows] - _mean(values[rows])
                squares += float(np.nansum(off**2))
                freedom += int(np.isfinite(off).sum() - np.isfinite(off).any(axis=0).sum())
    return squares, freedom
