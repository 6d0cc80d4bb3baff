"""What a plan is worth in a few numbers and sentences: how well parameters are known, what error is left, how safe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.pages.plan.figures import COUNTED
from elastocal.design.result import SIGNIFICANT
from elastocal.quantities import significant
from elastocal.report.blocks import Tile
from elastocal.solve.summary import rms

if TYPE_CHECKING:
    from elastocal.design.result import Plan

WORST = 5
"""Parameters that are not significant and named in the verdict."""


def tiles(plan: Plan) -> tuple[Tile, ...]:
    counted, what = COUNTED[plan.task.measuring.counted], plan.task.measuring.noun
    worst = f"RMS at the test poses; worst {counted.factor * float(plan.errors.max()):.3g} {counted.unit}"
    worst += ", by assumed values" * bool(plan.assumed)
    unchecked = sum(not c.done for c in plan.checks)
    return (
        Tile(what, str(len(plan.chosen)), "", f"of {len(plan.problem.candidates)} feasible candidates", "after"),
        Tile("expected error", f"{counted.factor * plan.rms_error:.3g}", counted.unit, worst, "expected"),
        _second(plan),
        Tile("efficiency", f"{100 * plan.bound.efficiency:.1f} %", "",
             "at least, of the best possible plan"),
        Tile("safety", f"{len(plan.checks) - unchecked} of {len(plan.checks)}", "", "checks done; the others are yours",
             state="bad" if plan.blocked else "open" if unchecked else "good"),
    )  # fmt: skip


def _second(plan: Plan) -> Tile:
    """How well parameters are known, or what a calibration by priors is worth."""
    if plan.uncalibrated is not None:
        rest = f"RMS there by {_known(plan)}, instrument and markers fitted"
        return Tile(plan.before, f"{1e3 * rms(plan.uncalibrated):.3g}", "mm", rest)
    own = [p for p in plan.parameters if not p.nuisance]
    lost, vague = sum(not p.determined for p in own), [p for p in own if p.determined and p.share == p.share]
    weak = sum(not p.significant for p in vague)
    words = [f"{lost} not determined"] if lost else []
    words += [f"{weak} known worse than to 20 %"] if weak else []
    if vague:
        worst = max(vague, key=lambda p: p.share)
        words.append(f"worst: {worst.name} {significant(100 * worst.share)} %")
    return Tile("parameters", str(len(own) - lost), "", ", ".join(words), state="open" if lost or weak else "")


def verdict(plan: Plan) -> tuple[str, ...]:
    what = plan.task.measuring.noun
    lines = [*(_task(plan) if plan.task.prior is None else _task_by_priors(plan)), _efficient(plan), _safe(plan)]
    if plan.needed is not None:
        lines.append(f"{len(plan.chosen)} {what} are the smallest plan found that meets what is required.")
    order = plan.order
    if order.time < order.before:
        equal = "" if plan.speeds_known else " (axes without a stated speed count with 1 rad/s or 1 m/s)"
        changes = " with the changes of load" if plan.task.loadings else ""
        lines.append(
            f"The order saves {100 * (1 - order.time / order.before):.0f} % of the time of motion{changes} against the "
            f"order in which the {what} were chosen{equal}."
        )
    return tuple(lines)


def _task(plan: Plan) -> tuple[str, str]:
    """What the plan tells of the parameters, and at the test poses: determined is not known well."""
    counted = COUNTED[plan.task.measuring.counted]
    own = [p for p in plan.parameters if not p.nuisance]
    lost = [p.name for p in own if not p.determined]
    shares = sorted((100 * p.share, p.name) for p in own if p.determined and p.share == p.share)
    how = f" to {significant(shares[0][0])} to {significant(shares[-1][0])} %" if shares else ""
    weak = sorted(((p.share, p.name) for p in own if p.determined and p.share > 1 / SIGNIFICANT), reverse=True)
    named = ", ".join(f"{name} {significant(100 * share)} %" for share, name in weak[:WORST])
    named += f" and {len(weak) - WORST} more" if len(weak) > WORST else ""
    vague = f"; not significant (value below {SIGNIFICANT:g} sd): {named}" if weak else ""
    vague = vague or (f" (worst: {shares[-1][1]})" if shares else "")
    open_ = f"; not determined: {', '.join(lost)}" if lost else ""
    return (
        f"{_chosen(plan)} determine {len(own) - len(lost)} parameters{how}{vague}{open_}.",
        f"{counted.sentence} at the test poses ({plan.problem.tests.words}): "
        f"{counted.factor * plan.rms_error:.3g} {counted.unit} RMS, "
        f"{counted.factor * float(plan.errors.max()):.3g} {counted.unit} at the worst; what is not sought counts as "
        f"exact{_assumed(plan)}.",
    )


def _task_by_priors(plan: Plan) -> tuple[str, str]:
    assert plan.uncalibrated is not None
    words = [word for word, _, _ in plan.effects]
    return (
        f"{_chosen(plan)} for an unloaded calibration: {', '.join(words)}, {len(plan.problem.names)} parameters with "
        "priors, instrument and markers estimated along.",
        f"Expected error on unseen poses ({plan.problem.tests.words}): {1e6 * plan.rms_error:.3g} um RMS, "
        f"{1e6 * float(plan.errors.max()):.3g} um at the worst; {plan.before} "
        f"{1e6 * rms(plan.uncalibrated):.0f} um RMS by {_known(plan)}. Readings of the calibrated robot have the noise "
        "of the instrument on top.",
    )


def _known(plan: Plan) -> str:
    return "what is known and the priors" if plan.task.earlier else "the priors"


def _chosen(plan: Plan) -> str:
    return f"{len(plan.chosen)} {plan.task.measuring.noun} out of {len(plan.problem.candidates)} feasible candidates"


def _assumed(plan: Plan) -> str:
    """That the expectation rests on values which nobody measured."""
    names = plan.assumed
    if not names:
        return ""
    sought = sum(not p.nuisance for p in plan.parameters)
    which = "the values" if len(names) == sought else f"{len(names)} of the {sought} values"
    return f", and {which} sought are assumed: measured ones may differ by a factor of two, and so may the error"


def _safe(plan: Plan) -> str:
    """What a reader must know before the arm moves."""
    left = "; ".join(c.text for c in plan.checks if not c.done)
    ways = f" {len(plan.blocked)} paths are NOT FREE." if plan.blocked else ""
    return f"Poses and the paths between them are not checked against {left}.{ways}"


def _efficient(plan: Plan) -> str:
    """By the criterion that the plan was made for, and by the determinant where that is another."""
    kind = plan.problem.criterion.kind
    if plan.by_determinant is None:
        return f"Efficiency of the plan by its criterion ({kind}): at least {100 * plan.bound.efficiency:.1f} %."
    message = f"D-efficiency of the plan: at least {100 * plan.by_determinant.efficiency:.1f} %"
    if plan.certificate is plan.by_determinant:
        return f"{message}."
    if plan.certificate is None:
        return f"{message}; its own criterion ({kind}) has no bound to compare with."
    return f"{message}; by its own criterion ({kind}) at least {100 * plan.certificate.efficiency:.1f} %."
