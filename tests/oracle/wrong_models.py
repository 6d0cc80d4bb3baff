"""Robots that their file does not describe: is the misfit seen, and do the intervals still hold the truth?

Compliances of the true robot are drawn from the priors of the calibration, so that a robot that is otherwise as its
file says is what intervals of 95 % are made for.  On top of that one thing is wrong that the model cannot say:

    foundation   the foundation tilts by a sixth of what the gear of A2 does, and the file has none
    gear         the gear of A2 is stiffer by 30 % under the largest torque of the campaign
    hysteresis   every loading stops 5 % of its deflection before or beyond, by chance
    masses       every link is 30 % lighter or heavier than in the file (seen by positions, not by deflections)
    links        all links are 3 times softer than in the file, which is 1.9 sd of their prior

``python -m oracle.wrong_models --trials 100`` with ``tests`` on the path prints the figures of docs/calibration.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

import elastocal as ec
from elastocal.calibration.words import compliance_priors
from elastocal.model.compliant.foundation_compliance import FoundationCompliance
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.deflection import frame_pose
from elastocal.model.statics.equilibrium import equilibrium

MARKERS = ("marker1", "marker2", "marker3")
WRONG = ("none", "foundation", "gear", "hysteresis", "masses", "links")
NOISE = 2e-5
UNSEEN = 25
ALARMS = ("lack-of-fit", "omitted-effect")


@dataclass(frozen=True)
class Trial:
    """Whether the misfit was seen, and which share of 95 % intervals holds the truth."""

    alarm: bool
    culprit: str
    mean: float
    reading: float
    joints: float
    outliers: int


def robot_file(wrong: str) -> ec.Robot:
    """What the user has."""
    robot = ec.read_robot("kuka-kr270")
    if wrong != "foundation":
        return robot
    kept = tuple(e for e in robot.elements if not isinstance(e, FoundationCompliance))
    return replace(robot, elements=kept)


def true_robot(wrong: str, rng: np.random.Generator) -> ec.Robot:
    robot = ec.read_robot("kuka-kr270")
    names, covariance = compliance_priors(robot, ())
    index = robot.parameters.index
    file = np.array([robot.parameters.values[index(n)] for n in names])
    logs = np.linalg.cholesky(covariance / np.outer(file, file)) @ rng.normal(size=len(names))
    if wrong == "links":
        kinds = [robot.parameters.rows[index(n)].kind for n in names]
        logs = np.where([k == "link_compliance" for k in kinds], np.log(3.0), logs)
    values = dict(zip(names, (file * np.exp(logs)).tolist(), strict=True))
    if wrong == "foundation":
        values |= {n: 5e-8 * np.exp(0.3 * rng.normal()) for n in ("base.k44", "base.k55")}
    if wrong == "masses":
        for link in {p.name.rpartition(".")[0] for p in robot.parameters if p.kind == "link_mass"}:
            factor = 1 + 0.3 * rng.choice([-1.0, 1.0])
            values |= {p.name: factor * p.value for p in robot.parameters if p.name.startswith(f"{link}.m")}
    return robot.with_estimates(values)


def places(robot: ec.Robot, q: np.ndarray, wrench: np.ndarray) -> np.ndarray:
    """Positions (N, markers, 3) in base axes of the loaded robot."""
    state = equilibrium(robot, q, [AppliedWrenches("tool", wrench)])
    return np.stack([frame_pose(robot, q, state, m)[0].T for m in MARKERS], axis=1)


def shifts(robot: ec.Robot, q: np.ndarray, wrench: np.ndarray) -> np.ndarray:
    return places(robot, q, wrench) - places(robot, q, np.zeros_like(wrench))


def deflections(wrong: str, robot: ec.Robot, q: np.ndarray, wrench: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    moved = shifts(robot, q, wrench)
    if wrong == "hysteresis":
        return moved * (1 + 0.05 * rng.choice([-1.0, 1.0], size=(len(q), 1, 1)))
    if wrong == "gear":
        torque = np.abs(np.einsum("nij,ni->nj", robot.kinematics(q).jacobian, wrench)[:, 1])
        stiff = robot.with_parameters({"A2.k": 0.7 * robot.parameters.values[robot.parameters.index("A2.k")]})
        return moved + (torque / torque.max())[:, None, None] * (shifts(stiff, q, wrench) - moved)
    return moved


def trial(
    wrong: str, seed: int, *, poses: int = 18, read: str = "deflection", repeats: int = 1, stated: bool = True
) -> Trial:
    rng = np.random.default_rng([seed, WRONG.index(wrong), poses])
    file, truth = robot_file(wrong), true_robot(wrong, rng)
    low, high = 0.7 * np.array([m.limits for m in file.motions]).T
    q = low + (high - low) * rng.random((poses + UNSEEN, file.n))
    push = rng.normal(size=(len(q), 3))
    wrench = np.zeros((len(q), 6))
    wrench[:, :3] = rng.uniform(1000, 3000, size=(len(q), 1)) * push / np.linalg.norm(push, axis=1, keepdims=True)
    moved = deflections(wrong, truth, q, wrench, rng)
    shown = file.controller.to_controller(q)
    again = np.tile(np.arange(poses), repeats)
    share = np.sqrt(2) if read == "deflection" else 1.0  # noise is stated for one reading
    noise = {"noise": NOISE / share} if stated else {}
    base = {"length": "m", "angle": "rad", "markers": MARKERS}
    if read == "deflection":
        seen = moved[again] + NOISE * rng.normal(size=(len(again), 3, 3))
        data = ec.Campaign(q=shown[again], deflection=seen, wrench=wrench[again], **base, **noise)
        cal = ec.calibrate(file, data)
        found = cal.predict(shown[poses:], wrench[poses:])
        off, half, new = (
            found.deflection - moved[poses:],
            found.deflection_half_width,
            found.deflection_half_width_reading,
        )
    else:
        rest = places(truth, q, np.zeros_like(wrench))
        both = np.concatenate([rest[again], (rest + moved)[again]])
        seen = both + NOISE * rng.normal(size=both.shape)
        twice = np.concatenate([shown[again], shown[again]])
        loads = np.concatenate([0 * wrench[again], wrench[again]])
        cal = ec.calibrate(file, ec.Campaign(q=twice, position=seen, wrench=loads, **base, **noise))
        found = cal.predict(shown[poses:], wrench[poses:])
        off, half, new = found.position - (rest + moved)[poses:], found.half_width, found.half_width_reading
    values = dict(zip(truth.parameters.names, truth.parameters.values, strict=True))
    mine = [e for e in cal.parameters.values() if e.name.endswith(".k") and np.isfinite(e.sd)]
    held = np.mean([abs(e.value - values[e.name]) < 1.96 * e.sd for e in mine]) if mine else np.nan
    alarms = [w for w in cal.warnings if w.code in ALARMS]
    noisy = off + NOISE * rng.normal(size=off.shape)
    return Trial(
        bool(alarms), str(alarms[-1].data.get("best", "")) if alarms else "", float(np.mean(np.abs(off) <= half)),
        float(np.mean(np.abs(noisy) <= new)), float(held), len(cal.outliers),
    )  # fmt: skip


def trials(wrong: str, count: int, **setting: object) -> Iterator[Trial]:
    for seed in range(count):
        yield trial(wrong, seed, **setting)  # type: ignore[arg-type]


SETTINGS: dict[str, dict[str, object]] = {
    "deflections, noise stated": {},
    "deflections, 3 repeats": {"repeats": 3, "stated": False},
    "deflections, neither": {"stated": False},
    "positions, noise stated": {"read": "position", "poses": 25},
}


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--wrong", nargs="*", default=list(WRONG), choices=WRONG)
    parser.add_argument("--setting", nargs="*", default=list(SETTINGS), choices=list(SETTINGS))
    asked = parser.parse_args(words)
    print(f"{asked.trials} robots each; alarm, 95 % intervals that hold: mean, reading, joint compliances; outliers")
    for name in asked.setting:
        print(name)
        for wrong in asked.wrong:
            done = list(trials(wrong, asked.trials, **SETTINGS[name]))
            shares = [100 * np.nanmean([getattr(t, k) for t in done]) for k in ("alarm", "mean", "reading", "joints")]
            culprits = [t.culprit for t in done if t.culprit]
            best = max(set(culprits), key=culprits.count) if culprits else ""
            text = "  ".join(f"{v:5.1f}" for v in shares)
            print(f"  {wrong:11} {text}  {sum(t.outliers for t in done):4}  {best}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
