"""A robot program with corrected targets, and how far each was off, is now, and with what confidence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.calibration_files import assumed_masses
from elastocal.app.programs.calibrated import Calibrated, calibrated
from elastocal.app.programs.frames import flange_of, given
from elastocal.app.programs.pushing import ProgramLoadRequest, ProgramPushing, program_pushing
from elastocal.app.workers import one_thread
from elastocal.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from elastocal.compensate.contributions import Shares
    from elastocal.compensate.correction import Correction
    from elastocal.compensate.job import Job
    from elastocal.compensate.program import Changes, Program, Skipped
    from elastocal.compensate.verification import Residual
    from elastocal.spatial.entries import Array, Bools

STEPS = 4


@dataclass(frozen=True, kw_only=True)
class CompensateRequest:
    """As typed; tolerances in um."""

    program: Path
    calibration: Path | None = None
    robot: str | None = None
    serial: str | None = None
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
    calibration; ``shares`` are parts of how far targets as stated are off before; ``on_truth`` are residuals before and
    after on the robot taken for true; ``written`` are the bytes of the new files by their place.
    """

    request: CompensateRequest
    robot: Calibrated
    job: Job
    load: ProgramPushing
    correction: Correction
    changes: Changes
    shares: Shares
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

        from elastocal.compensate.targets import TargetStatus

        return np.asarray(self.correction.status == TargetStatus.CORRECTED)


def run(
    request: CompensateRequest, progress: Callable[[int, int], None] = lambda done, total: None
) -> CompensateResult:
    with one_thread():
        return _run(request, progress)


def _run(request: CompensateRequest, progress: Callable[[int, int], None]) -> CompensateResult:
    import numpy as np

    from elastocal.app.programs.checks import assumed, bearable, check_usable, near_configuration
    from elastocal.app.programs.commands import as_written, residuals_on_truth
    from elastocal.app.programs.points import line_points
    from elastocal.compensate.contributions import shares
    from elastocal.compensate.job import (
        as_taught,
        command_residuals,
        confidence,
        corrected,
        job,
        nominals,
    )
    from elastocal.compensate.placed import placed, with_tools
    from elastocal.compensate.program import uncorrected
    from elastocal.compensate.rewrite import rewritten
    from elastocal.compensate.stations import stations
    from elastocal.compensate.targets import TargetStatus
    from elastocal.files.program_files import corrected_places, read_program_files

    robot = calibrated(request.calibration, request.robot, request.serial)
    flange = flange_of(robot.model, request.flange)
    post, files = read_program_files(request.program)
    if request.out is not None:
        corrected_places(request.out, files, dict.fromkeys((p.name for p in files), False))
    stated = given(robot.model, flange, request.bases, request.tools, request.orientation, request.rotary)
    program = post.read({p.name: data for p, data in files.items()}, stated)
    check_usable(program, request.program)
    if not request.chord > 0:
        raise InputError(f"--chord-um {request.chord:g}: give a positive length")
    at = placed(with_tools(robot.model, program, flange), stations(program, 1e-6 * request.chord))
    load = program_pushing(at, request.loads, flange)
    progress(1, STEPS)
    work = job(at, load.loads, near_configuration(robot.model, request.near), request.position_only)
    nominal, stated_poses = nominals(work), work.targets(np.arange(len(at.stations)), robot.model.tool)
    unknown = assumed_masses(robot.model, () if robot.record is None else robot.record.names)
    parts = shares(work, nominal, unknown)
    work = as_taught(work.at.model, work, nominal) if request.taught else work
    found = replace(corrected(work, request.first_order), nominal=nominal)
    before = command_residuals(work.at.model, work, nominal) if request.taught else parts.total
    bearable(work, before)
    progress(2, STEPS)
    inserted, dense = line_points(work, found, request.densify)
    new = rewritten(work, found, inserted)
    bytes_ = post.write(program, new.changes)
    command = as_written(work, found, new.changes, post.read(bytes_, stated))
    good = found.status == TargetStatus.CORRECTED
    progress(3, STEPS)
    before_load = nominal if request.taught else None
    truth = (
        None
        if request.truth is None
        else residuals_on_truth(request.truth, work, flange, nominal, command, request.taught)
    )
    return CompensateResult(
        request=request, robot=robot, job=work, load=load, correction=found, changes=new.changes, shares=parts,
        before=before, after=command_residuals(work.at.model, work, command),
        covariance=None if robot.known is None else confidence(robot.known, work, command, before_load),
        shift=found.moved(stated_poses),
        on_truth=truth, left=uncorrected(program, good[work.at.stations.row]),
        inserted=sum(len(p.positions) for p in new.changes.inserted.values()),
        written=_places(request, files, bytes_),
        notes=(*robot.notes, *program.notes, *load.notes, *new.warnings, *dense, *assumed(work, flange)),
    )  # fmt: skip


def _places(request: CompensateRequest, files: dict[Path, bytes], new: dict[str, bytes]) -> dict[Path, bytes]:
    from elastocal.files.program_files import corrected_places

    if request.out is None:
        return {}
    changed = {p.name: new[p.name] != data for p, data in files.items()}
    return {place: new[name] for name, place in corrected_places(request.out, files, changed).items()}
