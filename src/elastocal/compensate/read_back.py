"""The corrected program read again: every target must stand where the correction put it, to the last digit written."""

from __future__ import annotations

import numpy as np

from elastocal.compensate.placed import Placed
from elastocal.compensate.program import Changes, Program
from elastocal.errors import InputError
from elastocal.spatial.entries import Array, Ints

FAR = 2e-7
"""m and rad by which written digits may miss what was asked for."""


def read_back(at: Placed, again: Program, changes: Changes) -> tuple[Array, Array, Array]:
    """Positions (S, 3), rotations (S, 3, 3) and axes (S, n) of the stations as the written program states them.

    Chord points that were not written keep their nominal values: the arc is still an arc there.
    """
    stations = at.stations
    rows = _rows(at, changes)
    if len(again.targets) != len(rows):
        raise InputError(
            f"the corrected program has {len(again.targets)} targets where {len(rows)} were meant; nothing is written: "
            "simplify the lines with several statements or leave out the densifying"
        )
    position, rotation, joints = stations.position.copy(), stations.rotation.copy(), stations.joints.copy()
    mine = rows >= 0
    position[rows[mine]], joints[rows[mine]] = again.positions[mine], again.joints[mine]
    rotation[rows[mine]] = again.rotations[mine]
    _check(at, changes, position)
    return position, rotation, joints


def _rows(at: Placed, changes: Changes) -> Ints:
    """The station of every target of the new program, -1 for points put into lines."""
    stations, program = at.stations, at.stations.program
    out: list[int] = []
    seen = np.zeros(len(program.targets), dtype=bool)
    for i, m in enumerate(program.moves):
        if i in changes.inserted:
            out += stations.arcs[i].tolist() if m.arc else [-1] * len(changes.inserted[i].positions)
        for number in (m.via, m.end):
            if number is not None and not seen[number]:
                seen[number] = True
                out.append(int(stations.row[number]))
    return np.array(out, dtype=np.int64)


def _check(at: Placed, changes: Changes, position: Array) -> None:
    stations = at.stations
    off = np.abs(position[stations.row] - changes.positions).max(axis=1)
    off = np.where(np.isfinite(off), off, 0.0)
    if off.max(initial=0.0) > FAR:
        worst = int(np.argmax(off))
        raise InputError(
            f"{stations.program.targets[worst].where}: the corrected program would state a place "
            f"{1e6 * off[worst]:.2g} um from the one meant; nothing is written"
        )
