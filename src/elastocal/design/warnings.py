"""What a user of a plan must know beside its numbers, each with a code and its data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elastocal.design.feasibility.filter import PayloadLimit
from elastocal.design.method import Measuring
from elastocal.design.problem import moved_joints
from elastocal.design.safety import always_touching
from elastocal.design.sweeping import UNRATED, Sweeping
from elastocal.model.loads.payload import Payload
from elastocal.results import Finding, warning

if TYPE_CHECKING:
    from elastocal.design.problem import DesignProblem
    from elastocal.design.result import Plan

ASSUMED = "assumed-values"
SHOWN = 8
"""Names that a sentence lists."""


def plan_warnings(plan: Plan) -> tuple[Finding, ...]:
    problem = plan.problem
    return (
        *_assumed(plan), *_on_axis(problem), *_not_separable(problem), *_touching(problem), *_load_points(problem),
        *_heaviest(problem), *_unrated(plan), *_ways(plan),
    )  # fmt: skip


def _assumed(plan: Plan) -> tuple[Finding, ...]:
    names = plan.assumed
    if not names:
        return ()
    named = ", ".join(names[:SHOWN]) + (" ..." if len(names) > SHOWN else "")
    text = (
        f"The values of {len(names)} parameters sought are assumed ({named}): measured ones may differ by a factor of "
        "two, and so may the expected error."
    )
    return (warning(ASSUMED, text, parameters=names),)


def _not_separable(problem: DesignProblem) -> tuple[Finding, ...]:
    names = problem.left_out
    if not names:
        return ()
    named = ", ".join(names[:SHOWN]) + (" ..." if len(names) > SHOWN else "")
    text = (
        f"{len(names)} parameters are not sought, because no candidate tells them apart from those that are: {named}."
    )
    return (warning("not-separately-identifiable", text, parameters=names),)


def _on_axis(problem: DesignProblem) -> tuple[Finding, ...]:
    """Markers on the last axis do not show the errors of that joint, where all joints are to be calibrated."""
    method, model = problem.task.measuring, problem.task.model
    if problem.task.prior is None or not isinstance(method, Measuring) or not model.n:
        return ()
    still = [j for j, moved in zip(model.joints, moved_joints(problem.candidates, method), strict=True) if not moved]
    if not still:
        return ()
    markers = ", ".join(m.frame for m in method.markers)
    text = (
        f"{markers} does not move with {', '.join(still)}: it lies on the axis, whose errors are not seen and not "
        "counted; fix the reflector beside the axis, and give the robot file a frame there."
    )
    return (warning("marker-on-axis", text, joints=tuple(still), markers=tuple(m.frame for m in method.markers)),)


def _touching(problem: DesignProblem) -> tuple[Finding, ...]:
    pairs = always_touching(problem.task)
    if not pairs:
        return ()
    text = (
        f"These touch in every configuration, so that they are left out, or parts of them: {', '.join(pairs)}; give "
        "links of their own radii (links) where these could collide."
    )
    return (warning("always-touching", text, pairs=pairs),)


def _load_points(problem: DesignProblem) -> tuple[Finding, ...]:
    frame = problem.candidates.frame
    points = sorted({o.point for o in problem.candidates.options} - {frame})
    if not points:
        return ()
    cure = f" (load_frame: {points[0]} states it where it acts)" if len(points) == 1 else ""
    text = (
        f"Loads at {', '.join(points)} are written as their wrench at {frame} of the unloaded arm; the turn of the "
        f"bent arm changes it by a share of about that turn in rad{cure}."
    )
    return (warning("load-point", text, points=tuple(points), frame=frame),)


def _heaviest(problem: DesignProblem) -> tuple[Finding, ...]:
    """The largest force as a mass, with what is carried anyway, where no filter judges it."""
    task, candidates = problem.task, problem.candidates
    g = float(np.linalg.norm(task.model.gravity))
    if any(isinstance(f, PayloadLimit) for f in task.filters) or not g > 0 or not task.loadings:
        return ()
    sizes = np.linalg.norm(candidates.wrenches[:, :3], axis=1) / g
    worst = int(np.argmax(sizes))
    mass = float(sizes[worst])
    carried = sum(e.mass for e in task.model.elements if isinstance(e, Payload))
    more = f", with the {carried:g} kg that the robot carries anyway {mass + carried:.3g} kg" if carried else ""
    load, rated = f"The largest load, {candidates.label(worst)}, is {mass:.3g} kg{more}", task.model.rated_payload
    use = "(feasible: - {kind: payload, most_kg: ...})"
    if rated is None:
        text = f"{load}; the rated payload is not known {use}, so it is not judged by it."
        return (warning("payload-not-judged", text, mass=mass, carried=carried),)
    if mass + carried <= rated:
        return ()
    text = f"{load}; the robot is rated for {rated:g} kg; keep the loads within it {use}."
    return (warning("beyond-rated-payload", text, mass=mass, carried=carried, rated=rated),)


def _unrated(plan: Plan) -> tuple[Finding, ...]:
    method = plan.task.measuring
    if not isinstance(method, Sweeping):
        return ()
    swept = {method.stroke(plan.chosen, i).joint for i in range(len(plan.chosen))}
    joints = tuple(plan.task.model.joints[j] for j in sorted(swept) if np.isnan(plan.rated[j]))
    if not joints:
        return ()
    text = (
        f"The full speeds of some axes are not stated (speeds_deg_s): their sweeps are programmed at {UNRATED:g} %; "
        "set what brings the speed planned."
    )
    return (warning("speed-not-stated", text, joints=joints),)


def _ways(plan: Plan) -> tuple[Finding, ...]:
    """Moves of the program that would meet something."""
    return tuple(
        warning(
            "way-blocked",
            f"The straight way of the joints from {a} to {b} is not free ({label}): put a pose between them.",
            **{"from": a, "to": b, "filter": label},
        )
        for a, b, label in plan.blocked
    )
