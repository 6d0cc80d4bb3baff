"""A robot program with corrected targets, and how far each was off, is now, and with what confidence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.calibrated import Calibrated, calibrated
from elastocal.app.program_frames import flange_of, given
from elastocal.app.program_pushing import ProgramLoadRequest, ProgramPushing, program_pushing
from elastocal.app.threads import one_thread
from elastocal.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from elastocal.compensate.correction import Correction
    from elastocal.compensate.program import Changes, Program, Skipped
    from elastocal.compensate.program_correction import Job
    from elastocal.compensate.verification import Residual
    from elastocal.spatial.entries import Array, Bools

STEPS = 4
SOFT = 0.1
"""Share of its own size by which no arm may bend."""


@dataclass(frozen=True, kw_only=True)
class CompensateRequest:
    """As typed; tolerances in um."""

    program: Path
    calibration: Path | None = None
    robot: str | None = None
    bases: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    flange: str | None = None
    orientation: str | None = None
    rotary: str = ""
    near: str | None = None
    loads: ProgramLoadRequest = field(default_factory=ProgramLoadRequest)
    position_only: bool = False
    first_order: bool = False
    taught: bool = False
    densify: float | None = None
    chord: float = 5.0
    truth: str | None = None
    out: Path | None = None


@dataclass(frozen=True, eq=False)
class CompensateResult:
    """Arrays are over stations (``job.at.stations``); residuals are those of the program as it is written.

    ``shift`` (S, 6) are told minus stated poses in m and rad, robot axes; ``covariance`` (S, 6, 6) is None without a
    calibration; ``on_truth`` are residuals before and after on the robot taken for true; ``written`` are the bytes of
    the new files by their place.
    """

    request: CompensateRequest
    robot: Calibrated
    job: Job
    load: ProgramPushing
    correction: Correction
    changes: Changes
    before: Residual
    after: Residual
    shift: Array
    covariance: Array | None
    on_truth: tuple[Residual, Residual] | None
    left: tuple[Skipped, ...]
    inserted: int
    written: dict[Path, bytes]
    notes: tuple[str, ...]

    @property
    def program(self) -> Program:
        return self.job.at.stations.program

    @cached_property
    def corrected(self) -> Bools:
        import numpy as np

        from elastocal.compensate.status import Status

        return np.asarray(self.correction.status == Status.CORRECTED)


def run(
    request: CompensateRequest, progress: Callable[[int, int], None] = lambda done, total: None
) -> CompensateResult:
    with one_thread():
        return _run(request, progress)


def _run(request: CompensateRequest, progress: Callable[[int, int], None]) -> CompensateResult:
    import numpy as np

    from elastocal.app.program_points import line_points
    from elastocal.compensate.placed import placed, with_tools
    from elastocal.compensate.program import uncorrected
    from elastocal.compensate.program_correction import as_taught, confidence, corrected, job, nominals, residuals
    from elastocal.compensate.rewrite import rewritten
    from elastocal.compensate.stations import stations
    from elastocal.compensate.status import Status
    from elastocal.files.program_files import corrected_places, read_program_files

    robot = calibrated(request.calibration, request.robot)
    flange = flange_of(robot.model, request.flange)
    post, files = read_program_files(request.program)
    if request.out is not None:
        corrected_places(request.out, files, dict.fromkeys((p.name for p in files), False))
    stated = given(robot.model, flange, request.bases, request.tools, request.orientation, request.rotary)
    program = post.read({p.name: data for p, data in files.items()}, stated)
    _usable(program, request.program)
    if not request.chord > 0:
        raise InputError(f"--chord-um {request.chord:g}: give a positive length")
    at = placed(with_tools(robot.model, program, flange), stations(program, 1e-6 * request.chord))
    load = program_pushing(at, request.loads, flange)
    progress(1, STEPS)
    work = job(at, load.loads, _near(robot, request.near), request.position_only)
    nominal, stated_poses = nominals(work), work.targets(np.arange(len(at.stations)), robot.model.tool)
    work = as_taught(work.at.model, work, nominal) if request.taught else work
    found = replace(corrected(work, request.first_order), nominal=nominal)
    before = residuals(work.at.model, work, nominal)
    _bearable(work, before)
    progress(2, STEPS)
    inserted, dense = line_points(work, found, request.densify)
    new = rewritten(work, found, inserted)
    bytes_ = post.write(program, new.changes)
    command = _as_written(work, found, new.changes, post.read(bytes_, stated))
    good = found.status == Status.CORRECTED
    progress(3, STEPS)
    before_load = nominal if request.taught else None
    truth = None if request.truth is None else _on_truth(request, work, flange, nominal, command)
    return CompensateResult(
        request=request, robot=robot, job=work, load=load, correction=found, changes=new.changes, before=before,
        after=residuals(work.at.model, work, command),
        covariance=None if robot.known is None else confidence(robot.known, work, command, before_load),
        shift=found.moved(stated_poses),
        on_truth=truth, left=uncorrected(program, good[work.at.stations.row]),
        inserted=sum(len(p.positions) for p in new.changes.inserted.values()),
        written=_places(request, files, bytes_),
        notes=(*robot.notes, *program.notes, *load.notes, *new.warnings, *dense, *_assumed(work, flange)),
    )  # fmt: skip


def _usable(program: Program, path: Path) -> None:
    missing = program.missing_frames()
    if missing:
        what, name = missing[0].split(" (")[0].split(" ", 1)
        raise InputError(
            f"{path}: the pose of {missing[0]} is stated nowhere; give it with "
            f'--{what} "{name}=X,Y,Z,A,B,C" (mm, deg) or use the data file of the program'
        )
    if not program.targets:
        why = f"; the first line left alone: {program.skipped[0].line}, {program.skipped[0].reason}" * bool(
            program.skipped
        )
        raise InputError(f"{path}: has no target that can be corrected{why}")


def _near(robot: Calibrated, text: str | None) -> Array | None:
    import numpy as np

    from elastocal.app.configurations import typed, within_limits

    if text is None:
        return None
    return np.asarray(within_limits(robot.model, typed(robot.model, (text,), "--near"), False).q[0])


def _bearable(work: Job, before: Residual) -> None:
    """Refuse loads that no arm is meant for: slips of units."""
    import numpy as np

    from elastocal.compensate.inverse_kinematics import extent

    size = extent(work.at.model)
    bend = np.nan_to_num(np.linalg.norm(before.position, axis=1))
    worst = int(np.argmax(bend))
    if bend[worst] > SOFT * size:
        raise InputError(
            f"{work.at.stations.name(worst)}: under this load the tool would be off by {bend[worst]:.3g} m on a "
            f"robot of {size:.3g} m; check the unit of the load (N, N m, kg)"
        )


def _as_written(work: Job, found: Correction, changes: Changes, again: Program) -> Array:
    """Joint values (S, n) that the controller makes of the new program, rounding of its digits included."""
    import numpy as np

    from elastocal.compensate.program_correction import commands
    from elastocal.compensate.read_back import read_back
    from elastocal.compensate.status import Status

    at = work.at
    place, turn, axes = read_back(at, again, changes)
    good = found.status == Status.CORRECTED
    near = np.where(good[:, None], found.command, found.nominal)
    position, rotation = at.in_robot(place, turn)
    loose = np.array([k == "axis" for k in at.stations.kind]) & good
    rotation[loose] = found.rotation[loose]  # the program leaves the turn about the tool axis open
    rotation = np.where(np.isfinite(rotation), rotation, work.at.rotation)
    by_axes = at.stations.by_axes
    position[by_axes], rotation[by_axes] = at.position[by_axes], at.rotation[by_axes]
    out = commands(work, position, rotation, near)
    if by_axes.any():
        out[by_axes] = at.model.controller.to_joints(axes[by_axes])
    return out


def _on_truth(
    request: CompensateRequest, work: Job, flange: str, nominal: Array, command: Array
) -> tuple[Residual, Residual]:
    from elastocal.app.robot_choice import load_robot
    from elastocal.compensate.placed import with_tools
    from elastocal.compensate.program_correction import as_taught, residuals

    word = request.truth or ""
    true = load_robot(word).model
    if true.joints != work.at.model.joints:
        raise InputError(
            f"--truth {word}: has joints {', '.join(true.joints)}, the robot that is compensated "
            f"{', '.join(work.at.model.joints)}; give a truth of the same build"
        )
    model = with_tools(true, work.at.stations.program, flange)
    work = as_taught(model, work, nominal) if request.taught else work
    return residuals(model, work, nominal), residuals(model, work, command)


def _places(request: CompensateRequest, files: dict[Path, bytes], new: dict[str, bytes]) -> dict[Path, bytes]:
    from elastocal.files.program_files import corrected_places

    if request.out is None:
        return {}
    changed = {p.name: new[p.name] != data for p, data in files.items()}
    return {place: new[name] for name, place in corrected_places(request.out, files, changed).items()}


def _assumed(work: Job, flange: str) -> tuple[str, ...]:
    """What the numbers rest on beyond the files."""
    program = work.at.stations.program
    out = [f"Tools are taken in the axes of frame {flange}, bases in those of the robot's base frame."]
    moved = [t for t in program.targets if any(abs(v) < 9e8 and v for v in t.external)]
    if moved:
        out.append(f"{moved[0].where}: external axes are not part of the model; their values are kept.")
    if any(k == "axis" for k in work.at.stations.kind):
        out.append("The program leaves the turn about the tool axis open; it is taken as one of many.")
    if any(k == "point" for k in work.at.stations.kind):
        out.append("The program gives points: their positions are corrected, the orientation stays as it is.")
    return tuple(out)
