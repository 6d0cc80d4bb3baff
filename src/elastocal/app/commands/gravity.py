"""The weight of an arm from a log of joint values and torques: masses, friction, the torque to hold it anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.gravity_task import TORQUES, GravityTask, asked_friction, needs_motion, sense_of_torques, with_links
from elastocal.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from elastocal.app.configurations import Configurations
    from elastocal.gravity.fit import GravityFit
    from elastocal.gravity.gross import Cleaned
    from elastocal.gravity.hold_out import Judged
    from elastocal.gravity.mounting import Mounting
    from elastocal.gravity.prediction import TorquePrediction
    from elastocal.gravity.prior import MassPrior
    from elastocal.gravity.recursion import Recursion
    from elastocal.gravity.samples import Samples
    from elastocal.gravity.terms import Term
    from elastocal.measure.sources.friction import Friction
    from elastocal.model.robot import RobotModel

MOUNTINGS = ("file", "find")
YAML = (".yaml", ".yml")


@dataclass(frozen=True)
class GravityRequest:
    """``friction`` None: Coulomb and viscous where the log has time, else none."""

    log: Path
    robot: str
    tool: str | None = None
    prior: float = 0.3
    centre_mm: float = 30.0
    no_prior: bool = False
    torques: str = "auto"
    friction: str | None = None
    hold_out: float = 0.3
    payload_log: Path | None = None
    payload_frame: str | None = None
    mounting: str = "file"
    at: tuple[str, ...] = ()
    ignore_limits: bool = False
    out: Path | None = None


@dataclass(frozen=True, eq=False)
class GravityResult:
    """``found`` is the fit of the whole log, ``trained`` that of its first part, which ``judged`` is about.

    Both are without gross errors; ``cleaned`` has the fit with them too.

    What could not be had is None, and ``notes`` say why; ``text`` is the robot file with these masses.
    """

    request: GravityRequest
    file: RobotModel
    cleaned: Cleaned
    trained: GravityFit | None
    judged: Judged | None
    terms: tuple[Term, ...]
    recursion: Recursion | None
    payload: GravityFit | None
    mounting: Mounting | None
    poses: Configurations | None
    holding: TorquePrediction | None
    text: str
    notes: tuple[str, ...]

    @property
    def found(self) -> GravityFit:
        return self.cleaned.found


def run(request: GravityRequest) -> GravityResult:
    from elastocal.app.configurations import typed, within_limits
    from elastocal.app.gravity_text import gravity_text
    from elastocal.app.threads import one_thread
    from elastocal.files.log.read import read_log
    from elastocal.files.robot.read import read_robot
    from elastocal.gravity.gross import without_gross
    from elastocal.gravity.mounting import find_gravity
    from elastocal.gravity.prediction import predict_torque
    from elastocal.gravity.samples import slow_samples

    prior = _check(request)
    robot = read_robot(request.robot, request.tool)
    notes = list(robot.notes)
    model = with_links(robot, notes)
    poses = within_limits(model, typed(model, request.at), request.ignore_limits) if request.at else None
    log = read_log(request.log, model)
    friction = asked_friction(request.friction, log, notes)
    with one_thread():
        samples = slow_samples(model, log, friction=needs_motion(friction))
        notes += samples.notes
        mounting = (
            None if request.mounting == "file" else find_gravity(model, samples, TORQUES[request.torques], friction)
        )
        model = model if mounting is None else mounting.mounted(model)
        task = GravityTask(model, sense_of_torques(request.torques, model, samples), prior, friction)
        cleaned = without_gross(task.fit, samples)
        found = cleaned.found
        trained, judged = _judged(task, found.samples, request.hold_out, notes)
        terms = _terms(found, poses, notes)
        recursion = _recursion(found, notes)
        payload = _payload(request, found, friction, notes)
        holding = None if poses is None else predict_torque(found, poses.q)
    notes += () if poses is None else poses.notes
    text = "" if request.out is None else gravity_text(request, found, payload)
    return GravityResult(
        request,
        model,
        cleaned,
        trained,
        judged,
        terms,
        recursion,
        payload,
        mounting,
        poses,
        holding,
        text,
        tuple(notes),
    )


def _check(request: GravityRequest) -> MassPrior | None:
    """Refuse words that mean nothing, before anything is read; the prior asked for."""
    from elastocal.gravity.prior import MassPrior

    if request.torques not in TORQUES:
        raise UnknownNameError("kind of torques", request.torques, TORQUES, "--torques")
    if request.mounting not in MOUNTINGS:
        raise UnknownNameError("mounting", request.mounting, MOUNTINGS, "--mounting")
    if request.mounting == "find" and request.torques == "auto":
        raise InputError(
            "--mounting find: an arm on the ceiling looks like one on the floor with the other sign of its torques; "
            "add --torques drive or load"
        )
    if not 0 <= request.hold_out < 1:
        raise InputError(f"--hold-out {request.hold_out:g}: give a share between 0 (none) and 1, such as 0.3")
    if request.out is not None and request.out.suffix.lower() not in YAML:
        raise InputError(f"--out {request.out}: must end in .yaml; choose such a name")
    if request.payload_frame is not None and request.payload_log is None:
        raise InputError("--payload-frame says where, but no second log is given; add --payload-log")
    return None if request.no_prior else MassPrior(request.prior, 1e-3 * request.centre_mm)


def _judged(
    task: GravityTask, samples: Samples, share: float, notes: list[str]
) -> tuple[GravityFit | None, Judged | None]:
    from elastocal.gravity.hold_out import held_out, judge_masses

    if share == 0:
        notes.append("Nothing was held out (--hold-out 0): how well unseen poses are predicted is not known.")
        return None, None
    try:
        first, last = held_out(samples, share)
        trained = task.fit(first)
    except InputError as error:
        notes.append(f"No part of the log could be held out to judge by: {error}.")
        return None, None
    return trained, judge_masses(trained, last, task.model)


def _terms(found: GravityFit, poses: Configurations | None, notes: list[str]) -> tuple[Term, ...]:
    """At the first pose asked for, else where the log was on the whole, else with all joints at zero."""
    import numpy as np

    from elastocal.gravity.expressions import expressions

    q = found.samples.log.q
    tries = [poses.q[0]] if poses is not None else [np.median(q, axis=0), np.zeros(q.shape[1])]
    said = ""
    for at in tries:
        try:
            return expressions(found.model, at, found.wide)
        except InputError as error:
            said = str(error)
    notes.append(f"Torques are not written out: {said}.")
    return ()


def _recursion(found: GravityFit, notes: list[str]) -> Recursion | None:
    """The document's own route, where the log has sweeps."""
    from elastocal.gravity.recursion import recursive_moments

    try:
        recursion = recursive_moments(found.model, found.samples, found.sense.sign)
    except InputError as error:
        notes.append(f"Sweep by sweep nothing is computed: {error}.")
        return None
    if recursion.elsewhere:
        notes.append(f"{recursion.elsewhere} sweeps had other joints elsewhere and are not in the sweep-by-sweep fit.")
    return recursion


def _payload(
    request: GravityRequest, found: GravityFit, friction: Friction | None, notes: list[str]
) -> GravityFit | None:
    from elastocal.files.log.read import read_log
    from elastocal.gravity.gross import without_gross
    from elastocal.gravity.payload import identify_payload
    from elastocal.gravity.samples import slow_samples

    if request.payload_log is None:
        return None
    log = read_log(request.payload_log, found.model)
    samples = slow_samples(found.model, log, friction=needs_motion(friction))
    notes += samples.notes
    cleaned = without_gross(lambda part: identify_payload(found, part, request.payload_frame, friction), samples)
    notes += [f"Gross errors left out of the second log: {cleaned.said()}."] if cleaned.gross else []
    return cleaned.found
