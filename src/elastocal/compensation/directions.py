"""Directions of the motion along a program: to its stations, and on its moves.

Along an arc about ``axis`` through c that turns by ``angle`` and rises by ``rise``, from p on

    way(p) = angle axis x (p - c) + rise axis

its tangent, also where its chords are written.
"""

from __future__ import annotations

import numpy as np

from elastocal.compensation.circles import Circles
from elastocal.compensation.loads import headings
from elastocal.compensation.stations import Placed
from elastocal.spatial.entries import Array, Ints


def came_along(placed: Placed) -> Array:
    """Unit vectors (S, 3) of the motion to stations, by the moves that first lead there."""
    stations, ways = placed.stations, move_headings(placed)
    out = headings(placed.position, stations.program.given.heading)
    rows = np.flatnonzero(stations.whole)
    vias = np.array([-1 if m.via is None else m.via for m in stations.program.moves], dtype=np.int64)
    move = stations.move[rows]
    out[rows] = ways[move, np.where(vias[move] == stations.target[rows], 1, 2)]
    for i, inner in stations.arcs.items():
        out[inner] = _tangents(placed, i, inner)
    return out


def move_headings(placed: Placed) -> Array:
    """Unit vectors (M, 3, 3) of the motion just behind the start of moves, at their auxiliary points and at their ends:
    along arcs whose start is known, else along lines."""
    stations, place = placed.stations, placed.position
    moves, nodes = stations.program.moves, stations.nodes
    way = np.repeat((place[nodes[:, 2]] - place[nodes[:, 0]])[:, None], 3, axis=1)
    for i in stations.arcs:
        way[i] = _tangents(placed, i, nodes[i])
    arc = np.flatnonzero([m.motion == "arc" and None not in (m.start, m.via) for m in moves])
    circles = Circles.through(*(place[rows] for rows in nodes[arc].T))
    way[arc] = np.stack([circles.heading(place[rows]) for rows in nodes[arc].T], axis=1)
    way[[i for i, m in enumerate(moves) if m.start is None]] = 0.0
    out = np.repeat(headings(place, stations.program.given.heading)[nodes[:, 2], None], 3, axis=1)
    size = np.linalg.norm(way, axis=2, keepdims=True)
    return np.asarray(np.divide(way, size, out=out, where=size > 0))


def _tangents(placed: Placed, number: int, rows: Ints) -> Array:
    """Unit vectors (K, 3) in robot axes along the arc of a move, at stations (K,) on it."""
    stations, arc = placed.stations, placed.stations.program.moves[number].arc
    assert arc is not None
    axis = np.eye(3)[arc.axis]
    way = arc.angle * np.cross(axis, stations.position[rows] - np.array(arc.centre)) + arc.rise * axis
    return np.asarray(way @ placed.base(int(rows[-1])).rotation.T / np.linalg.norm(way, axis=1, keepdims=True))


def way(placed: Placed, most: int, parts: int = 12) -> Array:
    """Places (K, 3) along a program, arcs in so many parts; its stations where it has more moves than ``most``."""
    stations, place = placed.stations, placed.position
    moves = stations.program.moves
    if not moves or len(moves) > most:
        return place
    out, share = [place[stations.nodes[0, : moves[0].start is not None]]], np.arange(1, parts + 1) / parts
    for i, move in enumerate(moves):
        rows = stations.way(i)
        if move.motion == "arc" and None not in (move.start, move.via):
            circle = Circles.through(*place[rows][:, None])
            out.append(circle.picked(np.zeros(parts, dtype=np.int64)).at(share))
        else:
            out.append(place[rows[1:]])
    return np.concatenate(out)
