"""Several campaigns of one robot: joined as one, and the readings of one known again among those of another.

Joined, markers are told by name, and stations are apart unless they are named alike.  Readings that a calibration has
seen are known among those it is validated on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from elastocal.calibration.campaign import Campaign, check_campaign
from elastocal.errors import ConflictError, MissingError
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

UNNAMED = ("1",)
"""Stations of a campaign that names none."""


def joined(robot: Robot, campaigns: Sequence[Campaign]) -> Campaign:
    """All rows of all of them; what one has not read is nan there.

    Markers of the same name are one, so are stations.  A campaign that names no station was read from one of its own.
    Load frame and noise must be the same.
    """
    every = campaigns if isinstance(campaigns, Sequence) and not isinstance(campaigns, str) else [campaigns]
    for campaign in every:
        check_campaign(campaign)
    if not campaigns:
        raise MissingError("no campaign is given; give one or several")
    first = campaigns[0]
    if len(campaigns) == 1:
        return first
    for key in ("load_frame", "noise", "orientation_noise"):
        given = {_stated(getattr(c, key)) for c in campaigns if key != "load_frame" or c.loaded}
        if len(given) > 1:
            raise ConflictError(f"the campaigns differ in {key}: {' and '.join(sorted(given))}; state the same in all")
    if any((c.temperature is None) != (first.temperature is None) for c in campaigns):
        raise MissingError("temperature is read in some of the campaigns only; give it in all, or leave it out")
    markers = tuple(dict.fromkeys(m for c in campaigns for m in c.markers))
    loads = next((c.load_frame for c in campaigns if c.loaded), first.load_frame)
    whole = Campaign(  # in SI, as campaigns keep everything but q
        q=np.concatenate([c.written_in(robot, first.length, first.angle).q for c in campaigns]),
        length="m", angle="rad",
        position=_points(campaigns, markers, "position", 3), deflection=_points(campaigns, markers, "deflection", 3),
        distance=_points(campaigns, markers, "distance", None),
        orientation=_rows(campaigns, "orientation", np.full((3, 3), np.nan)),
        wrench=_rows(campaigns, "wrench", np.zeros(6)), load_frame=loads,
        station=_stations(campaigns), markers=markers if any(c.named for c in campaigns) else (),
        noise=first.noise, orientation_noise=first.orientation_noise,
        time=None if any(c.time is None for c in campaigns) else np.concatenate([c.time for c in campaigns]),
        temperature=None if first.temperature is None else np.concatenate([c.temperature for c in campaigns]),
        priors=tuple(p for c in campaigns for p in c.priors),
        keep=[_line(c, i, n) for n, c in enumerate(campaigns) for i in range(c.count) if c.kept(i)],
        places=[_line(c, i, number) for number, c in enumerate(campaigns) for i in range(c.count)],
        name=" + ".join(dict.fromkeys(c.name for c in campaigns if c.name)),
    )  # fmt: skip
    notes = {n.text: n for c in campaigns for n in c.notes}
    return whole.changed(length=first.length, angle=first.angle, notes=tuple(notes.values()))


def _stated(value: object) -> str:
    """As it is compared: a number that was stated in another unit differs in its last digit."""
    return f"{value:.12g}" if isinstance(value, float) else repr(value)


def _points(campaigns: Sequence[Campaign], markers: Sequence[str], key: str, width: int | None) -> Array | None:
    """(N, markers, 3), or (N, markers) without a width."""
    if all(getattr(c, key) is None for c in campaigns):
        return None
    parts = []
    for c in campaigns:
        part = np.full((c.count, len(markers), *(() if width is None else (width,))), np.nan)
        if getattr(c, key) is not None:
            part[:, [markers.index(m) for m in c.markers]] = getattr(c, key)
        parts.append(part)
    return np.concatenate(parts)


def _rows(campaigns: Sequence[Campaign], key: str, unread: Array) -> Array | None:
    if all(getattr(c, key) is None for c in campaigns):
        return None
    blank = [np.broadcast_to(unread, (c.count, *unread.shape)) for c in campaigns]
    return np.concatenate(
        [b if getattr(c, key) is None else getattr(c, key) for c, b in zip(campaigns, blank, strict=True)]
    )


def _stations(campaigns: Sequence[Campaign]) -> list[str]:
    """Deflections alone are in base axes and need no station: they go with the first."""
    out: list[list[str]] = []
    taken: set[str] = {s for c in campaigns if c.stations != UNNAMED for s in c.stations}
    home: str | None = None
    for number, c in enumerate(campaigns):
        placed = any(v is not None for v in (c.position, c.orientation, c.distance))
        if c.stations != UNNAMED:
            names: list[str] = c.station.tolist()
        else:
            name = c.name or f"campaign {number + 1}"
            while name in taken:
                name += "'"
            taken.add(name)
            names = [name] * c.count
        home = home or (names[0] if placed else None)
        out.append(names if placed else [])
    return [s for c, names in zip(campaigns, out, strict=True) for s in (names or [home or "1"] * c.count)]


def _line(campaign: Campaign, row: int, number: int) -> Any:
    """Rows of campaigns without places are told apart by the campaign."""
    return campaign.line(row) if campaign.places else f"{campaign.name or f'campaign {number + 1}'} row {row}"


SAME = 1e-6
"""Joint values in rad and m, and loads in kN, that are the same but for rounding."""
COPY = 1e-8
"""Readings in m that are the same but for rounding."""


@dataclass(frozen=True, eq=False)
class Seen:
    """Joint values ``q`` (N, n) of every row of a campaign, its loads, and what was read (N, markers, 3), in SI.

    Rows and not means: one repeat of a pose, or one marker, is a reading of the calibration too.
    """

    q: Array
    wrench: Array | None = None
    """None without loads."""
    position: Array | None = None
    deflection: Array | None = None
    distance: Array | None = None

    @classmethod
    def of(cls, robot: Robot, campaign: Campaign) -> Seen:
        wrench = campaign.wrench if campaign.loaded else None
        return cls(campaign.joint_values(robot), wrench, campaign.position, campaign.deflection, campaign.distance)

    @property
    def distances_alone(self) -> bool:
        """Whether all that tells where points are is how far they are from a fixed one."""
        return self.position is None and self.distance is not None

    def among(self, other: Seen) -> tuple[Bools, Bools]:
        """Of rows (N,) of others with the same markers: whether they are at joint values and loads of these, and
        whether a marker of them holds the very reading."""
        own, new = self._states(), other._states()
        weights = np.sqrt(np.arange(2.0, 2.0 + own.shape[1]))  # candidates by one number, so that many poses are quick
        order = np.argsort(own @ weights, kind="stable")
        line, width = (own @ weights)[order], SAME * float(weights.sum())
        first, last = (np.searchsorted(line, new @ weights + side * width) for side in (-1, 1))
        at, copied = np.zeros(len(new), dtype=bool), np.zeros(len(new), dtype=bool)
        for i in np.flatnonzero(last > first).tolist():
            near = order[first[i] : last[i]]
            near = near[np.abs(own[near] - new[i]).max(axis=1) < SAME]
            at[i] = len(near) > 0
            copied[i] = any(
                bool(np.any(np.all(np.abs(mine[near] - its[i]) < COPY, axis=-1))) for mine, its in self._both(other)
            )
        return at, copied

    def _states(self) -> Array:
        return np.hstack([self.q, np.zeros((len(self.q), 6)) if self.wrench is None else 1e-3 * self.wrench])

    def _both(self, other: Seen) -> list[tuple[Array, Array]]:
        """What both have read, (N, markers, numbers)."""
        pairs = [(getattr(self, k), getattr(other, k)) for k in ("position", "deflection", "distance")]
        return [
            (a.reshape(*a.shape[:2], -1), b.reshape(*b.shape[:2], -1))
            for a, b in pairs
            if a is not None and b is not None
        ]
