"""Alarms on what changes in the course of a campaign: how often where nothing does, and where something does.

    python tests/truth/course.py right 0 200      campaigns of five arms without a change: alarms by order of rows
    python tests/truth/course.py changed 0 20     shares of the changes that are named, and named right

Arms are those of ``arms.py``: true ones have effects that no word describes exactly.  Rows of a right campaign are
taken as they were drawn, by the shortest way from pose to pose, and in the order of one joint.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "calibration"))
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from arms import ARMS, poses, read, true_robot
from scipy.spatial.transform import Rotation
from virtual import Truth, campaign, shipped

import elastocal as ec
from elastocal.calibration.changes import changes
from elastocal.model.robot import Robot

SIZES = ((15, 3), (40, 1), (40, 3), (60, 2))
"""Poses and markers."""
SHUFFLES = 7
"""Further orders of a right campaign, by chance."""


def drawn(seed: int) -> tuple[Robot, np.ndarray, np.ndarray]:
    """An arm as its user has it, joint values, points (N, markers, 3) in m without a change."""
    count, markers = SIZES[seed % len(SIZES)]
    rng = np.random.default_rng([seed, count, markers])
    nominal = shipped(ARMS[seed % len(ARMS)])
    spots = rng.uniform(-0.15, 0.15, size=(markers, 3))
    place = (Rotation.random(random_state=rng), rng.uniform(-4, 4, 3))
    truth = Truth(true_robot(nominal, rng), nominal, spots, (place,))
    noise, joints = float(rng.uniform(1e-5, 4e-5)), float(rng.uniform(5e-6, 2e-5))
    q = poses(nominal, count, rng)
    return nominal, q, read(truth, q, rng, noise, joints)


def shortest_way(q: np.ndarray) -> np.ndarray:
    """Rank (N,) of every pose on the way from each to the nearest that is left."""
    way, left = [0], set(range(1, len(q)))
    while left:
        way.append(min(left, key=lambda j: float(np.abs(q[j] - q[way[-1]]).max())))
        left.discard(way[-1])
    return np.argsort(way).astype(float)


def right(seed: int) -> Iterator[tuple[str, str]]:
    """Order of the rows and code of the alarm; empty where there is none."""
    robot, q, x = drawn(seed)
    data = campaign(q, robot, position=x)
    fit = ec.calibrate(robot, data).ladder.chosen.fit
    rng, count = np.random.default_rng([seed, 2]), len(q)
    orders = [("drawn", np.arange(count)), ("way", shortest_way(q)), ("joint", np.argsort(np.argsort(q[:, 0])))]
    for name, rank in orders + [("shuffled", rng.permutation(count)) for _ in range(SHUFFLES)]:
        found = changes(fit, data.changed(time=rank.astype(float)))
        yield name, found[0].code if found else ""


def changed(seed: int) -> Iterator[tuple[str, str, bool]]:
    """Kind of the change, code of the alarm, and whether its row is right."""
    robot, q, x = drawn(seed)
    rng, count = np.random.default_rng([seed, 1]), len(q)
    row = int(rng.integers(count // 4, 3 * count // 4))
    way = rng.normal(size=3)
    way /= np.linalg.norm(way)
    for mm in (0.2, 1.0, 5.0):
        moved = x.copy()
        turn = Rotation.from_rotvec(1e-4 * mm**0.5 * rng.permutation(way)).as_matrix()
        moved[row:] = x[row:] @ turn.T + 1e-3 * mm * way
        yield f"moved {mm} mm", *_named(robot, q, moved, row)
    for mm in (0.1, 0.2, 0.5):
        yield f"drift {mm} mm", *_named(robot, q, x + 1e-3 * mm * way * np.linspace(0, 1, count)[:, None, None], -1)
    if x.shape[1] > 1:
        swapped = x.copy()
        swapped[row:, [0, 1]] = x[row:, [1, 0]]
        yield "exchanged", *_named(robot, q, swapped, row)


def _named(robot: Robot, q: np.ndarray, x: np.ndarray, row: int) -> tuple[str, bool]:
    try:
        cal = ec.calibrate(robot, campaign(q, robot, position=x))
    except ec.InputError as error:
        return "exchanged", str(error.value).endswith(f" from row {row} on")
    codes = ("moved", "exchanged", "marker-moved", "drift")
    found = next((w for w in cal.warnings if w.code in codes), None)
    return (found.code, found.data.get("row", -1) == row) if found else ("", False)


if __name__ == "__main__":
    what, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    table: Counter[tuple[object, ...]] = Counter()
    for seed in range(first, last):
        table.update(right(seed) if what == "right" else changed(seed))
    for key, times in sorted(table.items()):
        print(*key, times)
