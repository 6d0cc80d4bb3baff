"""Unloaded trackers as workshops have them: the default against least squares and against an oracle.

    python tests/truth/arms.py 36 1 0 8      36 poses with 1 marker, robots 0 to 7: a line each, and medians

The arm is a shipped one of which the user has nothing but the nominal geometry.  The true one has errors of geometry,
links and gears that bend under weights nobody knows, gears and bearings that run untrue, joints that scatter.  Beside
the default stand

    least squares   all of the geometry, nothing else, without priors
    oracle          the words that the truth has, with the scales of priors and noise that the evidence finds on 100
                    other poses of the same robot: nothing is left to choose

Errors are mean distances in mm from the true points of 150 other poses.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "calibration"))

import numpy as np
from scipy.spatial.transform import Rotation
from virtual import Truth, campaign, shipped

import elastocal as ec
from elastocal.calibration.fit import Fit, fit
from elastocal.calibration.ladder import MULTIPLES, _multiplied
from elastocal.calibration.noise import Instrument
from elastocal.calibration.sight import Sight
from elastocal.calibration.starts import start_placing
from elastocal.calibration.states import gather
from elastocal.calibration.task import Task
from elastocal.calibration.tool import tool_of
from elastocal.calibration.words import with_words
from elastocal.model.compliant.gear_harmonics import GearHarmonics
from elastocal.model.robot import Robot

ARMS = ("fanuc-r2000ic165f", "abb-irb4600-60", "kuka-kr210-r2700", "yaskawa-gp25", "abb-irb120")
SMALL = ("abb-irb120",)
WORDS = ("geometry", "weight", "lateral", "harmonics")


@dataclass(frozen=True)
class Line:
    """Mean errors in mm, and what the default chose."""

    arm: str
    nominal: float
    least_squares: float
    default: float
    oracle: float
    claimed: float
    coverage: float
    words: str
    family: str
    seconds: float


def true_robot(nominal: Robot, rng: np.random.Generator) -> Robot:
    """Geometry off by 0.3 mm and 0.3 mrad, zeros by 1 mrad; springs and masses by size; gears by 30 to 60 urad."""
    soft = nominal.with_joint_compliance().with_masses()
    values = {}
    for p in soft.parameters:
        if p.kind == "joint_compliance":
            values[p.name] = p.value * np.exp(0.4 * rng.normal()) * 0.25
        elif p.kind == "link_mass" and p.unit == "kg":
            values[p.name] = p.value * np.exp(0.2 * rng.normal())
        elif p.kind == "link_mass":
            values[p.name] = p.value * (1 + 0.3 * rng.normal()) + 0.5 * rng.normal()
    soft = soft.with_parameters(values)
    model, wanted = with_words(soft, ("geometry", "lateral"))
    sizes = {"length": 3e-4, "offset": 1e-3, "tilt": 3e-4, "lateral": 5e-5}
    out: dict[str, float] = {}
    for group in wanted:
        draws = sizes[group.scale.name] * rng.standard_t(4, size=len(group.names)) / np.sqrt(2)
        out |= dict(zip(group.names, draws.tolist(), strict=True))
    model = model.with_elements(*(GearHarmonics(joint=j, orders=(1.0, 2.0, 3.0)) for j in model.joints))
    for j in model.joints:
        for order, size in ((1, 6e-5), (2, 3e-5), (3, 1e-5)):
            out |= {f"{j}.{w}{order}": float(size * rng.normal()) for w in ("sin", "cos")}
    return model.with_parameters(out)


def poses(robot: Robot, count: int, rng: np.random.Generator) -> np.ndarray:
    low, high = np.array([m.limits or (-np.pi, np.pi) for m in robot.motions]).T
    low, high = 0.6 * np.maximum(low, -2.2), 0.6 * np.minimum(high, 2.2)
    return np.asarray(low + (high - low) * rng.random((count, len(low))))


def read(truth: Truth, q: np.ndarray, rng: np.random.Generator | None, noise: float, joints: float) -> np.ndarray:
    reached = q if rng is None else q + joints * rng.normal(size=q.shape)
    at = tool_of(truth.robot, (), reached, None, truth.robot.tool).states(np.zeros(0))
    turn, shift = truth.stations[0]
    out = (at.origin[:, None] + np.einsum("nij,mj->nmi", at.turn, truth.markers)) @ turn.as_matrix().T + shift
    return out if rng is None else out + noise * rng.normal(size=out.shape)


def task(robot: Robot, data: ec.Campaign, words: tuple[str, ...], multiple: float | None = None) -> Task:
    sight = Sight(gather(robot, data))
    model, wanted = with_words(robot, words)
    if multiple is not None:
        wanted = tuple(_multiplied(w, multiple) for w in wanted)
    return Task(
        sight, model, wanted, "joints" if multiple is None else "points", np.zeros_like(sight.used), Instrument()
    )


def fitted(robot: Robot, data: ec.Campaign, words: tuple[str, ...], multiple: float | None = None) -> Fit:
    own = task(robot, data, words, multiple)
    return fit(own, start_placing(robot, own.sight))


def oracle(robot: Robot, data: ec.Campaign, many: ec.Campaign) -> Fit:
    known = fitted(robot, many, WORDS).posterior
    own = task(robot, data, WORDS)
    scales = dict(zip((s.name for s in known.blocks.scales), np.exp(known.log_scales).tolist(), strict=True))
    wanted = tuple(
        replace(w, scale=replace(w.scale, start=scales[w.scale.name], width=0.0, pool="")) for w in own.wanted
    )
    each = [v for n, v in scales.items() if n.startswith("noise ")]
    noise = Instrument(sd=scales["points"], joint_sd=float(np.sqrt(np.mean(np.square(each)))))
    fixed = replace(own, wanted=wanted, instrument=noise)
    return fit(fixed, start_placing(robot, own.sight))


def error(found: Fit, robot: Robot, q: np.ndarray, exact: np.ndarray) -> float:
    states = gather(robot, campaign(q, robot, position=exact))
    sight = Sight(states)
    off, _ = sight.linearise(sight.tool(found.task.robot, found.task.names), found.values, found.placing)
    return 1e3 * float(np.linalg.norm(off.reshape(len(off), -1, 3), axis=2).mean())


def trial(count: int, markers: int, seed: int, arms: tuple[str, ...] = ARMS) -> Line:
    rng = np.random.default_rng([seed, count, markers])
    name = arms[seed % len(arms)]
    nominal = shipped(name)
    spots = rng.uniform(-0.15, 0.15, size=(markers, 3))
    truth = Truth(
        true_robot(nominal, rng), nominal, spots, ((Rotation.random(random_state=rng), rng.uniform(-4, 4, 3)),)
    )
    noise, joints = float(rng.uniform(1e-5, 4e-5)), float(rng.uniform(5e-6, 4e-5))
    q, new, more = (poses(nominal, n, rng) for n in (count, 150, 100))
    data, many = (campaign(p, nominal, position=read(truth, p, rng, noise, joints)) for p in (q, more))
    exact = read(truth, new, None, noise, joints)
    began = time.process_time()
    cal = ec.calibrate(nominal, data)
    seconds = time.process_time() - began
    seen = cal.predict_joints(new)
    off = seen.position - exact
    assert cal.ladder is not None
    return Line(
        name,
        error(fitted(nominal, data, ()), nominal, new, exact),
        error(fitted(nominal, data, ("geometry",), MULTIPLES[-1]), nominal, new, exact),
        1e3 * float(np.linalg.norm(off, axis=2).mean()),
        error(oracle(nominal, data, many), nominal, new, exact),
        1e3 * cal.leave_one_out.mean,
        float(np.mean(np.abs(off) <= seen.half_width)),
        " + ".join(cal.words) + ("" if cal.ladder.chosen.multiple is None else f" x{cal.ladder.chosen.multiple:g}"),
        cal.ladder.chosen.family,
        seconds,
    )


def main(arguments: list[str]) -> None:
    count, markers, first, last = (int(a) for a in arguments[:4])
    lines = []
    for seed in range(first, last):
        one = trial(count, markers, seed)
        lines.append(one)
        print(
            f"{seed:3d} {one.arm:18s} nominal {one.nominal:6.3f} least squares {one.least_squares:6.3f} default "
            f"{one.default:6.3f} oracle {one.oracle:6.3f} ratio {one.default / one.oracle:5.2f} loo {one.claimed:6.3f} "
            f"coverage {one.coverage:4.0%} {one.words}, {one.family}, {one.seconds:.1f} s",
            flush=True,
        )
    ratio, gain = ([one.default / getattr(one, k) for one in lines] for k in ("oracle", "least_squares"))
    cover = np.mean([one.coverage for one in lines])
    print(f"{count} poses, {markers} markers: default / oracle {np.median(ratio):.2f} (worst {max(ratio):.2f}), "
          f"default / least squares {np.median(gain):.2f} (worst {max(gain):.2f}), coverage {cover:.1%}")  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
