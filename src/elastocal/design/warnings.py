"""What a user of a plan must know beside its numbers, each with a code and its data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from elastocal.design.feasibility.filter import PayloadLimit
from elastocal.design.method import Measuring
from elastocal.design.problem import moved_joints
from elastocal.design.safety import always_touching
from elastocal.design.sweeping import UNRATED, Sweeping
from elastocal.model.loads.payload import Payload
from elastocal.results import Finding, warning
from elastocal.solve.summary import rms

if TYPE_CHECKING:
    from elastocal.design.problem import DesignProblem
    from elastocal.design.result import Plan

ASSUMED = "assumed-values"
GAIN = 0.9
"""Share of the error of the nominal robot that a calibration must promise to be worth its poses."""
SHOWN = 8
"""Names that a sentence lists."""


def plan_warnings(plan: Plan) -> tuple[Finding, ...]:
    problem = plan.problem
    return (
        *_assumed(plan), *_on_axis(problem), *_not_separable(problem), *_touching(problem), *_load_points(problem),
        *_heaviest(problem), *_unrated(plan), *_ways(plan), *_no_gain(plan),
    )  # fmt: skip


def _no_gain(plan: Plan) -> Iterator[Finding]:
    """By such readings the calibrated robot is hardly better than the nominal one."""
    if plan.uncalibrated is None:
        return
    after, before = plan.rms_error, rms(plan.uncalibrated)
    if not after < GAIN * before:
        text = (
            f"After a calibration by {len(plan.chosen)} poses the expected error is {1e3 * after:.3g} mm, and "
            f"{plan.before} {1e3 * before:.3g} mm: plan more poses, or readings with less noise."
        )
        yield warning("no-gain", text, after=after, before=before, poses=len(plan.chosen))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:SHOWN]) + (" ..." if len(names) > SHOWN else "")


def _assumed(plan: Plan) -> Iterator[Finding]:
    if names := plan.assumed:
        text = (
            f"The values of {len(names)} parameters sought are assumed ({_listed(names)}): measured ones may differ by "
            "a factor of two, and so may the expected error."
        )
        yield warning(ASSUMED, text, parameters=names)


def _not_separable(problem: DesignProblem) -> Iterator[Finding]:
    if names := problem.left_out:
        text = (
            f"{len(names)} parameters are not sought, because no candidate tells them apart from those that are: "
            f"{_listed(names)}."
        )
        yield warning("not-separately-identifiable", text, parameters=names)


def _on_axis(problem: DesignProblem) -> Iterator[Finding]:
    """Markers on the last axis do not show the errors of that joint, where all joints are to be calibrated."""
    method, model = problem.task.measuring, problem.task.model
    if problem.task.prior is None or not isinstance(method, Measuring) or not model.n:
        return
    still = [j for j, moved in zip(model.joints, moved_joints(problem.candidates, method), strict=True) if not moved]
    if still:
        markers = tuple(m.frame for m in method.markers)
        text = (
            f"{', '.join(markers)} does not move with {', '.join(still)}: it lies on the axis, whose errors are not "
            "seen and not counted; fix the reflector beside the axis, and give the robot file a frame there."
        )
        yield warning("marker-on-axis", text, joints=tuple(still), markers=markers)


def _touching(problem: DesignProblem) -> Iterator[Finding]:
    if pairs := always_touching(problem.task):
        text = (
            f"These touch in every configuration, so that they are left out, or parts of them: {', '.join(pairs)}; "
            "give links of their own radii (links) where these could collide."
        )
        yield warning("always-touching", text, pairs=pairs)


def _load_points(problem: DesignProblem) -> Iterator[Finding]:
    frame = problem.candidates.frame
    if points := sorted({o.point for o in problem.candidates.options} - {frame}):
        cure = f" (load_frame: {points[0]} states it where it acts)" if len(points) == 1 else ""
        text = (
            f"Loads at {', '.join(points)} are written as their wrench at {frame} of the unloaded arm; the turn of the "
            f"bent arm changes it by a share of about that turn in rad{cure}."
        )
        yield warning("load-point", text, points=tuple(points), frame=frame)


def _heaviest(problem: DesignProblem) -> Iterator[Finding]:
    """The largest force as a mass, with what is carried anyway, where no filter judges it."""
    task, candidates = problem.task, problem.candidates
    g = float(np.linalg.norm(task.model.gravity))
    if any(isinstance(f, PayloadLimit) for f in task.filters) or not g > 0 or not task.loadings:
        return
    sizes = np.linalg.norm(candidates.wrenches[:, :3], axis=1) / g
    worst = int(np.argmax(sizes))
    mass = float(sizes[worst])
    carried = sum(e.mass for e in task.model.elements if isinstance(e, Payload))
    more = f", with the {carried:g} kg that the robot carries anyway {mass + carried:.3g} kg" if carried else ""
    load, rated = f"The largest load, {candidates.label(worst)}, is {mass:.3g} kg{more}", task.model.rated_payload
    use = "(feasible: - {kind: payload, most_kg: ...})"
    if rated is None:
        text = f"{load}; the rated payload is not known {use}, so it is not judged by it."
        yield warning("payload-not-judged", text, mass=mass, carried=carried)
    elif mass + carried > rated:
        text = f"{load}; the robot is rated for {rated:g} kg; keep the loads within it {use}."
        yield warning("beyond-rated-payload", text, mass=mass, carried=carried, rated=rated)


def _unrated(plan: Plan) -> Iterator[Finding]:
    method = plan.task.measuring
    if not isinstance(method, Sweeping):
        return
    swept = {method.stroke(plan.chosen, i).joint for i in range(len(plan.chosen))}
    if joints := tuple(plan.task.model.joints[j] for j in sorted(swept) if np.isnan(plan.rated[j])):
        text = (
            f"The full speeds of some axes are not stated (speeds_deg_s): their sweeps are programmed at {UNRATED:g} "
            "%; set what brings the speed planned."
        )
        yield warning("speed-not-stated", text, joints=joints)


def _ways(plan: Plan) -> Iterator[Finding]:
    """Moves of the program that would meet something."""
    for a, b, label in plan.blocked:
        text = f"The straight way of the joints from {a} to {b} is not free ({label}): put a pose between them."
        yield warning("way-blocked", text, **{"from": a, "to": b, "filter": label})
