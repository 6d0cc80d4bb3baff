"""A part contour milled by the KR-270 under 3.6 kN, compensated with a model from noisy virtual readings.

The truth is the shipped robot (joints, links, foundation, weights, compensator); the model that compensates is
identified by the virtual experiment of ``kr270_experiment`` and has been told nothing of the truth's compliances.  As
in the experiment, what the load adds to the arm under its own weight is compensated; weights are a comparison.
Published for a real robot: more than 95 % compensated, about 0.1 mm left (Klimchik et al. 2013, IMECE, section 5).
"""

from __future__ import annotations

import numpy as np

from elastocal.compensation.commands import correct
from elastocal.compensation.loads import Milling, PathLoads, milling_wrenches
from elastocal.compensation.targets import Targets
from elastocal.compensation.verification import Verification, taught, taught_covariance, verify
from elastocal.files.robot.read import read_robot
from elastocal.model.robot import Robot
from elastocal.published import kr270_experiment as ex
from elastocal.published.case import Case, Outcome, Progress, curve
from elastocal.reduction.identify import Identification
from elastocal.report.blocks import Series
from elastocal.spatial.entries import Array
from elastocal.spatial.rotation import rpy_matrix

CENTRE, HALF, CORNER, STEP = (1.85, 0.0, 0.9), (0.35, 0.25), 0.08, 0.01
FEED, RADIAL, AXIAL = 3.3e-3, 0.8, 0.6


def contour() -> Array:
    """Points (N, 3) in m along a rounded rectangle, counter-clockwise, every 10 mm or closer, the first one again."""
    (x, y, z), (a, b) = CENTRE, HALF
    middles = [(x + a - CORNER, y - b + CORNER), (x + a - CORNER, y + b - CORNER),
               (x - a + CORNER, y + b - CORNER), (x - a + CORNER, y - b + CORNER)]  # fmt: skip
    turn = np.linspace(-np.pi / 2, 0, 13)
    arcs = [
        np.array(m) + CORNER * np.column_stack([np.cos(turn + i * np.pi / 2), np.sin(turn + i * np.pi / 2)])
        for i, m in enumerate(middles)
    ]
    out = []
    for this, following in zip(arcs, [*arcs[1:], arcs[0]], strict=True):
        length = float(np.linalg.norm(following[0] - this[-1]))
        share = np.linspace(0, 1, round(length / STEP) + 1)[1:-1, None]
        out += [this, this[-1] + share * (following[0] - this[-1])]
    plane = np.concatenate([*out, arcs[0][:1]])
    return np.column_stack([plane, np.full(len(plane), z)])


def contour_targets(truth: Robot) -> Targets:
    """The tool's x axis, along which the spindle lies, points down."""
    places = contour()
    down = rpy_matrix(0.0, np.pi / 2, 0.0)
    return Targets(truth.tool, places, np.repeat(down[None], len(places), axis=0), np.radians([0, -70, 90, 0, 70, 0]))


def cutting_loads(truth: Robot, path: Targets) -> PathLoads:
    """Steel, 10 mm deep and 30 mm wide with a 50 mm cutter at 300 1/min: 2.5 kN along, 2 kN across, 1.5 kN axial."""
    process = Milling(
        specific_force=2e9, axial_depth=0.01, radial_engagement=0.03, diameter=0.05, teeth=4, spindle=5.0,
        radial=RADIAL, axial=AXIAL,
    )  # fmt: skip
    return PathLoads((milling_wrenches(process, truth.tool, path.position, -path.rotation[:, :, 0], FEED),))


ROBOT = "kuka-kr270"
PRINTED = Case("kr270-milling")
EXAGGERATED = 30


def run(rng: np.random.Generator, progress: Progress) -> Outcome:
    truth = read_robot(ROBOT)
    setup, identified = ex.two_setups(truth, rng), []
    for i, sources in enumerate((ex.tracker_only(), ex.error_budget())):
        identified.append(ex.identified(truth, ex.measured(truth, setup, sources, rng, "loaded")))
        progress(i + 1, 4)
    path = contour_targets(truth)
    loads = cutting_loads(truth, path)
    exact = compensated(truth, truth, path, loads)
    named = dict(zip(("tracker", "budget"), identified, strict=True))
    ways = {n: compensated(truth, f.fit.model, path, loads) for n, f in named.items()}
    progress(3, 4)
    whole = {n: compensated(truth, f.fit.model, path, loads, weights=True) for n, f in named.items()}
    values = {
        **_sizes(exact, loads), **_rests(ways),
        **{f"compensated_percent_{n}_weights": seen.compensated_percent for n, seen in whole.items()},
        "expected_rms_mm_budget": 1e3 * _expected(named["budget"], truth, path, loads),
        "rest_turned_mrad_budget": 1e3 * ways["budget"].after.angles().rms,
    }  # fmt: skip
    progress(4, 4)
    curves = (PRINTED.lines("errors", _along(exact, ways)), PRINTED.lines("contour", _seen(path, ways), by=EXAGGERATED))
    return PRINTED.outcome(PRINTED.figures(values), curves)


def compensated(truth: Robot, model: Robot, path: Targets, loads: PathLoads, weights: bool = False) -> Verification:
    """The path on the truth, before and after the correction by a model: of what the load adds, or of all."""
    nominal = correct(model, path, loads).nominal
    known, real = (path, path) if weights else (taught(m, path, nominal, loads) for m in (model, truth))
    return verify(truth, nominal, correct(model, known, loads).command, real, loads)


def _sizes(exact: Verification, loads: PathLoads) -> dict[str, float]:
    """Forces along the motion and in all, errors without compensation and by the exact model."""
    whole = float(np.linalg.norm(loads.wrenches[0].wrench[:, :3], axis=1).max())
    before = exact.before.distances()
    return {
        "force_along_kN": float(1e-3 * whole / np.sqrt(1 + RADIAL**2 + AXIAL**2)), "force_kN": 1e-3 * whole,
        "uncompensated_rms_mm": 1e3 * before.rms, "uncompensated_max_mm": 1e3 * before.max,
        "exact_rest_um": 1e6 * exact.after.distances().max,
    }  # fmt: skip


def _rests(ways: dict[str, Verification]) -> dict[str, float]:
    out = dict[str, float]()
    for name, seen in ways.items():
        after = seen.after.distances()
        out |= {f"compensated_percent_{name}": seen.compensated_percent}
        out |= {f"rest_{size}_mm_{name}": 1e3 * float(getattr(after, size)) for size in ("rms", "max", "p95")}
    return out


def _expected(identified: Identification, truth: Robot, path: Targets, loads: PathLoads) -> float:
    """Rms (m) that the covariance of the fit lets expect."""
    model = identified.fit.model
    nominal = correct(model, path, loads).nominal
    command = correct(model, taught(model, path, nominal, loads), loads).command
    covariance = taught_covariance(ex.identified_model(identified), nominal, command, truth.tool, loads)
    return float(np.sqrt(np.mean(np.einsum("nii->n", covariance[:, :3, :3]))))


def _along(exact: Verification, ways: dict[str, Verification]) -> list[Series]:
    rests = {"not compensated": exact.before, "tracker noise": ways["tracker"].after, "budget": ways["budget"].after}
    sizes = {name: 1e3 * np.linalg.norm(rest.position, axis=1) for name, rest in rests.items()}
    return [curve(name, range(len(off)), off) for name, off in sizes.items()]


def _seen(path: Targets, ways: dict[str, Verification]) -> list[Series]:
    budget = ways["budget"]
    off = {
        "desired": 0 * path.position,
        "not compensated": budget.before.position,
        "compensated": budget.after.position,
    }
    places = {name: 1e3 * (path.position + EXAGGERATED * away) for name, away in off.items()}
    return [curve(name, at[:, 0], at[:, 1]) for name, at in places.items()]
