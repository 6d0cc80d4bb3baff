"""Virtual robots of which three poses in ten are bad: are all found, and is the calibration as good as without them?

    python tests/truth/bad_poses.py numbers 0 20      prints one line for every robot and the figures of all

Scenes, on arms by turns, 20 to 40 poses, 1 to 3 markers, noise not stated; what is wrong is off by 0.3 mm to 0.1 m
(poses: 0.3 mrad to 0.1 rad of every joint), so that some of it cannot be told from noise:

    numbers   one coordinate of one marker of every bad pose
    points    one marker of every bad pose
    poses     joints stood elsewhere than the table says
    mixed     a third of each
    shifted   all bad poses off by the same 5 mm, as with a nest that was moved
    raw       20 poses with 4 bad poses and 2 bad points, each off by 3 mm or more
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from robots import Cell, _gone, _poses, _size, priors, replace_position

import elastocal as ec

SCENES = ("numbers", "points", "poses", "mixed", "shifted", "raw")
SHARE = 0.3
Place = tuple[object, ...]


@dataclass(frozen=True)
class Trial:
    """What became of one robot; ``error`` and ``clean`` are mean distances in m of predicted from true points."""

    scene: str
    seed: int
    poses: int
    planted: int
    large: int
    found: int
    lost: int
    good: int
    error: float
    clean: float
    """The same of a calibration that never saw the bad ones."""
    missed: str
    seconds: float


def spoil(scene: str, cell: Cell, q: np.ndarray, points: np.ndarray, rng: np.random.Generator) -> list[Place]:
    """Makes readings wrong in place; which, as indices of ``points``."""
    rows = rng.permutation(len(q))[: round(SHARE * len(q))]
    kinds = {"mixed": ("numbers", "points", "poses"), "raw": ("poses",) * 2 + ("points",)}.get(scene, (scene,))
    same, out = 5e-3 * rng.normal(size=3) / np.sqrt(3), []
    for i, row in enumerate(rows.tolist()):
        kind, size = kinds[i % len(kinds)], 10 ** rng.uniform(-2.5 if scene == "raw" else -3.5, -1)
        marker = int(rng.integers(points.shape[1]))
        place: Place = (row,)
        if kind == "numbers":
            place = (row, marker, int(rng.integers(3)))
            points[place] += size * rng.choice([-1, 1])
        elif kind == "points":
            place = (row, marker)
            points[place] += size * rng.normal(size=3)
        elif kind == "poses":
            points[row] = cell.read(q[row : row + 1] + size * rng.normal(size=(1, q.shape[1])), None, rng)[0]
        else:
            points[row] += same
        out.append(place)
    return out


def trial(scene: str, seed: int) -> Trial:
    rng = np.random.default_rng([seed, *scene.encode()])
    cell = priors(seed, rng)
    q, _ = _poses(cell, 20 if scene == "raw" else int(rng.integers(20, 41)), rng)
    good = cell.read(q, None, rng)
    points = good.copy()
    planted = spoil(scene, cell, q, points, rng)
    bad = points != good
    data = ec.Campaign(q=cell.robot.controller.to_controller(q), position=points, length="m", angle="rad")
    began = time.process_time()
    cal = ec.calibrate(cell.robot, data)
    seconds = time.process_time() - began
    clean = ec.calibrate(cell.robot, replace_position(data, np.where(bad, np.nan, points)))
    new, _ = _poses(cell, 150, rng)
    errors = [np.linalg.norm(c.predict_joints(new).position - cell.read(new, None, None), axis=2) for c in (cal, clean)]
    gone, sizes = _gone(cal, points.shape), [_size(cell, data, clean, unit, bad & False) for unit in planted]
    large = [(unit, size) for unit, size in zip(planted, sizes, strict=True) if size > 8]
    missed = [f"{unit} {size:.0f} sd" for unit, size in large if not np.all(gone[unit])]
    return Trial(
        scene, seed, len(q), len(planted), len(large), len(large) - len(missed), int((gone & ~bad).sum()),
        int((~bad).sum()), float(errors[0].mean()), float(errors[1].mean()), "; ".join(missed), seconds,
    )  # fmt: skip


def figures(trials: list[Trial]) -> str:
    lines = []
    for scene in dict.fromkeys(t.scene for t in trials):
        mine = [t for t in trials if t.scene == scene]
        ratio = np.array([t.error / t.clean for t in mine])
        plain = ratio[[t.large == t.planted for t in mine]]
        large, found, lost, good = (sum(getattr(t, k) for t in mine) for k in ("large", "found", "lost", "good"))
        lines.append(
            f"{scene}: {len(mine)} robots, {np.mean([t.seconds for t in mine]):.1f} s each; beyond 8 sd found {found} "
            f"of {large}, good numbers left out {lost} of {good} ({lost / good:.2%}); error as a multiple of that "
            f"without bad ones: median {np.median(ratio):.3f}, mean {ratio.mean():.3f}, largest {ratio.max():.2f}; "
            f"where all are beyond 8 sd ({len(plain)} robots) mean {plain.mean() if len(plain) else np.nan:.3f}"
        )
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    scene, first, last = arguments[0], int(arguments[1]), int(arguments[2])
    trials = []
    for seed in range(first, last):
        trials.append(trial(scene, seed))
        print(json.dumps(asdict(trials[-1])), flush=True)
    print(figures(trials))


if __name__ == "__main__":
    main(sys.argv[1:])
