"""The robot that commands compute with, calibrated or as its file says, and the files of a calibration.

Calibration files have two formats, which their word ``format`` tells apart: ``elastocal-calibration/2`` of readings
(``calibration.store``), ``elastocal-calibration/1`` of reductions and contacts (``files.calibration``).  Commands get
the same from both.  Written here are the second of them and the robot file with the estimates of either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.errors import ConflictError, InputError, MissingError
from elastocal.files.robot.read import read_robot, robot_file
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.app.commands.calibrate import CalibrateResult
    from elastocal.calibration.calibration import Calibration
    from elastocal.files.calibration import CalibrationRecord, ParameterRecord
    from elastocal.model.elements import Element
    from elastocal.model.parameters import Parameter
    from elastocal.model.robot import Robot
    from elastocal.reduction.prediction import IdentifiedModel
    from elastocal.spatial.entries import Array


SAME = 1e-6
"""m and rad by which frames of one robot may differ."""


@dataclass(frozen=True, eq=False)
class Calibrated:
    """``known`` is what a compensation takes, None where there is no calibration: nobody knows its accuracy then.

    ``parameters`` are all of the model with their accuracy, ``names`` and ``covariance`` those estimated; ``fixed`` are
    the names that count as exact where the file says so; ``warned`` is what speaks against trusting the calibration;
    ``mark`` tells the robot or the calibration from others.
    """

    word: str
    model: Robot
    known: IdentifiedModel | Calibration | None
    notes: tuple[str, ...]
    serial: str = ""
    mark: str = ""
    warned: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    parameters: tuple[ParameterRecord, ...] = ()
    names: tuple[str, ...] = ()
    covariance: Array | None = None
    discrepancy: float = nan
    fixed: tuple[str, ...] | None = None


def of_readings(path: Path) -> bool:
    """Whether a calibration file is of the format for readings; anything else is left to its reader to refuse."""
    from elastocal.calibration.store import FORMAT
    from elastocal.files.located import read_text
    from elastocal.files.opened import read_bytes
    from elastocal.files.plain_data import parse_json

    try:
        if b"".join(read_bytes(path)[:80].split()).startswith(f'{{"format":"{FORMAT}"'.encode()):
            return True  # as it is written: large, and read once
        data = parse_json(read_text(path), path.as_posix())
    except InputError:
        return False
    return isinstance(data, dict) and data.get("format") == FORMAT


def calibrated(calibration: Path | None, robot: str | None, serial: str | None = None) -> Calibrated:
    """From a calibration file, which must be of this very robot, or from a robot alone; ``serial`` as it must be."""
    if calibration is None:
        if robot is None:
            raise MissingError("nothing says how the robot bends; give --calibration FILE or --robot ROBOT")
        model = read_robot(robot)
        _same_serial(model.serial, serial, f"robot {robot}")
        note = "There is no calibration: the robot is taken as its file says, and the accuracy of that is not known."
        return Calibrated(robot, model, None, (*model.notes, note), model.serial)
    if of_readings(calibration):
        return _by_readings(calibration, robot, serial)
    return _by_reduction(calibration, robot, serial)


def _by_readings(path: Path, robot: str | None, serial: str | None) -> Calibrated:
    from elastocal.calibration.store import read_calibration
    from elastocal.files.calibration import ParameterRecord
    from elastocal.files.opened import sha256_of

    known = read_calibration(path)
    model, own = known.robot, len(known.names)
    _same_serial(model.serial, serial, str(path))
    if robot is not None:
        _same_frames(known.nominal, read_robot(robot, model.tool), path, robot)
    sd = {e.name: e.sd for e in known.parameters.rows}
    rows = tuple(
        ParameterRecord(name=p.name, unit=p.unit, value=p.value, sd=sd[p.name])
        if p.name in sd
        else ParameterRecord(name=p.name, unit=p.unit, value=p.value, status="fixed", reason="not sought")
        for p in model.parameters
    )
    return Calibrated(
        robot or model.name, model, known, tuple(model.notes), model.serial, f"sha256:{sha256_of(path)}",
        tuple(f"WARNING {w.code.upper()}: {w.text}." for w in known.doubts),
        parameters=rows, names=known.names, covariance=known.covariance[:own, :own], discrepancy=known.discrepancy,
    )  # fmt: skip


def _same_frames(nominal: Robot, robot: Robot, calibration: Path, word: str) -> None:
    """Refuse a robot whose frames are not those of the calibrated one."""
    import numpy as np

    known = {f.name: f for f in nominal.tree.frames}
    for frame in robot.tree.frames:
        same = known.pop(frame.name, None)
        if same is None or same.parent != frame.parent or np.abs(same.pose.matrix() - frame.pose.matrix()).max() > SAME:
            raise ConflictError(
                f"{calibration}: is a calibration of robot {nominal.name}, in which frame {frame.name} of {word} is "
                "missing or stands elsewhere; use that robot"
            )
    if known:
        raise ConflictError(f"{calibration}: is a calibration of robot {nominal.name}, not of {word}; use that robot")


def _by_reduction(path: Path, robot: str | None, serial: str | None) -> Calibrated:
    from elastocal.files.calibration import identified_model, read_calibration

    record = read_calibration(path)
    word = record.robot_word(path)
    _same_serial(record.serial, serial, str(path))
    _same_robot(record, path, word if robot is None else robot)
    model = read_robot(word if robot is None else robot, record.tool)
    known, changes = identified_model(record, model)
    notes = (*model.notes, *(changes if robot is None else ()))
    if record.statics == "linear":
        notes += ("The calibration was made with linear statics; the correction solves the loaded equilibrium.",)
    return Calibrated(
        robot or word, known.model, known, notes, record.serial, record.mark, record.warned, record.without,
        record.parameters, record.names, record.covariance, record.discrepancy, exact_in(record),
    )  # fmt: skip


def _same_robot(record: CalibrationRecord, calibration: Path, word: str) -> None:
    """Refuse a robot that is not the one that was calibrated: another name, or a file with another mark."""
    from elastocal.files.robot.read import shipped_name
    from elastocal.files.run_record import robot_mark

    was, now = robot_file(record.robot), robot_file(word)
    if (was is None) != (now is None) or (was is None and shipped_name(record.robot) != shipped_name(word)):
        raise ConflictError(f"{calibration}: is a calibration of robot {record.robot}, not of {word}; use that robot")
    if now is None or not now.is_file():
        return
    mark = robot_mark(word)
    if mark != record.mark:
        raise ConflictError(
            f"{calibration}: is a calibration of another robot: {word} has the mark {mark[:19]}, the calibrated one "
            f"{record.mark[:19]}; restore the robot file or calibrate again"
        )


def _same_serial(known: str, asked: str | None, what: str) -> None:
    if asked is None or asked == known:
        return
    if not known:
        raise MissingError(
            f"{what}: has no serial number to compare with {asked}; put 'serial' into the robot file and calibrate "
            "again"
        )
    raise ConflictError(
        f"{what}: is of the robot with serial number {known}, not {asked}; use the calibration of that robot"
    )


def reduction_text(result: CalibrateResult, out: Path) -> str:
    """The calibration file: every parameter as it was calibrated, and the covariance of those estimated."""
    import numpy as np

    from elastocal.files.calibration import CalibrationRecord, calibration_text
    from elastocal.files.campaign.file import listed
    from elastocal.files.opened import seen_from
    from elastocal.files.robot.read import robot_file
    from elastocal.files.run_record import digests, robot_mark

    file, study = result.file, result.study
    fit, folder = study.fit, file.files[0].parent
    kind = fit.campaign.measurement
    own = robot_file(file.robot)
    record = CalibrationRecord(
        robot=file.robot if own is None else seen_from((folder / own).resolve(), out.resolve().parent),
        mark=robot_mark(file.robot, folder),
        serial=file.model.serial,
        tool=file.model.tool,
        without=listed(file.words.get("without", ())),
        form=file.requests.form or "beam",
        statics=kind.statics,
        load_frame=kind.load_frame,
        follows=not kind.touching and kind.setup.load.follows,
        parameters=_records(result),
        names=study.wide.names,
        covariance=np.asarray(study.wide.covariance),
        discrepancy=study.discrepancy.sd,
        discrepancy_reason=study.discrepancy.reason,
        noise_stated=fit.stated,
        scatter=fit.scatter,
        freedom=fit.freedom,
        warnings=tuple(f.text for f in result.judged.warnings),
        inputs=digests(file.files),
        seed=result.seed,
    )
    return calibration_text(record)


def _records(result: CalibrateResult) -> tuple[ParameterRecord, ...]:
    from elastocal.files.calibration import ParameterRecord
    from elastocal.solve.identifiability import Group

    study, fit = result.study, result.study.fit
    groups = study.identification.groups
    group = dict(zip(groups.names, (str(g) for g in groups.group), strict=True))
    group |= dict.fromkeys(result.judged.combined, str(Group.COMBINED))
    why = {d.name: d.reason for d in study.identification.dropped}
    sd = dict(zip(fit.names, (float(v) for v in fit.sd), strict=True))
    out = []
    for p in fit.model.parameters:
        if p.name in sd:
            out.append(ParameterRecord(name=p.name, unit=p.unit, value=p.value, sd=sd[p.name], group=group[p.name]))
        else:
            reason = why.get(p.name, "not sought")
            out.append(ParameterRecord(name=p.name, unit=p.unit, value=p.value, status="fixed", reason=reason))
    return tuple(out)


def calibrated_robot_text(known: Calibrated, calibration: Path) -> str:
    """The robot file with the estimates.

    The source names the calibration by file and fingerprint: like all results the file holds no time.
    """
    import numpy as np

    from elastocal.calibration.calibration import Calibration
    from elastocal.calibration.export import with_placing
    from elastocal.files.opened import sha256_of
    from elastocal.files.robot.write import robot_text

    made = f"{calibration.name}, sha256 {sha256_of(calibration)[:16]}"
    model = known.model
    estimated = {p.name for p in known.parameters if p.status == "estimated"}
    assert known.covariance is not None
    spread = zip(known.names, np.sqrt(np.diag(known.covariance)), strict=True)
    sd = {name: float(s) for name, s in spread if name in estimated}
    pairs = zip(model.elements, model.parameter_rows, strict=True)
    elements = tuple(_sourced(element, rows, sd, made) for element, rows in pairs)
    notes = [f"Made from {known.word} by elastocal export, with the estimates of {made}."]
    if known.without:
        notes.append(f"The calibration left out: {', '.join(known.without)}.")
    calibrated = replace(model, elements=elements)
    if isinstance(known.known, Calibration):
        calibrated, placed = with_placing(calibrated, known.known)
        notes += placed
    return robot_text(calibrated, notes)


def _sourced(element: Element, rows: tuple[Parameter, ...], sd: dict[str, float], made: str) -> Element:
    """The element with its source, where some of its values were identified."""
    notes = [f"{p.name} +- {sd[p.name]:.2g} {p.unit}" for p in rows if p.name in sd]
    if not notes:
        return element
    rest = any(p.value and p.name not in sd for p in rows)
    source = f"identified ({made}): {', '.join(notes)}" + (f"; the rest: {element.source}" if rest else "")
    return replace(element, source=source, status=element.status if rest else "measured")


MOST_NAMED = 6


def taken_as_exact(parameters: Iterable[tuple[str, float]], sought: Iterable[str]) -> tuple[str, ...]:
    """Names of the parameters (with values) that have one and were not sought."""
    known = set(sought)
    return tuple(name for name, value in parameters if value and name not in known)


def exact_in(record: CalibrationRecord) -> tuple[str, ...]:
    """The same of a calibration file."""
    return taken_as_exact(((p.name, p.value) for p in record.parameters if p.status == "fixed"), record.names)


def exact_note(names: Sequence[str]) -> tuple[str, ...]:
    if not names:
        return ()
    shown = ", ".join(names[:MOST_NAMED]) + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")
    return (f"Fixed at the robot file, because they were not sought: {shown}.",)
