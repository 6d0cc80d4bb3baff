"""The correction of a robot program: from a robot or a calibration, a program and a load to corrected commands.

    robot = read_robot("kuka-kr270")
    program = read_program("contour.src")
    done = compensate(robot, program, wrench=[-400, 0, -150, 0, 0, 0])
    done.write("corrected")

The command is solved whose *loaded* pose is the desired one, at every target; numbers of targets change, and nothing
else in the program.  With a calibration the residual error after correction is predicted from its covariance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from elastocal.arguments import checked, vector
from elastocal.compensation.along import along
from elastocal.compensation.arc_points import arc_hindrance, arc_points
from elastocal.compensation.branches import some_places
from elastocal.compensation.contributions import Contributions, contributions
from elastocal.compensation.correction import CHORD, IMPLAUSIBLE, NOTHING, SHIFTED, Correction, Method
from elastocal.compensation.densify import in_bases, line_points, without_points
from elastocal.compensation.free_turn import another_turn, limited
from elastocal.compensation.job import (
    Job,
    as_taught,
    command_residuals,
    confidence,
    corrected,
    job,
    nominals,
    stand,
    stood_residuals,
)
from elastocal.compensation.left_open import along_axes, check_frames
from elastocal.compensation.places import Points
from elastocal.compensation.posts.post import post_in
from elastocal.compensation.posts.written import Layout
from elastocal.compensation.process import ProcessLoad, station_loads
from elastocal.compensation.program import Program, uncorrected
from elastocal.compensation.rewrite import as_written, rewritten
from elastocal.compensation.stations import WORLD, placed, stations, with_own_base, with_tools
from elastocal.compensation.targets import TargetStatus
from elastocal.compensation.verification import Residual
from elastocal.errors import ConflictError, InputError, RangeError
from elastocal.model.limits import extent
from elastocal.model.robot import Robot
from elastocal.quantities import length
from elastocal.reduction.prediction import IdentifiedModel
from elastocal.results import Finding, as_sentence
from elastocal.spatial.entries import Array, Bools
from elastocal.spatial.threads import one_thread

FLANGE, TOOL0 = "flange", "tool0"
SOFT, DOUBTFUL = 0.03, 0.005
"""Shares of its reach by which no arm is off, and hardly one."""
MASSES = ("link_mass", "payload")
STEPS = 4
TURNED = 1e-6
"""rad that written digits never leave of an orientation."""
Progress = Callable[[int, int, str], None]
"""Done, of how many, and the stage that begins."""


@checked("calibration", "program")
@one_thread
def compensate(
    calibration: Any,
    program: Program,
    wrench: Sequence[float] | Array | None = None,
    *,
    load: ProcessLoad | None = None,
    near: Sequence[float] | Array | None = None,
    flange: str | None = None,
    position_only: bool = False,
    taught: bool = False,
    first_order: bool = False,
    densify: float | None = None,
    chord: float = CHORD,
    truth: Robot | None = None,
    judged: bool = True,
    progress: Progress | None = None,
) -> Correction:
    """Correct a program for the load on the robot.

    ``calibration`` is a calibration, or a robot, whose accuracy is then not known.
    ``wrench`` (6,) in N and N m is applied to the robot at the tip of the program's tool, in robot base axes, on
    linear, circular and spline moves; everything else about loads is said by ``load`` in its place.  ``near`` (n,) are
    controller values in rad and m before the program starts, where nothing in it says how the arm reaches its first
    target.  ``taught`` targets are where the unloaded arm stands: only what the load adds is corrected.  ``densify``
    puts points into lines and arcs that would be off by more (m); ``truth`` is a simulated robot on which both programs
    are run.
    Not ``judged``, nothing is said of the program as it was, and of how certain the new one is.
    """
    if not isinstance(program, Program):
        what = repr(str(program)) if isinstance(program, str | PathLike) else type(program).__name__
        raise InputError(f"a program is needed, not {what}; read one by ec.read_program(path)",
                         code="no-program", parameter="program", value=type(program).__name__)  # fmt: skip
    model, known = _identified(calibration, flange)
    near = None if near is None else vector("near", near, model.n)
    if wrench is not None:  # one, or one for each target
        wrench = np.asarray(wrench, dtype=np.float64) if np.ndim(wrench) == 2 else vector("wrench", wrench, 6)
    if load is not None and wrench is not None:
        raise ConflictError("give the load once: as a wrench, or as load", code="load-twice")
    post = post_in(program.language)
    drives = model.controller.drives
    if post.pulses and drives is not None and program.given.drives is None:
        given = replace(program.given, drives=drives)
        program = replace(post.read(program.files, given), given=given, origin=program.origin)
    program = with_own_base(program, model, post.own_base, post.base_at_root)
    check_frames(program, model, near is None)
    _check(program, densify, chord)
    hand = flange_of(model, flange)
    method = Method(hand, position_only, taught, first_order, densify, chord)
    step = progress or (lambda done, total, stage: None)
    at = placed(with_tools(model, program, hand), stations(program, chord))
    asked = load or ProcessLoad(wrench=wrench)
    loads = station_loads(at, asked, hand, judged)
    # of a calibration that saw no load: with compliances of the robot file or assumed, and what that is worth
    pushed = loads.loads.any() or asked.pushes
    wider, doubts = getattr(calibration, "under_load", (calibration, ())) if pushed else (calibration, ())
    again = partial(
        compensate, calibration=calibration, wrench=wrench, load=load, near=near, flange=flange,
        position_only=position_only, taught=taught, first_order=first_order, densify=densify, chord=chord,
        truth=truth, judged=judged, progress=progress,
    )  # fmt: skip
    if doubts:
        wide = again(calibration=wider, program=program)
        return replace(wide, warnings=(*doubts, *wide.warnings))
    step(1, STEPS, "loaded poses")
    start = None if near is None else model.controller.to_joints(near[None])[0]
    work = job(at, loads.loads, start, position_only)
    nominal, stated = nominals(work), work.targets(np.arange(len(at.stations)), model.tool)
    unknown = assumed_masses(model, () if known is None else known.names)
    parts = contributions(work, nominal, unknown, known) if judged else Contributions.unknown(len(nominal))
    as_stated = work if taught else None
    work = as_taught(work.placed.model, work, nominal) if taught else work
    correction = replace(corrected(work, first_order), nominal=nominal)
    before = command_residuals(work.placed.model, work, nominal) if taught and judged else parts.total
    doubtful = _bearable(work, before, {"load": parts.load} if taught else parts.named)
    turn: tuple[Finding, ...] = ()
    if judged and (beyond := limited(correction.status, at.stations.kind)):
        lost = int((correction.status != TargetStatus.CORRECTED).sum())
        trial = partial(again, densify=None, truth=None, judged=False, progress=None)
        other, said = another_turn(
            program, post, beyond, lost, lambda p, way: trial(program=p, near=near if way is None else way)
        )
        if other is not None:
            turned = again(program=other)
            return replace(turned, warnings=(said, *(w for w in turned.warnings if w.code != "turn-limited")))
        turn = (said,)
    step(2, STEPS, "points between targets, new digits")
    points: dict[int, Points] = {}
    if densify is not None:
        points = line_points(work, as_stated, correction, densify) | arc_points(work, as_stated, correction, densify)
    changes, unfit = rewritten(work, correction, in_bases(work, points))
    files = post.write(program, changes)
    written = post.read(files, program.given.corrected)
    command = as_written(work, correction, changes, written)
    step(3, STEPS, "predicted residual error")
    good = correction.status == TargetStatus.CORRECTED
    (stood,) = stand(work.placed.model, work, (command, work.loads), bends=correction.bends)
    after = stood_residuals(work, stood)
    true = None if truth is None else with_tools(truth, program, hand)
    way = along(work, as_stated, correction, points, true)
    dense = () if densify is None else without_points(work, way, densify, points, arc_hindrance)
    return Correction(
        known=known, method=method, job=work, load=loads, commands=correction, changes=changes, contributions=parts,
        assumed=unknown, before=before, after=after, along=way,
        shift=correction.moved(stated),
        covariance=confidence(known, work, stood, nominal if taught else None) if known and judged else None,
        on_truth=None if true is None else _on_truth(true, method, work, nominal, command),
        left=uncorrected(program, good[work.placed.stations.row]), files=files, end=written.end,
        warnings=(*(Finding("program", "note", n) for n in program.notes), *loads.findings, *doubtful, *turn, *unfit,
                  *_beyond(calibration, command, good), *dense, *_shifted(work, after, good), *_unused(program),
                  *_taken(work, hand, named=flange is not None)),
    )  # fmt: skip


def _beyond(calibration: Any, joints: Array, good: Bools) -> tuple[Finding, ...]:
    """Corrected targets beyond the joint ranges that a calibration was measured in; of a robot nothing is known."""
    known = getattr(calibration, "beyond", None)
    return () if known is None else tuple(known(joints[good], "corrected targets"))


def flange_of(model: Robot, asked: str | None = None) -> str:
    """The frame that tools are mounted on: the one asked for, else tool0 or flange, else the last that moves."""
    if asked is not None:
        model.tree.frame(asked)
        return asked
    named = [name for name in (TOOL0, FLANGE) if name in model.tree.names]
    moving = [f.name for f in reversed(model.tree.frames) if f.joint is not None]
    if named or moving:
        return [*named, *moving][0]
    raise InputError(
        f"robot {model.name} has no moving frame that tools could be mounted on; name the flange, one of "
        f"{', '.join(model.tree.names)}", code="no-flange", allowed=model.tree.names, parameter="flange",
    )  # fmt: skip


def flange_reason(model: Robot, flange: str, *, named: bool = False) -> str:
    """Why a frame that nobody ``named`` counts as the flange, and whether its axes are those of controllers.

    "" where nothing is to say.
    """
    if flange == TOOL0:
        return "tool0 has the axes of the controller's flange"
    axes = "the last axis is not z of it, as it is on the flange of a controller: state tools so, or add a frame tool0"
    across = axes if _last_axis(model, flange) < 0.9 else ""
    if named or flange == FLANGE:
        return across
    taken = "the robot has no frame flange or tool0, so its last moving frame is taken; name another if wrong"
    return f"{taken} ({across})" if across else taken


def _last_axis(model: Robot, flange: str) -> float:
    """How far the last axis that moves the frame points along its z: 1 where it is that, 0 where it lies across."""
    turn = np.eye(3)
    for frame in reversed(model.tree.path(flange)):
        if frame.joint is not None:
            return abs(float((turn.T @ frame.joint.unit_axis)[2]))
        turn = frame.pose.rotation @ turn
    return 1.0


def assumed_masses(model: Robot, sought: Sequence[str]) -> tuple[str, ...]:
    """Parameters of masses that were not estimated and that are assumed."""
    rows = (p for p in model.parameters if p.kind in MASSES and p.status == "assumed" and p.value)
    return tuple(p.name for p in rows if p.name not in sought)


def _identified(given: Any, flange: str | None) -> tuple[Robot, IdentifiedModel | None]:
    """The robot, and how well its parameters are known; of a calibration with its base and tool as measured."""
    if isinstance(given, Robot):
        return given, None
    if isinstance(given, IdentifiedModel):
        return given.model, given
    try:
        robot, names, covariance = given.registered(flange_of(given.robot, flange))
        return robot, IdentifiedModel(
            robot, names, covariance, given.discrepancy, "loaded", given.freedom, registered=given.placed
        )
    except AttributeError:
        message = f"a robot or a calibration is needed to correct a program, not {type(given).__name__}"
        raise InputError(message, code="no-robot", parameter="calibration") from None


def _check(program: Program, densify: float | None, chord: float) -> None:
    name = next(iter(program.files), "the program")
    if not program.targets:
        first = next(iter(program.skipped), None)
        why = f"the first line left alone: {first.line}, {first.reason}" if first else "no motion was found in it"
        raise InputError(
            f"{name}: has no target that can be corrected; {why}; check file and language", code="no-target", file=name
        )
    for what, value in (("densify", densify), ("chord", chord)):
        if value is not None and not value > 0:
            raise RangeError(f"{what} {1e6 * value:g} um: give a positive length", value=value, parameter=f"{what}_um")


def _bearable(work: Job, before: Residual, parts: Mapping[str, Residual]) -> list[Finding]:
    """Refuse corrections that no arm needs, by load or weight alike: slips of units.  Doubt what hardly one does."""
    size = extent(work.placed.model)
    bend = np.nan_to_num(np.linalg.norm(before.position, axis=1))
    worst = int(np.argmax(bend))
    if not bend[worst] > DOUBTFUL * size > 0:
        return []
    named = {word: float(part.distance[worst]) for word, part in parts.items()}
    shares = ", ".join(f"{word} {length(far)}" for word, far in named.items() if far > NOTHING)
    message = (
        f"{work.placed.stations.name(worst)}: the tool would be off by {length(bend[worst])} ({shares}), "
        f"{100 * bend[worst] / size:.2g} % of the {size:.3g} m that the robot reaches; arms are off by some mm; "
        "check the unit of the load (N, N m, kg), and those of compliances and masses"
    )
    data = {"off": float(bend[worst]), "reach": size, **named}
    if bend[worst] > SOFT * size:
        raise InputError(message, code=IMPLAUSIBLE, value=float(bend[worst]), allowed=(SOFT * size,))
    return [Finding(IMPLAUSIBLE, "warning", message, data)]


def _on_truth(true: Robot, method: Method, work: Job, nominal: Array, command: Array) -> tuple[Residual, Residual]:
    """Residuals of the old and the new program on the simulated true robot."""
    if true.joints != work.placed.model.joints:
        raise ConflictError(
            f"truth {true.name}: has joints {', '.join(true.joints)}, the robot that is compensated "
            f"{', '.join(work.placed.model.joints)}; give a truth of the same build",
            parameter="truth",
        )
    work = as_taught(true, work, nominal) if method.taught else work
    before, after = stand(true, work, (nominal, work.loads), (command, work.loads))
    return stood_residuals(work, before), stood_residuals(work, after)


def _shifted(work: Job, after: Residual, good: Bools) -> list[Finding]:
    """Targets that are written as a shift of another one, and have its orientation where they should have their own."""
    stations = work.placed.stations
    layout = stations.program.layout
    rows = stations.row[list(layout.derived) if isinstance(layout, Layout) else []]
    rows = rows[good[rows] & ~work.by_position[rows] & (after.angle[rows] > TURNED)]
    if not len(rows):
        return []
    angle, far = float(after.angle[rows].max()), float(after.distance[rows].max())
    message = (
        f"{some_places([stations.name(int(i)) for i in rows])}: a shift of another point has the orientation of that "
        f"point; {1e3 * angle:.3g} mrad at most are left of it, and {length(far)} of the place with it. State a point "
        "of its own where that counts."
    )
    return [Finding(SHIFTED, "warning", message, {"targets": len(rows), "max_angle": angle, "max": far})]


def _unused(program: Program) -> list[Finding]:
    """Frames that the user states and the program does not use: names that are mistyped, or of another program."""
    own, out = post_in(program.language).own_base.lower(), []
    for word, stated, used in (
        ("base", program.given.bases, program.bases), ("tool", program.given.tools, program.tools),
    ):  # fmt: skip
        known = {name.lower() for name in used} | ({own} if own and word == "base" else set())
        names = tuple(name for name in stated if name.lower() not in known)
        if names:
            listed = ", ".join(map(repr, used)) or "none"
            message = (
                f"NOT USED: {word} {', '.join(map(repr, names))}, which was stated. The program uses {word} {listed}."
            )
            out.append(Finding(f"{word}-not-used", "warning", message, {"names": names, "used": tuple(used)}))
    return out


def _counted_from(program: Program, model: Robot) -> str:
    """Where the controller's own base lies, and that bases that were typed count from it."""
    own = post_in(program.language).own_base
    if not own:
        return ""
    world, out = next((w for w in WORLD if w in model.tree.names), ""), ""
    where = f"frame {world} of the robot file" if world else "the root of the robot file, which has no frame world"
    stated = {name.lower() for name in program.given.bases}
    where = f"base {own} as stated" if own.lower() in stated else where
    if own in program.bases and (world or own.lower() in stated):
        out += f" Base {own} of the program is the controller's own: {where}."
    typed = [name for name in program.bases if name != own and name.lower() in stated]
    if typed:
        out += (
            f" The pose that was stated for base {', '.join(typed)} counts from the controller's own base, as its "
            f"pendant shows it: from {where}."
        )
        if not world and own.lower() not in stated:
            out += (
                f" Where the controller has it elsewhere, add a frame world, or state base {own} in the robot's root."
            )
    return out


def _taken(work: Job, flange: str, *, named: bool) -> list[Finding]:
    """What the numbers rest on beyond the files."""
    program, kinds = work.placed.stations.program, work.placed.stations.kind
    message = f"Tools are taken in the axes of frame {flange}, bases in those of the robot's base frame."
    message += _counted_from(program, work.placed.model)
    why = flange_reason(work.placed.model, flange, named=named)
    message += f" {as_sentence(why)}" if why else ""
    out = [Finding("frames", "note", message, {"flange": flange})]
    level = next((t for t in program.targets if t.kind == "joints"), None) if program.language == "fanuc" else None
    if level is not None and work.placed.model.n == 6 and not work.placed.model.controller.matrix[2, 1]:
        message = (
            f"{level.where}: is given by axes, and the robot file does not couple joint 3 to J2: FANUC shows J3 "
            "against the horizontal. Add couplings to the controller section, unless this one shows it otherwise."
        )
        out.append(Finding("fanuc-coupling", "warning", message, {"file": level.file, "line": level.line}))
    moved = [t for t in program.targets if t.external and any(abs(v) < 9e8 and v for v in t.external)]
    if moved:
        message = f"{moved[0].where}: external axes are not part of the model; their values are kept."
        out.append(Finding("external-axes-kept", "note", message, {"file": moved[0].file, "line": moved[0].line}))
    if "axis" in kinds:
        message = "The program leaves the turn about the tool axis open; it is taken as one of many."
        if along_axes(program):
            message += (
                " No orientation is stated: z of the tool is taken from the tip to the spindle. State one that looks "
                "into the part where z leads from the flange to the tip."
            )
        out.append(Finding("tool-axis-free", "note", message))
    if "point" in kinds:
        message = "The program gives points: their positions are corrected, the orientation stays as it is."
        out.append(Finding("orientation-kept", "note", message))
    return out
