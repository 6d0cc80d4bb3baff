"""Elastostatic model of the KR-270 (Klimchik et al. 2013, IMECE): its size, and what a measurement can tell.

A rotation counts as the displacement of a point 1 m away.  Both sides of the gap in the singular values are reported,
since a rank without a gap says nothing.
"""

from __future__ import annotations

from math import isfinite

import numpy as np

from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.link_compliance import Form
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.observation import Marker, linear_observation
from elastocal.published import kr270_experiment as ex
from elastocal.published.case import Case, Figure, Outcome, Progress, curve
from elastocal.published.kr270_experiment import (
    DOWN,
    HEIGHT,
    HELD_OUT,
    KINDS,
    POSES,
    RADIUS,
    REPEATS,
    SIDEWAYS,
    SPRING,
    HeldOut,
    path_listings,
    rms,
)
from elastocal.published.kr270_table3 import accuracy
from elastocal.reduction.fit import Fit
from elastocal.reduction.identify import Identification
from elastocal.report.blocks import Lines
from elastocal.solve.identifiability import Rank, decide_rank
from elastocal.values import dataclass

PRINTED = Case("kr270-elastostatic")
SLUGS = {"symmetry M1": "symmetric", "template M2": "template", "statistical M3": "m3"}
"""Endings of figures' names where they are not the stage's own word."""
BUDGET = (
    "tracker 10 um, repeatability 0.06 mm by ISO 9283 (17 um sd per axis and return), load size 0.5 %, direction 2 mrad"
)
_WHERE = (
    f"{2 * POSES} configurations x {REPEATS} repeats x 3 markers, drawn within the joint limits where the tool is more "
    f"than {1e3 * HEIGHT:g} mm above the floor and {1e3 * RADIUS:g} mm from axis 1; {DOWN / 1e3:g} kN down in half of "
    f"them, {SIDEWAYS / 1e3:g} kN along x or y of the base in the others"
)
_HELD = (
    f"{HELD_OUT} other configurations, forces of {DOWN / 1e3:g} and {SIDEWAYS / 1e3:g} kN along all six base "
    "directions, tool point, rms"
)


@dataclass(frozen=True, eq=False)
class Results:
    """``both``, ``budget``, ``vertical``: identified from both set-ups with the tracker's noise alone, from both with
    the error budget, from set-up 1 alone.  ``once``: from both with M3 in one step.  ``draws``: number of parameters
    and compensated share of further draws of configurations and noise, with linear statics."""

    both: Identification
    budget: Identification
    vertical: Identification
    once: Fit
    held: HeldOut
    draws: tuple[tuple[int, float], ...]


def experiment_figures(of: Results) -> tuple[Figure, ...]:
    return (*_path(of), *_counts(of), *_compensation(of), *_accuracies(of))


def _path(of: Results) -> tuple[Figure, ...]:
    """Every stage of the reduction: parameters that can be told apart, error of a pose that was left out."""
    out, stages = list[Figure](), [(SLUGS.get(s.name, s.name), s) for s in of.both.stages]
    for slug, stage in stages:
        if stage.name in ("algebraic", "resolved"):
            out.append(PRINTED.figure(f"params_{slug}", stage.parameters, action=stage.action))
        elif stage.name != "statistical M3":
            count = stage.identifiable
            out.append(PRINTED.figure(f"identifiable_{slug}", count, parameters=stage.parameters, where=_WHERE))
    for slug, stage in stages:
        error = _known(1e6 * stage.left_out)
        out.append(PRINTED.figure(f"left_out_um_{slug}", error, parameters=stage.parameters))
    return tuple(out)


def _counts(of: Results) -> tuple[Figure, ...]:
    counts = [count for count, _ in of.draws]
    return (
        PRINTED.figure("practical_count", len(of.both.fit.names), where=_WHERE),
        PRINTED.figure("practical_count_fewest", min(counts), draws=len(counts)),
        PRINTED.figure("practical_count_most", max(counts), draws=len(counts)),
        PRINTED.figure("practical_count_budget", len(of.budget.fit.names), budget=BUDGET),
        PRINTED.figure("practical_count_vertical", len(of.vertical.fit.names)),
        PRINTED.figure("practical_count_all_at_once", len(of.once.names)),
    )


def _compensation(of: Results) -> tuple[Figure, ...]:
    held = of.held
    models = (of.both.fit, of.budget.fit, of.vertical.fit, of.once, of.both.whole)
    both, budget, vertical, once, whole = (held.rest(fit.model) for fit in models)
    values = {
        "compensated_percent": held.share(both),
        "compensated_percent_least": min(share for _, share in of.draws),
        "compensated_percent_budget": held.share(budget),
        "compensated_percent_all_at_once": held.share(once),
        "compensated_percent_before_m3": held.share(whole),
        "compensated_percent_vertical": held.share(vertical),
        "compensated_percent_vertical_own": held.share(vertical, held.vertical),
        "deflection_mm": 1e3 * rms(held.exact),
        "left_mm": 1e3 * rms(both),
        "left_mm_budget": 1e3 * rms(budget),
        "left_mm_vertical": 1e3 * rms(vertical),
        "predicted_sd_mm": 1e3 * held.predicted_sd(of.both),
        "predicted_sd_mm_budget": 1e3 * held.predicted_sd(of.budget),
        "predicted_sd_mm_vertical": 1e3 * held.predicted_sd(of.vertical),
    }
    return PRINTED.figures({n: _known(v) for n, v in values.items()}, held=_HELD, budget=BUDGET)


def _accuracies(of: Results) -> tuple[Figure, ...]:
    fit = of.budget.fit
    share = {n: 100 * float(s) / abs(float(v)) for n, v, s in zip(fit.names, fit.values, fit.sd, strict=True)}
    return tuple(accuracy(PRINTED, f"accuracy_percent_k{i}", f"k_{i}", share.get(f"A{i}.k"), True) for i in range(2, 7))


def _known(value: float) -> float | None:
    return value if isfinite(value) else None


def path_curve(of: Results) -> Lines:
    """Left-out error against the number of parameters."""
    stages = [s for s in of.both.stages if isfinite(s.left_out)]
    errors = [1e6 * s.left_out for s in stages]
    return PRINTED.lines("path", [curve("both set-ups", (s.parameters for s in stages), errors)])


ROBOT = "kuka-kr270"
CONFIGURATIONS = 120
DRAWS = 20


def run(rng: np.random.Generator, progress: Progress) -> Outcome:
    robot = read_robot(ROBOT)
    sizes = {form: len(_names(robot.with_link_form(form))) for form in _FORMS}
    ranks = {form: observed_rank(robot, form, rng) for form in _FORMS}
    spring = sum(name in robot.parameters.names for name in SPRING)
    of = _experiment(robot, rng, progress)
    figures = (*_size_figures(sizes, spring), *_rank_figures(ranks), *experiment_figures(of))
    counts = (of.both.stages[0].parameters + spring, *(s.parameters for s in of.both.stages))
    share, once = (next(f.recomputed or 0.0 for f in figures if f.name == n) for n in (
        "compensated_percent", "compensated_percent_all_at_once"
    ))  # fmt: skip
    words = {
        "path": " -> ".join(str(c) for c in counts), "draws": DRAWS, "more": "more" if share > 95 else "less",
        "lost": f"{'loses' if share > once else 'gains'} {abs(share - once):.1f} %",
    }  # fmt: skip
    return PRINTED.outcome(figures, (path_curve(of),), *path_listings(robot, of.both), **words)


def _experiment(robot: Robot, rng: np.random.Generator, progress: Progress) -> Results:
    total = DRAWS + 4
    sources = ex.tracker_only()
    setup = ex.two_setups(robot, rng)
    campaign = ex.measured(robot, setup, sources, rng, "loaded")
    both = ex.identified(robot, campaign, whole_path=True)
    progress(1, total)
    once = ex.all_at_once(both)
    progress(2, total)
    vertical = ex.identified(robot, ex.first_setup(campaign))
    progress(3, total)
    budget = ex.identified(robot, ex.measured(robot, setup, ex.error_budget(), rng, "loaded"))
    progress(4, total)
    linear = ex.HeldOut.build(robot, "linear")
    draws = []
    for number in range(DRAWS):
        identified = ex.identified(robot, ex.measured(robot, ex.two_setups(robot, rng), sources, rng, "linear"))
        draws.append((len(identified.fit.names), linear.share(linear.rest(identified.fit.model))))
        progress(5 + number, total)
    return Results(both, budget, vertical, once, ex.HeldOut.build(robot), tuple(draws))


_FORMS: tuple[Form, ...] = ("full", "symmetric", "beam")


def _names(robot: Robot) -> tuple[str, ...]:
    return tuple(p.name for p in robot.parameters if p.kind in KINDS)


def observed_rank(robot: Robot, form: Form, rng: np.random.Generator) -> Rank:
    """Rank for full poses of the tool in random configurations within the limits, under random wrenches at the tool."""
    model = robot.with_link_form(form)
    limits = np.array([m.limits for m in model.motions])
    q = rng.uniform(limits[:, 0], limits[:, 1], (CONFIGURATIONS, model.n))
    wrenches = rng.uniform(-1, 1, (CONFIGURATIONS, 6)) * 1000.0
    names, matrix = linear_observation(
        model, q, [AppliedWrenches(model.tool, wrenches)], [Marker(model.tool, "pose")], _names(model)
    )
    scales = model.parameters.scales[[model.parameters.index(n) for n in names]]
    return decide_rank(matrix.reshape(-1, len(names)), scales)


def _size_figures(sizes: dict[Form, int], spring: int) -> tuple[Figure, ...]:
    return PRINTED.figures({
        "params_complete": sizes["full"] + spring, "params_links_joints": sizes["full"],
        "params_symmetric": sizes["symmetric"], "params_template": sizes["beam"],
    })  # fmt: skip


def _rank_figures(ranks: dict[Form, Rank]) -> tuple[Figure, ...]:
    names: dict[Form, str] = {"full": "rank_links_joints", "symmetric": "rank_symmetric", "beam": "rank_template"}
    out = []
    for form, name in names.items():
        r = ranks[form]
        fall = {"before": r.singular[r.rank - 1] / r.singular[0], "after": r.singular[r.rank] / r.singular[0]}
        out.append(PRINTED.figure(name, r.rank, configurations=CONFIGURATIONS, **fall))
    return tuple(out)
