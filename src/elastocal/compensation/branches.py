"""Which of the eight ways an arm reaches a pose: what configuration data of programs say, and the way they select.

Words of controllers come down to the same three facts about an arm with a spherical wrist, and to the turn that axes
stand in:

    behind          the wrist centre lies behind axis 1 (KUKA S bit 0, ABB cfx bit 2, FANUC B, Yaskawa rear)
    ahead           the wrist centre lies before the line of the upper arm, seen in the arm's own axes
                    (KUKA S bit 1, not ABB cfx bit 1; elbow up, if the wrist is not behind axis 1)
    fifth_negative  the controller shows axis 5 below zero (KUKA S bit 2, ABB cfx bit 0, FANUC N, Yaskawa no flip)
    fourth_back     it shows axis 4 more than a quarter turn from zero (no flip of a Yaskawa NX100)
    ranges          degrees that the controller shows (KUKA T, ABB cf1 cf4 cf6, FANUC turn numbers)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

import numpy as np

from elastocal.compensation.program import Target
from elastocal.compensation.spherical_wrist import ELBOW, SHOULDER, WristGeometry, branch_of, wrist_geometry
from elastocal.compensation.targets import all_branches
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

FOURTH, FIFTH = 3, 4
EDGE = np.radians(1e-4)
"""rad by which an axis may miss the edge of its range: digits of a program are rounded."""


@dataclass(frozen=True, eq=False)
class Branch:
    """What a program says of one target; None: nothing.  ``near`` are controller values next to it, in rad."""

    behind: bool | None = None
    ahead: bool | None = None
    fifth_negative: bool | None = None
    fourth_back: bool | None = None
    ranges: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    near: Array | None = None


def facts(model: Robot, arm: WristGeometry, q: Array) -> tuple[Bools, Bools, Array]:
    """Behind (N,), ahead (N,) and what the controller shows (N, 6) of joint values (6, N)."""
    bits = branch_of(arm, q)
    forward = arm.front * (1.0 if arm.basis[2][2] > 0 else -1.0)
    ahead = ((bits & ELBOW) == 0) == (forward > 0)
    return np.asarray((bits & SHOULDER) > 0), np.asarray(ahead), model.controller.to_controller(q.T)


def selected(model: Robot, arm: WristGeometry, position: Array, rotation: Array, branch: Branch) -> Array | None:
    """Joint values (6,) that reach a pose the way that is said; None where there is no such way."""
    zero = model.controller.to_joints(np.zeros((1, model.n)))[0] if branch.near is None else _joints(model, branch.near)
    ways = all_branches(arm, position[:, None], rotation[:, :, None], zero[:, None])[:, :, 0].T
    behind, ahead, shown = facts(model, arm, ways)
    good = np.isfinite(ways).all(axis=0)
    if branch.behind is not None:
        good &= behind == branch.behind
    if branch.ahead is not None:
        good &= ahead == branch.ahead
    if branch.fifth_negative is not None:
        good &= ((shown[:, FIFTH] < 0) == branch.fifth_negative) | (np.abs(shown[:, FIFTH]) < EDGE)
    if branch.fourth_back is not None:
        front = np.cos(shown[:, FOURTH])
        good &= ((front < 0) == branch.fourth_back) | (np.abs(front) < EDGE)
    if not good.any():
        return None
    far = np.abs(ways - zero[:, None]).sum(axis=0) if branch.near is not None else np.zeros(ways.shape[1])
    way = int(np.argmin(np.where(good, far, np.inf)))
    return _turned(model, arm, ways[:, way], branch.ranges)


def _joints(model: Robot, near: Array) -> Array:
    return np.asarray(model.controller.to_joints(near[None])[0])


def _turned(model: Robot, arm: WristGeometry, q: Array, ranges: Mapping[int, tuple[float, float]]) -> Array:
    """Joint values with axes in their ranges, where full turns bring them there within the limits."""
    shown = model.controller.to_controller(q[None])[0]
    for axis, (low, high) in ranges.items():
        for turn in (0, 1, -1, 2, -2):
            value = shown.copy()
            value[axis] += 2 * np.pi * turn
            moved = _joints(model, value)
            inside = all(
                limit is None or limit[0] - EDGE <= v <= limit[1] + EDGE
                for v, limit in zip(moved, arm.limits, strict=True)
            )
            if np.radians(low) - EDGE <= value[axis] <= np.radians(high) + EDGE and inside:
                shown = value
                break
    return _joints(model, shown)


EITHER = (
    "correct it, or the arm reaches the point another way than is computed here (check its start and the axis targets "
    "before it)"
)
MOST = 5
"""Places that are listed."""


def configuration_notes(
    model: Robot, targets: Sequence[Target], q: Array, use: Bools, read: Callable[[Target], Branch | None]
) -> list[str]:
    """Where configuration data do not fit with joint values (N, 6), of targets in ``use``: a sentence for each case.

    ``read`` is what a language says of them.
    """
    arm = wrist_geometry(model, model.tool)
    if isinstance(arm, str):
        return []
    kinds: dict[tuple[str, int | None], list[int]] = {}
    for n in np.flatnonzero(use & np.isfinite(q).all(axis=1)).tolist():
        kinds.setdefault((targets[n].configuration, targets[n].turn), []).append(n)
    cases: dict[str, list[str]] = {}
    for (words, turn), rows in kinds.items():
        branch = read(targets[rows[0]])
        if branch is None:
            continue
        stated = words if turn is None else f"{words}, T {turn}"
        wrong = _contradictions(branch, model.controller.axes, *facts(model, arm, q[rows].T))
        for row in np.flatnonzero(np.any(list(wrong.values()), axis=0)).tolist():
            said = ", ".join(dict.fromkeys(message for message, where in wrong.items() if where[row]))
            cases.setdefault(f"{stated} does not fit: {said}", []).append(targets[rows[row]].where)
    return [f"{message} at {some_places(where)}; {EITHER}." for message, where in cases.items()]


def _contradictions(branch: Branch, axes: Sequence[str], behind: Bools, ahead: Bools, shown: Array) -> dict[str, Bools]:
    """What the arm does against a branch, and where (N,); an axis within ``EDGE`` of an edge fits."""
    signs = [] if branch.fifth_negative is None else [(FIFTH, branch.fifth_negative)]
    out: dict[str, Bools] = {"": np.zeros(len(behind), dtype=bool)}
    for axis, (low, high) in branch.ranges.items():
        if 0 in (low, high):
            signs.append((axis, high == 0))
        else:
            beyond = (shown[:, axis] < np.radians(low) - EDGE) | (shown[:, axis] > np.radians(high) + EDGE)
            out[f"{axes[axis]} stands beyond {low:g} to {high:g} deg"] = beyond
    for axis, negative in sorted(signs):
        wrong = shown[:, axis] > EDGE if negative else shown[:, axis] < -EDGE
        out[f"{axes[axis]} stands {'above' if negative else 'below'} zero"] = wrong
    if branch.behind is not None:
        out[f"the wrist stands {'before' if branch.behind else 'behind'} axis 1"] = behind != branch.behind
    if branch.ahead is not None:
        out["the elbow is bent the other way"] = ahead != branch.ahead
    return out


def some_places(where: Sequence[str]) -> str:
    return "; ".join(where[:MOST]) + (f" and {len(where) - MOST} more" if len(where) > MOST else "")


def configuration_words(model: Robot, q: Array) -> str:
    """CONFIG of FANUC for joint values (6,): ``N U T, 0, 0, 0``."""
    shown = model.controller.to_controller(q[None])[0]
    arm = wrist_geometry(model, model.tool)
    behind, ahead = False, True
    if not isinstance(arm, str):
        there = facts(model, arm, q[:, None])
        behind, ahead = bool(there[0][0]), bool(there[1][0])
    turns = np.floor((np.degrees(shown[[0, 3, 5]]) + 180) / 360).astype(int)
    words = ("N" if shown[FIFTH] < 0 else "F", "U" if ahead != behind else "D", "B" if behind else "T")
    return f"{' '.join(words)}, {', '.join(str(t) for t in turns)}"
