"""The weight of an arm from a log of joint values and torques: masses, friction, the torque to hold it anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from elastocal.app.cells.roles import REPORT, ROBOT, Fill, Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.errors import ConflictError, FormatError, InputError, MissingError, RangeError, UnknownNameError
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.app.configurations import Configurations
    from elastocal.measure.joints import JointLog
    from elastocal.measure.sources.friction import Friction
    from elastocal.procedures.gravity import Gravity
    from elastocal.procedures.gravity.prediction import TorquePrediction

MOUNTINGS = ("file", "find")
YAML = (".yaml", ".yml")


_CELL = Uses({"log": "log", "robot": "robot"}, (ROBOT, Fill("out", "robot", "gravity.yaml", parent=True), REPORT))


@dataclass(frozen=True, eq=False)
class GravityResult:
    """``holding`` are the torques at the ``poses`` asked for; ``files`` the robot file with these masses."""

    log: Path
    robot: str
    hold_out: float
    gravity: Gravity
    poses: Configurations | None
    holding: TorquePrediction | None
    files: dict[Path, str]
    notes: tuple[str, ...]


@command("procedures", 1, _CELL, progress="gravity")
def gravity(
    log: Annotated[Path, o.argument("LOG", "Joint values and torques: CSV, RSI telegrams or RTDE record.")],
    robot: o.Robot,
    torque_log: Annotated[
        Path | None, o.option("FILE.csv", "Torques in a table of their own, the same instants.")
    ] = None,
    units: Annotated[
        str | None, o.option("rad,Nm", "Of columns that name none (deg,Nm); of motors motor_rad,motor_Nm.")
    ] = None,
    rate: Annotated[float | None, o.option("HZ", "Rows per second of a log that has no time.")] = None,
    torques: Annotated[
        str, o.option("auto|drive|load", "Whose torque was logged; auto asks the robot's masses.")
    ] = "auto",
    friction: Annotated[
        str | None, o.option("TERMS", "coulomb,viscous,zero or none (default: the first two if the log has time).")
    ] = None,
    prior: Annotated[float, o.option("SHARE", "How well the robot file knows its masses, as a share of each.")] = 0.3,
    centre_mm: Annotated[float, o.option("MM", "How well the robot file knows their centres.")] = 30.0,
    no_prior: Annotated[bool, o.flag("Use the log alone; what it does not tell is fixed.", "--no-prior")] = False,
    hold_out: Annotated[
        float, o.option("SHARE", "Last part of the log to judge a fit of the rest by; 0 for none.")
    ] = 0.3,
    mounting: Annotated[
        str, o.option("file|find", "Which way is down: as the robot file says, or found first.")
    ] = "file",
    inertia: Annotated[
        str, o.option("auto|model|leave-out", "Model the inertia of a moving arm, or leave such out.")
    ] = "auto",
    slow: Annotated[
        float, o.option("SHARE", "Acceleration that is left in with leave-out, as a share of gravity.")
    ] = 0.02,
    cutoff: Annotated[
        float | None, o.option("HZ", "Low-pass filter of a moving log (default: 10 times its band).")
    ] = None,
    coupled: Annotated[
        str | None, o.option("SUMS", "Motors that turn with several joints: A5+A6,... or none (default: as filed).")
    ] = None,
    payload_log: Annotated[Path | None, o.option("LOG2", "A second log, with a payload that is sought.")] = None,
    payload_frame: o.PayloadFrame = None,
    at: o.At = None,
    tool: o.Tool = None,
    ignore_limits: o.IgnoreLimits = False,
    out: Annotated[Path | None, o.option("FILE.yaml", "Write the robot file with these masses."), o.WRITTEN] = None,
) -> GravityResult:
    """Masses, friction, holding torque from a controller's log.

    Mass moments of all links at once with their accuracy and what is not separately identifiable, friction, the torque
    to hold the arm anywhere, validated by the last part of the log.

    \b
    Example:
      elastocal gravity sweeps.csv kuka-kr5 --at "90,-45,30,0,0,0" --report gravity.html
    """
    from elastocal.app.cli.progress import stage
    from elastocal.app.configurations import typed, within_limits
    from elastocal.files.log.given import Given
    from elastocal.files.log.read import read_log
    from elastocal.files.robot.read import read_robot
    from elastocal.procedures.gravity import identify
    from elastocal.procedures.gravity.unknowns import MassPrior

    _check(torques, mounting, hold_out, out)
    if payload_frame is not None and payload_log is None:
        raise MissingError("--payload-frame says where, but no second log is given; add --payload-log")
    known = None if no_prior else MassPrior(prior, 1e-3 * centre_mm)
    model = read_robot(robot, tool)
    poses = within_limits(model, typed(model, tuple(at)), ignore_limits) if at else None
    stage(0, 4, "reading the log")
    logged = read_log(log, model, Given(torque_log, units or "", rate))
    second = None if payload_log is None else read_log(payload_log, model, Given(None, units or "", rate))
    stage(1, 4, "masses and friction, validation")
    identified = identify(
        model, logged, torques=torques, friction=_friction(friction, logged), prior=known, hold_out=hold_out,
        find_mounting=mounting == "find", at=None if poses is None else poses.q[0], payload_log=second,
        payload_frame=payload_frame, inertia=inertia, slow=slow, cutoff=cutoff, coupled=_coupled(coupled),
    )  # fmt: skip
    stage(3, 4, "holding torques")
    holding = None if poses is None else identified.predict(poses.q)
    notes = (*model.notes, *identified.notes, *(() if poses is None else poses.notes))
    files = {} if out is None else {out: _robot_file(out, robot, (log, payload_log), identified)}
    return GravityResult(log, robot, hold_out, identified, poses, holding, files, notes)


def _check(torques: str, mounting: str, hold_out: float, out: Path | None) -> None:
    """Refuse words that mean nothing, before anything is read."""
    from elastocal.procedures.gravity import TORQUES

    if torques not in TORQUES:
        raise UnknownNameError("kind of torques", torques, TORQUES, "--torques")
    if mounting not in MOUNTINGS:
        raise UnknownNameError("mounting", mounting, MOUNTINGS, "--mounting")
    if mounting == "find" and torques == "auto":
        raise ConflictError(
            "--mounting find: an arm on the ceiling looks like one on the floor with the other sign of its torques; "
            "add --torques drive or load"
        )
    if not 0 <= hold_out < 1:
        raise RangeError.of("hold_out", hold_out, "give a share between 0 (none) and 1, such as 0.3")
    if out is not None and out.suffix.lower() not in YAML:
        raise FormatError.of("out", out, "must end in .yaml; choose such a name")


def _coupled(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else () if text == "none" else tuple(w.strip() for w in text.split(","))


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
        raise MissingError.of("friction", text, f"{log.source} has no time, so no speed; leave viscous out")
    return Friction(**{t: t in words for t in TERMS})


def _robot_file(out: Path, robot: str, logs: tuple[Path | None, ...], gravity: Gravity) -> str:
    """The robot file with the masses identified, each with its source."""
    from elastocal.files.robot.write import robot_text

    named = " and ".join(log.name for log in logs if log is not None)
    source = f"elastocal gravity from {named}, {gravity.arm.samples.log.count} samples"
    try:
        weighed = gravity.robot(source)
    except InputError as error:
        raise error.reworded(f"--out {out}: {error}") from None
    return robot_text(weighed, (f"Made from {robot} by {source}.",))
