"""Readings in canonical order: repeats averaged to states, states gathered to poses, whatever the order of the rows.

A state is one configuration under one load, seen from one station; readings that share it are repeats and are averaged,
since they share the error of the model.  A pose is one configuration: its states are left out together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import overload

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.spatial.rotation import nearest_rotation
from elastocal.values import dataclass

SAME = 1e-5
"""Joint values closer than this (rad or m) are one configuration: encoders flicker between repeats."""
STEPS = 100
"""Neighbours on a line that are looked at; where more are close, a tree of SciPy finds the pairs."""


@dataclass(frozen=True, eq=False)
class Members(Sequence[Ints]):
    """Rows of the campaign that every state was averaged from: ``rows`` one after another, ``counts`` (M,) for each."""

    rows: Ints
    counts: Ints

    @cached_property
    def first(self) -> Ints:
        """Where those of every state begin."""
        return np.asarray(np.cumsum(self.counts) - self.counts)

    def __len__(self) -> int:
        return len(self.counts)

    @overload
    def __getitem__(self, state: int) -> Ints: ...

    @overload
    def __getitem__(self, state: slice) -> Members: ...

    def __getitem__(self, state: int | slice) -> Ints | Members:
        if isinstance(state, slice):
            begin, end, _ = state.indices(len(self))
            counts = self.counts[begin:end]
            at = int(self.first[begin]) if len(counts) else 0
            return Members(self.rows[at : at + int(counts.sum())], counts)
        return np.asarray(self.rows[self.first[state] : self.first[state] + self.counts[state]])

    def __iter__(self) -> Iterator[Ints]:
        return iter(np.split(self.rows, self.first[1:]))

    def sums(self, values: Array) -> Array:
        """Sums (M, ...) of values (N, ...) over the rows of every state, in their order."""
        return np.asarray(np.add.reduceat(values[self.rows], self.first, axis=0))


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
    members: Members
    stations: tuple[str, ...]
    markers: tuple[str, ...]
    frames: tuple[str, ...]
    """Of the robot, where its file says that markers sit; the tool for markers that it does not name."""
    load_frame: str
    reference: float
    """Temperature that differences count from; nan where none was read."""
    scatter: float
    """Sd of one coordinate by repeats, in m; nan where there are none."""
    scatter_freedom: int
    time: Array | None = None
    """Mean over the readings of a state, s from the first of all."""

    @cached_property
    def mean_repeats(self) -> float:
        """Readings that a state was averaged from, on average."""
        return float(np.mean(self.members.counts))

    @property
    def single_reading(self) -> float:
        """Sd in m that one coordinate of a reading has beyond that of the mean of its repeats; zero without any."""
        more = self.scatter**2 * (1 - 1 / self.mean_repeats)
        return float(np.sqrt(more)) if self.scatter_freedom else 0.0

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
        order = np.argsort(self.pose, kind="stable")
        counts = np.bincount(self.pose, minlength=self.poses)
        out = np.empty(self.count, dtype=np.int64)
        out[order] = np.arange(self.count) - np.repeat(np.cumsum(counts) - counts, counts)
        return out

    @cached_property
    def slots(self) -> int:
        """States of the pose that has most."""
        return int(self.slot.max()) + 1

    def state_of(self, rows: int) -> Ints:
        """The state (rows,) of every row of the campaign."""
        out = np.empty(rows, dtype=np.int64)
        out[self.members.rows] = np.repeat(np.arange(self.count), self.members.counts)
        return out

    def part(self, chosen: slice) -> States:
        """Some of the states, whole poses of them."""

        def cut(values: Array | None) -> Array | None:
            return None if values is None else values[chosen]

        return replace(
            self, q=self.q[chosen], wrench=self.wrench[chosen], temperature=cut(self.temperature),
            station=self.station[chosen], pose=self.pose[chosen] - self.pose[chosen][0], members=self.members[chosen],
            position=cut(self.position), deflection=cut(self.deflection), orientation=cut(self.orientation),
            distance=cut(self.distance), time=cut(self.time),
        )  # fmt: skip

    def parts(self, poses: int) -> Iterator[slice]:
        """The states in pieces of so many poses each."""
        edges = np.searchsorted(self.pose, np.arange(0, self.poses + poses, poses))
        yield from (slice(int(a), int(b)) for a, b in pairwise(edges) if b > a)


def gather(robot: Robot, campaign: Campaign, reference: float | None = None) -> States:
    """States of a campaign; temperatures count from ``reference``, their mean where there is none."""
    q = campaign.joint_values(robot)
    wrench = np.zeros((len(q), 6)) if campaign.wrench is None else campaign.wrench
    read = campaign.temperature
    if read is not None and (reference is None or np.isnan(reference)):
        reference = float(np.sort(read).mean())
    heat = np.zeros(len(q)) if read is None else read - reference
    names = sorted(campaign.stations)
    station = np.searchsorted(names, campaign.station)
    pose_of = _clusters(q)
    others = np.column_stack([wrench, station, np.round(2 * heat)])
    key = np.column_stack([pose_of, others[:, np.ptp(others, axis=0) > 0]])
    unique, inverse = np.unique(key, axis=0, return_inverse=True) if key.shape[1] > 1 else _numbered(pose_of)
    inverse = inverse.reshape(-1)
    members = _members(campaign, inverse, len(unique))
    first = members.rows[members.first]
    _, pose = np.unique(unique[:, 0], return_inverse=True)
    again = [members[state] for state in np.flatnonzero(members.counts > 1).tolist()]
    tables = [v for v in (campaign.position, campaign.deflection, campaign.distance) if v is not None]
    scatters = [repeat_scatter(v, again) for v in tables]
    squares, freedom = sum(s for s, _ in scatters), sum(f for _, f in scatters)
    return States(
        members.sums(q) / members.counts[:, None],
        wrench[first],
        None if campaign.temperature is None else members.sums(heat) / members.counts,
        station[first],
        pose.reshape(-1),
        _averaged(campaign.position, members),
        _averaged(campaign.deflection, members),
        None if campaign.orientation is None else _mean_turns(campaign.orientation, members),
        _averaged(campaign.distance, members),
        members,
        tuple(names),
        tuple(campaign.markers),
        tuple(m if campaign.named and m in robot.tree.names else robot.tool for m in campaign.markers),
        campaign.load_frame or robot.tool,
        float("nan") if read is None or reference is None else reference,
        float(np.sqrt(squares / freedom)) if freedom else float("nan"),
        freedom,
        None if campaign.time is None else members.sums(campaign.time - campaign.time.min()) / members.counts,
    )


def _numbered(values: Array) -> tuple[Array, Ints]:
    """Values that differ, as rows, and the number of each among them."""
    unique, inverse = np.unique(values, return_inverse=True)
    return unique[:, None], inverse


def mean_by_poses(values: Array, pose: Ints) -> tuple[float, float, int]:
    """Mean of values (M, points) over all points that were read (not nan), its standard error, and the number of poses.

    The points of a pose err together: poses vary, not points.
    """
    known = np.isfinite(values)
    count, total = (np.bincount(pose, part.sum(axis=1)) for part in (known, np.where(known, values, 0.0)))
    poses, mean = int(np.count_nonzero(count)), float(total.sum() / count.sum())
    if poses < 2:
        return mean, float("inf"), poses
    left = total - mean * count
    return mean, float(np.sqrt(poses / (poses - 1) * np.sum(left**2)) / count.sum()), poses


def _clusters(q: Array) -> Array:
    """Number (N,) of the configuration of every row, in the order of the configurations' joint values."""
    label = _linked(q)
    count = int(label.max()) + 1
    order = np.lexsort(q.T[::-1])
    least = q[order[np.unique(label[order], return_index=True)[1]]]
    place = np.empty(count)
    place[np.lexsort(least.T[::-1])] = np.arange(count)
    return np.asarray(place[label])


def _linked(q: Array) -> Ints:
    """Numbers (N,) of the sets of rows that steps of no more than ``SAME`` link: sets join at the least row of each."""
    least, (a, b) = np.arange(len(q)), _near(q).T
    while len(a):
        np.minimum.at(least, np.maximum(least[a], least[b]), np.minimum(least[a], least[b]))
        while not np.array_equal(least, further := least[least]):
            least = further
        apart = least[a] != least[b]
        a, b = a[apart], b[apart]
    return np.unique(least, return_inverse=True)[1].reshape(-1)


def _near(q: Array) -> Ints:
    """Pairs (P, 2) of rows within ``SAME``: neighbours on a line that no grid of joint values lies across."""
    weights = np.sqrt(np.arange(2.0, 2.0 + q.shape[1]))
    order = np.argsort(q @ weights, kind="stable")
    line, reach = (q @ weights)[order], 1.001 * SAME * float(weights.sum())
    pairs = []
    for step in range(1, len(q)):
        first = np.flatnonzero(line[step:] - line[:-step] <= reach)
        if not len(first):
            break
        if step > STEPS:
            from scipy.spatial import cKDTree

            return np.asarray(cKDTree(q).query_pairs(SAME, p=np.inf, output_type="ndarray"))
        both = np.column_stack([order[first], order[first + step]])
        pairs.append(both[np.abs(q[both[:, 0]] - q[both[:, 1]]).max(axis=1) <= SAME])
    return np.concatenate([np.zeros((0, 2), dtype=np.int64), *pairs])


def _members(campaign: Campaign, state: Ints, states: int) -> Members:
    """Rows by state (N,); repeats in an order that their readings decide: sums do not depend on that of the rows."""
    read = [
        v.reshape(campaign.count, -1)
        for v in (campaign.position, campaign.deflection, campaign.distance)
        if v is not None
    ]
    counts = np.bincount(state, minlength=states)
    again = counts[state] > 1
    rows = np.argsort(state, kind="stable")
    if read and again.any():
        mine = np.flatnonzero(again)
        keys = [column for v in reversed(read) for column in v[mine].T[::-1]]
        rows[again[rows]] = mine[np.lexsort((*keys, state[mine]))]
    return Members(rows, counts)


def _averaged(values: Array | None, members: Members) -> Array | None:
    if values is None:
        return None
    known = np.isfinite(values)
    count, total = members.sums(known.astype(np.int64)), members.sums(np.where(known, values, 0.0))
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _mean_turns(turns: Array, members: Members) -> Array:
    out = turns[members.rows[members.first]]
    out[~np.isfinite(out).all(axis=(1, 2))] = np.nan
    for state in np.flatnonzero(members.counts > 1).tolist():
        out[state] = _mean_turn(turns[members[state]])
    return out


def _mean_turn(turns: Array) -> Array:
    """Nearest rotation to the mean of rotations (K, 3, 3)."""
    known = turns[np.all(np.isfinite(turns), axis=(1, 2))]
    if not len(known):
        return np.full((3, 3), np.nan)
    if len(known) == 1:
        return np.asarray(known[0])
    return nearest_rotation(known.mean(axis=0))


def repeat_scatter(values: Array, repeats: Iterable[Ints]) -> tuple[float, int]:
    """Squares of values (N, ...) about their means over the rows of each of the ``repeats``, and their freedom."""
    squares, freedom = 0.0, 0
    for rows in repeats:
        mine = values[rows]
        count = np.isfinite(mine).sum(axis=0)
        squares += float(np.nansum((mine - np.nansum(mine, axis=0) / np.maximum(count, 1)) ** 2))
        freedom += int(np.maximum(count - 1, 0).sum())
    return squares, freedom
