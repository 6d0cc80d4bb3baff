"""Whether the arm came back between repeats, or stood while the instrument read again.

Repeats of an arm that stands show the noise of the instrument; how well the arm comes back (its repeatability) is the
same in all of them and shows in no scatter.  Between repeats that other poses part, the arm was elsewhere.  Of repeats
one after another the scatter tells: where the arm came back, joints that stop elsewhere every time scatter the points
of a reading by

    V = N + t^2 G,   G = J J^T,     N = a I + b d^2 (I - e e^T) + c e e^T

with J how the points move with the joints, and the noise N of an instrument that sees a point at distance d along e.
With A what the parts of N leave of G, in the product <X, Y> = sum of (k - 1) tr(X Y) over states of k readings, the
score test of t = 0 is

    z = sum tr(D A) / sqrt(2 sum (k - 1) tr(A N A N)),    D the squares of deviations from the mean of a state.
"""

from __future__ import annotations

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.calibration.placing import Placing
from elastocal.calibration.sight import Sight
from elastocal.calibration.states import States
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array

PARTED = 0.8
"""Share of the repeats that other poses part from the one before, from which on the arm came back."""
SEEN = 4.0
"""Score in standard deviations from which on the scatter holds that of joints."""


def came_back(campaign: Campaign, sight: Sight, robot: Robot, placing: Placing) -> bool:
    """Of deflections always: they are differences, in which an arm that stops elsewhere does so twice."""
    if "position" not in sight.sections or "deflection" in sight.sections:
        return True
    return _parted(campaign, sight.states) >= PARTED or _score(campaign, sight, robot, placing) > SEEN


def _parted(campaign: Campaign, s: States) -> float:
    """Share of the repeats that readings of other poses part from the one before, in time or in the order of rows."""
    state = s.state_of(campaign.count)
    order = np.arange(campaign.count) if campaign.time is None else np.argsort(campaign.time, kind="stable")
    visit = np.empty(campaign.count, dtype=np.int64)
    visit[order] = np.cumsum(np.diff(s.pose[state[order]], prepend=-1) != 0)
    visits = np.unique(np.column_stack([state, visit]), axis=0)
    return (len(visits) - s.count) / max(1, campaign.count - s.count)


def _score(campaign: Campaign, sight: Sight, robot: Robot, placing: Placing) -> float:
    """How far the scatter of repeats follows the joints, in standard deviations."""
    s = sight.states
    assert campaign.position is not None
    assert s.position is not None
    rows = sight.sections["position"]
    off = campaign.position.reshape(campaign.count, -1) - s.position.reshape(s.count, -1)[s.state_of(campaign.count)]
    whole = np.isfinite(off).all(axis=1)
    off[~whole] = 0.0
    freedom = s.members.sums(whole.astype(np.float64)) - 1
    mine = freedom > 0
    if not mine.any():
        return 0.0
    squares = s.members.sums(off[:, :, None] * off[:, None])[mine]
    moves = sight.joint_moves(robot, placing)[mine, rows]
    parts = _instrument(s.position[mine])
    weight = freedom[mine]

    def product(a: Array, b: Array) -> Array:
        return np.asarray(np.einsum("s,...sij,...sji->...", weight, a, b))

    gram = np.array([[product(a, b) for b in parts] for a in parts])
    per = squares / weight[:, None, None]
    joints = moves @ np.swapaxes(moves, 1, 2)
    left = joints - _combined(gram, [product(p, joints) for p in parts], parts)
    noise = _combined(gram, [product(p, per) for p in parts], parts)
    spread = 2 * float(product(left @ noise, left @ noise))
    return float(product(left, per)) / np.sqrt(spread) if spread > 0 else 0.0


def _instrument(points: Array) -> tuple[Array, Array, Array]:
    """Covariances (M, rows, rows) that an instrument may have at points (M, m, 3), each of size one or so."""
    m = points.shape[1]
    seen = np.nan_to_num(points)
    distance = np.linalg.norm(seen, axis=2)
    e = seen / np.maximum(distance, 1e-9)[:, :, None]
    along, own = e[:, :, :, None] * e[:, :, None], np.eye(3)
    across = (distance / distance.max())[:, :, None, None] ** 2 * (own - along)
    parts = []
    for each in (np.broadcast_to(own, along.shape), across, along):
        block = np.zeros((len(points), m, 3, m, 3))
        block[:, np.arange(m), :, np.arange(m)] = np.moveaxis(each, 1, 0)
        parts.append(block.reshape(len(points), 3 * m, 3 * m))
    return parts[0], parts[1], parts[2]


def _combined(gram: Array, right: list[Array], parts: tuple[Array, ...]) -> Array:
    share = np.linalg.lstsq(gram, np.array(right), rcond=1e-9)[0]
    return np.asarray(sum(c * p for c, p in zip(share, parts, strict=True)))
