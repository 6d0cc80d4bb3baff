"""Several campaigns of one robot as one: markers by name, stations apart unless they are named alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from elastocal.calibration.campaign import Campaign, check_campaign
from elastocal.errors import ConflictError, MissingError
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array

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
