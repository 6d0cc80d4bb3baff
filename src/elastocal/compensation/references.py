"""Joint values that say which of several solutions a program means at each station.

Where the program gives axes, these; at a target with configuration data (S and T of KRL, confdata of RAPID, CONFIG of
FANUC, RCONF of Yaskawa, qnear of URScript) that is gone to axis by axis, or that is the first, the way that these say;
everywhere else the branch that the arm is on, next to the values before.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elastocal.compensation.branches import selected
from elastocal.compensation.left_open import values_reaching
from elastocal.compensation.nominal import Nominal, references_on
from elastocal.compensation.placed import Placed
from elastocal.compensation.spherical_wrist import branch_of
from elastocal.compensation.targets import Targets
from elastocal.errors import InputError
from elastocal.model.task import Task
from elastocal.spatial.entries import Array, Bools, Ints

_CHUNK = 4000


def references(placed: Placed, task: Task, near: Array | None) -> Array:
    """Joint values (S, n), all finite; ``near`` (n,) are those before the first station, where they are known."""
    inverse = {frame: Nominal(placed.model, frame, task) for frame in dict.fromkeys(placed.frames)}
    out = placed.reference.copy()
    _by_configuration(placed, inverse, out, near is None)
    known = np.isfinite(out[:, 0])
    if near is None:
        first = int(np.argmax(known)) if known.any() else 0
        if not known.any() or first > 0:
            raise InputError(
                f"{placed.stations.name(0)}: nothing before it says which way the arm reaches it; give the values of "
                f"{', '.join(placed.model.controller.axes)} before the program starts",
                code="no-reference",
                parameter="near",
                suggested={
                    "near": (values_reaching(placed.model, placed.frames[0], placed.position[0], placed.rotation[0]),)
                },
            )
        near = out[0]
    before = near
    for rows in _runs(placed, known):
        if known[rows[0]]:
            before = out[rows[-1]]
            continue
        some = Targets(placed.frames[rows[0]], placed.position[rows], placed.rotation[rows], before)
        some = replace(some, reference=_begun(inverse[some.frame], some, before))
        for part, _, _, solved in inverse[some.frame].chunks(some, _CHUNK):
            out[rows[part]] = np.where(solved.reached, solved.q, np.nan).T
        before = _filled(out, rows, before)
    return out


def _begun(inverse: Nominal, some: Targets, before: Array) -> Array:
    """Joint values at the first of some targets on the branch where the arm is: in a line it cannot leave it."""
    if inverse.arm is None:
        return before
    q = references_on(inverse.arm, some.picked(slice(0, 1)), branch_of(inverse.arm, before[:, None]), before)[0]
    return q if np.isfinite(q).all() else before


def _runs(placed: Placed, known: Bools) -> list[Ints]:
    """Neighbours that are alike: with values or without, and of one tool."""
    if not len(known):
        return []
    frames = np.array(placed.frames, dtype=object)
    cuts = np.flatnonzero((np.diff(known.astype(int)) != 0) | (frames[1:] != frames[:-1])) + 1
    return np.split(np.arange(len(known)), cuts)


def _filled(out: Array, rows: Ints, before: Array) -> Array:
    """Stations out of reach take the values before them; the last ones of the run."""
    for row in rows[~np.isfinite(out[rows, 0])]:
        out[row] = out[row - 1] if row > rows[0] else before
    return np.asarray(out[rows[-1]])


def _by_configuration(placed: Placed, inverse: dict[str, Nominal], out: Array, from_first: bool) -> None:
    """Fill in where configuration data say the way: where the robot goes axis by axis, and at the first station."""
    from elastocal.compensation.posts.post import post_kinds

    program, stations = placed.stations.program, placed.stations
    post = post_kinds()[program.language]()
    used = np.array([m.motion == "joint" for m in program.moves])[stations.move]
    used[:1] |= from_first
    for row in np.flatnonzero(used & ~stations.by_axes):
        arm = inverse[placed.frames[row]].arm
        branch = post.branch(program.targets[int(stations.target[row])])
        if branch is None:
            continue
        if arm is not None:
            q = selected(placed.model, arm, placed.position[row], placed.rotation[row], branch)
            out[row] = np.nan if q is None else q
        elif branch.near is not None:
            out[row] = _next_to(placed, inverse[placed.frames[row]], int(row), branch.near)


def _next_to(placed: Placed, inverse: Nominal, row: int, near: Array) -> Array:
    """Joint values (n,) of one station next to controller values; nan out of reach."""
    start = placed.model.controller.to_joints(near[None])
    one = Targets(placed.frames[row], placed.position[[row]], placed.rotation[[row]], start)
    (*_, solved), *_ = inverse.chunks(one, 1)
    return np.asarray(np.where(solved.reached, solved.q, np.nan)[:, 0])
