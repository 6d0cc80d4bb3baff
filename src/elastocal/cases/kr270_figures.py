"""Figures of the virtual experiment on the KR-270, beside what Klimchik et al. 2013 (IMECE) print of the real one."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from elastocal.cases.case import Figure, Why
from elastocal.cases.kr270_accuracies import accuracy
from elastocal.cases.kr270_experiment import DOWN, HEIGHT, HELD_OUT, POSES, RADIUS, REPEATS, SIDEWAYS, rms
from elastocal.report.blocks import Lines, Series

if TYPE_CHECKING:
    from elastocal.cases.kr270_experiment import HeldOut
    from elastocal.identify.fit import Fit
    from elastocal.identify.reduction import Identification

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
    out = []
    for stage in of.both.stages:
        slug = SLUGS.get(stage.name, stage.name)
        if stage.name in ("algebraic", "resolved"):
            out.append(Figure(f"params_{slug}", None, stage.parameters, "parameters", stage.action))
        elif stage.name != "statistical M3":
            note = f"of {stage.parameters}; {_WHERE}"
            out.append(Figure(f"identifiable_{slug}", None, stage.identifiable, "parameters", note))
    for stage in of.both.stages:
        note = f"{stage.parameters} parameters; rms error per axis of predicting the readings of a pose left out"
        out.append(_figure(f"left_out_um_{SLUGS.get(stage.name, stage.name)}", None, 1e6 * stage.left_out, "um", note))
    return tuple(out)


def _counts(of: Results) -> tuple[Figure, ...]:
    unit = "parameters"
    counts = [count for count, _ in of.draws]
    spread = f"of {len(counts)} further draws of configurations and noise, with linear statics"
    compensator = "two of the 18 printed are k_c and s_0 of the compensator, taken as known here, so 16 compare"
    return (
        Figure("practical_count", 18, len(of.both.fit.names), unit, f"after M3 at ratio 5; {compensator}; {_WHERE}",
               "section 5", Why.VIRTUAL),
        Figure("practical_count_fewest", None, min(counts), unit, spread),
        Figure("practical_count_most", None, max(counts), unit, spread),
        Figure("practical_count_budget", None, len(of.budget.fit.names), unit, f"with {BUDGET}"),
        Figure("practical_count_vertical", None, len(of.vertical.fit.names), unit, "from set-up 1 alone"),
        Figure("practical_count_all_at_once", None, len(of.once.names), unit, "M3 in one step, as its step 3 reads"),
    )  # fmt: skip


def _compensation(of: Results) -> tuple[Figure, ...]:
    held = of.held
    models = (of.both.fit, of.budget.fit, of.vertical.fit, of.once, of.both.whole)
    both, budget, vertical, once, whole = (held.rest(fit.model) for fit in models)
    least = min(share for _, share in of.draws)
    own = held.share(vertical, held.vertical)
    return (
        Figure("compensated_percent", 95, _known(held.share(both)), "%", f"printed: more than; {_HELD}", "section 5",
               Why.VIRTUAL, at_least=True),
        _figure("compensated_percent_least", None, least, "%", "of the further draws with linear statics"),
        _figure("compensated_percent_budget", None, held.share(budget), "%", f"with {BUDGET}"),
        _figure("compensated_percent_all_at_once", None, held.share(once), "%", "M3 in one step"),
        _figure("compensated_percent_before_m3", None, held.share(whole), "%", _WHOLE),
        _figure("compensated_percent_vertical", None, held.share(vertical), "%", _VERTICAL),
        _figure("compensated_percent_vertical_own", None, own, "%", "from set-up 1 alone, forces up and down only"),
        _figure("deflection_mm", None, 1e3 * rms(held.exact), "mm", _HELD),
        Figure("left_mm", 0.1, _known(1e3 * rms(both)), "mm", f"rms after compensation; {_REAL}", "section 5",
               Why.VIRTUAL),
        Figure("left_mm_budget", 0.1, _known(1e3 * rms(budget)), "mm", f"identified with {BUDGET}; {_REAL}",
               "section 5", Why.VIRTUAL),
        _figure("left_mm_vertical", None, 1e3 * rms(vertical), "mm", "identified from set-up 1 alone"),
        _figure("predicted_sd_mm", None, 1e3 * held.predicted_sd(of.both), "mm", _EXPECTED),
        _figure("predicted_sd_mm_budget", None, 1e3 * held.predicted_sd(of.budget), "mm", _EXPECTED),
        _figure("predicted_sd_mm_vertical", None, 1e3 * held.predicted_sd(of.vertical), "mm", _BLIND),
    )  # fmt: skip


_REAL = "printed: the real robot, with its repeatability, geometric errors and friction; here a robot without them"
_WHOLE = "the model after algebraic reduction, one linear step, before M3"
_VERTICAL = "identified from set-up 1 alone, forces in all directions: a vertical force never turns axis 1"
_EXPECTED = "what covariance and misfit let expect to be left, with everything that M3 dropped unknown again"
_BLIND = "from set-up 1 alone: what no reading showed (axis 1) is known to within its size only, and the model says so"


def _accuracies(of: Results) -> tuple[Figure, ...]:
    fit = of.budget.fit
    share = {n: 100 * float(s) / abs(float(v)) for n, v, s in zip(fit.names, fit.values, fit.sd, strict=True)}
    note = "standard deviation with the error budget, of the joint and what acts like it"
    return tuple(
        accuracy(f"accuracy_percent_k{i}", f"k_{i}", share.get(f"A{i}.k"), note, "Table 1", True) for i in range(2, 7)
    )


def _figure(name: str, published: float | None, value: float, unit: str, note: str) -> Figure:
    return Figure(name, published, _known(value), unit, note)


def _known(value: float) -> float | None:
    return value if isfinite(value) else None


def path_curve(of: Results) -> Lines:
    """Left-out error against the number of parameters."""
    stages = [s for s in of.both.stages if isfinite(s.left_out)]
    counts, errors = tuple(float(s.parameters) for s in stages), tuple(1e6 * s.left_out for s in stages)
    note = "From right to left: complete, M1, M2, algebraic, M3. Rms error per axis in poses that were left out."
    title = "What each reduction does to the prediction"
    return Lines("path", title, "parameters", "", "error", "um", (Series("both set-ups", counts, errors),), (note,))
