"""Forces of milling along a program, at its targets and on its moves; a part of them on ``leads``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elastocal.compensation.directions import came_along, move_headings
from elastocal.compensation.leads import cutting, lead_parts
from elastocal.compensation.loads import milling_wrenches
from elastocal.compensation.stations import Placed
from elastocal.errors import ConflictError, MissingError
from elastocal.spatial.entries import Array, Bools

if TYPE_CHECKING:
    from elastocal.compensation.process import ProcessLoad


def force_at_targets(placed: Placed, load: ProcessLoad, acting: Bools, judged: bool) -> Array:
    """Wrenches (S, 6) in robot axes of stations that are gone to at cutting feed, zero elsewhere."""
    stations, moves = placed.stations, placed.stations.program.moves
    cuts = acting & np.array([moves[m].motion != "joint" for m in stations.move])
    if not judged and not cuts.any():
        return np.zeros((len(stations), 6))
    if not cuts.any():
        raise ConflictError("milling: no target is gone to in a line or an arc, so nothing is cut")
    feed = _feed(placed, load)[stations.move]
    unknown = cuts & ~np.isfinite(feed)
    if unknown.any():
        first = stations.name(int(np.argmax(unknown)))
        raise MissingError(f"{first}: its feed is not known; state the feed of milling")
    assert load.milling is not None
    feed = np.where(cuts, feed, 0.0)
    whole = milling_wrenches(load.milling, "", placed.position, _spindle(placed), feed, cuts, came_along(placed)).wrench
    part = np.ones(len(stations))
    for move, parts in lead_parts(placed, load).items():
        rows = stations.way(move)[1:]
        mine = stations.move[rows] == move
        part[rows[mine]] = parts[1:][mine]
    return np.asarray(part[:, None] * whole)


def force_on_moves(placed: Placed, load: ProcessLoad) -> Array | None:
    """Wrenches (M, 3, 6) just behind the start of moves, at their auxiliary points and where they end; None where
    nothing is cut."""
    program, nodes = placed.stations.program, placed.stations.nodes
    cuts = cutting(program, load)
    if not cuts.any():
        return None
    feed = _feed(placed, load)
    unknown = np.flatnonzero(cuts & ~np.isfinite(feed))
    if len(unknown):
        move = program.moves[unknown[0]]
        raise MissingError(f"{move.file}, line {move.line}: its feed is not known; state the feed of milling")
    assert load.milling is not None
    every, flat = np.repeat(cuts, 3), nodes.ravel()
    feed, heading = np.where(every, np.repeat(feed, 3), 0.0), move_headings(placed).reshape(-1, 3)
    out = milling_wrenches(load.milling, "", placed.position[flat], _spindle(placed)[flat], feed, every, heading)
    part = np.ones((len(cuts), 3))
    for move, parts in lead_parts(placed, load).items():
        part[move] = parts[0], parts[len(parts) // 2], parts[-1]
    return np.asarray(part[..., None] * out.wrench.reshape(-1, 3, 6))


def _feed(placed: Placed, load: ProcessLoad) -> Array:
    """Feed (M,) of moves in m/s: the program's, else the stated one, else nan."""
    feed = np.array([m.feed for m in placed.stations.program.moves])
    return np.where(np.isfinite(feed), feed, np.nan if load.feed is None else load.feed)


def _spindle(placed: Placed) -> Array:
    """Directions (S, 3) from tip to spindle."""
    # the third axis of a tool points away from the spindle, that of a direction i j k towards it
    sense = np.where(placed.stations.kind == "axis", 1.0, -1.0)
    axis = sense[:, None] * placed.rotation[:, :, 2]
    return np.where(np.isfinite(axis), axis, np.array([0.0, 0.0, 1.0]))
