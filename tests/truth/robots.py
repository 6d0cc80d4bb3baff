"""Monte Carlo of whole calibrations: virtual robots with a known truth, everything together, and what is claimed.

    python tests/truth/robots.py priors 0 200          prints one line for every robot and the figures of all
    python tests/truth/robots.py priors 0 50 >> a.txt  in pieces; the figures of several pieces by
    python tests/truth/robots.py figures a.txt b.txt

Scenes, each robot drawn by its own seed (its number):

    priors   geometry, own weight, lateral give and gears drawn from the priors of the model words, scales drawn too;
             three arms by turns, 30 to 60 poses, 1 to 3 markers, noise stated or not, joints that scatter or not
    others   what the model words do not say: masses, joints, links and the compensator of another robot than the file's
             bend the arm under its weight, errors of geometry have heavy tails, gears a third order; or a controller
             whose coupling the file lacks.  The file is the nominal geometry alone
    loaded   the file has masses, compliances, a compensator; the true ones are others, with backlash in the two joints
             that carry the arm and in two others; every pose without a load and under one.  A gear on which nothing
             presses lies on either side of its backlash by chance
    backlash the same with backlash in any of the joints, each with a chance of one half

Half of the robots have planted outliers: a number, a point, a pose.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "calibration"))

import numpy as np
from scipy.spatial.transform import Rotation
from virtual import SIZES, Truth, random_arm, shipped

import elastocal as ec
from elastocal.calibration.calibration import Calibration
from elastocal.calibration.tool import tool_of
from elastocal.calibration.words import with_words
from elastocal.model.compliant.gear_harmonics import GearHarmonics
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.equilibrium import equilibrium
from elastocal.model.statics.flexibility import assemble
from elastocal.model.transmission import Transmission
from elastocal.quantities import quantile_95

ARMS = (lambda: shipped("kuka-kr270"), lambda: shipped("fanuc-m710ic50"), lambda: random_arm(7))


@dataclass(frozen=True)
class Trial:
    """What became of one robot."""

    scene: str
    seed: int
    mean: float
    """Share of true coordinates inside the 95 % interval of the mean."""
    reading: float
    ratio: float
    """Root mean square of errors over that of their claimed sd."""
    error: float
    """Mean distance in m of predicted from true points."""
    planted: int
    large: int
    """Planted outliers more than 8 sd away from what all others predict."""
    found: int
    lost: int
    good: int
    """Good numbers that were left out, and all of them."""
    slips: int
    words: str
    family: str
    seconds: float
    known: float = float("nan")
    """Share of parameters known by the readings whose 95 % interval holds the truth; nan where the truth has others."""


@dataclass(frozen=True, eq=False)
class Cell:
    """A truth, what the user knows of it, and how it is read."""

    truth: Truth
    robot: Robot
    noise: float | ec.Tracker
    stated: bool
    joints: float
    loads: bool = False
    gaps: np.ndarray | None = None
    """Half the backlash (n,) of every joint."""

    def read(self, q: np.ndarray, wrench: np.ndarray | None, rng: np.random.Generator | None) -> np.ndarray:
        """Points (N, markers, 3), exact without a generator."""
        reached = q if rng is None else q + self.joints * rng.normal(size=q.shape)
        if self.gaps is not None:
            reached = reached + self.gaps * self._sides(reached, wrench)
        at = tool_of(self.truth.robot, (), reached, wrench, self.truth.robot.tool).states(np.zeros(0))
        turn, shift = self.truth.stations[0]
        base = at.origin[:, None] + np.einsum("nij,mj->nmi", at.turn, self.truth.markers)
        out = base @ turn.as_matrix().T + shift
        if rng is None:
            return out
        if isinstance(self.noise, ec.Tracker):
            beams = self.noise.beams(out.reshape(-1, 3))
            return out + np.einsum("nij,nj->ni", beams, rng.normal(size=(len(beams), 3))).reshape(out.shape)
        return out + self.noise * rng.normal(size=out.shape)

    def _sides(self, q: np.ndarray, wrench: np.ndarray | None) -> np.ndarray:
        """Signs (N, n) of the torques of the robot without backlash; where there is none, either, the same again."""
        robot = self.truth.robot
        applied = () if wrench is None else (AppliedWrenches(robot.tool, wrench),)
        force = equilibrium(robot, q, applied).force
        torque = force[:, [assemble(robot).dofs.index(d) for d in robot.joint_dofs]]
        chance = np.where(np.sin(1e5 * q.sum(axis=1, keepdims=True) + np.arange(robot.n)) > 0, 1.0, -1.0)
        return np.where(np.abs(torque) > 1e-6, np.sign(torque), chance)


def priors(seed: int, rng: np.random.Generator) -> Cell:
    nominal = ARMS[seed % 3]()
    model, wanted = with_words(nominal, ("geometry", "weight", "lateral", "harmonics"))
    pooled = np.exp(0.5 * rng.normal())
    values = {}
    for group in wanted:
        kind = group.scale.name.split()[0]
        scale = SIZES[kind] * np.exp(0.5 * rng.normal()) * (pooled if kind == "weight" else 1.0)
        draws = scale * group.sizes * rng.normal(size=len(group.names))
        values |= dict(zip(group.names, draws.tolist(), strict=True))
    noise = ec.Tracker() if seed % 2 else float(rng.uniform(2e-5, 5e-5))
    return Cell(
        _seen(model.with_parameters(values), nominal, rng), nominal, noise, seed % 4 < 2, rng.choice([0, 1e-5, 3e-5])
    )


def others(seed: int, rng: np.random.Generator) -> Cell:
    noise = float(rng.uniform(2e-5, 5e-5))
    if seed % 2:
        robot = ec.read_robot("fanuc-m710ic50")
        true = _crooked(robot.nominal, rng)
        file = replace(robot.nominal, transmission=Transmission.identity(robot.controller.axes))
        return Cell(_seen(true, robot.nominal, rng), file, noise, False, 1e-5)
    full = ec.read_robot("kuka-kr270")
    return Cell(_seen(_crooked(_soft(full, rng), rng), full.nominal, rng), full.nominal, noise, False, 1e-5)


def loaded(seed: int, rng: np.random.Generator) -> Cell:
    full = ec.read_robot("kuka-kr270")
    gaps = np.zeros(full.n)
    gaps[[1, 2, *rng.choice([0, 3, 4, 5], 2, replace=False)]] = rng.uniform(5e-5, 3e-4, size=4)
    true = _soft(full, rng)
    model, wanted = with_words(true, ("geometry", "harmonics"))
    values: dict[str, float] = {}
    for group in wanted:
        sd = SIZES[group.scale.name.split()[0]]
        values |= dict(zip(group.names, (sd * rng.normal(size=len(group.names))).tolist(), strict=True))
    truth = _seen(model.with_parameters(values), full, rng)
    return Cell(truth, full, float(rng.uniform(2e-5, 4e-5)), False, 1e-5, loads=True, gaps=gaps)


def backlash(seed: int, rng: np.random.Generator) -> Cell:
    cell = loaded(seed, rng)
    return replace(cell, gaps=rng.uniform(5e-5, 3e-4, size=6) * (rng.random(6) < 0.5))


def _seen(true: Robot, nominal: Robot, rng: np.random.Generator) -> Truth:
    markers = rng.uniform(-0.2, 0.2, size=(int(rng.integers(1, 4)), 3))
    return Truth(true, nominal, markers, ((Rotation.random(random_state=rng), rng.uniform(-4, 4, size=3)),))


def _soft(full: Robot, rng: np.random.Generator) -> Robot:
    """Other masses and compliances than the file's: masses by 15 %, joints by 30 %, links by 40 % together."""
    links, out = np.exp(0.4 * rng.normal()), {}
    for p in full.parameters:
        if p.kind == "joint_compliance":
            out[p.name] = p.value * np.exp(0.3 * rng.normal())
        elif p.kind in ("link_compliance", "foundation_compliance"):
            out[p.name] = p.value * links
        elif p.kind == "link_mass":
            out[p.name] = p.value * (1 + 0.15 * rng.normal())
    return full.with_parameters(out)


def _crooked(robot: Robot, rng: np.random.Generator) -> Robot:
    """Errors of geometry with heavy tails, gears that run untrue once, twice and three times a turn."""
    model, wanted = with_words(robot, ("geometry",))
    values = {}
    for group in wanted:
        draws = SIZES[group.scale.name] * rng.standard_t(3, size=len(group.names)) / np.sqrt(3)
        values |= dict(zip(group.names, draws.tolist(), strict=True))
    model = model.with_elements(*(GearHarmonics(joint=j, orders=(1.0, 2.0, 3.0)) for j in model.joints))
    for j in model.joints:
        for order, size in ((1, 1e-4), (2, 5e-5), (3, 1e-5)):
            values |= {f"{j}.{w}{order}": float(size * rng.normal()) for w in ("sin", "cos")}
    return model.with_parameters(values)


SCENES = {"priors": priors, "others": others, "loaded": loaded, "backlash": backlash}


def trial(scene: str, seed: int) -> Trial:
    rng = np.random.default_rng([seed, *scene.encode()])
    cell = SCENES[scene](seed, rng)
    count = int(rng.integers(30, 61))
    q, wrench = _poses(cell, count, rng)
    points = cell.read(q, wrench, rng)
    good = points.copy()
    planted = _plant(cell, q, wrench, points, rng) if seed // 2 % 2 else []
    data = ec.Campaign(
        q=cell.robot.controller.to_controller(q) if not _uncoupled(cell) else _pendant(cell, q),
        position=points,
        wrench=wrench,
        length="m",
        angle="rad",
        noise=cell.noise if cell.stated else None,
    )
    began = time.process_time()
    cal = ec.calibrate(cell.robot, data)
    seconds = time.process_time() - began
    new, loads = _poses(cell, 150, rng)
    seen = cal.predict_joints(new, loads)
    off = seen.position - cell.read(new, loads, None)
    noisy = seen.position - cell.read(new, loads, rng)
    sd = seen.half_width / quantile_95(cal.freedom)
    gone = _gone(cal, points.shape)
    bad = points != good
    large = [unit for unit in planted if _size(cell, data, cal, unit, bad) > 8]
    return Trial(
        scene,
        seed,
        float(np.mean(np.abs(off) <= seen.half_width)),
        float(np.mean(np.abs(noisy) <= seen.half_width_reading)),
        float(np.sqrt(np.mean(off**2) / np.mean(sd**2))),
        float(np.linalg.norm(off, axis=2).mean()),
        len(planted),
        len(large),
        sum(bool(np.all(gone[unit])) for unit in large),
        int((gone & ~bad).sum()),
        int((~bad).sum()),
        sum(w.code in ("points-far",) for w in cal.warnings)
        + sum(w.code == "coupling" for w in cal.warnings) * (not _uncoupled(cell)),
        " + ".join(cal.words),
        cal.ladder.chosen.family if cal.ladder else "",
        seconds,
        _known(cal, cell.truth.robot) if scene == "priors" else float("nan"),
    )


def _known(cal: Calibration, true: Robot) -> float:
    values = dict(zip(true.parameters.names, true.parameters.values.tolist(), strict=True))
    told = [e for e in cal.parameters.values() if e.name in values and not e.code]
    return float(np.mean([abs(e.value - values[e.name]) < 1.96 * e.sd for e in told])) if told else float("nan")


def _uncoupled(cell: Cell) -> bool:
    """Whether the file lacks a coupling that the controller has."""
    return not np.array_equal(cell.robot.controller.matrix, cell.truth.nominal.controller.matrix)


def _pendant(cell: Cell, q: np.ndarray) -> np.ndarray:
    return cell.truth.nominal.controller.to_controller(q)


def _poses(cell: Cell, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray | None]:
    """Anywhere in the middle of the ranges; under load every second state has none."""
    low, high = np.array([m.limits or (-np.pi, np.pi) for m in cell.robot.motions]).T
    low, high = 0.7 * np.maximum(low, -2.5), 0.7 * np.minimum(high, 2.5)
    q = low + (high - low) * rng.random((count, len(low)))
    if not cell.loads:
        return q, None
    wrench = np.zeros((2 * count, 6))
    force = rng.normal(size=(count, 3))
    wrench[1::2, :3] = 1500 * force / np.linalg.norm(force, axis=1)[:, None]
    return np.repeat(q, 2, axis=0), wrench


def _plant(
    cell: Cell, q: np.ndarray, wrench: np.ndarray | None, points: np.ndarray, rng: np.random.Generator
) -> list[tuple[object, ...]]:
    """A number, a point and a pose, each off by 0.3 to 10 mm; what was planted, as indices of ``points``."""
    rows = rng.choice(len(q), 3, replace=False)
    marker, axis = int(rng.integers(points.shape[1])), int(rng.integers(3))
    sizes = 10 ** rng.uniform(-3.5, -2, size=3) * rng.choice([-1, 1], size=3)
    points[rows[0], marker, axis] += sizes[0]
    points[rows[1], marker] += sizes[1] * rng.normal(size=3)
    mine = None if wrench is None else wrench[rows[2:]]
    points[rows[2]] = cell.read(q[rows[2:]] + sizes[2] * rng.normal(size=(1, q.shape[1])), mine, rng)[0]
    return [(rows[0], marker, axis), (rows[1], marker), (rows[2],)]


def _gone(cal: Calibration, shape: tuple[int, ...]) -> np.ndarray:
    out = np.zeros(shape, dtype=bool)
    for o in cal.outliers:
        marker = slice(None) if o.marker is None else cal.markers.index(o.marker)
        axis = slice(None) if o.axis is None else "xyz".index(o.axis)
        out[o.row, marker, axis] = True
    return out


def _size(cell: Cell, data: ec.Campaign, cal: Calibration, unit: tuple[object, ...], bad: np.ndarray) -> float:
    """Root mean square distance in sd of a unit from what a calibration without any planted outlier predicts."""
    if not np.all(_gone(cal, bad.shape)[bad]):
        clean = np.where(bad, np.nan, data.position)
        cal = ec.calibrate(cell.robot, replace_position(data, clean))
    row = unit[0]
    seen = cal.predict(data.q[row : row + 1], None if data.wrench is None else data.wrench[row : row + 1])
    sd = seen.half_width_reading[0] / quantile_95(cal.freedom) / cal.inflation
    off = (data.position[row] - seen.position[0]) / sd
    return float(np.sqrt(np.mean(off[unit[1:]] ** 2)))


def replace_position(data: ec.Campaign, position: np.ndarray) -> ec.Campaign:
    return data.changed(position=position)


def figures(trials: list[Trial]) -> str:
    """All of them in a few lines."""
    lines = []
    for scene in dict.fromkeys(t.scene for t in trials):
        mine = [t for t in trials if t.scene == scene]
        mean, reading = (np.array([getattr(t, k) for t in mine]) for k in ("mean", "reading"))
        se = [float(v.std(ddof=1) / np.sqrt(len(v))) if len(v) > 1 else float("nan") for v in (mean, reading)]
        large, found = sum(t.large for t in mine), sum(t.found for t in mine)
        lost, good = sum(t.lost for t in mine), sum(t.good for t in mine)
        ratio = float(np.median([t.ratio for t in mine]))
        error, slips = 1e6 * np.median([t.error for t in mine]), sum(t.slips for t in mine)
        lines += [
            f"{scene}: {len(mine)} robots, {np.mean([t.seconds for t in mine]):.1f} s each",
            f"  coverage of 95 % intervals: mean {mean.mean():.1%} (+- {se[0]:.1%}, least {mean.min():.0%}), reading "
            f"{reading.mean():.1%} (+- {se[1]:.1%}); seen/expected {ratio:.2f}, error {error:.0f} um (medians)",
            f"  coverage of parameters known by the readings: {np.nanmean([t.known for t in mine] or [np.nan]):.1%}",
            f"  outliers beyond 8 sd found: {found} of {large}; good numbers left out: {lost} of {good} "
            f"({lost / max(good, 1):.2%}); wrong slips: {slips}",
        ]
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    if arguments[0] == "figures":
        rows = [line for name in arguments[1:] for line in Path(name).read_text().splitlines() if line.startswith("{")]
        print(figures([Trial(**json.loads(row)) for row in rows]))
        return
    scene, first, last = arguments[0], int(arguments[1]), int(arguments[2])
    trials = []
    for seed in range(first, last):
        trials.append(trial(scene, seed))
        print(json.dumps(asdict(trials[-1])), flush=True)
    print(figures(trials))


if __name__ == "__main__":
    main(sys.argv[1:])
