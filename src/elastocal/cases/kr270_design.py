"""Plans of 15 poses for the compensated KR-270: random, D-optimal, and best at test poses (000 section 5).

Truth, set-up and errors are those of the virtual experiment of Table 3 (``kr270_compensator_experiment``): joint
compliances and the compensator's stiffness yield, 2.5 kN pulls down at the tool, three markers are read three times.
Candidates are Sobol points of the joint space where the tool is clear of floor and column.  The task, which the paper
leaves to its reader, is a box of the workspace as machining uses it, with the same load.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from elastocal.cases.case import Case, Figure, Outcome, Progress, unwatched
from elastocal.cases.kr270_compensator_experiment import LEFT_OUT, SOUGHT
from elastocal.cases.kr270_compensator_table3 import PUBLISHED
from elastocal.cases.kr270_experiment import (
    DOWN,
    HEIGHT,
    MARKERS,
    POSES,
    RADIUS,
    REPEATS,
    error_budget,
    tracker_only,
)
from elastocal.report.blocks import Lines, Series

if TYPE_CHECKING:
    import numpy as np

    from elastocal.design.knowledge import Knowledge
    from elastocal.design.study import Offer, Planned
    from elastocal.design.task import Task
    from elastocal.measure.sources.source import ErrorSource
    from elastocal.spatial.entries import Array

DRAWN, RANDOM, RESTARTS = 2000, 200, 4
LOW, HIGH, TESTS = (1.2, -0.6, 0.6), (2.2, 0.6, 1.6), 60
"""The task: corners (m) of the box and how many points of it."""
COUNTS = (5, 10, 15, 30)
_PUBLISHED = {s: accuracy for s, (_, accuracy, _) in PUBLISHED.items()}
PLANS = ("random", "d", "test_pose")
WORDS = {
    "random": f"median of {RANDOM} random plans",
    "d": "D-optimal plan",
    "test_pose": "plan that is best at the test poses",
}


@dataclass(frozen=True, eq=False)
class Compared:
    """For every plan: accuracy in per cent by short name, and rms and largest expected error (m) at the test poses.

    ``certified`` are efficiencies of the plans by their own criterion, ``by_determinant`` that of the last by D.
    """

    candidates: int
    percent: dict[str, dict[str, float]]
    error: dict[str, float]
    largest: dict[str, float]
    certified: dict[str, float]
    by_determinant: float
    curves: dict[str, tuple[float, ...]]

    def better(self, than: str) -> float:
        """Per cent of the error of another plan that the one made for the test poses saves."""
        return 100 * (1 - self.error["test_pose"] / self.error[than])


class Design(Case):
    name: ClassVar[str] = "design"
    title: ClassVar[str] = "Design of experiments for the KR-270 with its gravity compensator"
    source: ClassVar[str] = "Klimchik et al. 2013 (MIM), sections 5 and 6, Table 3"

    def run(self, rng: np.random.Generator, progress: Progress = unwatched) -> Outcome:
        import numpy as np

        seed = int(rng.integers(2**32))  # the same candidates and test poses for both
        bare = compared(tracker_only(), np.random.default_rng(seed), True)
        progress(1, 2)
        whole = compared(error_budget(), np.random.default_rng(seed))
        progress(2, 2)
        figures = (*_figures(bare, "", "tracker noise alone"), *_figures(whole, "_budget", "whole error budget"))
        return Outcome(self.name, verdict(bare, whole), figures, (_curve(bare),))


def task(sources: tuple[ErrorSource, ...], rng: np.random.Generator) -> Task:
    """The experiment with its test poses."""
    import numpy as np

    from elastocal.design.drawing import Box, Draw
    from elastocal.design.feasibility.tool_box import FAR, ToolBox
    from elastocal.design.loading.actuator import Actuator
    from elastocal.design.measuring import Measuring
    from elastocal.design.task import Task
    from elastocal.design.testing import TestPlan, placed
    from elastocal.files.robot_yaml import read_robot
    from elastocal.model.statics.observation import Marker

    truth = read_robot("kuka-kr270").without(*LEFT_OUT)
    down = np.array([[0.0, 0.0, -DOWN, 0.0, 0.0, 0.0]])
    tests = TestPlan(truth.tool, f"{TESTS} points of a box", box=Box(LOW, HIGH), count=TESTS, wrenches=down)
    return Task(
        truth, Measuring("deflection", tuple(Marker(m) for m in MARKERS), sources), tuple(SOUGHT.values()),
        loadings=(Actuator(sizes=(DOWN,), directions=((0.0, 0.0, -1.0),)),), draw=Draw(DRAWN),
        filters=(ToolBox(low=(-FAR, -FAR, HEIGHT), radius=RADIUS),), count=POSES, repeats=REPEATS,
        tests=placed(tests, truth, truth.tool, rng),
    )  # fmt: skip


def compared(sources: tuple[ErrorSource, ...], rng: np.random.Generator, curves: bool = False) -> Compared:
    """Random plans, the D-optimal one and that for the test poses, among the same candidates."""
    from dataclasses import replace

    import numpy as np

    from elastocal.design.criteria.test_pose import TestPose
    from elastocal.design.study import offered, planned

    by_d = offered(task(sources, rng), rng)
    by_tests = replace(by_d, criterion=TestPose(by_d.derivatives))
    counts = COUNTS if curves else ()
    found = {
        "d": planned(by_d, rng, counts=counts, restarts=RESTARTS),
        "test_pose": planned(by_tests, rng, counts=counts, restarts=RESTARTS),
    }
    known = {name: [plan.plan.known] for name, plan in found.items()}
    known["random"] = random_plans(by_d, POSES, rng)
    errors = {n: [by_d.errors(k) for k in each] for n, each in known.items()}
    lines = {n: tuple(rms(by_d.errors(p.plan.known)) for p in plan.curve) for n, plan in found.items() if curves}
    if curves:
        many = [[rms(by_d.errors(k)) for k in random_plans(by_d, count, rng)] for count in COUNTS]
        lines["random"] = tuple(float(np.median(m)) for m in many)
    return Compared(
        len(by_d.pool),
        {n: _percent(by_d, np.median([k.sd for k in each], axis=0)) for n, each in known.items()},
        {n: float(np.median([rms(e) for e in each])) for n, each in errors.items()},
        {n: float(np.median([e.max() for e in each])) for n, each in errors.items()},
        {n: _efficiency(plan) for n, plan in found.items()},
        found["test_pose"].by_determinant.efficiency,
        lines,
    )


def random_plans(offer: Offer, count: int, rng: np.random.Generator) -> list[Knowledge]:
    """What random choices of candidates would tell."""
    from elastocal.design.space import known_by_rows

    sets = [rng.choice(len(offer.pool), count, replace=False) for _ in range(RANDOM)]
    return [known_by_rows(offer.candidates, [int(c) for c in rows], offer.space.frame) for rows in sets]


def rms(errors: Array) -> float:
    import numpy as np

    return float(np.sqrt(np.mean(errors**2)))


def _percent(offer: Offer, sd: Array) -> dict[str, float]:
    return {
        s: float(100 * sd[i] / offer.values[i])
        for s, i in ((s, offer.observed.names.index(n)) for s, n in SOUGHT.items())
    }


def _efficiency(plan: Planned) -> float:
    assert plan.certificate is not None
    return plan.certificate.efficiency


def _figures(found: Compared, suffix: str, noise: str) -> tuple[Figure, ...]:
    out = []
    for plan in PLANS:
        said = f"{WORDS[plan]}, {noise}"
        out += [
            Figure(f"{s}_percent_{plan}{suffix}", _PUBLISHED.get(s), found.percent[plan][s], "%", said) for s in SOUGHT
        ]
        out += [
            Figure(f"error_{plan}{suffix}", None, 1e6 * found.error[plan], "um", f"rms at the test poses, {said}"),
            Figure(
                f"largest_error_{plan}{suffix}", None, 1e6 * found.largest[plan], "um", f"at the worst of them, {said}"
            ),
        ]
    out += [
        Figure(f"better_than_{than}{suffix}", None, found.better(than), "%",
               f"rms error at the test poses saved by the plan made for them, against the {WORDS[than]}, {noise}")
        for than in ("random", "d")
    ]  # fmt: skip
    out += [
        Figure(f"efficiency_d{suffix}", None, 100 * found.certified["d"], "%",
               f"the D-optimal plan is at least this efficient (convex bound), {noise}"),
        Figure(f"efficiency_test_pose{suffix}", None, 100 * found.certified["test_pose"], "%",
               f"the plan for the test poses, by its own criterion, {noise}"),
        Figure(f"d_efficiency_of_test_pose{suffix}", None, 100 * found.by_determinant, "%",
               f"the plan for the test poses, by the determinant, {noise}"),
        Figure(f"candidates{suffix}", None, float(found.candidates), "1", "clear of floor and column"),
    ]  # fmt: skip
    return tuple(out)


def verdict(bare: Compared, whole: Compared) -> str:
    said = []
    for found, noise in ((bare, "tracker noise alone"), (whole, "the whole error budget")):
        k = {p: (found.percent[p]["k_c"], found.percent[p]["s_0"]) for p in PLANS}
        said.append(
            f"With {noise}, {POSES} poses give k_c to {k['random'][0]:.1f} % and s_0 to {k['random'][1]:.1f} % at "
            f"random (median of {RANDOM}), {k['d'][0]:.1f} and {k['d'][1]:.1f} % D-optimal, {k['test_pose'][0]:.1f} "
            f"and {k['test_pose'][1]:.1f} % where the plan is made for the test poses; the expected error there falls "
            f"from {1e6 * found.error['random']:.1f} um (random) and {1e6 * found.error['d']:.1f} um (D) to "
            f"{1e6 * found.error['test_pose']:.1f} um, by {found.better('random'):.0f} and {found.better('d'):.0f} %. "
            f"The D-optimal plan is at least {100 * found.certified['d']:.1f} % efficient."
        )
    return " ".join(said)


def _curve(found: Compared) -> Lines:
    counts = tuple(float(c) for c in COUNTS)
    series = tuple(Series(WORDS[p], counts, tuple(1e6 * e for e in found.curves[p])) for p in PLANS)
    return Lines(
        "error_by_poses",
        "Expected error at the test poses, tracker noise alone",
        "poses",
        "",
        "rms error",
        "um",
        series,
    )
