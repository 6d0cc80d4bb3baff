"""The weight of an arm from a log of joint values and torques: masses, friction, the torque to hold it anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from elastocal.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from elastocal.app.configurations import Configurations
    from elastocal.measure.joint_log import JointLog
    from elastocal.measure.sources.friction import Friction
    from elastocal.procedures.gravity import Gravity
    from elastocal.procedures.gravity.fit import MassPrior
    from elastocal.procedures.gravity.prediction import TorquePrediction

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
    """``holding`` are the torques at the ``poses`` asked for; ``text`` is the robot file with these masses."""

    request: GravityRequest
    gravity: Gravity
    poses: Configurations | None
    holding: TorquePrediction | None
    text: str
    notes: tuple[str, ...]


def run(request: GravityRequest) -> GravityResult:
    from elastocal.app.configurations import typed, within_limits
    from elastocal.app.workers import one_thread
    from elastocal.files.log.read import read_log
    from elastocal.files.robot.read import read_robot
    from elastocal.procedures.gravity import identify

    prior = _check(request)
    robot = read_robot(request.robot, request.tool)
    poses = within_limits(robot, typed(robot, request.at), request.ignore_limits) if request.at else None
    log = read_log(request.log, robot)
    second = None if request.payload_log is None else read_log(request.payload_log, robot)
    with one_thread():
        gravity = identify(
            robot, log, torques=request.torques, friction=_friction(request.friction, log), prior=prior,
            hold_out=request.hold_out, find_mounting=request.mounting == "find",
            at=None if poses is None else poses.q[0], payload_log=second, payload_frame=request.payload_frame,
        )  # fmt: skip
        holding = None if poses is None else gravity.predict(poses.q)
    notes = (*robot.notes, *gravity.notes, *(() if poses is None else poses.notes))
    text = "" if request.out is None else _robot_file(request, gravity)
    return GravityResult(request, gravity, poses, holding, text, notes)


def _check(request: GravityRequest) -> MassPrior | None:
    """Refuse words that mean nothing, before anything is read; the prior asked for."""
    from elastocal.procedures.gravity import TORQUES
    from elastocal.procedures.gravity.fit import MassPrior

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


def _friction(text: str | None, log: JointLog) -> Friction | Literal["auto"] | None:
    from elastocal.measure.sources.friction import TERMS, Friction

    if text is None:
        return "auto"
    words = tuple(w.strip() for w in text.split(","))
    if words == ("none",):
        return None
    for word in words:
        if word not in TERMS:
            raise UnknownNameError("term of friction", word, (*TERMS, "none"), "--friction")
    if "viscous" in words and log.time is None:
        raise InputError(f"--friction {text}: {log.source} has no time, so no speed; leave viscous out")
    return Friction(**{t: t in words for t in TERMS})


def _robot_file(request: GravityRequest, gravity: Gravity) -> str:
    """The robot file with the masses identified, each with its source."""
    from elastocal.files.robot.write import robot_text

    logs = [request.log.name] + ([] if request.payload_log is None else [request.payload_log.name])
    source = f"elastocal gravity from {' and '.join(logs)}, {gravity.arm.samples.log.count} samples"
    try:
        robot = gravity.robot(source)
    except InputError as error:
        raise InputError(f"--out {request.out}: {error}") from None
    return robot_text(robot, (f"Made from {request.robot} by {source}.",))
