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
from elastocal.published.case import Case, Figure, Outcome, Progress
from elastocal.reduction.identify import Identification
from elastocal.report.blocks import Lines, Series
from elastocal.spatial.entries import Array
from elastocal.spatial.rotation import rpy_matrix
from elastocal.values import dataclass

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
    setup = ex.two_setups(truth, rng)
    identified = []
    for i, sources in enumerate((ex.tracker_only(), ex.error_budget())):
        identified.append(ex.identified(truth, ex.measured(truth, setup, sources, rng, "loaded")))
        progress(i + 1, 4)
    path = contour_targets(truth)
    loads = cutting_loads(truth, path)
    exact = compensated(truth, truth, path, loads)
    ways = {
        "tracker": compensated(truth, identified[0].fit.model, path, loads),
        "budget": compensated(truth, identified[1].fit.model, path, loads),
    }
    progress(3, 4)
    whole = [compensated(truth, f.fit.model, path, loads, weights=True) for f in identified]
    outcome = _Result(exact, ways, whole, _expected(identified[1], truth, path, loads), _sizes(loads))
    progress(4, 4)
    return Outcome(PRINTED.name, outcome.verdict(), outcome.figures(), (_along(exact, ways), _seen(path, ways)))


def compensated(truth: Robot, model: Robot, path: Targets, loads: PathLoads, weights: bool = False) -> Verification:
    """The path on the truth, before and after the correction by a model: of what the load adds, or of all."""
    nominal = correct(model, path, loads).nominal
    known, real = (path, path) if weights else (taught(m, path, nominal, loads) for m in (model, truth))
    return verify(truth, nominal, correct(model, known, loads).command, real, loads)


@dataclass(frozen=True, eq=False)
class _Result:
    exact: Verification
    ways: dict[str, Verification]
    whole: list[Verification]
    expected: float
    force: tuple[float, float]

    def figures(self) -> tuple[Figure, ...]:
        before, budget = self.exact.before.distances(), self.ways["budget"]
        values = {
            "force_along_kN": 1e-3 * self.force[0],
            "force_kN": 1e-3 * self.force[1],
            "uncompensated_rms_mm": 1e3 * before.rms,
            "uncompensated_max_mm": 1e3 * before.max,
            "exact_rest_um": 1e6 * self.exact.after.distances().max,
        }
        for name, seen in self.ways.items():
            after = seen.after.distances()
            values |= {
                f"compensated_percent_{name}": seen.compensated_percent,
                f"rest_rms_mm_{name}": 1e3 * after.rms,
                f"rest_max_mm_{name}": 1e3 * after.max,
                f"rest_p95_mm_{name}": 1e3 * after.p95,
            }
        both = zip(self.ways, self.whole, strict=True)
        values |= {f"compensated_percent_{n}_weights": v.compensated_percent for n, v in both}
        values |= {
            "expected_rms_mm_budget": 1e3 * self.expected,
            "rest_turned_mrad_budget": 1e3 * budget.after.angles().rms,
        }
        return PRINTED.figures(values)

    def verdict(self) -> str:
        before, after = self.exact.before.distances(), self.ways["budget"].after.distances()
        return (
            f"Under {1e-3 * self.force[1]:.1f} kN the tool leaves the contour by {1e3 * before.rms:.2f} mm rms. A "
            f"model from noisy readings compensates {self.ways['tracker'].compensated_percent:.2f} % of it with the "
            f"tracker's noise alone and {self.ways['budget'].compensated_percent:.2f} % with a whole error budget, "
            f"where {1e3 * after.rms:.3f} mm rms and {1e3 * after.max:.3f} mm at most are left (published for a "
            f"real robot: more than {PRINTED.value('compensated_percent_budget'):.0f} %, about "
            f"{PRINTED.value('rest_rms_mm_budget')} mm). With the exact model nothing is left "
            f"({1e6 * self.exact.after.distances().max:.1g} um)."
        )


def _sizes(loads: PathLoads) -> tuple[float, float]:
    """Along the motion and in all, in N."""
    force = loads.wrenches[0].wrench[:, :3]
    whole = np.linalg.norm(force, axis=1).max()
    return float(whole / np.sqrt(1 + RADIAL**2 + AXIAL**2)), float(whole)


def _expected(identified: Identification, truth: Robot, path: Targets, loads: PathLoads) -> float:
    """Rms (m) that the covariance of the fit lets expect."""
    model = identified.fit.model
    nominal = correct(model, path, loads).nominal
    command = correct(model, taught(model, path, nominal, loads), loads).command
    covariance = taught_covariance(ex.identified_model(identified), nominal, command, truth.tool, loads)
    return float(np.sqrt(np.mean(np.einsum("nii->n", covariance[:, :3, :3]))))


def _along(exact: Verification, ways: dict[str, Verification]) -> Lines:
    sizes = {"not compensated": exact.before, "tracker noise": ways["tracker"].after, "budget": ways["budget"].after}
    series = []
    for name, rest in sizes.items():
        off = 1e3 * np.linalg.norm(rest.position, axis=1)
        series.append(Series(name, tuple(float(i) for i in range(len(off))), tuple(float(v) for v in off)))
    return Lines("errors", "Distance from the contour", "point of the contour", "", "distance", "mm", tuple(series))


def _seen(path: Targets, ways: dict[str, Verification]) -> Lines:
    shown = {"desired": 0 * path.position, "not compensated": ways["budget"].before.position,
             "compensated": ways["budget"].after.position}  # fmt: skip
    series = []
    for name, off in shown.items():
        at = 1e3 * (path.position + EXAGGERATED * off)
        series.append(Series(name, tuple(float(v) for v in at[:, 0]), tuple(float(v) for v in at[:, 1])))
    note = f"Errors drawn {EXAGGERATED} times too large; with the whole error budget."
    return Lines("contour", "Contour seen from above", "x", "mm", "y", "mm", tuple(series), (note,), equal=True)
