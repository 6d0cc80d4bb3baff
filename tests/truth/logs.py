"""Monte Carlo of gravity logs: arms whose masses the file knows by its prior only, logged as controllers do.

    python tests/truth/logs.py 40                   forty arms of every scene, one line each
    python tests/truth/logs.py 40 "one joint, slow"  of one of them

The torques are those of Pinocchio (recursive Newton-Euler) with rotors, Coulomb and viscous friction; masses differ
from the file by 30 %, their centres by 30 mm, as the default prior has it.  Encoders scatter by 20 urad, torques by
about 2 %: half of it white, half alike over a tenth of a second, as ripple and control are.  ``rough`` arms have what
the model lacks: friction that grows with the load and towards rest (Stribeck), and the ripple of a gear.  Judged are
the holding torques at poses of the log and at poses anywhere within its ranges, and Coulomb friction.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from oracle.moving_logs import COULOMB, NOISE, RATE, ROTOR, VISCOUS, cobot, sweeps
from reference.test_pinocchio import pinocchio_model

from elastocal.measure.joints import JointLog
from elastocal.model.robot import Robot
from elastocal.procedures.gravity import PRIOR, identify
from elastocal.procedures.gravity.motors import friction_terms
from elastocal.procedures.gravity.samples import Samples

FILE = cobot()
START = np.array([0.0, -1.6, 0.8, -0.8, 0.3, 0.0])
ALIKE = 0.1
"""Seconds over which half of the noise is alike."""
BY_LOAD = 0.02
"""Friction of rough arms per load."""


@dataclass(frozen=True)
class Scene:
    """``joints`` that move, one after another or all at once; ``slow`` ones by less than 2 % of gravity."""

    joints: tuple[int, ...] = (1,)
    together: bool = False
    slow: bool = False
    timed: bool = True
    columns: tuple[int, ...] | None = None
    rough: bool = False


SCENES = {
    "one joint, fast": Scene(),
    "one joint, fast, one torque column": Scene(columns=(1,)),
    "one joint, fast, no time": Scene(timed=False),
    "one joint, slow": Scene(slow=True),
    "one joint, slow, no time": Scene(slow=True, timed=False),
    "joints in turn, fast": Scene((1, 2, 3, 4)),
    "joints in turn, fast, no time": Scene((1, 2, 3, 4), timed=False),
    "joints in turn, slow": Scene((1, 2, 3, 4), slow=True),
    "joints together, fast": Scene((0, 1, 2, 3, 4, 5), together=True),
    "joints together, fast, no time": Scene((0, 1, 2, 3, 4, 5), together=True, timed=False),
    "joints together, slow": Scene((0, 1, 2, 3, 4, 5), together=True, slow=True),
    "joints together, slow, no time": Scene((0, 1, 2, 3, 4, 5), together=True, slow=True, timed=False),
    "joints together, fast, rough": Scene((0, 1, 2, 3, 4, 5), together=True, rough=True),
    "joints together, slow, rough": Scene((0, 1, 2, 3, 4, 5), together=True, slow=True, rough=True),
}


@dataclass(frozen=True)
class Trial:
    """Shares of 95 % intervals that hold the truth: at poses of the log, elsewhere, and of Coulomb friction."""

    seen: float
    elsewhere: float
    coulomb: float
    error: float
    """Root mean square at poses of the log over that by the file's masses."""
    seconds: float


def true_arm(rng: np.random.Generator) -> Robot:
    values = {}
    for body in FILE.elements:
        tags = [p.name for p in body.parameters(FILE.tree)]
        here = [body.mass, *body.moment]
        values |= {n: v + s * rng.normal() for n, v, s in zip(tags, here, PRIOR.sds(body), strict=False)}
    return FILE.with_parameters(values)


def motion(scene: Scene, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Joint values, speeds and accelerations (N, n) at ``RATE``."""
    if scene.together:
        time = np.arange(0, 60, 1 / RATE)
        rates = rng.uniform(0.03, 0.06, (6, 3)) if scene.slow else rng.uniform(0.4, 1.2, (6, 3))
        sizes, phases = rng.uniform(0.2, 0.5, (6, 3)), rng.uniform(0, 6.3, (6, 3))
        inside = time[:, None, None] * rates + phases
        waves = sizes * np.sin(inside), sizes * rates * np.cos(inside), -sizes * rates**2 * np.sin(inside)
        return tuple(w.sum(axis=2) + s for w, s in zip(waves, (START, 0.0, 0.0), strict=True))
    speed = {"top": 0.12, "rate": 0.1, "times": 2} if scene.slow else {}
    parts, start = [], START + rng.uniform(-0.5, 0.5, 6)
    for j in scene.joints:
        parts.append(sweeps(j, start=tuple(start), **speed)[1:])
        start = parts[-1][0][-1]
    return tuple(np.concatenate(p) for p in zip(*parts, strict=True))


def torques(
    true: Robot, scene: Scene, rng: np.random.Generator, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> np.ndarray:
    import pinocchio as pin

    model = pinocchio_model(true)
    data = model.createData()
    rigid = np.array([pin.rnea(model, data, *row) for row in zip(q, v, a, strict=True)])
    friction = COULOMB * np.sign(v)
    if scene.rough:
        friction = (COULOMB * (1 + 0.3 * np.exp(-np.abs(v) / 0.05)) + BY_LOAD * np.abs(rigid)) * np.tanh(v / 5e-3)
        friction = friction + NOISE * np.sin(100 * q + rng.uniform(0, 6.3, 6))
    return rigid + ROTOR * a + friction + VISCOUS * v + NOISE * noise(q.shape, rng)


def coulomb(true: Robot, scene: Scene, samples: Samples) -> np.ndarray:
    """(n,) away from rest, where it goes with the load at the mean load of the readings that count."""
    if not scene.rough:
        return COULOMB
    rigid = np.abs(weights(true, samples.log.q)) * np.where(np.isfinite(samples.torque), 1.0, np.nan)
    return COULOMB + BY_LOAD * np.nan_to_num(np.nanmean(rigid, axis=0))


def noise(shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Of sd one: half of its power white, half alike over a tenth of a second."""
    from scipy.signal import lfilter

    rho = np.exp(-1 / (ALIKE * RATE))
    alike = lfilter([np.sqrt(1 - rho**2)], [1, -rho], rng.normal(size=shape), axis=0)
    return np.asarray(np.sqrt(0.5) * (alike + rng.normal(size=shape)))


def weights(true: Robot, q: np.ndarray) -> np.ndarray:
    import pinocchio as pin

    model = pinocchio_model(true)
    data = model.createData()
    return np.array([pin.computeGeneralizedGravity(model, data, row) for row in q])


def trial(name: str, seed: int) -> Trial:
    scene = SCENES[name]
    rng = np.random.default_rng([seed, *name.encode()])
    true = true_arm(rng)
    q, v, a = motion(scene, rng)
    torque = torques(true, scene, rng, q, v, a)
    if scene.columns is not None:
        torque[:, [j for j in range(FILE.n) if j not in scene.columns]] = np.nan
    read = q + 2e-5 * rng.normal(size=q.shape)
    clock = np.arange(len(q)) / RATE if scene.timed else None
    log = JointLog("log.csv", FILE.joints, read, torque, np.arange(len(q)) + 2, clock)
    began = time.process_time()
    done = identify(FILE, log, hold_out=0)
    seconds = time.process_time() - began
    spans = q.min(axis=0), q.max(axis=0)
    inside = []
    for poses in (q[rng.integers(0, len(q), 40)], rng.uniform(*spans, (40, FILE.n))):
        found = done.predict(poses)
        off = found.torque - weights(true, poses)
        told = np.isfinite(off) & (np.abs(weights(true, poses)).max(axis=0) > 1e-6)
        inside.append(float(np.mean(np.abs(off[told]) < 1.96 * found.sd[told])))
        if len(inside) == 1:
            file = weights(FILE, poses) - weights(true, poses)
            error = float(np.sqrt(np.mean(off[told] ** 2) / np.mean(file[told] ** 2)))
    terms = [t for t in friction_terms(done.arm) if t.term == "coulomb" and np.isfinite(t.value)]
    real = coulomb(true, scene, done.arm.samples)
    held = [abs(t.value - real[FILE.joints.index(t.joint)]) < 1.96 * t.sd for t in terms]
    return Trial(*inside, float(np.mean(held)) if held else np.nan, error, seconds)


def _share(held: np.ndarray) -> str:
    return f"{np.nanmean(held):.1%}" if np.isfinite(held).any() else "nothing"


def row(name: str, arms: int) -> str:
    done = [trial(name, seed) for seed in range(arms)]
    seen, elsewhere, coulomb = (np.array([getattr(t, k) for t in done]) for k in ("seen", "elsewhere", "coulomb"))
    error, seconds = (np.median([getattr(t, k) for t in done]) for k in ("error", "seconds"))
    return (
        f"{name}: {arms} arms, 95 % intervals hold {seen.mean():.1%} (+- {seen.std() / np.sqrt(arms):.1%}, least "
        f"{seen.min():.0%}) at poses of the log, {elsewhere.mean():.1%} elsewhere, {_share(coulomb)} of Coulomb "
        f"friction; error {error:.3f} of the file's, {seconds:.1f} s"
    )


if __name__ == "__main__":
    for scene in sys.argv[2:] or SCENES:
        print(row(scene, int(sys.argv[1])), flush=True)
